package soak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

type (
	tensor  = sinter.Tensor
	tensors = []*sinter.Tensor
)

var (
	ctx    = context.Background()
	silent = sinter.WithLogger(slog.New(slog.DiscardHandler))
)

// open opens a device that poisons freed memory. At the end of the test it must
// close without an error and leave no goroutine.
func open(t *testing.T, opts ...sinter.Option) *sinter.Device {
	t.Helper()
	before := runtime.NumGoroutine()
	dev, err := sinter.Open("cpu", append([]sinter.Option{sinter.WithPoison(true), sinter.WithSeed(1)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, dev.Close())
		noMoreGoroutines(t, before)
	})
	return dev
}

// noMoreGoroutines waits until no more than n goroutines run.
func noMoreGoroutines(t *testing.T, n int) {
	t.Helper()
	for range 500 {
		if runtime.NumGoroutine() <= n {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("%d goroutines, there were %d:\n%s", runtime.NumGoroutine(), n, stacks[:runtime.Stack(stacks, true)])
}

// sample is what a program holds at one moment, and what it did until then.
type sample struct {
	allocations, goroutines int
	inUse, reserved         int64
	objects, heap           int64 // of Go
	explorations, compiles  int64
	recomputed              int64
}

// take samples when the collector has freed what it can.
func take(t *testing.T, dev *sinter.Device) sample {
	t.Helper()
	require.NoError(t, dev.Flush(ctx))
	least := sample{objects: 1 << 62}
	for range 6 {
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups run on a goroutine of their own
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		st := dev.Stats()
		if objects := int64(mem.HeapObjects); objects < least.objects || st.Memory.Allocations < least.allocations {
			least = sample{
				allocations: st.Memory.Allocations, inUse: st.Memory.InUse, reserved: st.Memory.Reserved,
				goroutines: runtime.NumGoroutine(), objects: objects, heap: int64(mem.HeapAlloc),
				explorations: st.Explorations, compiles: st.Device.Compiles, recomputed: st.Recomputed,
			}
		}
	}
	return least
}

// repeat runs a step n times and samples now and then, once caches have filled:
// device memory, plans and goroutines must stay, and objects of Go must not grow
// with the steps.
func repeat(t *testing.T, dev *sinter.Device, n int, step func(i int)) {
	t.Helper()
	const parts = 5
	var samples []sample
	for part := range parts {
		for i := part * n / parts; i < (part+1)*n/parts; i++ {
			step(i)
		}
		samples = append(samples, take(t, dev))
	}
	require.NoError(t, growth(samples[1:], n/parts))
}

// growth returns what grew in samples taken every so many steps, the first of
// them once everything was seen. Objects of Go may become more once, as caches
// fill, but not from each sample to the next: every eighth step leaking one is
// seen.
func growth(samples []sample, steps int) error {
	first, last := samples[0], samples[len(samples)-1]
	objects, heap := int64(math.MaxInt64), int64(math.MaxInt64)
	for i, s := range samples[1:] {
		objects, heap = min(objects, s.objects-samples[i].objects), min(heap, s.heap-samples[i].heap)
	}
	n := int64(steps)
	var out []error
	for _, x := range []struct {
		name       string
		more, most int64
	}{
		{"allocations", int64(last.allocations - first.allocations), 0},
		{"bytes in use", last.inUse - first.inUse, 0},
		{"bytes reserved", last.reserved - first.reserved, 0},
		{"goroutines", int64(last.goroutines - first.goroutines), 0},
		{"plans", last.explorations - first.explorations, 0},
		{"compilations", last.compiles - first.compiles, 0},
		{"recomputations", last.recomputed - first.recomputed, 0},
		{"objects of Go", objects, n/8 + 32},
		{"bytes of Go", heap, 16*n + 4096},
	} {
		if x.more > x.most {
			out = append(out, fmt.Errorf("%s grew by %d, in %d steps from sample to sample", x.name, x.more, n))
		}
	}
	if out != nil {
		out = append(out, fmt.Errorf("%+v", samples))
	}
	return errors.Join(out...)
}

func TestGrowthIsSeen(t *testing.T) {
	before := sample{allocations: 5, goroutines: 2, inUse: 100, reserved: 4096, objects: 9000, heap: 1 << 20, explorations: 3, compiles: 4, recomputed: 1}
	once := before
	once.objects, once.heap = 20_000, 2<<20
	require.NoError(t, growth([]sample{before, before, once, once}, 1000))
	for name, change := range map[string]func(s *sample){
		"allocations": func(s *sample) { s.allocations++ }, "bytes in use": func(s *sample) { s.inUse++ },
		"bytes reserved": func(s *sample) { s.reserved++ }, "goroutines": func(s *sample) { s.goroutines++ },
		"plans": func(s *sample) { s.explorations++ }, "compilations": func(s *sample) { s.compiles++ },
		"recomputations": func(s *sample) { s.recomputed++ }, "objects of Go": func(s *sample) { s.objects += 1000 },
		"bytes of Go": func(s *sample) { s.heap += 160_000 },
	} {
		after := before
		change(&after)
		require.ErrorContains(t, growth([]sample{before, after}, 1000), name+" grew")
	}

	// A tensor kept each step is what this is about.
	dev := open(t)
	var kept tensors
	var samples []sample
	for range 3 {
		for range 400 {
			kept = append(kept, sinter.Zeros(dev, sinter.F32, 2))
			read[float32](t, kept[len(kept)-1])
		}
		samples = append(samples, take(t, dev))
	}
	err := growth(samples, 400)
	require.ErrorContains(t, err, "allocations grew")
	require.ErrorContains(t, err, "objects of Go grew")
	runtime.KeepAlive(kept)
}

// read returns the elements of a tensor.
func read[T sinter.Elem](t *testing.T, x *tensor) []T {
	t.Helper()
	out, err := sinter.Read[T](ctx, x)
	require.NoError(t, err)
	return out
}

// steps returns full, or a twentieth of it in short mode.
func steps(full int) int {
	if testing.Short() {
		return full / 20
	}
	return full
}

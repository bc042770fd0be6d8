package graphapi_test

import (
	"bytes"
	"context"
	std "flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/internal/cudatest"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

var (
	programs  = std.Int("programs", 0, "how many random programs TestDifferentialReplays captures; 0 is a bounded number")
	firstSeed = std.Uint64("seed", 1, "the seed of TestDifferentialReplays's first program")
)

// TestDifferentialReplays captures random programs with effects and compares
// replays on fresh inputs, outputs and Vars, with recording the same operations
// anew without fusion. With -programs and -seed it is a campaign of any length;
// its last line counts.
func TestDifferentialReplays(t *testing.T) { campaign(t, "cpu", 600, 80) }

// The same on kernels in CUDA C++, compiled by NVRTC and interpreted.
func TestDifferentialReplaysCUDA(t *testing.T) { campaign(t, cudatest.Register(t), 60, 2) }

// campaign runs as many programs on a device as -programs says, or a bounded
// number.
func campaign(t *testing.T, device string, bounded, short uint64) {
	n := uint64(*programs)
	if n == 0 {
		n = bounded
		if testing.Short() {
			n = short
		}
	}
	var next atomic.Uint64
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < n && !t.Failed(); i = next.Add(1) - 1 {
				seed := *firstSeed + i
				p, special := progen.Varied(seed)
				if err := replays(device, p, seed, special); err != nil {
					what := err.Error()
					small := progen.Shrink(p, func(q *ir.Program) bool { return replays(device, q, seed, special) != nil })
					if again := replays(device, small, seed, special); again != nil {
						what = again.Error()
					}
					mu.Lock()
					t.Errorf("seed %d: %s\n%v", seed, what, small)
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d programs captured and replayed from seed %d", min(next.Load(), n), *firstSeed)
}

// The same while the collector runs all the time: nothing a graph needs is freed
// early. Freed memory is poisoned.
func TestReplaysUnderARestlessCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	n := uint64(100)
	if testing.Short() {
		n = 10
	}
	for seed := 500000 + *firstSeed; seed < 500000+*firstSeed+n; seed++ {
		p, special := progen.Varied(seed)
		require.NoError(t, replays("cpu", p, seed, special), "seed %d\n%v", seed, p)
	}
}

// replays captures a program on a device, replays it three times and returns the first
// difference from recording it without fusion.
func replays(device string, p *ir.Program, seed uint64, special float64) error {
	d, _ := progen.RandomData(p, seed, progen.DataOptions{Special: special})
	plain, err := sinter.Open(device, sinter.WithPoison(true), sinter.WithFusion(false))
	if err != nil {
		return err
	}
	defer plain.Close()
	dev, err := sinter.Open(device, sinter.WithPoison(true))
	if err != nil {
		return err
	}
	defer dev.Close()
	want, got := load(plain, p, d), load(dev, p, d)
	g, err := graphapi.Capture(context.Background(), dev.Stream(), got.record, inputs(dev, p, d))
	switch {
	case err != nil:
		return err
	case !g.IsHardware():
		return fmt.Errorf("fell back: %w", g.FallbackReason())
	}
	if err := sameState(want, got); err != nil {
		return fmt.Errorf("capturing is seen: %w", err)
	}
	for round := range uint64(3) {
		d, _ := progen.RandomData(p, seed+1000*round, progen.DataOptions{Special: special})
		if err := g.Replay(inputs(dev, p, d)...); err != nil {
			return err
		}
		outs, err := want.record(plain.Stream(), inputs(plain, p, d))
		if err != nil {
			return err
		}
		for i := range outs {
			if err := sameElements(outs[i], g.Out(i)); err != nil {
				return fmt.Errorf("round %d, output %d: %w", round, p.Outputs[i], err)
			}
		}
		if err := sameState(want, got); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	if n := dev.Stats().Fallbacks; n != 0 {
		return fmt.Errorf("%d blocks failed and ran as single operations", n)
	}
	return g.Close()
}

// sameState compares the Vars of a program on two devices.
func sameState(want, got *program) error {
	for i, v := range want.p.Vars {
		a, b := want.vars[v.ID].Value(), got.vars[v.ID].Value()
		if err := sameElements(a, b); err != nil {
			return fmt.Errorf("Var %d: %w", i, err)
		}
		a.Release()
		b.Release()
	}
	return nil
}

// sameElements compares two tensors, all NaNs counting as one value.
func sameElements(want, got *sinter.Tensor) error {
	a, err := sinter.ReadBytes(context.Background(), want)
	if err != nil {
		return err
	}
	b, err := sinter.ReadBytes(context.Background(), got)
	if err != nil {
		return err
	}
	oracle.Canonical(want.DType(), a)
	oracle.Canonical(got.DType(), b)
	if !bytes.Equal(a, b) {
		return fmt.Errorf("%v%v differs", want.DType(), want.Shape())
	}
	return nil
}

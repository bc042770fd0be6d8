package backendtest

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// increment launches x += by in place on an i64 buffer of one element: an
// output may take the storage of an input of the same layout.
func (b *bench) increment(x *backend.Buffer, by int64) error {
	return b.dev.Launch(b.stream, b.compileKernel(incrementKernel(ir.I64)), incrementLaunch(1, uint64(by)), []*backend.Buffer{x, x})
}

func (b *bench) captured(record func()) backend.Graph {
	b.Helper()
	require.NoError(b, b.dev.BeginCapture(b.stream))
	record()
	g, err := b.dev.EndCapture(b.stream, false)
	require.NoError(b, err)
	require.NotNil(b, g)
	return g
}

func (b *bench) refused(reason string, err error) {
	b.Helper()
	assert.Equal(b, reason, fails[*backend.CaptureError](b, err).Reason)
}

// capture walks through the states of a window and the ways out of each.
func (s suite) capture(t *testing.T) {
	b := s.bench(t, backend.Options{})
	x := b.upload(i64s(10))
	// works says that the stream records nothing and can capture.
	works := func() {
		t.Helper()
		require.NoError(t, b.dev.Write(ctx, b.stream, x, 0, i64s(10)))
		require.NoError(t, b.increment(x, 1))
		b.holds(i64s(11), x)
		g := b.captured(func() { require.NoError(t, b.increment(x, 5)) })
		assert.Equal(t, 1, g.Launches())
		b.holds(i64s(11), x, "recording runs nothing")
		require.NoError(t, g.Replay(b.stream, nil))
		b.holds(i64s(16), x)
		require.NoError(t, g.Destroy())
	}
	works()

	_, err := b.dev.EndCapture(b.stream, false)
	b.refused(backend.CaptureNotRecording, err)
	_, err = b.dev.EndCapture(b.stream, true)
	b.refused(backend.CaptureNotRecording, err)
	works()

	require.NoError(t, b.dev.BeginCapture(b.stream))
	b.refused(backend.CaptureRecording, b.dev.BeginCapture(b.stream))
	g, err := b.dev.EndCapture(b.stream, true)
	require.NoError(t, err)
	assert.Nil(t, g, "doomed")
	works()

	// What waits for results, or disturbs memory, is refused and leaves the
	// window as it was.
	other := b.captured(func() {})
	assert.Zero(t, other.Launches())
	g = b.captured(func() {
		require.NoError(t, b.increment(x, 1))
		b.refused(backend.CaptureRead, b.dev.Read(ctx, b.stream, make([]byte, 8), x, 0))
		b.refused(backend.CaptureSync, b.dev.Sync(ctx, b.stream))
		_, err := b.dev.Trim()
		b.refused(backend.CaptureTrim, err)
		b.refused(backend.CaptureReplay, other.Replay(b.stream, nil))
		fails[*backend.LaunchError](b, b.dev.Launch(b.stream, b.compileKernel(incrementKernel(ir.I64)), incrementLaunch(2, 0), []*backend.Buffer{x, x}))
		require.NoError(t, b.increment(x, 2))
	})
	assert.Equal(t, 2, g.Launches())
	b.trim()
	works()

	// Memory: what the pool has may be taken, the system may not be asked.
	const size = 5 << 20
	b.free(b.alloc(size))
	b.captured(func() { b.free(b.alloc(size)) })
	b.trim()
	require.NoError(t, b.dev.BeginCapture(b.stream))
	b.free(b.alloc(size))
	g, err = b.dev.EndCapture(b.stream, false)
	b.refused(backend.CaptureAllocated, err)
	assert.Nil(t, g)
	works()
	b.trim()
	require.NoError(t, b.dev.BeginCapture(b.stream))
	b.free(b.alloc(size))
	_, err = b.dev.EndCapture(b.stream, true)
	require.NoError(t, err, "doomed only stops")
	works()

	// Another stream is free meanwhile: it runs, captures and may be closed.
	side := b.newStream()
	g = b.captured(func() {
		require.NoError(t, b.dev.BeginCapture(side))
		_, err := b.dev.EndCapture(side, false)
		require.NoError(t, err)
		require.NoError(t, b.dev.Sync(ctx, side))
		require.NoError(t, other.Replay(side, nil))
		require.NoError(t, b.dev.BeginCapture(side))
		require.NoError(t, b.dev.CloseStream(side))
		require.NoError(t, b.increment(x, 1))
	})
	b.trim() // the closed stream's window is gone
	require.NoError(t, g.Destroy())
	require.NoError(t, g.Destroy())
	b.refused(backend.CaptureDestroyed, g.Replay(b.stream, nil))
	fails[*backend.DeviceError](b, other.Replay(side, nil))
	works()
}

// replay checks what a graph does when it runs.
func (s suite) replay(t *testing.T) {
	t.Run("keeps what it was given", func(t *testing.T) {
		b := s.bench(t, backend.Options{})
		x, y := b.upload(i64s(1)), b.upload(i64s(0))
		e := b.compileKernel(incrementKernel(ir.I64))
		l := incrementLaunch(1, 3)
		mem := []*backend.Buffer{x, x}
		src := i64s(100)
		g := b.captured(func() {
			require.NoError(t, b.dev.Write(ctx, b.stream, x, 0, src))
			require.NoError(t, b.dev.Launch(b.stream, e, l, mem))
			require.NoError(t, b.dev.Copy(b.stream, y, 0, x, 0, 8))
			require.NoError(t, b.dev.Launch(b.stream, e, l, mem))
		})
		// The recording is a copy: nothing of this reaches it.
		l.Params[0], l.Dims[0], l.Access[0].Strides[0] = 999, 0, 77
		mem[0], mem[1] = y, y
		copy(src, i64s(-5))
		before := b.dev.Counters()
		for range 3 {
			require.NoError(t, g.Replay(b.stream, nil))
			b.holds(i64s(106), x)
			b.holds(i64s(103), y)
		}
		after := b.dev.Counters()
		assert.Equal(t, 2, g.Launches())
		assert.Equal(t, before.Replays+3, after.Replays)
		assert.Equal(t, before.Launches+6, after.Launches)
		assert.Equal(t, before.Copies+3*2+6, after.Copies, "two a replay, and the reads")
		assert.Equal(t, before.Allocations, after.Allocations)
		assert.Equal(t, before.Reserves, after.Reserves)
		assert.Equal(t, before.Compiles, after.Compiles)
	})
	t.Run("its pool is not disturbed", func(t *testing.T) {
		b := s.bench(t, backend.Options{Poison: true})
		in, out := b.upload(i64s(1)), b.upload(i64s(0))
		e := b.compileKernel(incrementKernel(ir.I64))
		p := b.dev.NewPool()
		b.dev.UsePool(b.stream, p)
		b.free(b.alloc(8)) // warm
		g := b.captured(func() {
			tmp := b.alloc(8)
			require.NoError(t, b.dev.Launch(b.stream, e, incrementLaunch(1, 1), []*backend.Buffer{in, tmp}))
			require.NoError(t, b.dev.Launch(b.stream, e, incrementLaunch(1, 1), []*backend.Buffer{tmp, out}))
			b.free(tmp)
		})
		b.dev.UsePool(b.stream, 0)
		var sentinels []*backend.Buffer
		for i := range int64(64) {
			sentinels = append(sentinels, b.upload(i64s(i)))
		}
		require.NoError(t, g.Replay(b.stream, nil))
		b.holds(i64s(3), out)
		for i, x := range sentinels {
			b.holds(i64s(int64(i)), x)
		}
	})
	t.Run("a failing launch stops it", func(t *testing.T) {
		if !s.values {
			return
		}
		b := s.bench(t, backend.Options{})
		table, idx, dst, x := b.upload(f32s(1, 2)), b.upload(i64s(0)), b.upload(f32s(0)), b.upload(i64s(0))
		e := b.compileKernel(gatherKernel())
		g := b.captured(func() {
			require.NoError(t, b.dev.Launch(b.stream, e, gatherLaunch(2, 1, 1), []*backend.Buffer{table, idx, dst}))
			require.NoError(t, b.increment(x, 1))
		})
		require.NoError(t, g.Replay(b.stream, nil))
		require.NoError(t, b.dev.Write(ctx, b.stream, idx, 0, i64s(2)))
		err := g.Replay(b.stream, nil)
		fails[*ir.IndexError](b, err)
		fails[*backend.LaunchError](b, err)
		b.holds(i64s(1), x, "nothing after the failure ran")
		require.NoError(t, b.dev.Write(ctx, b.stream, idx, 0, i64s(1)))
		require.NoError(t, g.Replay(b.stream, nil))
		b.holds(i64s(2), x)
		b.holds(f32s(2), dst)
	})
	t.Run("from several streams", func(t *testing.T) {
		const streams, rounds = 4, 50
		b := s.bench(t, backend.Options{Workers: 3})
		x := b.upload(i64s(0))
		g := b.captured(func() {
			for range 3 {
				require.NoError(t, b.increment(x, 1))
			}
		})
		errs := make([]error, streams)
		var wg sync.WaitGroup
		for i := range streams {
			stream := b.newStream()
			wg.Go(func() {
				for range rounds {
					errs[i] = errors.Join(errs[i], g.Replay(stream, nil))
				}
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		assert.Equal(t, int64(streams*rounds), b.dev.Counters().Replays)
		b.holds(i64s(3*streams*rounds), x, "replays of one graph wait for each other")
	})
}

// faults makes each call of a small program fail in turn and then runs it
// again on the same device.
func (s suite) faults(t *testing.T) {
	for _, c := range []backend.Call{
		backend.CallAlloc, backend.CallAllocHost, backend.CallWrite, backend.CallRead, backend.CallCopy, backend.CallCompile, backend.CallLaunch,
		backend.CallSync, backend.CallBeginCapture, backend.CallEndCapture, backend.CallReplay,
	} {
		t.Run(string(c), func(t *testing.T) {
			dev := Faulty(s.open(backend.Options{}))
			t.Cleanup(func() { require.NoError(t, dev.Close()) })
			stream, err := dev.NewStream()
			require.NoError(t, err)
			b := &bench{suite: s, T: t, dev: dev, stream: stream}
			require.NoError(t, b.program())
			calls := dev.Calls(c)
			require.Positive(t, calls, "the program calls it")
			for k := 1; k <= calls; k++ {
				dev.FailAt(c, k)
				err := b.program()
				var oom *backend.OutOfMemoryError
				require.True(t, errors.Is(err, backend.ErrInjected) || errors.As(err, &oom), "%s %d: %v", c, k, err)
				assert.Zero(t, dev.Memory().Allocations)
				require.NoError(t, b.program(), "after %s %d", c, k)
			}
		})
	}
}

// program uses every kind of call once or more and frees what it took.
func (b *bench) program() (err error) {
	const n = 16
	step := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	var bufs [4]*backend.Buffer
	for i := range bufs[1:] {
		step(func() (err error) { bufs[i], err = b.dev.Alloc(b.stream, 8*n); return err })
	}
	step(func() (err error) { bufs[3], err = b.dev.AllocHost(8 * n); return err })
	defer func() {
		for _, x := range bufs {
			if x != nil {
				b.dev.Free(b.stream, x)
			}
		}
	}()
	var e codegen.Executable
	values := make([]int64, n)
	got := make([]byte, 8*n)
	step(func() error { return b.dev.Write(ctx, b.stream, bufs[0], 0, i64s(values...)) })
	step(func() (err error) { e, err = b.dev.Compile(incrementKernel(ir.I64)); return err })
	step(func() error {
		return b.dev.Launch(b.stream, e, incrementLaunch(n, 1), []*backend.Buffer{bufs[0], bufs[1]})
	})
	step(func() error { return b.dev.Copy(b.stream, bufs[3], 0, bufs[1], 0, 8*n) })
	step(func() error { return b.dev.Copy(b.stream, bufs[2], 0, bufs[3], 0, 8*n) })
	var g backend.Graph
	step(func() error {
		if err := b.dev.BeginCapture(b.stream); err != nil {
			return err
		}
		err := b.dev.Launch(b.stream, e, incrementLaunch(n, math.MaxInt64), []*backend.Buffer{bufs[2], bufs[2]})
		var endErr error
		g, endErr = b.dev.EndCapture(b.stream, err != nil)
		return errors.Join(err, endErr)
	})
	step(func() error { return g.Replay(b.stream, nil) })
	step(func() error { return b.dev.Read(ctx, b.stream, got, bufs[2], 0) })
	step(func() error { return b.dev.Sync(ctx, b.stream) })
	if g != nil {
		err = errors.Join(err, g.Destroy())
	}
	for i := range values {
		values[i] = math.MinInt64
	}
	if err == nil && b.values && string(got) != string(i64s(values...)) {
		return errors.New("wrong values")
	}
	return err
}

package backendtest

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

const noStream backend.Stream = 9999

func (s suite) transfer(t *testing.T) {
	b := s.bench(t, backend.Options{})
	buf := b.upload([]byte{0, 1, 2, 3, 4, 5, 6, 7})
	require.NoError(t, b.dev.Write(ctx, b.stream, buf, 5, []byte{50, 60}))
	b.holds([]byte{0, 1, 2, 3, 4, 50, 60, 7}, buf)
	part := make([]byte, 3)
	require.NoError(t, b.dev.Read(ctx, b.stream, part, buf, 4))
	if b.values {
		assert.Equal(t, []byte{4, 50, 60}, part)
	}
	to := b.upload([]byte{9, 9, 9, 9})
	require.NoError(t, b.dev.Copy(b.stream, to, 1, buf, 5, 2))
	b.holds([]byte{9, 50, 60, 9}, to)
	require.NoError(t, b.dev.Copy(b.stream, buf, 2, buf, 0, 6), "overlapping")
	b.holds([]byte{0, 1, 0, 1, 2, 3, 4, 50}, buf)

	before := b.dev.Counters()
	require.NoError(t, b.dev.Write(ctx, b.stream, buf, 8, nil), "nothing at the end")
	require.NoError(t, b.dev.Copy(b.stream, buf, 0, to, 0, 4))
	after := b.dev.Counters()
	assert.Equal(t, before.Copies+2, after.Copies)
	assert.Equal(t, before.BytesCopied+4, after.BytesCopied)

	big := make([]byte, 9)
	for _, at := range []struct{ offset, n int }{{0, 9}, {8, 1}, {-1, 1}, {math.MaxInt, 1}, {math.MinInt, 1}} {
		fails[*backend.DeviceError](b, b.dev.Write(ctx, b.stream, buf, at.offset, big[:at.n]))
		fails[*backend.DeviceError](b, b.dev.Read(ctx, b.stream, big[:at.n], buf, at.offset))
		fails[*backend.DeviceError](b, b.dev.Copy(b.stream, buf, at.offset, to, 0, at.n))
		fails[*backend.DeviceError](b, b.dev.Copy(b.stream, to, 0, buf, at.offset, at.n))
	}
	fails[*backend.DeviceError](b, b.dev.Copy(b.stream, to, 0, buf, 0, -1))

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	assert.ErrorIs(t, b.dev.Write(cancelled, b.stream, buf, 0, part), context.Canceled)
	assert.ErrorIs(t, b.dev.Read(cancelled, b.stream, part, buf, 0), context.Canceled)
	assert.ErrorIs(t, b.dev.Sync(cancelled, b.stream), context.Canceled)
	assert.Equal(t, after, b.dev.Counters(), "what failed is not counted")
}

func (s suite) streams(t *testing.T) {
	b := s.bench(t, backend.Options{})
	other := b.newStream()
	require.NotEqual(t, b.stream, other)
	require.NoError(t, b.dev.Wait(b.stream, other))
	require.NoError(t, b.dev.CloseStream(other))
	buf := b.alloc(4)
	for _, gone := range []backend.Stream{other, noStream, 0} {
		refusals(b, gone, buf)
	}
	require.NotEqual(t, other, b.newStream(), "numbers are not used again")
	assert.NotEmpty(t, b.dev.Name())
	p := b.dev.Profile()
	assert.Positive(t, p.Bandwidth)
	assert.Positive(t, p.LaunchCost)
	assert.Positive(t, p.OpCost)
	assert.Positive(t, p.RowBytes)
	assert.Positive(t, p.MaxBuffers)
	assert.Positive(t, p.MaxOps)
}

// refusals checks that no call takes a stream that is not open.
func refusals(b *bench, s backend.Stream, buf *backend.Buffer) {
	b.Helper()
	one := make([]byte, 1)
	_, err := b.dev.Alloc(s, 1)
	fails[*backend.DeviceError](b, err)
	fails[*backend.DeviceError](b, b.dev.CloseStream(s))
	fails[*backend.DeviceError](b, b.dev.Write(ctx, s, buf, 0, one))
	fails[*backend.DeviceError](b, b.dev.Read(ctx, s, one, buf, 0))
	fails[*backend.DeviceError](b, b.dev.Copy(s, buf, 0, buf, 1, 1))
	fails[*backend.DeviceError](b, b.dev.Launch(s, nil, &codegen.Launch{}, nil))
	fails[*backend.DeviceError](b, b.dev.Sync(ctx, s))
	fails[*backend.DeviceError](b, b.dev.Wait(s, b.stream))
	fails[*backend.DeviceError](b, b.dev.Wait(b.stream, s))
	fails[*backend.DeviceError](b, b.dev.BeginCapture(s))
	_, err = b.dev.EndCapture(s, false)
	fails[*backend.DeviceError](b, err)
	_, err = b.dev.EndCapture(s, true)
	fails[*backend.DeviceError](b, err)
}

func (s suite) compile(t *testing.T) {
	b := s.bench(t, backend.Options{})
	k := incrementKernel(ir.F32)
	first := b.compileKernel(k)
	renamed := incrementKernel(ir.F32)
	renamed.Name = "another"
	assert.Same(t, first, b.compileKernel(renamed), "the name is no part of a kernel")
	assert.Equal(t, int64(1), b.dev.Counters().Compiles)
	k.Stores[0].Value = 0 // what the caller does to it later does not matter
	k.Body = k.Body[:1]
	assert.NotSame(t, first, b.compileKernel(k))
	assert.Same(t, first, b.compileKernel(renamed))
	assert.Equal(t, int64(2), b.dev.Counters().Compiles)

	bad := incrementKernel(ir.F32)
	bad.Body[2].Args[1] = 7
	for range 2 {
		_, err := b.dev.Compile(bad)
		e := fails[*backend.CompileError](b, err)
		assert.Contains(t, e.Kernel, "%2: f32 = add %0, %7")
		fails[*codegen.VerifyError](b, err)
	}
	assert.Equal(t, int64(2), b.dev.Counters().Compiles)

	var wg sync.WaitGroup
	got := make([]codegen.Executable, 8)
	for i := range got {
		wg.Go(func() { got[i], _ = b.dev.Compile(gatherKernel()) })
	}
	wg.Wait()
	for _, e := range got {
		require.NotNil(t, e)
		assert.Same(t, got[0], e)
	}
	assert.Equal(t, int64(3), b.dev.Counters().Compiles)
}

func (s suite) launch(t *testing.T) {
	b := s.bench(t, backend.Options{})
	e := b.compileKernel(incrementKernel(ir.F32))
	in, out := b.upload(f32s(1, 2)), b.upload(f32s(0, 0))
	l := incrementLaunch(2, uint64(math.Float32bits(1)))
	run := func() error { return b.dev.Launch(b.stream, e, l, []*backend.Buffer{in, out}) }
	require.NoError(t, run())
	b.holds(f32s(2, 3), out)
	assert.Equal(t, int64(1), b.dev.Counters().Launches)

	t.Run("bad arguments", func(t *testing.T) {
		b := &bench{suite: s, T: t, dev: b.dev, stream: b.stream}
		refused := func(l *codegen.Launch, bufs ...*backend.Buffer) {
			t.Helper()
			err := b.dev.Launch(b.stream, e, l, bufs)
			assert.Equal(t, "increment", fails[*backend.LaunchError](b, err).Kernel)
			fails[*codegen.ArgsError](b, err)
		}
		refused(incrementLaunch(3, 0), in, out)
		refused(l, in)
		refused(l, in, out, out)
		refused(&codegen.Launch{Dims: []int{2}}, in, out)
		shifted := incrementLaunch(2, 0)
		shifted.Access[1].Offset = -1
		refused(shifted, in, out)
		foreign := s.bench(t, backend.Options{})
		fails[*backend.DeviceError](b, b.dev.Launch(b.stream, foreign.compileKernel(incrementKernel(ir.F32)), l, []*backend.Buffer{in, out}))
		fails[*backend.DeviceError](b, b.dev.Launch(b.stream, nil, l, []*backend.Buffer{in, out}))
		assert.Equal(t, int64(1), b.dev.Counters().Launches, "what was refused did not start")
	})
	t.Run("index out of range", func(t *testing.T) {
		if !s.values {
			return
		}
		b := &bench{suite: s, T: t, dev: b.dev, stream: b.stream}
		g := b.compileKernel(gatherKernel())
		table, dst := b.upload(f32s(1, 2, 3, 4)), b.alloc(8)
		for _, index := range []int64{2, -1, math.MaxInt64, math.MinInt64} {
			idx := b.upload(i64s(index))
			err := b.dev.Launch(b.stream, g, gatherLaunch(2, 1, 2), []*backend.Buffer{table, idx, dst})
			fails[*ir.IndexError](b, err, "index %d", index)
			assert.Equal(t, "gather", fails[*backend.LaunchError](b, err).Kernel)
			require.NoError(t, b.dev.Write(ctx, b.stream, idx, 0, i64s(1)))
			require.NoError(t, b.dev.Launch(b.stream, g, gatherLaunch(2, 1, 2), []*backend.Buffer{table, idx, dst}))
			b.holds(f32s(3, 4), dst)
		}
	})
	require.NoError(t, run(), "still works")
}

// parallel runs several streams at once, each checked against its own values.
func (s suite) parallel(t *testing.T) {
	const streams, rounds, n = 4, 25, 20_000
	b := s.bench(t, backend.Options{Workers: 3})
	errs := make([]error, streams)
	var wg sync.WaitGroup
	for i := range streams {
		stream := b.newStream()
		wg.Go(func() { errs[i] = s.countUp(b.dev, stream, int64(i*1000), rounds, n) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	assert.Equal(t, int64(streams*rounds), b.dev.Counters().Launches)
	assert.Equal(t, int64(1), b.dev.Counters().Compiles)
	assert.Zero(t, b.dev.Memory().Allocations)
}

// countUp increments a vector rounds times through fresh buffers.
func (s suite) countUp(dev backend.Device, stream backend.Stream, start int64, rounds, n int) error {
	e, err := dev.Compile(incrementKernel(ir.I64))
	if err != nil {
		return err
	}
	values := make([]int64, n)
	for i := range values {
		values[i] = start + int64(i)
	}
	cur, err := dev.Alloc(stream, 8*n)
	if err != nil {
		return err
	}
	if err := dev.Write(ctx, stream, cur, 0, i64s(values...)); err != nil {
		return err
	}
	for range rounds {
		next, err := dev.Alloc(stream, 8*n)
		if err != nil {
			return err
		}
		if err := dev.Launch(stream, e, incrementLaunch(n, 2), []*backend.Buffer{cur, next}); err != nil {
			return err
		}
		dev.Free(stream, cur)
		cur = next
	}
	got := make([]byte, 8*n)
	if err := dev.Read(ctx, stream, got, cur, 0); err != nil {
		return err
	}
	dev.Free(stream, cur)
	for i := range values {
		values[i] += int64(2 * rounds)
	}
	if s.values && string(got) != string(i64s(values...)) {
		return fmt.Errorf("stream %d has other values", stream)
	}
	return dev.Sync(ctx, stream)
}

func (s suite) close(t *testing.T) {
	b := s.bench(t, backend.Options{})
	e := b.compileKernel(incrementKernel(ir.I64))
	buf, out := b.upload(i64s(1)), b.alloc(8)
	p := b.dev.NewPool()
	require.NoError(t, b.dev.BeginCapture(b.stream))
	require.NoError(t, b.dev.Launch(b.stream, e, incrementLaunch(1, 1), []*backend.Buffer{buf, out}))
	g, err := b.dev.EndCapture(b.stream, false)
	require.NoError(t, err)
	open := b.newStream()
	require.NoError(t, b.dev.BeginCapture(open), "a window may be open")

	require.NoError(t, b.dev.Close())
	require.NoError(t, b.dev.Close())
	refusals(b, b.stream, buf)
	refusals(b, open, buf)
	_, err = b.dev.NewStream()
	fails[*backend.DeviceError](b, err)
	_, err = b.dev.Compile(incrementKernel(ir.I64))
	fails[*backend.DeviceError](b, err)
	fails[*backend.DeviceError](b, b.dev.Launch(b.stream, e, incrementLaunch(1, 1), []*backend.Buffer{buf, out}))
	fails[*backend.DeviceError](b, g.Replay(b.stream, nil))
	_, err = b.dev.Trim()
	fails[*backend.DeviceError](b, err)
	_, err = b.dev.AllocHost(8)
	fails[*backend.DeviceError](b, err)
	fails[*backend.DeviceError](b, b.dev.ClosePool(p))
	require.NoError(t, g.Destroy())
	b.free(buf, out)
	assert.Equal(t, "increment", e.Kernel().Name)
	assert.Equal(t, int64(1), b.dev.Counters().Compiles)
}

package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// state checks parameters that each replay sets.
func (s suite) state(t *testing.T) {
	b := s.bench(t, backend.Options{})
	x := b.upload(i64s(0))
	e := b.compileKernel(incrementKernel(ir.I64))
	g := b.captured(func() {
		for _, p := range []codegen.StateParam{{Param: 0, Word: 1, Add: 5}, {Param: 0, Word: 0}} {
			l := incrementLaunch(1, 1000)
			l.State = []codegen.StateParam{p}
			require.NoError(t, b.dev.Launch(b.stream, e, l, []*backend.Buffer{x, x}))
		}
		for _, p := range []codegen.StateParam{{Param: 1}, {Param: -1}, {Word: -1}} {
			l := incrementLaunch(1, 0)
			l.State = []codegen.StateParam{p}
			fails[*backend.LaunchError](b, b.dev.Launch(b.stream, e, l, []*backend.Buffer{x, x}))
		}
	})
	require.NoError(t, g.Replay(b.stream, []uint64{10, 100}))
	b.holds(i64s(115), x)
	require.NoError(t, g.Replay(b.stream, []uint64{0, 1, 7}))
	b.holds(i64s(121), x)
	b.refused(backend.CaptureState, g.Replay(b.stream, []uint64{0}))
	require.NoError(t, b.increment(x, 1))
	b.holds(i64s(122), x)
}

// body records what f does as a body.
func (b *bench) body(c backend.Condition, f func()) {
	b.Helper()
	require.NoError(b, b.dev.BeginBody(b.stream, c))
	f()
	require.NoError(b, b.dev.EndBody(b.stream))
}

// bodies checks conditional parts.
func (s suite) bodies(t *testing.T) {
	b := s.bench(t, backend.Options{})
	pred, left, x := b.upload([]byte{0}), b.upload(i64s(0)), b.upload(i64s(0))
	set := func(p byte, n int64) {
		require.NoError(t, b.dev.Write(ctx, b.stream, pred, 0, []byte{p}))
		require.NoError(t, b.dev.Write(ctx, b.stream, left, 0, i64s(n)))
		require.NoError(t, b.dev.Write(ctx, b.stream, x, 0, i64s(0)))
	}
	yes := backend.Condition{Pred: pred, Bytes: 1}
	no := backend.Condition{Pred: pred, Bytes: 1, Not: true}
	loop := backend.Condition{Pred: left, Bytes: 8, Loop: true, Limit: 100}

	g := b.captured(func() {
		require.NoError(t, b.increment(x, 1))
		b.body(yes, func() {
			require.NoError(t, b.increment(x, 10))
			b.body(loop, func() {
				require.NoError(t, b.increment(x, 1000))
				require.NoError(t, b.increment(left, -1))
			})
		})
		b.body(no, func() { require.NoError(t, b.increment(x, 100)) })
		b.body(loop, func() {}) // an empty body, and one that ends by its limit
		require.NoError(t, b.increment(x, 1))
	})
	assert.Equal(t, 6, g.Launches())
	b.holds(i64s(0), x, "recording runs nothing")
	for _, c := range []struct {
		pred byte
		n    int64
		want int64
	}{{0, 0, 102}, {1, 0, 12}, {1, 3, 3012}, {1, 500, 100_012}, {0, 3, 102}, {2, 1, 1012}} {
		set(c.pred, c.n)
		require.NoError(t, g.Replay(b.stream, nil))
		b.holds(i64s(c.want), x, "predicate %d, %d left", c.pred, c.n)
	}
	require.NoError(t, g.Destroy())

	// What does not fit is refused and leaves the recording as it was.
	b.refused(backend.CaptureNotRecording, b.dev.BeginBody(b.stream, yes))
	b.refused(backend.CaptureNotRecording, b.dev.EndBody(b.stream))
	g = b.captured(func() {
		b.refused(backend.CaptureBody, b.dev.EndBody(b.stream))
		fails[*backend.DeviceError](b, b.dev.BeginBody(b.stream, backend.Condition{Pred: pred, Bytes: 2}))
		require.NoError(t, b.increment(x, 1))
	})
	set(0, 0)
	require.NoError(t, g.Replay(b.stream, nil))
	b.holds(i64s(1), x)
	require.NoError(t, b.dev.BeginCapture(b.stream))
	require.NoError(t, b.dev.BeginBody(b.stream, yes))
	_, err := b.dev.EndCapture(b.stream, false)
	b.refused(backend.CaptureBody, err)
	b.captured(func() {})
}

// forks checks that streams join a recording by waiting.
func (s suite) forks(t *testing.T) {
	b := s.bench(t, backend.Options{})
	x := b.upload(i64s(1))
	side, third := b.newStream(), b.newStream()
	on := func(stream backend.Stream, by int64) error {
		return b.dev.Launch(stream, b.compileKernel(incrementKernel(ir.I64)), incrementLaunch(1, uint64(by)), []*backend.Buffer{x, x})
	}
	g := b.captured(func() {
		require.NoError(t, b.increment(x, 1))
		require.NoError(t, b.dev.Wait(side, b.stream))
		require.NoError(t, on(side, 10))
		require.NoError(t, b.dev.Wait(third, side))
		require.NoError(t, on(third, 100))
		require.NoError(t, b.dev.Wait(b.stream, third)) // and so for side
		b.refused(backend.CaptureRecording, b.dev.BeginCapture(side))
		b.refused(backend.CaptureSync, b.dev.Sync(ctx, side))
		b.refused(backend.CaptureNotOrigin, second(b.dev.EndCapture(side, false)))
		require.NoError(t, b.increment(x, 1000))
	})
	assert.Equal(t, 4, g.Launches())
	b.trim() // side and third, not used since, do not record any more
	b.holds(i64s(1), x)
	require.NoError(t, g.Replay(b.stream, nil))
	b.holds(i64s(1112), x)
	require.NoError(t, on(side, 1), "streams that took part run again")
	b.holds(i64s(1113), x)

	// A fork without work needs no join; one with work does.
	b.captured(func() { require.NoError(t, b.dev.Wait(side, b.stream)) })
	require.NoError(t, b.dev.BeginCapture(b.stream))
	require.NoError(t, b.dev.Wait(side, b.stream))
	require.NoError(t, on(side, 1))
	_, err := b.dev.EndCapture(b.stream, false)
	b.refused(backend.CaptureUnjoined, err)
	assert.Equal(t, side, fails[*backend.CaptureError](b, err).Stream)
	b.holds(i64s(1113), x)
	require.NoError(t, on(side, 1))
	b.holds(i64s(1114), x)

	// Recordings do not mix, nor with work outside.
	require.NoError(t, b.dev.BeginCapture(side))
	b.captured(func() {
		b.refused(backend.CaptureIsolation, b.dev.Wait(b.stream, third))
		b.refused(backend.CaptureMerge, b.dev.Wait(b.stream, side))
	})
	_, err = b.dev.EndCapture(side, false)
	require.NoError(t, err)

	// Bodies begin and end with every stream's work waited for.
	pred := b.upload([]byte{1})
	when := backend.Condition{Pred: pred, Bytes: 1}
	g = b.captured(func() {
		require.NoError(t, b.dev.Wait(side, b.stream))
		require.NoError(t, on(side, 1))
		b.body(when, func() {
			b.refused(backend.CaptureBody, on(side, 1))
			b.refused(backend.CaptureUnjoined, b.dev.Wait(side, b.stream))
			b.refused(backend.CaptureBody, b.dev.Wait(b.stream, side))
		})
		require.NoError(t, b.dev.Wait(b.stream, side))
		b.body(when, func() {
			require.NoError(t, b.dev.Wait(side, b.stream))
			require.NoError(t, on(side, 1))
			b.refused(backend.CaptureUnjoined, b.dev.EndBody(b.stream))
			require.NoError(t, b.dev.Wait(b.stream, side))
		})
		b.refused(backend.CaptureBody, on(side, 1))
		require.NoError(t, b.dev.Wait(side, b.stream))
		require.NoError(t, on(side, 1))
		b.body(when, func() {}) // beside other work
		require.NoError(t, on(side, 1))
		require.NoError(t, b.dev.Wait(b.stream, side))
	})
	require.NoError(t, g.Replay(b.stream, nil))
	b.holds(i64s(1118), x)
}

func second[A, B any](_ A, b B) B { return b }

// update checks that a graph takes over the work of one of the same structure.
func (s suite) update(t *testing.T) {
	b := s.bench(t, backend.Options{})
	x, pred := b.upload(i64s(0)), b.upload([]byte{1})
	of := func(by ...int64) backend.Graph {
		return b.captured(func() {
			for _, n := range by {
				require.NoError(t, b.increment(x, n))
			}
		})
	}
	g, same, longer := of(1, 2), of(10, 20), of(1, 2, 3)
	inBody := b.captured(func() {
		require.NoError(t, b.increment(x, 1))
		b.body(backend.Condition{Pred: pred, Bytes: 1}, func() { require.NoError(t, b.increment(x, 2)) })
	})
	for _, other := range []backend.Graph{longer, inBody} {
		b.refused(backend.CaptureTopology, g.Update(other))
		b.refused(backend.CaptureTopology, other.Update(g))
	}
	require.NoError(t, g.Replay(b.stream, nil))
	b.holds(i64s(3), x, "as before")
	require.NoError(t, longer.Replay(b.stream, nil))
	b.holds(i64s(9), x)
	fails[*backend.DeviceError](b, g.Update(g))
	require.NoError(t, g.Update(same))
	require.NoError(t, g.Replay(b.stream, nil))
	b.holds(i64s(39), x)
	b.refused(backend.CaptureDestroyed, same.Replay(b.stream, nil))
	b.refused(backend.CaptureDestroyed, g.Update(same))
	require.NoError(t, same.Destroy())
	require.NoError(t, g.Destroy())
	b.refused(backend.CaptureDestroyed, g.Update(longer))
	require.NoError(t, longer.Replay(b.stream, nil))
}

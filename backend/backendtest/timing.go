package backendtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// timing checks a device that can tell when its launches ran.
func (s suite) timing(t *testing.T) {
	b := s.bench(t, backend.Options{})
	dev, ok := b.dev.(backend.Profiler)
	if !ok {
		t.Skip("the device does not measure")
	}
	start := func() backend.Timing {
		x, err := dev.StartTiming(b.stream)
		require.NoError(t, err)
		return x
	}
	spans := func(x backend.Timing) []backend.Span {
		out, err := x.Spans(ctx)
		require.NoError(t, err)
		for i := range out {
			require.False(t, out[i].End.Before(out[i].Start))
			if i > 0 {
				require.False(t, out[i].Start.Before(out[i-1].Start), "in the order they were sent")
			}
		}
		return out
	}
	x := b.upload(i64s(10))
	require.NoError(t, b.increment(x, 1)) // before
	outer := start()
	require.Empty(t, spans(outer), "nothing ran")
	require.NoError(t, b.increment(x, 1))
	inner := start()
	require.NoError(t, b.increment(x, 1))
	k := b.compileKernel(incrementKernel(ir.I64))
	require.Error(t, b.dev.Launch(b.stream, k, &codegen.Launch{}, []*backend.Buffer{x, x}))
	require.Len(t, spans(inner), 1, "a launch that fails is none")
	require.Len(t, spans(outer), 2)
	inner.Stop()
	inner.Stop()

	g := b.captured(func() {
		require.NoError(t, b.increment(x, 1))
		require.NoError(t, b.dev.Copy(b.stream, x, 0, x, 0, 8))
		require.NoError(t, b.increment(x, 1))
	})
	require.Len(t, spans(outer), 2, "recording runs nothing")
	require.NoError(t, g.Replay(b.stream, nil))
	require.NoError(t, g.Replay(b.stream, nil))
	require.Len(t, spans(inner), 1, "it was stopped")
	all := spans(outer)
	require.Len(t, all, 4)
	for _, replay := range all[2:] {
		last := replay.Start
		for i, p := range replay.Parts {
			require.Equal(t, i, p.Launch, "copies do not count")
			require.False(t, p.Start.Before(last))
			require.False(t, p.End.Before(p.Start))
			last = p.End
		}
		if replay.Parts != nil {
			require.Len(t, replay.Parts, 2)
			require.False(t, replay.End.Before(last))
		}
	}

	// The body of a condition runs as often as it says.
	left := b.upload(i64s(3))
	g = b.captured(func() {
		require.NoError(t, b.increment(x, 1))
		b.body(backend.Condition{Pred: left, Bytes: 8, Loop: true, Limit: 9}, func() { require.NoError(t, b.increment(left, -1)) })
		require.NoError(t, b.increment(x, 1))
	})
	require.NoError(t, g.Replay(b.stream, nil))
	all = spans(outer)
	require.Len(t, all, 5)
	if parts := all[4].Parts; parts != nil && s.values {
		var ran []int
		for _, p := range parts {
			ran = append(ran, p.Launch)
		}
		require.Equal(t, []int{0, 1, 1, 1, 2}, ran)
	}

	// Another stream's launches are its own.
	mine, theirs := b.stream, b.newStream()
	b.stream = theirs
	require.NoError(t, b.increment(x, 1))
	b.stream = mine
	require.Len(t, spans(outer), 5)

	require.NoError(t, b.dev.Close())
	require.Len(t, spans(outer), 5, "what was measured outlives the device")
	outer.Stop()
	_, err := dev.StartTiming(b.stream)
	fails[*backend.DeviceError](b, err)
	require.WithinRange(t, all[0].Start, time.Unix(0, 0), time.Now())
}

package sinter_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/null"
	"github.com/sinter-ml/sinter/graphapi"
)

// measuring is a device that tells less, or something else, of when its
// launches ran.
type measuring struct {
	*null.Device
	change func([]backend.Span) ([]backend.Span, error)
}

func (d measuring) StartTiming(s backend.Stream) (backend.Timing, error) {
	t, err := d.Device.StartTiming(s)
	return changedTiming{t, d.change}, err
}

type changedTiming struct {
	backend.Timing
	change func([]backend.Span) ([]backend.Span, error)
}

func (t changedTiming) Spans(ctx context.Context) ([]backend.Span, error) {
	s, err := t.Timing.Spans(ctx)
	if err != nil {
		return nil, err
	}
	return t.change(s)
}

func init() {
	register := func(name string, change func([]backend.Span) ([]backend.Span, error)) {
		backend.Register(name, backend.Driver{Rank: -1, Open: func(int, backend.Options) (backend.Device, error) {
			return measuring{null.Open(backend.Options{}), change}, nil
		}})
	}
	register("test-blurred", func(s []backend.Span) ([]backend.Span, error) {
		for i := range s {
			s[i].Parts = nil
		}
		return s, nil
	})
	register("test-forgetful", func(s []backend.Span) ([]backend.Span, error) { return s[1:], nil })
	register("test-broken", func([]backend.Span) ([]backend.Span, error) { return nil, context.DeadlineExceeded })
}

// TestProfileBlurredReplays: where a device cannot tell the launches of a replay
// apart, one stands for all.
func TestProfileBlurredReplays(t *testing.T) {
	dev, err := sinter.Open("test-blurred")
	require.NoError(t, err)
	defer dev.Close()
	s := dev.Stream()
	g, err := graphapi.Capture(ctx, s, func(_ *sinter.Stream, in tensors) (tensors, error) {
		return tensors{in[0].Softmax(-1).Sum(0).Exp()}, nil
	}, tensors{sinter.From(dev, make([]float32, 6), 2, 3)})
	require.NoError(t, err)
	require.Equal(t, 2, g.Launches())
	r, err := s.Profile(ctx, func() error {
		sinter.From(dev, []float32{1}, 1).Exp()
		if err := g.Replay(); err != nil {
			return err
		}
		return g.Replay()
	})
	require.NoError(t, err)
	require.Len(t, r.Launches, 3)
	require.False(t, r.Launches[0].Replay)
	for _, l := range r.Launches[1:] {
		require.True(t, l.Replay)
		require.Equal(t, "replay of 2 launches", l.Kernel)
		require.Greater(t, l.Duration(), 10*time.Microsecond)
		require.Positive(t, l.Read)
	}
	require.NotEqual(t, r.Launches[1].Block, r.Launches[2].Block)
}

// TestProfileDeviceErrors: a device that measures something else than was sent,
// or fails to.
func TestProfileDeviceErrors(t *testing.T) {
	run := func(name string) error {
		dev, err := sinter.Open(name)
		require.NoError(t, err)
		defer dev.Close()
		_, err = dev.Stream().Profile(ctx, func() error { sinter.From(dev, []float32{1}, 1).Exp(); return nil })
		return err
	}
	var profile *sinter.ProfileError
	require.ErrorAs(t, run("test-forgetful"), &profile)
	require.Contains(t, profile.Reason, "0 pieces of work of 1")
	require.ErrorIs(t, run("test-broken"), context.DeadlineExceeded)
}

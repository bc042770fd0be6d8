package graphapi_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/graphapi"
)

// Streams that wait for the captured one take part in the capture.
func TestForkAndJoin(t *testing.T) {
	for _, fuse := range []bool{true, false} {
		dev := open(t, sinter.WithFusion(fuse))
		ctx := context.Background()
		side, third := dev.NewStream(), dev.NewStream()
		state := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2))
		x := sinter.From(dev, []float32{1, 2}, 2)
		g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			h := in[0].MulScalar(2)
			if err := side.Wait(ctx, s); err != nil {
				return nil, err
			}
			a := h.On(side).AddScalar(1)
			if err := third.Wait(ctx, side); err != nil {
				return nil, err
			}
			state.Set(state.Value().On(third).Add(a.On(third)))
			noise := sinter.Uniform(third, sinter.F32, 0, 0, 2)
			b := h.MulScalar(10)
			if err := s.Wait(ctx, third); err != nil { // and so for side
				return nil, err
			}
			return []*sinter.Tensor{a.On(s).Add(b).Add(noise), a, state.Value()}, nil
		}, x)
		require.Equal(t, []float32{0, 0}, read(t, state.Value()))
		sum := []float32{0, 0}
		for n := range 3 {
			v := float32(n + 1)
			require.NoError(t, g.Replay(sinter.From(dev, []float32{v, 2 * v}, 2)))
			for i, x := range []float32{v, 2 * v} {
				sum[i] += 2*x + 1
			}
			require.Equal(t, []float32{22*v + 1, 44*v + 1}, read(t, g.Out(0)))
			require.Equal(t, []float32{2*v + 1, 4*v + 1}, read(t, g.Out(1)))
			require.Equal(t, sum, read(t, g.Out(2)))
			require.Equal(t, sum, read(t, state.Value()))
		}
		// The streams run on as before, and may be closed.
		require.Equal(t, []float32{2, 3}, read(t, x.On(side).AddScalar(1)))
		require.NoError(t, side.Close())
		require.NoError(t, g.Replay(x))
		require.NoError(t, g.Close())
		usable(t, dev)
	}
}

// Work of a stream nobody waits for fails the capture and names the stream and
// where it joined.
func TestUnjoinedFork(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	side := dev.NewStream()
	x := sinter.From(dev, []float32{1, 2}, 2)
	v := sinter.NewVar(x)
	var where string
	for name, f := range map[string]func(s *sinter.Stream){
		"an operation": func(s *sinter.Stream) { x.On(side).AddScalar(1) },
		"an effect":    func(s *sinter.Stream) { v.Set(x.On(side).AddScalar(1)) },
		"work after the join": func(s *sinter.Stream) {
			if err := s.Wait(ctx, side); err != nil {
				t.Error(err)
			}
			x.On(side).AddScalar(1)
		},
	} {
		_, err := graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			where = at(1)
			if err := side.Wait(ctx, s); err != nil {
				return nil, err
			}
			f(s)
			return in, nil
		}, []*sinter.Tensor{x})
		var capture *sinter.CaptureError
		require.ErrorAs(t, err, &capture, name)
		require.Equal(t, backend.CaptureUnjoined, capture.Reason, name)
		require.Contains(t, capture.Op, "stream ", name)
		require.Contains(t, capture.Op, where, name)
		require.Equal(t, []float32{1, 2}, read(t, v.Value()), name)
		require.Equal(t, []float32{2, 3}, read(t, x.On(side).AddScalar(1)), name)
		usable(t, dev)
	}
	// A fork without work needs no join.
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{in[0].AddScalar(1)}, side.Wait(ctx, s)
	}, x)
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{2, 3}, read(t, g.Out(0)))
}

func TestWaiting(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	a, b := dev.NewStream(), dev.NewStream()
	x := sinter.From(a, []float32{1, 2}, 2).AddScalar(1)
	require.NoError(t, b.Wait(ctx, a))
	require.NoError(t, a.Wait(ctx, a))
	require.Equal(t, []float32{4, 6}, read(t, x.On(b).MulScalar(2)))
	var arg *sinter.ArgumentError
	require.ErrorAs(t, a.Wait(ctx, nil), &arg)
	require.ErrorAs(t, a.Wait(ctx, open(t).Stream()), &arg)
	require.NoError(t, b.Close())
	var closed *sinter.ClosedError
	require.ErrorAs(t, a.Wait(ctx, b), &closed)
	require.ErrorAs(t, b.Wait(ctx, a), &closed)

	// A capture and work outside it do not wait for each other; nor do two
	// captures.
	other, err := graphapi.Begin(ctx, a)
	require.NoError(t, err)
	require.True(t, other.Next())
	var refused *sinter.CaptureError
	outside := dev.NewStream()
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		require.ErrorAs(t, s.Wait(ctx, outside), &refused)
		require.Equal(t, backend.CaptureIsolation, refused.Reason)
		require.ErrorAs(t, s.Wait(ctx, a), &refused)
		require.Equal(t, backend.CaptureMerge, refused.Reason)
		require.ErrorAs(t, s.Close(), &refused)
		return []*sinter.Tensor{in[0].AddScalar(1)}, nil
	}, sinter.From(dev, []float32{1, 2}, 2))
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{2, 3}, read(t, g.Out(0)))
	_, err = other.End()
	require.ErrorAs(t, err, &refused, "it did not run to its end")
	usable(t, dev)
}

func TestIsCapturing(t *testing.T) {
	dev := open(t)
	s, side := dev.Stream(), dev.NewStream()
	ctx := context.Background()
	var got, sides, branches []bool
	_ = capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		got = append(got, graphapi.IsCapturing(s))
		sides = append(sides, graphapi.IsCapturing(side))
		if err := side.Wait(ctx, s); err != nil {
			return nil, err
		}
		sides = append(sides, graphapi.IsCapturing(side))
		_, err := graphapi.If(s, sinter.Scalar(s, true), func() ([]*sinter.Tensor, error) {
			branches = append(branches, graphapi.IsCapturing(s))
			return nil, nil
		}, nil)
		return in, err
	}, sinter.From(dev, []float32{1}, 1))
	require.Equal(t, []bool{false, false, false, true}, got)
	require.Equal(t, []bool{false, false, false, false, false, false, false, true}, sides)
	require.Equal(t, []bool{false, false, false, true}, branches)
	require.False(t, graphapi.IsCapturing(s))
	require.False(t, graphapi.IsCapturing(nil))
}

// Streams fork and join within a conditional part, too.
func TestForkInABody(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	side := dev.NewStream()
	x := sinter.From(dev, []float32{1, 2}, 2)
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return graphapi.If(s, in[1], func() ([]*sinter.Tensor, error) {
			if err := side.Wait(ctx, s); err != nil {
				return nil, err
			}
			y := in[0].On(side).AddScalar(1)
			return []*sinter.Tensor{y}, s.Wait(ctx, side)
		}, func() ([]*sinter.Tensor, error) { return in[:1], nil })
	}, x, flag(dev, false))
	for _, on := range []bool{true, false} {
		require.NoError(t, g.Replay(x, flag(dev, on)))
		want := map[bool][]float32{true: {2, 3}, false: {1, 2}}[on]
		require.Equal(t, want, read(t, g.Out(0)))
	}
	_, err := graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return graphapi.If(s, in[1], func() ([]*sinter.Tensor, error) {
			if err := side.Wait(ctx, s); err != nil {
				return nil, err
			}
			x.On(side).AddScalar(1)
			return nil, nil
		}, nil)
	}, []*sinter.Tensor{x, flag(dev, true)})
	var capture *sinter.CaptureError
	require.ErrorAs(t, err, &capture)
	require.Equal(t, backend.CaptureUnjoined, capture.Reason)
	usable(t, dev)
}

// Another OS thread that waits for other work does not disturb a capture.
func TestOthersWaitDuringACapture(t *testing.T) {
	dev := open(t)
	other := dev.NewStream()
	done := make(chan error, 1)
	x := sinter.From(dev, []float32{1, 2}, 2)
	started := make(chan struct{})
	go func() {
		close(started)
		var err error
		for range 100 {
			if e := other.Sync(context.Background()); e != nil {
				err = e
			}
		}
		done <- err
	}()
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		<-started
		return []*sinter.Tensor{in[0].AddScalar(1)}, nil
	}, x)
	require.NoError(t, <-done)
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{2, 3}, read(t, g.Out(0)))
}

// An effect that is queued on another stream when a conditional part begins is
// not lost.
func TestEffectBesideABody(t *testing.T) {
	everyWay(t, func(t *testing.T, dev *sinter.Device, run func(graphapi.Func, ...*sinter.Tensor) func(...*sinter.Tensor) tensors) {
		ctx := context.Background()
		side := dev.NewStream()
		a := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2))
		b := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2))
		step := run(func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			if err := side.Wait(ctx, s); err != nil {
				return nil, err
			}
			a.Set(a.Value().On(side).AddScalar(1))
			_, err := graphapi.If(s, in[1], func() ([]*sinter.Tensor, error) {
				b.Set(b.Value().On(s).Add(in[0]))
				return nil, nil
			}, nil)
			if err != nil {
				return nil, err
			}
			if err := s.Wait(ctx, side); err != nil {
				return nil, err
			}
			return []*sinter.Tensor{a.Value().On(s).Add(b.Value())}, nil
		}, sinter.From(dev, []float32{10, 20}, 2), flag(dev, false))
		for i, on := range []bool{true, false, true} {
			out := step(sinter.From(dev, []float32{10, 20}, 2), flag(dev, on))
			n := float32(i + 1)
			m := float32((i + 2) / 2)
			require.Equal(t, []float32{n + 10*m, n + 20*m}, read(t, out[0]))
		}
	})
}

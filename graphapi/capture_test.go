package graphapi_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/internal/race"
)

func open(t *testing.T, opts ...sinter.Option) *sinter.Device {
	t.Helper()
	dev, err := sinter.Open("cpu", append([]sinter.Option{sinter.WithPoison(true)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { dev.Close() })
	return dev
}

func read(t *testing.T, x *sinter.Tensor) []float32 {
	t.Helper()
	out, err := sinter.Read[float32](context.Background(), x)
	require.NoError(t, err)
	return out
}

func TestReplayWithFreshInputs(t *testing.T) {
	for _, fuse := range []bool{false, true} {
		dev := open(t, sinter.WithFusion(fuse))
		ctx := context.Background()
		w := sinter.NewVar(sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2))
		f := func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			return []*sinter.Tensor{in[0].MatMul(w.Value()).AddScalar(1).Relu()}, nil
		}
		x := sinter.From(dev, []float32{1, 0, 0, 1}, 2, 2)
		g, err := graphapi.Capture(ctx, dev.Stream(), f, []*sinter.Tensor{x})
		require.NoError(t, err)
		require.True(t, g.IsHardware())
		var capture *sinter.CaptureError
		_, err = sinter.Read[float32](ctx, g.Out(0))
		require.ErrorAs(t, err, &capture, "unwritten before the first replay")
		require.NoError(t, g.Replay())
		require.Equal(t, []float32{2, 3, 4, 5}, read(t, g.Out(0)))
		old := g.Out(0)
		require.NoError(t, g.Replay(sinter.From(dev, []float32{2, 0, 0, 2}, 2, 2)))
		require.Equal(t, []float32{3, 5, 7, 9}, read(t, g.Out(0)))
		var released *sinter.ReleasedError
		_, err = sinter.Read[float32](ctx, old)
		require.ErrorAs(t, err, &released)
		w.Set(sinter.From(dev, []float32{1, 1, 1, 1}, 2, 2))
		require.NoError(t, g.Replay())
		require.Equal(t, []float32{3, 3, 3, 3}, read(t, g.Out(0)))
		require.NoError(t, g.Close())
	}
}

func TestReplayDoesNothingElse(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	w := sinter.NewVar(sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2))
	x := sinter.From(dev, []float32{1, 0, 0, 1}, 2, 2)
	g, err := graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		h := in[0].MatMul(w.Value()).Tanh()
		return []*sinter.Tensor{h.Softmax(-1).Add(h)}, nil
	}, []*sinter.Tensor{x})
	require.NoError(t, err)
	require.NoError(t, g.Replay(x))
	before := dev.Stats()
	// A collection would take the engine's idle scratch memory.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	allocs := testing.AllocsPerRun(20, func() {
		if err := g.Replay(x); err != nil {
			t.Fatal(err)
		}
	})
	after := dev.Stats()
	if !race.Enabled {
		require.Zero(t, allocs)
	}
	require.Equal(t, before.Recorded, after.Recorded)
	require.Equal(t, before.Explorations, after.Explorations)
	require.Equal(t, before.Device.Allocations, after.Device.Allocations)
	require.Equal(t, before.Device.Compiles, after.Device.Compiles)
	require.Equal(t, int64(21*g.Launches()), after.Device.Launches-before.Device.Launches)
}

func TestStateInGraph(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	w := sinter.NewVar(sinter.From(dev, []float32{1, 2}, 2))
	m := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2))
	step := func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		g := in[0].Mul(w.Value())
		m.Set(m.Value().MulScalar(0.5).Add(g))
		w.Set(w.Value().Sub(m.Value()))
		return []*sinter.Tensor{g.Sum()}, nil
	}
	held := w.Value()
	x := sinter.From(dev, []float32{1, 3}, 2)
	g, err := graphapi.Capture(ctx, dev.Stream(), step, []*sinter.Tensor{x})
	require.NoError(t, err)
	require.True(t, g.IsHardware(), "%v", g.FallbackReason())
	require.Equal(t, []float32{1, 2}, read(t, w.Value()), "capturing has no visible effect")
	require.Equal(t, []float32{0, 0}, read(t, m.Value()))

	// The same steps without a graph.
	wv, mv := []float32{1, 2}, []float32{0, 0}
	for i := range 5 {
		xs := []float32{float32(i + 1), 3}
		require.NoError(t, g.Replay(sinter.From(dev, xs, 2)))
		for k := range wv {
			mv[k] = float32(mv[k]*0.5) + float32(xs[k]*wv[k])
			wv[k] -= mv[k]
		}
		require.Equal(t, wv, read(t, w.Value()))
		require.Equal(t, mv, read(t, m.Value()))
	}
	require.Equal(t, []float32{1, 2}, read(t, held), "a handle from before keeps its value")
	kept := w.Value()
	want := read(t, kept)
	require.NoError(t, g.Replay())
	require.Equal(t, want, read(t, kept), "so does one from between replays")
	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
	var closed *sinter.ClosedError
	require.ErrorAs(t, g.Replay(), &closed)
	w.Set(sinter.From(dev, []float32{9, 9}, 2))
	require.Equal(t, []float32{9, 9}, read(t, w.Value()))
}

func TestFallback(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	x := sinter.From(dev, []float32{1, 2}, 2)
	f := func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[0].MulScalar(2)
		if _, err := sinter.Read[float32](ctx, y); err != nil {
			return nil, err
		}
		return []*sinter.Tensor{y}, nil
	}
	g, err := graphapi.Capture(ctx, dev.Stream(), f, []*sinter.Tensor{x})
	require.NoError(t, err)
	require.False(t, g.IsHardware())
	require.ErrorContains(t, g.FallbackReason(), "read")
	require.NoError(t, g.Replay(sinter.From(dev, []float32{5, 6}, 2)))
	require.Equal(t, []float32{10, 12}, read(t, g.Out(0)))
	old := g.Out(0)
	require.NoError(t, g.Replay())
	var released *sinter.ReleasedError
	_, err = sinter.Read[float32](ctx, old)
	require.ErrorAs(t, err, &released, "as with a recording")
	_, err = graphapi.Capture(ctx, dev.Stream(), f, []*sinter.Tensor{x}, graphapi.RequireHardware())
	var capture *sinter.CaptureError
	require.ErrorAs(t, err, &capture)
}

func TestSentinels(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	x := sinter.From(dev, make([]float32, 1024), 1024)
	g, err := graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[0].AddScalar(1).CumSum(0).Sub(in[0].AddScalar(3).Sum())
		return []*sinter.Tensor{y.CumSum(0)}, nil
	}, []*sinter.Tensor{x})
	require.NoError(t, err)
	var sentinels []*sinter.Tensor
	for n := 1; n <= 1<<16; n *= 2 {
		for range 4 {
			sentinels = append(sentinels, sinter.Full(dev, sinter.F32, float64(n), n).AddScalar(1))
		}
	}
	for _, s := range sentinels {
		read(t, s)
	}
	require.NoError(t, g.Replay())
	want := read(t, g.Out(0))
	runtime.GC()
	require.NoError(t, g.Replay())
	require.Equal(t, want, read(t, g.Out(0)))
	for _, s := range sentinels {
		for _, v := range read(t, s) {
			require.Equal(t, float32(s.Dim(0)+1), v)
		}
	}
}

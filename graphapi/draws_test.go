package graphapi_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

// draw uses each kind of draw, one of them dead, one through a view of its
// result, one virtual.
func draw(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
	x := in[0].Dropout(0.5)
	sinter.Uniform(s, sinter.F32, 0, 1, 7) // nobody uses it; it counts
	noise := sinter.Normal(s, sinter.F32, 0, 1, 16).AddScalar(1)
	pick := sinter.RandInt(s, 0, 16, 4)
	mask := sinter.Bernoulli(s, 0.3, 4, 4)
	return []*sinter.Tensor{x.Add(noise), x.Select(0, pick), mask.T(), noise.Sum()}, nil
}

func outputs(g *graphapi.Graph, n int) (outs []*sinter.Tensor) {
	for i := range n {
		outs = append(outs, g.Out(i))
	}
	return outs
}

// Replays draw what running the function would, and leave the sequence where
// it would; seeding between replays starts it again.
func TestReplaysDrawWhatEagerRunsDraw(t *testing.T) {
	for _, fuse := range []bool{false, true} {
		dev := open(t, sinter.WithFusion(fuse))
		x := sinter.Full(dev, sinter.F32, 3, 16).AddScalar(1)
		read(t, x)
		state := func() uint64 { _, p := dev.Runtime().RandomState(); return p }

		dev.Seed(11)
		var want [][][]byte
		for range 3 {
			out, err := draw(dev.Stream(), []*sinter.Tensor{x})
			require.NoError(t, err)
			want = append(want, readAll(t, out))
		}
		end := state()
		require.NotEqual(t, want[0], want[1])

		dev.Seed(11)
		g := capture(t, dev, draw, x)
		require.True(t, g.IsHardware(), "%v", g.FallbackReason())
		require.Zero(t, state(), "capturing draws nothing")
		for i := range 3 {
			require.NoError(t, g.Replay())
			require.Equal(t, want[i], readAll(t, outputs(g, 4)), "replay %d", i)
		}
		require.Equal(t, end, state())
		dev.Seed(11)
		require.NoError(t, g.Replay())
		require.Equal(t, want[0], readAll(t, outputs(g, 4)), "seeded between replays")

		// Draws outside go on from where a replay leaves off.
		dev.Seed(11)
		_, err := draw(dev.Stream(), []*sinter.Tensor{x})
		require.NoError(t, err)
		require.NoError(t, g.Replay())
		require.Equal(t, want[1], readAll(t, outputs(g, 4)))
		for _, f := range g.Frozen() {
			require.NotEqual(t, "11", f.Value, "a seed is not frozen")
		}
	}
}

// Two captures that are open at once count their draws apart.
func TestDrawsOfTwoCaptures(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	other := dev.NewStream()
	few := func(s *sinter.Stream, n int) (outs []*sinter.Tensor) {
		for range n {
			outs = append(outs, sinter.Uniform(s, sinter.F32, 0, 1, 3))
		}
		return outs
	}
	dev.Seed(5)
	want := readAll(t, few(dev.Stream(), 8))
	dev.Seed(5)
	_ = few(dev.Stream(), 1)

	a, err := graphapi.Begin(ctx, dev.Stream())
	require.NoError(t, err)
	var gb *graphapi.Graph
	for a.Next() {
		a.Return(few(dev.Stream(), 4)...)
		if gb == nil {
			b, err := graphapi.Begin(ctx, other)
			require.NoError(t, err)
			for b.Next() {
				b.Return(few(other, 8)...)
			}
			gb, err = b.End()
			require.NoError(t, err)
		}
		a.Return(few(dev.Stream(), 4)...)
	}
	ga, err := a.End()
	require.NoError(t, err)
	_, at := dev.Runtime().RandomState()
	require.Equal(t, uint64(1), at)
	for _, g := range []*graphapi.Graph{ga, gb} {
		dev.Seed(5)
		require.NoError(t, g.Replay())
		require.Equal(t, want, readAll(t, outputs(g, 8)))
		_, at := dev.Runtime().RandomState()
		require.Equal(t, uint64(8), at)
	}
}

// A draw from before the capture, and one with a seed of its own, stay as they
// are.
func TestDrawsFromOutsideStay(t *testing.T) {
	dev := open(t)
	dev.Seed(3)
	mask := sinter.Uniform(dev, sinter.F32, 0, 1, 8).MulScalar(2)
	dev.Seed(3) // the capture's draws have the same positions
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{mask.Add(in[0]), sinter.Uniform(s, sinter.F32, 0, 2, 8)}, nil
	}, sinter.Zeros(dev, sinter.F32, 8))
	want := read(t, mask)
	for i := range 3 {
		require.NoError(t, g.Replay())
		require.Equal(t, want, read(t, g.Out(0)))
		if i == 0 {
			require.Equal(t, want, read(t, g.Out(1)))
		} else {
			require.NotEqual(t, want, read(t, g.Out(1)))
		}
	}
}

// Seeding inside the function cannot be recorded: each run would start the
// sequence again.
func TestSeedingInsideFallsBack(t *testing.T) {
	dev := open(t)
	g, err := graphapi.Capture(context.Background(), dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		dev.Seed(7)
		return []*sinter.Tensor{in[0].Dropout(0.5)}, nil
	}, []*sinter.Tensor{sinter.Full(dev, sinter.F32, 1, 64)})
	require.NoError(t, err)
	require.False(t, g.IsHardware())
	require.ErrorContains(t, g.FallbackReason(), "seed between replays")
	require.NoError(t, g.Replay())
	first := read(t, g.Out(0))
	require.NoError(t, g.Replay())
	require.Equal(t, first, read(t, g.Out(0)))
}

// Replays of several goroutines never draw the same numbers.
func TestConcurrentReplaysDrawApart(t *testing.T) {
	dev := open(t)
	sums := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 1))
	last := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 64))
	var graphs []*graphapi.Graph
	for range 3 {
		s := dev.NewStream()
		g, err := graphapi.Capture(context.Background(), s, func(s *sinter.Stream, _ []*sinter.Tensor) ([]*sinter.Tensor, error) {
			r := sinter.Uniform(s, sinter.F32, 0, 1, 64)
			same := r.Equal(last.Value()).All().Cast(sinter.F32).Reshape(1)
			sums.Set(sums.Value().Add(same))
			last.Set(r)
			return nil, nil
		}, nil)
		require.NoError(t, err)
		require.True(t, g.IsHardware(), "%v", g.FallbackReason())
		graphs = append(graphs, g)
	}
	_, before := dev.Runtime().RandomState()
	var wg sync.WaitGroup
	for _, g := range graphs {
		wg.Go(func() {
			for range 20 {
				if err := g.Replay(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, []float32{0}, read(t, sums.Value()))
	_, after := dev.Runtime().RandomState()
	require.Equal(t, before+60, after)
}

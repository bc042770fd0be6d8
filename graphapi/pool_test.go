package graphapi_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

// long computes in several launches, with memory in between.
func long(n int) graphapi.Func {
	return func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[0]
		for i := range n {
			y = y.CumSum(0).MulScalar(0.5).Add(in[0].Sum().AddScalar(float64(i)))
		}
		return []*sinter.Tensor{y}, nil
	}
}

// Graphs that share a pool give the results they would alone, in any order of
// replays, and take less memory.
func TestSharedPool(t *testing.T) {
	ctx := context.Background()
	sizes := []int{1 << 18, 1 << 17, 1 << 18}
	run := func(share bool) (reserved int64, got [][]float32) {
		dev := open(t)
		var opts []graphapi.Option
		pool := graphapi.NewPool(dev)
		if share {
			opts = append(opts, graphapi.InPool(pool))
		}
		var graphs []*graphapi.Graph
		var inputs []*sinter.Tensor
		for i, n := range sizes {
			x := sinter.Full(dev, sinter.F32, float64(i+1)/float64(n), n).AddScalar(0)
			read(t, x)
			g, err := graphapi.Capture(ctx, dev.Stream(), long(2+i), []*sinter.Tensor{x}, opts...)
			require.NoError(t, err)
			require.True(t, g.IsHardware(), "%v", g.FallbackReason())
			graphs, inputs = append(graphs, g), append(inputs, x)
		}
		if share {
			require.Equal(t, len(sizes), pool.Report().Graphs)
			require.Positive(t, pool.Report().Memory.Reserved)
			var refused *sinter.CaptureError
			require.ErrorAs(t, pool.Close(), &refused)
		}
		reserved = dev.Stats().Memory.Reserved
		for _, i := range []int{2, 0, 1, 1, 2, 0} {
			require.NoError(t, graphs[i].Replay(inputs[i]))
		}
		for i := range graphs { // outputs are each graph's own
			got = append(got, read(t, graphs[i].Out(0)))
		}
		for _, g := range graphs {
			require.NoError(t, g.Close())
		}
		if share {
			require.Zero(t, pool.Report().Graphs)
			require.NoError(t, pool.Close())
			require.NoError(t, pool.Close())
			_, err := graphapi.Capture(ctx, dev.Stream(), double, inputs[:1], opts...)
			var closed *sinter.ClosedError
			require.ErrorAs(t, err, &closed)
			require.Zero(t, pool.Report().Memory.Reserved)
			require.NotEmpty(t, pool.Report().String())
		}
		usable(t, dev)
		return reserved, got
	}
	alone, want := run(false)
	shared, got := run(true)
	require.Equal(t, want, got)
	require.Less(t, shared, alone)
}

func TestPoolErrors(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	pool := graphapi.NewPool(dev)
	x := sinter.From(dev, []float32{1, 2}, 2)
	var refused *sinter.CaptureError
	_, err := graphapi.Capture(ctx, open(t).Stream(), double, nil, graphapi.InPool(pool))
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "another device")

	in := func(f graphapi.Func) (*graphapi.Graph, error) {
		return graphapi.Capture(ctx, dev.Stream(), f, []*sinter.Tensor{x}, graphapi.InPool(pool))
	}
	first, err := in(double)
	require.NoError(t, err)
	other := dev.NewStream()
	second, err := in(func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		// What would use the memory that is being planned is refused.
		_, err := graphapi.Capture(ctx, other, double, in, graphapi.InPool(pool))
		require.ErrorAs(t, err, &refused)
		require.ErrorAs(t, first.ReplayOn(other), &refused)
		require.ErrorAs(t, first.Replay(), &refused)
		require.ErrorAs(t, pool.Close(), &refused)
		return []*sinter.Tensor{in[0].AddScalar(1)}, nil
	})
	require.NoError(t, err)
	require.True(t, second.IsHardware(), "%v", second.FallbackReason())
	for _, g := range []*graphapi.Graph{second, first, second} {
		require.NoError(t, g.Replay())
	}
	require.Equal(t, []float32{2, 4}, read(t, first.Out(0)))
	require.Equal(t, []float32{2, 3}, read(t, second.Out(0)))
	_, err = in(func(*sinter.Stream, []*sinter.Tensor) ([]*sinter.Tensor, error) { return nil, context.Canceled })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, pool.Report().Graphs)
	require.NoError(t, first.Close())
	require.NoError(t, second.Replay())
	require.Equal(t, []float32{2, 3}, read(t, second.Out(0)))
	require.NoError(t, second.Close())
	require.NoError(t, pool.Close())
}

// Replays of graphs that share memory wait for each other, on any stream.
func TestConcurrentReplaysInAPool(t *testing.T) {
	dev := open(t)
	pool := graphapi.NewPool(dev)
	type job struct {
		g    *graphapi.Graph
		want []float32
	}
	var jobs []job
	for i := range 4 {
		s := dev.NewStream()
		x := sinter.Full(dev, sinter.F32, float64(i+1)/4, 2048).AddScalar(0)
		g, err := graphapi.Capture(context.Background(), s, long(2), []*sinter.Tensor{x}, graphapi.InPool(pool))
		require.NoError(t, err)
		require.NoError(t, g.Replay())
		jobs = append(jobs, job{g, read(t, g.Out(0))})
	}
	var wg sync.WaitGroup
	for _, j := range jobs {
		on := dev.NewStream()
		wg.Go(func() {
			for i := range 20 {
				var err error
				if i%2 == 0 {
					err = j.g.Replay()
				} else {
					err = j.g.ReplayOn(on)
				}
				if err != nil {
					t.Error(err)
				}
			}
			got, err := sinter.Read[float32](context.Background(), j.g.Out(0))
			if err != nil || len(got) != len(j.want) || got[2047] != j.want[2047] {
				t.Errorf("%v: got %v, want %v", err, got[2047], j.want[2047])
			}
		})
	}
	wg.Wait()
}

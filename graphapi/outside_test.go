package graphapi_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

// What belongs to the program outside stays what it is although it was computed
// or moved while a graph was captured: its memory is not the pool's, in which
// replays of other graphs write.
func TestOutsideStaysOutOfThePool(t *testing.T) {
	for _, fuse := range []bool{true, false} {
		dev := open(t, sinter.WithFusion(fuse))
		s := dev.Stream()
		pool := graphapi.NewPool(dev)
		const n = 64
		busy := func(_ *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			y := in[0]
			for range 6 { // as many intermediates of the size of what follows
				y = y.Add(y.Sum()).CumSum(0).MulScalar(1e-3)
			}
			return []*sinter.Tensor{y.Sum()}, nil
		}
		first, err := graphapi.Capture(t.Context(), s, busy, []*sinter.Tensor{sinter.Ones(dev, sinter.F32, n)}, graphapi.InPool(pool), graphapi.RequireHardware())
		require.NoError(t, err)

		virtual := sinter.Arange(dev, sinter.F32, 0, 1, n).Add(sinter.Ones(dev, sinter.F32, n))
		used := virtual.MulScalar(2)
		require.NoError(t, dev.Flush(t.Context())) // stores what was used, virtual only as a recipe
		used.Release()
		state := sinter.NewVar(sinter.Full(dev, sinter.F32, 7, n))
		old := state.Value()
		fresh := sinter.NewVar(sinter.Zeros(dev, sinter.F32, n))
		asked := fresh.Value()
		sum := old.AddScalar(1)
		require.NoError(t, dev.Flush(t.Context()))

		second, err := graphapi.Capture(t.Context(), s, func(_ *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			y := virtual.Add(in[0])
			state.SetSlice(y.Narrow(0, 0, 4), sinter.Span(2, 6))
			state.Set(state.Value().Add(y))
			fresh.Set(y)
			return []*sinter.Tensor{y, state.Value()}, nil
		}, []*sinter.Tensor{sinter.Ones(dev, sinter.F32, n)}, graphapi.InPool(pool), graphapi.RequireHardware())
		require.NoError(t, err)
		want := make([]float32, n)
		for i := range want {
			want[i] = 7
		}
		for range 3 {
			require.NoError(t, first.Replay())
			require.Equal(t, want, read(t, state.Value()))
			require.NoError(t, second.Replay())
			for i := range want {
				if i >= 2 && i < 6 {
					want[i] = float32(i - 2 + 2)
				}
				want[i] += float32(i + 2)
			}
			out := read(t, second.Out(1))
			require.NoError(t, first.Replay())
			require.Equal(t, want, out)
			require.Equal(t, want, read(t, second.Out(1)))
			require.Equal(t, want, read(t, state.Value()))
			for i, y := range read(t, second.Out(0)) {
				require.Equal(t, float32(i+2), y)
			}
			require.NoError(t, first.Replay())
			require.Equal(t, read(t, second.Out(0)), read(t, fresh.Value()))
		}
		require.NoError(t, first.Replay())
		for i, y := range read(t, virtual) {
			require.Equal(t, float32(i+1), y)
		}
		for i := range n {
			require.Equal(t, float32(7), read(t, old)[i])
			require.Equal(t, float32(8), read(t, sum)[i])
			require.Zero(t, read(t, asked)[i])
		}
	}
}

// Outputs of a graph, host data and Vars that it sets are not where another graph
// of the pool, captured before, has its intermediates.
func TestOutputsAreTheirOwnInAPool(t *testing.T) {
	dev := open(t)
	s := dev.Stream()
	pool := graphapi.NewPool(dev)
	const n, count = 64, 12
	var graphs []*graphapi.Graph
	states := make([]*sinter.Var, count)
	host := make([][]float32, count)
	for i := range states {
		host[i] = slices.Repeat([]float32{float32(i)}, n)
		states[i] = sinter.NewVar(sinter.Zeros(dev, sinter.F32, n))
	}
	for range 2 {
		g, err := graphapi.Capture(t.Context(), s, func(_ *sinter.Stream, in []*sinter.Tensor) (out []*sinter.Tensor, err error) {
			y := in[0]
			for i := range count {
				y = y.Add(y.Sum().MulScalar(1e-6)).CumSum(0).Add(sinter.From(s, host[i], n))
				out = append(out, y.CumSum(0).CumSum(0).Sum(), y.MulScalar(2))
				states[i].Set(states[i].Value().Add(y))
			}
			return out, nil
		}, []*sinter.Tensor{sinter.Ones(dev, sinter.F32, n)}, graphapi.InPool(pool), graphapi.RequireHardware())
		require.NoError(t, err)
		graphs = append(graphs, g)
	}
	for round := range 4 {
		g, other := graphs[round%2], graphs[1-round%2]
		require.NoError(t, g.Replay(sinter.Full(dev, sinter.F32, float64(round), n)))
		var want, got [][]float32
		for i := range 2 * count {
			want = append(want, read(t, g.Out(i)))
		}
		var before [][]float32
		for _, v := range states {
			before = append(before, read(t, v.Value()))
		}
		require.NoError(t, other.Replay(sinter.Zeros(dev, sinter.F32, n)))
		for i := range 2 * count {
			got = append(got, read(t, g.Out(i)))
		}
		for i, v := range states { // what it adds is the same for both
			for k, x := range read(t, v.Value()) {
				require.GreaterOrEqual(t, x, before[i][k])
			}
		}
		require.Equal(t, want, got, "round %d", round)

		// And the same again.
		require.NoError(t, g.Replay(sinter.Full(dev, sinter.F32, float64(round), n)))
		for i := range 2 * count {
			require.Equal(t, want[i], read(t, g.Out(i)), "round %d", round)
		}
	}
}

// Nor does a Var's memory come from the pool where warm-ups leave it set.
func TestKeptVarsStayOutOfThePool(t *testing.T) {
	dev := open(t)
	s := dev.Stream()
	pool := graphapi.NewPool(dev)
	const n = 64
	in := []*sinter.Tensor{sinter.Ones(dev, sinter.F32, n)}
	first, err := graphapi.Capture(t.Context(), s, func(_ *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[0]
		for range 8 {
			y = y.Add(y.Sum()).CumSum(0).MulScalar(1e-3)
		}
		return []*sinter.Tensor{y.Sum()}, nil
	}, in, graphapi.InPool(pool))
	require.NoError(t, err)
	var vars []*sinter.Var
	for range 8 {
		vars = append(vars, sinter.NewVar(sinter.Zeros(dev, sinter.F32, n)))
	}
	asked := vars[0].Value()
	second, err := graphapi.Capture(t.Context(), s, func(_ *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		for i, v := range vars {
			v.Set(in[0].CumSum(0).AddScalar(float64(i)))
		}
		return nil, nil
	}, in, graphapi.InPool(pool), graphapi.KeepWarmups())
	require.NoError(t, err)
	require.NoError(t, second.Replay())
	require.NoError(t, first.Replay())
	for i, v := range vars {
		require.Equal(t, float32(i+1), read(t, v.Value())[0])
		require.Equal(t, float32(i+n), read(t, v.Value())[n-1])
	}
	require.Zero(t, read(t, asked)[1])
}

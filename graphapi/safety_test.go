package graphapi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

func double(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
	return []*sinter.Tensor{in[0].MulScalar(2)}, nil
}

func capture(t *testing.T, dev *sinter.Device, f graphapi.Func, in ...*sinter.Tensor) *graphapi.Graph {
	t.Helper()
	g, err := graphapi.Capture(context.Background(), dev.Stream(), f, in)
	require.NoError(t, err)
	require.True(t, g.IsHardware(), "%v", g.FallbackReason())
	return g
}

// usable checks that a stream computes and captures as if nothing happened.
func usable(t *testing.T, dev *sinter.Device) {
	t.Helper()
	x := sinter.From(dev, []float32{1, 2}, 2)
	require.Equal(t, []float32{2, 4}, read(t, x.Add(x)))
	g := capture(t, dev, double, x)
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{2, 4}, read(t, g.Out(0)))
	require.NoError(t, g.Close())
}

func TestInputsOfEveryKind(t *testing.T) {
	dev := open(t)
	other := open(t)
	x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
	g := capture(t, dev, double, x)
	s2 := dev.NewStream()
	inputs := map[string]*sinter.Tensor{
		"stored":                x,
		"computed":              x.AddScalar(0),
		"strided":               sinter.From(dev, []float32{1, 3, 2, 4}, 2, 2).T(),
		"part of another":       sinter.From(dev, []float32{9, 9, 1, 2, 3, 4}, 3, 2).Slice(sinter.SpanFrom(1)),
		"cast":                  sinter.From(dev, []int64{1, 2, 3, 4}, 2, 2),
		"from another device":   sinter.From(other, []float32{1, 2, 3, 4}, 2, 2),
		"on another stream":     sinter.From(s2, []float32{0, 1, 2, 3}, 2, 2).AddScalar(1),
		"a Var's value":         sinter.NewVar(x).Value(),
		"the graph's own input": g.In(0).Value(),
	}
	for name, in := range inputs {
		require.NoError(t, g.Replay(sinter.Zeros(dev, sinter.F32, 2, 2)), name)
		if name == "the graph's own input" {
			sinter.Write(g.In(0), []float32{1, 2, 3, 4})
			in = g.In(0).Value()
		}
		require.NoError(t, g.Replay(in), name)
		require.Equal(t, []float32{2, 4, 6, 8}, read(t, g.Out(0)), name)
	}
	sinter.Write(g.In(0), []float32{5, 6, 7, 8})
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{10, 12, 14, 16}, read(t, g.Out(0)), "as written to In")
}

func TestWrongInputs(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
	g := capture(t, dev, double, x)
	require.NoError(t, g.Replay())
	var refused *sinter.CaptureError
	var shape *sinter.ShapeError
	var released *sinter.ReleasedError
	require.ErrorAs(t, g.Replay(x, x), &refused)
	require.ErrorAs(t, g.Replay(nil), &refused)
	require.ErrorAs(t, g.Replay(sinter.From(dev, []float32{1}, 1)), &shape)
	require.ErrorAs(t, g.Replay(x.MatMul(sinter.From(dev, []float32{1}, 1))), &shape)
	gone := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
	gone.Release()
	require.ErrorAs(t, g.Replay(gone), &released)
	require.Equal(t, []float32{2, 4, 6, 8}, read(t, g.Out(0)), "a refused replay writes nothing")
	require.NoError(t, g.Replay(x))
	require.Equal(t, []float32{2, 4, 6, 8}, read(t, g.Out(0)))
	two := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{in[0].Sub(in[1])}, nil
	}, x, x)
	require.ErrorAs(t, two.Replay(x.MulScalar(7), sinter.From(dev, []float32{1}, 1)), &shape)
	require.NoError(t, two.Replay())
	require.Equal(t, []float32{0, 0, 0, 0}, read(t, two.Out(0)), "no input of a refused replay is copied")
	usable(t, dev)
}

func TestFailingFunctions(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	x := sinter.From(dev, []float32{1, 2}, 2)
	w := sinter.NewVar(x)
	boom := errors.New("boom")
	for at := range 4 {
		calls := 0
		_, err := graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			w.Set(w.Value().Add(in[0]))
			calls++
			if calls == at+1 {
				return nil, boom
			}
			return []*sinter.Tensor{w.Value().MulScalar(2)}, nil
		}, []*sinter.Tensor{x})
		require.ErrorIs(t, err, boom, "call %d", at)
		require.Equal(t, []float32{1, 2}, read(t, w.Value()), "call %d", at)
		usable(t, dev)
	}
	var shape *sinter.ShapeError
	_, err := graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{in[0].Reshape(3)}, nil
	}, []*sinter.Tensor{x})
	require.ErrorAs(t, err, &shape)
	var index *sinter.IndexError
	_, err = graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{in[0].Select(0, in[1])}, nil
	}, []*sinter.Tensor{x, sinter.From(dev, []int64{5}, 1)})
	require.ErrorAs(t, err, &index)
	var refused *sinter.CaptureError
	_, err = graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{nil}, nil
	}, []*sinter.Tensor{x})
	require.ErrorAs(t, err, &refused)
	_, err = graphapi.Capture(ctx, dev.Stream(), double, []*sinter.Tensor{nil})
	require.ErrorAs(t, err, &refused)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err = graphapi.Capture(stopped, dev.Stream(), double, []*sinter.Tensor{x})
	require.ErrorIs(t, err, context.Canceled)
	require.Panics(t, func() {
		_, _ = graphapi.Capture(ctx, dev.Stream(), func(*sinter.Stream, []*sinter.Tensor) ([]*sinter.Tensor, error) {
			panic("in the function")
		}, []*sinter.Tensor{x})
	})
	usable(t, dev)
}

func TestIndexErrorOfAReplay(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	table := sinter.From(dev, []float32{1, 2, 3}, 3)
	ix := sinter.From(dev, []int64{0, 2}, 2)
	state := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2))
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := table.Select(0, in[0])
		state.Set(state.Value().Add(y))
		return []*sinter.Tensor{y}, nil
	}, ix)
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{1, 3}, read(t, g.Out(0)))
	var index *sinter.IndexError
	require.ErrorAs(t, g.Replay(sinter.From(dev, []int64{0, 3}, 2)), &index)
	_, err := sinter.Read[float32](ctx, g.Out(0))
	require.ErrorAs(t, err, &index, "what a failed replay wrote is tainted")
	_, err = sinter.Read[float32](ctx, state.Value())
	require.ErrorAs(t, err, &index)
	// The Var is damaged: nothing may go on from it until it is written.
	require.ErrorAs(t, g.Replay(ix), &index)
	state.Set(sinter.Zeros(dev, sinter.F32, 2))
	require.NoError(t, g.Replay(ix))
	require.Equal(t, []float32{1, 3}, read(t, g.Out(0)), "until the next good one")
	require.Equal(t, []float32{1, 3}, read(t, state.Value()))
	var op *sinter.OpError
	require.ErrorAs(t, g.Replay(sinter.From(dev, []int64{-1, 0}, 2)), &op)
	require.Equal(t, "Replay", op.Op)
	require.Equal(t, []sinter.Shape{{2}}, op.Shapes)
	require.Contains(t, op.Error(), "safety_test.go:")
}

// A Var the replay writes without reading it recovers with the next good one.
func TestWhollyWrittenVarRecovers(t *testing.T) {
	dev := open(t)
	table := sinter.From(dev, []float32{1, 2, 3}, 3)
	last := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 1))
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		last.Set(table.Select(0, in[0]))
		return nil, nil
	}, sinter.From(dev, []int64{0}, 1))
	require.Error(t, g.Replay(sinter.From(dev, []int64{7}, 1)))
	require.NoError(t, g.Replay(sinter.From(dev, []int64{2}, 1)))
	require.Equal(t, []float32{3}, read(t, last.Value()))
}

func TestArgumentsThatAreNotThere(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	x := sinter.From(dev, []float32{1, 2}, 2)
	var refused *sinter.CaptureError
	_, err := graphapi.Capture(ctx, nil, double, []*sinter.Tensor{x})
	require.ErrorAs(t, err, &refused)
	_, err = graphapi.Capture(ctx, dev.Stream(), nil, []*sinter.Tensor{x})
	require.ErrorAs(t, err, &refused)
	g := capture(t, dev, double, x)
	require.NoError(t, g.Replay())
	var index *sinter.IndexError
	for _, i := range []int{-1, 1} {
		_, err = sinter.Read[float32](ctx, g.Out(i))
		require.ErrorAs(t, err, &index)
		require.Nil(t, g.In(i))
	}
	require.NoError(t, dev.Flush(ctx), "and nothing is left unreported")
}

func TestInputErrorsAreToldOnce(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	x := sinter.From(dev, []float32{1, 2}, 2)
	var shape *sinter.ShapeError
	_, err := graphapi.Capture(ctx, dev.Stream(), double, []*sinter.Tensor{x.Reshape(9)})
	require.ErrorAs(t, err, &shape)
	require.NoError(t, dev.Flush(ctx))
	other := open(t)
	g := capture(t, dev, double, sinter.From(other, []float32{3, 4}, 2))
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{6, 8}, read(t, g.Out(0)))
}

func TestReadersOfOutputs(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, 2}, 2)
	g := capture(t, dev, double, x)
	require.NoError(t, g.Replay())
	pending := g.Out(0).AddScalar(1)
	s2 := dev.NewStream()
	elsewhere := g.Out(0).On(s2).AddScalar(2)
	chain := g.Out(0).MulScalar(3)
	last := chain.AddScalar(1)
	require.Equal(t, []float32{7, 13}, read(t, last), "chain is virtual now, with a recipe on the output")
	require.NoError(t, g.Replay(sinter.From(dev, []float32{10, 20}, 2)))
	require.Equal(t, []float32{3, 5}, read(t, pending))
	require.Equal(t, []float32{4, 6}, read(t, elsewhere))
	require.Equal(t, []float32{6, 12}, read(t, chain))
	require.Equal(t, []float32{20, 40}, read(t, g.Out(0)))
}

func TestOutputsThatAreViewsAndInputs(t *testing.T) {
	dev := open(t)
	w := sinter.NewVar(sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2))
	x := sinter.From(dev, []float32{5, 6, 7, 8}, 2, 2)
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[0].AddScalar(1)
		return []*sinter.Tensor{in[0], y.T(), w.Value(), w.Value().T(), y, y, in[0].Reshape(4)}, nil
	}, x)
	require.NoError(t, g.Replay())
	w.Set(w.Value().MulScalar(10))
	require.NoError(t, g.Replay(sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)))
	want := [][]float32{{1, 2, 3, 4}, {2, 4, 3, 5}, {10, 20, 30, 40}, {10, 30, 20, 40}, {2, 3, 4, 5}, {2, 3, 4, 5}, {1, 2, 3, 4}}
	for i, v := range want {
		require.Equal(t, v, read(t, g.Out(i)), "output %d", i)
	}
}

func TestOperandOfAnotherStream(t *testing.T) {
	dev := open(t)
	s2 := dev.NewStream()
	x := sinter.From(dev, []float32{1, 2}, 2)
	g, err := graphapi.Capture(context.Background(), dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{in[0].Add(sinter.From(s2, []float32{1, 1}, 2))}, nil
	}, []*sinter.Tensor{x}, graphapi.RequireHardware())
	require.Nil(t, g)
	require.ErrorContains(t, err, "another stream")
	usable(t, dev)
}

func TestKeepWarmups(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	w := sinter.NewVar(sinter.From(dev, []float32{1}, 1))
	g, err := graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		w.Set(w.Value().Add(in[0]))
		return nil, nil
	}, []*sinter.Tensor{sinter.From(dev, []float32{1}, 1)}, graphapi.KeepWarmups())
	require.NoError(t, err)
	require.True(t, g.IsHardware(), "%v", g.FallbackReason())
	require.Equal(t, []float32{4}, read(t, w.Value()), "three warm-ups")
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{5}, read(t, w.Value()))
}

func TestGraphsSwitchedOff(t *testing.T) {
	t.Setenv("SINTER_GRAPHS", "0")
	dev := open(t)
	g, err := graphapi.Capture(context.Background(), dev.Stream(), double, []*sinter.Tensor{sinter.From(dev, []float32{1, 2}, 2)})
	require.NoError(t, err)
	require.False(t, g.IsHardware())
	require.ErrorContains(t, g.FallbackReason(), "SINTER_GRAPHS")
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{2, 4}, read(t, g.Out(0)))
	require.Error(t, g.Replay(sinter.From(dev, []float32{1}, 1)))
	require.NoError(t, g.Close())
	require.Error(t, g.Replay())
}

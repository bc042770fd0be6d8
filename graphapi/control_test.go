package graphapi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

type tensors = []*sinter.Tensor

// everyWay runs a program captured and fused, captured without fusion, falling
// back, and without a graph: replay gives its outputs and the Var's value.
func everyWay(t *testing.T, f func(t *testing.T, dev *sinter.Device, run func(f graphapi.Func, in ...*sinter.Tensor) func(in ...*sinter.Tensor) tensors)) {
	for name, opts := range map[string][]sinter.Option{
		"captured": nil, "unfused": {sinter.WithFusion(false)}, "falling back": {sinter.WithGraphs(false)}, "eager": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dev := open(t, opts...)
			f(t, dev, func(f graphapi.Func, in ...*sinter.Tensor) func(in ...*sinter.Tensor) tensors {
				if name == "eager" {
					return func(in ...*sinter.Tensor) tensors {
						for i := range in {
							in[i] = in[i].On(dev.Stream())
						}
						out, err := f(dev.Stream(), in)
						require.NoError(t, err)
						return out
					}
				}
				g, err := graphapi.Capture(context.Background(), dev.Stream(), f, in)
				require.NoError(t, err)
				require.Equal(t, name != "falling back", g.IsHardware(), "%v", g.FallbackReason())
				return func(in ...*sinter.Tensor) tensors {
					require.NoError(t, g.Replay(in...))
					out := tensors{}
					for i := 0; g.Out(i).Err() == nil; i++ {
						out = append(out, g.Out(i))
					}
					return out
				}
			})
		})
	}
}

func flag(dev *sinter.Device, on bool) *sinter.Tensor { return sinter.Scalar(dev, on) }

func TestIf(t *testing.T) {
	everyWay(t, func(t *testing.T, dev *sinter.Device, run func(graphapi.Func, ...*sinter.Tensor) func(...*sinter.Tensor) tensors) {
		count := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2))
		other := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2)) // written in one branch only
		x := sinter.From(dev, []float32{1, 2}, 2)
		step := run(func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			before := count.Value()
			shared := in[0].MulScalar(3) // used in both and after
			view := count.Value().Reshape(1, 2)
			out, err := graphapi.If(s, in[1], func() ([]*sinter.Tensor, error) {
				count.Set(count.Value().AddScalar(1))
				return tensors{shared.AddScalar(1), view.AddScalar(10).Reshape(2)}, nil
			}, func() ([]*sinter.Tensor, error) {
				other.Set(other.Value().Add(in[0]))
				count.SetSlice(in[0].Slice(sinter.Span(0, 1)).MulScalar(100), sinter.Span(0, 1))
				return tensors{in[0], shared}, nil
			})
			if err != nil {
				return nil, err
			}
			return tensors{out[0].Add(shared), out[1], before.AddScalar(0), count.Value(), other.Value()}, nil
		}, x, flag(dev, true))
		for _, c := range []struct {
			on   bool
			want [][]float32
		}{
			{true, [][]float32{{7, 13}, {10, 10}, {0, 0}, {1, 1}, {0, 0}}},
			{false, [][]float32{{4, 8}, {3, 6}, {1, 1}, {100, 1}, {1, 2}}},
			{false, [][]float32{{4, 8}, {3, 6}, {100, 1}, {100, 1}, {2, 4}}},
			{true, [][]float32{{7, 13}, {110, 11}, {100, 1}, {101, 2}, {2, 4}}},
		} {
			out := step(x, flag(dev, c.on))
			for i, w := range c.want {
				require.Equal(t, w, read(t, out[i]), "%v: output %d", c.on, i)
			}
			require.Equal(t, c.want[3], read(t, count.Value()))
			require.Equal(t, c.want[4], read(t, other.Value()))
		}
	})
}

// The branch that does not run in warm-ups may be one that could not run.
func TestIfGuards(t *testing.T) {
	everyWay(t, func(t *testing.T, dev *sinter.Device, run func(graphapi.Func, ...*sinter.Tensor) func(...*sinter.Tensor) tensors) {
		cache := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 3))
		at := sinter.NewVar(sinter.Scalar(dev, int64(0)))
		step := run(func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			_, err := graphapi.If(s, at.Value().LessScalar(3), func() ([]*sinter.Tensor, error) {
				cache.SetSlice(in[0], sinter.SpanAt(at.Value(), 1))
				at.Set(at.Value().AddScalar(1))
				return nil, nil
			}, nil)
			return nil, err
		}, sinter.From(dev, []float32{7}, 1))
		for i := range 5 {
			step(sinter.From(dev, []float32{float32(i + 1)}, 1))
		}
		require.Equal(t, []float32{1, 2, 3}, read(t, cache.Value()))
	})
}

// collatz counts how many steps it takes from n to 1: a loop with a conditional
// in it, state of two tensors that are exchanged in part, and a Var.
func collatz(s *sinter.Stream, n *sinter.Tensor, total *sinter.Var, opts ...graphapi.LoopOption) ([]*sinter.Tensor, error) {
	return graphapi.While(s,
		func(state []*sinter.Tensor) (*sinter.Tensor, error) { return state[0].NotEqualScalar(1), nil },
		func(state []*sinter.Tensor) ([]*sinter.Tensor, error) {
			n, steps := state[0], state[1]
			half := n.MulScalar(0.5).Floor()
			next, err := graphapi.If(s, n.Sub(half.MulScalar(2)).Cast(sinter.I64),
				func() ([]*sinter.Tensor, error) { return tensors{n.MulScalar(3).AddScalar(1)}, nil },
				func() ([]*sinter.Tensor, error) { return tensors{half}, nil })
			if err != nil {
				return nil, err
			}
			total.Set(total.Value().AddScalar(1))
			return tensors{next[0], steps.AddScalar(1)}, nil
		}, tensors{n, sinter.Scalar(s, int64(0))}, opts...)
}

func TestWhile(t *testing.T) {
	everyWay(t, func(t *testing.T, dev *sinter.Device, run func(graphapi.Func, ...*sinter.Tensor) func(...*sinter.Tensor) tensors) {
		for _, first := range []float32{1, 6} { // the warm-ups may go round or not
			total := sinter.NewVar(sinter.Scalar(dev, int64(0)))
			step := run(func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
				out, err := collatz(s, in[0], total)
				if err != nil {
					return nil, err
				}
				return tensors{out[1], out[0].Add(in[0])}, nil
			}, sinter.Scalar(dev, first))
			all := int64(0)
			for _, c := range [][2]float32{{1, 0}, {2, 1}, {7, 16}, {27, 111}, {1, 0}, {3, 7}} {
				out := step(sinter.Scalar(dev, c[0]))
				steps, err := sinter.Item[int64](context.Background(), out[0])
				require.NoError(t, err)
				require.Equal(t, int64(c[1]), steps, "from %v", c[0])
				sum, err := sinter.Item[float32](context.Background(), out[1])
				require.NoError(t, err)
				require.Equal(t, c[0]+1, sum)
				all += int64(c[1])
				got, err := sinter.Item[int64](context.Background(), total.Value())
				require.NoError(t, err)
				require.Equal(t, all, got)
			}
		}
	})
}

func TestWhileIsBounded(t *testing.T) {
	everyWay(t, func(t *testing.T, dev *sinter.Device, run func(graphapi.Func, ...*sinter.Tensor) func(...*sinter.Tensor) tensors) {
		total := sinter.NewVar(sinter.Scalar(dev, int64(0)))
		step := run(func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			return collatz(s, in[0], total, graphapi.MaxIterations(5))
		}, sinter.Scalar(dev, float32(27)))
		for _, c := range [][2]float32{{27, 5}, {4, 2}, {7, 5}} {
			steps, err := sinter.Item[int64](context.Background(), step(sinter.Scalar(dev, c[0]))[1])
			require.NoError(t, err)
			require.Equal(t, int64(c[1]), steps)
		}
	})
}

// The state's parts may be exchanged, be views, and be of odd shapes.
func TestWhileExchanges(t *testing.T) {
	everyWay(t, func(t *testing.T, dev *sinter.Device, run func(graphapi.Func, ...*sinter.Tensor) func(...*sinter.Tensor) tensors) {
		step := run(func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			return graphapi.While(s,
				func(x []*sinter.Tensor) (*sinter.Tensor, error) { return x[3], nil },
				func(x []*sinter.Tensor) ([]*sinter.Tensor, error) {
					return tensors{x[1], x[0], x[2].T().Flip(0), x[3].SubScalar(1)}, nil
				}, tensors{in[0], in[0].MulScalar(10), in[1].T(), in[2]})
		}, sinter.From(dev, []float32{1, 2}, 2), sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2), sinter.Scalar(dev, int64(2)))
		for n, want := range [][][]float32{
			{{1, 2}, {10, 20}, {1, 3, 2, 4}}, {{10, 20}, {1, 2}, {3, 4, 1, 2}}, {{1, 2}, {10, 20}, {4, 2, 3, 1}}, {{10, 20}, {1, 2}, {2, 1, 4, 3}},
		} {
			out := step(sinter.From(dev, []float32{1, 2}, 2), sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2), sinter.Scalar(dev, int64(n)))
			for i, w := range want {
				require.Equal(t, w, read(t, out[i]), "%d rounds, output %d", n, i)
			}
		}
	})
}

func TestControlErrors(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	s := dev.Stream()
	x := sinter.From(dev, []float32{1, 2}, 2)
	yes := flag(dev, true)
	same := func() ([]*sinter.Tensor, error) { return tensors{x}, nil }
	boom := errors.New("boom")
	var arg *sinter.ArgumentError
	var shape *sinter.ShapeError
	var dtype *sinter.DTypeError
	if1 := func(p *sinter.Tensor, then, els graphapi.Branch) graphapi.Func {
		return func(s *sinter.Stream, _ []*sinter.Tensor) ([]*sinter.Tensor, error) {
			return graphapi.If(s, p, then, els)
		}
	}
	while := func(cond func([]*sinter.Tensor) (*sinter.Tensor, error), next tensors, init ...*sinter.Tensor) graphapi.Func {
		return func(s *sinter.Stream, _ []*sinter.Tensor) ([]*sinter.Tensor, error) {
			return graphapi.While(s, cond, func([]*sinter.Tensor) ([]*sinter.Tensor, error) { return next, nil }, init)
		}
	}
	once := func([]*sinter.Tensor) (*sinter.Tensor, error) { return yes, nil }
	for name, c := range map[string]struct {
		f      graphapi.Func
		target any
		eager  bool // it fails without a capture, too
	}{
		"nil predicate":        {if1(nil, same, same), &arg, true},
		"predicate of rank 1":  {if1(x, same, same), &shape, true},
		"float predicate":      {if1(sinter.Scalar(dev, float32(1)), same, same), &dtype, true},
		"no branch":            {if1(yes, nil, same), &arg, true},
		"nil result":           {if1(yes, func() ([]*sinter.Tensor, error) { return tensors{nil}, nil }, same), &arg, true},
		"other number":         {if1(yes, same, func() ([]*sinter.Tensor, error) { return nil, nil }), &shape, false},
		"other shape":          {if1(yes, same, func() ([]*sinter.Tensor, error) { return tensors{x.Sum()}, nil }), &shape, false},
		"other dtype":          {if1(yes, same, func() ([]*sinter.Tensor, error) { return tensors{x.Cast(sinter.BF16)}, nil }), &dtype, false},
		"error":                {if1(yes, func() ([]*sinter.Tensor, error) { return nil, boom }, same), &boom, true},
		"error in the other":   {if1(yes, same, func() ([]*sinter.Tensor, error) { return nil, boom }), &boom, false},
		"error of a condition": {while(func([]*sinter.Tensor) (*sinter.Tensor, error) { return nil, boom }, nil), &boom, true},
		"condition of rank 1":  {while(func([]*sinter.Tensor) (*sinter.Tensor, error) { return x, nil }, nil), &shape, true},
		"state of other shape": {while(once, tensors{x.Sum()}, x), &shape, true},
		"state of other dtype": {while(once, tensors{x.Cast(sinter.BF16)}, x), &dtype, true},
		"more state":           {while(once, tensors{x, x}, x), &shape, true},
		"nil state":            {while(once, tensors{x}, nil), &arg, true},
		"failing operation": {if1(yes, func() ([]*sinter.Tensor, error) {
			x.Reshape(3)
			return tensors{x}, nil
		}, same), &shape, false},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(err error) {
				require.Error(t, err)
				if c.target == &boom {
					require.ErrorIs(t, err, boom)
				} else {
					require.ErrorAs(t, err, c.target)
				}
			}
			_, err := graphapi.Capture(ctx, s, c.f, nil)
			check(err)
			if c.eager {
				_, err = c.f(s, nil)
				check(err)
			}
			for dev.Flush(ctx) != nil {
			}
			usable(t, dev)
		})
	}
	_, err := graphapi.If(nil, yes, same, nil)
	require.ErrorAs(t, err, &arg)
	_, err = graphapi.While(nil, nil, nil, nil)
	require.ErrorAs(t, err, &arg)
}

// An error a program keeps to itself fails the capture all the same: the
// conditional part would be missing.
func TestSwallowedErrorOfABranch(t *testing.T) {
	dev := open(t)
	boom := errors.New("boom")
	x := sinter.From(dev, []float32{1}, 1)
	for at := range 4 {
		calls := 0
		_, err := graphapi.Capture(context.Background(), dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			calls++
			_, _ = graphapi.If(s, flag(dev, false), func() ([]*sinter.Tensor, error) {
				if calls > at {
					return nil, boom
				}
				return nil, nil
			}, nil)
			return in, nil
		}, tensors{x})
		require.ErrorIs(t, err, boom, "from pass %d", at)
		usable(t, dev)
	}
}

// What a body makes ends with it, and a body that would have to compute
// something from outside makes the graph fall back.
func TestBodiesAreScopes(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	x := sinter.From(dev, []float32{1, 2}, 2)
	var released *sinter.ReleasedError
	leak := func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		var inner *sinter.Tensor
		_, err := graphapi.If(s, flag(dev, true), func() ([]*sinter.Tensor, error) {
			inner = x.AddScalar(1)
			return nil, nil
		}, nil)
		if err != nil {
			return nil, err
		}
		return tensors{inner}, nil
	}
	_, err := graphapi.Capture(ctx, dev.Stream(), leak, nil)
	require.ErrorAs(t, err, &released)
	out, err := leak(dev.Stream(), nil)
	require.NoError(t, err)
	_, err = sinter.Read[float32](ctx, out[0])
	require.ErrorAs(t, err, &released)
	usable(t, dev)
	g, err := graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return graphapi.If(s, in[0], func() ([]*sinter.Tensor, error) { return tensors{sinter.Uniform(s, sinter.F32, 0, 1, 2)}, nil },
			func() ([]*sinter.Tensor, error) { return tensors{x}, nil })
	}, tensors{flag(dev, false)})
	require.NoError(t, err)
	require.ErrorContains(t, g.FallbackReason(), "random")
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{1, 2}, read(t, g.Out(0)))
}

// Nested bodies write state to depth three, through branches that never ran in
// a warm-up.
func TestNestedBodies(t *testing.T) {
	everyWay(t, func(t *testing.T, dev *sinter.Device, run func(graphapi.Func, ...*sinter.Tensor) func(...*sinter.Tensor) tensors) {
		v := sinter.NewVar(sinter.Scalar(dev, int64(0)))
		add := func(n float64) { v.Set(v.Value().AddScalar(n)) }
		step := run(func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			a, b, n := in[0], in[1], in[2]
			_, err := graphapi.If(s, a, func() ([]*sinter.Tensor, error) {
				add(1)
				_, err := graphapi.If(s, b, func() ([]*sinter.Tensor, error) {
					_, err := graphapi.While(s,
						func(x []*sinter.Tensor) (*sinter.Tensor, error) { return x[0].GreaterScalar(0), nil },
						func(x []*sinter.Tensor) ([]*sinter.Tensor, error) {
							add(100)
							return tensors{x[0].SubScalar(1)}, nil
						}, tensors{n})
					add(10)
					return nil, err
				}, func() ([]*sinter.Tensor, error) { add(20); return nil, nil })
				return nil, err
			}, func() ([]*sinter.Tensor, error) { add(2); return nil, nil })
			return tensors{v.Value()}, err
		}, flag(dev, false), flag(dev, false), sinter.Scalar(dev, int64(0)))
		want := int64(0)
		for _, c := range []struct {
			a, b   bool
			n, add int64
		}{{false, true, 3, 2}, {true, false, 3, 21}, {true, true, 0, 11}, {true, true, 4, 411}, {false, false, 0, 2}, {true, true, 1, 111}} {
			out := step(flag(dev, c.a), flag(dev, c.b), sinter.Scalar(dev, c.n))
			want += c.add
			got, err := sinter.Item[int64](context.Background(), out[0])
			require.NoError(t, err)
			require.Equal(t, want, got, "%+v", c)
		}
	})
}

// A replay with conditional parts allocates, compiles and records nothing.
func TestControlIsSteady(t *testing.T) {
	dev := open(t)
	total := sinter.NewVar(sinter.Scalar(dev, int64(0)))
	n := sinter.Scalar(dev, float32(27))
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return collatz(s, in[0], total)
	}, sinter.Scalar(dev, float32(1))) // no round in a warm-up
	before := dev.Stats()
	for range 3 {
		require.NoError(t, g.Replay(n))
	}
	after := dev.Stats()
	require.Equal(t, before.Recorded, after.Recorded)
	require.Equal(t, before.Explorations, after.Explorations)
	require.Equal(t, before.Device.Compiles, after.Device.Compiles)
	require.Equal(t, before.Device.Allocations, after.Device.Allocations)
	require.Greater(t, after.Device.Launches-before.Device.Launches, int64(3*111))
}

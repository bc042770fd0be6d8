package traps

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

func capture(t *testing.T, dev *sinter.Device, f func(in tensors) tensors, in tensors, opts ...graphapi.Option) *graphapi.Graph {
	t.Helper()
	g, err := graphapi.Capture(ctx, dev.Stream(), func(_ *sinter.Stream, in tensors) (tensors, error) { return f(in), nil }, in, opts...)
	require.NoError(t, err)
	return g
}

// The warm-ups decided otherwise than the recording what may run in
// place, so that the first capture compiled inside its window and was refused.
func TestFirstCaptureInPlace(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
		g := capture(t, dev, func(in tensors) tensors {
			y := in[0].AddScalar(1)
			z := y.MatMul(y) // stored between the two
			y.Release()
			return tensors{z.AddScalar(1).MulScalar(2)}
		}, tensors{x}, graphapi.RequireHardware())
		before := dev.Stats().Device
		for range 3 {
			require.NoError(t, g.Replay(x))
		}
		after := dev.Stats().Device
		require.Equal(t, before.Compiles, after.Compiles)
		require.Equal(t, before.Allocations, after.Allocations)
		require.Equal(t, []float32{34, 44, 58, 76}, read[float32](t, g.Out(0)))
	})
}

// What the host computes for each step is
// frozen in the graph, silently.
func TestHostScalars(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		x := sinter.From(dev, []float32{1, 2}, 2)
		host := 2.0
		byHost := func(in tensors) tensors { return tensors{in[0].MulScalar(host)} }
		g := capture(t, dev, byHost, tensors{x})
		require.Len(t, g.Frozen(), 1, "what stays as it was is listed")
		require.Contains(t, g.Frozen()[0].Position, "capture_test.go")
		_, err := graphapi.Capture(ctx, dev.Stream(), func(_ *sinter.Stream, in tensors) (tensors, error) {
			host++
			return byHost(in), nil
		}, tensors{x})
		var refused *sinter.CaptureError
		require.ErrorAs(t, err, &refused, "one that changes is refused")

		s := sinter.NewVar(sinter.Scalar(dev, float32(2)))
		g = capture(t, dev, func(in tensors) tensors { return tensors{in[0].Mul(s.Value()), in[0].Mul(in[1])} }, tensors{x, sinter.Scalar(dev, float32(2))})
		for _, v := range []float32{2, 3, -1} {
			sinter.Write(s, []float32{v})
			require.NoError(t, g.Replay(x, sinter.Scalar(dev, v)))
			require.Equal(t, []float32{v, 2 * v}, read[float32](t, g.Out(0)))
			require.Equal(t, []float32{v, 2 * v}, read[float32](t, g.Out(1)))
		}
	})
}

// What the host computes for each step of an optimizer was frozen. Momentum and
// Adam with their step and rate on the device equal eager steps.
func TestOptimizerInGraph(t *testing.T) {
	type state struct{ w, m, v, step, rate *sinter.Var }
	optimizers := map[string]func(s state, g *tensor){
		"momentum": func(s state, g *tensor) {
			s.m.Set(s.m.Value().MulScalar(0.9).Add(g))
			s.w.Set(s.w.Value().Sub(s.m.Value().Mul(s.rate.Value())))
		},
		"Adam": func(s state, g *tensor) {
			s.step.Set(s.step.Value().AddScalar(1))
			s.m.Set(s.m.Value().MulScalar(0.9).Add(g.MulScalar(0.1)))
			s.v.Set(s.v.Value().MulScalar(0.99).Add(g.Square().MulScalar(0.01)))
			bias := func(beta float64) *tensor {
				return sinter.Full(g.Stream(), sinter.F32, beta).Pow(s.step.Value()).Neg().AddScalar(1)
			}
			update := s.m.Value().Div(bias(0.9)).Div(s.v.Value().Div(bias(0.99)).Sqrt().AddScalar(1e-8))
			s.w.Set(s.w.Value().Sub(update.Mul(s.rate.Value())))
		},
	}
	// The same in float64.
	reference := map[string]func(w, m, v, g *float64, step int, rate float64){
		"momentum": func(w, m, _, g *float64, _ int, rate float64) {
			*m = 0.9**m + *g
			*w -= rate * *m
		},
		"Adam": func(w, m, v, g *float64, step int, rate float64) {
			*m = 0.9**m + 0.1**g
			*v = 0.99**v + 0.01**g**g
			n := float64(step)
			*w -= rate * (*m / (1 - math.Pow(0.9, n))) / (math.Sqrt(*v/(1-math.Pow(0.99, n))) + 1e-8)
		},
	}
	const n = 8
	each(t, func(t *testing.T, dev *sinter.Device) {
		for name, optimize := range optimizers {
			start := func() state {
				z := func() *sinter.Var { return sinter.NewVar(sinter.Zeros(dev, sinter.F32, n)) }
				c := func() *sinter.Var { return sinter.NewVar(sinter.Scalar(dev, float32(0))) }
				return state{sinter.NewVar(gen(wavy, n)(dev)), z(), z(), c(), c()}
			}
			train := func(s state, x *tensor) tensors {
				g := s.w.Value().Mul(x)
				optimize(s, g)
				return tensors{g.Square().Sum()}
			}
			eager, graphed := start(), start()
			g := capture(t, dev, func(in tensors) tensors { return train(graphed, in[0]) }, tensors{sinter.Ones(dev, sinter.F32, n)}, graphapi.RequireHardware())
			var w, m, v [n]float64
			for k := range w {
				w[k] = float64(wavy(k))
			}
			for i := range 5 {
				rate := 0.1 / float64(i+1) // a schedule
				for _, s := range []state{eager, graphed} {
					sinter.Write(s.rate, []float32{float32(rate)})
				}
				x := sinter.Full(dev, sinter.F32, float64(i+1), n)
				loss := train(eager, x)[0]
				require.NoError(t, g.Replay(x))
				require.Equal(t, read[float32](t, loss), read[float32](t, g.Out(0)), "%s, step %d", name, i)
				require.Equal(t, read[float32](t, eager.w.Value()), read[float32](t, graphed.w.Value()), "%s, step %d", name, i)
				got := read[float32](t, graphed.w.Value())
				for k := range w {
					grad := w[k] * float64(i+1)
					reference[name](&w[k], &m[k], &v[k], &grad, i+1, rate)
					require.InDelta(t, w[k], got[k], 1e-4, "%s, step %d, element %d", name, i, k)
				}
			}
		}
	})
}

// Memory allocated after the capture was that of the graph's
// intermediates.
func TestLaterAllocations(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		x := gen(wavy, 1024)(dev)
		f := func(in tensors) tensors { return tensors{in[0].Exp().CumSum(0).Tanh().CumSum(0)} }
		want := read[float32](t, f(tensors{x})[0])
		g := capture(t, dev, f, tensors{x}, graphapi.RequireHardware())
		runtime.GC()
		var sentinels []*tensor
		for n := 1; n <= 1<<16; n *= 4 {
			for k := range 8 {
				sentinels = append(sentinels, sinter.Full(dev, sinter.F32, float64(k), n).AddScalar(float64(n)))
			}
		}
		require.NoError(t, dev.Flush(ctx))
		for range 2 {
			require.NoError(t, g.Replay())
			require.Equal(t, want, read[float32](t, g.Out(0)))
		}
		for i, s := range sentinels {
			n := s.Dim(0)
			for _, v := range read[float32](t, s) {
				require.Equal(t, float32(n+i%8), v)
			}
		}
	})
}

// A replay read the
// addresses it was recorded with.
func TestReplayReadsFreshInputs(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		total := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2)) // made outside, fed back
		f := func(in tensors) tensors {
			total.Set(total.Value().Add(in[0]))
			return tensors{total.Value().MulScalar(10)}
		}
		g := capture(t, dev, f, tensors{sinter.From(dev, []float32{1, 2}, 2)}, graphapi.RequireHardware())
		require.NoError(t, g.Replay())
		first := g.Out(0)
		copied := first.AddScalar(0)
		require.Equal(t, []float32{10, 20}, read[float32](t, first))
		require.NoError(t, g.Replay(sinter.From(dev, []float32{5, 5}, 2)))
		require.Equal(t, []float32{60, 70}, read[float32](t, g.Out(0)))
		require.Equal(t, []float32{10, 20}, read[float32](t, copied), "what was computed from an output stays")
		var stale *sinter.ReleasedError
		_, err := sinter.Read[float32](ctx, first)
		require.ErrorAs(t, err, &stale, "the output itself says that it was overwritten")
		strided := sinter.From(dev, []float32{1, 9, 2, 9}, 2, 2).Slice(sinter.All(), sinter.Index(0)).Reshape(2)
		require.NoError(t, g.Replay(strided))
		require.Equal(t, []float32{70, 90}, read[float32](t, g.Out(0)))
	})
}

// Every replay drew the same mask.
func TestDropoutInGraph(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		x := sinter.Ones(dev, sinter.F32, 64)
		f := func(in tensors) tensors { return tensors{in[0].Dropout(0.5)} }
		var eager [3][]float32
		dev.Seed(5)
		for i := range eager {
			eager[i] = read[float32](t, f(tensors{x})[0])
		}
		next := read[float32](t, sinter.Uniform(dev, sinter.F32, 0, 1, 4))
		dev.Seed(5)
		g := capture(t, dev, f, tensors{x})
		for i := range eager {
			require.NoError(t, g.Replay())
			require.Equal(t, eager[i], read[float32](t, g.Out(0)), "replay %d draws what eager does; capturing drew nothing", i)
		}
		require.Equal(t, next, read[float32](t, sinter.Uniform(dev, sinter.F32, 0, 1, 4)), "and leaves the same position")
		dev.Seed(5)
		require.NoError(t, g.Replay())
		require.Equal(t, eager[0], read[float32](t, g.Out(0)))
	})
}

// Printing a tensor in the window read it, as did a logger that logs all.
func TestPrintingInTheWindow(t *testing.T) {
	for _, fuse := range []bool{false, true} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
		dev := open(t, sinter.WithFusion(fuse), sinter.WithLogger(logger))
		var printed string
		g := capture(t, dev, func(in tensors) tensors {
			y := in[0].Exp()
			printed = fmt.Sprint(y, in[0], y.Err())
			logger.Debug("in the window", "y", y, "in", in[0])
			return tensors{y.AddScalar(1)}
		}, tensors{sinter.Zeros(dev, sinter.F32, 2, 3)}, graphapi.RequireHardware())
		require.Contains(t, printed, "f32[2,3]")
		require.Equal(t, 4, strings.Count(log.String(), "level=DEBUG"), "three warm-ups and the recording")
		require.Contains(t, log.String(), "y=\"f32[2,3]")
		require.NotContains(t, log.String(), "WARN")
		require.True(t, g.IsHardware())
		require.NoError(t, g.Replay())
		require.Equal(t, []float32{2, 2, 2, 2, 2, 2}, read[float32](t, g.Out(0)))
	}
}

// Giving pooled memory back took the graph's away.
func TestTrimBetweenReplays(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		x := gen(wavy, 1000)(dev)
		f := func(in tensors) tensors { return tensors{in[0].Exp().CumSum(0).MulScalar(2)} }
		want := read[float32](t, f(tensors{x})[0])
		g := capture(t, dev, f, tensors{x}, graphapi.RequireHardware())
		for range 2 {
			_, err := dev.Trim(ctx)
			require.NoError(t, err)
			require.NoError(t, g.Replay())
			require.Equal(t, want, read[float32](t, g.Out(0)))
		}
	})
}

// The recording pointed to host memory that was
// changed or freed afterwards.
func TestHostDataInGraph(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		host := []float32{1, 2, 3}
		g := capture(t, dev, func(in tensors) tensors {
			return tensors{in[0].Add(sinter.From(in[0].Stream(), host, 3))}
		}, tensors{sinter.Ones(dev, sinter.F32, 3)})
		for i := range host {
			host[i] = -100
		}
		host = nil
		runtime.GC()
		require.True(t, g.IsHardware(), "%v", g.FallbackReason())
		for range 2 {
			require.NoError(t, g.Replay())
			require.Equal(t, []float32{2, 3, 4}, read[float32](t, g.Out(0)), "as it was when recorded")
		}
	})
}

// Giving up a capture in the
// middle, or a graph, leaked what it had set up.
func TestNothingLeaks(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		x := gen(wavy, 100)(dev)
		ends := map[string]func(in tensors) (tensors, error){
			"good":        func(in tensors) (tensors, error) { return tensors{in[0].Exp().CumSum(0)}, nil },
			"own error":   func(in tensors) (tensors, error) { in[0].Exp(); return nil, fmt.Errorf("own") },
			"wrong shape": func(in tensors) (tensors, error) { return tensors{in[0].Exp().Reshape(3)}, nil },
			"nil output":  func(in tensors) (tensors, error) { return tensors{in[0].Exp(), nil}, nil },
			"read": func(in tensors) (tensors, error) {
				_, err := sinter.Read[float32](ctx, in[0].Exp())
				return tensors{in[0].AddScalar(1)}, err
			},
			"panic": func(in tensors) (tensors, error) { in[0].Exp(); panic("own") },
		}
		inUse := func() int {
			runtime.GC()
			require.NoError(t, dev.Stream().Sync(ctx))
			runtime.GC()
			return dev.Stats().Memory.Allocations
		}
		for name, f := range ends {
			before := 0
			for round := range 4 {
				func() {
					defer func() { _ = recover() }()
					g, err := graphapi.Capture(ctx, dev.Stream(), func(_ *sinter.Stream, in tensors) (tensors, error) { return f(in) }, tensors{x})
					if err == nil {
						require.NoError(t, g.Replay())
						require.NoError(t, g.Replay(x))
						require.NoError(t, g.Close())
					}
				}()
				for dev.Flush(ctx) != nil {
				}
				require.Equal(t, []float32{2}, read[float32](t, sinter.Ones(dev, sinter.F32, 1).AddScalar(1)))
				if round == 0 {
					before = inUse() // what the device keeps for the next time
				}
				require.Eventually(t, func() bool { return inUse() <= before }, 5e9, 1e6, "%s, round %d: were %d", name, round, before)
			}
		}
		g := capture(t, dev, func(in tensors) tensors { return tensors{in[0].Exp()} }, tensors{x}, graphapi.RequireHardware())
		require.NoError(t, g.Replay(), "captures after the failed ones work")
	})
}

// Work on a stream that does not join the captured one.
func TestOtherStreamInTheWindow(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		other := dev.NewStream()
		x := sinter.Ones(dev, sinter.F32, 3)
		f := func(in tensors) tensors {
			side := sinter.Full(other, sinter.F32, 2, 3).AddScalar(1)
			return tensors{in[0].Add(side)}
		}
		g, err := graphapi.Capture(ctx, dev.Stream(), func(_ *sinter.Stream, in tensors) (tensors, error) { return f(in), nil }, tensors{x})
		if err == nil {
			require.False(t, g.IsHardware())
			err = g.FallbackReason()
			require.NoError(t, g.Replay())
			require.Equal(t, []float32{4, 4, 4}, read[float32](t, g.Out(0)))
		}
		var refused *sinter.CaptureError
		require.ErrorAs(t, err, &refused)
		require.ErrorContains(t, err, "another stream")
		require.ErrorContains(t, err, "capture_test.go")
		require.Equal(t, []float32{3, 3, 3}, read[float32](t, sinter.Full(other, sinter.F32, 2, 3).AddScalar(1)))
		require.Equal(t, []float32{2, 2, 2}, read[float32](t, x.AddScalar(1)))
	})
}

package sinter_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// broken is the library's element-wise fuser, but blocks that hold Tanh compute
// Sin in its place.
type broken struct{ fuser.Fuser }

func brokenFuser() fuser.Factory {
	for _, f := range fuser.Default() {
		if f.Name == "elementwise" {
			return fuser.Factory{Name: "broken", New: func(g *fuser.Graph, p *fuser.Profile) fuser.Fuser { return broken{f.New(g, p)} }}
		}
	}
	panic("there is no element-wise fuser")
}

func (b broken) Name() string       { return "broken" }
func (b broken) Clone() fuser.Fuser { return broken{b.Fuser.Clone()} }
func (b broken) Properties() (p fuser.Properties) {
	p = b.Fuser.Properties()
	p.Score++ // it wins
	return p
}

func (b broken) Finish() (*fuser.Optimization, error) {
	o, err := b.Fuser.Finish()
	if err != nil {
		return nil, err
	}
	o.Fuser = "broken"
	for c := range o.Calls {
		k := o.Calls[c].Kernel.Clone()
		for i := range k.Body {
			if in := &k.Body[i]; in.Op == codegen.OpApply && in.Fn == ir.STanh {
				in.Fn = ir.SSin
			}
		}
		o.Calls[c].Kernel = k
	}
	return o, nil
}

// layers is a program of several blocks, of which the third holds a Tanh.
func layers(d *sinter.Device) (tensors, error) {
	x := sinter.From(d, []float32{0, 0.5, 1, 1.5, 2, 2.5}, 2, 3)
	w := sinter.From(d, []float32{1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, 3)
	h := x
	for i := range 4 {
		h = h.MatMul(w).AddScalar(0.25)
		if i == 2 {
			h = h.Sum(0).MulScalar(0.5).Tanh().MulScalar(2).Expand(2, 3) // the line of the fault
		} else {
			h = h.Sum(0).MulScalar(0.5).Exp().MulScalar(0.5).Expand(2, 3)
		}
	}
	return tensors{h, h.Sum(0)}, nil
}

func TestBisectBlock(t *testing.T) {
	b, err := sinter.Bisect(ctx, "cpu", layers, sinter.WithFusers(brokenFuser()), sinter.WithoutFusers("reduce", "reduce-broadcast", "matmul"))
	require.NoError(t, err)
	require.True(t, b.Found())
	require.Equal(t, sinter.CauseBlock, b.Cause, b.String())
	require.Equal(t, "broken", b.Fuser)
	require.Equal(t, `WithoutFusers("broken")`, b.Avoid)
	kinds := map[ir.Kind]bool{}
	for _, o := range b.Ops {
		kinds[o.Kind] = true
	}
	require.True(t, kinds[ir.Tanh] && !kinds[ir.Exp], "%v", b)
	require.Len(t, b.Kernels, 1)
	require.Contains(t, b.Kernels[0], "sin")
	require.Contains(t, b.Difference.Where, "the result of ")
	require.Contains(t, b.Difference.Where, "bisect_test.go:")
	require.NotEqual(t, b.Difference.Got, b.Difference.Want)
	require.Len(t, b.Difference.Index, 2)
	for _, want := range []string{"a fused block", "fuser broken", "Tanh at ", "bisect_test.go:", "WithoutFusers"} {
		require.Contains(t, b.String(), want)
	}
	require.Less(t, b.Runs, 20)
}

// TestBisectPass: a pass that drops Neg is found among those that work, with
// the operation.
func TestBisectPass(t *testing.T) {
	dropNeg := optimize.Replace("drop-neg", "−x is x, which is wrong", func(op *ir.Operation) (int, bool) { return 0, op.Kind == ir.Neg })
	program := func(d *sinter.Device) (tensors, error) {
		x := sinter.From(d, []float32{1, 2, 3, 4}, 2, 2)
		y := x.Cast(sinter.F32).Reshape(4).Reshape(2, 2)
		zero := x.Sub(x).Neg() // −0 is not 0
		return tensors{y.Exp(), zero, y.Exp().Neg()}, nil
	}
	b, err := sinter.Bisect(ctx, "cpu", program, sinter.WithPasses(dropNeg))
	require.NoError(t, err)
	require.Equal(t, sinter.CausePass, b.Cause, b.String())
	require.Equal(t, "drop-neg", b.Pass)
	require.Equal(t, `WithoutPasses("drop-neg")`, b.Avoid)
	require.Len(t, b.Ops, 1)
	require.Equal(t, ir.Neg, b.Ops[0].Kind)
	require.Equal(t, sinter.Difference{Where: "output 1", Index: []int{0, 0}, Got: "0 (0x0)", Want: "-0 (0x80000000)"}, b.Difference)
	require.Contains(t, b.String(), "pass drop-neg")
	require.Contains(t, b.String(), "bisect_test.go:")
}

// TestBisectGraph: a graph repeats what a function would not.
func TestBisectGraph(t *testing.T) {
	b, err := sinter.Bisect(ctx, "cpu", func(d *sinter.Device) (tensors, error) {
		scale := 2.0
		g, err := graphapi.Capture(ctx, d.Stream(), func(_ *sinter.Stream, in tensors) (tensors, error) {
			return tensors{in[0].MulScalar(scale)}, nil
		}, tensors{sinter.From(d, []int64{1, 5}, 2)})
		if err != nil {
			return nil, err
		}
		scale = 3
		err = g.Replay()
		return tensors{g.Out(0)}, err
	})
	require.NoError(t, err)
	require.Equal(t, sinter.CauseGraph, b.Cause)
	require.Equal(t, "WithGraphs(false)", b.Avoid)
	require.Equal(t, 4, b.Runs)
	require.Contains(t, b.String(), "graphs")
}

// TestBisectEffect: the wrong block writes a Var, in the third of many runs of
// one plan, the first that reads something else than zeros.
func TestBisectEffect(t *testing.T) {
	program := func(d *sinter.Device) (tensors, error) {
		v := sinter.NewVar(sinter.From(d, []float32{0, 0}, 2)) // tanh 0 = sin 0
		for i := range 20 {
			err := d.Stream().Scope(func(*sinter.Scope) error {
				x := sinter.From(d, []float32{0, map[int]float32{2: 1}[i]}, 2)
				v.Set(v.Value().Add(x).Tanh())
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		return tensors{v.Value()}, nil
	}
	b, err := sinter.Bisect(ctx, "cpu", program, sinter.WithFusers(brokenFuser()), sinter.WithoutFusers("elementwise"))
	require.NoError(t, err)
	require.Equal(t, sinter.CauseBlock, b.Cause, "%v", b)
	require.Contains(t, b.Difference.Where, "the result of Set at ")
	require.Equal(t, []int{1}, b.Difference.Index)
	require.Contains(t, b.Difference.Got, "0.8414", "sin 1")
	require.Contains(t, b.Difference.Want, "0.7615", "tanh 1")
	require.Less(t, b.Runs, 15)
}

// TestBisectPlan: what depends on neither a rewrite nor a block.
func TestBisectPlan(t *testing.T) {
	b, err := sinter.Bisect(ctx, "cpu", func(d *sinter.Device) (tensors, error) {
		return tensors{sinter.Scalar(d, d.Runtime().Fusing())}, nil
	})
	require.NoError(t, err)
	require.Equal(t, sinter.CausePlan, b.Cause)
	require.Equal(t, sinter.Difference{Where: "output 0", Index: []int{}, Got: "true", Want: "false"}, b.Difference)
	require.Empty(t, b.Avoid)

	// A program that fails in the one way and not in the other.
	failed := errors.New("only when fused")
	b, err = sinter.Bisect(ctx, "cpu", func(d *sinter.Device) (tensors, error) {
		if d.Runtime().Fusing() {
			return nil, failed
		}
		return nil, nil
	})
	require.NoError(t, err)
	require.Equal(t, sinter.CausePlan, b.Cause)
	require.Equal(t, sinter.Difference{Where: "the program", Got: failed.Error(), Want: "no error"}, b.Difference)
}

// TestBisectNothing: programs that compute what they should.
func TestBisectNothing(t *testing.T) {
	nan := float32(math.NaN())
	captured := func(d *sinter.Device) (tensors, error) {
		g, err := graphapi.Capture(ctx, d.Stream(), func(_ *sinter.Stream, in tensors) (tensors, error) {
			return tensors{in[0].Exp().Softmax(-1)}, nil
		}, tensors{sinter.From(d, []float32{1, nan, 3, 4}, 2, 2)})
		if err != nil {
			return nil, err
		}
		err = g.Replay()
		return tensors{g.Out(0)}, err
	}
	for name, f := range map[string]func(*sinter.Device) (tensors, error){
		"layers": layers,
		"NaN": func(d *sinter.Device) (tensors, error) {
			return tensors{sinter.From(d, []float32{nan, 1}, 2).MulScalar(-1).Sqrt()}, nil
		},
		"an error both ways": func(d *sinter.Device) (tensors, error) {
			return tensors{sinter.From(d, []float32{1}, 1).Reshape(3)}, nil
		},
		"captured": captured,
		"nothing":  func(*sinter.Device) (tensors, error) { return nil, nil },
	} {
		b, err := sinter.Bisect(ctx, "cpu", f)
		require.NoError(t, err, name)
		require.False(t, b.Found(), "%s: %v", name, b)
		require.Equal(t, 3, b.Runs)
		require.Contains(t, b.String(), "no difference")
	}
}

// TestBisectErrors: what cannot be searched is said.
func TestBisectErrors(t *testing.T) {
	var argument *sinter.ArgumentError
	var n atomic.Int64
	_, err := sinter.Bisect(ctx, "cpu", func(d *sinter.Device) (tensors, error) {
		return tensors{sinter.Scalar(d, n.Add(1))}, nil
	})
	require.ErrorAs(t, err, &argument)
	require.Contains(t, err.Error(), "output 0 at [] is 2, not 1")
	failed := errors.New("f")
	_, err = sinter.Bisect(ctx, "cpu", func(*sinter.Device) (tensors, error) { return nil, failed })
	require.ErrorIs(t, err, failed)
	_, err = sinter.Bisect(ctx, "no such device", layers)
	var device *sinter.DeviceError
	require.ErrorAs(t, err, &device)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err = sinter.Bisect(gone, "cpu", layers)
	require.ErrorIs(t, err, context.Canceled)
}

// TestSwitches: fusers and passes are left out by name.
func TestSwitches(t *testing.T) {
	chain := func(opts ...sinter.Option) int64 {
		dev := open(t, opts...)
		x := sinter.From(dev, []float32{1, 2}, 2)
		require.Equal(t, []float32{8, 12}, read[float32](t, x.Reshape(2).AddScalar(1).MulScalar(4)))
		return dev.Stats().Device.Launches
	}
	require.Equal(t, int64(1), chain())
	require.Equal(t, int64(1), chain(sinter.WithoutFusers("matmul"), sinter.WithoutPasses("fold-view")))
	require.Equal(t, int64(2), chain(sinter.WithoutFusers("elementwise", "reduce", "reduce-broadcast", "matmul")))
	t.Setenv("SINTER_NO_FUSERS", "elementwise,reduce,reduce-broadcast,matmul")
	require.Equal(t, int64(2), chain())
	t.Setenv("SINTER_NO_PASSES", "cse")
	require.Equal(t, int64(2), chain())
	var argument *sinter.ArgumentError
	for _, o := range []sinter.Option{sinter.WithoutFusers("x"), sinter.WithoutPasses("y"), sinter.WithoutRules("z"), sinter.WithoutRules("kind")} {
		_, err := sinter.Open("cpu", o)
		require.ErrorAs(t, err, &argument)
		require.Contains(t, err.Error(), "only ")
	}
}

// A rule of cost that is switched off fuses what it refused, with the same bits.
func TestWithoutRules(t *testing.T) {
	run := func(opts ...sinter.Option) ([]float32, int64) {
		dev := open(t, opts...)
		x := sinter.From(dev, floats32(newData(37), 32*32), 32, 32)
		w := sinter.From(dev, floats32(newData(38), 32*256), 32, 256)
		require.NoError(t, dev.Flush(ctx))
		before := dev.Stats()
		y := x
		for range 8 {
			y = y.Gelu()
		}
		return read[float32](t, y.MatMul(w)), dev.Stats().Sub(before).Device.Launches
	}
	want, apart := run()
	got, together := run(sinter.WithoutRules("prologue", "no-gain"))
	require.Equal(t, want, got)
	require.Equal(t, []int64{2, 1}, []int64{apart, together}, "launches")
	t.Setenv("SINTER_NO_RULES", "prologue,no-gain")
	got, together = run()
	require.Equal(t, want, got)
	require.Equal(t, int64(1), together)
}

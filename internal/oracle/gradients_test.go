package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func doubles(rng *rand.Rand, shape ...int) Tensor {
	x := New(ir.F64, shape)
	for i := range x.F {
		x.F[i] = rng.NormFloat64()
	}
	return x
}

func f64Scalar(v float64) func(*ir.Operation) {
	return func(o *ir.Operation) { o.Scalars = []ir.Scalar{ir.F64Scalar(v)} }
}

// Each gradient against the difference quotient of Σ g·f(x).
func TestGradientsOfComposites(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	x, g, w := doubles(rng, 3, 7), doubles(rng, 3, 7), doubles(rng, 7)
	loss := func(kind ir.Kind, set func(*ir.Operation), in ...Tensor) float64 {
		y := eval(t, kind, set, in...)
		sum := 0.0
		for i := range y.F {
			sum += y.F[i] * g.F[i]
		}
		return sum
	}
	for _, c := range []struct {
		backward, forward ir.Kind
		set               func(*ir.Operation)
		ofOutput          bool
		rest              []Tensor
	}{
		{ir.SoftmaxBackward, ir.Softmax, axes(1), true, nil},
		{ir.SoftmaxBackward, ir.Softmax, nil, true, nil},
		{ir.LogSoftmaxBackward, ir.LogSoftmax, axes(0), true, nil},
		{ir.LayerNormBackward, ir.LayerNorm, f64Scalar(0.1), false, nil},
		{ir.LayerNormBackward, ir.LayerNorm, f64Scalar(0.1), false, []Tensor{w}},
		{ir.RMSNormBackward, ir.RMSNorm, f64Scalar(0.1), false, []Tensor{w}},
	} {
		operand := x
		if c.ofOutput {
			operand = eval(t, c.forward, c.set, x)
		}
		got := eval(t, c.backward, c.set, append([]Tensor{operand, g}, c.rest...)...)
		for i := range x.F {
			const h = 1e-5
			up, down := x.Clone(), x.Clone()
			up.F[i] += h
			down.F[i] -= h
			want := (loss(c.forward, c.set, append([]Tensor{up}, c.rest...)...) - loss(c.forward, c.set, append([]Tensor{down}, c.rest...)...)) / (2 * h)
			assert.InDelta(t, want, got.F[i], 1e-8, "%v at %d", c.backward, i)
		}
	}
}

// A gradient in float32 steps is within the tolerance, a wrong one is not.
func TestGradientTolerance(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	x, g := normals(rng, ir.Shape{1, 90}, 3), normals(rng, ir.Shape{1, 90}, 1)
	a := arith{ir.F32}
	op := operation(t, ir.RMSNormBackward, f32Scalars(1e-5), x, g)
	root := round(a.d, math.Sqrt(a.add(a.mean(a.squares(x.F)), float64(float32(1e-5)))))
	n, products := make([]float64, 90), make([]float64, 90)
	for i := range n {
		n[i] = a.div(x.F[i], root)
		products[i] = a.mul(n[i], g.F[i])
	}
	mean := a.mean(products)
	got := New(ir.F32, x.Shape)
	for i := range n {
		got.F[i] = a.div(a.sub(g.F[i], a.mul(n[i], mean)), root)
	}
	assert.NoError(t, CheckOp(op, got, x, g))
	got.F[3] = a.add(got.F[3], 1e-5)
	assert.Error(t, CheckOp(op, got, x, g))

	y := eval(t, ir.Softmax, axes(1), x)
	op = operation(t, ir.SoftmaxBackward, axes(1), y, g)
	for i := range n {
		products[i] = a.mul(y.F[i], g.F[i])
	}
	sum := a.sum(products)
	for i := range n {
		got.F[i] = a.mul(y.F[i], a.sub(g.F[i], sum))
	}
	assert.NoError(t, CheckOp(op, got, y, g))
	got.F[9] = a.add(got.F[9], 1e-5)
	assert.Error(t, CheckOp(op, got, y, g))
}

func TestMoreNorms(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 56))
	x, w, b := doubles(rng, 2, 6, 4), doubles(rng, 6), doubles(rng, 6)
	group := func(n int) func(*ir.Operation) {
		return func(o *ir.Operation) { o.Attrs.N, o.Scalars = n, []ir.Scalar{ir.F64Scalar(1e-5)} }
	}
	// Groups of channels are rows of a layer norm.
	rows := x
	rows.Shape = ir.Shape{6, 8}
	want := eval(t, ir.LayerNorm, f64Scalar(1e-5), rows)
	want.Shape = x.Shape
	same(t, want, eval(t, ir.GroupNorm, group(3), x))
	each(x.Shape, func(pos int, at []int) { want.F[pos] = want.F[pos]*w.F[at[1]] + b.F[at[1]] })
	near(t, want, eval(t, ir.GroupNorm, group(3), x, w, b), 1e-14)

	mean, variance := doubles(rng, 6), eval(t, ir.Square, nil, doubles(rng, 6))
	plain := New(ir.F64, x.Shape)
	each(x.Shape, func(pos int, at []int) {
		c := at[1]
		plain.F[pos] = (x.F[pos]-mean.F[c])/math.Sqrt(variance.F[c]+1e-5)*w.F[c] + b.F[c]
	})
	got := eval(t, ir.BatchNorm, f64Scalar(1e-5), x, mean, variance, w, b)
	near(t, plain, got, 1e-11)
	// A constant group gives exactly the bias.
	constant := Floats(ir.F32, ir.Shape{1, 2, 3}, 7.3, 7.3, 7.3, 7.3, 7.3, 7.3)
	same(t, f32(ir.Shape{1, 2, 3}, 5, 5, 5, 6, 6, 6), eval(t, ir.GroupNorm, func(o *ir.Operation) {
		o.Attrs.N, o.Scalars = 1, []ir.Scalar{ir.F32Scalar(0.1)}
	}, constant, vec(2, 3), vec(5, 6)))
}

func TestIntMatMul(t *testing.T) {
	a, b := IntsOf(ir.U8, ir.Shape{1, 3}, 255, 255, 1), IntsOf(ir.I8, ir.Shape{3, 1}, -128, 127, 5)
	same(t, IntsOf(ir.I32, ir.Shape{1, 1}, -255+5), eval(t, ir.IntMatMul, nil, a, b))
	same(t, IntsOf(ir.I32, ir.Shape{}, 3*16384), eval(t, ir.IntMatMul, nil, IntsOf(ir.I8, ir.Shape{3}, -128, -128, -128), IntsOf(ir.I8, ir.Shape{3}, -128, -128, -128)))
	same(t, IntsOf(ir.U8, ir.Shape{}, 144), eval(t, ir.MatMul, nil, IntsOf(ir.U8, ir.Shape{2}, 200, 0), IntsOf(ir.U8, ir.Shape{2}, 2, 9)))
}

// Double precision is compared with bounds of its own.
func TestDoubleTolerances(t *testing.T) {
	rng := rand.New(rand.NewPCG(57, 58))
	a, b := doubles(rng, 1, 50), doubles(rng, 50, 1)
	op := operation(t, ir.MatMul, nil, a, b)
	sum := 0.0
	for i := range a.F {
		sum += a.F[i] * b.F[i]
	}
	assert.NoError(t, CheckOp(op, Floats(ir.F64, ir.Shape{1, 1}, sum), a, b))
	assert.Error(t, CheckOp(op, Floats(ir.F64, ir.Shape{1, 1}, sum+1e-12), a, b))
	x := doubles(rng, 40)
	y := eval(t, ir.Softmax, axes(0), x)
	op = operation(t, ir.Softmax, axes(0), x)
	assert.NoError(t, CheckOp(op, y, x))
	y.F[3] *= 1 + 1e-13
	assert.Error(t, CheckOp(op, y, x))
}

func TestCustom(t *testing.T) {
	const name = "oracle.twice"
	err := ir.RegisterCustom(name, func(o *ir.Operation) (ir.Shape, ir.DType, error) {
		return o.Inputs[0].Shape, o.Inputs[0].DType, nil
	})
	if err != nil { // -count above 1
		require.ErrorContains(t, err, "registered already")
	}
	op := operation(t, ir.Custom, func(o *ir.Operation) { o.Attrs.Name = name }, vec(1, 2))
	customs.Delete(name)
	_, err = EvalOp(op, vec(1, 2))
	assert.ErrorContains(t, err, "no evaluator")
	RegisterCustom(name, func(_ *ir.Operation, in []Tensor) (Tensor, error) {
		out := in[0].Clone()
		for i := range out.F {
			out.F[i] *= 2
		}
		return out, nil
	})
	assert.NoError(t, CheckOp(op, vec(2, 4), vec(1, 2)))
	assert.Error(t, CheckOp(op, vec(2, 5), vec(1, 2)))
}

package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func TestMatMul(t *testing.T) {
	a := f32(ir.Shape{2, 3}, 1, 2, 3, 4, 5, 6)
	b := f32(ir.Shape{3, 2}, 7, 8, 9, 10, 11, 12)
	same(t, f32(ir.Shape{2, 2}, 58, 64, 139, 154), eval(t, ir.MatMul, nil, a, b))
	same(t, vec(14, 32), eval(t, ir.MatMul, nil, a, vec(1, 2, 3)))
	same(t, vec(58, 64), eval(t, ir.MatMul, nil, vec(1, 2, 3), b))
	same(t, f32(ir.Shape{}, 14), eval(t, ir.MatMul, nil, vec(1, 2, 3), vec(1, 2, 3)))
	same(t, New(ir.F32, ir.Shape{2, 3}), eval(t, ir.MatMul, nil, f32(ir.Shape{2, 0}), f32(ir.Shape{0, 3})))
	same(t, bvec(256), eval(t, ir.MatMul, nil, bvec(256, 1), Floats(ir.BF16, ir.Shape{2, 1}, 1, 1)))
	same(t, Ints(ir.Shape{1, 1}, math.MinInt64), eval(t, ir.MatMul, nil, Ints(ir.Shape{1, 2}, math.MaxInt64, 1), Ints(ir.Shape{2, 1}, 1, 1)))

	// Batch axes broadcast: [2,1,1,2]·[3,2,1].
	left := f32(ir.Shape{2, 1, 1, 2}, 1, 2, 3, 4)
	right := f32(ir.Shape{3, 2, 1}, 1, 0, 0, 1, 1, 1)
	same(t, f32(ir.Shape{2, 3, 1, 1}, 1, 2, 3, 3, 4, 7), eval(t, ir.MatMul, nil, left, right))
	same(t, f32(ir.Shape{3, 1}, 1, 2, 3), eval(t, ir.MatMul, nil, vec(1, 2), right))
}

func TestLinear(t *testing.T) {
	x := f32(ir.Shape{1, 2, 2}, 1, 2, 3, 4)
	w := f32(ir.Shape{2, 3}, 1, 0, 2, 0, 1, 2)
	same(t, f32(ir.Shape{1, 2, 3}, 1, 2, 6, 3, 4, 14), eval(t, ir.Linear, nil, x, w))
	same(t, f32(ir.Shape{1, 2, 3}, 11, 22, 36, 13, 24, 44), eval(t, ir.Linear, nil, x, w, vec(10, 20, 30)))
	// Rounded once: 256 + 1 + 1 is 258 in bf16, rounding before the bias 257 → 256 → 256.
	same(t, bvec(258), eval(t, ir.Linear, nil, bvec(256, 1), Floats(ir.BF16, ir.Shape{2, 1}, 1, 1), bvec(1)))
}

// A float32 evaluation, in another order and with rounded products, must lie
// within the tolerance, and a wrong one must not.
func TestContractionTolerance(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	f := arith{ir.F32}
	for _, k := range []int{1, 7, 300, 2000} {
		a, b := New(ir.F32, ir.Shape{1, k}), New(ir.F32, ir.Shape{k, 1})
		for i := range k {
			a.F[i], b.F[i] = round(ir.F32, rng.NormFloat64()), round(ir.F32, rng.NormFloat64())
		}
		op := operation(t, ir.MatMul, nil, a, b)
		sum := 0.0
		for i := range k {
			sum = f.add(sum, f.mul(a.F[i], b.F[i]))
		}
		assert.NoError(t, CheckOp(op, f32(ir.Shape{1, 1}, sum), a, b))
		assert.Error(t, CheckOp(op, f32(ir.Shape{1, 1}, sum-a.F[0]*b.F[0]), a, b))
	}
	big := f32(ir.Shape{2}, 3e38, 3e38)
	tol, err := Tolerance(operation(t, ir.MatMul, nil, big, vec(1, -1)), big, vec(1, -1))
	require.NoError(t, err)
	assert.True(t, math.IsInf(tol.Abs[0], 1), "partial sums may overflow")
	tol, err = Tolerance(operation(t, ir.MatMul, nil, vec(inf, 1), vec(1, -1)), vec(inf, 1), vec(1, -1))
	require.NoError(t, err)
	assert.Less(t, tol.Abs[0], 1e-5, "an infinite operand excuses nothing")
}

func TestSoftmax(t *testing.T) {
	same(t, vec(0.09003057, 0.24472848, 0.66524094), eval(t, ir.Softmax, axes(0), vec(1, 2, 3)))
	same(t, vec(-2.407606, -1.407606, -0.40760597), eval(t, ir.LogSoftmax, axes(0), vec(1, 2, 3)))
	same(t, vec(nan, nan), eval(t, ir.Softmax, axes(0), vec(negInf, negInf)))
	same(t, vec(0, 1), eval(t, ir.Softmax, axes(0), vec(negInf, 5)))
	same(t, vec(negInf, 0), eval(t, ir.LogSoftmax, axes(0), vec(negInf, 5)))
	same(t, vec(nan, nan), eval(t, ir.Softmax, axes(0), vec(nan, 5)))
	same(t, vec(nan, nan), eval(t, ir.Softmax, axes(0), vec(inf, 5)))
	same(t, f32(ir.Shape{2, 2}, 0.25, 0.25, 0.25, 0.25), eval(t, ir.Softmax, nil, f32(ir.Shape{2, 2}, 7, 7, 7, 7)))
	same(t, f32(ir.Shape{2, 2}, 0.5, 0.5, 0.5, 0.5), eval(t, ir.Softmax, axes(0), f32(ir.Shape{2, 2}, 1, 2, 1, 2)))
	same(t, f32(ir.Shape{2, 0}), eval(t, ir.Softmax, axes(1), f32(ir.Shape{2, 0})))

	// The same in float32 steps must lie within the tolerance.
	rng := rand.New(rand.NewPCG(7, 8))
	f := arith{ir.F32}
	for _, scale := range []float64{1, 30, 1e4} {
		x := New(ir.F32, ir.Shape{500})
		top := negInf
		for i := range x.F {
			x.F[i] = round(ir.F32, rng.NormFloat64()*scale)
			top = max(top, x.F[i])
		}
		e := New(ir.F32, x.Shape)
		for i, v := range x.F {
			e.F[i] = round(ir.F32, math.Exp(f.sub(v, top)))
		}
		sum := f.sum(e.F)
		logs := New(ir.F32, x.Shape)
		for i := range e.F {
			e.F[i] = f.div(e.F[i], sum)
			logs.F[i] = f.sub(f.sub(x.F[i], top), round(ir.F32, math.Log(sum)))
		}
		assert.NoError(t, CheckOp(operation(t, ir.Softmax, axes(0), x), e, x))
		assert.NoError(t, CheckOp(operation(t, ir.LogSoftmax, axes(0), x), logs, x))
		logs.F[3] *= 1.001
		assert.Error(t, CheckOp(operation(t, ir.LogSoftmax, axes(0), x), logs, x))
	}
	assert.Error(t, CheckOp(operation(t, ir.Softmax, axes(0), vec(1, 2, 3)), vec(0.090035, 0.24472848, 0.66524094), vec(1, 2, 3)))
}

func TestLayerNorm(t *testing.T) {
	x := f32(ir.Shape{2, 4}, 1, 2, 3, 4, 5, 5, 5, 5)
	near(t, f32(ir.Shape{2, 4}, -1.3416355, -0.44721183, 0.44721183, 1.3416355, 0, 0, 0, 0),
		eval(t, ir.LayerNorm, f32Scalars(1e-5), x), 2e-7)
	w, b := vec(1, 2, 3, 4), vec(0.1, 0.2, 0.3, 0.4)
	got := eval(t, ir.LayerNorm, f32Scalars(1e-5), x, w, b)
	near(t, f32(ir.Shape{2, 4}, -1.2416355, -0.69442366, 1.6416355, 5.766542, 0.1, 0.2, 0.3, 0.4), got, 1e-6)
	assert.Equal(t, b.F, got.F[4:], "a constant row gives exactly the bias")
	same(t, f32(ir.Shape{3, 0}), eval(t, ir.LayerNorm, f32Scalars(1e-5), f32(ir.Shape{3, 0})))

	// Against the plain formula in float64 where nothing cancels.
	rng := rand.New(rand.NewPCG(9, 10))
	r := New(ir.F32, ir.Shape{1, 1500})
	var mean, square float64
	for i := range r.F {
		r.F[i] = round(ir.F32, rng.NormFloat64()+2)
		mean += r.F[i] / 1500
	}
	for _, v := range r.F {
		square += (v - mean) * (v - mean) / 1500
	}
	want := New(ir.F32, r.Shape)
	for i, v := range r.F {
		want.F[i] = round(ir.F32, (v-mean)/math.Sqrt(square+1e-5))
	}
	near(t, want, eval(t, ir.LayerNorm, f32Scalars(1e-5), r), 2e-6)
}

func TestRMSNorm(t *testing.T) {
	near(t, vec(0.84852815, 1.1313709), eval(t, ir.RMSNorm, f32Scalars(0), vec(3, 4)), 1e-7)
	near(t, vec(0.84852815, 2.2627418), eval(t, ir.RMSNorm, f32Scalars(0), vec(3, 4), vec(1, 2)), 2e-7)
	same(t, vec(0, 0), eval(t, ir.RMSNorm, f32Scalars(1), vec(0, 0)))
	same(t, vec(0), eval(t, ir.RMSNorm, f32Scalars(0), vec(1e30))) // the square overflows
	same(t, bvec(0.84765625, 1.1328125), eval(t, ir.RMSNorm, f32Scalars(0), bvec(3, 4)))
}

// attend evaluates one head with queries of length 1 in a simple setting.
func attend(t *testing.T, q, k, v []float64, set func(*ir.Operation), mask ...Tensor) Tensor {
	t.Helper()
	in := append([]Tensor{
		f32(ir.Shape{1, 1, len(q), 1}, q...), f32(ir.Shape{1, 1, len(k), 1}, k...), f32(ir.Shape{1, 1, len(v), 1}, v...),
	}, mask...)
	out := eval(t, ir.Attention, func(o *ir.Operation) {
		o.Scalars = []ir.Scalar{ir.F32Scalar(1)}
		if set != nil {
			set(o)
		}
	}, in...)
	require.Equal(t, ir.Shape{1, 1, len(q), 1}, out.Shape)
	out.Shape = ir.Shape{len(q)}
	return out
}

func TestAttention(t *testing.T) {
	zero := []float64{0, 0, 0}
	v := []float64{1, 2, 6}
	causal := func(offset int) func(*ir.Operation) {
		return func(o *ir.Operation) { o.Attrs.Flag, o.Attrs.N = true, offset }
	}
	row := func(bs ...bool) Tensor { return Bools(ir.Shape{len(bs) / 3, 3}, bs...) }
	bias := func(fs ...float64) Tensor { return f32(ir.Shape{len(fs) / 3, 3}, fs...) }

	same(t, vec(3, 3), attend(t, []float64{0, 5}, zero, v, nil))
	same(t, vec(1, 1.5, 3), attend(t, zero, zero, v, causal(0)))
	same(t, vec(0, 1, 1.5), attend(t, zero, zero, v, causal(-1)))
	same(t, vec(1.5, 3, 3), attend(t, zero, zero, v, causal(1)))
	same(t, vec(4, 0), attend(t, []float64{0, 0}, zero, v, nil, row(false, true, true, false, false, false)))
	same(t, vec(0), attend(t, []float64{0}, zero, v, nil, bias(negInf, negInf, negInf)))
	same(t, vec(3), attend(t, []float64{1}, []float64{1, 2, 3}, v, nil, bias(-3.4e38, -3.4e38, -3.4e38)))
	// softmax(0, ln 3) = (1/4, 3/4)
	near(t, vec(5), attend(t, []float64{1}, []float64{0, math.Log(3), 9}, []float64{2, 6, 100}, nil, row(true, true, false)), 1e-6)
	near(t, vec(5), attend(t, []float64{0}, zero, []float64{2, 6, 100}, nil, bias(0, math.Log(3), negInf)), 1e-6)
	// A hidden key has no part in anything, an additive mask is arithmetic.
	same(t, vec(1.5), attend(t, []float64{1}, []float64{0, 0, nan}, []float64{1, 2, nan}, nil, row(true, true, false)))
	same(t, vec(nan), attend(t, []float64{1}, []float64{0, 0, nan}, v, nil, bias(0, 0, negInf)))
	same(t, vec(), attend(t, []float64{}, zero, v, nil))
	same(t, vec(0, 0), attend(t, []float64{0, 0}, nil, nil, nil))
}

func TestAttentionGroupsAndScale(t *testing.T) {
	// Four query heads share two key heads; scores 2·q·k·scale.
	q := f32(ir.Shape{1, 4, 1, 2}, 1, 1, 1, 1, 1, 1, 1, 1)
	k := f32(ir.Shape{1, 2, 2, 2}, 0, 0, 1, 1, 0, 0, 0, 0)
	v := f32(ir.Shape{1, 2, 2, 3}, 0, 0, 0, 1, 2, 3, 4, 4, 4, 8, 8, 8)
	out := eval(t, ir.Attention, f32Scalars(math.Log(3)/2), q, k, v)
	near(t, f32(ir.Shape{1, 4, 1, 3}, 0.75, 1.5, 2.25, 0.75, 1.5, 2.25, 6, 6, 6, 6, 6, 6), out, 1e-6)
}

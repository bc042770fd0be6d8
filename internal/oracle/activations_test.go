package oracle

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// Each derivative against the difference quotient of its activation, in wide
// numbers, away from the kinks.
func TestDerivatives(t *testing.T) {
	pairs := map[ir.Kind]ir.Kind{
		ir.EluBackward: ir.Elu, ir.SeluBackward: ir.Selu, ir.CeluBackward: ir.Celu, ir.LogSigmoidBackward: ir.LogSigmoid,
		ir.SoftplusBackward: ir.Softplus, ir.SoftsignBackward: ir.Softsign, ir.HardSigmoidBackward: ir.HardSigmoid,
		ir.HardSwishBackward: ir.HardSwish, ir.SiluBackward: ir.Silu, ir.MishBackward: ir.Mish, ir.GeluBackward: ir.Gelu, ir.GeluTanhBackward: ir.GeluTanh,
	}
	assert.Len(t, derivatives, len(pairs)+2)
	alpha := exact(0.75)
	const h = 0x1p-30
	for backward, forward := range pairs {
		for x := -6.03; x < 6; x += 0.117 {
			up, _ := activations[forward](exact(x).plus(h), alpha)
			down, _ := activations[forward](exact(x).plus(-h), alpha)
			want := up.sub(down).hi / (2 * h)
			got, _ := derivatives[backward](exact(x), alpha)
			assert.InDelta(t, want, got.hi, 1e-12, "%v at %v", backward, x)
		}
	}
	for x := -5.0; x < 5; x += 0.3 {
		s, _ := derivatives[ir.SigmoidBackward](wideSigmoid(exact(x)), exact(0))
		assert.InDelta(t, wideSigmoid(exact(x)).mul(wideSigmoid(exact(-x))).hi, s.hi, 1e-25)
		th, _ := derivatives[ir.TanhBackward](wideTanh(exact(x)), exact(0))
		assert.InDelta(t, 1/(math.Cosh(x)*math.Cosh(x)), th.hi, 1e-15)
	}
}

func TestKinksAndSpecials(t *testing.T) {
	ones := vec(1, 1, 1, 1)
	backward := func(kind ir.Kind, x Tensor, s ...float64) Tensor {
		return eval(t, kind, f32Scalars(s...), x, Floats(ir.F32, x.Shape, ones.F[:x.Len()]...))
	}
	same(t, vec(0, 0, 1, 1), backward(ir.ReluBackward, vec(-1, 0, 2, nan)))
	same(t, vec(0.5, 0.5, 1, 0.5), backward(ir.LeakyReluBackward, vec(-1, 0, 2, nan), 0.5))
	same(t, vec(2, 1), backward(ir.EluBackward, vec(0, 1), 2))
	same(t, vec(0, 0, 0), backward(ir.HardSigmoidBackward, vec(-3, 3, nan)))
	same(t, vec(0, 1, 1), backward(ir.HardSwishBackward, vec(-3, 3, nan)))
	// Outside a gradient counts for nothing, inside 0 times infinity is NaN.
	same(t, vec(0, nan, inf), eval(t, ir.HardSwishBackward, nil, vec(-4, -1.5, 4), vec(inf, inf, inf)))
	same(t, vec(0, nan), eval(t, ir.ReluBackward, nil, vec(-1, 1), vec(nan, nan)))

	same(t, vec(0, 0.5, 1, 1, nan), eval(t, ir.HardSigmoid, nil, vec(-3, 0, 3, inf, nan)))
	same(t, vec(negZero, 0, 4, inf), eval(t, ir.HardSwish, nil, vec(-4, 0, 4, inf)))
	same(t, vec(3e38), eval(t, ir.HardSwish, nil, vec(3e38)))
	same(t, vec(-1, -2, 3), eval(t, ir.Elu, f32Scalars(2), vec(-0.6931472, negInf, 3)))
	same(t, vec(-1.7580993), eval(t, ir.Selu, nil, vec(negInf)))
	same(t, vec(-2, 3, 0), eval(t, ir.Celu, f32Scalars(2), vec(negInf, 3, negZero)))
	same(t, vec(-100, negZero, -0.6931472), eval(t, ir.LogSigmoid, nil, vec(-100, inf, 0)))
	same(t, vec(0.5, -0.75, nan), eval(t, ir.Softsign, nil, vec(1, -3, inf)))
	same(t, vec(0.8650984), eval(t, ir.Mish, nil, vec(1)))
	same(t, vec(2, -3, 0.25), eval(t, ir.PRelu, nil, vec(2, -6, -1), vec(9, 0.5, -0.25)))
}

func TestActivationTolerance(t *testing.T) {
	// At the root of its derivative a sum of terms is only bounded absolutely.
	x, g := vec(-1.2784645), vec(3)
	op := operation(t, ir.SiluBackward, nil, x, g)
	want, err := EvalOp(op, x, g)
	require.NoError(t, err)
	off := want.Clone()
	off.F[0] += 1e-7
	assert.NoError(t, CheckOp(op, off, x, g))
	off.F[0] += 1e-5
	assert.Error(t, CheckOp(op, off, x, g))
	tol, err := Tolerance(operation(t, ir.TanhBackward, nil, vec(0.99), vec(1)), vec(0.99), vec(1))
	require.NoError(t, err)
	assert.Equal(t, int64(4), tol.ULPs)
	assert.Less(t, tol.Abs[0], 1e-40)
	inf := vec(negInf, 1)
	tol, err = Tolerance(operation(t, ir.GeluBackward, nil, inf, vec(1, 1)), inf, vec(1, 1))
	require.NoError(t, err)
	assert.Equal(t, []bool{true, false}, tol.Any)
}

// The functions that came with all kinds, at the values the rules name.
func TestMoreFunctions(t *testing.T) {
	tests := []struct {
		kind    ir.Kind
		x, want float64
	}{
		{ir.Exp2, 10, 1024}, {ir.Exp2, 0.5, math.Sqrt2}, {ir.Exp2, -150, 0}, {ir.Exp2, 128, inf}, {ir.Exp2, negInf, 0},
		{ir.Log2, 8, 3}, {ir.Log2, 1e-45, -149}, {ir.Log10, 1000, 3}, {ir.Log10, 0, negInf}, {ir.Log2, -1, nan},
		{ir.Tan, 1, 1.5574077}, {ir.Tan, inf, nan}, {ir.Tan, negZero, negZero}, {ir.Asin, 2, nan}, {ir.Asin, 1, math.Pi / 2}, {ir.Acos, 1, 0}, {ir.Acos, -1, math.Pi},
		{ir.Atan, inf, math.Pi / 2}, {ir.Atan, negZero, negZero}, {ir.Sinh, 90, inf}, {ir.Sinh, negZero, negZero}, {ir.Cosh, -90, inf}, {ir.Cosh, 89, 2.2448064e38},
		{ir.Asinh, negZero, negZero}, {ir.Asinh, negInf, negInf}, {ir.Asinh, 3e38, 89.289993}, {ir.Acosh, 0.5, nan}, {ir.Acosh, 1, 0}, {ir.Acosh, inf, inf},
		{ir.Atanh, 1, inf}, {ir.Atanh, -1, negInf}, {ir.Atanh, 2, nan}, {ir.Atanh, negZero, negZero},
		{ir.Erfc, 0, 1}, {ir.Erfc, negInf, 2}, {ir.Erfc, inf, 0}, {ir.Erfc, 10, 2.088e-45}, {ir.Erfinv, 1, inf}, {ir.Erfinv, -1, negInf}, {ir.Erfinv, 2, nan}, {ir.Erfinv, negZero, negZero},
		{ir.Lgamma, 1, 0}, {ir.Lgamma, 2, 0}, {ir.Lgamma, -3, inf}, {ir.Lgamma, 0, inf}, {ir.Lgamma, negInf, inf}, {ir.Lgamma, 0.5, 0.5723649}, {ir.Lgamma, -1.5, 0.860047},
		{ir.Digamma, 1, -0.5772157}, {ir.Digamma, 0, negInf}, {ir.Digamma, negZero, inf}, {ir.Digamma, -2, nan}, {ir.Digamma, inf, inf}, {ir.Digamma, negInf, nan},
		{ir.Frac, 2.75, 0.75}, {ir.Frac, -2.75, -0.75}, {ir.Frac, inf, nan}, {ir.Frac, 8388609, 0},
	}
	for _, tt := range tests {
		got := eval(t, tt.kind, nil, vec(tt.x))
		assert.NoError(t, Compare(got, vec(tt.want), Tol{Abs: []float64{1e-7 * math.Abs(tt.want)}}), "%v of %v", tt.kind, tt.x)
	}
	same(t, dvec(744.4400719213812, 713.9406408954877), eval(t, ir.Lgamma, nil, dvec(5e-324, -8.7e-311)))
	same(t, dvec(-0x1p1000, 0x1p1000), eval(t, ir.Digamma, nil, dvec(0x1p-1000, -0x1p-1000)))
	same(t, flags(true, true, false, false), eval(t, ir.IsInf, nil, vec(inf, negInf, nan, 1)))
	same(t, flags(false, false, false, true), eval(t, ir.IsFinite, nil, vec(inf, negInf, nan, 1)))
	// Double precision needs more than float64 can give: digits elsewhere.
	same(t, dvec(0.84270079294971486934), eval(t, ir.Erf, nil, dvec(1)))
	same(t, dvec(-0.85220084976718880177), eval(t, ir.Sin, nil, dvec(1e22)))
	same(t, dvec(2.71828182845904523536), eval(t, ir.Exp, nil, dvec(1)))
	same(t, dvec(0x1p-1074, 0), eval(t, ir.Exp, nil, dvec(-744.5, -746)))
}

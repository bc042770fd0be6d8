package oracle

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func TestUnaryExact(t *testing.T) {
	x := vec(-2.5, -0.5, negZero, 0, 0.5, 1.5, 2.5, inf, negInf, nan, 8388609, 1e-45)
	want := map[ir.Kind]Tensor{
		ir.Round:  vec(-2, negZero, negZero, 0, 0, 2, 2, inf, negInf, nan, 8388609, 0),
		ir.Floor:  vec(-3, -1, negZero, 0, 0, 1, 2, inf, negInf, nan, 8388609, 0),
		ir.Ceil:   vec(-2, negZero, negZero, 0, 1, 2, 3, inf, negInf, nan, 8388609, 1),
		ir.Trunc:  vec(-2, negZero, negZero, 0, 0, 1, 2, inf, negInf, nan, 8388609, 0),
		ir.Abs:    vec(2.5, 0.5, 0, 0, 0.5, 1.5, 2.5, inf, inf, nan, 8388609, 1e-45),
		ir.Neg:    vec(2.5, 0.5, 0, negZero, -0.5, -1.5, -2.5, negInf, inf, nan, -8388609, -1e-45),
		ir.Sign:   vec(-1, -1, negZero, 0, 1, 1, 1, 1, -1, nan, 1, 1),
		ir.Relu:   vec(0, 0, 0, 0, 0.5, 1.5, 2.5, inf, 0, nan, 8388609, 1e-45),
		ir.Square: vec(6.25, 0.25, 0, 0, 0.25, 2.25, 6.25, inf, inf, nan, 70368760954880, 0),
		ir.Recip:  vec(-0.4, -2, negInf, inf, 2, 0.6666667, 0.4, 0, negZero, nan, 1.19209275e-07, inf),
		ir.Sqrt:   vec(nan, nan, negZero, 0, 0.70710677, 1.2247449, 1.5811388, inf, nan, nan, 2896.3096, 3.7433921e-23),
		ir.IsNaN:  flags(false, false, false, false, false, false, false, false, false, true, false, false),
	}
	for kind, w := range want {
		t.Run(kind.String(), func(t *testing.T) { same(t, w, eval(t, kind, nil, x)) })
	}
	same(t, vec(0.5, 0, negZero, nan, -0.25), eval(t, ir.LeakyRelu, f32Scalars(0.125), vec(0.5, 0, negZero, nan, -2)))
	same(t, bvec(1.015625), eval(t, ir.Square, nil, bvec(1.0078125))) // 1.01568…
}

func TestUnaryInt(t *testing.T) {
	x := ivec(math.MinInt64, -3, 0, 5, math.MaxInt64)
	same(t, ivec(math.MinInt64, 3, 0, 5, math.MaxInt64), eval(t, ir.Abs, nil, x))
	same(t, ivec(math.MinInt64, 3, 0, -5, -math.MaxInt64), eval(t, ir.Neg, nil, x))
	same(t, ivec(-1, -1, 0, 1, 1), eval(t, ir.Sign, nil, x))
	same(t, ivec(0, 9, 0, 25, 1), eval(t, ir.Square, nil, x))
	same(t, flags(false, true), eval(t, ir.Not, nil, flags(true, false)))
}

// The values are from published tables (Abramowitz and Stegun) or computed to
// 30 digits elsewhere and rounded to float32.
func TestFunctions(t *testing.T) {
	tests := []struct {
		kind    ir.Kind
		x, want float64
	}{
		{ir.Exp, 1, 2.7182817}, {ir.Exp, 89, inf}, {ir.Exp, negInf, 0}, {ir.Exp, -104, 0}, {ir.Exp, -103, 1e-45}, {ir.Exp, nan, nan},
		{ir.Expm1, 1e-8, 1e-8}, {ir.Expm1, negZero, negZero}, {ir.Expm1, negInf, -1}, {ir.Expm1, 1, 1.7182819},
		{ir.Log, 2, 0.6931472}, {ir.Log, 0, negInf}, {ir.Log, negZero, negInf}, {ir.Log, -1, nan}, {ir.Log, 1, 0}, {ir.Log, 1e-45, -103.27893},
		{ir.Log1p, 1e-8, 1e-8}, {ir.Log1p, -1, negInf}, {ir.Log1p, negZero, negZero}, {ir.Log1p, -2, nan},
		{ir.Rsqrt, 4, 0.5}, {ir.Rsqrt, 0, inf}, {ir.Rsqrt, negZero, negInf}, {ir.Rsqrt, -1, nan}, {ir.Rsqrt, inf, 0},
		{ir.Sin, math.MaxFloat32, -0.5218765}, {ir.Sin, 1e10, -0.48750603}, {ir.Sin, 1, 0.84147098}, {ir.Sin, inf, nan}, {ir.Sin, negZero, negZero}, {ir.Sin, 3.1415927, -8.742278e-8},
		{ir.Cos, 1, 0.5403023}, {ir.Cos, 0, 1}, {ir.Cos, 1.5707964, -4.371139e-8}, {ir.Cos, inf, nan},
		{ir.Tanh, 20, 1}, {ir.Tanh, 0.5, 0.46211717}, {ir.Tanh, negInf, -1}, {ir.Tanh, negZero, negZero}, {ir.Tanh, 1e-20, 1e-20},
		{ir.Erf, 0.5, 0.5204999}, {ir.Erf, 1, 0.8427008}, {ir.Erf, -4, -1}, {ir.Erf, inf, 1}, {ir.Erf, negZero, negZero},
		{ir.Sigmoid, 0, 0.5}, {ir.Sigmoid, 1, 0.7310586}, {ir.Sigmoid, -100, 3.78351e-44}, {ir.Sigmoid, inf, 1}, {ir.Sigmoid, negInf, 0},
		{ir.Silu, 1, 0.7310586}, {ir.Silu, -20.5, -2.5628134e-08}, {ir.Silu, inf, inf}, {ir.Silu, negZero, negZero}, {ir.Silu, negInf, nan},
		{ir.Gelu, 1, 0.84134475}, {ir.Gelu, -1, -0.15865525}, {ir.Gelu, -10, -7.6198531e-23}, {ir.Gelu, inf, inf}, {ir.Gelu, 0, 0},
		{ir.GeluTanh, 1, 0.841192}, {ir.GeluTanh, -1, -0.15880801}, {ir.GeluTanh, -2.8261247, -0.006196526}, {ir.GeluTanh, inf, inf},
		{ir.Softplus, 0, 0.6931472}, {ir.Softplus, 100, 100}, {ir.Softplus, -100, 3.78351e-44}, {ir.Softplus, inf, inf}, {ir.Softplus, negInf, 0},
	}
	for _, tt := range tests {
		same(t, vec(tt.want), eval(t, tt.kind, nil, vec(tt.x)))
		got := eval(t, tt.kind, nil, bvec(tt.x)).F[0]
		ofRounded := eval(t, tt.kind, nil, cast(bvec(tt.x), ir.F32, true)).F[0]
		same(t, bvec(ofRounded), bvec(got))
	}
}

func TestBinary(t *testing.T) {
	a := vec(1, negZero, 1, nan, inf, 3e38, 1)
	b := vec(3, 0, 0, 1, negInf, 3e38, -7)
	want := map[ir.Kind]Tensor{
		ir.Add:          vec(4, 0, 1, nan, nan, inf, -6),
		ir.Sub:          vec(-2, negZero, 1, nan, inf, 0, 8),
		ir.Mul:          vec(3, negZero, 0, nan, negInf, inf, -7),
		ir.Div:          vec(0.33333334, nan, inf, nan, nan, 1, -0.14285715),
		ir.Maximum:      vec(3, 0, 1, nan, inf, 3e38, 1),
		ir.Minimum:      vec(1, negZero, 0, nan, negInf, 3e38, -7),
		ir.Equal:        flags(false, true, false, false, false, true, false),
		ir.NotEqual:     flags(true, false, true, true, true, false, true),
		ir.Less:         flags(true, false, false, false, false, false, false),
		ir.LessEqual:    flags(true, true, false, false, false, true, false),
		ir.Greater:      flags(false, false, true, false, true, false, true),
		ir.GreaterEqual: flags(false, true, true, false, true, true, true),
	}
	for kind, w := range want {
		t.Run(kind.String(), func(t *testing.T) {
			same(t, w, eval(t, kind, nil, a, b))
			for i := range a.F { // the scalar and the rank-0 operand forms
				x, one := vec(a.F[i]), f32(ir.Shape{}, b.F[i])
				sub := Tensor{Shape: ir.Shape{1}, DType: w.DType}
				if w.F != nil {
					sub.F = w.F[i : i+1]
				} else {
					sub.B = w.B[i : i+1]
				}
				same(t, sub, eval(t, kind, f32Scalars(b.F[i]), x))
				same(t, sub, eval(t, kind, scalars(ir.Scalar{DType: ir.F32, Input: 1}), x, one))
			}
		})
	}
}

func TestBinaryInt(t *testing.T) {
	least := int64(math.MinInt64)
	a := ivec(-7, 7, -7, 7, -8, least, 5, math.MaxInt64)
	b := ivec(2, -2, -2, 2, 2, -1, 0, 2)
	want := map[ir.Kind]Tensor{
		ir.Add:     ivec(-5, 5, -9, 9, -6, math.MaxInt64, 5, least+1),
		ir.Sub:     ivec(-9, 9, -5, 5, -10, least+1, 5, math.MaxInt64-2),
		ir.Mul:     ivec(-14, -14, 14, 14, -16, least, 0, -2),
		ir.Div:     ivec(-3, -3, 3, 3, -4, least, 0, math.MaxInt64/2),
		ir.Maximum: ivec(2, 7, -2, 7, 2, -1, 5, math.MaxInt64),
		ir.Minimum: ivec(-7, -2, -7, 2, -8, least, 0, 2),
		ir.Pow:     ivec(49, 0, 0, 49, 64, 0, 1, 1),
		ir.Less:    flags(true, false, true, false, true, true, false, false),
	}
	for kind, w := range want {
		same(t, w, eval(t, kind, nil, a, b))
	}
	same(t, ivec(1, -1, 1, 0, 0, -8), eval(t, ir.Pow, nil, ivec(1, -1, -1, 2, 0, -2), ivec(-5, -3, -4, -1, -1, 3)))
	same(t, ivec(9, 4), eval(t, ir.Pow, scalars(ir.I64Scalar(2)), ivec(3, -2)))
}

func TestBinaryBool(t *testing.T) {
	a, b := flags(false, false, true, true), flags(false, true, false, true)
	same(t, flags(false, false, false, true), eval(t, ir.And, nil, a, b))
	same(t, flags(false, true, true, true), eval(t, ir.Or, nil, a, b))
	same(t, flags(false, true, true, false), eval(t, ir.Xor, nil, a, b))
	same(t, flags(true, false, false, true), eval(t, ir.Equal, nil, a, b))
	same(t, flags(true, true, false, false), eval(t, ir.NotEqual, scalars(ir.BoolScalar(true)), flags(false, false, true, true)))
}

func TestPow(t *testing.T) {
	tests := []struct{ x, y, want float64 }{
		{2, 10, 1024}, {2, -1, 0.5}, {-2, 3, -8}, {-2, 0.5, nan}, {-8, 0.33333334, nan},
		{0, -1, inf}, {negZero, -1, negInf}, {negZero, -2, inf}, {negZero, 3, negZero},
		{nan, 0, 1}, {1, nan, 1}, {nan, 1, nan}, {-1, inf, 1}, {-1, negInf, 1}, {0.5, inf, 0}, {0.5, negInf, inf},
		{negInf, 0.5, inf}, {negInf, 3, negInf}, {negInf, -3, negZero}, {negZero, 0.5, 0},
		{2, 0.5, 1.4142135}, {10, 38, 1e38}, {10, 39, inf}, {10, -45, 1e-45}, {1.0000001, 1e9, inf},
		{-1.5, 101, -6.0984182e17}, {1.0000001, 1e8, 150381.14},
	}
	for _, tt := range tests {
		got := eval(t, ir.Pow, nil, vec(tt.x), vec(tt.y))
		assert.NoError(t, Compare(got, vec(tt.want), Tol{ULPs: 1}), "%v^%v", tt.x, tt.y)
	}
}

func TestTernary(t *testing.T) {
	x := vec(nan, -1, 9, negZero, 3)
	same(t, vec(nan, 0, 6, 0, 3), eval(t, ir.Clamp, f32Scalars(0, 6), x))
	same(t, vec(nan, 1, 1, 1, 1), eval(t, ir.Clamp, f32Scalars(5, 1), x)) // lo > hi
	same(t, ivec(2, 2, 3, 4, 4), eval(t, ir.Clamp, scalars(ir.I64Scalar(2), ir.I64Scalar(4)), ivec(-9, 2, 3, 4, 5)))
	same(t, vec(nan, nan), eval(t, ir.Clamp, f32Scalars(nan, 1), vec(0, 5)))

	got := eval(t, ir.Where, nil, Bools(ir.Shape{2, 1}, true, false), vec(1, 2), f32(ir.Shape{}, 9))
	same(t, f32(ir.Shape{2, 2}, 1, 2, 9, 9), got)
	same(t, flags(false, true), eval(t, ir.Where, nil, flags(true, false), flags(false, false), flags(true, true)))
	same(t, vec(nan, 1), eval(t, ir.Where, nil, flags(true, false), vec(nan, nan), vec(1, 1)))

	same(t, vec(0x1p-24), eval(t, ir.MulAdd, nil, vec(1+0x1p-12), vec(1+0x1p-12), vec(-(1+0x1p-11))))
	same(t, ivec(-1), eval(t, ir.MulAdd, nil, ivec(math.MaxInt64), ivec(2), ivec(1)))
	same(t, bvec(3.015625), eval(t, ir.MulAdd, nil, bvec(1.0078125), bvec(2), bvec(1)))
}

func TestBroadcasting(t *testing.T) {
	got := eval(t, ir.Add, nil, f32(ir.Shape{2, 1}, 1, 2), f32(ir.Shape{1, 3}, 10, 20, 30))
	same(t, f32(ir.Shape{2, 3}, 11, 21, 31, 12, 22, 32), got)
	same(t, f32(ir.Shape{0, 3}), eval(t, ir.Add, nil, f32(ir.Shape{0, 1}), vec(1, 2, 3)))
	same(t, f32(ir.Shape{}, 3), eval(t, ir.Add, nil, f32(ir.Shape{}, 1), f32(ir.Shape{}, 2)))
}

func TestCreate(t *testing.T) {
	create := func(kind ir.Kind, shape ir.Shape, dtype ir.DType, s ...ir.Scalar) Tensor {
		op := operation(t, kind, func(o *ir.Operation) {
			o.Attrs.Shape, o.Attrs.DType, o.Scalars = shape, dtype, s
		})
		out, err := EvalOp(op)
		require.NoError(t, err)
		return out
	}
	same(t, f32(ir.Shape{2, 2}, 7, 7, 7, 7), create(ir.Full, ir.Shape{2, 2}, ir.F32, ir.F32Scalar(7)))
	same(t, bvec(1.0078125, 1.0078125), create(ir.Full, ir.Shape{2}, ir.BF16, ir.F32Scalar(1.0067)))
	same(t, flags(true), create(ir.Full, ir.Shape{1}, ir.Bool, ir.BoolScalar(true)))
	same(t, Ints(ir.Shape{}, -4), create(ir.Full, ir.Shape{}, ir.I64, ir.I64Scalar(-4)))
	same(t, f32(ir.Shape{0}), create(ir.Full, ir.Shape{0}, ir.F32, ir.F32Scalar(7)))
	same(t, vec(0, 0.1, 0.2, 0.3), create(ir.Arange, ir.Shape{4}, ir.F32, ir.F64Scalar(0), ir.F64Scalar(0.1)))
	same(t, ivec(0, 1500000000, 3000000000), create(ir.Arange, ir.Shape{3}, ir.I64, ir.I64Scalar(0), ir.I64Scalar(1500000000)))
	same(t, bvec(255, 256, 256, 258), create(ir.Arange, ir.Shape{4}, ir.BF16, ir.F64Scalar(255), ir.F64Scalar(1)))
}

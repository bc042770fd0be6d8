package oracle

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

var (
	nan    = math.NaN()
	inf    = math.Inf(1)
	negInf = math.Inf(-1)
	// Go's constant −0.0 is +0.
	negZero = math.Copysign(0, -1)
)

// operation records and checks an operation on the given operands.
func operation(t *testing.T, kind ir.Kind, set func(*ir.Operation), in ...Tensor) *ir.Operation {
	t.Helper()
	op := &ir.Operation{Kind: kind}
	for i, x := range in {
		op.Inputs = append(op.Inputs, ir.TensorRef{ID: ir.TensorID(i + 1), Shape: x.Shape, DType: x.DType})
	}
	if set != nil {
		set(op)
	}
	require.NoError(t, op.Check())
	return op
}

// eval records, checks and evaluates an operation.
func eval(t *testing.T, kind ir.Kind, set func(*ir.Operation), in ...Tensor) Tensor {
	t.Helper()
	out, err := EvalOp(operation(t, kind, set, in...), in...)
	require.NoError(t, err)
	return out
}

func axes(a ...int) func(*ir.Operation) { return func(o *ir.Operation) { o.Attrs.Axes = a } }

func scalars(s ...ir.Scalar) func(*ir.Operation) { return func(o *ir.Operation) { o.Scalars = s } }

func f32Scalars(vs ...float64) func(*ir.Operation) {
	return func(o *ir.Operation) {
		for _, v := range vs {
			o.Scalars = append(o.Scalars, ir.F32Scalar(float32(v)))
		}
	}
}

func vec(vs ...float64) Tensor             { return Floats(ir.F32, ir.Shape{len(vs)}, vs...) }
func bvec(vs ...float64) Tensor            { return Floats(ir.BF16, ir.Shape{len(vs)}, vs...) }
func hvec(vs ...float64) Tensor            { return Floats(ir.F16, ir.Shape{len(vs)}, vs...) }
func dvec(vs ...float64) Tensor            { return Floats(ir.F64, ir.Shape{len(vs)}, vs...) }
func ivec(vs ...int64) Tensor              { return Ints(ir.Shape{len(vs)}, vs...) }
func flags(vs ...bool) Tensor              { return Bools(ir.Shape{len(vs)}, vs...) }
func f32(s ir.Shape, vs ...float64) Tensor { return Floats(ir.F32, s, vs...) }

// sequence returns start, start+1, … as a tensor.
func sequence(dtype ir.DType, shape ir.Shape, start float64) Tensor {
	t := New(dtype, shape)
	for i := range t.F {
		t.F[i] = round(dtype, start+float64(i))
	}
	return t
}

// same asserts equal bits, NaNs being one value.
func same(t *testing.T, want, got Tensor) {
	t.Helper()
	assert.NoError(t, Compare(got, want, Tol{}))
}

// near asserts that every element is within an absolute distance.
func near(t *testing.T, want, got Tensor, delta float64) {
	t.Helper()
	abs := make([]float64, want.Len())
	for i := range abs {
		abs[i] = delta
	}
	assert.NoError(t, Compare(got, want, Tol{Abs: abs}))
}

func TestEveryKindHasAnEvaluator(t *testing.T) {
	for _, kind := range ir.Kinds() {
		assert.Contains(t, evaluators, kind, kind.String())
	}
	assert.Len(t, evaluators, len(ir.Kinds()))
}

func TestBytesRoundTrip(t *testing.T) {
	for _, x := range []Tensor{
		vec(1, negZero, inf, 1e-45), bvec(1, negZero, negInf, 0x1p-133),
		ivec(math.MinInt64, -1, 7), flags(true, false, true),
		f32(ir.Shape{2, 0}), f32(ir.Shape{}, 3),
	} {
		got, err := FromBytes(x.DType, x.Shape, x.Bytes())
		require.NoError(t, err)
		same(t, x, got)
		assert.Len(t, x.Bytes(), x.Len()*x.DType.Size())
	}
	assert.Equal(t, []byte{0x80, 0x3f, 0x00, 0x80}, bvec(1, negZero).Bytes())
	assert.Equal(t, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x80}, vec(1, negZero).Bytes())
	_, err := FromBytes(ir.F32, ir.Shape{2}, make([]byte, 7))
	assert.Error(t, err)

}

func TestEvalOpRefusesForeignOperands(t *testing.T) {
	op := operation(t, ir.Add, nil, vec(1, 2), vec(3, 4))
	_, err := EvalOp(op, vec(1, 2))
	assert.Error(t, err)
	_, err = EvalOp(op, vec(1, 2), vec(1, 2, 3))
	assert.Error(t, err)
	op.Outputs[0].Shape = ir.Shape{3}
	_, err = EvalOp(op, vec(1, 2), vec(3, 4))
	assert.Error(t, err, "a recorded shape that is wrong is noticed")
}

func TestCompare(t *testing.T) {
	one := 1 + 0x1p-23
	tests := []struct {
		name      string
		got, want Tensor
		tol       Tol
		ok        bool
	}{
		{"equal", vec(1, 2), vec(1, 2), Tol{}, true},
		{"nan is one value", vec(math.Float64frombits(0x7ff8000000000001)), vec(nan), Tol{}, true},
		{"nan against number", vec(nan), vec(1), Tol{ULPs: 4}, false},
		{"zero sign", vec(negZero), vec(0), Tol{ULPs: 4}, false},
		{"zero sign within a bound", vec(negZero), vec(0), Tol{Abs: []float64{1e-9}}, true},
		{"one ulp, none allowed", vec(one), vec(1), Tol{}, false},
		{"one ulp, one allowed", vec(one), vec(1), Tol{ULPs: 1}, true},
		{"bf16 ulp", bvec(1.0078125), bvec(1), Tol{ULPs: 1}, true},
		{"two bf16 ulps", bvec(1.015625), bvec(1), Tol{ULPs: 1}, false},
		{"subnormal to zero", vec(1e-45), vec(negZero), Tol{ULPs: 1}, true},
		{"largest to infinite", vec(inf), vec(math.MaxFloat32), Tol{ULPs: 1}, true},
		{"infinite against bound", vec(inf), vec(1), Tol{Abs: []float64{9}}, false},
		{"anything", vec(nan), vec(1), Tol{Abs: []float64{math.Inf(1)}}, true},
		{"shape", vec(1), f32(ir.Shape{1, 1}, 1), Tol{}, false},
		{"dtype", vec(1), bvec(1), Tol{}, false},
		{"ints", ivec(1, 2), ivec(1, 3), Tol{ULPs: 9}, false},
		{"bools", flags(true), flags(false), Tol{}, false},
	}
	for _, tt := range tests {
		err := Compare(tt.got, tt.want, tt.tol)
		assert.Equal(t, tt.ok, err == nil, "%s: %v", tt.name, err)
	}
	err := Compare(f32(ir.Shape{2, 2}, 1, 2, 3, one), f32(ir.Shape{2, 2}, 1, 2, 3, 1), Tol{})
	assert.ErrorContains(t, err, "at [1 1]")
	assert.ErrorContains(t, err, "1 ulps apart")
}

func TestCheckOp(t *testing.T) {
	x := vec(0.5)
	op := operation(t, ir.Exp, nil, x)
	assert.NoError(t, CheckOp(op, vec(math.Exp(0.5)), x))
	assert.ErrorContains(t, CheckOp(op, vec(1.65), x), "Exp")
}

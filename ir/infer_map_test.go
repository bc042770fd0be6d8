package ir

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInferMap(t *testing.T) {
	runCases(t, []checkCase{
		{name: "rank 0", op: Operation{Kind: Exp, Inputs: []TensorRef{ref(F32)}}, shape: nil, dtype: F32},
		{name: "empty", op: Operation{Kind: IsNaN, Inputs: []TensorRef{ref(BF16, 0, 3)}}, shape: Shape{0, 3}, dtype: Bool},
		{name: "int", op: Operation{Kind: Exp, Inputs: []TensorRef{ref(I64, 3)}}, err: dtypeErr(), msg: "is not defined for i64, only for floats"},
		{name: "bool", op: Operation{Kind: Add, Inputs: []TensorRef{ref(Bool, 3), ref(Bool, 3)}}, err: dtypeErr(), msg: "is not defined for bool, only for floats or integers"},
		{name: "from bool", op: Operation{Kind: Cast, Inputs: []TensorRef{ref(Bool, 3)}, Attrs: Attrs{DType: I64}}, shape: Shape{3}, dtype: I64},
		{name: "both", op: Operation{Kind: Mul, Inputs: []TensorRef{ref(F32, 4, 1), ref(F32, 3)}}, shape: Shape{4, 3}, dtype: F32},
		{name: "two and a scalar", op: Operation{Kind: Mul, Inputs: []TensorRef{ref(F32, 4), ref(F32, 4)}, Scalars: []Scalar{F32Scalar(1)}}, err: argErr(), msg: "takes two operands or an operand and a scalar, got 2 and 1"},
		{name: "one alone", op: Operation{Kind: Mul, Inputs: []TensorRef{ref(F32, 4)}}, err: argErr(), msg: "takes two operands or an operand and a scalar, got 1 and 0"},
		{name: "promotion", op: Operation{Kind: Equal, Inputs: []TensorRef{ref(F32, 4), ref(BF16, 4)}}, err: dtypeErr(), msg: "operands 0 and 1 differ in dtype: f32 and bf16"},
		{name: "negative exponent", op: Operation{Kind: Pow, Inputs: []TensorRef{ref(I64, 4)}, Scalars: []Scalar{I64Scalar(-2)}}, err: argErr(), msg: "exponent -2 of an i64 tensor is negative"},
		{name: "negative float exponent", op: Operation{Kind: Pow, Inputs: []TensorRef{ref(F32, 4)}, Scalars: []Scalar{F32Scalar(-2)}}, shape: Shape{4}, dtype: F32},
		{name: "exponent from a tensor", op: Operation{Kind: Pow, Inputs: []TensorRef{ref(I64, 4), ref(I64)}, Scalars: []Scalar{{DType: I64, Input: 1}}}, shape: Shape{4}, dtype: I64},
		{name: "NaN scalar", op: Operation{Kind: Maximum, Inputs: []TensorRef{ref(F32, 4)}, Scalars: []Scalar{F32Scalar(float32(math.NaN()))}}, shape: Shape{4}, dtype: F32},
		{name: "to f8", op: Operation{Kind: Cast, Inputs: []TensorRef{ref(I64, 3)}, Attrs: Attrs{DType: F8E4M3, Flag: true}}, shape: Shape{3}, dtype: F8E4M3},
		{name: "from f8", op: Operation{Kind: Cast, Inputs: []TensorRef{ref(F8E5M2, 3)}, Attrs: Attrs{DType: F64}}, shape: Shape{3}, dtype: F64},
		{name: "saturation", op: Operation{Kind: Cast, Inputs: []TensorRef{ref(F32, 3)}, Attrs: Attrs{DType: F16, Flag: true}}, err: argErr(), msg: "a cast to f16 has no choice of saturation"},
		{name: "of f8", op: Operation{Kind: Neg, Inputs: []TensorRef{ref(F8E4M3, 3)}}, err: dtypeErr(), msg: "is not defined for f8e4m3, only for floats or integers"},
		{name: "same size", op: Operation{Kind: Bitcast, Inputs: []TensorRef{ref(BF16, 3)}, Attrs: Attrs{DType: F16}}, shape: Shape{3}, dtype: F16},
		{name: "size", op: Operation{Kind: Bitcast, Inputs: []TensorRef{ref(F32, 3)}, Attrs: Attrs{DType: U16}}, err: dtypeErr(), msg: "the bits of f32 are not those of u16"},
		{name: "to bool", op: Operation{Kind: Bitcast, Inputs: []TensorRef{ref(U8, 3)}, Attrs: Attrs{DType: Bool}}, err: dtypeErr(), msg: "the bits of u8 are not those of bool"},
		{name: "of bool", op: Operation{Kind: Bitcast, Inputs: []TensorRef{ref(Bool, 3)}, Attrs: Attrs{DType: U8}}, err: dtypeErr(), msg: "is not defined for bool, only for floats, integers, f8e4m3 or f8e5m2"},
		{name: "negative scalar", op: Operation{Kind: ShiftLeft, Inputs: []TensorRef{ref(I8, 4)}, Scalars: []Scalar{IntScalar(I8, -1)}}, err: argErr(), msg: "shift by -1, which is negative"},
		{name: "negative scalar", op: Operation{Kind: ShiftRight, Inputs: []TensorRef{ref(I32, 4)}, Scalars: []Scalar{IntScalar(I32, math.MinInt32)}}, err: argErr(), msg: "shift by -2147483648, which is negative"},
		{name: "wide", op: Operation{Kind: ShiftRight, Inputs: []TensorRef{ref(U8, 4)}, Scalars: []Scalar{IntScalar(U8, 255)}}, shape: Shape{4}, dtype: U8},
		{name: "greatest", op: Operation{Kind: ShiftLeft, Inputs: []TensorRef{ref(U64, 4)}, Scalars: []Scalar{IntScalar(U64, -1)}}, shape: Shape{4}, dtype: U64},
		{name: "great exponent", op: Operation{Kind: Pow, Inputs: []TensorRef{ref(U64, 4)}, Scalars: []Scalar{IntScalar(U64, -1)}}, shape: Shape{4}, dtype: U64},
		{name: "count", op: Operation{Kind: ShiftLeft, Inputs: []TensorRef{ref(I8, 4), ref(I8)}, Scalars: []Scalar{{DType: I8, Input: 1}}}, shape: Shape{4}, dtype: I8},
		{name: "signs", op: Operation{Kind: BitwiseAnd, Inputs: []TensorRef{ref(I8, 4), ref(U8, 4)}}, err: dtypeErr(), msg: "operands 0 and 1 differ in dtype: i8 and u8"},
		{name: "width", op: Operation{Kind: Add, Inputs: []TensorRef{ref(U8, 4)}, Scalars: []Scalar{IntScalar(U8, 256)}}, err: argErr(), msg: "scalar 0 has bits 0x100 outside its type u8"},
		{name: "sign", op: Operation{Kind: Add, Inputs: []TensorRef{ref(I16, 4)}, Scalars: []Scalar{{DType: I16, Bits: 0xffff}}}, err: argErr(), msg: "scalar 0 has bits 0xffff outside its type i16"},
		{name: "slopes", op: Operation{Kind: PRelu, Inputs: []TensorRef{ref(F16, 2, 3, 1), ref(F16, 4)}}, shape: Shape{2, 3, 4}, dtype: F16},
		{name: "slopes", op: Operation{Kind: PRelu, Inputs: []TensorRef{ref(F16, 3), ref(F32, 3)}}, err: dtypeErr(), msg: "operands 0 and 1 differ in dtype: f16 and f32"},
		{name: "gradient", op: Operation{Kind: GeluBackward, Inputs: []TensorRef{ref(F64, 3), ref(F64, 2)}}, err: shapeErr(), msg: "shapes [3] and [2] do not broadcast: lengths 3 and 2 at axis 0"},
		{name: "gradient", op: Operation{Kind: EluBackward, Inputs: []TensorRef{ref(F64, 3), ref(F64, 3)}, Scalars: []Scalar{F64Scalar(1)}}, shape: Shape{3}, dtype: F64},
		{name: "alpha", op: Operation{Kind: CeluBackward, Inputs: []TensorRef{ref(F64, 3), ref(F64, 3), ref(F64)}, Scalars: []Scalar{{DType: F64, Input: 2}}}, shape: Shape{3}, dtype: F64},
		{name: "alpha", op: Operation{Kind: Elu, Inputs: []TensorRef{ref(F64, 3)}, Scalars: []Scalar{F32Scalar(1)}}, err: dtypeErr(), msg: "scalar 0 is f32, want f64"},
		{name: "of f8", op: Operation{Kind: Where, Inputs: []TensorRef{ref(Bool, 2), ref(F8E4M3, 2), ref(F8E4M3, 2)}}, err: dtypeErr(), msg: "is not defined for f8e4m3, only for floats, integers or bool"},
		{name: "broadcast", op: Operation{Kind: Where, Inputs: []TensorRef{ref(Bool, 2, 1, 1), ref(I64, 3, 1), ref(I64, 4)}}, shape: Shape{2, 3, 4}, dtype: I64},
		{name: "mask", op: Operation{Kind: Where, Inputs: []TensorRef{ref(F32, 2), ref(F32, 2), ref(F32, 2)}}, err: dtypeErr(), msg: "mask is f32 instead of bool"},
		{name: "branches", op: Operation{Kind: Where, Inputs: []TensorRef{ref(Bool, 2), ref(F32, 2), ref(I64, 2)}}, err: dtypeErr(), msg: "operands 1 and 2 differ in dtype: f32 and i64"},
		{name: "lengths", op: Operation{Kind: MulAdd, Inputs: []TensorRef{ref(F32, 2, 1), ref(F32, 3), ref(F32, 2, 2)}}, err: shapeErr(), msg: "shapes [2,3] and [2,2] do not broadcast: lengths 3 and 2 at axis 1"},
		{name: "ranks", op: Operation{Kind: Add, Inputs: []TensorRef{ref(F32, 3), ref(F32, 5, 2)}}, err: shapeErr(), msg: "shapes [3] and [5,2] do not broadcast: lengths 3 and 2 at axis 1"},
	})
}

// broadcast agrees with the rule stated axis by axis from the end, and gives
// back an operand's own shape where that is the result.
func TestBroadcastAgainstRule(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shape := func() Shape {
		s := make(Shape, r.IntN(4))
		for i := range s {
			s[i] = r.IntN(4)
		}
		return s
	}
	at := func(s Shape, fromEnd int) int {
		if fromEnd > len(s) {
			return 1
		}
		return s[len(s)-fromEnd]
	}
	for range 5000 {
		a, b := shape(), shape()
		want, ok := make(Shape, max(len(a), len(b))), true
		for e := 1; e <= len(want); e++ {
			x, y := at(a, e), at(b, e)
			ok = ok && (x == y || x == 1 || y == 1)
			want[len(want)-e] = x
			if x == 1 {
				want[len(want)-e] = y
			}
		}
		got, err := broadcast(a, b)
		public, publicOK := Broadcast(a, b)
		assert.Equal(t, ok, err == nil, "%v %v", a, b)
		assert.Equal(t, ok, publicOK, "%v %v", a, b)
		if ok {
			assert.Equal(t, want.String(), got.String(), "%v %v", a, b)
			assert.Equal(t, want.String(), public.String(), "%v %v", a, b)
			if want.Equal(a) && len(want) > 0 {
				assert.True(t, &got[0] == &a[0] || want.Equal(b), "%v %v", a, b)
			}
		}
	}
}

package ir

import "testing"

func TestInferContractions(t *testing.T) {
	on := func(k Kind, in ...TensorRef) Operation { return Operation{Kind: k, Inputs: in} }
	runCases(t, []checkCase{
		{name: "matrices", op: on(MatMul, ref(I64, 2, 3), ref(I64, 3, 4)), shape: Shape{2, 4}, dtype: I64},
		{name: "dot", op: on(MatMul, ref(F32, 3), ref(F32, 3)), dtype: F32},
		{name: "vector on the left", op: on(MatMul, ref(F32, 3), ref(F32, 5, 3, 4)), shape: Shape{5, 4}, dtype: F32},
		{name: "vector on the right", op: on(MatMul, ref(BF16, 5, 2, 3), ref(BF16, 3)), shape: Shape{5, 2}, dtype: BF16},
		{name: "batch", op: on(MatMul, ref(F32, 7, 1, 2, 3), ref(F32, 6, 3, 4)), shape: Shape{7, 6, 2, 4}, dtype: F32},
		{name: "nothing inside", op: on(MatMul, ref(F32, 2, 0), ref(F32, 0, 4)), shape: Shape{2, 4}, dtype: F32},
		{name: "inner", op: on(MatMul, ref(F32, 2, 3), ref(F32, 4, 3)), err: shapeErr(), msg: "inner lengths 3 and 4 of [2,3] and [4,3] differ"},
		{name: "batches", op: on(MatMul, ref(F32, 2, 2, 3), ref(F32, 5, 3, 2)), err: shapeErr(), msg: "shapes [2] and [5] do not broadcast: lengths 2 and 5 at axis 0"},
		{name: "rank 0", op: on(MatMul, ref(F32), ref(F32, 3)), err: shapeErr(), msg: "operands of rank 0 and 1: a product needs rank 1 at least"},
		{name: "bool", op: on(MatMul, ref(Bool, 2, 2), ref(Bool, 2, 2)), err: dtypeErr(), msg: "is not defined for bool, only for floats or integers"},
		{name: "bytes", op: on(MatMul, ref(U8, 2, 3), ref(U8, 3)), shape: Shape{2}, dtype: U8},

		{name: "bytes", op: on(IntMatMul, ref(I8, 5, 2, 3), ref(I8, 3, 4)), shape: Shape{5, 2, 4}, dtype: I32},
		{name: "signs", op: on(IntMatMul, ref(U8, 3), ref(I8, 3)), dtype: I32},
		{name: "wide", op: on(IntMatMul, ref(I8, 2, 3), ref(I16, 3, 4)), err: dtypeErr(), msg: "operand 1 is i16, want i8 or u8"},
		{name: "wide", op: on(IntMatMul, ref(I32, 2, 3), ref(I8, 3, 4)), err: dtypeErr(), msg: "is not defined for i32, only for i8 or u8"},
		{name: "inner", op: on(IntMatMul, ref(I8, 2, 3), ref(I8, 4)), err: shapeErr(), msg: "inner lengths 3 and 4 of [2,3] and [4] differ"},

		{name: "vector", op: on(Linear, ref(F32, 3), ref(F32, 3, 4)), shape: Shape{4}, dtype: F32},
		{name: "batch", op: on(Linear, ref(BF16, 0, 2, 3), ref(BF16, 3, 4), ref(BF16, 4)), shape: Shape{0, 2, 4}, dtype: BF16},
		{name: "rows", op: on(Linear, ref(F32, 2, 3), ref(F32, 4, 3)), err: shapeErr(), msg: "last length 3 of [2,3] differs from 4 rows of the weight [4,3]"},
		{name: "weight", op: on(Linear, ref(F32, 2, 3), ref(F32, 3)), err: shapeErr(), msg: "weight of shape [3] is not a matrix"},
		{name: "bias", op: on(Linear, ref(F32, 2, 3), ref(F32, 3, 4), ref(F32, 1, 4)), err: shapeErr(), msg: "bias of shape [1,4] is not a vector of length 4"},
		{name: "rank 0", op: on(Linear, ref(F32), ref(F32, 3, 4)), err: shapeErr(), msg: "operand 0 has rank 0, want 1 at least"},
	})
}

func TestInferComposites(t *testing.T) {
	norm := func(k Kind, in ...TensorRef) Operation {
		return Operation{Kind: k, Inputs: in, Scalars: []Scalar{F32Scalar(1e-5)}}
	}
	grouped := func(groups int, in ...TensorRef) Operation {
		o := norm(GroupNorm, in...)
		o.Attrs.N = groups
		return o
	}
	x := ref(BF16, 2, 3)
	softmax := Operation{Kind: Softmax, Inputs: []TensorRef{x}, Attrs: Attrs{Axes: []int{-1}}}
	runCases(t, []checkCase{
		{name: "last", op: softmax, shape: x.Shape, dtype: BF16, axes: []int{1}},
		{name: "all", op: Operation{Kind: LogSoftmax, Inputs: []TensorRef{x}}, shape: x.Shape, dtype: BF16, axes: []int{0, 1}},
		{name: "alone", op: norm(LayerNorm, x), shape: x.Shape, dtype: BF16},
		{name: "weight", op: norm(LayerNorm, x, ref(BF16, 2)), err: shapeErr(), msg: "weight of shape [2] is not a vector of length 3"},
		{name: "bias", op: norm(LayerNorm, x, ref(BF16, 3), ref(BF16)), err: shapeErr(), msg: "bias of shape [] is not a vector of length 3"},
		{name: "rank 0", op: norm(RMSNorm, ref(F32)), err: shapeErr(), msg: "operand 0 has rank 0, want a last axis"},
		{name: "empty rows", op: norm(RMSNorm, ref(F32, 2, 0), ref(F32, 0)), shape: Shape{2, 0}, dtype: F32},
		{name: "groups", op: grouped(3, ref(F32, 2, 6, 5), ref(F32, 6), ref(F32, 6)), shape: Shape{2, 6, 5}, dtype: F32},
		{name: "one each", op: grouped(6, ref(F64, 2, 6)), err: dtypeErr(), msg: "scalar 0 is f32, want f64"},
		{name: "unequal", op: grouped(4, ref(F32, 2, 6)), err: argErr(), msg: "6 channels are not 4 equal groups"},
		{name: "none", op: grouped(0, ref(F32, 2, 6)), err: argErr(), msg: "6 channels are not 0 equal groups"},
		{name: "negative", op: grouped(-2, ref(F32, 2, 6)), err: argErr(), msg: "6 channels are not -2 equal groups"},
		{name: "rank", op: grouped(1, ref(F32, 6)), err: shapeErr(), msg: "operand 0 has rank 1, want a batch axis and a channel axis"},
		{name: "weight", op: grouped(3, ref(F32, 2, 6, 5), ref(F32, 5)), err: shapeErr(), msg: "weight of shape [5] is not a vector of length 6"},
		{name: "moments", op: norm(BatchNorm, ref(F16, 2, 6, 5), ref(F16, 6), ref(F16, 6)), shape: Shape{2, 6, 5}, dtype: F16},
		{name: "mean", op: norm(BatchNorm, ref(F16, 2, 6), ref(F16, 2), ref(F16, 6)), err: shapeErr(), msg: "mean of shape [2] is not a vector of length 6"},
		{name: "variance", op: norm(BatchNorm, ref(F16, 2, 6), ref(F16, 6), ref(F32, 6)), err: dtypeErr(), msg: "operands 0 and 2 differ in dtype: f16 and f32"},
		{name: "bias", op: norm(BatchNorm, ref(F16, 2, 6), ref(F16, 6), ref(F16, 6), ref(F16, 6), ref(F16, 1)), err: shapeErr(), msg: "bias of shape [1] is not a vector of length 6"},
		{name: "no channels", op: norm(BatchNorm, ref(F16, 2, 0), ref(F16, 0), ref(F16, 0)), shape: Shape{2, 0}, dtype: F16},
		{name: "gradient", op: Operation{Kind: SoftmaxBackward, Inputs: []TensorRef{x, x}}, shape: x.Shape, dtype: BF16, axes: []int{0, 1}},
		{name: "gradient", op: Operation{Kind: LogSoftmaxBackward, Inputs: []TensorRef{x, ref(BF16, 3)}, Attrs: Attrs{Axes: []int{0}}}, err: shapeErr(), msg: "gradient of shape [3] does not fit [2,3]"},
		{name: "gradient", op: norm(LayerNormBackward, x, x, ref(BF16, 3)), shape: x.Shape, dtype: BF16},
		{name: "gradient", op: norm(RMSNormBackward, x, ref(F32, 2, 3)), err: dtypeErr(), msg: "operands 0 and 1 differ in dtype: bf16 and f32"},
		{name: "weight", op: norm(LayerNormBackward, x, x, ref(BF16, 2)), err: shapeErr(), msg: "weight of shape [2] is not a vector of length 3"},
		{name: "rank 0", op: norm(RMSNormBackward, ref(F32), ref(F32)), err: shapeErr(), msg: "operand 0 has rank 0, want a last axis"},
		{name: "bias", op: norm(RMSNorm, x, ref(BF16, 3), ref(BF16, 3)), err: argErr(), msg: "takes 1 to 2 operands, got 3"},
	})
}

func TestInferAttention(t *testing.T) {
	q, k, v := ref(F32, 2, 6, 5, 8), ref(F32, 2, 3, 7, 8), ref(F32, 2, 3, 7, 4)
	on := func(in ...TensorRef) Operation {
		return Operation{Kind: Attention, Inputs: in, Scalars: []Scalar{F32Scalar(0.5)}}
	}
	offset := on(q, k, v)
	offset.Attrs.N = 3
	out := Shape{2, 6, 5, 4}
	runCases(t, []checkCase{
		{name: "grouped", op: on(q, k, v), shape: out, dtype: F32},
		{name: "bool mask", op: on(q, k, v, ref(Bool, 6, 1, 7)), shape: out, dtype: F32},
		{name: "bias of rank 0", op: on(q, k, v, ref(F32)), shape: out, dtype: F32},
		{name: "no keys", op: on(q, ref(F32, 2, 3, 0, 8), ref(F32, 2, 3, 0, 4)), shape: out, dtype: F32},
		{name: "no heads", op: on(ref(F32, 2, 0, 5, 8), ref(F32, 2, 0, 7, 8), ref(F32, 2, 0, 7, 4)), shape: Shape{2, 0, 5, 4}, dtype: F32},
		{name: "heads of nothing", op: on(q, ref(F32, 2, 0, 7, 8), ref(F32, 2, 0, 7, 4)), err: shapeErr(), msg: "6 heads of q are not a multiple of 0 of k and v"},
		{name: "scale", op: Operation{Kind: Attention, Inputs: []TensorRef{q, k, v, ref(F32)}, Scalars: []Scalar{{DType: F32, Input: 3}}}, shape: out, dtype: F32},
		{name: "heads", op: on(q, ref(F32, 2, 4, 7, 8), ref(F32, 2, 4, 7, 4)), err: shapeErr(), msg: "6 heads of q are not a multiple of 4 of k and v"},
		{name: "heads of v", op: on(q, k, ref(F32, 2, 2, 7, 4)), err: shapeErr(), msg: "k and v have 3 and 2 heads"},
		{name: "batch", op: on(q, ref(F32, 1, 3, 7, 8), v), err: shapeErr(), msg: "batch lengths 2, 1 and 2 of q, k and v differ"},
		{name: "width", op: on(q, ref(F32, 2, 3, 7, 9), v), err: shapeErr(), msg: "q and k have last lengths 8 and 9"},
		{name: "keys", op: on(q, k, ref(F32, 2, 3, 6, 4)), err: shapeErr(), msg: "k and v have 7 and 6 keys"},
		{name: "rank", op: on(q, k, ref(F32, 3, 7, 4)), err: shapeErr(), msg: "v of shape [3,7,4] has not rank 4"},
		{name: "mask", op: on(q, k, v, ref(Bool, 7, 5)), err: shapeErr(), msg: "mask of shape [7,5] does not broadcast to the scores' [2,6,5,7]"},
		{name: "mask's rank", op: on(q, k, v, ref(Bool, 1, 1, 1, 1, 1)), err: shapeErr(), msg: "mask of shape [1,1,1,1,1] does not broadcast to the scores' [2,6,5,7]"},
		{name: "mask's dtype", op: on(q, k, v, ref(BF16, 5, 7)), err: dtypeErr(), msg: "mask is bf16, want bool or f32"},
		{name: "offset", op: offset, err: argErr(), msg: "offset 3 has no meaning without the causal flag"},
	})
}

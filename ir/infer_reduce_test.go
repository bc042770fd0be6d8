package ir

import "testing"

func TestInferReductions(t *testing.T) {
	on := func(k Kind, x TensorRef, axes ...int) Operation {
		return Operation{Kind: k, Inputs: []TensorRef{x}, Attrs: Attrs{Axes: axes}}
	}
	x, none, mask := ref(F32, 2, 5, 3), ref(F32, 2, 0, 3), ref(Bool, 4)
	variance := on(Var, x, 0)
	variance.Attrs.N = -1
	runCases(t, []checkCase{
		{name: "one", op: on(Sum, x, 1), shape: Shape{2, 1, 3}, dtype: F32},
		{name: "sorted", op: on(Mean, x, -1, 0), shape: Shape{1, 5, 1}, dtype: F32, axes: []int{0, 2}},
		{name: "all", op: on(Prod, x), shape: Shape{1, 1, 1}, dtype: F32, axes: []int{0, 1, 2}},
		{name: "rank 0", op: on(Max, ref(I64)), dtype: I64, axes: nil},
		{name: "length 1", op: on(Min, ref(BF16, 1, 4), 0), shape: Shape{1, 4}, dtype: BF16},
		{name: "position", op: on(ArgMin, mask, 0), shape: Shape{1}, dtype: I64},
		{name: "mask", op: on(Any, mask), shape: Shape{1}, dtype: Bool},
		{name: "nothing", op: on(Sum, none, 1), shape: Shape{2, 1, 3}, dtype: F32},
		{name: "variance of nothing", op: on(Var, none, 1), shape: Shape{2, 1, 3}, dtype: F32},
		{name: "nothing", op: on(Max, none, 1), err: shapeErr(), msg: "[2,0,3] has no elements along axes [1] to take one of"},
		{name: "nothing", op: on(ArgMax, none, 1, 0), err: shapeErr(), msg: "[2,0,3] has no elements along axes [0,1] to take one of"},
		{name: "empty output", op: on(ArgMax, none, 0), shape: Shape{1, 0, 3}, dtype: I64},
		{name: "range", op: on(Sum, x, 3), err: shapeErr(), msg: "axis 3 is out of range for rank 3"},
		{name: "range at rank 0", op: on(Sum, ref(F32), -1), err: shapeErr(), msg: "axis -1 is out of range for rank 0"},
		{name: "twice", op: on(Sum, x, 1, -2), err: shapeErr(), msg: "axis 1 is given twice"},
		{name: "int", op: on(Mean, ref(I64, 2), 0), err: dtypeErr(), msg: "is not defined for i64, only for floats"},
		{name: "float", op: on(All, x), err: dtypeErr(), msg: "is not defined for f32, only for bool"},
		{name: "correction", op: variance, err: argErr(), msg: "correction -1 is negative"},
		{name: "of nothing", op: on(LogSumExp, none, 1), shape: Shape{2, 1, 3}, dtype: F32},
		{name: "int", op: on(LogSumExp, ref(U8, 2), 0), err: dtypeErr(), msg: "is not defined for u8, only for floats"},
		{name: "all", op: on(L2Norm, ref(F16, 2, 3)), shape: Shape{1, 1}, dtype: F16, axes: []int{0, 1}},
		{name: "power", op: Operation{Kind: Norm, Inputs: []TensorRef{ref(BF16, 2, 3)}, Attrs: Attrs{Axes: []int{-1}}, Scalars: []Scalar{F32Scalar(3)}}, shape: Shape{2, 1}, dtype: BF16, axes: []int{1}},
		{name: "power", op: Operation{Kind: Norm, Inputs: []TensorRef{ref(F64, 2, 3)}, Scalars: []Scalar{F32Scalar(3)}}, err: dtypeErr(), msg: "scalar 0 is f32, want f64"},
		{name: "no power", op: on(Norm, x, 1), err: argErr(), msg: "takes 1 scalar, got 0"},
		{name: "deviation", op: Operation{Kind: Std, Inputs: []TensorRef{x}, Attrs: Attrs{N: 7}}, shape: Shape{1, 1, 1}, dtype: F32, axes: []int{0, 1, 2}},
		{name: "correction", op: Operation{Kind: Std, Inputs: []TensorRef{x}, Attrs: Attrs{N: -2}}, err: argErr(), msg: "correction -2 is negative"},
		{name: "scan", op: Operation{Kind: CumMax, Inputs: []TensorRef{ref(I8, 4)}, Attrs: Attrs{Axes: []int{0}, Flag: true, Reverse: true}}, shape: Shape{4}, dtype: I8},
		{name: "bool", op: on(CumMin, mask, 0), err: dtypeErr(), msg: "is not defined for bool, only for floats or integers"},
		{name: "scan", op: on(CumSum, x, -2), shape: x.Shape, dtype: F32, axes: []int{1}},
		{name: "no axis", op: on(CumSum, x), err: argErr(), msg: "works along one axis, got 0"},
		{name: "empty", op: on(CumSum, none, 1), shape: none.Shape, dtype: F32},
	})
}

func TestInferOrders(t *testing.T) {
	on := func(k Kind, x TensorRef, n int, axes ...int) Operation {
		return Operation{Kind: k, Inputs: []TensorRef{x}, Attrs: Attrs{Axes: axes, N: n}}
	}
	x := ref(F16, 2, 5)
	runCases(t, []checkCase{
		{name: "values", op: on(Sort, x, 0, -1), shape: x.Shape, dtype: F16, axes: []int{1}},
		{name: "mask", op: on(Sort, ref(Bool, 0), 0, 0), shape: Shape{0}, dtype: Bool},
		{name: "positions", op: on(ArgSort, x, 0, 0), shape: x.Shape, dtype: I64},
		{name: "first", op: on(TopK, x, 3, -1), shape: Shape{2, 3}, dtype: F16, axes: []int{1}},
		{name: "none", op: on(TopK, x, 0, 1), shape: Shape{2, 0}, dtype: F16},
		{name: "all", op: on(ArgTopK, x, 5, 1), shape: x.Shape, dtype: I64},
		{name: "too many", op: on(ArgTopK, x, 6, 1), err: argErr(), msg: "there are no first 6 of 5 elements at axis 1"},
		{name: "negative", op: on(TopK, x, -1, 1), err: argErr(), msg: "there are no first -1 of 5 elements at axis 1"},
		{name: "number", op: on(Sort, x, 1, 1), err: argErr(), msg: "does not use the given attributes (n)"},
		{name: "no axis", op: on(Sort, x, 0), err: argErr(), msg: "works along one axis, got 0"},
		{name: "rank 0", op: on(Sort, ref(F32), 0, 0), err: shapeErr(), msg: "axis 0 is out of range for rank 0"},
		{name: "f8", op: on(Sort, ref(F8E4M3, 3), 0, 0), err: dtypeErr(), msg: "is not defined for f8e4m3, only for floats, integers or bool"},
	})
}

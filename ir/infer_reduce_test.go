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
		{name: "scan", op: on(CumSum, x, -2), shape: x.Shape, dtype: F32, axes: []int{1}},
		{name: "no axis", op: on(CumSum, x), err: argErr(), msg: "works along one axis, got 0"},
		{name: "empty", op: on(CumSum, none, 1), shape: none.Shape, dtype: F32},
	})
}

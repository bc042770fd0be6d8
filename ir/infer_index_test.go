package ir

import "testing"

func TestInferIndexing(t *testing.T) {
	x := ref(Bool, 2, 5)
	on := func(k Kind, axis int, in ...TensorRef) Operation {
		return Operation{Kind: k, Inputs: append([]TensorRef{x}, in...), Attrs: Attrs{Axes: []int{axis}}}
	}
	embed := func(w, i TensorRef) Operation { return Operation{Kind: Embedding, Inputs: []TensorRef{w, i}} }
	runCases(t, []checkCase{
		{name: "more", op: on(Select, -2, ref(I64, 7)), shape: Shape{7, 5}, dtype: Bool, axes: []int{0}},
		{name: "none", op: on(Select, 1, ref(I64, 0)), shape: Shape{2, 0}, dtype: Bool},
		{name: "float", op: on(Select, 1, ref(F32, 3)), err: dtypeErr(), msg: "indices are f32 instead of i64"},
		{name: "matrix", op: on(Select, 1, ref(I64, 3, 1)), err: shapeErr(), msg: "indices of shape [3,1] are not a list"},
		{name: "axis", op: on(Select, 2, ref(I64, 3)), err: shapeErr(), msg: "axis 2 is out of range for rank 2"},
		{name: "smaller", op: on(Gather, -1, ref(I64, 1, 9)), shape: Shape{1, 9}, dtype: Bool, axes: []int{1}},
		{name: "larger", op: on(Gather, 1, ref(I64, 3, 5)), err: shapeErr(), msg: "indices have length 3, more than 2, at axis 0"},
		{name: "rank", op: on(Gather, 1, ref(I64, 2)), err: shapeErr(), msg: "indices have rank 1 instead of 2"},
		{name: "bool", op: on(Gather, 1, ref(Bool, 2, 5)), err: dtypeErr(), msg: "indices are bool instead of i64"},
		{name: "one", op: embed(ref(BF16, 9, 4), ref(I64)), shape: Shape{4}, dtype: BF16},
		{name: "many", op: embed(ref(F32, 9, 4), ref(I64, 2, 0, 3)), shape: Shape{2, 0, 3, 4}, dtype: F32},
		{name: "weight", op: embed(ref(F32, 9), ref(I64, 2)), err: shapeErr(), msg: "weight of shape [9] is not a matrix"},
		{name: "float", op: embed(ref(F32, 9, 4), ref(F32, 2)), err: dtypeErr(), msg: "indices are f32 instead of i64"},
	})
}

func TestInferListedIndexing(t *testing.T) {
	x := ref(U16, 2, 5, 3)
	on := func(index TensorRef) Operation { return Operation{Kind: GatherND, Inputs: []TensorRef{x, index}} }
	put := func(m ScatterMode, d DType, index, value TensorRef) Operation {
		x := x
		x.DType, value.DType = d, d
		return Operation{Kind: ScatterND, Inputs: []TensorRef{x, index, value}, Attrs: Attrs{Mode: m}}
	}
	runCases(t, []checkCase{
		{name: "elements", op: on(ref(I64, 4, 3)), shape: Shape{4}, dtype: U16},
		{name: "parts", op: on(ref(I64, 7, 4, 1)), shape: Shape{7, 4, 5, 3}, dtype: U16},
		{name: "one", op: on(ref(I64, 2)), shape: Shape{3}, dtype: U16},
		{name: "whole", op: on(ref(I64, 4, 0)), shape: Shape{4, 2, 5, 3}, dtype: U16},
		{name: "none", op: on(ref(I64, 0, 2)), shape: Shape{0, 3}, dtype: U16},
		{name: "long", op: on(ref(I64, 4, 4)), err: shapeErr(), msg: "lists of 4 indices do not fit rank 3"},
		{name: "rank 0", op: on(ref(I64)), err: shapeErr(), msg: "indices have rank 0, want a last axis"},
		{name: "dtype", op: on(ref(I32, 4, 3)), err: dtypeErr(), msg: "indices are i32 instead of i64"},

		{name: "elements", op: put(Assign, Bool, ref(I64, 4, 3), ref(Bool, 4)), shape: x.Shape, dtype: Bool},
		{name: "parts", op: put(ScatterMin, I8, ref(I64, 7, 4, 1), ref(I8, 7, 4, 5, 3)), shape: x.Shape, dtype: I8},
		{name: "value", op: put(ScatterSum, F16, ref(I64, 4, 2), ref(F16, 4)), err: shapeErr(), msg: "value of shape [4] does not fit the replaced part of shape [4,3]"},
		{name: "bool", op: put(ScatterMax, Bool, ref(I64, 4, 3), ref(Bool, 4)), err: dtypeErr(), msg: "max is not defined for bool, only for floats or integers"},
		{name: "f8", op: put(ScatterMul, F8E5M2, ref(I64, 4, 3), ref(F8E5M2, 4)), err: dtypeErr(), msg: "mul is not defined for f8e5m2, only for floats or integers"},
		{name: "mode", op: put(9, F32, ref(I64, 4, 3), ref(F32, 4)), err: argErr(), msg: "there is no scatter mode 9"},
	})
}

func TestInferAssignments(t *testing.T) {
	x := ref(F32, 2, 5)
	on := func(k Kind, m ScatterMode, axis int, in ...TensorRef) Operation {
		return Operation{Kind: k, Inputs: append([]TensorRef{x}, in...), Attrs: Attrs{Axes: []int{axis}, Mode: m}}
	}
	slice := func(value TensorRef, r ...Range) Operation {
		return Operation{Kind: SliceAssign, Inputs: []TensorRef{x, value}, Ranges: r}
	}
	runCases(t, []checkCase{
		{name: "smaller", op: on(Scatter, ScatterSum, -1, ref(I64, 1, 9), ref(F32, 1, 9)), shape: x.Shape, dtype: F32, axes: []int{1}},
		{name: "none", op: on(Scatter, Assign, 0, ref(I64, 0, 5), ref(F32, 0, 5)), shape: x.Shape, dtype: F32},
		{name: "larger", op: on(Scatter, Assign, 1, ref(I64, 3, 5), ref(F32, 3, 5)), err: shapeErr(), msg: "indices have length 3, more than 2, at axis 0"},
		{name: "value", op: on(Scatter, Assign, 1, ref(I64, 2, 4), ref(F32, 2, 5)), err: shapeErr(), msg: "value of shape [2,5] does not fit the replaced part of shape [2,4]"},
		{name: "value's dtype", op: on(Scatter, Assign, 1, ref(I64, 2, 4), ref(F16, 2, 4)), err: dtypeErr(), msg: "operands 0 and 2 differ in dtype: f32 and f16"},
		{name: "indices", op: on(Scatter, Assign, 1, ref(U64, 2, 4), ref(F32, 2, 4)), err: dtypeErr(), msg: "indices are u64 instead of i64"},
		{name: "columns", op: on(SelectAssign, ScatterMax, -1, ref(I64, 7), ref(F32, 2, 7)), shape: x.Shape, dtype: F32, axes: []int{1}},
		{name: "number", op: on(SelectAssign, Assign, 1, ref(I64, 7), ref(F32, 2, 6)), err: shapeErr(), msg: "value of shape [2,6] does not fit the replaced part of shape [2,7]"},
		{name: "bool", op: Operation{Kind: SelectAssign, Inputs: []TensorRef{ref(Bool, 4), ref(I64, 2), ref(Bool, 2)}, Attrs: Attrs{Axes: []int{0}, Mode: ScatterSum}}, err: dtypeErr(), msg: "add is not defined for bool, only for floats or integers"},
		{name: "part", op: slice(ref(F32, 1, 2), Range{1, 1, 1, 0}, Range{4, 2, -4, 0}), shape: x.Shape, dtype: F32},
		{name: "value", op: slice(ref(F32, 2, 1), Range{1, 1, 1, 0}, Range{4, 2, -4, 0}), err: shapeErr(), msg: "value of shape [2,1] does not fit the replaced part of shape [1,2]"},
		{name: "bounds", op: slice(ref(F32, 1, 2), Range{1, 1, 1, 0}, Range{4, 2, 1, 0}), err: indexErr(), msg: "range 1 ends at 5, outside axis 1 of length 5"},
	})
}

func TestInferEffects(t *testing.T) {
	old := ref(F32, 2, 5)
	on := func(k Kind, a Attrs, in ...TensorRef) Operation {
		return Operation{Kind: k, Inputs: append([]TensorRef{old}, in...), Attrs: a}
	}
	slice := func(value TensorRef, r ...Range) Operation {
		return Operation{Kind: SetSlice, Inputs: []TensorRef{old, value}, Ranges: r}
	}
	column := Attrs{Axes: []int{-1}}
	runCases(t, []checkCase{
		{name: "whole", op: on(Set, Attrs{}, old), shape: old.Shape, dtype: F32},
		{name: "rank 0", op: Operation{Kind: Set, Inputs: []TensorRef{ref(I64), ref(I64)}}, dtype: I64},
		{name: "broadcast", op: on(Set, Attrs{}, ref(F32, 1, 5)), err: shapeErr(), msg: "value of shape [1,5] does not fit the replaced part of shape [2,5]"},
		{name: "dtype", op: on(Set, Attrs{}, ref(BF16, 2, 5)), err: dtypeErr(), msg: "operands 0 and 1 differ in dtype: f32 and bf16"},
		{name: "part", op: slice(ref(F32, 1, 2), Range{1, 1, 1, 0}, Range{4, 2, -4, 0}), shape: old.Shape, dtype: F32},
		{name: "value", op: slice(ref(F32, 2, 1), Range{1, 1, 1, 0}, Range{4, 2, -4, 0}), err: shapeErr(), msg: "value of shape [2,1] does not fit the replaced part of shape [1,2]"},
		{name: "bounds", op: slice(ref(F32, 1, 2), Range{1, 1, 1, 0}, Range{4, 2, 1, 0}), err: indexErr(), msg: "range 1 ends at 5, outside axis 1 of length 5"},
		{name: "from operand", op: Operation{Kind: SetSlice, Inputs: []TensorRef{old, ref(F32, 1, 5), ref(I64)}, Ranges: []Range{{Len: 1, Step: 1, Input: 2}, {0, 5, 1, 0}}}, shape: old.Shape, dtype: F32},
		{name: "columns", op: on(SetSelect, column, ref(I64, 7), ref(F32, 2, 7)), shape: old.Shape, dtype: F32, axes: []int{1}},
		{name: "number", op: on(SetSelect, column, ref(I64, 7), ref(F32, 2, 6)), err: shapeErr(), msg: "value of shape [2,6] does not fit the replaced part of shape [2,7]"},
		{name: "indices", op: on(SetSelect, column, ref(I64), ref(F32, 2, 6)), err: shapeErr(), msg: "indices of shape [] are not a list"},
		{name: "dtype", op: on(ScatterAdd, column, ref(I64, 7), ref(I64, 2, 7)), err: dtypeErr(), msg: "operands 0 and 2 differ in dtype: f32 and i64"},
		{name: "none", op: on(ScatterAdd, column, ref(I64, 0), ref(F32, 2, 0)), shape: old.Shape, dtype: F32},
	})
}

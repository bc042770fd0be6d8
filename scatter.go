package sinter

import "github.com/sinter-ml/sinter/ir"

// ScatterMode is how updates join what is there.
type ScatterMode = ir.ScatterMode

// The modes. Updates count in the row-major order of the values, so of equal
// indices the last assigned wins and sums have one order.
const (
	Assign     = ir.Assign
	ScatterSum = ir.ScatterSum
	ScatterMul = ir.ScatterMul
	ScatterMin = ir.ScatterMin
	ScatterMax = ir.ScatterMax
)

// SliceAssign returns t with u in the place of a part, given as in
// [Tensor.Slice].
func (t *Tensor) SliceAssign(u *Tensor, ranges ...Range) *Tensor {
	op := ir.Operation{Kind: ir.SliceAssign, PC: caller(2)}
	in, err := resolve(&op, t.val().Shape(), ranges, []*Tensor{t, u})
	if err != nil {
		return t.fail(op, err)
	}
	return record(op, in)
}

// SelectAssign returns t with the slices of an axis at indices (rank 1, i64)
// replaced by those of u or combined with them. An index outside the axis is an
// *IndexError at the read.
func (t *Tensor) SelectAssign(axis int, indices, u *Tensor, mode ScatterMode) *Tensor {
	return apply(ir.Operation{Kind: ir.SelectAssign, Attrs: ir.Attrs{Axes: []int{axis}, Mode: mode}}, t, indices, u)
}

// Scatter returns t with, for each element of indices (i64, of t's rank), the
// element there along an axis, at the same place otherwise, replaced by the
// element of u, which has the shape of indices, or combined with it.
func (t *Tensor) Scatter(axis int, indices, u *Tensor, mode ScatterMode) *Tensor {
	return apply(ir.Operation{Kind: ir.Scatter, Attrs: ir.Attrs{Axes: []int{axis}, Mode: mode}}, t, indices, u)
}

// ScatterND returns t with, for each list of k indices along the last axis of
// indices (i64), the element or part there replaced by that of u, of shape
// indices.Shape()[:-1] ++ t.Shape()[k:], or combined with it.
func (t *Tensor) ScatterND(indices, u *Tensor, mode ScatterMode) *Tensor {
	return apply(ir.Operation{Kind: ir.ScatterND, Attrs: ir.Attrs{Mode: mode}}, t, indices, u)
}

// GatherND returns, for each list of k indices along the last axis of indices
// (i64), the element or part of t there: shape indices.Shape()[:-1] ++
// t.Shape()[k:].
func (t *Tensor) GatherND(indices *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.GatherND}, t, indices)
}

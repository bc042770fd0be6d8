package sinter

import "github.com/sinter-ml/sinter/ir"

// Order says how elements are sorted. Sorting is stable in both directions, so
// equal elements keep their first order; NaN is greatest and zeros of both signs
// are equal.
type Order bool

// The orders.
const (
	Ascending  Order = false
	Descending Order = true
)

func order(kind ir.Kind, axis, k int, o Order) ir.Operation {
	return ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: []int{axis}, N: k, Reverse: bool(o)}}
}

// Sort returns the elements sorted along an axis. Any dtype but 8-bit floats.
func (t *Tensor) Sort(axis int, o Order) *Tensor { return apply(order(ir.Sort, axis, 0, o), t) }

// ArgSort returns the positions (i64) along an axis of the elements in order.
func (t *Tensor) ArgSort(axis int, o Order) *Tensor { return apply(order(ir.ArgSort, axis, 0, o), t) }

// TopK returns the first k elements in order along an axis: the k greatest, if
// the order is Descending.
func (t *Tensor) TopK(axis, k int, o Order) *Tensor { return apply(order(ir.TopK, axis, k, o), t) }

// ArgTopK returns the positions (i64) of what TopK returns.
func (t *Tensor) ArgTopK(axis, k int, o Order) *Tensor {
	return apply(order(ir.ArgTopK, axis, k, o), t)
}

// SortWith returns the elements sorted along an axis and their positions (i64):
// [Tensor.Sort] and [Tensor.ArgSort] with one sorting.
func (t *Tensor) SortWith(axis int, o Order) (elements, positions *Tensor) {
	return t.ordered(compoundOf(t), order(ir.ArgSort, axis, 0, o))
}

// TopKWith returns the first k elements in order along an axis and their
// positions (i64): [Tensor.TopK] and [Tensor.ArgTopK] with one sorting.
func (t *Tensor) TopKWith(axis, k int, o Order) (elements, positions *Tensor) {
	return t.ordered(compoundOf(t), order(ir.ArgTopK, axis, k, o))
}

// ordered takes the elements at the positions that op finds.
func (t *Tensor) ordered(c compound, op ir.Operation) (elements, positions *Tensor) {
	positions = c.op(op, t)
	return c.op(ir.Operation{Kind: ir.Gather, Attrs: ir.Attrs{Axes: op.Attrs.Axes}}, t, positions), positions
}

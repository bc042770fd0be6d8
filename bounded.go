package sinter

import (
	"errors"
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// Shapes are known when an operation is recorded, so what finds a number of
// elements returns a fixed number of places and how many of them count.

// MaskedSelect returns the elements of t where mask (bool, broadcasting) is
// true, in row-major order, as n elements, and how many there are (i64, rank
// 0). Places beyond hold fill; elements beyond n are left out.
func (t *Tensor) MaskedSelect(mask *Tensor, n int, fill float64) (elements, count *Tensor) {
	c := compoundOf(t, mask)
	if bad := c.bounded("MaskedSelect", n, t, mask); bad != nil {
		return bad, bad
	}
	shape, err := broadcast(t, mask)
	if err == nil && mask.DType() != Bool {
		err = &DTypeError{Msg: fmt.Sprintf("mask is %v, want bool", mask.DType())}
	}
	if err != nil {
		bad := c.fail("MaskedSelect", t, err)
		return bad, bad
	}
	return c.compact(c.flat(c.expand(t, shape)), c.flat(c.expand(mask, shape)), n, fill)
}

// broadcast returns the shape two tensors broadcast to.
func broadcast(t, u *Tensor) (Shape, error) {
	op := ir.Operation{Kind: ir.Equal, Inputs: []ir.TensorRef{{Shape: t.val().Shape(), DType: Bool}, {Shape: u.val().Shape(), DType: Bool}}}
	if err := op.Check(); err != nil {
		return nil, errors.Unwrap(err)
	}
	return op.Outputs[0].Shape, nil
}

// bounded is refuse, of a number of places too that cannot be.
func (c compound) bounded(name string, n int, in ...*Tensor) *Tensor {
	if bad := c.refuse(name, in...); bad != nil {
		return bad
	}
	if n < 0 || n >= ir.MaxElements {
		return c.fail(name, in[0], &ArgumentError{Msg: fmt.Sprintf("%d is no number of elements", n)})
	}
	return nil
}

func (c compound) flat(t *Tensor) *Tensor {
	return c.reshape(t, Shape{t.val().Shape().NumElements()})
}

// compact moves the kept elements of a list to its front: each to the number
// of kept ones before it, what is not kept or too far to a place behind the end.
func (c compound) compact(t, keep *Tensor, n int, fill float64) (elements, count *Tensor) {
	for _, x := range []*Tensor{t, keep} {
		if x.Err() != nil {
			return x, x
		}
	}
	ones := c.cast(keep, I64)
	place := c.op(scan(ir.CumSum, 0, ScanOptions{Exclusive: true}), ones)
	behind := c.full(I64, float64(n))
	fits := c.op(ir.Operation{Kind: ir.And}, keep, c.op(ir.Operation{Kind: ir.Less}, place, behind))
	place = c.op(ir.Operation{Kind: ir.Where}, fits, place, behind)
	to := c.full(t.DType(), fill, n+1)
	all := c.op(ir.Operation{Kind: ir.Scatter, Attrs: ir.Attrs{Axes: []int{0}}}, to, place, t)
	return c.part(all, 0, 0, n), c.reshape(c.reduce(ir.Sum, ones, 0), Shape{})
}

// Nonzero returns the coordinates of the elements that are not 0, in row-major
// order, as n rows [n, rank] (i64), and how many there are (i64, rank 0). Rows
// beyond hold −1; elements beyond n are left out.
func (t *Tensor) Nonzero(n int) (coordinates, count *Tensor) {
	c := compoundOf(t)
	if bad := c.bounded("Nonzero", n, t); bad != nil {
		return bad, bad
	}
	shape := t.val().Shape()
	at, count := c.compact(c.count(shape.NumElements(), 0, 1), c.flat(c.cast(t, Bool)), n, -1)
	columns := make([]*Tensor, len(shape))
	none := c.op(ir.Operation{Kind: ir.Less}, at, c.full(I64, 0))
	stride := 1
	for axis := len(shape) - 1; axis >= 0; axis-- {
		d := max(shape[axis], 1)
		x := c.scalar(ir.Fmod, c.scalar(ir.Div, at, float64(stride)), float64(d))
		columns[axis] = c.reshape(c.op(ir.Operation{Kind: ir.Where}, none, at, x), Shape{n, 1})
		stride *= d
	}
	if len(columns) == 0 {
		return c.full(I64, 0, n, 0), count
	}
	return c.cat(1, columns...), count
}

// Unique returns the different elements of t in ascending order, as n elements,
// and how many there are (i64, rank 0). Places beyond hold fill; elements
// beyond n are left out. Each NaN counts, and zeros of both signs are one.
func (t *Tensor) Unique(n int, fill float64) (elements, count *Tensor) {
	c := compoundOf(t)
	if bad := c.bounded("Unique", n, t); bad != nil {
		return bad, bad
	}
	sorted := c.op(order(ir.Sort, 0, 0, Ascending), c.flat(t))
	total := t.val().Shape().NumElements()
	if total == 0 {
		return c.full(t.DType(), fill, n), c.full(I64, 0)
	}
	changed := c.op(ir.Operation{Kind: ir.NotEqual}, c.part(sorted, 0, 1, total-1), c.part(sorted, 0, 0, total-1))
	return c.compact(sorted, c.cat(0, c.full(Bool, 1, 1), changed), n, fill)
}

// OneHot returns, for class numbers t (i64), a last axis of so many classes
// that is 1 at the number and 0 elsewhere. A number that is no class is an
// *IndexError at the read.
func (t *Tensor) OneHot(classes int, dtype DType) *Tensor {
	c := compoundOf(t)
	if bad := c.bounded("OneHot", classes, t); bad != nil {
		return bad
	}
	shape := append(t.val().Shape().Clone(), 1)
	index := c.reshape(t, shape)
	to := shape.Clone()
	to[len(to)-1] = classes
	return c.op(ir.Operation{Kind: ir.Scatter, Attrs: ir.Attrs{Axes: []int{len(to) - 1}}},
		c.full(dtype, 0, to...), index, c.full(dtype, 1, shape...))
}

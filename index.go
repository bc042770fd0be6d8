package sinter

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// Range is part of an axis; see [All], [Span], [SpanStep], [Index], [SpanAt].
type Range struct {
	start, end, step int
	all              bool
	dynamic          bool // start is read from at
	at               *Tensor
	length           int
}

// All is the whole axis.
func All() Range { return Range{all: true, step: 1} }

// Span is the elements from start up to end, which is not among them.
// Negative positions count from the end of the axis.
func Span(start, end int) Range { return Range{start: start, end: end, step: 1} }

// SpanFrom is the elements from start to the end of the axis.
func SpanFrom(start int) Range { return Range{start: start, step: 1, length: -1} }

// SpanStep is every step-th element from start up to end. With a negative
// step it goes down from end−1 to start.
func SpanStep(start, end, step int) Range { return Range{start: start, end: end, step: step} }

// Index is the one element at i; the axis keeps length 1.
func Index(i int) Range { return Range{start: i, step: 1, length: 1} }

// SpanAt is n elements from a start that is read from a rank-0 i64 tensor when
// the operation runs. A start that leaves the axis is an *IndexError at the
// read.
func SpanAt(start *Tensor, n int) Range { return Range{dynamic: true, at: start, step: 1, length: n} }

// resolve turns ranges into those of an operation on a tensor of the given
// shape. Axes without a range are taken whole. It appends tensors that hold
// starts to in.
func resolve(op *ir.Operation, shape Shape, ranges []Range, in []*Tensor) ([]*Tensor, error) {
	if len(ranges) > len(shape) {
		return in, &ShapeError{Msg: fmt.Sprintf("%d ranges for shape %v", len(ranges), shape)}
	}
	for i, n := range shape {
		r := All()
		if i < len(ranges) {
			r = ranges[i]
		}
		switch {
		case r.dynamic:
			op.Ranges = append(op.Ranges, ir.Range{Len: r.length, Step: 1, Input: uint8(len(in))})
			in = append(in, r.at)
			continue
		case r.all:
			op.Ranges = append(op.Ranges, ir.Range{Len: n, Step: 1})
			continue
		case r.step == 0:
			return in, &ArgumentError{Msg: fmt.Sprintf("axis %d: step 0", i)}
		}
		start, end := r.start, r.end
		if start < 0 {
			start += n
		}
		switch {
		case r.length == 1:
			end = start + 1
		case r.length == -1:
			end = n
		case end < 0:
			end += n
		}
		if start < 0 || end > n || start > end {
			return in, &IndexError{Msg: fmt.Sprintf("axis %d of length %d: range %d to %d", i, n, r.start, end)}
		}
		step := r.step
		count := 0
		if start < end {
			count = (end-start-1)/abs(step) + 1
		}
		if step < 0 {
			start = end - 1
		}
		if count == 0 {
			start = 0
		}
		if count <= 1 {
			step = 1
		}
		op.Ranges = append(op.Ranges, ir.Range{Start: start, Len: count, Step: step})
	}
	return in, nil
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// Slice returns a part of t: one range for each axis, missing ones taking the
// axis whole.
func (t *Tensor) Slice(ranges ...Range) *Tensor {
	op := ir.Operation{Kind: ir.Slice, PC: caller(2)}
	in, err := resolve(&op, t.val().Shape(), ranges, []*Tensor{t})
	if err != nil {
		return t.fail(op, err)
	}
	return record(op, in)
}

// Narrow returns n elements from start along an axis; a negative start counts
// from the end.
func (t *Tensor) Narrow(axis, start, n int) *Tensor {
	op := ir.Operation{Kind: ir.Slice, PC: caller(2)}
	a, err := axisOf(axis, t.Rank())
	if err != nil {
		return t.fail(op, err)
	}
	shape := t.val().Shape()
	first := start
	if first < 0 {
		first += shape[a]
	}
	if first < 0 || n < 0 || n > shape[a] || first > shape[a]-n {
		return t.fail(op, &IndexError{Msg: fmt.Sprintf("axis %d of length %d: %d elements from %d", a, shape[a], n, start)})
	}
	op.Ranges = make([]ir.Range, len(shape))
	for i, d := range shape {
		op.Ranges[i] = ir.Range{Len: d, Step: 1}
	}
	op.Ranges[a] = ir.Range{Len: n, Step: 1}
	if n > 0 {
		op.Ranges[a].Start = first
	}
	return record(op, []*Tensor{t})
}

// Select returns the elements of t at indices (rank 1, i64) along an axis,
// PyTorch's index_select. An index outside the axis is an *IndexError at the
// read.
func (t *Tensor) Select(axis int, indices *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.Select, Attrs: ir.Attrs{Axes: []int{axis}}}, t, indices)
}

// Gather returns, at each place of indices (i64, of t's rank), the element of
// t at the same place but for the given axis, where the index says.
func (t *Tensor) Gather(axis int, indices *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.Gather, Attrs: ir.Attrs{Axes: []int{axis}}}, t, indices)
}

// Embedding returns the rows of t, a matrix [n,d], at indices (i64, any
// shape): shape indices.Shape() ++ [d].
func (t *Tensor) Embedding(indices *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.Embedding}, t, indices)
}

package sinter

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// Reshape returns the elements in row-major order under another shape. One
// length may be −1 and is then what the others leave.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	op := ir.Operation{Kind: ir.Reshape, PC: caller(2), Attrs: ir.Attrs{Shape: append(Shape{}, shape...)}}
	if err := inferLength(op.Attrs.Shape, t.val().Shape()); err != nil {
		return t.fail(op, err)
	}
	return record(op, []*Tensor{t})
}

// inferLength replaces the one length −1 of to.
func inferLength(to, from Shape) error {
	at := -1
	rest := 1
	for i, d := range to {
		switch {
		case d == -1 && at >= 0:
			return &ShapeError{Msg: fmt.Sprintf("shape %v has more than one length −1", to)}
		case d == -1:
			at = i
		default:
			rest *= d
		}
	}
	if at < 0 {
		return nil
	}
	n := from.NumElements()
	if rest <= 0 || n%rest != 0 {
		return &ShapeError{Msg: fmt.Sprintf("%d elements of shape %v do not fill shape %v", n, from, to)}
	}
	to[at] = n / rest
	return nil
}

// Flatten returns t with the axes from start to end (inclusive) made one.
func (t *Tensor) Flatten(start, end int) *Tensor {
	op := ir.Operation{Kind: ir.Reshape, PC: caller(2)}
	s := t.val().Shape()
	from, err1 := axisOf(start, len(s))
	to, err2 := axisOf(end, len(s))
	if err1 != nil || err2 != nil || from > to {
		return t.fail(op, &ShapeError{Msg: fmt.Sprintf("axes %d to %d of rank %d", start, end, len(s))})
	}
	op.Attrs.Shape = append(append(s[:from:from], s[from:to+1].NumElements()), s[to+1:]...)
	return record(op, []*Tensor{t})
}

func axisOf(axis, rank int) (int, error) {
	a := axis
	if a < 0 {
		a += rank
	}
	if a < 0 || a >= rank {
		return 0, &ShapeError{Msg: fmt.Sprintf("axis %d of rank %d", axis, rank)}
	}
	return a, nil
}

// Permute returns t with axis i of the result being axes[i] of t.
func (t *Tensor) Permute(axes ...int) *Tensor {
	return apply(ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: append([]int{}, axes...)}}, t)
}

// Transpose returns t with two axes exchanged.
func (t *Tensor) Transpose(a, b int) *Tensor {
	op := ir.Operation{Kind: ir.Permute, PC: caller(2)}
	rank := t.Rank()
	x, err1 := axisOf(a, rank)
	y, err2 := axisOf(b, rank)
	if err1 != nil {
		return t.fail(op, err1)
	}
	if err2 != nil {
		return t.fail(op, err2)
	}
	op.Attrs.Axes = make([]int, rank)
	for i := range op.Attrs.Axes {
		op.Attrs.Axes[i] = i
	}
	op.Attrs.Axes[x], op.Attrs.Axes[y] = y, x
	return record(op, []*Tensor{t})
}

// T returns t with its last two axes exchanged.
func (t *Tensor) T() *Tensor {
	op := ir.Operation{Kind: ir.Permute, PC: caller(2)}
	rank := t.Rank()
	if rank < 2 {
		return t.fail(op, &ShapeError{Msg: fmt.Sprintf("transposing needs two axes, shape %v has %d", t.val().Shape(), rank)})
	}
	op.Attrs.Axes = make([]int, rank)
	for i := range op.Attrs.Axes {
		op.Attrs.Axes[i] = i
	}
	op.Attrs.Axes[rank-2], op.Attrs.Axes[rank-1] = rank-1, rank-2
	return record(op, []*Tensor{t})
}

// Expand returns t broadcast to a shape by NumPy's rules; −1 keeps a length.
func (t *Tensor) Expand(shape ...int) *Tensor {
	to := append(Shape{}, shape...)
	from := t.val().Shape()
	off := len(to) - len(from)
	for i, d := range to {
		if d == -1 && i >= off {
			to[i] = from[i-off]
		}
	}
	return apply(ir.Operation{Kind: ir.Expand, Attrs: ir.Attrs{Shape: to}}, t)
}

// Squeeze returns t without the given axes, which must have length 1; without
// any, without all axes of length 1.
func (t *Tensor) Squeeze(axes ...int) *Tensor {
	op := ir.Operation{Kind: ir.Reshape, PC: caller(2)}
	s := t.val().Shape()
	drop := make([]bool, len(s))
	for i, d := range s {
		drop[i] = len(axes) == 0 && d == 1
	}
	for _, a := range axes {
		i, err := axisOf(a, len(s))
		if err == nil && s[i] != 1 {
			err = &ShapeError{Msg: fmt.Sprintf("axis %d of shape %v has not length 1", a, s)}
		}
		if err != nil {
			return t.fail(op, err)
		}
		drop[i] = true
	}
	op.Attrs.Shape = Shape{}
	for i, d := range s {
		if !drop[i] {
			op.Attrs.Shape = append(op.Attrs.Shape, d)
		}
	}
	return record(op, []*Tensor{t})
}

// Unsqueeze returns t with an axis of length 1 put in at a position of the
// result.
func (t *Tensor) Unsqueeze(axis int) *Tensor {
	op := ir.Operation{Kind: ir.Reshape, PC: caller(2)}
	s := t.val().Shape()
	at, err := axisOf(axis, len(s)+1)
	if err != nil {
		return t.fail(op, err)
	}
	op.Attrs.Shape = append(append(append(Shape{}, s[:at]...), 1), s[at:]...)
	return record(op, []*Tensor{t})
}

// Flip returns t reversed along the axes, all of them if none is given.
func (t *Tensor) Flip(axes ...int) *Tensor {
	return apply(over(ir.Flip, axes), t)
}

// Unfold returns the windows of size elements, step apart, of an axis: the axis
// counts them, and their elements are a last axis. It is a view.
func (t *Tensor) Unfold(axis, size, step int) *Tensor {
	return apply(ir.Operation{Kind: ir.Unfold, Attrs: ir.Attrs{Axes: []int{axis}, Ints: []int{size, step}}}, t)
}

// Diagonal returns the elements whose coordinate along axis b is that along
// axis a plus offset, as a last axis in place of both. It is a view.
func (t *Tensor) Diagonal(offset, a, b int) *Tensor {
	return apply(ir.Operation{Kind: ir.Diagonal, Attrs: ir.Attrs{Axes: []int{a, b}, N: offset}}, t)
}

// Cat joins tensors of one dtype along an axis.
func Cat(axis int, ts ...*Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.Cat, Attrs: ir.Attrs{Axes: []int{axis}}}, ts...)
}

// Stack joins tensors of one shape along a new axis.
func Stack(axis int, ts ...*Tensor) *Tensor {
	pc := caller(2)
	up := make([]*Tensor, len(ts))
	for i, t := range ts {
		if t == nil {
			continue
		}
		s := t.val().Shape()
		at, err := axisOf(axis, len(s)+1)
		if err != nil {
			return t.fail(ir.Operation{Kind: ir.Cat, PC: pc}, err)
		}
		op := ir.Operation{Kind: ir.Reshape, PC: pc}
		op.Attrs.Shape = append(append(append(Shape{}, s[:at]...), 1), s[at:]...)
		up[i] = record(op, []*Tensor{t})
	}
	return record(ir.Operation{Kind: ir.Cat, PC: pc, Attrs: ir.Attrs{Axes: []int{axis}}}, up)
}

// Repeat returns t repeated a number of times along each axis.
func (t *Tensor) Repeat(times ...int) *Tensor {
	return apply(ir.Operation{Kind: ir.Repeat, Attrs: ir.Attrs{Ints: append([]int{}, times...)}}, t)
}

// Pad returns t with low and high elements of value added at the ends of each
// axis: pads holds low and high of the first axis, then of the next, as
// NumPy's pad_width does and unlike PyTorch's pad, which starts at the last.
// Negative counts crop. value is exact for i64 tensors up to ±2⁵³.
func (t *Tensor) Pad(value float64, pads ...int) *Tensor {
	return t.applyScalars(ir.Operation{Kind: ir.Pad, Attrs: ir.Attrs{Ints: append([]int{}, pads...)}}, value)
}

// PadTensor is [Tensor.Pad] with a value that a tensor of rank 0 and of t's
// dtype holds.
func (t *Tensor) PadTensor(value *Tensor, pads ...int) *Tensor {
	return t.applyHeld(ir.Operation{Kind: ir.Pad, Attrs: ir.Attrs{Ints: append([]int{}, pads...)}}, []*Tensor{t}, value)
}

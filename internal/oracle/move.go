package oracle

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// evalReshape keeps the row-major order of the elements.
func evalReshape(c *call) (Tensor, error) {
	out := c.x[0].Clone()
	out.Shape = c.op.Attrs.Shape.Clone()
	if out.Shape.NumElements() != c.x[0].Len() {
		return Tensor{}, &ir.ShapeError{Msg: "reshape changes the number of elements"}
	}
	return out, nil
}

// build returns a tensor of shape whose element at an index is the element of
// x at the index from gives.
func build(x Tensor, shape ir.Shape, from func(index []int) []int) Tensor {
	out := New(x.DType, shape)
	each(shape, func(pos int, index []int) {
		out.setFrom(pos, x, offset(x.Shape, from(index)))
	})
	return out
}

// evalPermute makes output axis i input axis Axes[i].
func evalPermute(c *call) (Tensor, error) {
	x, axes := c.x[0], c.op.Attrs.Axes
	shape := make(ir.Shape, len(axes))
	for i, a := range axes {
		shape[i] = x.Shape[a]
	}
	return build(x, shape, func(index []int) []int {
		src := make([]int, len(index))
		for i, a := range axes {
			src[a] = index[i]
		}
		return src
	}), nil
}

func evalExpand(c *call) (Tensor, error) { return c.x[0].expand(c.op.Attrs.Shape), nil }

// evalSlice takes Len elements from Start, Step apart, of each axis.
func evalSlice(c *call) (Tensor, error) {
	starts, err := c.starts()
	if err != nil {
		return Tensor{}, err
	}
	ranges := c.op.Ranges
	return build(c.x[0], rangeShape(ranges), func(index []int) []int {
		return sliced(ranges, starts, index)
	}), nil
}

func rangeShape(ranges []ir.Range) ir.Shape {
	shape := make(ir.Shape, len(ranges))
	for k, r := range ranges {
		shape[k] = r.Len
	}
	return shape
}

// sliced maps an index of a slice to one of the whole.
func sliced(ranges []ir.Range, starts, index []int) []int {
	src := make([]int, len(index))
	for k := range index {
		src[k] = starts[k] + index[k]*ranges[k].Step
	}
	return src
}

// evalFlip reverses the order along the axes.
func evalFlip(c *call) (Tensor, error) {
	x := c.x[0]
	return build(x, x.Shape, func(index []int) []int {
		src := slices.Clone(index)
		for _, a := range c.op.Attrs.Axes {
			src[a] = x.Shape[a] - 1 - index[a]
		}
		return src
	}), nil
}

// evalCat lays the operands one after another along the axis.
func evalCat(c *call) (Tensor, error) {
	axis := c.axis()
	shape := c.x[0].Shape.Clone()
	shape[axis] = 0
	for _, t := range c.x {
		shape[axis] += t.Shape[axis]
	}
	out := New(c.x[0].DType, shape)
	first := 0
	for _, t := range c.x {
		each(t.Shape, func(pos int, index []int) {
			at := slices.Clone(index)
			at[axis] += first
			out.setFrom(offset(shape, at), t, pos)
		})
		first += t.Shape[axis]
	}
	return out, nil
}

// evalRepeat lays the whole tensor Ints[k] times along each axis k.
func evalRepeat(c *call) (Tensor, error) {
	x := c.x[0]
	shape := x.Shape.Clone()
	for k, times := range c.op.Attrs.Ints {
		shape[k] *= times
	}
	return build(x, shape, func(index []int) []int {
		src := make([]int, len(index))
		for k := range index {
			src[k] = index[k] % x.Shape[k]
		}
		return src
	}), nil
}

// evalPad adds Ints[2k] elements before and Ints[2k+1] after axis k, equal to
// the scalar; negative widths crop.
func evalPad(c *call) (Tensor, error) {
	x, widths := c.x[0], c.op.Attrs.Ints
	shape := x.Shape.Clone()
	for k := range shape {
		shape[k] += widths[2*k] + widths[2*k+1]
	}
	fill := cast(c.scalar(0, x.DType.Compute()), x.DType, true)
	out := New(x.DType, shape)
	each(shape, func(pos int, index []int) {
		src := make([]int, len(index))
		for k := range index {
			src[k] = index[k] - widths[2*k]
			if src[k] < 0 || src[k] >= x.Shape[k] {
				out.setFrom(pos, fill, 0)
				return
			}
		}
		out.setFrom(pos, x, offset(x.Shape, src))
	})
	return out, nil
}

// evalUnfold makes windows of an axis: element j of window i is element
// i·step + j, and windows become a last axis.
func evalUnfold(c *call) (Tensor, error) {
	x, axis := c.x[0], c.axis()
	size, step := c.op.Attrs.Ints[0], c.op.Attrs.Ints[1]
	shape := append(x.Shape.Clone(), size)
	shape[axis] = (x.Shape[axis]-size)/step + 1
	return build(x, shape, func(index []int) []int {
		src := slices.Clone(index[:len(index)-1])
		src[axis] = index[axis]*step + index[len(index)-1]
		return src
	}), nil
}

// evalDiagonal takes the elements whose coordinates along two axes, (i, j),
// have j − i = offset, in rising order, as a last axis.
func evalDiagonal(c *call) (Tensor, error) {
	x, rows, columns, offset := c.x[0], c.op.Attrs.Axes[0], c.op.Attrs.Axes[1], c.op.Attrs.N
	var at [][2]int
	for i := range x.Shape[rows] {
		if j := i + offset; j >= 0 && j < x.Shape[columns] {
			at = append(at, [2]int{i, j})
		}
	}
	var shape ir.Shape
	for a, d := range x.Shape {
		if a != rows && a != columns {
			shape = append(shape, d)
		}
	}
	return build(x, append(shape, len(at)), func(index []int) []int {
		src := make([]int, 0, len(x.Shape))
		rest := index
		for a := range x.Shape {
			switch a {
			case rows:
				src = append(src, at[index[len(index)-1]][0])
			case columns:
				src = append(src, at[index[len(index)-1]][1])
			default:
				src = append(src, rest[0])
				rest = rest[1:]
			}
		}
		return src
	}), nil
}

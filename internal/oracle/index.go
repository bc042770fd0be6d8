package oracle

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// evalSelect takes the slices of an axis that a list of indices names.
func evalSelect(c *call) (Tensor, error) {
	x, list, axis := c.x[0], c.x[1], c.axis()
	shape := x.Shape.Clone()
	shape[axis] = list.Len()
	return c.read(shape, func(at []int) ([]int, error) {
		i, err := index(list.I[at[axis]], x.Shape[axis])
		src := slices.Clone(at)
		src[axis] = i
		return src, err
	})
}

// evalGather takes, for each element of indices, the element of x at the same
// position with the axis replaced by it.
func evalGather(c *call) (Tensor, error) {
	x, indices, axis := c.x[0], c.x[1], c.axis()
	return c.read(indices.Shape, func(at []int) ([]int, error) {
		i, err := index(indices.I[offset(indices.Shape, at)], x.Shape[axis])
		src := slices.Clone(at)
		src[axis] = i
		return src, err
	})
}

// evalEmbedding takes the rows of a matrix that indices of any shape name.
func evalEmbedding(c *call) (Tensor, error) {
	weight, indices := c.x[0], c.x[1]
	shape := append(indices.Shape.Clone(), weight.Shape[1])
	return c.read(shape, func(at []int) ([]int, error) {
		last := len(at) - 1
		row, err := index(indices.I[offset(indices.Shape, at[:last])], weight.Shape[0])
		return []int{row, at[last]}, err
	})
}

// read builds a tensor of shape from the elements of x[0] at the indices from
// gives.
func (c *call) read(shape ir.Shape, from func(at []int) ([]int, error)) (Tensor, error) {
	x := c.x[0]
	out := New(x.DType, shape)
	var failed error
	each(shape, func(pos int, at []int) {
		src, err := from(at)
		if err != nil {
			if failed == nil {
				failed = err
			}
			return
		}
		out.setFrom(pos, x, offset(x.Shape, src))
	})
	return out, failed
}

// evalSet is a Var's new value.
func evalSet(c *call) (Tensor, error) { return c.x[1].Clone(), nil }

// evalSetSlice replaces a slice.
func evalSetSlice(c *call) (Tensor, error) {
	starts, err := c.starts()
	if err != nil {
		return Tensor{}, err
	}
	out, value := c.x[0].Clone(), c.x[1]
	each(value.Shape, func(pos int, at []int) {
		out.setFrom(offset(out.Shape, sliced(c.op.Ranges, starts, at)), value, pos)
	})
	return out, nil
}

// evalSetSelect replaces the slices at a list of indices, in order: the last
// of equal indices stays.
func evalSetSelect(c *call) (Tensor, error) {
	out, value := c.x[0].Clone(), c.x[2]
	err := c.write(func(to, from int) { out.setFrom(to, value, from) })
	return out, err
}

// evalScatterAdd adds slices at a list of indices in logical order. BF16 adds
// in float32 and rounds each element once, at the end.
func evalScatterAdd(c *call) (Tensor, error) {
	out, value := c.x[0].Clone(), c.x[2]
	err := c.write(func(to, from int) {
		if out.DType.IsFloat() {
			out.F[to] += value.F[from]
		} else {
			out.I[to] += value.I[from]
		}
	})
	return cast(out, out.DType), err
}

// write calls f with the position of x[0] that each element of the value x[2]
// goes to, in the row-major order of the value.
func (c *call) write(f func(to, from int)) error {
	old, list, value, axis := c.x[0], c.x[1], c.x[2], c.axis()
	var failed error
	each(value.Shape, func(pos int, at []int) {
		i, err := index(list.I[at[axis]], old.Shape[axis])
		if err != nil {
			if failed == nil {
				failed = err
			}
			return
		}
		to := slices.Clone(at)
		to[axis] = i
		f(offset(old.Shape, to), pos)
	})
	return failed
}

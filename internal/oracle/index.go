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

// evalGatherND takes, for each list along the last axis of indices, the
// element, or the part, at these coordinates of the first axes.
func evalGatherND(c *call) (Tensor, error) {
	x, indices := c.x[0], c.x[1]
	k := indices.Shape[len(indices.Shape)-1]
	shape := append(indices.Shape[:len(indices.Shape)-1].Clone(), x.Shape[k:]...)
	return c.read(shape, func(at []int) ([]int, error) { return listed(x.Shape, indices, at) })
}

// listed returns the index that a list of indices names: at is an index of the
// lists, followed by one of the part.
func listed(shape ir.Shape, indices Tensor, at []int) ([]int, error) {
	lists := len(indices.Shape) - 1
	out := make([]int, 0, len(shape))
	for i := range indices.Shape[lists] {
		n, err := index(indices.I[offset(indices.Shape, append(slices.Clone(at[:lists]), i))], shape[i])
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return append(out, at[lists:]...), nil
}

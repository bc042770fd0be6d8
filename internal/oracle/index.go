package oracle

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// evalSelect takes the slices of an axis that a list of indices names.
func evalSelect(c *call) (Tensor, error) {
	shape := c.x[0].Shape.Clone()
	shape[c.axis()] = c.x[1].Len()
	return c.read(shape, c.ofList)
}

// evalGather takes, for each element of indices, the element of x at the same
// position with the axis replaced by it.
func evalGather(c *call) (Tensor, error) { return c.read(c.x[1].Shape, c.ofEach) }

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
	lists := c.x[1].Shape
	last := len(lists) - 1
	return c.read(append(lists[:last].Clone(), c.x[0].Shape[lists[last]:]...), c.ofLists)
}

// The ways in which indices, x[1], name an element of x[0]: what is read from
// there, or written to there, has the index at.

// ofList: the index along the axis counts in a list.
func (c *call) ofList(at []int) ([]int, error) { return c.along(at, at[c.axis()]) }

// ofEach: each element has an index along the axis.
func (c *call) ofEach(at []int) ([]int, error) { return c.along(at, offset(c.x[1].Shape, at)) }

// along replaces the axis of an index by the indices' element i.
func (c *call) along(at []int, i int) ([]int, error) {
	axis := c.axis()
	n, err := index(c.x[1].I[i], c.x[0].Shape[axis])
	out := slices.Clone(at)
	out[axis] = n
	return out, err
}

// ofLists: each list has the first coordinates of an element or a part, and what
// follows in at is an index of the part.
func (c *call) ofLists(at []int) ([]int, error) {
	shape, indices := c.x[0].Shape, c.x[1]
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

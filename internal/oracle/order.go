package oracle

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// evalOrder sorts along an axis: NaN is greatest, zeros of both signs are
// equal, and equal elements keep their order, descending too. TopK and ArgTopK
// keep the first; ArgSort and ArgTopK give positions.
func evalOrder(c *call) (Tensor, error) {
	x, axis, kind := c.x[0], c.axis(), c.op.Kind
	shape := x.Shape.Clone()
	if kind == ir.TopK || kind == ir.ArgTopK {
		shape[axis] = c.op.Attrs.N
	}
	positions := kind == ir.ArgSort || kind == ir.ArgTopK
	out := New(x.DType, shape)
	if positions {
		out = New(ir.I64, shape)
	}
	_, from := groups(x.Shape, []int{axis})
	_, to := groups(shape, []int{axis})
	for n, line := range from {
		order := make([]int, len(line))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int {
			if c.op.Attrs.Reverse {
				i, j = j, i
			}
			switch {
			case x.sortsBefore(line[i], line[j]):
				return -1
			case x.sortsBefore(line[j], line[i]):
				return 1
			}
			return 0
		})
		for k, p := range to[n] {
			if positions {
				out.I[p] = int64(order[k])
			} else {
				out.setFrom(p, x, line[order[k]])
			}
		}
	}
	return out, nil
}

// sortsBefore is below with NaN above all.
func (t Tensor) sortsBefore(p, q int) bool {
	if isFloat(t.DType) && (t.F[p] != t.F[p] || t.F[q] != t.F[q]) {
		return t.F[p] == t.F[p]
	}
	return t.below(p, q)
}

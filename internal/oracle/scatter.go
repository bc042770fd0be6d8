package oracle

import "github.com/sinter-ml/sinter/ir"

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

// evalSetSelect replaces, or joins to, the slices of an axis at a list of
// indices.
func evalSetSelect(c *call) (Tensor, error) { return c.write(c.ofList) }

// evalScatter replaces, or joins to, for each element of indices the element
// there along an axis.
func evalScatter(c *call) (Tensor, error) { return c.write(c.ofEach) }

// evalScatterND replaces, or joins to, the elements or parts that lists of
// indices name.
func evalScatterND(c *call) (Tensor, error) { return c.write(c.ofLists) }

// write puts each element of the value x[2], in row-major order, to the index
// of x[0] that place gives: the last of equal indices stays, or all are joined
// one after another by the mode. A 16-bit float joins in float32 and is rounded
// once, at the end. When an index is out of range nothing is written.
func (c *call) write(place func(at []int) ([]int, error)) (Tensor, error) {
	out, value := c.x[0].Clone(), c.x[2]
	mode := c.op.Attrs.Mode
	if c.op.Kind == ir.ScatterAdd {
		mode = ir.ScatterSum
	}
	var failed error
	each(value.Shape, func(pos int, at []int) {
		index, err := place(at)
		if err != nil {
			if failed == nil {
				failed = err
			}
			return
		}
		to := offset(out.Shape, index)
		switch {
		case mode == ir.Assign:
			out.setFrom(to, value, pos)
		case isFloat(out.DType):
			out.F[to] = joinFloat(mode, arith{c.compute()}, out.F[to], value.F[pos])
		default:
			out.I[to] = joinInt(joins[mode], out.DType, out.I[to], value.I[pos])
		}
	})
	for i, v := range out.F {
		out.F[i] = round(out.DType, v)
	}
	return out, failed
}

// joins are the reductions the modes of a scatter are.
var joins = map[ir.ScatterMode]ir.Kind{ir.ScatterSum: ir.Sum, ir.ScatterMul: ir.Prod, ir.ScatterMin: ir.Min, ir.ScatterMax: ir.Max}

func joinFloat(mode ir.ScatterMode, a arith, x, y float64) float64 {
	switch mode {
	case ir.ScatterSum:
		return a.add(x, y)
	case ir.ScatterMul:
		return a.mul(x, y)
	case ir.ScatterMin:
		return minimum(x, y)
	}
	return maximum(x, y)
}

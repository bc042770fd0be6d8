package fuser

import (
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// rarer records one of the kinds programs have fewer of on x, or a few that
// belong together; some chooses axes.
func (g *generator) rarer(x ir.TensorRef, some func() []int) {
	rank := len(x.Shape)
	if rank == 0 {
		return
	}
	axis := g.r.IntN(rank)
	n := x.Shape[axis]
	numbers, float := ir.Numbers.Has(x.DType), isFloat(x)
	whole := make([]ir.Range, rank)
	for i, length := range x.Shape {
		whole[i] = ir.Range{Len: length, Step: 1}
	}
	switch g.r.IntN(13) {
	case 12:
		times := make([]int, rank)
		for i := range times {
			times[i] = 1
		}
		if times[axis] = g.r.IntN(4); x.Shape.NumElements() <= 50 {
			g.add(g.op(ir.Repeat, x, ints(times...)))
		}
	case 0: // scans
		if kinds := []ir.Kind{ir.CumSum, ir.CumMax, ir.CumProd}; numbers {
			y := g.op(kinds[g.r.IntN(3)], x, axes(axis), option(func(o *ir.Operation) { o.Attrs.Reverse = g.r.IntN(2) == 0 }))
			g.add(y)
			if float {
				g.add(g.op(ir.Abs, y))
			}
		}
	case 1: // sorts
		g.add(g.op([]ir.Kind{ir.Sort, ir.ArgSort}[g.r.IntN(2)], x, axes(axis)))
	case 2:
		g.add(g.op([]ir.Kind{ir.TopK, ir.ArgTopK}[g.r.IntN(2)], x, axes(axis), number(g.r.IntN(n+1)), reverse()))
	case 3: // windows and diagonals
		size := 1 + g.r.IntN(n)
		g.add(g.op(ir.Unfold, x, axes(axis), ints(size, 1+g.r.IntN(3))))
	case 4:
		if rank > 1 {
			g.add(g.op(ir.Diagonal, x, axes(axis, (axis+1)%rank), number(g.r.IntN(3)-1)))
		}
	case 5: // a slice assigned
		part := x.Shape.Clone()
		part[axis] = 1 + g.r.IntN(n)
		whole[axis] = ir.Range{Start: g.r.IntN(n - part[axis] + 1), Len: part[axis], Step: 1}
		if g.r.IntN(3) == 0 {
			whole[axis] = ir.Range{Start: part[axis] - 1, Len: part[axis], Step: -1}
		}
		g.add(g.op(ir.SliceAssign, x, g.in(random(x.DType, part)), ranges(whole...)))
	case 6: // scatters
		at := g.in(oracle.Ints(ir.Shape{2}, g.r.Int64N(int64(n)), g.r.Int64N(int64(n))))
		part := x.Shape.Clone()
		part[axis] = 2
		mode := ir.Assign
		if numbers {
			mode = ir.ScatterMode(g.r.IntN(5))
		}
		g.add(g.op(ir.SelectAssign, x, at, g.in(random(x.DType, part)), axes(axis), option(func(o *ir.Operation) { o.Attrs.Mode = mode })))
	case 7: // lists of indices
		lists := g.in(oracle.Ints(ir.Shape{3, 1}, g.r.Int64N(int64(x.Shape[0])), 0, g.r.Int64N(int64(x.Shape[0]))))
		g.add(g.op(ir.GatherND, x, lists))
	case 8: // reductions of several kinds over one set of axes
		if a := some(); float {
			g.add(g.op(ir.LogSumExp, x, axes(a...)))
			g.add(g.op(ir.Std, x, axes(a...), number(1)))
			g.add(g.op(ir.ArgMax, x, axes(a...)))
		}
	case 9:
		if float && rank > 1 {
			y := g.op(ir.GroupNorm, x, number(1), f(1e-3))
			g.add(y)
			g.add(g.op(ir.Mish, y))
		}
	case 10: // a weight made from a narrower one, a product, a map
		if k := x.Shape[rank-1]; float {
			w := g.op(ir.Cast, g.in(random(ir.I8, ir.Shape{k, 3})), to(x.DType))
			w = g.op(ir.Mul, w, g.in(random(x.DType, ir.Shape{3})))
			if k%2 == 0 {
				w = g.op(ir.Mul, g.op(ir.Reshape, w, shape(k/2, 2, 3)), g.in(random(x.DType, ir.Shape{k / 2, 1, 1})))
				w = g.op(ir.Reshape, w, shape(k, 3))
			}
			y := g.op(ir.MatMul, x, w)
			g.add(y)
			g.add(g.op(ir.Elu, y, f(0.5)))
		}
	default:
		if float {
			g.add(g.op(ir.SiluBackward, x, x))
			g.add(g.op(ir.Softplus, x))
		}
	}
}

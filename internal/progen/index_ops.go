package progen

import "github.com/sinter-ml/sinter/ir"

// indexable returns a tensor with an axis that is not empty.
func (g *generator) indexable(dtypes ir.DTypeSet) (x ir.TensorRef, axis int, ok bool) {
	x = g.tensor(dtypes, 1)
	axis = g.src.intn(len(x.Shape))
	return x, axis, x.Shape[axis] > 0
}

// indices returns a tensor whose values lie in [0, n): an input that is used
// as nothing but indices, random integers, or numbers clamped to the range.
func (g *generator) indices(shape ir.Shape, n int) ir.TensorRef {
	switch g.src.intn(4) {
	case 0:
		if out, ok := g.draw(ir.RandInt, shape, []ir.Scalar{ir.I64Scalar(0), ir.I64Scalar(int64(n))}); ok {
			return out
		}
	case 1:
		if out, ok := g.apply(ir.Clamp, func(o *ir.Operation) {
			o.Scalars = []ir.Scalar{ir.I64Scalar(0), ir.I64Scalar(int64(n - 1))}
		}, g.like(ir.I64, shape)); ok {
			return out
		}
	case 2:
		if g.indexInputs[len(shape)].Shape.Equal(shape) && g.indexInputs[len(shape)].ID != 0 {
			return g.indexInputs[len(shape)]
		}
	}
	ref := g.input(ir.I64, shape)
	g.indexInputs[len(shape)] = ref
	return ref
}

func (g *generator) index() {
	switch pick(g, ir.Select, ir.Gather, ir.Embedding) {
	case ir.Select:
		if x, axis, ok := g.indexable(ir.AnyDType); ok {
			list := g.indices(ir.Shape{g.length()}, x.Shape[axis])
			g.apply(ir.Select, func(o *ir.Operation) { o.Attrs.Axes = []int{axis} }, x, list)
		}
	case ir.Gather:
		if x, axis, ok := g.indexable(ir.AnyDType); ok {
			shape := x.Shape.Clone()
			for a, d := range shape {
				if a == axis {
					shape[a] = g.length()
				} else if d > 0 && g.src.intn(3) == 0 {
					shape[a] = 1 + g.src.intn(d)
				}
			}
			if shape.NumElements() > g.options.MaxElements {
				return
			}
			list := g.indices(shape, x.Shape[axis])
			g.apply(ir.Gather, func(o *ir.Operation) { o.Attrs.Axes = []int{axis} }, x, list)
		}
	case ir.Embedding:
		weight, ok := g.find(func(t ir.TensorRef) bool { return len(t.Shape) == 2 && t.Shape[0] > 0 })
		if !ok {
			weight = g.fresh(g.number(), ir.Shape{1 + g.src.intn(9), g.length()})
		}
		shape := g.shape(0)
		for len(shape) > 3 || shape.NumElements()*max(1, weight.Shape[1]) > g.options.MaxElements {
			shape = shape[:len(shape)-1]
		}
		g.apply(ir.Embedding, nil, weight, g.indices(shape, weight.Shape[0]))
	}
}

// effect writes to a Var. Views of the old version may be taken before, and
// old and new version both stay at hand for later operations.
func (g *generator) effect() {
	if len(g.vars) == 0 || len(g.vars) < 3 && g.src.intn(4) == 0 {
		ref := g.define(g.number(), g.shape(0))
		g.program.Vars = append(g.program.Vars, ref)
		g.vars = append(g.vars, ref)
	}
	at := g.src.intn(len(g.vars))
	old := g.vars[at]
	if g.src.intn(2) == 0 {
		g.oneView(old)
	}
	if next, ok := g.update(old); ok {
		g.vars[at] = next
		if g.src.intn(2) == 0 {
			g.oneView(next)
		}
	}
}

func (g *generator) update(old ir.TensorRef) (ir.TensorRef, bool) {
	kind := pick(g, ir.Set, ir.SetSlice, ir.SetSelect, ir.ScatterAdd)
	switch kind {
	case ir.Set:
		return g.apply(ir.Set, nil, old, g.like(old.DType, old.Shape))
	case ir.SetSlice:
		// The starts come behind the value, the value's shape from the ranges.
		in := []ir.TensorRef{old, {}}
		ranges := g.ranges(old.Shape, &in)
		part := make(ir.Shape, len(ranges))
		for i, r := range ranges {
			part[i] = r.Len
		}
		in[1] = g.like(old.DType, part)
		return g.apply(ir.SetSlice, func(o *ir.Operation) { o.Ranges = ranges }, in...)
	}
	if len(old.Shape) == 0 {
		return ir.TensorRef{}, false
	}
	axis := g.src.intn(len(old.Shape))
	part := old.Shape.Clone()
	part[axis] = min(g.length(), 9)
	if old.Shape[axis] == 0 || part.NumElements() > g.options.MaxElements {
		return ir.TensorRef{}, false
	}
	list := g.indices(ir.Shape{part[axis]}, old.Shape[axis])
	return g.apply(kind, func(o *ir.Operation) { o.Attrs.Axes = []int{axis} }, old, list, g.like(old.DType, part))
}

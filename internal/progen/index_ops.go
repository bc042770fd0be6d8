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
	switch g.src.intn(5) {
	case 0:
		if out, ok := g.draw(ir.RandInt, ir.I64, shape, []ir.Scalar{ir.I64Scalar(0), ir.I64Scalar(int64(n))}); ok {
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
	case 3: // from a narrower type
		if narrow, ok := g.draw(ir.RandInt, g.dtype(ir.Ints), shape, []ir.Scalar{ir.I64Scalar(0), ir.I64Scalar(int64(min(n, 100)))}); ok {
			if out, ok := g.castTo(narrow, ir.I64); ok {
				return out
			}
		}
	}
	ref := g.input(ir.I64, shape)
	g.indexInputs[len(shape)] = ref
	return ref
}

func (g *generator) index() {
	switch pick(g, ir.Select, ir.Gather, ir.Embedding, ir.GatherND) {
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
			weight = g.fresh(g.dtype(ir.AnyDType), ir.Shape{1 + g.src.intn(9), g.length()})
		}
		shape := g.shape(0)
		for len(shape) > 3 || shape.NumElements()*max(1, weight.Shape[1]) > g.options.MaxElements {
			shape = shape[:len(shape)-1]
		}
		g.apply(ir.Embedding, nil, weight, g.indices(shape, weight.Shape[0]))
	case ir.GatherND:
		x := g.tensor(ir.AnyDType, 1)
		if lists, ok := g.lists(x.Shape); ok {
			g.apply(ir.GatherND, nil, x, lists)
		}
	}
}

// lists returns lists of indices into the first axes of a shape, of one length
// for all: no index may leave the shortest axis.
func (g *generator) lists(shape ir.Shape) (ir.TensorRef, bool) {
	k := 1 + g.src.intn(min(len(shape), 3))
	if g.chance(g.options.Empty) {
		k = 0
	}
	n := g.options.MaxLength
	for _, d := range shape[:k] {
		n = min(n, d)
	}
	if n == 0 {
		return ir.TensorRef{}, false
	}
	lists := g.shape(0)
	each := max(1, k) * max(1, shape[k:].NumElements())
	for len(lists) > 2 || len(lists) > 0 && lists.NumElements()*each > g.options.MaxElements {
		lists = lists[:len(lists)-1]
	}
	return g.indices(append(lists, k), n), true
}

// scatter replaces or joins parts of a tensor.
func (g *generator) scatter() {
	kind := pick(g, ir.SliceAssign, ir.SelectAssign, ir.Scatter, ir.ScatterND)
	mode := pick(g, ir.Assign, ir.ScatterSum, ir.ScatterSum, ir.ScatterMul, ir.ScatterMin, ir.ScatterMax)
	x := g.tensor(ir.AnyDType, 1)
	if !ir.Numbers.Has(x.DType) {
		mode = ir.Assign
	}
	switch kind {
	case ir.SliceAssign:
		g.setSlice(kind, x)
	case ir.ScatterND:
		lists, ok := g.lists(x.Shape)
		if !ok {
			return
		}
		last := len(lists.Shape) - 1
		part := append(lists.Shape[:last].Clone(), x.Shape[lists.Shape[last]:]...)
		g.apply(kind, func(o *ir.Operation) { o.Attrs.Mode = mode }, x, lists, g.like(x.DType, part))
	default:
		axis := g.src.intn(len(x.Shape))
		part := x.Shape.Clone()
		part[axis] = min(g.length(), 9)
		if x.Shape[axis] == 0 || part.NumElements() > g.options.MaxElements {
			return
		}
		shape := ir.Shape{part[axis]}
		if kind == ir.Scatter {
			for a, d := range part {
				if a != axis && d > 0 && g.src.intn(3) == 0 {
					part[a] = 1 + g.src.intn(d)
				}
			}
			shape = part
		}
		list := g.indices(shape, x.Shape[axis])
		g.apply(kind, func(o *ir.Operation) { o.Attrs.Axes, o.Attrs.Mode = []int{axis}, mode }, x, list, g.like(x.DType, part))
	}
}

// setSlice replaces a slice by a value.
func (g *generator) setSlice(kind ir.Kind, old ir.TensorRef) (ir.TensorRef, bool) {
	// The starts come behind the value, the value's shape from the ranges.
	in := []ir.TensorRef{old, {}}
	ranges := g.ranges(old.Shape, &in)
	part := make(ir.Shape, len(ranges))
	for i, r := range ranges {
		part[i] = r.Len
	}
	in[1] = g.like(old.DType, part)
	return g.apply(kind, func(o *ir.Operation) { o.Ranges = ranges }, in...)
}

// effect writes to a Var. Views of the old version may be taken before, and
// old and new version both stay at hand for later operations.
func (g *generator) effect() {
	if len(g.vars) == 0 || len(g.vars) < 3 && g.src.intn(4) == 0 {
		ref := g.define(g.dtype(ir.AnyDType), g.shape(0))
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
		return g.setSlice(ir.SetSlice, old)
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

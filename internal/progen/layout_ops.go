package progen

import "github.com/sinter-ml/sinter/ir"

// view records one to three views of each other.
func (g *generator) view() {
	x := g.tensor(ir.AnyDType, 0)
	for range 1 + g.src.intn(3) {
		out, ok := g.oneView(x)
		if !ok {
			return
		}
		x = out
	}
}

func (g *generator) oneView(x ir.TensorRef) (ir.TensorRef, bool) {
	rank := len(x.Shape)
	switch pick(g, ir.Reshape, ir.Reshape, ir.Permute, ir.Permute, ir.Permute, ir.Expand, ir.Slice, ir.Slice, ir.Slice, ir.Flip, ir.Unfold, ir.Diagonal) {
	case ir.Reshape:
		return g.apply(ir.Reshape, func(o *ir.Operation) { o.Attrs.Shape = g.reshaped(x.Shape) }, x)
	case ir.Permute:
		return g.apply(ir.Permute, func(o *ir.Operation) { o.Attrs.Axes = g.permutation(rank) }, x)
	case ir.Expand:
		return g.apply(ir.Expand, func(o *ir.Operation) { o.Attrs.Shape = g.expanded(x.Shape) }, x)
	case ir.Slice:
		return g.slice(x)
	case ir.Unfold:
		if rank == 0 {
			return x, false
		}
		return g.apply(ir.Unfold, func(o *ir.Operation) {
			axis := g.src.intn(rank)
			o.Attrs.Axes = []int{axis}
			o.Attrs.Ints = []int{1 + g.src.intn(max(1, min(x.Shape[axis], 4))), 1 + g.src.intn(3)}
		}, x)
	case ir.Diagonal:
		if rank < 2 {
			return x, false
		}
		return g.apply(ir.Diagonal, func(o *ir.Operation) {
			o.Attrs.Axes = g.permutation(rank)[:2]
			rows, columns := x.Shape[o.Attrs.Axes[0]], x.Shape[o.Attrs.Axes[1]]
			o.Attrs.N = g.src.intn(min(rows, 3)+min(columns, 3)+1) - min(rows, 3)
			o.Attrs.N = max(min(o.Attrs.N, columns-1), 1-rows)
		}, x)
	}
	return g.apply(ir.Flip, func(o *ir.Operation) { o.Attrs.Axes = g.axes(rank) }, x)
}

// reshaped returns a shape with the same number of elements: two axes merged,
// one split, or a 1 put in.
func (g *generator) reshaped(shape ir.Shape) ir.Shape {
	out := shape.Clone()
	if len(out) > 1 && (len(out) >= g.options.MaxRank || g.src.intn(2) == 0) {
		at := g.src.intn(len(out) - 1)
		out[at] *= out[at+1]
		return append(out[:at+1], out[at+2:]...)
	}
	at := g.src.intn(len(out) + 1)
	left := 1
	if at < len(out) {
		for _, d := range []int{2, 3, 5, 7} {
			if out[at]%d == 0 && out[at] > 0 {
				left, out[at] = d, out[at]/d
				break
			}
		}
	}
	out = append(out, 0)
	copy(out[at+1:], out[at:])
	out[at] = left
	return out
}

func (g *generator) permutation(rank int) []int {
	axes := make([]int, rank)
	for i := range axes {
		j := g.src.intn(i + 1)
		axes[i] = axes[j]
		axes[j] = i
	}
	return axes
}

// expanded stretches length-1 axes or adds leading ones.
func (g *generator) expanded(shape ir.Shape) ir.Shape {
	out := shape.Clone()
	for i, d := range out {
		if d == 1 {
			out[i] = 1 + g.src.intn(4)
		}
	}
	if len(out) < g.options.MaxRank && g.src.intn(2) == 0 {
		out = append(ir.Shape{1 + g.src.intn(3)}, out...)
	}
	return out
}

// slice takes a range of each axis, at times from a start that is an operand.
func (g *generator) slice(x ir.TensorRef) (ir.TensorRef, bool) {
	in := []ir.TensorRef{x}
	ranges := g.ranges(x.Shape, &in)
	return g.apply(ir.Slice, func(o *ir.Operation) { o.Ranges = ranges }, in...)
}

// ranges returns ranges that fit shape; starts that are operands are appended
// to in.
func (g *generator) ranges(shape ir.Shape, in *[]ir.TensorRef) []ir.Range {
	ranges := make([]ir.Range, len(shape))
	for axis, length := range shape {
		r := ir.Range{Len: length, Step: 1}
		if length > 0 && g.src.intn(2) == 0 {
			r.Step = pick(g, 1, 1, 2, 3, -1, -2)
			most := (length-1)/max(r.Step, -r.Step) + 1
			r.Len = 1 + g.src.intn(most)
			limit := startLimits(r, length)
			if g.src.intn(8) == 0 {
				r.Input = uint8(len(*in))
				// An input of its own: no other use may narrow its values.
				*in = append(*in, g.input(ir.I64, ir.Shape{}))
			} else {
				r.Start = limit.low + g.src.intn(limit.high-limit.low+1)
			}
		}
		ranges[axis] = r
	}
	return ranges
}

func (g *generator) move() {
	x := g.tensor(ir.AnyDType, 0)
	rank := len(x.Shape)
	switch pick(g, ir.Cat, ir.Repeat, ir.Pad) {
	case ir.Cat:
		if rank == 0 {
			return
		}
		axis := g.src.intn(rank)
		in := []ir.TensorRef{x}
		for range 1 + g.src.intn(3) {
			shape := x.Shape.Clone()
			if g.src.intn(2) == 0 {
				shape[axis] = g.length()
			}
			if shape.NumElements() <= g.options.MaxElements {
				in = append(in, g.like(x.DType, shape))
			}
		}
		g.apply(ir.Cat, func(o *ir.Operation) { o.Attrs.Axes = []int{axis} }, in...)
	case ir.Repeat:
		g.apply(ir.Repeat, func(o *ir.Operation) {
			for range rank {
				o.Attrs.Ints = append(o.Attrs.Ints, pick(g, 1, 1, 2, 3))
			}
		}, x)
	case ir.Pad:
		g.apply(ir.Pad, func(o *ir.Operation) {
			for _, d := range x.Shape {
				o.Attrs.Ints = append(o.Attrs.Ints, g.src.intn(4)-min(1, d/2), g.src.intn(4)-min(1, d/2))
			}
			o.Scalars = []ir.Scalar{g.scalar(x.DType)}
		}, x)
	}
}

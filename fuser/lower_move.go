package fuser

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// moveRecipes lowers the kinds that rearrange elements and are no views.
func moveRecipes() map[ir.Kind]recipe {
	return map[ir.Kind]recipe{ir.Cat: lowerCat, ir.Pad: lowerPad, ir.Slice: lowerDynamicSlice, ir.SliceAssign: lowerSliceAssign, ir.Repeat: lowerRepeat}
}

// aligned returns the path of a tensor whose axes are those of the output, but
// maybe of other lengths, so that it is read inside a window only.
func (c *context) aligned(t ir.TensorID) path {
	src := c.g.shape(t)
	if c.whole() {
		return walk(src, c.space, upTo(len(src)))
	}
	return c.p.prepend(step{kind: stepMap, src: src, dst: c.g.shape(c.out), axes: upTo(len(src))})
}

// lowerCat reads each operand inside its own window; an operand's fill is what
// the operands before it gave.
func lowerCat(c *context) (codegen.Value, error) {
	a := c.op.Attrs.Axes[0]
	axis, err := c.axis(a)
	if err != nil {
		return 0, err
	}
	v := c.constant(c.at, c.outDType().Compute(), 0)
	w := Window{Axis: axis}
	for _, in := range c.op.Inputs {
		w.Len = c.g.shape(in.ID)[a]
		if v, err = c.loadAt(in.ID, c.aligned(in.ID), nil, []Window{w}, v); err != nil {
			return 0, err
		}
		w.Sum = append(slices.Clone(w.Sum), w.Len)
	}
	return v, nil
}

// lowerPad reads the operand inside the window that is left of it; negative
// widths move the window beyond the output.
func lowerPad(c *context) (codegen.Value, error) {
	fill, err := c.scalar(0)
	if err != nil {
		return 0, err
	}
	fill = c.done(fill)
	x := c.op.Inputs[0].ID
	windows := []Window{}
	for i, length := range c.g.shape(x) {
		low, high := c.op.Attrs.Ints[2*i], c.op.Attrs.Ints[2*i+1]
		if low == 0 && high == 0 {
			continue
		}
		axis, err := c.axis(i)
		if err != nil {
			return 0, err
		}
		windows = append(windows, Window{Axis: axis, Const: low, Len: length})
	}
	if len(windows) == 0 {
		return c.value(x, c.p, c.at)
	}
	return c.loadAt(x, c.aligned(x), nil, windows, fill)
}

// lowerSliceAssign reads the value inside the window of the ranges; the fill is
// x's value.
func lowerSliceAssign(c *context) (codegen.Value, error) {
	x, err := c.operand(0)
	if err != nil {
		return 0, err
	}
	value := c.op.Inputs[1].ID
	part := c.g.shape(value)
	p := c.aligned(value)
	windows := []Window{}
	var back []int
	for i := range c.op.Ranges {
		if c.op.Ranges[i].Step < 0 && part[i] != unit {
			back = append(back, i)
		}
		if !c.g.keepsSome(c.op, i) {
			continue
		}
		axis, err := c.axis(i)
		if err != nil {
			return 0, err
		}
		windows = append(windows, Window{Axis: axis, Len: part[i], Op: c.pos, Range: i + 1})
	}
	if len(back) > 0 {
		p = p.prepend(step{kind: stepFlip, src: part, dst: part, axes: back})
	}
	if len(windows) == 0 { // all of x
		return c.value(value, p, c.at)
	}
	return c.loadAt(value, p, nil, windows, x)
}

// keepsSome reports whether a SliceAssign leaves some of axis i as it is.
func (g *Graph) keepsSome(op *ir.Operation, i int) bool {
	return g.shape(op.Inputs[1].ID)[i] != g.shape(op.Inputs[0].ID)[i]
}

// lowerDynamicSlice picks elements start + coordinate·step along each axis
// whose start is a tensor; the other axes are a view.
func lowerDynamicSlice(c *context) (codegen.Value, error) {
	p, index, err := c.sliced(c.op.Inputs[0].ID, c.p, c.coordOf)
	if err != nil {
		return 0, err
	}
	return c.loadAt(c.op.Inputs[0].ID, p, index, nil, 0)
}

// sliced returns the path of tensor t, whose part the operation's ranges name
// has the shape of c.out, p leading on from that part, and the index values of the axes whose
// start is a tensor. coordOf gives the coordinate inside the slice.
func (c *context) sliced(t ir.TensorID, p path, coordOf func(axis int) (codegen.Value, error)) (path, []codegen.Value, error) {
	shape := slices.Clone(c.g.shape(t))
	part := c.g.shape(c.out)
	axes := make([]int, 0, len(shape))
	var dynamic []int
	var index []codegen.Value
	for i := range c.op.Ranges {
		r := &c.op.Ranges[i]
		if r.Input == 0 {
			axes = append(axes, i)
			shape[i] = part[i]
			continue
		}
		axes = append(axes, -1)
		dynamic = append(dynamic, i)
		v, err := c.rankZero(c.op.Inputs[r.Input].ID)
		if err != nil {
			return nil, nil, err
		}
		k, err := coordOf(i)
		if err != nil {
			return nil, nil, err
		}
		index = append(index, c.fn(ir.SAdd, v, c.fn(ir.SMul, k, c.i64(int64(r.Step)))))
	}
	for _, i := range dynamic {
		lifted, ok := p.lift(c.g.shape(t)[i])
		if !ok {
			return nil, nil, &Refusal{RuleWindowBehindView, fmt.Sprintf("axis %d of %v", i, c.op.Kind)}
		}
		p = lifted
	}
	pick := step{kind: stepMap, src: shape, axes: append(axes, dynamic...), dst: slices.Clone(part)}
	for _, i := range dynamic {
		pick.dst = append(pick.dst, shape[i])
	}
	p = p.prepend(pick)
	if len(dynamic) < len(shape) {
		p = p.prepend(step{kind: stepSlice, src: c.g.shape(t), dst: shape, op: c.pos})
	}
	return p, index, nil
}

// lowerRepeat reads the operand broadcast along one more axis before each
// repeated one. Strides cannot join the two again, so the space must have both
// (repeatSpace).
func lowerRepeat(c *context) (codegen.Value, error) {
	x := c.op.Inputs[0].ID
	space, axes := repeatSpace(c.g, c.op, c.derive)
	p := c.p.prepend(step{kind: stepReshape, src: space, dst: c.g.shape(c.out)})
	return c.value(x, p.prepend(step{kind: stepMap, src: c.g.shape(x), dst: space, axes: axes}), c.at)
}

// repeatSpace returns the output's shape with each repeated axis split into
// repetitions and elements, and for each axis of it the operand's axis or -1.
func repeatSpace(g *Graph, op *ir.Operation, derive func(Derived) Dim) (space []Dim, axes []int) {
	for i, length := range g.shape(op.Inputs[0].ID) {
		if times := op.Attrs.Ints[i]; times != 1 {
			space, axes = append(space, derive(Derived{Factor: times, Num: unit, Den: unit})), append(axes, -1)
		}
		space, axes = append(space, length), append(axes, i)
	}
	return space, axes
}

package fuser

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// effectValue returns the operand of an effect that holds what is written.
func effectValue(op *ir.Operation) ir.TensorID {
	if op.Kind == ir.SetSelect || op.Kind == ir.ScatterAdd {
		return op.Inputs[2].ID
	}
	return op.Inputs[1].ID
}

// indexedEffect reports whether an effect's place is known from values only,
// so that it needs the Scatter template.
func indexedEffect(op *ir.Operation) bool {
	for i := range op.Ranges {
		if op.Ranges[i].Input != 0 {
			return true
		}
	}
	return op.Kind == ir.SetSelect || op.Kind == ir.ScatterAdd
}

// effect writes the value of an effect, whose own elements p lays along the
// space, to the new version.
func (l *lowering) effect(pos int, p path) error {
	op := &l.g.Ops[pos]
	value := effectValue(op)
	v, err := l.placed(value, p)
	if err != nil {
		return err
	}
	t := l.g.output(pos)
	// Effects are placed relative to the value they write.
	c := &context{lowering: l, op: op, pos: pos, out: value, p: p}
	switch {
	case op.Kind == ir.Set:
		l.store(t, p, v)
	case !indexedEffect(op):
		l.store(t, p.prepend(step{kind: stepSlice, src: l.g.shape(t), dst: l.g.shape(value), op: pos}), v)
	case op.Kind == ir.SetSlice:
		at, index, err := c.sliced(t, p, c.coordOf)
		if err != nil {
			return err
		}
		l.scatter(t, at, v, index, ir.Assign)
	default:
		at, index, err := c.selected(t)
		if err != nil {
			return err
		}
		mode := ir.Assign
		if op.Kind == ir.ScatterAdd {
			mode = ir.ScatterSum
		}
		l.scatter(t, at, v, []codegen.Value{index}, mode)
	}
	return nil
}

// selected returns the path of the new version with the effect's axis indexed,
// and the index value.
func (c *context) selected(t ir.TensorID) (path, codegen.Value, error) {
	axis := c.op.Attrs.Axes[0]
	src, value := c.g.shape(t), c.g.shape(c.out)
	axes, along := upTo(len(value)), make([]int, len(value))
	for i := range along {
		along[i] = -1
	}
	axes[axis], along[axis] = -1, 0
	list := c.op.Inputs[1].ID
	index, err := c.value(list, c.p.prepend(step{kind: stepMap, src: c.g.shape(list), dst: value, axes: along}), c.at)
	if err != nil {
		return nil, 0, err
	}
	p, ok := c.p.lift(src[axis])
	if !ok {
		return nil, 0, &Refusal{RuleWindowBehindView, fmt.Sprintf("axis %d of %v", axis, c.op.Kind)}
	}
	dst := append(append([]Dim(nil), value...), src[axis])
	return p.prepend(step{kind: stepMap, src: src, dst: dst, axes: append(axes, axis)}), index, nil
}

// scatter joins v to what is where the index values say.
func (l *lowering) scatter(t ir.TensorID, p path, v codegen.Value, index []codegen.Value, mode ir.ScatterMode) {
	use := codegen.Out
	if mode != ir.Assign {
		use = codegen.InOut
	}
	a := l.bind(t, p, nil, use)
	l.kernel.Stores = append(l.kernel.Stores, codegen.Store{Access: a, Value: v, Index: index, Mode: mode})
}

package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// updateOf returns the operand of an effect, or of a kind that changes a part of
// a copy, that holds what is written.
func updateOf(op *ir.Operation) ir.TensorID {
	switch op.Kind {
	case ir.Set, ir.SetSlice, ir.SliceAssign:
		return op.Inputs[1].ID
	}
	return op.Inputs[2].ID
}

// writesByIndex reports whether the places an operation writes are known from
// values only, so that it needs the Scatter template.
func writesByIndex(op *ir.Operation) bool {
	switch op.Kind {
	case ir.Set:
		return false
	case ir.SetSlice, ir.SliceAssign:
		return slices.ContainsFunc(op.Ranges, func(r ir.Range) bool { return r.Input != 0 })
	}
	return true
}

// mode returns how an operation's value joins what is there.
func mode(op *ir.Operation) ir.ScatterMode {
	if op.Kind == ir.ScatterAdd {
		return ir.ScatterSum
	}
	return op.Attrs.Mode
}

// effect writes the value of an operation, whose own elements p lays along the
// space, to the new version of a Var or to a copy made before.
func (l *lowering) effect(pos int, p path) error {
	op := &l.g.Ops[pos]
	value := updateOf(op)
	v, err := l.placed(value, p)
	if err != nil {
		return err
	}
	t := l.g.output(pos)
	if !writesByIndex(op) {
		if op.Kind != ir.Set {
			p = p.prepend(step{kind: stepSlice, src: l.g.shape(t), dst: l.g.shape(value), op: pos})
		}
		l.store(t, p, v)
		return nil
	}
	// What is written is placed relative to the value.
	c := &context{lowering: l, op: op, pos: pos, out: value, p: p}
	var at path
	var index []codegen.Value
	if op.Kind == ir.SetSlice || op.Kind == ir.SliceAssign {
		at, index, err = c.sliced(t, p, c.coordOf)
	} else {
		at, index, err = c.pick(l.g.shape(t))
	}
	if err != nil {
		return err
	}
	if len(index) == 0 { // lists of no indices: every update is of the whole
		at, _ = at.lift(unit)
		index = []codegen.Value{c.i64(0)}
	}
	l.scatter(t, at, v, index, mode(op))
	return nil
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

// changesCopy reports whether an operation is a copy of operand 0 with a part
// written over, and no element of it can be computed on its own.
func changesCopy(op *ir.Operation) bool {
	return ir.Lookup(op.Kind).Class == ir.ClassScatter || op.Kind == ir.SliceAssign && !readable(op)
}

// readable reports whether a SliceAssign is a choice at each element between x
// and the value at a place strides can express.
func readable(op *ir.Operation) bool {
	return !slices.ContainsFunc(op.Ranges, func(r ir.Range) bool {
		return r.Input != 0 || r.Step != 1 && r.Step != -1 && r.Len != 1
	})
}

// change lowers an operation that changes a copy into two calls: the copy, which
// is not needed where the output takes the storage of the operand, and the
// writing.
func (b *builder) change(pos int) (*Optimization, error) {
	op := &b.g.Ops[pos]
	x, t := op.Inputs[0].ID, b.g.output(pos)
	o := &Optimization{Fuser: b.name, Ops: []int{pos}, Stored: []ir.TensorID{t}}

	l := &lowering{g: b.g}
	l.space, l.outer = b.g.shape(t), len(b.g.shape(t))
	l.store(t, identity(l.space), l.load(x, identity(l.space), codegen.Element))
	b.finish(l, o, "Copy")
	o.Calls[0].Copies = true

	l = &lowering{g: b.g}
	if err := l.effect(pos, l.frame(pos)); err != nil {
		return nil, err
	}
	b.finish(l, o, b.kernelName())
	if !slices.Contains(o.Calls[1].Tensors, x) {
		o.InPlace = []InPlace{{Out: t, In: x}}
	}
	return o, nil
}

// finish adds the kernel of a lowering to an optimization.
func (b *builder) finish(l *lowering, o *Optimization, name string) {
	o.Calls = append(o.Calls, l.finish(name))
	b.account(l, o, &o.Calls[len(o.Calls)-1])
}

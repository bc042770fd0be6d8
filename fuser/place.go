package fuser

import (
	"iter"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// takeView takes a view. One of a computed value has its home where the value
// has, if it can be undone; every other is only a way of reading.
func (b *block) takeView(pos int) Verdict {
	s, _ := b.g.viewStep(pos)
	below := b.g.Ops[pos].Inputs[0].ID
	m, made := b.maker(below)
	switch {
	case made && b.isEffect(m.op):
		return refuse(RuleEffectRead, "tensor %d", below)
	case !made || m.home == nil:
		base, steps := b.below(below)
		if root, ok := b.maker(base); ok && b.g.Remade(root.op) && !b.g.Tensors[b.g.output(pos)].Stored {
			return accepted // nothing reads it from memory
		}
		if !b.g.strided(base, steps.then(identity(s.dst).prepend(s))) {
			return refuse(RuleReshapeStrided, "%v of tensor %d", b.g.Ops[pos].Kind, base)
		}
		for i := range b.members {
			if e := &b.members[i]; b.isEffect(e.op) && !b.keeps(pos, e.op) {
				return refuse(RuleAliasesInPlace, "%v of tensor %d, which is overwritten", b.g.Ops[pos].Kind, base)
			}
		}
		return accepted
	}
	if back, ok := s.inverse(); ok {
		// A dense output must be storable there, too.
		home, dense := m.home.prepend(back), codegen.Contiguous(b.g.Tensors[b.g.output(pos)].Shape)
		if b.g.stridedFrom(dense, home.then(b.tail()), b.derived...) {
			b.now.home = home
		}
		b.now.repeated, b.now.dependent = m.repeated, m.dependent
	}
	return accepted
}

func (b *block) isEffect(pos int) bool {
	return ir.Lookup(b.g.Ops[pos].Kind).Class == ir.ClassEffect
}

// below resolves the block's views under a tensor to the first tensor that is
// computed or external, and returns the steps up from it.
func (b *block) below(t ir.TensorID) (ir.TensorID, path) {
	var steps path
	for {
		pos := b.g.Tensors[t].Producer
		if _, ok := b.maker(t); !ok && pos != b.now.op {
			return t, steps
		}
		s, ok := b.g.viewStep(pos)
		if !ok {
			return t, steps
		}
		steps = append(path{s}, steps...)
		t = b.g.Ops[pos].Inputs[0].ID
	}
}

// takePoint takes an operation whose elements are computed on their own: it
// looks for a home from which every operand is reached where it is computed.
func (b *block) takePoint(pos int) Verdict {
	t := b.g.output(pos)
	shape := b.g.shape(t)
	if b.frame == nil {
		b.frame = shape
	}
	var first *Verdict
	before := *b
	for home := range b.candidates(pos) {
		v := b.settle(pos, home)
		if v.Accepted {
			return v
		}
		*b = before
		if first == nil {
			first = &v
		}
	}
	v := b.grow(pos)
	if v.Accepted || first == nil {
		return v
	}
	*b = before
	return *first
}

// candidates yields the homes an output could have: that of an operand of its
// shape, the frame itself, the rows, and that of any value of its shape.
func (b *block) candidates(pos int) iter.Seq[path] {
	shape := b.g.shape(b.g.output(pos))
	var tried []path
	return func(yield func(path) bool) {
		try := func(p path) bool {
			if slices.ContainsFunc(tried, p.equal) {
				return true
			}
			tried = append(tried, p)
			return yield(p)
		}
		for _, in := range b.g.Ops[pos].Operands() {
			if p, ok := b.home(in.ID); ok && slices.Equal(b.g.shape(in.ID), shape) && !try(p) {
				return
			}
		}
		if slices.Equal(shape, b.frame) && !try(identity(b.frame)) {
			return
		}
		if b.axes != nil && slices.Equal(shape, b.rowShape()) && !try(b.rowHome()) {
			return
		}
		for i := range b.members {
			m := &b.members[i]
			if m.home != nil && !b.isEffect(m.op) && slices.Equal(b.g.shape(b.g.output(m.op)), shape) && !try(m.home) {
				return
			}
		}
	}
}

// settle gives an output its home if every operand can be had there.
func (b *block) settle(pos int, home path) Verdict {
	op := &b.g.Ops[pos]
	v := b.placed(pos, home, b.need)
	if v.Accepted && ir.Lookup(op.Kind).Class == ir.ClassRandom {
		b.pinned = true
		if !home.rowMajor() || len(squeezed(b.frame)) != home[len(home)-1].covered() || !trailing(b.axes, len(b.frame)) {
			v = refuse(RuleRandomPosition, "%v", op.Kind)
		}
	}
	if !v.Accepted {
		return v
	}
	b.now.home, b.now.repeated = home, b.repeatedAt(home)
	for _, in := range op.Inputs {
		base, _ := b.below(in.ID)
		if m, ok := b.maker(base); ok && m.dependent {
			b.now.dependent = true
		}
	}
	if b.rowsOnly && b.now.dependent && !home.equal(b.rowHome()) {
		return refuse(RuleLevel, "%v depends on a reduction and has the size of its operand", op.Kind)
	}
	return b.onChip()
}

// repeatedAt reports whether what is at home there is computed again for each of
// its repetitions in the frame, rows not counted: they have values of their own.
func (b *block) repeatedAt(home path) bool {
	for n, s := range home {
		if s.kind != stepMap {
			continue
		}
		for i, a := range s.axes {
			if a < 0 && s.dst[i] != unit && !(n == len(home)-1 && slices.Contains(b.axes, i)) {
				return true
			}
		}
	}
	return false
}

// placed checks that an operation whose elements are computed on their own can
// be at the end of a path, need saying whether an operand can be had at the end
// of its own.
func (b *block) placed(pos int, home path, need func(t ir.TensorID, p path) Verdict) Verdict {
	op := &b.g.Ops[pos]
	shape := b.g.shape(b.g.output(pos))
	operands := func(from, to int) Verdict {
		for i := from; i < to; i++ {
			if v := need(op.Inputs[i].ID, home.prepend(b.g.operandStep(op, i))); !v.Accepted {
				return v
			}
		}
		return accepted
	}
	own := len(op.Operands())
	var v Verdict
	switch op.Kind {
	case ir.Arange:
		v = b.coordinate(op, home, shape, 0)
	case ir.Cat:
		v = b.moved(pos, home, op.Inputs, op.Attrs.Axes[0])
	case ir.Pad:
		var padded []int
		for i := range shape {
			if op.Attrs.Ints[2*i] != 0 || op.Attrs.Ints[2*i+1] != 0 {
				padded = append(padded, i)
			}
		}
		if len(padded) == 0 {
			v = operands(0, 1)
		} else {
			v = b.moved(pos, home, op.Inputs[:1], padded...)
		}
	case ir.Slice: // with a start that is a tensor
		var dynamic []int
		for i := range op.Ranges {
			if op.Ranges[i].Input != 0 {
				dynamic = append(dynamic, i)
			}
		}
		v = b.moved(pos, home, op.Inputs[:1], dynamic...)
	case ir.SliceAssign:
		var changed []int
		for i := range shape {
			if b.g.keepsSome(op, i) {
				changed = append(changed, i)
			}
		}
		base, _ := b.below(op.Inputs[0].ID)
		if _, made := b.maker(base); made && len(changed) == 0 {
			return refuse(RuleKind, "%v replaces all of tensor %d", op.Kind, base)
		}
		if v = operands(0, 1); v.Accepted {
			v = b.moved(pos, home, op.Inputs[1:2], changed...)
		}
	case ir.Select, ir.Gather, ir.Embedding, ir.GatherND:
		v = b.indexed(pos, home, need)
	default:
		v = operands(0, own)
	}
	if !v.Accepted {
		return v
	}
	return operands(own, len(op.Inputs)) // scalars and starts that are tensors are read everywhere
}

// coordinate checks that an axis of an output is an axis of the frame. One of
// length 1 is found only where the output is the frame.
func (b *block) coordinate(op *ir.Operation, home path, shape []Dim, axis int) Verdict {
	switch {
	case b.split != nil, b.core >= 0 && b.g.Ops[b.core].Kind == ir.GroupNorm:
	case !home.plain():
	case slices.Contains(home.axes(), axis):
		b.lined = true
		return accepted
	case b.free && home.equal(identity(b.frame)) && slices.Equal(shape, b.frame):
		b.pinned = true
		return accepted
	}
	return refuse(RuleWindowBehindView, "axis %d of %v", axis, op.Kind)
}

// moved checks an operation that reads its operands from memory, inside a
// window or at an index along some axes.
func (b *block) moved(pos int, home path, operands []ir.TensorRef, axes ...int) Verdict {
	op := &b.g.Ops[pos]
	shape := b.g.shape(b.g.output(pos))
	for _, axis := range axes {
		if v := b.coordinate(op, home, shape, axis); !v.Accepted {
			return v
		}
	}
	for _, in := range operands {
		if v := b.fromMemory(op, in.ID, b.g.points(shape), RuleIndexedRead); !v.Accepted {
			return v
		}
	}
	return accepted
}

// indexed checks a gather: the indices are values, the tensor lies in memory.
func (b *block) indexed(pos int, home path, need func(ir.TensorID, path) Verdict) Verdict {
	op := &b.g.Ops[pos]
	x, out := op.Inputs[0].ID, b.g.shape(b.g.output(pos))
	how := b.g.picked(op, b.g.shape(x), out)
	if v := b.picks(op, how, out, home); !v.Accepted {
		return v
	}
	for _, list := range how.lists {
		if v := need(op.Inputs[1].ID, list.then(home)); !v.Accepted {
			return v
		}
	}
	return b.fromMemory(op, x, b.g.points(out), RuleIndexedRead)
}

// picks checks that strides can express how a gather whose part is at the end of
// a path reads its tensor: axes the part walks may have to be regrouped with
// those that the indices lead along.
func (b *block) picks(op *ir.Operation, how picks, part []Dim, home path) Verdict {
	x := op.Inputs[0].ID
	at, ok := how.from(b.g.shape(x), part, home.then(b.tail()))
	if !ok {
		return refuse(RuleWindowBehindView, "%v", op.Kind)
	}
	if base, steps := b.below(x); !b.g.strided(base, steps.then(at), b.derived...) {
		return refuse(RuleReshapeStrided, "%v of tensor %d", op.Kind, base)
	}
	return accepted
}

// readable checks that after the frame has changed strides still express how
// everything is read.
func (b *block) readable() Verdict {
	for _, r := range b.reads {
		if r.plain && !b.strided(r.tensor, r.at) {
			return refuse(RuleReshapeStrided, "tensor %d", r.tensor)
		}
	}
	for i := range b.members {
		m := &b.members[i]
		switch op := &b.g.Ops[m.op]; op.Kind {
		case ir.Select, ir.Gather, ir.Embedding, ir.GatherND:
			part := b.g.shape(b.g.output(m.op))
			if m.home == nil {
				continue
			}
			if v := b.picks(op, b.g.picked(op, b.g.shape(op.Inputs[0].ID), part), part, m.home); !v.Accepted {
				return v
			}
		}
	}
	return accepted
}

package fuser

import (
	"fmt"
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
		if home := m.home.prepend(back); b.g.stridedFrom(codegen.Contiguous(b.g.Tensors[b.g.output(pos)].Shape), home) {
			b.now.home = home
		}
		b.now.repeated, b.now.dependent = m.repeated, m.dependent
	}
	return accepted
}

func (b *block) isEffect(pos int) bool {
	return ir.Lookup(b.g.Ops[pos].Kind).Class == ir.ClassEffect
}

// keeps reports whether a view that something outside the block reads lies in
// other memory than an effect of the block overwrites.
func (b *block) keeps(view, effect int) bool {
	t := b.g.output(view)
	return !b.g.overwrites(effect) || !b.needed(t) || !b.g.mayAlias(t, b.g.Ops[effect].Inputs[0].ID)
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
	for _, home := range b.candidates(pos) {
		v := b.settle(pos, home)
		if v.Accepted {
			return v
		}
		*b = before
		if first == nil {
			first = &v
		}
	}
	if b.g.Ops[pos].Kind == ir.Full && first == nil {
		return accepted // it has no place and needs none, unless it must be stored
	}
	v := b.grow(pos)
	if v.Accepted || first == nil {
		return v
	}
	*b = before
	return *first
}

// candidates returns the homes an output could have: that of an operand of its
// shape, the frame itself, the rows, and that of any value of its shape.
func (b *block) candidates(pos int) []path {
	shape := b.g.shape(b.g.output(pos))
	var out []path
	add := func(p path) {
		if !slices.ContainsFunc(out, p.equal) {
			out = append(out, p)
		}
	}
	for _, in := range b.g.Ops[pos].Operands() {
		if p, ok := b.home(in.ID); ok && slices.Equal(b.g.shape(in.ID), shape) {
			add(p)
		}
	}
	if slices.Equal(shape, b.frame) {
		add(identity(b.frame))
	}
	if b.axes != nil && slices.Equal(shape, b.rowShape()) {
		add(b.rowHome())
	}
	for i := range b.members {
		if m := &b.members[i]; m.home != nil && !b.isEffect(m.op) && slices.Equal(b.g.shape(b.g.output(m.op)), shape) {
			add(m.home)
		}
	}
	return out
}

// settle gives an output its home if every operand can be had there.
func (b *block) settle(pos int, home path) Verdict {
	op := &b.g.Ops[pos]
	t := b.g.output(pos)
	shape := b.g.shape(t)
	operand := func(in ir.TensorID) Verdict { return b.need(in, home.expand(b.g.shape(in), shape)) }

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
			v = operand(op.Inputs[0].ID)
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
	case ir.Select, ir.Gather, ir.Embedding:
		v = b.indexed(pos, home)
	default:
		v = accepted
		for _, in := range op.Operands() {
			if v.Accepted {
				v = operand(in.ID)
			}
		}
		if ir.Lookup(op.Kind).Class == ir.ClassRandom {
			b.pinned = true
			if !home.rowMajor() || len(squeezed(b.frame)) != home[len(home)-1].covered() {
				v = refuse(RuleRandomPosition, "%v", op.Kind)
			}
		}
	}
	// Scalars and starts that are tensors are read everywhere.
	for _, in := range op.Inputs[len(op.Operands()):] {
		if v.Accepted {
			v = operand(in.ID)
		}
	}
	if !v.Accepted {
		return v
	}
	b.now.home = home
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

// coordinate checks that an axis of an output is an axis of the frame.
func (b *block) coordinate(op *ir.Operation, home path, shape []Dim, axis int) Verdict {
	b.pinned = true
	whole := b.free && home.equal(identity(b.frame)) && slices.Equal(shape, b.frame)
	if home.plain() && (slices.Contains(home.axes(), axis) || whole) {
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
		if v := b.fromMemory(op, in.ID); !v.Accepted {
			return v
		}
	}
	return accepted
}

// indexed checks a gather: the indices are values, the tensor lies in memory.
func (b *block) indexed(pos int, home path) Verdict {
	op := &b.g.Ops[pos]
	x, list := op.Inputs[0].ID, op.Inputs[1].ID
	out, shape := b.g.shape(b.g.output(pos)), b.g.shape(list)
	along := upTo(len(out))
	switch op.Kind {
	case ir.Select:
		for i := range along {
			along[i] = -1
		}
		along[op.Attrs.Axes[0]] = 0
	case ir.Embedding:
		along[len(along)-1] = -1
	case ir.Gather:
		for i, length := range b.g.shape(x) {
			if i != op.Attrs.Axes[0] && length != out[i] && !home.plain() {
				return refuse(RuleWindowBehindView, "axis %d of Gather", i)
			}
		}
	}
	if v := b.need(list, home.prepend(step{kind: stepMap, src: shape, dst: out, axes: along})); !v.Accepted {
		return v
	}
	return b.fromMemory(op, x)
}

// fromMemory records a read of a tensor at places values tell.
func (b *block) fromMemory(op *ir.Operation, t ir.TensorID) Verdict {
	base, steps := b.below(t)
	if _, ok := b.maker(base); ok {
		return refuse(RuleIndexedRead, "tensor %d of %v", base, op.Kind)
	}
	return b.load(base, steps.then(identity(b.g.shape(t))), false)
}

// need checks that the value of tensor t can be had at the end of a path, and
// records the reads of external tensors that takes.
func (b *block) need(t ir.TensorID, p path) Verdict {
	base, steps := b.below(t)
	p = steps.then(p)
	m, ok := b.maker(base)
	if !ok {
		return b.load(base, p, true)
	}
	op := &b.g.Ops[m.op]
	switch {
	case b.isEffect(m.op):
		return refuse(RuleEffectRead, "tensor %d", base)
	case op.Kind == ir.Full || m.home.equal(p):
		return accepted
	case ir.Lookup(op.Kind).Class != ir.ClassMap:
		return refuse(RuleLevel, "tensor %d, %v, is computed for another place", base, op.Kind)
	}
	// Computed again, for this place.
	key := string(p.key([]byte{byte(base), byte(base >> 8), byte(base >> 16)}))
	if b.again[key] {
		return accepted
	}
	if b.again == nil {
		b.again = map[string]bool{}
	}
	b.again[key] = true
	b.recompute += float64(b.points(b.frame)) * b.profile.OpCost
	if b.recompute > b.saved(b.unfused, b.launches) && !b.options.disabled(RuleRecompute) {
		return refuse(RuleRecompute, "tensor %d, %v", base, op.Kind)
	}
	for _, in := range op.Inputs {
		if v := b.need(in.ID, p.expand(b.g.shape(in.ID), b.g.shape(base))); !v.Accepted {
			return v
		}
	}
	return accepted
}

// load records a read of an external tensor.
func (b *block) load(t ir.TensorID, p path, plain bool) Verdict {
	if !b.g.strided(t, p) {
		return refuse(RuleReshapeStrided, "tensor %d", t)
	}
	r := read{t, p, plain}
	for i := range b.members {
		if m := &b.members[i]; b.isEffect(m.op) && !b.readsInPlace(m, r) {
			return refuse(RuleAliasesInPlace, "tensor %d is read, tensor %d overwritten", t, b.g.Ops[m.op].Inputs[0].ID)
		}
	}
	b.reads = append(b.reads, r)
	return accepted
}

// readsInPlace reports whether a read and an effect's write of the same
// memory, if it is the same, touch each element together.
func (b *block) readsInPlace(m *member, r read) bool {
	op := &b.g.Ops[m.op]
	old := op.Inputs[0].ID
	if !b.g.overwrites(m.op) || !b.g.mayAlias(r.tensor, old) {
		return true
	}
	return op.Kind == ir.Set && r.tensor == old && r.plain && r.at.equal(m.home)
}

// takeEffect takes an effect as a store of a value the block has at hand.
func (b *block) takeEffect(pos int) Verdict {
	op := &b.g.Ops[pos]
	if indexedEffect(op) {
		return refuse(RuleKind, "%v at places that are values", op.Kind)
	}
	if m, ok := b.maker(op.Inputs[0].ID); ok && b.isEffect(m.op) {
		return refuse(RuleEffectRead, "tensor %d", op.Inputs[0].ID)
	}
	value := effectValue(op)
	home, ok := b.home(value)
	m, _ := b.maker(value)
	switch {
	case ok && m.repeated:
		return refuse(RuleStoredBehindView, "tensor %d", value)
	case ok:
	case b.frame == nil || slices.Equal(b.g.shape(value), b.frame):
		b.frame = b.g.shape(value)
		home = identity(b.frame)
		if v := b.need(value, home); !v.Accepted {
			return v
		}
	default:
		return refuse(RuleShape, "%v of shape %v", op.Kind, b.g.Tensors[value].Shape)
	}
	place := home
	if op.Kind == ir.SetSlice {
		place = home.prepend(step{kind: stepSlice, src: b.g.shape(b.g.output(pos)), dst: b.g.shape(value), op: pos})
	}
	if !b.g.strided(op.Inputs[0].ID, place) {
		return refuse(RuleReshapeStrided, "%v of tensor %d", op.Kind, value)
	}
	b.now.home = home
	for _, m := range b.members {
		if _, view := b.g.viewStep(m.op); view && m.home == nil && !b.keeps(m.op, pos) {
			return refuse(RuleAliasesInPlace, "%v is a view of tensor %d, which is overwritten", b.g.Ops[m.op].Kind, op.Inputs[0].ID)
		}
	}
	for _, r := range b.reads {
		if !b.readsInPlace(&b.now, r) {
			return refuse(RuleAliasesInPlace, "tensor %d is read, tensor %d overwritten", r.tensor, op.Inputs[0].ID)
		}
	}
	b.pinned = true
	return accepted
}

// grow makes the frame the larger shape of an output the block's values are
// broadcast to. What the block computed until then is computed once for each
// repetition.
func (b *block) grow(pos int) Verdict {
	t := b.g.output(pos)
	shape := b.g.shape(t)
	misfit := refuse(RuleShape, "%v in a block of %v", b.g.Tensors[t].Shape, b.lengths(b.frame))
	if !b.free || b.pinned || len(shape) < len(b.frame) {
		return misfit
	}
	off := len(shape) - len(b.frame)
	for i, d := range b.frame {
		if d != unit && d != shape[off+i] {
			return misfit
		}
	}
	times := float64(b.points(shape) - b.points(b.frame))
	b.recompute += times * float64(b.launches) * b.profile.OpCost
	if b.recompute > b.saved(b.unfused, b.launches) && !b.options.disabled(RuleRecompute) {
		return refuse(RuleRecompute, "%d operations for each element of %v", b.launches, b.g.Tensors[t].Shape)
	}
	b.move(shape, identity(shape).expand(b.frame, shape), true)
	return b.settle(pos, identity(shape))
}

// move makes another shape the frame; on leads there from the old one.
func (b *block) move(frame []Dim, on path, repeated bool) {
	b.frame = frame
	b.members, b.reads = slices.Clone(b.members), slices.Clone(b.reads)
	for i := range b.members {
		if m := &b.members[i]; m.home != nil {
			m.home = m.home.then(on)
			m.repeated = m.repeated || repeated
		}
	}
	for i := range b.reads {
		if r := &b.reads[i]; r.plain {
			r.at = r.at.then(on)
		}
	}
}

func (b *block) points(shape []Dim) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= int64(b.g.Dims[d])
	}
	return n
}

func (b *block) lengths(shape []Dim) string {
	out := make(ir.Shape, len(shape))
	for i, d := range shape {
		out[i] = b.g.Dims[d]
	}
	return fmt.Sprint(out)
}

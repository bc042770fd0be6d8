package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// takeEffect takes an effect as a store of a value the block has at hand.
func (b *block) takeEffect(pos int) Verdict {
	op := &b.g.Ops[pos]
	if writesByIndex(op) {
		return refuse(RuleKind, "%v at places that are values", op.Kind)
	}
	if m, ok := b.maker(op.Inputs[0].ID); ok && b.isEffect(m.op) {
		return refuse(RuleEffectRead, "tensor %d", op.Inputs[0].ID)
	}
	value := updateOf(op)
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
	if !b.strided(op.Inputs[0].ID, place) {
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

// keeps reports whether a view that something outside the block reads lies in
// other memory than an effect of the block overwrites.
func (b *block) keeps(view, effect int) bool {
	t := b.g.output(view)
	return !b.g.overwrites(effect) || !b.needed(t) || !b.g.mayAlias(t, b.g.Ops[effect].Inputs[0].ID)
}

package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// fromMemory records a read of an operand that is not at the block's own
// points, but at so many others. An operand the block computes is refused.
func (b *block) fromMemory(op *ir.Operation, t ir.TensorID, points int64, computed Rule) Verdict {
	base, steps := b.below(t)
	if _, ok := b.maker(base); ok {
		return refuse(computed, "tensor %d of %v", base, op.Kind)
	}
	return b.load(base, steps.then(identity(b.g.shape(t))), points, false)
}

// need checks that the value of tensor t can be had at the end of a path, and
// records the reads of external tensors that takes.
func (b *block) need(t ir.TensorID, p path) Verdict {
	base, steps := b.below(t)
	p = steps.then(p)
	m, ok := b.maker(base)
	if !ok {
		return b.load(base, p, b.g.points(b.frame), true)
	}
	op := &b.g.Ops[m.op]
	switch {
	case b.isEffect(m.op):
		return refuse(RuleEffectRead, "tensor %d", base)
	case op.Kind == ir.Arange && m.home == nil:
		return b.coordinate(op, p, b.g.shape(base), 0)
	case op.Kind == ir.Full || m.home.equal(p):
		return accepted
	case ir.Lookup(op.Kind).Class != ir.ClassMap:
		return refuse(RuleLevel, "tensor %d, %v, is computed for another place", base, op.Kind)
	}
	// Computed again, for this place.
	if slices.ContainsFunc(b.redone, func(x placed) bool { return x.tensor == base && x.path.equal(p) }) {
		return accepted
	}
	b.redone = append(b.redone, placed{tensor: base, path: p})
	b.recompute += float64(b.g.points(b.frame)) * b.profile.OpCost
	if b.recompute > b.most() && !b.g.Off[RuleRecompute] {
		return refuse(RuleRecompute, "tensor %d, %v", base, op.Kind)
	}
	for i, in := range op.Inputs {
		if v := b.need(in.ID, p.prepend(b.g.operandStep(op, i))); !v.Accepted {
			return v
		}
	}
	return accepted
}

// load records a read of an external tensor at a number of points.
func (b *block) load(t ir.TensorID, p path, points int64, plain bool) Verdict {
	if !b.strided(t, p) {
		return refuse(RuleReshapeStrided, "tensor %d", t)
	}
	r := read{tensor: t, at: p, plain: plain}
	for i := range b.members {
		if m := &b.members[i]; b.isEffect(m.op) && !b.readsInPlace(m, r) {
			return refuse(RuleAliasesInPlace, "tensor %d is read, tensor %d overwritten", t, b.g.Ops[m.op].Inputs[0].ID)
		}
	}
	b.addRead(r, points)
	return accepted
}

package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// feeds returns the contraction that an operation would be a prologue of, or
// −1: the block has no contraction yet, and nothing but that one's operand,
// through views and operations that work element by element, depends on it. A
// view of what lies in memory is a way of reading, not a prologue.
func (b *block) feeds(pos int) int {
	if !b.prologues || b.core >= 0 || b.g.kept(pos) {
		return -1
	}
	if _, view := b.g.viewStep(pos); view {
		base, _ := b.below(b.g.Ops[pos].Inputs[0].ID)
		if m, ok := b.maker(base); !ok || !m.prologue {
			return -1
		}
	}
	return b.g.feeds[pos]
}

// kept reports whether a tensor on the way from an operation to the contraction
// it feeds must be stored.
func (g *Graph) kept(pos int) bool {
	for end := g.feeds[pos]; end >= 0 && pos != end; {
		t := &g.Tensors[g.output(pos)]
		if t.Stored {
			return true
		}
		pos = t.Consumers[0]
	}
	return false
}

// prepareFeeds finds, for each operation, the contraction it feeds.
func (g *Graph) prepareFeeds() {
	g.feeds = make([]int, len(g.Ops))
	for pos := len(g.Ops) - 1; pos >= 0; pos-- {
		g.feeds[pos] = -1
		t := g.output(pos)
		if c := g.Tensors[t].Consumers; len(c) == 1 && pointwise(&g.Ops[pos]) {
			g.feeds[pos] = g.fed(t, c[0])
		}
	}
}

// fed returns the contraction that a tensor feeds through the one operation that
// reads it.
func (g *Graph) fed(t ir.TensorID, by int) int {
	op := &g.Ops[by]
	if ir.Lookup(op.Kind).Class != ir.ClassContraction {
		return g.feeds[by] // −1 unless that is pointwise
	}
	for i, in := range op.Inputs {
		if in.ID == t && i >= templateOperands(op) {
			return -1
		}
	}
	return by
}

// takePrologue takes an operation that is computed as the contraction it feeds
// reads its operand. Whether it can be had there is seen with the contraction.
func (b *block) takePrologue(pos, target int) Verdict {
	op := &b.g.Ops[pos]
	if b.target >= 0 && b.target != target {
		return refuse(RuleAnchor, "%v feeds another contraction", op.Kind)
	}
	if ir.Lookup(op.Kind).Class == ir.ClassRandom {
		return refuse(RuleRandomPosition, "%v", op.Kind)
	}
	for _, in := range op.Inputs {
		base, _ := b.below(in.ID)
		if m, ok := b.maker(base); ok && !m.prologue && !b.g.Remade(m.op) {
			return refuse(RuleOperandNeeded, "tensor %d of %v", base, op.Kind)
		}
	}
	b.target = target
	b.now.prologue = true
	return accepted
}

// onlyRead refuses an operand that the block computes for more than being read by
// a contraction, or for an attention.
func (b *block) onlyRead(op *ir.Operation, operand int) Verdict {
	base, _ := b.below(op.Inputs[operand].ID)
	m, made := b.maker(base)
	switch {
	case made && op.Kind == ir.Attention:
		return refuse(RuleOperandComputed, "operand %d of %v", operand, op.Kind)
	case made && !m.prologue && !b.g.Remade(m.op):
		return refuse(RuleOperandNeeded, "tensor %d of %v", base, op.Kind)
	}
	return accepted
}

// contracted checks that a contraction, or attention, can have an operand: read
// from memory, or computed as it is read.
func (b *block) contracted(pos, operand int) Verdict {
	op := &b.g.Ops[pos]
	t := op.Inputs[operand].ID
	base, _ := b.below(t)
	if _, made := b.maker(base); !made {
		return b.fromMemory(op, t, b.g.points(b.g.shape(t)), RuleOperandComputed)
	}
	space, _ := contractSpace(b.g, op)
	paths := [2]path{}
	paths[0], paths[1] = contractOperands(b.g, op, space)
	p := prologue{block: b, points: b.g.points(b.g.shape(t))}
	p.times = b.repeats(space, paths[operand], len(space)-2-operand)
	if v := p.need(t, paths[operand]); !v.Accepted {
		return v
	}
	if b.recompute > b.most() && !b.g.Off[RulePrologue] {
		return refuse(RulePrologue, "tensor %d is computed %d times for %v", t, p.times, op.Kind)
	}
	return accepted
}

// prologueSpan is for how many columns (rows) of a contraction's result an
// element of its left (right) operand is taken to be computed once: engines keep
// computed parts of operands for a tile of the result.
const prologueSpan = 64

// repeats returns how often an element of an operand is computed: for each
// batch it is broadcast to, and for each part of the axis of the result that is
// the other operand's.
func (b *block) repeats(space []Dim, p path, other int) int64 {
	times := int64(max(b.g.Dims[space[other]]+prologueSpan-1, prologueSpan) / prologueSpan)
	for i, a := range p.axes()[:len(space)-3] {
		if a < 0 {
			times *= int64(b.g.Dims[space[i]])
		}
	}
	return times
}

// prologue is what is computed of one operand of a contraction.
type prologue struct {
	*block
	points, times int64 // of the operand: its elements, and how often each is computed
	seen          []ir.TensorID
}

// need checks that the value of tensor t can be computed at the end of a path
// from it to the contraction's space, and records what is read.
func (p *prologue) need(t ir.TensorID, at path) Verdict {
	base, steps := p.below(t)
	at = steps.then(at)
	m, made := p.maker(base)
	if !made {
		if _, ok := at.regrouped(); ok {
			p.addRead(read{tensor: base, at: at}, p.points)
			return accepted
		}
		return p.load(base, at, p.points, false)
	}
	op := &p.g.Ops[m.op]
	switch {
	case op.Kind == ir.Full:
		return accepted
	case !m.prologue && !p.g.Remade(m.op):
		return refuse(RuleOperandNeeded, "tensor %d", base)
	case !slices.Contains(p.seen, base):
		p.seen = append(p.seen, base)
		p.recompute += float64(p.points*(p.times-1)) * p.profile.OpCost
	}
	return p.placed(m.op, at, p.need)
}

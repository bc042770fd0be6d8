package fuser

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// grow makes the frame the larger shape of an output the block's values are
// broadcast to.
func (b *block) grow(pos int) Verdict {
	shape := b.g.shape(b.g.output(pos))
	if v := b.widen(shape); !v.Accepted {
		return v
	}
	return b.settle(pos, identity(shape))
}

// widen makes the frame a larger shape that it broadcasts to. What the block
// computed until then is computed once for each repetition. A block whose frame
// is that of the operation it is built around does not grow any more.
func (b *block) widen(shape []Dim) Verdict {
	misfit := refuse(RuleShape, "%s in a block of %v", b.lengths(shape), b.lengths(b.frame))
	if b.core >= 0 || b.axes != nil || b.pinned || b.split != nil || len(shape) < len(b.frame) {
		return misfit
	}
	off := len(shape) - len(b.frame)
	for i, d := range b.frame {
		if d != unit && d != shape[off+i] {
			return misfit
		}
	}
	if v := b.again(shape); !v.Accepted {
		return v
	}
	b.move(shape, identity(shape).expand(b.frame, shape), true)
	return accepted
}

// again counts what it costs to compute everything the block computes once for
// each of its repetitions in a larger shape.
func (b *block) again(shape []Dim) Verdict {
	ops := 0
	for i := range b.members {
		if m := &b.members[i]; m.home != nil {
			if _, view := b.g.viewStep(m.op); !view {
				ops++
			}
		}
	}
	b.recompute += float64(b.g.points(shape)-b.g.points(b.frame)) * float64(ops) * b.profile.OpCost
	if b.recompute > b.most() && !b.g.Off[RuleRecompute] {
		return refuse(RuleRecompute, "%d operations for each element of %s", ops, b.lengths(shape))
	}
	return accepted
}

// move makes another shape the frame; on leads there from the old one.
func (b *block) move(frame []Dim, on path, repeated bool) {
	b.frame = frame
	b.members = slices.Clone(b.members)
	for i := range b.members {
		if m := &b.members[i]; m.home != nil {
			m.home = m.home.then(on)
			m.repeated = m.repeated || repeated
		}
	}
	before := b.reads
	b.reads, b.read = make([]read, 0, len(before)), 0
	for _, r := range before {
		if r.plain {
			r.at = r.at.then(on)
			r.points = b.g.points(frame)
		}
		b.addRead(r, r.points)
	}
}

func (b *block) lengths(shape []Dim) string {
	out := make(ir.Shape, len(shape))
	for i, d := range shape {
		out[i] = b.g.Dims[d]
	}
	return fmt.Sprint(out)
}

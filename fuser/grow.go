package fuser

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

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
	times := float64(b.g.points(shape) - b.g.points(b.frame))
	b.recompute += times * float64(b.launches) * b.profile.OpCost
	if b.recompute > b.most() && !b.options.disabled(RuleRecompute) {
		return refuse(RuleRecompute, "%d operations for each element of %v", b.launches, b.g.Tensors[t].Shape)
	}
	b.move(shape, identity(shape).expand(b.frame, shape), true)
	return b.settle(pos, identity(shape))
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

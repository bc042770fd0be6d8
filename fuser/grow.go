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

package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// takeRepeat takes a Repeat: the space gets an axis of repetitions before each
// repeated one, along which the operand does not change. The frame stays the
// shape of the output.
func (b *block) takeRepeat(pos int) Verdict {
	op := &b.g.Ops[pos]
	src, out := b.g.shape(op.Inputs[0].ID), b.g.shape(b.g.output(pos))
	space, axes := repeatSpace(b.g, op, func(d Derived) Dim { return derive(&b.derived, d) })
	split := identity(space).prepend(step{kind: stepReshape, src: out, dst: space})
	on := identity(out).prepend(step{kind: stepReshape, src: space, dst: out}).prepend(step{kind: stepMap, src: src, dst: space, axes: axes})
	switch {
	case b.split != nil && !b.split.equal(split):
		return refuse(RuleShape, "%v %v in a block of %v", op.Kind, op.Attrs.Ints, b.lengths(b.frame))
	case b.pinned || b.lined:
		return refuse(RuleWindowBehindView, "%v cuts axes", op.Kind)
	case b.frame == nil || slices.Equal(b.frame, out):
	case b.split == nil && slices.Equal(b.frame, src):
		if v := b.again(out); !v.Accepted {
			return v
		}
		b.move(out, on, true)
	default:
		return refuse(RuleShape, "%v of %v in a block of %v", op.Kind, op.Inputs[0].Shape, b.lengths(b.frame))
	}
	b.frame, b.split = out, split
	if v := b.readable(); !v.Accepted {
		return v
	}
	if v := b.need(op.Inputs[0].ID, on); !v.Accepted {
		return v
	}
	b.now.home = identity(out)
	return accepted
}

// strided reports whether strides can express the views of a path from tensor t
// to the frame, and on to a space that has more axes.
func (b *block) strided(t ir.TensorID, p path) bool {
	if b.split == nil {
		return b.g.strided(t, p)
	}
	return b.g.strided(t, p.then(b.split), b.derived...)
}

// tail returns the path from the frame to the space of an element-wise block.
func (b *block) tail() path {
	if b.split != nil {
		return b.split
	}
	return identity(b.frame)
}

// derive returns the name of a length no tensor has, adding it to a list.
func derive(list *[]Derived, d Derived) Dim {
	i := slices.Index(*list, d)
	if i < 0 {
		i = len(*list)
		*list = append(slices.Clip(*list), d)
	}
	return Dim(-1 - i)
}

package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

var reduce = &species{
	name: "reduce",
	doc: `reduce fuses reductions over one set of axes of one shape, any axes or all, with the maps and views before them
(computed as the elements are read) and the maps after them that have the size of the result. Reductions of several
values, and values stored before they are reduced, share one pass.
It refuses other axes (axes), maps that use a result at every element (level; see reduce-broadcast), and what
elementwise refuses.`,
	anchor:      takeRows,
	anchors:     func(op *ir.Operation) bool { return ir.Lookup(op.Kind).Class == ir.ClassReduce },
	needsAnchor: true,
	draws:       true,
	rowsOnly:    true,
}

var reduceBroadcast = &species{
	name: "reduce-broadcast",
	doc: `reduce-broadcast fuses several reductions over the same axes with maps between and after them, at the size of the
row or of the result: softmax, norms and variance, as composite kinds or written from primitives. The row stays on
chip from pass to pass.
It refuses other axes (axes), a row too large to stay on chip (row-on-chip), and what elementwise refuses.`,
	anchor: takeRows,
	anchors: func(op *ir.Operation) bool {
		return op.Kind == ir.GroupNorm || ir.Lookup(op.Kind).Class != ir.ClassScan && rowAxes(op) != nil
	},
	needsAnchor: true,
	draws:       true,
}

// takeRows takes a reduction, or a composite kind over rows.
func takeRows(b *block, pos int) Verdict {
	op := &b.g.Ops[pos]
	switch {
	case b.core >= 0:
		return refuse(RuleAnchor, "%v", op.Kind)
	case op.Kind == ir.GroupNorm:
		return b.takeWhole(pos)
	case b.pinned && !trailing(rowAxes(op), len(b.frame)):
		return refuse(RuleAxes, "%v walks the block's elements in another order", op.Kind)
	}
	in := op.Inputs[0].ID
	axes := rowAxes(op)
	if b.axes == nil {
		if v := b.root(in); !v.Accepted {
			return v
		}
		b.axes = axes
	}
	switch {
	case !slices.Equal(b.g.shape(in), b.frame):
		return refuse(RuleShape, "%v of %v in a block of %v", op.Kind, b.g.Tensors[in].Shape, b.lengths(b.frame))
	case !slices.Equal(axes, b.axes):
		return refuse(RuleAxes, "%v over axes %v in a block over %v", op.Kind, axes, b.axes)
	}
	whole := identity(b.frame)
	if v := b.need(in, whole); !v.Accepted {
		return v
	}
	for i := 1; i < len(op.Inputs); i++ {
		if v := b.need(op.Inputs[i].ID, whole.expand(b.g.shape(op.Inputs[i].ID), b.frame)); !v.Accepted {
			return v
		}
	}
	b.now.home, b.now.dependent = b.rowHome(), true
	if ir.Lookup(op.Kind).Class == ir.ClassComposite {
		b.now.home = whole
	}
	return b.onChip()
}

// trailing reports whether axes are the last of so many.
func trailing(axes []int, rank int) bool {
	for i, a := range axes {
		if a != rank-len(axes)+i {
			return false
		}
	}
	return true
}

// root makes the frame the shape of a tensor that is to be reduced, so that
// the order of the reduction is the one recorded. Values computed so far are
// reached back through the views above them.
func (b *block) root(t ir.TensorID) Verdict {
	shape := b.g.shape(t)
	home, computed := b.home(t)
	if b.frame == nil {
		b.frame = shape
	}
	if !computed {
		return accepted
	}
	if home.equal(identity(b.frame)) && slices.Equal(shape, b.frame) {
		return accepted
	}
	back, ok := home.inverse(shape)
	if !ok || b.pinned || b.lined {
		return refuse(RuleShape, "%v in a block of %v", b.g.Tensors[t].Shape, b.lengths(b.frame))
	}
	b.move(shape, back, false)
	return b.readable()
}

// rowShape is the frame with its inner axes of length 1.
func (b *block) rowShape() []Dim {
	out := slices.Clone(b.frame)
	for _, a := range b.axes {
		out[a] = unit
	}
	return out
}

// rowHome is the home of what exists once a row.
func (b *block) rowHome() path { return walk(b.rowShape(), b.frame, upTo(len(b.frame))) }

// onChip refuses rows that do not stay on chip, once something depends on a
// reduction at every element or again along the row.
func (b *block) onChip() Verdict {
	if b.axes == nil || b.rowsOnly || b.profile.RowBytes <= 0 || b.g.Off[RuleRowOnChip] {
		return accepted
	}
	inner := map[int]bool{}
	for _, a := range b.axes {
		inner[a] = true
	}
	bytes := 0
	seen := map[ir.TensorID]bool{}
	for _, r := range b.reads {
		if !r.plain || seen[r.tensor] {
			continue
		}
		n := b.g.Tensors[r.tensor].DType.Size()
		walked := false
		for i, a := range r.at.axes() {
			if a >= 0 && inner[i] {
				walked = true
				n *= b.g.Dims[b.frame[i]]
			}
		}
		if walked {
			seen[r.tensor] = true
			bytes += n
		}
	}
	if bytes > b.profile.RowBytes {
		return refuse(RuleRowOnChip, "%d bytes a row of at most %d", bytes, b.profile.RowBytes)
	}
	return accepted
}

// rows makes the space the frame with the given axes as its inner axes.
func (l *lowering) rows(frame []Dim, axes []int) path {
	l.template = codegen.Rows
	return l.rowFrame(frame, axes, false)
}

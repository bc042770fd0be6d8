package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

var scan = &species{
	name: "scan",
	doc: `scan fuses a running sum, product or extremum along an axis with the maps and views before it, computed as the
elements are read, and the maps after it.
It refuses a second scan (second-anchor), other shapes (shape), and what elementwise refuses.`,
	anchor:      takeOrdered,
	anchors:     func(op *ir.Operation) bool { return ir.Lookup(op.Kind).Class == ir.ClassScan },
	needsAnchor: true,
}

var order = &species{
	name: "sort",
	doc: `sort fuses an operation that sorts along an axis with the maps and views before it, computed as the elements are
read, and, if it gives whole rows, the maps after it.
It refuses a second sort (second-anchor), anything after the first elements of a sort (closed), other shapes (shape), and
what elementwise refuses.`,
	anchor:      takeOrdered,
	anchors:     func(op *ir.Operation) bool { return ir.Lookup(op.Kind).Class == ir.ClassOrder },
	needsAnchor: true,
}

// takeOrdered takes the one scan or sort of a block.
func takeOrdered(b *block, pos int) Verdict {
	if b.core >= 0 {
		return refuse(RuleAnchor, "%v", b.g.Ops[pos].Kind)
	}
	return b.takeWhole(pos)
}

// takeWhole takes the operation a block is built around whose frame is the shape
// of its first operand.
func (b *block) takeWhole(pos int) Verdict {
	op := &b.g.Ops[pos]
	shape := b.g.shape(op.Inputs[0].ID)
	if b.axes != nil || op.Kind == ir.GroupNorm && (b.pinned || b.lined) {
		return refuse(RuleAnchor, "%v", op.Kind)
	}
	if v := b.root(op.Inputs[0].ID); !v.Accepted {
		return v
	}
	if !slices.Equal(shape, b.frame) {
		return refuse(RuleShape, "%v of %v in a block of %v", op.Kind, op.Inputs[0].Shape, b.lengths(b.frame))
	}
	for i, in := range op.Inputs {
		at := identity(b.frame)
		if i > 0 {
			at = at.prepend(b.g.operandStep(op, i))
		}
		if v := b.need(in.ID, at); !v.Accepted {
			return v
		}
	}
	b.core = pos
	out := b.g.shape(b.g.output(pos))
	b.now.home = walk(out, b.frame, upTo(len(out)))
	return accepted
}

// clipped reports whether the block ends with the first elements of a sort.
func (b *block) clipped() bool {
	return b.core >= 0 && ir.Lookup(b.g.Ops[b.core].Kind).Class == ir.ClassOrder &&
		!slices.Equal(b.g.shape(b.g.output(b.core)), b.frame)
}

package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

var matmul = &species{
	name: "matmul",
	doc: `matmul fuses a contraction (MatMul, Linear) or an Attention with what follows it element by element: bias, scale, mask,
activation, residual, cast, and views at the end, through which the result is stored. The operands are read from memory
in place, through strided, permuted and broadcast views, or computed as they are read (casts, dequantising, scaling,
gathers, windows) if nothing else needs them and that costs less than storing them. Maps recorded before the contraction
are fused if it does not depend on them and they have the shape of its result or broadcast to it: what follows may use
both.
It refuses a second contraction (second-anchor), operands that are needed elsewhere (operand-needed) or computed too
often (prologue), operands of an attention that the block computes (operand-computed), maps of another shape (shape),
random numbers (random-position), and what elementwise refuses.`,
	anchor: takeContraction,
	anchors: func(op *ir.Operation) bool {
		return ir.Lookup(op.Kind).Class == ir.ClassContraction || op.Kind == ir.Attention
	},
	needsAnchor: true,
	draws:       true,
	prologues:   true,
}

// templateOperands is how many operands a contraction's template reads.
func templateOperands(op *ir.Operation) int {
	if op.Kind == ir.Attention {
		return len(op.Operands())
	}
	return 2
}

// takeContraction takes the operation the block is built around.
func takeContraction(b *block, pos int) Verdict {
	op := &b.g.Ops[pos]
	if b.core >= 0 || b.target >= 0 && b.target != pos {
		return refuse(RuleAnchor, "%v", op.Kind)
	}
	n := templateOperands(op)
	for i := range n {
		if v := b.onlyRead(op, i); !v.Accepted {
			return v
		}
	}
	shape := b.g.shape(b.g.output(pos))
	if b.frame != nil && !slices.Equal(b.frame, shape) {
		if v := b.widen(shape); !v.Accepted {
			return v
		}
	}
	b.frame = shape
	home := identity(b.frame)
	for i, in := range op.Inputs {
		var v Verdict
		switch {
		case i < n:
			v = b.contracted(pos, i)
		case i >= len(op.Operands()): // the scale of an attention
			v = b.fromMemory(op, in.ID, 1, RuleOperandComputed)
		default:
			v = b.need(in.ID, home.expand(b.g.shape(in.ID), b.frame))
		}
		if !v.Accepted {
			return v
		}
	}
	b.core = pos
	b.now.home = home
	return accepted
}

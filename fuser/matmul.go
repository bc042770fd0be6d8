package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

var matmul = &species{
	name: "matmul",
	doc: `matmul fuses a contraction (MatMul, Linear) or an Attention with what follows it element by element: bias, scale, mask,
activation, residual, cast, and views at the end, through which the result is stored. The operands are read from memory
in place, through strided, permuted and broadcast views. Maps recorded before the contraction are fused if it does not
depend on them and they have the shape of its result: what follows may use both.
It refuses a second contraction (second-anchor), operands the block computes (operand-computed), maps of another shape
(shape), random numbers (random-position), and what elementwise refuses.`,
	anchor: takeContraction,
	anchors: func(op *ir.Operation) bool {
		return ir.Lookup(op.Kind).Class == ir.ClassContraction || op.Kind == ir.Attention
	},
	needsAnchor: true,
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
	if b.core >= 0 {
		return refuse(RuleAnchor, "%v", op.Kind)
	}
	shape := b.g.shape(b.g.output(pos))
	if b.frame != nil && !slices.Equal(b.frame, shape) {
		return refuse(RuleShape, "%v in a block of %v", b.g.Tensors[b.g.output(pos)].Shape, b.lengths(b.frame))
	}
	b.frame = shape
	home := identity(b.frame)
	n := templateOperands(op)
	for i, in := range op.Inputs {
		var v Verdict
		switch {
		case i < n:
			v = b.fromMemory(op, in.ID, b.g.points(b.g.shape(in.ID)), RuleOperandComputed)
		case i >= len(op.Operands()):
			return refuse(RuleScalarOperand, "operand %d of %v", i, op.Kind)
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

package fuser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

func TestSingleContractions(t *testing.T) {
	for _, d := range []ir.DType{ir.F32, ir.BF16, ir.I64} {
		p := newProgram(t)
		in := func(s ...int) ir.TensorRef { return p.in(random(d, s)) }
		p.op(ir.MatMul, in(3, 4), in(4, 5))
		p.op(ir.MatMul, in(4), in(4, 5))
		p.op(ir.MatMul, in(3, 4), in(4))
		p.op(ir.MatMul, in(4), in(4))
		p.op(ir.MatMul, in(2, 1, 3, 4), in(6, 4, 5))
		p.op(ir.MatMul, in(4), in(2, 4, 5))
		p.op(ir.MatMul, in(2, 0), in(0, 3))
		p.op(ir.MatMul, in(2, 300), in(300, 3))
		p.op(ir.MatMul, in(3, 1), in(1, 1))
		p.op(ir.MatMul, in(3, 4), p.op(ir.Permute, in(5, 4), axes(1, 0)))
		if d.IsFloat() {
			p.op(ir.Linear, in(2, 3, 4), in(4, 5))
			p.op(ir.Linear, in(2, 3, 4), in(4, 5), in(5))
			p.op(ir.Linear, in(4), in(4, 5), in(5))
		}
		checkAlone(t, p)
	}
}

// inOrder is checkAlone for a chain of effects, whose operands are overwritten.
func inOrder(t *testing.T, p *program) {
	t.Helper()
	m := newMachine(p)
	for i := range p.g.Ops {
		op := &p.g.Ops[i]
		in := make([]oracle.Tensor, len(op.Inputs))
		for k, r := range op.Inputs {
			in[k] = m.read(r.ID).Clone()
		}
		o, err := Single(&p.g, i)
		require.NoError(t, err, "%v", op.Kind)
		require.NoError(t, m.run(o), "%v", op.Kind)
		require.NoError(t, oracle.CheckOp(op, m.read(op.Outputs[0].ID), in...))
	}
}

// Heads of k and v may be shared by several heads of q; masks broadcast.
func TestSingleAttention(t *testing.T) {
	for _, d := range []ir.DType{ir.F32, ir.BF16} {
		p := newProgram(t)
		in := func(s ...int) ir.TensorRef { return p.in(random(d, s)) }
		p.op(ir.Attention, in(2, 3, 4, 5), in(2, 3, 6, 5), in(2, 3, 6, 7), f(0.4))
		p.op(ir.Attention, in(2, 3, 4, 5), in(2, 3, 6, 5), in(2, 3, 6, 7), f(0.4), causal(), number(2))
		same := in(1, 2, 4, 4)
		p.op(ir.Attention, same, same, same, f(1), causal())
		p.op(ir.Attention, in(1, 6, 4, 5), in(1, 2, 6, 5), in(1, 2, 6, 7), f(0.4))
		p.op(ir.Attention, in(3, 6, 4, 5), in(3, 2, 6, 5), in(3, 2, 6, 7), f(0.4), causal(), number(2))
		p.op(ir.Attention, p.op(ir.Permute, in(2, 4, 6, 5), axes(0, 2, 1, 3)), p.op(ir.Permute, in(2, 6, 3, 5), axes(0, 2, 1, 3)),
			p.op(ir.Permute, in(2, 6, 3, 7), axes(0, 2, 1, 3)), p.in(random(ir.Bool, ir.Shape{2, 1, 4, 6})), f(0.4))
		p.op(ir.Attention, in(3, 6, 4, 5), in(3, 1, 6, 5), in(3, 1, 6, 7), f(0.4))
		p.op(ir.Attention, in(1, 1, 1, 5), in(1, 1, 6, 5), in(1, 1, 6, 1), f(0.4))
		p.op(ir.Attention, in(2, 2, 3, 4), in(2, 2, 0, 4), in(2, 2, 0, 5), f(0.4))
		q := p.op(ir.Permute, in(2, 4, 3, 5), axes(0, 2, 1, 3))
		for _, mask := range []ir.Shape{{4, 6}, {6}, {2, 1, 1, 6}, {3, 1, 6}, {1, 3, 4, 1}, {}} {
			p.op(ir.Attention, q, in(2, 3, 6, 5), in(2, 3, 6, 7), p.in(random(d, mask)), f(0.4))
			p.op(ir.Attention, q, in(2, 3, 6, 5), in(2, 3, 6, 7), p.in(random(ir.Bool, mask)), f(0.4))
		}
		for _, mask := range []ir.Shape{{6, 4, 6}, {1, 1, 4, 6}, {4, 1}} {
			p.op(ir.Attention, in(1, 6, 4, 5), in(1, 2, 6, 5), in(1, 2, 6, 7), p.in(random(ir.Bool, mask)), f(0.4))
		}
		checkAlone(t, p)
	}
}

package fuser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// Operands of contractions computed as they are read: fused and alone give the
// same bits in one kernel, and nothing of the operand is stored.
func TestPrologues(t *testing.T) {
	for _, c := range []struct {
		name   string
		record func(p *program, in func(...int) ir.TensorRef)
	}{
		{"cast", func(p *program, in func(...int) ir.TensorRef) {
			w := p.op(ir.Cast, p.in(random(ir.F16, ir.Shape{4, 5})), to(in().DType))
			p.op(ir.MatMul, in(3, 4), w)
		}},
		{"both", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.MatMul, p.op(ir.Mul, in(3, 4), in(3, 1)), p.op(ir.Mul, in(4, 5), in(5)))
		}},
		{"same", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Exp, in(4, 4))
			p.op(ir.MatMul, x, x)
		}},
		{"vector", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.MatMul, p.op(ir.Neg, in(4)), in(4, 5))
		}},
		{"batch", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Permute, p.op(ir.Add, in(2, 4, 3), in(4, 1)), axes(0, 2, 1))
			p.op(ir.MatMul, x, p.op(ir.Abs, in(4, 5)))
		}},
		{"channels", func(p *program, in func(...int) ir.TensorRef) {
			q := p.op(ir.Cast, p.in(random(ir.I8, ir.Shape{4, 6})), to(ir.F32))
			z := p.op(ir.Cast, p.in(random(ir.I8, ir.Shape{6})), to(ir.F32))
			w := p.op(ir.Mul, p.op(ir.Sub, q, z), p.f32(6))
			y := p.op(ir.MatMul, in(3, 4), p.op(ir.Cast, w, to(in().DType)))
			p.op(ir.Gelu, p.op(ir.Add, y, in(6)))
		}},
		{"blocks", func(p *program, in func(...int) ir.TensorRef) {
			q := p.op(ir.Cast, p.in(random(ir.I8, ir.Shape{12, 5})), to(ir.F32))
			w := p.op(ir.Mul, p.op(ir.Reshape, q, shape(3, 4, 5)), p.f32(3, 1, 5))
			w = p.op(ir.Reshape, w, shape(12, 5))
			p.op(ir.MatMul, in(3, 12), p.op(ir.Cast, w, to(in().DType)))
		}},
		{"blocks-of-left", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Mul, p.op(ir.Reshape, in(2, 3, 12), shape(2, 3, 2, 6)), in(2, 1, 2, 1))
			p.op(ir.MatMul, p.op(ir.Reshape, x, shape(6, 12)), in(12, 4))
		}},
		{"picked", func(p *program, in func(...int) ir.TensorRef) {
			e := p.op(ir.Embedding, in(7, 4), p.in(oracle.Ints(ir.Shape{3}, 6, 0, 3)))
			p.op(ir.Linear, p.op(ir.Add, e, in(3, 4)), in(4, 5), in(5))
		}},
		{"picked-weights", func(p *program, in func(...int) ir.TensorRef) {
			w := p.op(ir.Select, in(4, 7), p.in(oracle.Ints(ir.Shape{2}, 6, 1)), axes(1))
			p.op(ir.MatMul, in(3, 4), w)
		}},
		{"windows", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Pad, in(3, 4), ints(0, 1, 2, 0), scalar(scalarOf(in().DType, 0.5)))
			w := p.op(ir.Cat, in(2, 5), in(4, 5), axes(0))
			p.op(ir.MatMul, x, p.op(ir.Neg, w))
		}},
		{"assigned", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.SliceAssign, in(3, 4), in(3, 2), ranges(ir.Range{Len: 3, Step: 1}, ir.Range{Start: 2, Len: 2, Step: 1}))
			p.op(ir.MatMul, x, in(4, 5))
		}},
		{"dynamic-slice", func(p *program, in func(...int) ir.TensorRef) {
			start := p.in(oracle.Ints(ir.Shape{}, 2))
			x := p.op(ir.Slice, in(6, 4), start, ranges(ir.Range{Len: 3, Step: 1, Input: 1}, ir.Range{Len: 4, Step: 1}))
			p.op(ir.MatMul, x, in(4, 5))
		}},
		{"mask", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Where, p.causalMask(4), in(4, 4), p.op(ir.Full, shape(), to(in().DType), scalar(scalarOf(in().DType, 0))))
			p.op(ir.MatMul, x, in(4, 5))
		}},
	} {
		for _, d := range []ir.DType{ir.F32, ir.BF16, ir.F64} {
			t.Run(c.name+"/"+d.String(), func(t *testing.T) {
				p := newProgram(t)
				c.record(p, func(s ...int) ir.TensorRef { return p.in(random(d, s)) })
				o := p.fuse("matmul")
				require.Equal(t, codegen.Contraction, o.Calls[0].Kernel.Template)
				require.Len(t, o.Stored, 1)
				require.Greater(t, o.Score, 0.0)
			})
		}
	}
}

// A block for one contraction takes nothing that feeds another, and no random
// numbers into a prologue.
func TestProloguesRefused(t *testing.T) {
	p := newProgram(t)
	w := p.f32(4, 4)
	x, y := p.op(ir.Exp, p.f32(4, 4)), p.op(ir.Neg, p.f32(4, 4))
	p.op(ir.MatMul, x, w)
	p.op(ir.MatMul, y, w)
	f := p.fuser("matmul")
	require.True(t, f.Fuse(0).Accepted)
	require.Equal(t, RuleAnchor, f.Fuse(1).Rule)
	require.Equal(t, RuleAnchor, f.Fuse(3).Rule)
	require.True(t, f.Fuse(2).Accepted)

	p = newProgram(t)
	p.op(ir.MatMul, p.op(ir.Cast, p.bernoulli(4, 4), to(ir.F32)), p.f32(4, 4))
	require.Equal(t, RuleRandomPosition, p.fuser("matmul").Fuse(0).Rule)

	// A value that the prologue and the epilogue would read.
	p = newProgram(t)
	z := p.op(ir.Exp, p.f32(4, 4))
	p.op(ir.Add, p.op(ir.MatMul, p.op(ir.Neg, z), p.f32(4, 4)), z)
	f = p.fuser("matmul")
	require.True(t, f.Fuse(0).Accepted)
	require.Equal(t, RuleOperandNeeded, f.Fuse(1).Rule)

	// What another reader needs is not computed as an operand alone.
	p = newProgram(t)
	s := p.op(ir.Exp, p.f32(4, 4))
	p.store(s)
	p.op(ir.MatMul, p.op(ir.Neg, s), p.f32(4, 4))
	f = p.fuser("matmul")
	require.True(t, f.Fuse(0).Accepted)
	require.Equal(t, RuleOperandNeeded, f.Fuse(1).Rule)
}

// The lengths that coordinates are worked out by come with the launch: a kernel
// made at one size serves another.
func TestRegroupedAtOtherLengths(t *testing.T) {
	record := func(blocks, block, columns int) *program {
		p := newProgram(t)
		for _, n := range []int{3, blocks, block, columns, blocks * block} {
			p.length(n)
		}
		x := p.f32(3, blocks*block)
		w := p.op(ir.Mul, p.op(ir.Reshape, p.f32(blocks*block, columns), shape(blocks, block, columns)), p.f32(blocks, 1, columns))
		p.op(ir.MatMul, x, p.op(ir.Reshape, w, shape(blocks*block, columns)))
		return p
	}
	o := record(5, 4, 7).fuse("matmul")
	other := record(2, 9, 11)
	alone, fused := other.alone(), newMachine(other)
	require.NoError(t, fused.run(o))
	sameBits(t, alone.read(o.Stored[0]), fused.read(o.Stored[0]), "another size")
}

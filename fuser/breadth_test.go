package fuser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// bernoulli draws a mask.
func (p *program) bernoulli(s ...int) ir.TensorRef {
	return p.op(ir.Bernoulli, shape(s...), to(ir.Bool), scalar(ir.I64Scalar(7), ir.I64Scalar(9), ir.F32Scalar(0.25)))
}

// dropout zeroes elements at random and scales the others.
func (p *program) dropout(x ir.TensorRef) ir.TensorRef {
	zero := p.in(oracle.Floats(x.DType, ir.Shape{}, 0))
	return p.op(ir.Where, p.bernoulli(x.Shape...), zero, p.op(ir.Mul, x, f(4.0/3)))
}

// Blocks of each species around the kinds that can be read or written in place:
// fused and alone give the same bits in one kernel.
func TestBreadth(t *testing.T) {
	rows := func(p *program) ir.TensorRef { return p.in(oracle.Ints(ir.Shape{3}, 2, 0, 1)) }
	for _, c := range []struct {
		name, fuser string
		record      func(p *program, in func(...int) ir.TensorRef)
	}{
		// What picks elements, read by each template.
		{"select-map", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Mul, p.op(ir.Select, in(4, 5), rows(p), axes(0)), in(3, 5))
		}},
		{"gather-rows", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			softmaxOf(p, p.op(ir.Gather, in(3, 5), p.in(oracle.Ints(ir.Shape{3, 4}, 4, 0, 1, 1, 2, 3, 4, 0, 0, 0, 1, 2)), axes(1)))
		}},
		{"embedding-norm", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			e := p.op(ir.Embedding, in(4, 8), rows(p))
			p.op(ir.LayerNorm, p.op(ir.Add, e, in(3, 8)), in(8), in(8), f(1e-5))
		}},
		{"gathernd-reduce", "reduce", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.GatherND, in(4, 3, 5), p.in(oracle.Ints(ir.Shape{3, 2}, 3, 0, 1, 2, 0, 0)))
			p.op(ir.Sum, p.op(ir.Abs, x), axes(1))
		}},
		{"cat-rows", "reduce", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Max, p.op(ir.Neg, p.op(ir.Cat, in(2, 3), in(2, 4), axes(1))), axes(1))
		}},
		{"pad-rows", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Softmax, p.op(ir.Pad, in(2, 3), ints(1, 0, 2, 1), f(0.5)), axes(1))
		}},
		{"slice-rows", "reduce", func(p *program, in func(...int) ir.TensorRef) {
			start := p.in(oracle.Ints(ir.Shape{}, 1))
			p.op(ir.Mean, p.op(ir.Slice, in(4, 6), start, ranges(ir.Range{Len: 3, Step: 1, Input: 1}, ir.Range{Start: 5, Len: 3, Step: -2})), axes(0, 1))
		}},
		{"assign-map", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.SliceAssign, p.op(ir.Exp, in(4, 5)), in(2, 5), ranges(ir.Range{Start: 3, Len: 2, Step: -1}, ir.Range{Len: 5, Step: 1}))
			p.op(ir.Mul, x, in(5))
		}},
		{"assign-rows", "reduce", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.SliceAssign, in(4, 5), in(4, 2), ranges(ir.Range{Len: 4, Step: 1}, ir.Range{Start: 1, Len: 2, Step: 1}))
			p.op(ir.Sum, x, axes(1))
		}},
		// Windows and diagonals are views.
		{"unfold-reduce", "reduce", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Max, p.op(ir.Unfold, in(2, 9), axes(1), ints(3, 2)), axes(2))
		}},
		{"diagonal-map", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Mul, p.op(ir.Diagonal, in(4, 2, 5), axes(2, 0), number(-1)), in(2, 4))
		}},
		// What is repeated, and what repeats it.
		{"repeat", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Repeat, p.op(ir.Exp, in(2, 3)), ints(2, 3))
			y := p.op(ir.Mul, p.op(ir.Add, x, in(4, 9)), in(9))
			p.op(ir.Neg, p.op(ir.Permute, y, axes(1, 0)))
			p.store(y)
		}},
		{"repeat-two", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Abs, in(4, 6))
			y := p.op(ir.Repeat, in(4, 3), ints(1, 2))
			p.op(ir.Add, p.op(ir.Mul, x, y), p.op(ir.Repeat, p.op(ir.Permute, in(3, 4), axes(1, 0)), ints(1, 2)))
		}},
		{"repeat-nothing", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Neg, p.op(ir.Repeat, p.op(ir.Exp, in(2, 3)), ints(0, 1)))
		}},
		{"repeat-reshape", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Reshape, p.op(ir.Relu, p.op(ir.Repeat, in(2, 3), ints(1, 2))), shape(12))
		}},
		// Reductions of one operand with several results, over any axes.
		{"max-argmax", "reduce", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Mul, in(3, 4, 5), in(5))
			p.op(ir.Max, x, axes(0, 2))
			p.op(ir.ArgMax, x, axes(0, 2))
			p.op(ir.Neg, p.op(ir.Min, x, axes(0, 2)))
		}},
		{"sum-squares", "reduce", func(p *program, in func(...int) ir.TensorRef) {
			x := in(2, 3, 4)
			p.op(ir.Sum, x, axes(0, 1, 2))
			p.op(ir.Sum, p.op(ir.Square, x), axes(0, 1, 2))
		}},
		{"mean-variance", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			x := in(3, 8)
			m := p.op(ir.Mean, x, axes(1))
			p.op(ir.Mean, p.op(ir.Square, p.op(ir.Sub, x, m)), axes(1))
			p.op(ir.Var, x, axes(1), number(1))
		}},
		{"rmsnorm-primitives", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Add, in(2, 3, 8), in(2, 3, 8))
			p.store(x)
			m := p.op(ir.Mean, p.op(ir.Square, x), axes(2))
			p.op(ir.Mul, p.op(ir.Mul, x, p.op(ir.Rsqrt, p.op(ir.Add, m, f(1e-6)))), in(8))
		}},
		{"cross-entropy", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Mul, in(3, 5), f(2))
			d := p.op(ir.Sub, x, p.op(ir.Max, x, axes(1)))
			log := p.op(ir.Sub, d, p.op(ir.Log, p.op(ir.Sum, p.op(ir.Exp, d), axes(1))))
			p.op(ir.Sum, p.op(ir.Neg, p.op(ir.Mul, log, in(3, 5))), axes(1))
		}},
		{"softmax-dropout", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			p.dropout(p.op(ir.Softmax, in(2, 3, 5), axes(2)))
		}},
		{"sum-of-random", "reduce", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Sum, p.dropout(in(3, 5)), axes(1))
		}},
		{"group-norm", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Add, in(2, 6, 5), in(6, 1))
			p.store(x)
			p.op(ir.Relu, p.op(ir.GroupNorm, x, in(6), in(6), number(3), f(1e-5)))
		}},
		{"batch-norm", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			v := p.in(oracle.Floats(in(1).DType, ir.Shape{3}, 1, 2, 0.5))
			p.op(ir.Relu, p.op(ir.BatchNorm, p.op(ir.Add, in(2, 3, 4), in(2, 3, 4)), in(3), v, in(3), in(3), f(1e-5)))
		}},
		// A mask computed at [n,n] and used at [b,h,n,n].
		{"causal-mask", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			softmaxOf(p, p.op(ir.Where, p.causalMask(4), in(2, 3, 4, 4), in()))
		}},
		{"causal-mask-matmul", "matmul", func(p *program, in func(...int) ir.TensorRef) {
			mask := p.causalMask(4)
			p.op(ir.Where, mask, p.op(ir.MatMul, in(2, 3, 4, 2), in(2, 3, 2, 4)), in())
		}},
		{"matmul-dropout", "matmul", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Add, p.dropout(p.op(ir.Linear, in(2, 3, 4), in(4, 5), in(5))), in(2, 3, 5))
		}},
		{"attention-scale", "matmul", func(p *program, in func(...int) ir.TensorRef) {
			q := in(1, 2, 3, 4)
			a := p.op(ir.Attention, q, q, q, in(), scalar(ir.Scalar{DType: ir.F32, Input: 3}))
			p.op(ir.Add, a, in(3, 4))
		}},
		// Scans and sorts.
		{"scan", "scan", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Mul, p.op(ir.Permute, in(4, 3), axes(1, 0)), in(4))
			p.store(x)
			p.op(ir.Sub, p.op(ir.CumSum, p.op(ir.Exp, x), axes(0)), in(3, 4))
		}},
		{"sort", "sort", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Abs, p.op(ir.Sub, in(4, 6), in(6)))
			p.store(x)
			p.op(ir.Mul, p.op(ir.Sort, x, axes(0)), in(6))
		}},
		{"topk", "sort", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.TopK, p.op(ir.Gather, in(4, 6), p.in(oracle.Ints(ir.Shape{4, 3}, 5, 0, 1, 1, 2, 3, 4, 5, 0, 0, 5, 2)), axes(1)), axes(1), number(2), reverse())
		}},
		{"first", "sort", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Neg, in(4, 6))
			p.store(x)
			p.op(ir.ArgTopK, x, axes(0), number(1))
		}},
		{"argsort", "sort", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Add, p.op(ir.ArgSort, p.op(ir.Cat, in(3, 2), in(3, 4), axes(1)), axes(1), reverse()), scalar(ir.I64Scalar(1)))
		}},
		{"select-scan", "scan", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Neg, p.op(ir.CumSum, p.op(ir.Select, in(4, 5), rows(p), axes(0)), axes(1), reverse()))
		}},
	} {
		for _, d := range []ir.DType{ir.F32, ir.BF16} {
			t.Run(c.name+"/"+d.String(), func(t *testing.T) {
				p := newProgram(t)
				c.record(p, func(s ...int) ir.TensorRef { return p.in(random(d, s)) })
				require.GreaterOrEqual(t, p.fuse(c.fuser, RuleRecompute).Score, 0.0)
			})
		}
	}
}

// causalMask records whether key j may be seen by query i, at [n,n].
func (p *program) causalMask(n int) ir.TensorRef {
	at := p.op(ir.Arange, shape(n), to(ir.I64), scalar(ir.I64Scalar(0), ir.I64Scalar(1)))
	row := p.op(ir.Reshape, at, shape(n, 1))
	return p.op(ir.LessEqual, at, row)
}

// The copy before a scatter is not made where the output takes the operand's
// storage; where the kernel reads the operand it may not.
func TestScatterTakesStorage(t *testing.T) {
	p := newProgram(t)
	x := p.f32(4, 3)
	p.op(ir.SelectAssign, x, p.in(oracle.Ints(ir.Shape{2}, 3, 0)), p.f32(2, 3), axes(0))
	p.op(ir.SelectAssign, x, p.in(oracle.Ints(ir.Shape{4}, 3, 0, 1, 1)), x, axes(0))
	o, err := Single(&p.g, 0)
	require.NoError(t, err)
	require.Len(t, o.Calls, 2)
	require.True(t, o.Calls[0].Copies)
	require.False(t, o.Calls[1].Copies)
	require.Equal(t, codegen.Scatter, o.Calls[1].Kernel.Template)
	require.Equal(t, []InPlace{{Out: p.g.output(0), In: x.ID}}, o.InPlace)
	o, err = Single(&p.g, 1)
	require.NoError(t, err)
	require.Empty(t, o.InPlace)
}

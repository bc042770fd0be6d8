package fuser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// refusals has a program for each rule whose last operation must be refused.
var refusals = []struct {
	rule   Rule
	fuser  string
	record func(p *program)
}{
	{RuleKind, "elementwise", func(p *program) { p.op(ir.Sum, p.op(ir.Exp, p.f32(3, 4)), axes(1)) }},
	{RuleKind, "reduce", func(p *program) {
		x := p.op(ir.Exp, p.f32(3, 4))
		p.op(ir.Sum, x, axes(1))
		p.op(ir.CumSum, x, axes(1))
	}},
	{RuleKind, "reduce", func(p *program) { p.op(ir.Repeat, p.op(ir.Exp, p.f32(3, 4)), ints(2, 1)) }},
	{RuleShape, "elementwise", func(p *program) {
		p.op(ir.Repeat, p.op(ir.Repeat, p.f32(3, 4), ints(2, 1)), ints(1, 3))
	}},
	{RuleShape, "elementwise", func(p *program) { // along other axes than the first
		p.op(ir.Repeat, p.f32(3, 6), ints(4, 1))
		p.op(ir.Repeat, p.f32(12, 3), ints(1, 2))
	}},
	{RuleWindowBehindView, "elementwise", func(p *program) {
		p.op(ir.Repeat, p.op(ir.Cat, p.f32(2, 3), p.f32(2, 3), axes(0)), ints(1, 2))
	}},
	{RuleWindowBehindView, "elementwise", func(p *program) {
		p.op(ir.Repeat, p.f32(3, 4), ints(2, 1))
		p.op(ir.Cat, p.f32(3, 4), p.f32(3, 4), axes(0))
	}},
	{RuleKind, "matmul", func(p *program) {
		x := p.op(ir.MatMul, p.f32(2, 4), p.f32(4, 3))
		p.op(ir.SliceAssign, x, p.f32(2, 3), ranges(ir.Range{Len: 2, Step: 1}, ir.Range{Len: 3, Step: 1}))
	}},
	{RuleKind, "elementwise", func(p *program) {
		x := p.op(ir.Exp, p.f32(2, 4))
		p.op(ir.SetSelect, p.variable(random(ir.F32, ir.Shape{3, 4})), p.in(oracle.Ints(ir.Shape{2}, 0, 2)), x, axes(0))
	}},
	{RuleShape, "elementwise", func(p *program) {
		p.op(ir.Exp, p.f32(3, 4))
		p.op(ir.Exp, p.f32(4, 3))
	}},
	{RuleShape, "matmul", func(p *program) {
		m := p.op(ir.MatMul, p.f32(3, 4), p.f32(4, 5))
		p.op(ir.Add, m, p.f32(2, 3, 5)) // the product would be repeated
	}},
	{RuleAxes, "reduce", func(p *program) {
		x := p.f32(3, 4)
		p.op(ir.Sum, x, axes(0))
		p.op(ir.Sum, x, axes(1))
	}},
	{RuleAxes, "reduce-broadcast", func(p *program) {
		x := p.op(ir.Exp, p.f32(3, 3))
		p.op(ir.Softmax, x, axes(0))
		p.op(ir.Softmax, x, axes(1))
	}},
	{RuleLevel, "reduce", func(p *program) {
		x := p.f32(3, 4)
		p.op(ir.Sub, x, p.op(ir.Mean, x, axes(1)))
	}},
	{RuleLevel, "reduce-broadcast", func(p *program) {
		x := p.f32(3, 3)
		s := p.op(ir.Reshape, p.op(ir.Sum, x, axes(1)), shape(3))
		p.op(ir.Add, x, s) // of another row
	}},
	{RuleAnchor, "matmul", func(p *program) {
		x := p.f32(4, 4)
		p.op(ir.MatMul, x, x)
		p.op(ir.MatMul, x, x)
	}},
	{RuleAnchor, "scan", func(p *program) { p.op(ir.CumSum, p.op(ir.CumSum, p.f32(3, 4), axes(1)), axes(1)) }},
	{RuleAnchor, "sort", func(p *program) { p.op(ir.ArgSort, p.op(ir.Sort, p.f32(3, 4), axes(1)), axes(1)) }},
	{RuleAnchor, "reduce-broadcast", func(p *program) {
		x := p.op(ir.GroupNorm, p.f32(2, 4, 3), number(2), f(1))
		p.op(ir.Sum, x, axes(2))
	}},
	{RuleOperandComputed, "matmul", func(p *program) {
		q := p.f32(1, 1, 2, 4)
		p.op(ir.Attention, p.op(ir.Exp, q), q, q, f(1))
	}},
	{RuleOperandNeeded, "matmul", func(p *program) {
		x := p.op(ir.Exp, p.f32(4, 4))
		p.store(x)
		p.op(ir.MatMul, x, p.f32(4, 4))
	}},
	{RuleOperandNeeded, "matmul", func(p *program) {
		x := p.op(ir.Exp, p.f32(4, 4))
		p.op(ir.Neg, x) // reads it, too
		p.op(ir.MatMul, x, p.f32(4, 4))
	}},
	{RulePrologue, "matmul", func(p *program) {
		x := p.f32(128, 128)
		for range 8 {
			x = p.op(ir.Gelu, x)
		}
		p.op(ir.MatMul, x, p.f32(128, 1024))
	}},
	{RuleIndexedRead, "matmul", func(p *program) {
		x := p.op(ir.Select, p.op(ir.Exp, p.f32(4, 4)), p.in(oracle.Ints(ir.Shape{2}, 0, 2)), axes(0))
		p.op(ir.MatMul, x, p.f32(4, 4))
	}},
	{RuleShape, "matmul", func(p *program) {
		p.op(ir.Exp, p.f32(4, 4))
		p.op(ir.MatMul, p.f32(2, 4), p.f32(4, 4))
	}},
	{RuleIndexedRead, "elementwise", func(p *program) {
		x := p.op(ir.Exp, p.f32(3, 4))
		p.op(ir.Select, x, p.in(oracle.Ints(ir.Shape{3}, 2, 1, 0)), axes(0))
	}},
	{RuleIndexedRead, "elementwise", func(p *program) {
		x := p.op(ir.Exp, p.f32(4, 4))
		y := p.op(ir.Slice, x, ranges(ir.Range{Start: 0, Len: 2, Step: 1}, ir.Range{Len: 4, Step: 1}))
		p.op(ir.Cat, y, y, axes(0))
	}},
	{RuleWindowBehindView, "elementwise", func(p *program) {
		x := p.op(ir.Exp, p.f32(3, 4))
		flat := p.op(ir.Reshape, x, shape(12))
		p.op(ir.Add, flat, flat)
		c := p.f32(6)
		p.op(ir.Cat, c, c, axes(0))
	}},
	{RuleRandomPosition, "elementwise", func(p *program) {
		x := p.op(ir.Exp, p.f32(3, 4))
		y := p.op(ir.Permute, x, axes(1, 0))
		p.op(ir.Abs, y)
		p.op(ir.Uniform, shape(4, 3), to(ir.F32), scalar(ir.I64Scalar(1), ir.I64Scalar(2), ir.F32Scalar(0), ir.F32Scalar(1)))
	}},
	{RuleRandomPosition, "reduce-broadcast", func(p *program) {
		p.op(ir.Softmax, p.f32(4, 4), axes(0))
		p.op(ir.Uniform, shape(4, 4), to(ir.F32), scalar(ir.I64Scalar(1), ir.I64Scalar(2), ir.F32Scalar(0), ir.F32Scalar(1)))
	}},
	{RuleClosed, "sort", func(p *program) {
		p.op(ir.Neg, p.op(ir.TopK, p.f32(3, 4), axes(1), number(2)))
	}},
	{RuleStoredBehindView, "elementwise", func(p *program) {
		x := p.op(ir.Exp, p.f32(4))
		p.op(ir.Add, x, p.f32(2, 4))
		p.op(ir.Set, p.variable(random(ir.F32, ir.Shape{4})), x)
	}},
	{RuleEffectRead, "elementwise", func(p *program) {
		v := p.variable(random(ir.F32, ir.Shape{3, 4}))
		x := p.op(ir.Exp, p.f32(2, 4))
		w := p.op(ir.SetSlice, v, x, ranges(ir.Range{Start: 0, Len: 2, Step: 1}, ir.Range{Len: 4, Step: 1}))
		p.op(ir.Slice, w, ranges(ir.Range{Start: 1, Len: 2, Step: 1}, ir.Range{Len: 4, Step: 1}))
	}},
	{RuleEffectRead, "elementwise", func(p *program) {
		v := p.variable(random(ir.F32, ir.Shape{4}))
		w := p.op(ir.Set, v, p.op(ir.Exp, p.f32(4)))
		p.op(ir.Add, w, w)
	}},
	// x[1:] = x[:-1]: the slice read is not the slice written.
	{RuleAliasesInPlace, "elementwise", func(p *program) {
		v := p.variable(random(ir.F32, ir.Shape{6}))
		x := p.op(ir.Neg, p.op(ir.Slice, v, ranges(ir.Range{Start: 0, Len: 5, Step: 1})))
		p.op(ir.SetSlice, v, x, ranges(ir.Range{Start: 1, Len: 5, Step: 1}))
	}},
	{RuleAliasesInPlace, "elementwise", func(p *program) {
		v := p.variable(random(ir.F32, ir.Shape{3, 3}))
		x := p.op(ir.Neg, p.op(ir.Permute, v, axes(1, 0)))
		p.op(ir.Set, v, x)
		p.g.InPlace[2] = true
	}},
	// A later read of the old version through another way.
	{RuleAliasesInPlace, "elementwise", func(p *program) {
		v := p.variable(random(ir.F32, ir.Shape{4}))
		x := p.op(ir.Exp, p.f32(4))
		p.op(ir.SetSlice, v, x, ranges(ir.Range{Start: 3, Len: 4, Step: -1}))
		p.op(ir.Add, x, v)
	}},
	// A view that outlives the version it is of.
	{RuleAliasesInPlace, "elementwise", func(p *program) {
		v := p.variable(random(ir.F32, ir.Shape{3, 3}))
		p.store(p.op(ir.Flip, v, axes(0)))
		p.op(ir.Set, v, p.op(ir.Exp, p.f32(3, 3)))
		p.g.InPlace[2] = true
	}},
	{RuleAliasesInPlace, "elementwise", func(p *program) {
		v := p.variable(random(ir.F32, ir.Shape{3, 3}))
		p.op(ir.Set, v, p.op(ir.Exp, p.f32(3, 3)))
		p.g.InPlace[1] = true
		p.store(p.op(ir.Flip, v, axes(0)))
	}},
	// Two handles of one buffer.
	{RuleAliasesInPlace, "elementwise", func(p *program) {
		v := p.variable(random(ir.F32, ir.Shape{4}))
		view := p.f32(4)
		p.g.Tensors[v.ID].Buffer, p.g.Tensors[view.ID].Buffer = 3, 3
		p.op(ir.Set, v, p.op(ir.Exp, view))
		p.g.InPlace[1] = true
	}},
	{RuleReshapeStrided, "elementwise", func(p *program) {
		x := p.op(ir.Permute, p.f32(3, 4), axes(1, 0))
		p.op(ir.Reshape, x, shape(12))
	}},
	{RuleReshapeStrided, "reduce", func(p *program) { // places that indices lead to are not evenly spaced
		x := p.op(ir.Gather, p.f32(1, 5, 3), p.in(oracle.Ints(ir.Shape{1, 2, 3}, 4, 0, 1, 1, 2, 3)), axes(1))
		p.op(ir.Sum, p.op(ir.Reshape, x, shape(1, 6)), axes(1))
	}},
	{RuleReshapeStrided, "elementwise", func(p *program) {
		v := p.variable(random(ir.F32, ir.Shape{4, 6}))
		x := p.op(ir.Reshape, p.op(ir.Exp, p.f32(6)), shape(2, 3))
		p.op(ir.SetSlice, v, x, ranges(ir.Range{Start: 0, Len: 2, Step: 1}, ir.Range{Start: 1, Len: 3, Step: 1}))
	}},
	{RuleOperandComputed, "matmul", func(p *program) {
		q := p.f32(1, 1, 2, 4)
		p.op(ir.Attention, q, q, q, p.op(ir.Exp, p.f32()), scalar(ir.Scalar{DType: ir.F32, Input: 3}))
	}},
	{RuleMaxBuffers, "elementwise", func(p *program) {
		x := p.f32(8)
		for range testProfile.MaxBuffers - 1 {
			x = p.op(ir.Add, x, p.f32(8))
		}
	}},
	{RuleRecompute, "elementwise", func(p *program) {
		x := p.f32(2)
		for range 4 {
			x = p.op(ir.Gelu, x)
		}
		p.op(ir.Add, x, p.f32(20000, 2)) // four operations for each of 20,000 repetitions
	}},
	{RuleRowOnChip, "reduce-broadcast", func(p *program) {
		x := p.op(ir.Exp, p.f32(2, testProfile.RowBytes/4+1))
		p.op(ir.Softmax, x, axes(1))
	}},
	{RuleMaxOps, "elementwise", func(p *program) {
		x := p.f32(4)
		for range testProfile.MaxOps + 1 {
			x = p.op(ir.Neg, x)
		}
	}},
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		t.Run(string(c.rule), func(t *testing.T) {
			p := newProgram(t)
			c.record(p)
			p.refused(c.fuser, c.rule)
		})
	}
}

// Profit rules can be switched off, and forced fusions are still right;
// legality rules cannot.
func TestDisabledRules(t *testing.T) {
	for _, c := range refusals {
		t.Run(string(c.rule), func(t *testing.T) {
			p := newProgram(t)
			c.record(p)
			if profit(c.rule) {
				p.fuse(c.fuser, c.rule)
			} else {
				p.refused(c.fuser, c.rule, c.rule)
			}
		})
	}
}

func profit(r Rule) bool {
	for _, info := range Rules {
		if info.Rule == r {
			return info.Profit
		}
	}
	return false
}

// Every rule is explained once, and every rule but those of misuse has a
// program above.
func TestRulesTable(t *testing.T) {
	seen := map[Rule]int{}
	for _, info := range Rules {
		require.Zero(t, seen[info.Rule], "%s", info.Rule)
		seen[info.Rule]++
		require.NotEmpty(t, info.Doc)
	}
	tested := map[Rule]bool{RuleMalformed: true, RuleClosed: true, RuleMaxArguments: true} // the last by the planner, which counts
	for _, c := range unjoinable {
		tested[c.rule] = true
	}
	for _, c := range refusals {
		require.Equal(t, 1, seen[c.rule], "%s is not in the table", c.rule)
		tested[c.rule] = true
	}
	for _, info := range Rules {
		require.True(t, tested[info.Rule], "%s has no test", info.Rule)
	}
}

func TestMisuse(t *testing.T) {
	p := newProgram(t)
	p.op(ir.Neg, p.op(ir.Exp, p.f32(3)))
	f := p.fuser("elementwise")
	require.Equal(t, RuleMalformed, f.Fuse(2).Rule)
	require.Equal(t, RuleMalformed, f.Fuse(-1).Rule)
	require.True(t, f.Fuse(1).Accepted)
	require.Equal(t, RuleClosed, f.Fuse(0).Rule)
	_, err := Single(&p.g, 7)
	require.ErrorContains(t, err, string(RuleMalformed))

	_, err = p.fuser("matmul").Finish()
	require.Error(t, err)

	lost := &Graph{Ops: p.g.Ops, Tensors: p.g.Tensors, Dims: []int{1}}
	_, err = Single(lost, 0)
	require.ErrorContains(t, err, "length 3")
	require.Equal(t, RuleMalformed, newBlock(elementwise, lost, &testProfile).Fuse(0).Rule)
}

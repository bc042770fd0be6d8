package fuser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// embeddings records the sum of rows picked from a table, a row of another and
// the first rows of a third.
func embeddings(p *program) ir.TensorRef {
	rows := func(n int) option { return ranges(ir.Range{Len: n, Step: 1}, ir.Range{Len: 8, Step: 1}) }
	words := p.op(ir.Embedding, p.f32(50, 8), p.in(oracle.Ints(ir.Shape{3}, 7, 0, 49)))
	types := p.op(ir.Slice, p.f32(2, 8), rows(1))
	positions := p.op(ir.Slice, p.f32(40, 8), rows(3))
	return p.op(ir.Add, p.op(ir.Add, words, types), positions)
}

// Of a table that is picked from or sliced, the rows count that are read.
func TestTablesCountAsRead(t *testing.T) {
	const index, row, rows = 3 * 8, 8 * 4, 3 * 8 * 4
	for _, fuser := range []string{"elementwise", "reduce-broadcast"} {
		p := newProgram(t)
		x := embeddings(p)
		if fuser == "reduce-broadcast" {
			p.op(ir.RMSNorm, x, f(1e-3))
		}
		o := p.fuse(fuser)
		require.EqualValues(t, index+rows+row+rows, o.Read)
		require.EqualValues(t, rows, o.Written)
		// Each value passed on is neither written nor read.
		passed := len(o.Ops) - 3 // views pass on nothing
		require.Equal(t, Saving{Bytes: int64(2 * rows * passed), Launches: float64(passed)}, o.Saving)
		require.Equal(t, o.Saving.Score(&testProfile), o.Score)
	}
}

// What an operation reads is the same alone and as a block: fusing it with
// nothing but the views it reads through saves nothing.
func TestAnOperationAloneSavesNothing(t *testing.T) {
	i64 := func(v ...int64) oracle.Tensor { return oracle.Ints(ir.Shape{len(v)}, v...) }
	for name, record := range map[string]func(p *program){
		"slice": func(p *program) {
			p.op(ir.Exp, p.op(ir.Slice, p.f32(9, 4), ranges(ir.Range{Start: 2, Len: 2, Step: 3}, ir.Range{Len: 4, Step: 1})))
		},
		"expand":    func(p *program) { p.op(ir.Exp, p.op(ir.Expand, p.f32(1, 4), shape(9, 4))) },
		"permute":   func(p *program) { p.op(ir.Exp, p.op(ir.Permute, p.f32(9, 4), axes(1, 0))) },
		"broadcast": func(p *program) { p.op(ir.Add, p.f32(9, 4), p.f32(4)) },
		"twice":     func(p *program) { x := p.f32(9, 4); p.op(ir.Add, x, x) },
		"embedding": func(p *program) { p.op(ir.Embedding, p.f32(90, 4), p.in(i64(5, 5))) },
		"select":    func(p *program) { p.op(ir.Select, p.f32(9, 4), p.in(i64(2)), axes(1)) },
		"gather":    func(p *program) { p.op(ir.Gather, p.f32(9, 4), p.in(oracle.Ints(ir.Shape{1, 4}, 0, 1, 2, 8)), axes(0)) },
		"cat":       func(p *program) { p.op(ir.Cat, p.f32(9, 4), p.f32(9, 2), axes(1)) },
		"pad":       func(p *program) { p.op(ir.Pad, p.f32(9, 4), ints(-3, -3, 0, 1), f(0)) },
		"dynamic": func(p *program) {
			at := p.in(oracle.Ints(ir.Shape{}, 1))
			p.op(ir.Slice, p.f32(9, 4), at, ranges(ir.Range{Len: 2, Step: 1, Input: 1}, ir.Range{Len: 4, Step: 1}))
		},
		"set": func(p *program) { p.op(ir.Set, p.variable(random(ir.F32, ir.Shape{4})), p.f32(4)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			record(p)
			require.Equal(t, Saving{}, p.fuse("elementwise").Saving)
		})
	}
	p := newProgram(t)
	p.op(ir.MatMul, p.op(ir.Expand, p.f32(1, 4), shape(9, 4)), p.f32(4, 5))
	require.Equal(t, Saving{}, p.fuse("matmul").Saving)
	p = newProgram(t)
	p.op(ir.Sum, p.op(ir.Expand, p.f32(1, 4), shape(9, 4)), axes(0))
	require.Equal(t, Saving{}, p.fuse("reduce").Saving)
}

// Two different parts of a tensor count as at most the tensor.
func TestOverlappingReads(t *testing.T) {
	p := newProgram(t)
	x := p.f32(10)
	part := func(start int) ir.TensorRef {
		return p.op(ir.Slice, x, ranges(ir.Range{Start: start, Len: 7, Step: 1}))
	}
	p.op(ir.Add, p.op(ir.Add, part(0), part(3)), part(0))
	o := p.fuse("elementwise")
	require.EqualValues(t, 4*10, o.Read)
	require.Equal(t, Saving{Bytes: 4*(5*7+7+7-7) - 4*(10+7) - 4*7, Launches: 1}.Launches, o.Saving.Launches)
	require.EqualValues(t, 4*(7+7+7+7+7+7)-4*(10+7), o.Saving.Bytes)
}

// A value computed again costs what the parts of the score say.
func TestRecomputationIsPartOfTheScore(t *testing.T) {
	p := newProgram(t)
	p.op(ir.Add, p.op(ir.Exp, p.f32(4)), p.f32(3, 4))
	o := p.fuse("elementwise")
	require.InDelta(t, 8*testProfile.OpCost, o.Saving.Recompute, 1e-9, "8 elements more")
	require.EqualValues(t, 2*4*4, o.Saving.Bytes)
	require.InDelta(t, float64(2*4*4)/testProfile.Bandwidth+testProfile.LaunchCost-8*testProfile.OpCost, o.Score, 1e-9)
}

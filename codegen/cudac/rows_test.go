package cudac

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// softmaxKernel keeps an element of one type between its three passes.
func softmaxKernel(dt ir.DType) *codegen.Kernel {
	t := dt.Compute()
	return &codegen.Kernel{
		Name: "softmax", Template: codegen.Rows, Outer: 1, Inner: 1,
		Buffers:  []codegen.Buffer{{DType: dt}, {DType: dt, Mode: codegen.Out}},
		Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}},
		Body: []codegen.Instr{
			{Op: codegen.OpLoad, Type: t, Access: 0},
			{Op: codegen.OpReduce, Type: t, Level: codegen.Row, Reduce: codegen.RMax, Args: []codegen.Value{0}},
			{Op: codegen.OpApply, Type: t, Fn: ir.SSub, Args: []codegen.Value{0, 1}},
			{Op: codegen.OpApply, Type: t, Fn: ir.SExp, Args: []codegen.Value{2}},
			{Op: codegen.OpReduce, Type: t, Level: codegen.Row, Reduce: codegen.RSum, Args: []codegen.Value{3}},
			{Op: codegen.OpApply, Type: t, Fn: ir.SDiv, Args: []codegen.Value{3, 4}},
		},
		Stores: []codegen.Store{{Access: 1, Value: 5}},
	}
}

// sumKernel keeps nothing.
func sumKernel(dt ir.DType) *codegen.Kernel {
	t := dt.Compute()
	return &codegen.Kernel{
		Name: "sum", Template: codegen.Rows, Outer: 1, Inner: 1,
		Buffers:  []codegen.Buffer{{DType: dt}, {DType: dt, Mode: codegen.Out}},
		Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}},
		Body: []codegen.Instr{
			{Op: codegen.OpLoad, Type: t, Access: 0},
			{Op: codegen.OpReduce, Type: t, Level: codegen.Row, Reduce: codegen.RSum, Args: []codegen.Value{0}},
		},
		Stores: []codegen.Store{{Access: 1, Value: 1}},
	}
}

// byRows and byColumns are launches of softmaxKernel whose rows, or columns, lie
// dense.
func byRows(rows, n int) *codegen.Launch {
	return launchOf([]int{rows, n}, placed(0, n, 1), placed(0, n, 1))
}

func byColumns(rows, n int) *codegen.Launch {
	return launchOf([]int{rows, n}, placed(0, 1, rows), placed(0, 1, rows))
}

// sumOf is the launch of sumKernel that reads as l does.
func sumOf(l *codegen.Launch) *codegen.Launch {
	return launchOf(l.Dims, l.Access[0], placed(0, 1, 0))
}

func kindsOf(t *testing.T, k *codegen.Kernel, l *codegen.Launch) string {
	require.NoError(t, k.Verify())
	var list []string
	for _, v := range Candidates(k, l, Ampere, false) {
		require.NoError(t, v.Check(k, l))
		s, err := Generate(k, v, Ampere, l)
		require.NoError(t, err)
		calls, err := s.Bind(l)
		require.NoError(t, err)
		for _, c := range calls.List {
			assert.LessOrEqual(t, c.Shared, Ampere.Shared, v.Key())
		}
		key, _, _ := strings.Cut(v.Key(), " 0(")
		key, _, _ = strings.Cut(key, " 1(")
		list = append(list, key)
	}
	return strings.Join(list, ", ")
}

func TestRowVariants(t *testing.T) {
	for _, c := range []struct {
		name         string
		launch       *codegen.Launch
		softmax, sum string
	}{
		{"short", byRows(1000, 5), "row-warp tile=[8 1], row-warp tile=[8 0]", "row-warp tile=[8 0]"},
		{"a warp", byRows(1000, 200), "row-warp tile=[32 8], row-warp-shared tile=[32], row-warp tile=[32 0]", "row-warp tile=[32 0]"},
		{"a block of elements", byRows(1000, 1000), "row-warp-shared tile=[32], row-warp tile=[32 0]", "row-warp tile=[32 0]"},
		{"several blocks", byRows(1000, 5000), "row-block tile=[8 8192], row-long tile=[8 8192], row-split", "row-block tile=[8 8192], row-split"},
		{"longer than a power of two that fits", byRows(1000, 33000), "row-block tile=[16 33792], row-long tile=[16 65536], row-split", "row-block tile=[16 65536], row-split"},
		{"larger than shared memory", byRows(1000, 1<<17), "row-long tile=[16 131072], row-split", "row-block tile=[16 131072], row-split"},
		{"few rows", byRows(3, 1<<17), "row-split, row-long tile=[16 131072]", "row-split, row-block tile=[16 131072]"},
		{"nothing in rows", byRows(3, 0), "row-warp tile=[1 1], row-warp tile=[1 0]", "row-warp tile=[1 0]"},
		{"no rows", byRows(0, 7), "row-warp tile=[8 1], row-warp tile=[8 0]", "row-warp tile=[8 0]"},
		{"columns", byColumns(1000, 40), "column tile=[32 64], row-warp tile=[32 2], row-warp-shared tile=[32], row-warp tile=[32 0]", "column tile=[32 64], row-warp tile=[32 0]"},
		{"short columns", byColumns(1000, 3), "column tile=[4 4], row-warp tile=[4 1], row-warp tile=[4 0]", "column tile=[4 4], row-warp tile=[4 0]"},
		{"many long columns", byColumns(5000, 1200), "column tile=[32 2048], column-split tile=[32], row-block tile=[2 2048], row-long tile=[2 2048], row-split", "column tile=[32 2048], column-split tile=[32], row-block tile=[2 2048], row-split"},
		{"few long columns", byColumns(100, 1200), "column-split tile=[32], column tile=[32 2048], row-block tile=[2 2048], row-long tile=[2 2048], row-split", "column-split tile=[32], column tile=[32 2048], row-block tile=[2 2048], row-split"},
		{"hardly any columns", byColumns(7, 100), "row-warp tile=[32 4], row-warp-shared tile=[32], row-warp tile=[32 0]", "row-warp tile=[32 0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.softmax, kindsOf(t, softmaxKernel(ir.F32), c.launch))
			assert.Equal(t, c.sum, kindsOf(t, sumKernel(ir.F32), sumOf(c.launch)))
		})
	}
}

func TestRowGuards(t *testing.T) {
	k := softmaxKernel(ir.F32)
	for _, c := range []struct {
		kind        string
		made, asked *codegen.Launch
		rule        string // "" if it fits
	}{
		{kind: "row-warp", made: byRows(10, 200), asked: byRows(3, 256)},
		{kind: "row-warp", made: byRows(10, 200), asked: byRows(3, 257), rule: "rows of 257 elements are longer than 256"},
		{kind: "row-warp-shared", made: byRows(10, 200), asked: byRows(3, 1025), rule: "longer than 1024"},
		{kind: "row-block", made: byRows(10, 2000), asked: byRows(3, 2048)},
		{kind: "row-block", made: byRows(10, 2000), asked: byRows(3, 3000), rule: "longer than 2048"},
		{kind: "row-long", made: byRows(10, 2000), asked: byRows(3, 3000), rule: "longer than 2048"},
		{kind: "row-split", made: byRows(10, 2000), asked: byRows(3, 1<<20)},
		{kind: "row-split", made: byRows(10, 2000), asked: byRows(3, 1024), rule: "rows of 1024 elements are one block"},
		{kind: "column", made: byColumns(1000, 40), asked: byColumns(30, 64)},
		{kind: "column", made: byColumns(1000, 40), asked: byColumns(30, 65), rule: "longer than 64"},
		{kind: "column", made: byColumns(1000, 40), asked: byRows(30, 40), rule: "loop x has the form"},
		{kind: "column-split", made: byColumns(100, 2000), asked: byColumns(100, 900), rule: "are one block"},
	} {
		var v *Variant
		for _, x := range Candidates(k, c.made, Ampere, false) {
			if x.Kind == c.kind && v == nil {
				v = x
			}
		}
		require.NotNil(t, v, c.kind)
		err := v.Check(k, c.asked)
		if c.rule == "" {
			assert.NoError(t, err)
			continue
		}
		var refused *VariantError
		if assert.ErrorAs(t, err, &refused, "%s %v", c.kind, c.asked.Dims) {
			assert.Contains(t, refused.Rule, c.rule)
		}
	}
}

// What one pass keeps for the next takes the place of what is read for the last
// time; nothing is kept that no later pass reads.
func TestRowPlan(t *testing.T) {
	k := softmaxKernel(ir.BF16)
	plan := planRows(k, true, true)
	require.Len(t, plan.passes, 3)
	assert.Equal(t, []codegen.Value{0}, plan.passes[0].writes, "what was loaded")
	assert.Equal(t, []codegen.Value{0}, plan.passes[1].reads)
	assert.Equal(t, []codegen.Value{3}, plan.passes[1].writes, "the exponential")
	assert.Equal(t, []codegen.Value{3}, plan.passes[2].reads)
	assert.Equal(t, 4, plan.bytes(), "both in one place")
	assert.Empty(t, planRows(sumKernel(ir.F32), true, true).slots)

	again := planRows(k, true, false)
	assert.Zero(t, again.bytes())
	assert.Equal(t, []bool{true, false, true, true, false, true}, again.passes[2].elements, "all is computed again")
}

// An element that is known in the first pass is stored there, unless the store may
// overwrite what a later pass reads.
func TestEarlyStores(t *testing.T) {
	k := sumKernel(ir.F32)
	k.Buffers = append(k.Buffers, codegen.Buffer{DType: ir.F32, Mode: codegen.Out})
	k.Accesses = append(k.Accesses, codegen.Access{Buffer: 2})
	k.Stores = append(k.Stores, codegen.Store{Access: 2, Value: 0})
	require.NoError(t, k.Verify())
	assert.Len(t, planRows(k, true, true).passes[0].stores, 1)
	late := planRows(k, false, true)
	assert.Empty(t, late.passes[0].stores)
	assert.Equal(t, 4, late.bytes())
}

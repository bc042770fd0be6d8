package kerneltest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Every random case is well formed, stays in its memory, and the same seed gives
// the same.
func TestRandomCasesAreWellFormed(t *testing.T) {
	for _, o := range []Options{
		{}, {AllFunctions: true}, {Size: Medium}, {DTypes: []ir.DType{ir.F32}}, {DTypes: []ir.DType{ir.BF16, ir.U8}, AllFunctions: true},
		{DTypes: []ir.DType{ir.Bool}}, {DTypes: []ir.DType{ir.F64}}, {DTypes: []ir.DType{ir.F8E5M2, ir.I16}},
	} {
		templates := map[codegen.Template]int{}
		for seed := range uint64(150) {
			c := Random(rand.New(rand.NewPCG(seed, 1)), o)
			templates[c.Kernel.Template]++
			require.NoError(t, c.Check(), "%+v seed %d\n%v", o, seed, c.Kernel)
			again := Random(rand.New(rand.NewPCG(seed, 1)), o)
			require.Equal(t, c.Kernel.String(), again.Kernel.String())
			require.Equal(t, c.Launch, again.Launch)
			require.Equal(t, c.Mem, again.Mem)
		}
		assert.Len(t, templates, int(codegen.Custom), "every template but custom: %v", templates)
	}
}

func TestRandomKeepsToItsOptions(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		only := []ir.DType{ir.F32, ir.BF16}
		c := Random(r, Options{DTypes: only, Templates: []codegen.Template{codegen.Map, codegen.Rows, codegen.Sort}})
		require.Contains(t, []codegen.Template{codegen.Map, codegen.Rows, codegen.Sort}, c.Kernel.Template)
		require.LessOrEqual(t, c.Points(), 300)
		for _, b := range c.Kernel.Buffers {
			require.Contains(t, append(only, ir.I64, ir.Bool), b.DType)
		}
		for _, in := range c.Kernel.Body {
			require.Contains(t, []ir.DType{ir.F32, ir.I64, ir.Bool}, in.Type)
			if in.Op == codegen.OpApply {
				require.Zero(t, Ulps(in.Fn), in.Fn)
			}
		}
	}
}

func TestMemoryIsAligned(t *testing.T) {
	for n := range 200 {
		mem := CloneMemory([][]byte{make([]byte, n)})[0]
		require.Len(t, mem, n)
		if n > 0 {
			require.Zero(t, address(mem)%64)
		}
	}
}

// What has an error of 0 has one value: the errors of exact programs are 0.
func TestExactProgramsAreExact(t *testing.T) {
	for seed := range uint64(200) {
		c := Random(rand.New(rand.NewPCG(seed, 3)), Options{Templates: []codegen.Template{codegen.Map, codegen.Rows, codegen.Scan, codegen.Scatter, codegen.Sort, codegen.Parts}})
		tol, _ := EvaluateWithin(c.Kernel, c.Launch, c.Mem)
		for b := range tol.Each {
			for _, e := range tol.Each[b] {
				require.Zero(t, e)
			}
		}
	}
}

// Few elements are open where functions are not exact, else comparing would say
// little.
func TestMostOfAllFunctionsIsClosed(t *testing.T) {
	opened, bounded, all := 0, 0, 0
	for seed := range uint64(300) {
		c := Random(rand.New(rand.NewPCG(seed, 4)), Options{AllFunctions: true, Templates: []codegen.Template{codegen.Map, codegen.Rows}})
		tol, ok := EvaluateWithin(c.Kernel, c.Launch, c.Mem)
		require.True(t, ok)
		for b := range c.Kernel.Buffers {
			if c.Kernel.Buffers[b].Mode == codegen.In {
				continue
			}
			all += len(c.Mem[b]) / c.Kernel.Buffers[b].DType.Size()
			opened += tol.Open(b)
			for _, e := range tol.Each[b] {
				if e > 0 && !math.IsInf(e, 0) {
					bounded++
				}
			}
		}
	}
	t.Logf("%d of %d elements open, %d bounded", opened, all, bounded)
	assert.Less(t, opened, all/10)
	assert.Greater(t, bounded, all/20)
}

func TestJoinRunsEach(t *testing.T) {
	a, b := Gather(5, 3, 4, 0), Pairs(ir.SMul, ir.F32, 2)
	joined := Join(a.Case, b.Case)
	require.NoError(t, joined.Check())
	apart := []Case{a.Clone(), b.Clone()}
	require.True(t, Evaluate(joined.Kernel, joined.Launch, joined.Mem))
	var want [][]byte
	for _, c := range apart {
		require.True(t, Evaluate(c.Kernel, c.Launch, c.Mem))
		want = append(want, c.Mem...)
	}
	require.NoError(t, Compare(joined.Kernel, want, joined.Mem, Tolerance{}))
}

func TestIndexOutOfRangeIsReported(t *testing.T) {
	for _, bad := range []int64{-1, 4, math.MinInt64} {
		c := Gather(12, 2, 4, bad)
		assert.False(t, Evaluate(c.Kernel, c.Launch, c.Mem))
		s := RandomScatter(rand.New(rand.NewPCG(1, 1)), 5, 2, 4, ir.F32, ir.Assign, bad)
		assert.False(t, Evaluate(s.Kernel, s.Launch, s.Mem))
	}
}

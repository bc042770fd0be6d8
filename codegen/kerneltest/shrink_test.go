package kerneltest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// broken reports whether an engine that computes one function wrongly would fail
// a case: whether some part of it uses the function of a type.
func broken(fn ir.ScalarOp, t ir.DType) func(Case) bool {
	return func(c Case) bool {
		uses := false
		c.Kernel.Spaces(c.Launch, func(k *codegen.Kernel, l *codegen.Launch) {
			for i := range k.Body {
				in := &k.Body[i]
				uses = uses || in.Op == codegen.OpApply && in.Fn == fn && k.Body[in.Args[0]].Type == t && !slices.Contains(l.Dims, 0)
			}
		})
		return uses
	}
}

func TestShrinkFindsOneInstruction(t *testing.T) {
	found := 0
	for seed := uint64(0); found < 10; seed++ {
		c := Random(rand.New(rand.NewPCG(seed, 7)), Options{Size: Medium, Templates: []codegen.Template{codegen.Map, codegen.Rows, codegen.Parts}})
		fails := broken(ir.SMulAdd, ir.F32)
		if !fails(c) || c.Points() < 50 {
			continue
		}
		found++
		before := c.Text()
		small := Shrink(c, func(c Case) bool {
			require.NoError(t, c.Check())
			return fails(c)
		})
		require.Equal(t, before, c.Text(), "the case given is as it was")
		require.True(t, fails(small))
		assert.Equal(t, 1, small.Points(), small.Text())
		assert.LessOrEqual(t, len(small.Kernel.Body), 4, small.Text())
		assert.Len(t, small.Kernel.Stores, 1)
		assert.Len(t, small.Mem, len(small.Kernel.Buffers))
		for _, m := range small.Mem {
			assert.LessOrEqual(t, len(m), 8, small.Text())
		}
		requireRoundTrip(t, small)
	}
}

// A fault that shows in one number alone leaves that number.
func TestShrinkKeepsWhatMatters(t *testing.T) {
	c := Gather(9, 5, 4, 1).Case
	WriteElem(c.Mem[1], ir.F32, 7, Value{F: 1234})
	fails := func(c Case) bool {
		if !Evaluate(c.Kernel, c.Launch, c.Mem) {
			return false
		}
		out := len(c.Mem) - 1
		for i := range len(c.Mem[out]) / 4 {
			if ReadElem(c.Mem[out], ir.F32, i).F == 1234 && c.Kernel.Accesses[1].Indices == 1 {
				return true
			}
		}
		return false
	}
	small := Shrink(c, fails)
	require.True(t, fails(small.Clone()))
	assert.Equal(t, []int{1, 3}, small.Launch.Dims, small.Text()) // one row, up to the third column
}

// Every template survives: what shrinks is well formed to the end.
func TestShrinkAnything(t *testing.T) {
	for seed := range uint64(60) {
		c := Random(rand.New(rand.NewPCG(seed, 8)), Options{AllFunctions: true})
		template := c.Kernel.Template
		small := Shrink(c, func(c Case) bool { return c.Kernel.Template == template })
		require.NoError(t, small.Check())
		assert.LessOrEqual(t, small.Points(), max(1, c.Points()))
		assert.LessOrEqual(t, len(small.Kernel.Body), max(4, len(c.Kernel.Body)/2), "%v", small.Kernel)
	}
}

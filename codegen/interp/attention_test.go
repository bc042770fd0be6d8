package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// checkAttention compares with the definition, within a fixed distance and within
// that which follows from the operands.
func checkAttention(t *testing.T, m *kerneltest.Builder) {
	t.Helper()
	x := compile(t, m.Kernel)
	serial, parallel, want := kerneltest.CloneMemory(m.Mem), kerneltest.CloneMemory(m.Mem), kerneltest.CloneMemory(m.Mem)
	require.NoError(t, x.Run(m.Launch, serial, codegen.Serial{}))
	require.NoError(t, x.Run(m.Launch, parallel, workers(4)))
	requireSame(t, m.Kernel, serial, parallel, "workers")
	derived, ok := kerneltest.EvaluateWithin(m.Kernel, m.Launch, want)
	require.True(t, ok)
	tolerance := 2e-5
	if m.Kernel.Body[0].Type == ir.F64 {
		tolerance = 1e-13
	}
	require.NoError(t, kerneltest.Compare(m.Kernel, want, serial, kerneltest.Tolerance{Abs: tolerance}))
	require.NoError(t, kerneltest.Compare(m.Kernel, want, serial, derived))
	require.Zero(t, derived.Open(len(want)-1))
}

func TestAttention(t *testing.T) {
	sizes := [][6]int{
		{1, 1, 1, 1, 1, 1}, {2, 3, 5, 7, 4, 3}, {1, 2, 33, 63, 8, 5}, {1, 1, 31, 64, 16, 4}, {1, 1, 70, 65, 3, 9}, {1, 2, 1, 130, 260, 2},
		{1, 1, 3, 0, 4, 2}, {1, 1, 3, 4, 0, 2}, {1, 1, 0, 4, 3, 2}, {1, 1, 3, 4, 3, 0}, {0, 2, 3, 4, 3, 2},
	}
	specs := []codegen.AttentionSpec{{}, {Causal: true}, {HasMask: true}, {HasMask: true, BoolMask: true}, {Causal: true, HasMask: true, BoolMask: true}}
	for i, s := range sample(sizes) {
		for j, spec := range specs {
			for _, offset := range []int64{0, 3, -2, 1 << 62} {
				if !spec.Causal && offset != 0 {
					continue
				}
				for n, dt := range []ir.DType{ir.F32, ir.F64, ir.BF16, ir.F16} {
					if testing.Short() && n != (i+j)%4 && n != (i+j+2)%4 {
						continue
					}
					c := kerneltest.Attention{
						Batches: s[0], Heads: s[1], Queries: s[2], Keys: s[3], Dim: s[4], ValueDim: s[5], Spec: spec, Offset: offset, DType: dt,
					}
					m := c.Build(rand.New(rand.NewPCG(uint64(i), uint64(j))))
					t.Run(fmt.Sprint(c), func(t *testing.T) { checkAttention(t, m) })
				}
			}
		}
	}
}

// A hidden key has no effect, whatever it holds; a visible NaN does.
func TestAttentionNaN(t *testing.T) {
	c := kerneltest.Attention{
		Batches: 1, Heads: 1, Queries: 2, Keys: 3, Dim: 2, ValueDim: 2, Spec: codegen.AttentionSpec{HasMask: true, BoolMask: true}, DType: ir.F32,
	}
	m := c.Build(rand.New(rand.NewPCG(3, 3)))
	m.Launch.Access[3].Strides = []int{0, 0, 3, 0, 1, 0}
	mask := m.Mem[m.Kernel.Accesses[3].Buffer]
	copy(mask, []byte{1, 0, 1, 0, 0, 0})
	m.Launch.Access[1].Strides = []int{0, 0, 0, 0, 2, 1}
	m.Launch.Access[2].Strides = []int{0, 0, 0, 1, 2, 0}
	nan := kerneltest.Value{F: math.NaN()}
	for i := range 2 {
		kerneltest.WriteElem(m.Mem[1], ir.F32, 2+i, nan)
		kerneltest.WriteElem(m.Mem[2], ir.F32, 2+i, nan)
	}
	checkAttention(t, m)
	copy(mask, []byte{0, 1, 1, 1, 1, 1})
	mem := kerneltest.CloneMemory(m.Mem)
	require.NoError(t, compile(t, m.Kernel).Run(m.Launch, mem, codegen.Serial{}))
	for _, p := range kerneltest.Points(m.Launch.Dims[:4]) {
		got := kerneltest.ReadElem(mem[len(mem)-1], ir.F32, kerneltest.Place(&m.Launch.Access[4], append(append([]int{}, p...), 0, 0))).F
		assert.True(t, got != got)
	}
}

// A query gives the same bits alone and among others.
func TestAttentionBatchInvariant(t *testing.T) {
	c := kerneltest.Attention{Batches: 1, Heads: 1, Queries: 40, Keys: 100, Dim: 16, ValueDim: 8, DType: ir.F32}
	m := c.Build(rand.New(rand.NewPCG(4, 4)))
	x := compile(t, m.Kernel)
	all, one := kerneltest.CloneMemory(m.Mem), kerneltest.CloneMemory(m.Mem)
	require.NoError(t, x.Run(m.Launch, all, codegen.Serial{}))
	q := 37
	l := m.Launch.Clone()
	l.Dims[2] = 1
	for a := range l.Access {
		l.Access[a].Offset += q * l.Access[a].Strides[2]
	}
	require.NoError(t, x.Run(l, one, codegen.Serial{}))
	for e := range 8 {
		at := kerneltest.Place(&m.Launch.Access[3], []int{0, 0, q, e, 0, 0})
		assert.Equal(t, kerneltest.ReadElem(all[3], ir.F32, at).F, kerneltest.ReadElem(one[3], ir.F32, at).F)
	}
}

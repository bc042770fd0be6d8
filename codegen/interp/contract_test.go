package interp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// The bits of a row do not depend on the rows beside it, nor on the layout.
func TestContractionRowAlone(t *testing.T) {
	m := kerneltest.MatMul([]int{9, 11, 600}, ir.F32)
	x := compile(t, m.Kernel)
	all := kerneltest.CloneMemory(m.Mem)
	require.NoError(t, x.Run(m.Launch, all, codegen.Serial{}))
	for row := range 9 {
		l := m.Launch.Clone()
		l.Dims[0] = 1
		l.Access[0].Offset, l.Access[2].Offset = row*600, row*11
		one := kerneltest.CloneMemory(m.Mem)
		require.NoError(t, x.Run(l, one, codegen.Serial{}))
		require.Equal(t, all[2][row*11*4:(row+1)*11*4], one[2][row*11*4:(row+1)*11*4])
	}
}

func TestContractions(t *testing.T) {
	shapes := [][]int{
		{1, 1, 1}, {1, 1, 0}, {3, 5, 0}, {0, 4, 3}, {4, 0, 3}, {1, 7, 300}, {1, 1030, 3}, {1, 17, 257}, {9, 1, 256}, {1030, 1, 5},
		{2, 4, 8}, {3, 3, 513}, {4, 4, 255}, {5, 9, 1}, {63, 127, 31}, {64, 128, 33}, {65, 129, 7}, {130, 260, 2},
		{2, 3, 5, 7}, {3, 1, 4, 9}, {2, 3, 4, 1, 6}, {2, 2, 3, 70, 5}, {4, 4, 4, 4, 4},
	}
	types := [][2]ir.DType{
		{ir.F32, ir.F32}, {ir.BF16, ir.BF16}, {ir.F32, ir.BF16}, {ir.F16, ir.F8E5M2}, {ir.F64, ir.F64}, {ir.I64, ir.I64}, {ir.U64, ir.U64},
		{ir.I32, ir.I32}, {ir.U16, ir.U16}, {ir.I8, ir.I8}, {ir.I8, ir.U8}, {ir.U8, ir.I8},
	}
	for i, dims := range sample(shapes) {
		for j, ty := range types {
			if testing.Short() && j > 1 && (i+j)%3 > 0 {
				continue
			}
			for seed := range kernels(1, 6) {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(i*10+j)))
				m := kerneltest.RandomContraction(r, dims, ty[0], ty[1])
				if seed%2 == 0 {
					m.Tame()
				}
				t.Run(fmt.Sprint(dims, ty, seed), func(t *testing.T) { check(t, m.Case) })
			}
		}
	}
}

func TestRandomContractions(t *testing.T) {
	for seed := range kernels(40, 400) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		dims := kerneltest.RandomDims(r, 3+r.IntN(3), 6000)
		m := kerneltest.RandomContraction(r, dims, ir.F32, []ir.DType{ir.F32, ir.BF16, ir.F16}[r.IntN(3)])
		m.Tame()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, m.Case) })
	}
}

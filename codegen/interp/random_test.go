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

func TestRandomMapKernels(t *testing.T) {
	for seed := range kernels(150, 1500) {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		dims := kerneltest.RandomDims(r, r.IntN(5), 5000)
		m := kerneltest.RandomProgram(r, codegen.Map, len(dims), dims)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, m.Case) })
	}
}

func TestRandomRowsKernels(t *testing.T) {
	for seed := range kernels(200, 1500) {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		dims := kerneltest.RandomDims(r, 1+r.IntN(4), 9000)
		m := kerneltest.RandomProgram(r, codegen.Rows, r.IntN(len(dims)+1), dims)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, m.Case) })
	}
}

// Kernels of every template and function stay within what the numeric rules
// leave open.
func TestRandomKernelsWithinBounds(t *testing.T) {
	for seed := range kernels(400, 5000) {
		c := kerneltest.Random(rand.New(rand.NewPCG(uint64(seed), 6)), kerneltest.Options{AllFunctions: true})
		want := kerneltest.CloneMemory(c.Mem)
		tol, ok := kerneltest.EvaluateWithin(c.Kernel, c.Launch, want)
		err := compile(t, c.Kernel).Run(c.Launch, c.Mem, workers(2))
		if !ok {
			var ie *ir.IndexError
			require.ErrorAs(t, err, &ie)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, kerneltest.Compare(c.Kernel, want, c.Mem, tol), "seed %d\n%v", seed, c.Kernel)
	}
}

// The named kernels, and the cases that are kept, give on any number of workers the
// result by definition.
func TestNamedKernels(t *testing.T) {
	kept, err := kerneltest.Kept()
	require.NoError(t, err)
	sets := [][]kerneltest.Case{kept, kerneltest.Golden(), kerneltest.GoldenAt(kerneltest.Medium)}
	for i, set := range sets[:kernels(2, 3)] {
		for _, c := range set {
			t.Run(fmt.Sprint(c.Kernel.Name, i), func(t *testing.T) {
				want := kerneltest.CloneMemory(c.Mem)
				tol, ok := kerneltest.EvaluateWithin(c.Kernel, c.Launch, want)
				require.True(t, ok)
				x := compile(t, c.Kernel)
				for _, par := range []codegen.Parallel{codegen.Serial{}, workers(3)} {
					got := kerneltest.CloneMemory(c.Mem)
					require.NoError(t, x.Run(c.Launch, got, par))
					require.NoError(t, kerneltest.Compare(c.Kernel, want, got, tol))
				}
			})
		}
	}
}

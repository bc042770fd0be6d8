package runner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// Every template runs in every dtype it has kernels of, on the architectures whose
// PTX is executed in turn.
func TestEveryTemplateInEveryDType(t *testing.T) {
	templates := []codegen.Template{
		codegen.Map, codegen.Rows, codegen.Contraction, codegen.Scan, codegen.Scatter, codegen.Attention, codegen.Sort, codegen.Parts,
	}
	n := 0
	for i, template := range templates {
		for j, dt := range ir.DTypes() {
			n++
			if testing.Short() && n%9 != 0 {
				continue
			}
			target := []cudac.Target{cudac.Ampere, cudac.Hopper}[n%2]
			t.Run(fmt.Sprint(template, " ", dt, " ", target.Arch()), func(t *testing.T) {
				c, ok := caseOf(template, dt, uint64(100*i+j))
				require.Equal(t, has(template, dt), ok, "a kernel of the template has a buffer of the dtype")
				if ok {
					newEvery(t, target).check(t, c)
				}
			})
		}
	}
}

// has reports whether kernels of a template read or write a dtype: bools are not
// scanned, and attention is of floats that have arithmetic, and of bool masks.
func has(template codegen.Template, dt ir.DType) bool {
	switch template {
	case codegen.Scan:
		return dt != ir.Bool
	case codegen.Attention:
		return dt == ir.Bool || dt.IsFloat() && !dt.IsFloat8()
	}
	return true
}

// caseOf returns a random kernel of a template, with all indices in range, that
// writes a dtype, or if there is none, one that reads it.
func caseOf(template codegen.Template, dt ir.DType, stream uint64) (found kerneltest.Case, ok bool) {
	for seed := range uint64(200) {
		c := kerneltest.Random(rand.New(rand.NewPCG(seed, stream)), kerneltest.Options{
			Templates: []codegen.Template{template}, DTypes: []ir.DType{dt}, AllFunctions: true,
		})
		reads, writes := false, false
		for _, b := range c.Kernel.Buffers {
			reads = reads || b.DType == dt
			writes = writes || b.DType == dt && b.Mode != codegen.In
		}
		if !reads || ok && !writes || c.Points() <= 20 || !kerneltest.Evaluate(c.Kernel, c.Launch, kerneltest.CloneMemory(c.Mem)) {
			continue
		}
		found, ok = c, true
		if writes {
			break
		}
	}
	return found, ok
}

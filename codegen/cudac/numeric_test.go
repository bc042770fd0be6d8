package cudac_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
)

// What the numeric classes of named kernels are, in words.
func TestNumericClasses(t *testing.T) {
	for _, c := range []struct {
		name   string
		target cudac.Target
		want   []string
	}{
		{"add", cudac.Ampere, nil},
		{"softmax", cudac.Ampere, []string{"within 1 ulp", "in the fixed order"}},
		{"cumsum", cudac.Ampere, []string{"in the fixed order"}},
		{"matmul-f32", cudac.Ampere, []string{"fma to f32, 1 blocks of 256"}},
		{"matmul-f32", relaxed(cudac.Ampere), []string{"mma.m16n8k8.tf32 to f32, 1 blocks of 1024"}},
		{"matmul-bf16", cudac.Hopper, []string{"mma.m16n8k16 to f32, 1 blocks of 1024"}},
		{"matmul-f16-f32", cudac.Ampere, []string{"mma.m16n8k16 to f32, 1 blocks of 1024"}},
		{"matmul-dequantise", cudac.Ampere, []string{"fma to f32, 1 blocks of 256"}},
		{"matmul-i8", cudac.Ampere, nil},
		{"attention", cudac.Ampere, []string{"fma"}},
		{"attention-causal-bf16", cudac.Ampere, []string{"mma.m16n8k16"}},
		{"attention-causal-bf16", relaxed(cudac.Ampere), []string{"mma.m16n8k16 of rounded weights"}},
	} {
		k, ok := kerneltest.GoldenNamed(c.name, kerneltest.Small)
		require.True(t, ok, c.name)
		var got []string
		for _, n := range cudac.NumericOf(k.Kernel, k.Launch, c.target) {
			got = append(got, n.String())
		}
		assert.Equal(t, c.want, got, "%s on %s", c.name, c.target.Arch())
	}
}

func relaxed(t cudac.Target) cudac.Target {
	t.Relaxed = true
	return t
}

// A kernel is exact if all its instructions are correctly rounded or in the one
// order of sums, on every target.
func TestExact(t *testing.T) {
	exact := 0
	for _, c := range kerneltest.Golden() {
		var inexact []cudac.Numeric
		for _, n := range cudac.NumericOf(c.Kernel, c.Launch, cudac.Ampere) {
			if !n.Ordered {
				inexact = append(inexact, n)
			}
		}
		assert.Equal(t, len(inexact) == 0, cudac.Exact(c.Kernel), "%s: %v", c.Kernel.Name, inexact)
		if cudac.Exact(c.Kernel) {
			exact++
		}
		if c.Kernel.Template == codegen.Sort || c.Kernel.Template == codegen.Scatter {
			assert.True(t, cudac.Exact(c.Kernel), c.Kernel.Name)
		}
	}
	assert.Greater(t, exact, 30)
}

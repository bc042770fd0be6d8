package runner_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

const cudaPage = "../../../../docs/CUDA.md"

// The page on CUDA says what is so: its parts between marks are written from data.
func TestCUDAPage(t *testing.T) {
	text, err := os.ReadFile(cudaPage)
	require.NoError(t, err)
	page := string(text)
	for name, part := range map[string]string{
		"source": sourcePart(t), "variants": variantsPart(t), "contractions": contractionsPart(t),
		"attention": attentionPart(t), "functions": functionsPart(), "faults": faultsPart(), "benchmarks": benchmarksPart(),
	} {
		begin, end := "<!-- "+name+", written by a test -->\n", "<!-- end -->\n"
		before, rest, ok := strings.Cut(page, begin)
		require.True(t, ok, begin)
		_, after, ok := strings.Cut(rest, end)
		require.True(t, ok, begin)
		page = before + begin + part + end + after
	}
	if *update {
		require.NoError(t, os.WriteFile(cudaPage, []byte(page), 0o644))
		return
	}
	assert.Equal(t, string(text), page, "-update writes %s", cudaPage)
}

// sourcePart is a kernel and its source.
func sourcePart(t *testing.T) string {
	c := shaped("add-bf16", 512, 1024)()
	source := sources(t, c, cudac.Ampere, false)[0]
	return fmt.Sprintf("```\n%s```\n\n```cuda\n%s```\n", c.Kernel, source.Text)
}

// variantsPart tells which variants launches have, and why others may not take the
// first of them.
func variantsPart(t *testing.T) string {
	out := "| kernel | lengths | variants for sm_80, best first | other lengths | why not the first |\n|---|---|---|---|---|\n"
	for _, x := range []struct {
		name          string
		dims, refused []int
	}{
		{"add", []int{64, 1024}, []int{63, 1023}},
		{"transpose", []int{128, 256}, []int{128, 255}},
		{"sum-rows", []int{64, 768}, []int{64, 5000}},
		{"softmax", []int{64, 1024}, []int{16, 4096}},
		{"matmul-f32", []int{512, 512, 512}, []int{512, 510, 510}},
		{"matmul-bf16", []int{512, 512, 512}, []int{512, 512, 508}},
		{"attention-causal-bf16", []int{1, 4, 128, 64, 128, 64}, []int{1, 4, 32, 64, 32, 320}},
		{"sort", []int{16, 1000}, []int{16, 5000}},
	} {
		c, other := shaped(x.name, x.dims...)(), shaped(x.name, x.refused...)()
		list := cudac.Candidates(c.Kernel, c.Launch, cudac.Ampere, false)
		var names []string
		for _, v := range list {
			names = append(names, "`"+variantOf(v)+"`")
		}
		var refused *cudac.VariantError
		require.True(t, errors.As(list[0].Check(other.Kernel, other.Launch), &refused), "%s takes %v", x.name, x.refused)
		require.NoError(t, list[0].Check(c.Kernel, c.Launch))
		out += fmt.Sprintf("| %s | %v | %s | %v | %s |\n", x.name, x.dims, strings.Join(names, ", "), x.refused, refused.Rule)
	}
	return out
}

// contractionsPart is the table of the numeric classes of contractions.
func contractionsPart(t *testing.T) string {
	relaxed, groups := cudac.Ampere, cudac.Hopper
	relaxed.Relaxed, groups.Wgmma = true, true
	out := "| factors | K | target | class |\n|---|---|---|---|\n"
	for _, x := range []struct {
		kernel, factors string
		k               int
		target          cudac.Target
		option          string
	}{
		{"matmul-f32", "f32", 4096, cudac.Ampere, ""},
		{"matmul-f32", "f32", 4096, relaxed, ", Relaxed"},
		{"matmul-f64", "f64", 4096, cudac.Ampere, ""},
		{"matmul-f16", "f16", 4096, cudac.Ampere, ""},
		{"matmul-bf16", "bf16", 512, cudac.Ampere, ""},
		{"matmul-bf16", "bf16", 4096, cudac.Hopper, ""},
		{"matmul-bf16", "bf16", 4096, groups, ", Wgmma"},
		{"matmul-bf16", "bf16", 4096, cudac.Blackwell, ""},
		{"matmul-cast", "f32, and f16 cast to f32", 4096, cudac.Ampere, ""},
		{"matmul-u8-i8", "u8, i8 to i32", 4096, cudac.Ampere, ""},
		{"matmul-i64", "i64", 4096, cudac.Ampere, ""},
	} {
		c, ok := kerneltest.GoldenNamed(x.kernel, kerneltest.Small)
		require.True(t, ok, x.kernel)
		out += fmt.Sprintf("| %s | %d | %s%s | %v |\n", x.factors, x.k, x.target.Arch(), x.option, cudac.ClassOf(c.Kernel, x.k, x.target))
	}
	return out
}

// attentionPart is the table of the numeric classes of attention.
func attentionPart(t *testing.T) string {
	relaxed := cudac.Ampere
	relaxed.Relaxed = true
	out := "| operands | head dim | target | class |\n|---|---|---|---|\n"
	for _, x := range []struct {
		kernel, dtype string
		dims          int
		target        cudac.Target
		option        string
	}{
		{"attention", "f32", 64, cudac.Ampere, ""},
		{"attention-f64", "f64", 64, cudac.Ampere, ""},
		{"attention-causal-bf16", "bf16", 64, cudac.Ampere, ""},
		{"attention-causal-bf16", "bf16", 64, relaxed, ", Relaxed"},
		{"attention-mask-f16", "f16", 256, cudac.Hopper, ""},
		{"attention-mask-f16", "f16", 320, cudac.Hopper, ""},
	} {
		c, ok := kerneltest.GoldenNamed(x.kernel, kerneltest.Small)
		require.True(t, ok, x.kernel)
		out += fmt.Sprintf("| %s | %d | %s%s | %v |\n", x.dtype, x.dims, x.target.Arch(), x.option, cudac.AttentionClassOf(c.Kernel, x.dims, x.target))
	}
	return out
}

// functionsPart is the table of the bounds of functions.
func functionsPart() string {
	type ulps [2]float64
	functions := map[ulps][]string{}
	for _, fn := range ir.ScalarOps() {
		if u := (ulps{cudac.FuncBound(fn, ir.F32), cudac.FuncBound(fn, ir.F64)}); u != (ulps{}) {
			functions[u] = append(functions[u], fn.String())
		}
	}
	var rows []string
	for u, names := range functions {
		rows = append(rows, fmt.Sprintf("| %g | %g | %s |\n", u[0], u[1], strings.Join(names, ", ")))
	}
	slices.Sort(rows)
	return "| f32 | f64 | functions |\n|---|---|---|\n" + strings.Join(rows, "")
}

// faultsPart lists what is reported as a fault.
func faultsPart() string {
	var names []string
	for k := exec.OutOfBounds; k <= exec.BadAddressSpace; k++ {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ") + ".\n"
}

// benchmarksPart lists the benchmark kernels and what is asserted of each.
func benchmarksPart() string {
	var streams, clean, other []string
	for i := range figures {
		f := &figures[i]
		if f.streams {
			streams = append(streams, f.name)
		}
		if f.clean {
			clean = append(clean, f.name)
		}
		if !f.streams && !f.clean {
			other = append(other, f.name)
		}
	}
	return fmt.Sprintf("- DRAM moves what the operands hold and no more: %s.\n- No bank conflicts: %s.\n- Kept figures alone: %s.\n",
		strings.Join(streams, ", "), strings.Join(clean, ", "), strings.Join(other, ", "))
}

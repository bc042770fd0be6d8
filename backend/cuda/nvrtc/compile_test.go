package nvrtc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
)

var (
	ctx = context.Background()
	// strict options round the product and the sum below apart.
	strict = []string{"--minimal", "--fmad=false"}
)

const addSource = `extern "C" __global__ void add(const float* a, const float* b, float* out, unsigned n) {
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) out[i] = a[i] * b[i] + 1.0f;
}`

func TestCompile(t *testing.T) {
	l := nvrtctest.Require(t)
	for _, tt := range []struct {
		arch   string
		kind   nvrtc.Kind
		target string
	}{
		{"sm_80", nvrtc.PTX, ".target sm_80"},
		{"compute_80", nvrtc.PTX, ".target sm_80"},
		{"sm_80", nvrtc.Both, ".target sm_80"},
		{"sm_90a", nvrtc.Both, ".target sm_90a"},
		{"sm_100", nvrtc.CUBIN, ""},
	} {
		out, err := l.Compile(t.Context(), nvrtc.Input{Source: addSource, Name: "add.cu", Arch: tt.arch, Kind: tt.kind, Options: strict})
		require.NoError(t, err, tt.arch)
		assert.Empty(t, out.Log)
		assert.Nil(t, out.Lowered)
		if tt.kind == nvrtc.CUBIN {
			assert.Nil(t, out.PTX)
		} else {
			assert.Contains(t, string(out.PTX), ".entry add(")
			assert.Contains(t, string(out.PTX), tt.target+"\n")
			assert.NotContains(t, string(out.PTX), "fma", "multiplication and addition round apart")
			assert.True(t, strings.HasSuffix(strings.TrimSpace(string(out.PTX)), "}"))
		}
		if tt.kind == nvrtc.PTX {
			assert.Nil(t, out.CUBIN)
		} else {
			assert.Equal(t, "\x7fELF", string(out.CUBIN[:4]))
		}
	}
}

func TestNamesOfTemplates(t *testing.T) {
	l := nvrtctest.Require(t)
	names := []string{"scale<float>", "&space::scale2<int, 3>"}
	out, err := l.Compile(t.Context(), nvrtc.Input{
		Source: `template <class T> __global__ void scale(T* p, T by) { p[threadIdx.x] *= by; }
namespace space { template <class T, int n> __global__ void scale2(T* p) { p[threadIdx.x] *= n; } }`,
		Name: "scale.cu", Arch: "sm_80", Names: names,
	})
	require.NoError(t, err)
	require.Len(t, out.Lowered, 2)
	for _, name := range names {
		assert.Contains(t, string(out.PTX), ".entry "+out.Lowered[name]+"(", name)
	}
}

func TestSourceThatDoesNotCompile(t *testing.T) {
	l := nvrtctest.Require(t)
	const bad = "extern \"C\" __global__ void f(float* p) {\n\t*p = missing;\n}"
	_, err := l.Compile(t.Context(), nvrtc.Input{Source: bad, Name: "bad.cu", Arch: "sm_80"})
	var e *backend.CompileError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, bad, e.Source)
	assert.Contains(t, e.Log, "bad.cu(2): error: ")
	assert.ErrorContains(t, err, `identifier "missing" is undefined`)
	var call *nvrtc.Error
	require.ErrorAs(t, err, &call)
	assert.Equal(t, 6, call.Code)
}

func TestSecondProcessCompilesNothing(t *testing.T) {
	l := nvrtctest.Require(t)
	vars := []string{"SINTER_NVRTC=" + l.Path(), "SINTER_KERNEL_DIR=" + t.TempDir()}
	for _, want := range []nvrtc.CacheStats{{Compiles: 2, MemoryHits: 1}, {DiskHits: 2, MemoryHits: 1}} {
		out, failure := elsewhere(t, "cache", vars...)
		var got nvrtc.CacheStats
		require.NoError(t, json.Unmarshal([]byte(out), &got), failure)
		assert.Equal(t, want, got)
	}
}

// Many compilations at once give what one alone gives.
func TestParallel(t *testing.T) {
	l := nvrtctest.Require(t)
	source := func(i int) nvrtc.Input {
		return nvrtc.Input{Source: strings.ReplaceAll(addSource, "1.0f", fmt.Sprintf("%d.0f", i)), Name: "add.cu", Arch: "sm_80"}
	}
	const n = 16
	var alone [n]string
	for i := range n {
		out, err := l.Compile(t.Context(), source(i))
		require.NoError(t, err)
		alone[i] = string(out.PTX)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range n {
				i := (i + 5*w) % n
				out, err := l.Compile(ctx, source(i))
				if assert.NoError(t, err) {
					assert.Equal(t, alone[i], string(out.PTX))
				}
			}
		})
	}
	wg.Wait()
}

// A long compilation is given up soon after its context is done, and the library
// goes on working.
func TestCancelledWhileItRuns(t *testing.T) {
	l := nvrtctest.Require(t)
	var long strings.Builder
	long.WriteString("extern \"C\" __global__ void f(float* p) {\n")
	for i := range 30000 {
		fmt.Fprintf(&long, "\tp[%d] = p[%d] * p[threadIdx.x + %d];\n", i, i+1, i%977)
	}
	long.WriteString("}\n")
	in := nvrtc.Input{Source: long.String(), Name: "long.cu", Arch: "sm_80"}
	cancelled, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := l.Compile(cancelled, in)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Eventually(t, func() bool { return l.Running() == 0 }, time.Minute, time.Millisecond, "alone it takes longer")
	out, err := l.Compile(t.Context(), nvrtc.Input{Source: addSource, Name: "add.cu", Arch: "sm_80"})
	require.NoError(t, err)
	assert.Contains(t, string(out.PTX), ".entry add(")
}

func TestCancelled(t *testing.T) {
	l := nvrtctest.Require(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Compile(ctx, nvrtc.Input{Source: addSource, Name: "add.cu", Arch: "sm_80"})
	assert.ErrorIs(t, err, context.Canceled)
}

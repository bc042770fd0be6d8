package nvrtc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
)

// Kernels that differ in what they take: tile has shared memory, a barrier and a
// constant; wide has more live values than registers; calls has a function.
const resourceSource = `__constant__ float table[16];
__device__ float total;
extern "C" __global__ void tile(float* p, int n) {
	__shared__ float s[256];
	s[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = s[255 - threadIdx.x] + table[n & 15];
}
extern "C" __global__ void __launch_bounds__(1024, 2) wide(float* p) {
	float a[128], sum = 0;
#pragma unroll
	for (int i = 0; i < 128; i++) a[i] = p[i * 7 + threadIdx.x];
	__syncthreads();
#pragma unroll
	for (int i = 0; i < 128; i++) { sum += a[i] * a[127 - i]; p[i] = a[i] + sum; }
	total = sum;
}
__device__ __noinline__ float step(float x) { float y = x; for (int i = 0; i < 100; i++) y = y * y + x; return y; }
extern "C" __global__ void calls(float* p) { p[threadIdx.x] = step(p[threadIdx.x]); }`

func TestResources(t *testing.T) {
	l, a := nvrtctest.Require(t), nvrtctest.Assembler(t)
	for _, arch := range []string{"sm_80", "sm_90a", "sm_100"} {
		out, err := l.Compile(t.Context(), nvrtc.Input{Source: resourceSource, Name: "r.cu", Arch: arch})
		require.NoError(t, err)
		r, err := a.Assemble(t.Context(), out.PTX, arch)
		require.NoError(t, err, arch)
		require.Len(t, r.Entries, 3)
		tile, _ := r.Entry("tile")
		wide, _ := r.Entry("wide")
		calls, _ := r.Entry("calls")
		_, ok := r.Entry("step")
		assert.False(t, ok)

		assert.Equal(t, 1024, tile.Shared)
		assert.Equal(t, 1, tile.Barriers)
		assert.Zero(t, tile.SpillLoads+tile.SpillStores+tile.Stack)
		assert.Equal(t, 32, wide.Registers, "of 65,536 for 2,048 threads")
		assert.Positive(t, wide.SpillStores)
		assert.Positive(t, wide.SpillLoads)
		assert.GreaterOrEqual(t, wide.Stack, wide.SpillStores/4)
		assert.Zero(t, calls.Shared+calls.Barriers+calls.SpillLoads)
		assert.Equal(t, 4, r.Global)
		if arch == "sm_80" { // the newer ones do not say
			assert.GreaterOrEqual(t, r.Constant, 64)
			assert.GreaterOrEqual(t, tile.Constant, 12, "the parameters")
		}
	}
}

func TestPTXThatIsRefused(t *testing.T) {
	a := nvrtctest.Assembler(t)
	const header = ".version 8.0\n.target sm_80\n.address_size 64\n"
	for name, ptx := range map[string]string{
		"garbage":   "no PTX at all",
		"empty":     "",
		"operation": header + ".visible .entry f() {\n\tadd.f33 %f1, %f2, %f3;\n\tret;\n}\n",
		"version":   ".version 99.0\n.target sm_80\n.address_size 64\n",
		"target":    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f() { ret; }\n",
	} {
		_, err := a.Assemble(t.Context(), []byte(ptx), "sm_80")
		var e *backend.CompileError
		require.ErrorAs(t, err, &e, name)
		assert.Equal(t, ptx, e.Source)
		assert.Contains(t, e.Log, "ptxas", name)
		assert.ErrorContains(t, err, "ptxas", name)
		if name == "operation" {
			assert.ErrorContains(t, err, "line 5; error")
		}
	}
	for _, arch := range []string{"", "compute_80", "80", "sm_80; rm"} {
		_, err := a.Assemble(t.Context(), []byte(header), arch)
		var e *nvrtc.InputError
		require.ErrorAs(t, err, &e, arch)
	}
	_, err := a.Assemble(t.Context(), []byte(header), "sm_99")
	assert.ErrorContains(t, err, "sm_99")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = a.Assemble(cancelled, []byte(header), "sm_80")
	assert.ErrorIs(t, err, context.Canceled)
}

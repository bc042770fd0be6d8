package backendtest

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/ir"
)

// staging moves data through host memory of the device.
func (s suite) staging(t *testing.T) {
	b := s.bench(t, backend.Options{MemoryLimit: 16 << 20})
	host := func(n int) *backend.Buffer {
		t.Helper()
		h, err := b.dev.AllocHost(n)
		require.NoError(t, err)
		require.Equal(t, backend.Staging, h.Pool)
		require.Len(t, h.Host, n)
		require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(h.Host)))%64, "alignment")
		return h
	}
	for _, n := range sizes {
		up, down, mem := host(n), host(n), b.alloc(n)
		for i := range up.Host {
			up.Host[i] = byte(i*7 + n)
		}
		before := b.dev.Counters()
		require.NoError(t, b.dev.Copy(b.stream, mem, 0, up, 0, n))
		require.NoError(t, b.dev.Copy(b.stream, down, 0, mem, 0, n))
		require.NoError(t, b.dev.Sync(ctx, b.stream))
		after := b.dev.Counters()
		assert.Equal(t, before.Copies+2, after.Copies)
		assert.Equal(t, before.BytesCopied+2*int64(n), after.BytesCopied)
		if b.values {
			require.True(t, bytes.Equal(up.Host, down.Host), "%d bytes", n)
		}
		reserves := b.dev.Counters().Reserves
		b.free(up, down)
		b.free(host(n), host(n))
		assert.Equal(t, reserves, b.dev.Counters().Reserves, "used again")
		b.free(mem)
	}
	r := b.reports().Of(backend.Staging)
	assert.Zero(t, r.Allocations)
	assert.Positive(t, r.Reserved)
	assert.Equal(t, int64(3<<20+1), r.Largest)
	b.trim()
	assert.Zero(t, b.reports().Usage.Reserved)

	// Parts, and what is not within.
	h, mem := host(8), b.upload([]byte{0, 1, 2, 3, 4, 5, 6, 7})
	copy(h.Host, "abcdefgh")
	require.NoError(t, b.dev.Copy(b.stream, mem, 1, h, 6, 2))
	b.holds([]byte{0, 'g', 'h', 3, 4, 5, 6, 7}, mem)
	fails[*backend.DeviceError](b, b.dev.Copy(b.stream, mem, 0, h, 7, 2))
	fails[*backend.DeviceError](b, b.dev.Copy(b.stream, h, -1, mem, 0, 2))

	// Misuse: by a kernel, as another device's, after Free.
	e := b.compileKernel(incrementKernel(ir.I64))
	fails[*backend.DeviceError](b, b.dev.Launch(b.stream, e, incrementLaunch(1, 1), []*backend.Buffer{h, mem}))
	foreign := s.bench(t, backend.Options{})
	fails[*backend.DeviceError](b, foreign.dev.Copy(foreign.stream, foreign.alloc(8), 0, h, 0, 8))
	b.free(h)
	fails[*backend.DeviceError](b, b.dev.Copy(b.stream, mem, 0, h, 0, 8))
	b.free(h)
	fails[*backend.DeviceError](b, b.dev.Sync(ctx, b.stream), "freed twice")

	for _, n := range []int{17 << 20, math.MaxInt, -1} {
		_, err := b.dev.AllocHost(n)
		assert.Equal(t, n, fails[*backend.OutOfMemoryError](b, err).Bytes)
	}
	b.free(host(8))
}

// useAfterFree provokes the fault that poison is for: a graph that reads
// memory which was freed since.
func (s suite) useAfterFree(t *testing.T) {
	if !s.values {
		return
	}
	const n = 1000
	values := make([]float32, n)
	for _, poison := range []bool{true, false} {
		b := s.bench(t, backend.Options{Poison: poison})
		in, out := b.upload(f32s(values...)), b.upload(f32s(values...))
		e := b.compileKernel(incrementKernel(ir.F32))
		l := incrementLaunch(n, uint64(math.Float32bits(2)))
		g := b.captured(func() { require.NoError(t, b.dev.Launch(b.stream, e, l, []*backend.Buffer{in, out})) })
		require.NoError(t, g.Replay(b.stream, nil))
		b.free(in)
		require.NoError(t, g.Replay(b.stream, nil))
		for i := range n {
			bits := b.read(out)[4*i : 4*i+4]
			got := math.Float32frombits(uint32(bits[0]) | uint32(bits[1])<<8 | uint32(bits[2])<<16 | uint32(bits[3])<<24)
			if poison {
				require.True(t, math.IsNaN(float64(got)), "element %d is %v", i, got)
			} else {
				require.Equal(t, float32(2), got, "it looks right without")
			}
		}
	}
}

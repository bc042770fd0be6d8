package exec_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// Every operation and type, on global and shared memory, returns what stood there
// and leaves what the operation makes of it.
func TestAtomics(t *testing.T) {
	f32 := func(f func(a, b float32) float32) func(a, b, c uint64) uint64 {
		return func(a, b, _ uint64) uint64 {
			return uint64(math.Float32bits(f(math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)))))
		}
	}
	f64 := func(a, b, _ uint64) uint64 {
		return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
	}
	type values []uint64
	ints32 := values{0, 1, 5, 0x7fffffff, 0x80000000, 0xffffffff, 6}
	ints64 := values{0, 1, 1 << 40, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 77}
	floats := values{0x3f800000, 0xc0490fdb, 0, 0x80000000, 0x7f800000}
	doubles := values{0x3ff0000000000000, 0xc00921fb54442d18, 0}
	wrap := func(bits int, f func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
		return func(a, b, c uint64) uint64 { return f(a, b, c) & (1<<bits - 1) }
	}
	for _, c := range []struct {
		op   string
		bits int
		vals values
		want func(a, b, c uint64) uint64
	}{
		{"add.u32", 32, ints32, wrap(32, func(a, b, _ uint64) uint64 { return a + b })},
		{"add.s32", 32, ints32, wrap(32, func(a, b, _ uint64) uint64 { return a + b })},
		{"add.u64", 64, ints64, func(a, b, _ uint64) uint64 { return a + b }},
		{"add.f32", 32, floats, f32(func(a, b float32) float32 { return a + b })},
		{"add.f64", 64, doubles, f64},
		{"exch.b32", 32, ints32, func(_, b, _ uint64) uint64 { return b }},
		{"exch.b64", 64, ints64, func(_, b, _ uint64) uint64 { return b }},
		{"cas.b32", 32, ints32, func(a, b, c uint64) uint64 {
			if a == b {
				return c
			}
			return a
		}},
		{"cas.b64", 64, ints64, func(a, b, c uint64) uint64 {
			if a == b {
				return c
			}
			return a
		}},
		{"and.b32", 32, ints32, func(a, b, _ uint64) uint64 { return a & b }},
		{"or.b64", 64, ints64, func(a, b, _ uint64) uint64 { return a | b }},
		{"xor.b32", 32, ints32, func(a, b, _ uint64) uint64 { return a ^ b }},
		{"inc.u32", 32, ints32, func(a, b, _ uint64) uint64 {
			if a >= b {
				return 0
			}
			return a + 1
		}},
		{"dec.u32", 32, ints32, func(a, b, _ uint64) uint64 {
			if a == 0 || a > b {
				return b
			}
			return a - 1
		}},
		{"min.u32", 32, ints32, func(a, b, _ uint64) uint64 { return min(a, b) }},
		{"max.u64", 64, ints64, func(a, b, _ uint64) uint64 { return max(a, b) }},
		{"min.s32", 32, ints32, func(a, b, _ uint64) uint64 { return uint64(uint32(min(int32(a), int32(b)))) }},
		{"max.s32", 32, ints32, func(a, b, _ uint64) uint64 { return uint64(uint32(max(int32(a), int32(b)))) }},
		{"min.s64", 64, ints64, func(a, b, _ uint64) uint64 { return uint64(min(int64(a), int64(b))) }},
		{"max.s64", 64, ints64, func(a, b, _ uint64) uint64 { return uint64(max(int64(a), int64(b))) }},
	} {
		reg, typ := "%r", "b32"
		if c.bits == 64 {
			reg, typ = "%d", "b64"
		}
		third := ""
		if c.op[:3] == "cas" {
			third = fmt.Sprintf(", %s3", reg)
		}
		for _, a := range c.vals {
			for _, b := range c.vals {
				mem := exec.NewMemory()
				out, got := array[uint64](mem, 4)
				src := source(fmt.Sprintf(`
.shared .align 8 .b64 s; mov.u64 %%d10, s; cvta.shared.u64 %%d11, %%d10;
mov.%[2]s %[1]s1, %[4]d; mov.%[2]s %[1]s2, %[5]d; mov.%[2]s %[1]s3, 99;
st.global.%[2]s [%%out], %[1]s1; st.shared.%[2]s [%%d10], %[1]s1;
atom.global.%[3]s %[1]s4, [%%out], %[1]s2%[6]s; atom.%[3]s %[1]s5, [%%d11], %[1]s2%[6]s;
ld.shared.%[2]s %[1]s6, [%%d10];
st.global.%[2]s [%%out+8], %[1]s4; st.global.%[2]s [%%out+16], %[1]s5; st.global.%[2]s [%%out+24], %[1]s6; ret;`,
					reg, typ, c.op, int64(a), int64(b), third))
				_, err := exec1(t, src, 1, []exec.Arg{exec.ArgOf(out), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}, mem)
				require.NoError(t, err)
				want := c.want(a, b, 99)
				require.Equal(t, []uint64{want, a, a, want}, got, "%s of %#x and %#x", c.op, a, b)
			}
		}
	}
}

// Blocks that run at once add up.
func TestAtomicsOfManyBlocks(t *testing.T) {
	mem := exec.NewMemory()
	out, got := array[uint32](mem, 2)
	o := checked
	o.Workers = 4
	args := []exec.Arg{exec.ArgOf(out), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}
	c, err := load(t, source("red.global.add.u32 [%out], 1; atom.global.max.u32 %r1, [%out+4], %t; ret;")).Launch(context.Background(), "k", dim(64), dim(96), 0, args, mem, o)
	require.NoError(t, err)
	assert.Equal(t, []uint32{64 * 96, 95}, got)
	assert.EqualValues(t, 2*64*96, c.Atomics)
	assert.Equal(t, exec.Traffic{Requests: 2 * 64 * 3, Sectors: 2 * 64 * 3, Bytes: 2 * 64 * 96 * 4}, c.GlobalStores)
	assert.Zero(t, c.GlobalLoads)
}

// Sums of subnormal and of narrow floats on both kinds of memory.
func TestAtomicSumsOfFloats(t *testing.T) {
	for _, c := range []struct {
		op, reg            string
		bits               int
		a, b               uint32
		onShared, onGlobal uint32
	}{
		{"add.f32", "%r", 32, 0x00000001, 0x00000003, 0x00000004, 0},
		{"add.f32", "%r", 32, 0x00800001, 0x80800000, 0x00000001, 0},
		{"add.noftz.f16", "%h", 16, 0x3c00, 0x0001, 0x3c00, 0x3c00},
		{"add.noftz.f16", "%h", 16, 0x0001, 0x0002, 0x0003, 0x0003},
		{"add.noftz.bf16", "%h", 16, 0x3f80, 0x4000, 0x4040, 0x4040},
		{"add.noftz.f16x2", "%r", 32, 0x3c004000, 0x3c000001, 0x40004000, 0x40004000},
		{"add.noftz.bf16x2", "%r", 32, 0x3f804000, 0x40003f80, 0x40404040, 0x40404040},
	} {
		mem := exec.NewMemory()
		out, got := array[uint32](mem, 2)
		got[0] = c.a
		src := source(fmt.Sprintf(`
.shared .align 4 .b32 s; mov.b%[1]d %[2]s1, %[3]d; mov.b%[1]d %[2]s2, %[4]d; st.shared.b32 [s], %[3]d;
atom.global.%[5]s %[2]s3, [%%out], %[2]s2; atom.shared.%[5]s %[2]s3, [s], %[2]s2; ld.shared.u32 %%r9, [s]; st.global.u32 [%%out+4], %%r9; ret;`,
			c.bits, c.reg, c.a, c.b, c.op))
		_, err := exec1(t, src, 1, []exec.Arg{exec.ArgOf(out), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}, mem)
		require.NoError(t, err)
		assert.Equal(t, []uint32{c.onGlobal, c.onShared}, got, "%s of %#x and %#x", c.op, c.a, c.b)
	}
}

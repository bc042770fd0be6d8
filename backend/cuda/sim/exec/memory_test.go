package exec_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// Loads of every type and width, into registers as wide and wider.
func TestLoads(t *testing.T) {
	mem := exec.NewMemory()
	in, bytes := array[byte](mem, 32*32)
	for i := range bytes {
		bytes[i] = byte(i*37 + i>>5 + 0x71)
	}
	word := func(at, n int, signed bool) uint64 {
		var v uint64
		for i := n - 1; i >= 0; i-- {
			v = v<<8 | uint64(bytes[at+i])
		}
		if shift := 64 - 8*n; signed {
			v = uint64(int64(v<<shift) >> shift)
		}
		return v
	}
	for _, space := range []string{"global", "global.nc", "volatile.global", "relaxed.gpu.global", "generic"} {
		for typ, n := range map[string]int{"u8": 1, "s8": 1, "b8": 1, "u16": 2, "s16": 2, "u32": 4, "s32": 4, "f32": 4, "b32": 4, "u64": 8, "s64": 8, "f64": 8} {
			for _, vec := range []int{1, 2, 4} {
				op := fmt.Sprintf("ld.%s.", space)
				if space == "generic" {
					op = "ld."
				}
				regs := "%d1"
				if vec == 2 {
					regs = "{%d1, %d2}"
				} else if vec == 4 {
					regs = "{%d1, %d2, %d3, %d4}"
				}
				if vec > 1 {
					op += fmt.Sprintf("v%d.", vec)
				}
				size := n * vec
				if vec == 2 {
					regs = "{%d1, %d2}"
				}
				out, got := array[uint64](mem, 32*4)
				src := source(fmt.Sprintf(`
ld.param.u64 %%d5, [p1]; mad.wide.u32 %%d5, %%t, %d, %%d5; mad.wide.u32 %%d6, %%t, 32, %%out;
mov.u64 %%d2, 0; mov.u64 %%d3, 0; mov.u64 %%d4, 0;
%s%s %s, [%%d5];
st.global.v2.u64 [%%d6], {%%d1, %%d2}; st.global.v2.u64 [%%d6+16], {%%d3, %%d4}; ret;`, size, op, typ, regs))
				_, err := load(t, src).Launch(context.Background(), "k", dim(1), dim(27), 0, []exec.Arg{exec.ArgOf(out), exec.ArgOf(in), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}, mem, checked)
				require.NoError(t, err)
				want := make([]uint64, 32*4)
				for lane := range 27 {
					for j := range vec {
						want[lane*4+j] = word(lane*size+j*n, n, typ[0] == 's')
					}
				}
				require.Equal(t, want, got, "%s%s", op, typ)
			}
		}
	}
}

// Stores of every width, from registers as wide and wider, contiguous and not.
func TestStores(t *testing.T) {
	for _, threads := range []int{32, 19} {
		for _, stride := range []int{1, 2} {
			for typ, n := range map[string]int{"u8": 1, "b16": 2, "u32": 4, "f32": 4, "u64": 8, "f64": 8} {
				for _, vec := range []int{1, 2, 4} {
					mem := exec.NewMemory()
					out, got := array[byte](mem, 32*32*2)
					regs := []string{"%d1", "{%d1, %d2}", "", "{%d1, %d2, %d3, %d4}"}[vec-1]
					v := ""
					if vec > 1 {
						v = fmt.Sprintf("v%d.", vec)
					}
					src := source(fmt.Sprintf(`
mad.wide.u32 %%d5, %%t, %d, %%out; mov.u64 %%d7, 0x9e3779b97f4a7c15; cvt.u64.u32 %%d6, %%t;
mad.lo.u64 %%d1, %%d6, %%d7, %%d7; mul.lo.u64 %%d2, %%d1, %%d7; mul.lo.u64 %%d3, %%d2, %%d7; mul.lo.u64 %%d4, %%d3, %%d7;
st.global.%s%s [%%d5], %s; ret;`, n*vec*stride, v, typ, regs))
					_, err := load(t, src).Launch(context.Background(), "k", dim(1), dim(threads), 0, []exec.Arg{exec.ArgOf(out), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}, mem, checked)
					require.NoError(t, err)
					want := make([]byte, len(got))
					for lane := range uint64(threads) {
						const m = 0x9e3779b97f4a7c15
						x := (lane + 1) * m
						for j := range vec {
							for b := range n {
								want[int(lane)*n*vec*stride+j*n+b] = byte(x >> (8 * b))
							}
							x *= m
						}
					}
					require.Equal(t, want, got, "%s%s stride %d", v, typ, stride)
				}
			}
		}
	}
}

// Parameters, constants, variables, shared and local memory by their own and by
// generic addresses.
func TestWindows(t *testing.T) {
	out := good(t, `.const .align 4 .b32 c[2] = {7, 70};
.global .align 4 .b32 g[2] = {500, 600};
.extern .shared .align 16 .b8 dyn[];
---
.local .align 8 .b8 depot[16]; .shared .align 4 .b8 s[256];
mov.u64 %d1, depot; cvta.local.u64 %d2, %d1; st.local.u32 [%d1+4], %t; ld.u32 %r2, [%d2+4]; st.u32 [%d2+8], 3; ld.local.u32 %r3, [depot+8];
mov.u64 %d3, s; mad.wide.u32 %d3, %t, 4, %d3; cvta.shared.u64 %d4, %d3; st.u32 [%d4], 1000; ld.shared.u32 %r4, [%d3]; cvta.to.shared.u64 %d5, %d4; cvt.u32.u64 %r5, %d5; ld.shared.u32 %r5, [%r5];
mov.u64 %d6, dyn; cvta.shared.u64 %d6, %d6; mad.wide.u32 %d6, %t, 4, %d6; st.u32 [%d6+512], 20000; ld.u32 %r6, [%d6+512];
ld.const.u32 %r7, [c+4]; mov.u64 %d7, c; cvta.const.u64 %d8, %d7; ld.u32 %r8, [%d8]; ld.const.u32 %r9, [%d7]; sub.u32 %r8, %r8, %r9;
ld.global.u32 %r10, [g+4]; mov.u64 %d9, g; cvta.global.u64 %d9, %d9; ld.u32 %r11, [%d9];
mov.b64 %d10, p1; cvta.param.u64 %d11, %d10; ld.u32 %r12, [%d11]; ld.param.u32 %r13, [p1+4];
add.u32 %r1, %r2, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6; add.u32 %r1, %r1, %r7; add.u32 %r1, %r1, %r8; add.u32 %r1, %r1, %r10; add.u32 %r1, %r1, %r11; add.u32 %r1, %r1, %r12; add.u32 %r1, %r1, %r13;`+storeR1,
		2, 64, 64, 100_000_000_000)
	p1 := uint64(100_000_000_000)
	param := uint32(p1) + uint32(p1>>32)
	assert.Equal(t, each(64, func(i int) uint32 { return uint32(i) + 3 + 1000 + 1000 + 20000 + 70 + 500 + 600 + param }), out)

	out = good(t, `.const .b32 c = 1;
---
.local .b32 l; .shared .b32 s;
mov.u64 %d1, l; cvta.local.u64 %d1, %d1; mov.u64 %d2, s; cvta.shared.u64 %d2, %d2; mov.u64 %d3, c; mov.b64 %d4, p1; cvta.param.u64 %d4, %d4;
rem.u32 %r2, %t, 5; mov.u64 %d5, %out; setp.eq.u32 %p1, %r2, 1; @%p1 mov.u64 %d5, %d1; setp.eq.u32 %p1, %r2, 2; @%p1 mov.u64 %d5, %d2; setp.eq.u32 %p1, %r2, 3; @%p1 mov.u64 %d5, %d3; setp.eq.u32 %p1, %r2, 4; @%p1 mov.u64 %d5, %d4;
isspacep.global %p1, %d5; selp.b32 %r1, 1, 0, %p1; isspacep.local %p1, %d5; selp.b32 %r3, 2, 0, %p1; add.u32 %r1, %r1, %r3; isspacep.shared %p1, %d5; selp.b32 %r3, 4, 0, %p1; add.u32 %r1, %r1, %r3;
isspacep.const %p1, %d5; selp.b32 %r3, 8, 0, %p1; add.u32 %r1, %r1, %r3; isspacep.param %p1, %d5; selp.b32 %r3, 16, 0, %p1; add.u32 %r1, %r1, %r3;`+storeR1, 1, 32, 32)
	assert.Equal(t, each(32, func(i int) uint32 { return 1 << (i % 5) }), out)
}

// Variables of a module keep their values between launches, and may hold the
// addresses of others.
func TestModuleVariables(t *testing.T) {
	p := load(t, source(`.global .align 4 .b32 count = 5;
.global .align 8 .u64 at[2] = {0, count};
---
ld.global.u64 %d1, [at+8]; atom.global.add.u32 %r1, [%d1], 1;`+storeR1))
	mem := exec.NewMemory()
	addr, out := array[uint32](mem, 32)
	args := []exec.Arg{exec.ArgOf(addr), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}
	for launch := range 3 {
		_, err := p.Launch(context.Background(), "k", dim(1), dim(32), 0, args, mem, checked)
		require.NoError(t, err)
		assert.Equal(t, uint32(5+32*launch+31), out[31])
	}
	_, b, ok := p.Symbol("count")
	require.True(t, ok)
	assert.Equal(t, []byte{5 + 96, 0, 0, 0}, b)
	_, _, ok = p.Symbol("other")
	assert.False(t, ok)
}

// Lanes whose addresses lie in several allocations.
func TestSeveralAllocations(t *testing.T) {
	mem := exec.NewMemory()
	out, got := array[uint32](mem, 32)
	var at []uint64
	for i := range 3 {
		a, v := array[uint32](mem, 8)
		for j := range v {
			v[j] = uint32(100*i + j)
		}
		at = append(at, a)
	}
	src := source(`
ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2]; ld.param.u64 %d3, [p3]; rem.u32 %r2, %t, 3; shr.u32 %r3, %t, 2;
setp.eq.u32 %p1, %r2, 1; @%p1 mov.u64 %d1, %d2; setp.eq.u32 %p1, %r2, 2; @%p1 mov.u64 %d1, %d3; mad.wide.u32 %d1, %r3, 4, %d1; ld.global.u32 %r1, [%d1];` + storeR1)
	c, err := load(t, src).Launch(context.Background(), "k", dim(1), dim(32), 0, []exec.Arg{exec.ArgOf(out), exec.ArgOf(at[0]), exec.ArgOf(at[1]), exec.ArgOf(at[2])}, mem, checked)
	require.NoError(t, err)
	assert.Equal(t, each(32, func(i int) uint32 { return uint32(100*(i%3) + i/4) }), got)
	assert.EqualValues(t, exec.Traffic{Requests: 1, Sectors: 3, Bytes: 128}, c.GlobalLoads)
}

func TestMemory(t *testing.T) {
	mem := exec.NewMemory()
	a, b := mem.Alloc(100)
	assert.Zero(t, a%256)
	assert.Len(t, b, 100)
	host := []byte{1, 2, 3}
	m := mem.MapBytes(host)
	assert.Zero(t, m%256)
	assert.GreaterOrEqual(t, m, a+100+256, "running over an end is seen")
	assert.False(t, mem.Free(a+4))
	assert.False(t, mem.Poison(a+4))
	assert.False(t, mem.Define(a, 101))
	assert.True(t, mem.Define(a+50, 50))
	assert.True(t, mem.Free(a))
	assert.False(t, mem.Free(a), "freed twice")
	assert.False(t, mem.Define(a, 1))
	next, _ := mem.Alloc(0)
	assert.Greater(t, next, m)
	// What is known of freed memory is bounded.
	for range 20000 {
		x, _ := mem.Alloc(1)
		require.Greater(t, x, next)
		next = x
		require.True(t, mem.Free(x))
	}
	assert.True(t, mem.Free(m))
}

func TestWrongAddresses(t *testing.T) {
	const load = "ld.global.u32 %r1, [%d1];\nret;"
	for _, c := range []struct {
		name   string
		kind   exec.FaultKind
		body   string
		thread int
		detail string
	}{
		{"over the end", exec.OutOfBounds, "\nst.global.u32 [%at], %t;\nret;", 16, "0 bytes behind the end of the allocation of 64 bytes"},
		{"partly over the end", exec.OutOfBounds, "mad.wide.u32 %d1, %t, 16, %out; add.u64 %d1, %d1, 16;\nst.global.v4.u32 [%d1], {%t, %t, %t, %t};\nret;", 3, "allocation of 64 bytes"},
		{"before the start", exec.OutOfBounds, "setp.eq.u32 %p1, %t, 9; add.u64 %d1, %out, 4; @%p1 add.u64 %d1, %d1, -8;\n" + load, 9, "4 bytes before the allocation"},
		{"null", exec.OutOfBounds, "mov.u64 %d1, 0;\n" + load, 0, "no allocation is there"},
		{"misaligned", exec.Misaligned, "setp.eq.u32 %p1, %t, 5; mov.u64 %d1, %out; @%p1 add.u64 %d1, %d1, 2;\n" + load, 5, "a multiple of 4"},
		{"misaligned vector", exec.Misaligned, "add.u64 %d1, %out, 8;\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];\nret;", 0, "a multiple of 16"},
		{"freed", exec.UseAfterFree, "ld.param.u64 %d1, [p1];\n" + load, 0, "allocation of 64 bytes"},
		{"undefined", exec.Uninitialised, "ld.param.u64 %d1, [p2]; st.global.u8 [%d1], 1;\n" + load, 0, "poisoned"},
		{"constant", exec.ReadOnly, ".const .b32 c = 1;\n---\nmov.u64 %d1, c;\nst.u32 [%d1], 5;\nret;", 0, "variable c of 4 bytes"},
		{"parameter", exec.ReadOnly, "mov.b64 %d1, p1; cvta.param.u64 %d1, %d1;\nst.u32 [%d1], 5;\nret;", 0, "constant"},
		{"over the parameters", exec.OutOfBounds, "\nld.param.u32 %r1, [p3+8];\nret;", 0, "32 bytes"},
		{"shared", exec.OutOfBounds, "mad.lo.u32 %r2, %t, 4, 1020;\nst.shared.u32 [%r2], %t;\nret;", 1, "1024 bytes of shared memory"},
		{"below shared", exec.OutOfBounds, "mov.u32 %r2, 0;\nld.shared.u32 %r1, [%r2+-4];\nret;", 0, "1024 bytes of shared memory"},
		{"misaligned shared", exec.Misaligned, "\nst.shared.u32 [%t], %t;\nret;", 1, "a multiple of 4"},
		{"undefined shared", exec.Uninitialised, "mov.u32 %r2, 64;\nld.shared.u32 %r1, [%r2];\nret;", 0, "nothing wrote it"},
		{"local", exec.OutOfBounds, ".local .b32 l[4]; mov.u64 %d1, l; mad.wide.u32 %d1, %t, 4, %d1;\nst.local.u32 [%d1], %t;\nret;", 4, "16 bytes of local memory"},
		{"undefined local", exec.Uninitialised, ".local .b32 l[4]; setp.lt.u32 %p1, %t, 7; @%p1 st.local.u32 [l], %t;\nld.local.u32 %r1, [l];\nret;", 7, "this thread"},
		{"no window", exec.BadAddressSpace, "mov.u64 %d1, 0x7f00000000000000;\nld.u32 %r1, [%d1];\nret;", 0, "no memory"},
		{"atomic on local", exec.BadAddressSpace, ".local .b32 l; mov.u64 %d1, l; cvta.local.u64 %d1, %d1;\natom.add.u32 %r1, [%d1], 1;\nret;", 0, "want global or shared"},
		{"atomic misaligned", exec.Misaligned, "add.u64 %d1, %out, 2;\natom.global.add.u32 %r1, [%d1], 1;\nret;", 0, "a multiple of 4"},
		{"atomic over the end", exec.OutOfBounds, "add.u64 %d1, %out, 64;\nred.global.add.u32 [%d1], 1;\nret;", 0, "0 bytes behind the end of the allocation"},
		{"atomic on undefined", exec.Uninitialised, "mov.u32 %r2, 64;\natom.shared.add.u32 %r1, [%r2], 1;\nret;", 0, "nothing wrote it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := exec.NewMemory()
			out, _ := mem.Alloc(64)
			freed, _ := mem.Alloc(64)
			mem.Free(freed)
			undefined, _ := mem.Alloc(64)
			mem.Poison(undefined)
			args := []exec.Arg{exec.ArgOf(out), exec.ArgOf(freed), exec.ArgOf(undefined), exec.ArgOf(uint64(0))}
			_, err := exec1(t, source(c.body), 32, args, mem)
			var f *exec.Fault
			require.ErrorAs(t, err, &f)
			assert.Equal(t, c.kind, f.Kind, "%v", err)
			assert.Equal(t, exec.Dim{X: c.thread}, f.Thread, "%v", err)
			assert.Equal(t, exec.Dim{X: 0}, f.Block)
			assert.Contains(t, f.Detail, c.detail)
			assert.NotZero(t, f.Size)
			assert.NotZero(t, f.Line)
		})
	}
}

func exec1(t *testing.T, src string, threads int, args []exec.Arg, mem *exec.Memory) (*exec.Counts, error) {
	t.Helper()
	return load(t, src).Launch(context.Background(), "k", dim(1), dim(threads), 1024, args, mem, checked)
}

// Without the options, what is undefined reads as it stands there.
func TestUncheckedReads(t *testing.T) {
	mem := exec.NewMemory()
	out, got := array[uint32](mem, 32)
	in, _ := mem.Alloc(4)
	mem.Poison(in)
	args := []exec.Arg{exec.ArgOf(out), exec.ArgOf(in), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}
	got[0] = 1
	_, err := load(t, source("ld.param.u64 %d1, [p1]; ld.global.u32 %r1, [%d1]; .shared .b32 s; ld.shared.u32 %r2, [s]; add.u32 %r1, %r1, %r2;"+storeR1)).
		Launch(context.Background(), "k", dim(1), dim(32), 0, args, mem, exec.Options{})
	require.NoError(t, err)
	assert.Zero(t, got[0])
}

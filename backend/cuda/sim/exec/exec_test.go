package exec_test

import (
	"context"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// checked are the options under which tests run kernels: all checks, and blocks
// in a shuffled order, one at a time because those of most tests write one result.
var checked = exec.Options{CheckRaces: true, CheckUndefined: true, Seed: 1, Workers: 1}

// source makes a kernel k of statements. Its parameters are p0 to p3, of 64 bits;
// registers %r, %f, %d, %h, %p are declared, and %out holds p0. What stands before
// a line of --- is outside of the kernel.
func source(body string) string {
	outside, inside, ok := strings.Cut(body, "\n---\n")
	if !ok {
		outside, inside = "", body
	}
	return ".version 8.8\n.target sm_80\n.address_size 64\n" + outside + `
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {
.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<40>; .reg .f32 %f<10>; .reg .b64 %d<20>; .reg .b64 %out; .reg .b64 %at; .reg .b32 %t;
ld.param.u64 %out, [p0];
mov.u32 %t, %tid.x;
mad.wide.u32 %at, %t, 4, %out;
` + inside + "\n}\n"
}

func load(t testing.TB, src string) *exec.Program {
	t.Helper()
	m, err := ptx.Parse(src)
	require.NoError(t, err)
	p, err := exec.Load(m)
	require.NoError(t, err)
	return p
}

func dim(n int) exec.Dim { return exec.Dim{X: n, Y: 1, Z: 1} }

// array makes device memory of n values.
func array[T any](mem *exec.Memory, n int) (uint64, []T) {
	var v T
	addr, b := mem.Alloc(n * int(unsafe.Sizeof(v)))
	return addr, unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// run executes a kernel made by source on blocks of threads. Its first parameter
// is an array of n words, which is returned; the others are the given ones.
func run(t *testing.T, body string, blocks, threads, n int, args ...uint64) ([]uint32, *exec.Counts, error) {
	t.Helper()
	mem := exec.NewMemory()
	addr, out := array[uint32](mem, n)
	all := []exec.Arg{exec.ArgOf(addr)}
	for i := range 3 {
		var v uint64
		if i < len(args) {
			v = args[i]
		}
		all = append(all, exec.ArgOf(v))
	}
	o := checked
	o.Lines = true
	o.MaxInstructions = 1 << 20
	c, err := load(t, source(body)).Launch(context.Background(), "k", dim(blocks), dim(threads), 1024, all, mem, o)
	return out, c, err
}

// good is run for a kernel that does nothing wrong.
func good(t *testing.T, body string, blocks, threads, n int, args ...uint64) []uint32 {
	t.Helper()
	out, _, err := run(t, body, blocks, threads, n, args...)
	require.NoError(t, err)
	return out
}

// bad is run for a kernel that must end with a fault.
func bad(t *testing.T, kind exec.FaultKind, body string, blocks, threads, n int, args ...uint64) *exec.Fault {
	t.Helper()
	_, c, err := run(t, body, blocks, threads, n, args...)
	var f *exec.Fault
	require.ErrorAs(t, err, &f)
	require.Nil(t, c)
	require.Equal(t, kind, f.Kind, "%v", err)
	assert.Equal(t, "k", f.Kernel)
	if f.Instr != "" {
		line := strings.Split(source(body), "\n")[f.Line-1]
		assert.Contains(t, line, strings.TrimSuffix(strings.Fields(f.Instr)[0], ";"), "the line is that of the instruction")
	}
	return f
}

// each evaluates a function for every element.
func each(n int, f func(i int) uint32) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

const storeR1 = "\nst.global.u32 [%at], %r1; ret;"

func TestSpecialRegisters(t *testing.T) {
	mem := exec.NewMemory()
	addr, out := array[uint32](mem, 2*3*2*64)
	src := source(`
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z; mov.u32 %r7, %nctaid.x; mov.u32 %r8, %nctaid.y;
mad.lo.u32 %r6, %r6, %r8, %r5; mad.lo.u32 %r6, %r6, %r7, %r4; shl.b32 %r6, %r6, 6; add.u32 %r6, %r6, %r1;
mul.wide.u32 %d1, %r6, 4; add.u64 %d1, %out, %d1;
mov.u32 %r9, %laneid; mov.u32 %r10, %warpid; shl.b32 %r10, %r10, 8; add.u32 %r9, %r9, %r10;
mov.u32 %r11, %lanemask_lt; popc.b32 %r11, %r11; shl.b32 %r11, %r11, 16; add.u32 %r9, %r9, %r11;
mov.u32 %r12, %lanemask_ge; popc.b32 %r12, %r12; shl.b32 %r12, %r12, 24; add.u32 %r9, %r9, %r12;
st.global.u32 [%d1], %r9; ret;`)
	args := []exec.Arg{exec.ArgOf(addr), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}
	_, err := load(t, src).Launch(context.Background(), "k", exec.Dim{X: 2, Y: 3, Z: 2}, exec.Dim{X: 8, Y: 8, Z: 1}, 0, args, mem, checked)
	require.NoError(t, err)
	assert.Equal(t, each(len(out), func(i int) uint32 {
		lane := uint32(i % 32)
		return lane + uint32(i/32%2)<<8 + lane<<16 + (32-lane)<<24
	}), out)
}

// Lanes that branches part come together again: the instructions after the join
// are issued once.
func TestDivergence(t *testing.T) {
	body := `
and.b32 %r2, %t, 3; mov.u32 %r1, 100;
setp.eq.u32 %p1, %r2, 0; @%p1 bra A;
setp.eq.u32 %p1, %r2, 1; @%p1 bra B;
add.u32 %r1, %r1, %t; bra JOIN;
B: add.u32 %r1, %r1, 1000; bra JOIN;
A: mov.u32 %r3, 0;
LOOP: add.u32 %r1, %r1, 7; add.u32 %r3, %r3, 4; setp.lt.u32 %p2, %r3, %t; @%p2 bra LOOP;
JOIN: mul.lo.u32 %r1, %r1, 3;` + storeR1
	out, c, err := run(t, body, 1, 64, 64)
	require.NoError(t, err)
	assert.Equal(t, each(64, func(i int) uint32 {
		v := uint32(100)
		switch i & 3 {
		case 0:
			v += 7 * uint32(max(1, (i+3)/4))
		case 1:
			v += 1000
		default:
			v += uint32(i)
		}
		return v * 3
	}), out)
	lines := strings.Split(source(body), "\n")
	for _, x := range c.Lines {
		if strings.HasPrefix(lines[x.Line-1], "JOIN") {
			assert.EqualValues(t, 2, x.Warps)
			assert.EqualValues(t, 64, x.Lanes)
		}
		if strings.HasPrefix(lines[x.Line-1], "B:") {
			assert.EqualValues(t, 2*2, x.Warps)
			assert.EqualValues(t, 16*2, x.Lanes)
		}
	}
}

func TestGuardsAndExit(t *testing.T) {
	out := good(t, `
setp.lt.u32 %p1, %t, 10; mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; @!%p1 add.u32 %r1, %r1, 4;
st.global.u32 [%at], %r1;
@%p1 exit;
setp.eq.u32 %p2, %t, 20; @%p2 ret;
st.global.u32 [%at], 9; ret;`, 1, 40, 40)
	assert.Equal(t, each(40, func(i int) uint32 {
		switch {
		case i < 10:
			return 2
		case i == 20:
			return 5
		}
		return 9
	}), out)
}

func TestIndexedBranch(t *testing.T) {
	out := good(t, `
T: .branchtargets C0, C1, C2;
rem.u32 %r2, %t, 3; brx.idx %r2, T;
C0: mov.u32 %r1, 10; bra END;
C1: mov.u32 %r1, 20; bra END;
C2: mov.u32 %r1, 30;
END:`+storeR1, 1, 32, 32)
	assert.Equal(t, each(32, func(i int) uint32 { return uint32(i%3+1) * 10 }), out)
	f := bad(t, exec.BadAddressSpace, "T: .branchtargets C0, C1;\nbrx.idx %t, T;\nC0: C1: ret;", 1, 32, 1)
	assert.Equal(t, exec.Dim{X: 2}, f.Thread)
}

const device = `
.func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, %x; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) plus(.param .b32 a) {
	.reg .b32 %x; .reg .pred %q; ld.param.u32 %x, [a];
	setp.lt.u32 %q, %x, 16; @%q bra SMALL;
	{ .param .b32 p; .param .b32 v; st.param.b32 [p], %x; call.uni (v), twice, (p); ld.param.b32 %x, [v]; }
	add.u32 %x, %x, 1000; st.param.b32 [r], %x; ret;
SMALL: add.u32 %x, %x, 1; st.param.b32 [r], %x; ret;
}
---
`

func TestCalls(t *testing.T) {
	plus := func(i int) uint32 {
		if i < 16 {
			return uint32(i) + 1
		}
		return uint32(2*i) + 1000
	}
	out := good(t, device+`
{ .param .b32 p; .param .b32 v; st.param.b32 [p], %t; call (v), plus, (p); ld.param.b32 %r1, [v]; }`+storeR1, 1, 64, 64)
	assert.Equal(t, each(64, plus), out)

	out = good(t, device+`
and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 0;
mov.u64 %d1, twice; mov.u64 %d2, plus; selp.b64 %d3, %d1, %d2, %p1;
P: .callprototype (.param .b32 _) _ (.param .b32 _);
{ .param .b32 p; .param .b32 v; st.param.b32 [p], %t; call (v), %d3, (p), P; ld.param.b32 %r1, [v]; }`+storeR1, 1, 64, 64)
	assert.Equal(t, each(64, func(i int) uint32 {
		if i%2 == 0 {
			return uint32(2 * i)
		}
		return plus(i)
	}), out)

	bad(t, exec.BadAddressSpace, device+"P: .callprototype _ ();\nmov.u64 %d1, 77; call %d1, P;", 1, 32, 1)
	bad(t, exec.BadAddressSpace, device+"P: .callprototype _ ();\nmov.u64 %d1, twice; call %d1, P;", 1, 32, 1)
}

func TestTrap(t *testing.T) {
	f := bad(t, exec.Trap, "setp.eq.u32 %p1, %t, 37;\n@%p1 trap;\nret;", 3, 64, 1)
	assert.Equal(t, exec.Dim{X: 37}, f.Thread)
	assert.Contains(t, f.Error(), "thread (37, 0, 0)")
}

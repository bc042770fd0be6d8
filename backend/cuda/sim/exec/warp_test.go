package exec_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// The shuffles of every mode and segment, against the manual's formula.
func TestShuffle(t *testing.T) {
	for _, mode := range []string{"up", "down", "bfly", "idx"} {
		for _, width := range []int{32, 16, 8, 4} {
			for _, b := range []int{0, 1, 3, 7, 17, 31} {
				clamp := 31
				if mode == "up" {
					clamp = 0
				}
				c := (32-width)<<8 | clamp
				out := good(t, fmt.Sprintf(`
mul.lo.u32 %%r2, %%t, 3;
shfl.sync.%s.b32 %%r1|%%p1, %%r2, %d, %d, -1;
selp.b32 %%r3, 1000, 0, %%p1; add.u32 %%r1, %%r1, %%r3;`, mode, b, c)+storeR1, 1, 32, 32)
				assert.Equal(t, each(32, func(lane int) uint32 {
					seg := 32 - width
					low := lane & seg
					last := low | clamp&^seg
					j, ok := 0, false
					switch mode {
					case "up":
						j = lane - b
						ok = j >= last
					case "down":
						j = lane + b
						ok = j <= last
					case "bfly":
						j = lane ^ b
						ok = j <= last
					case "idx":
						j = low | b&^seg
						ok = j <= last
					}
					if !ok {
						return uint32(3 * lane)
					}
					return uint32(3*j) + 1000
				}), out, "%s width %d by %d", mode, width, b)
			}
		}
	}
}

func TestVotes(t *testing.T) {
	out := good(t, `
setp.lt.u32 %p1, %t, 5; setp.lt.u32 %p2, %t, 99;
vote.sync.ballot.b32 %r1, %p1, -1;
vote.sync.any.pred %p3, %p1, -1; vote.sync.all.pred %p4, %p1, -1; vote.sync.all.pred %p5, %p2, -1; vote.sync.uni.pred %p6, %p1, -1; vote.sync.ballot.b32 %r6, !%p1, -1;
selp.b32 %r2, 0x100, 0, %p3; selp.b32 %r3, 0x200, 0, %p4; selp.b32 %r4, 0x400, 0, %p5; selp.b32 %r5, 0x800, 0, %p6;
add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; popc.b32 %r6, %r6; shl.b32 %r6, %r6, 16; add.u32 %r1, %r1, %r6;`+storeR1, 1, 32, 32)
	assert.Equal(t, each(32, func(int) uint32 { return 0x1f + 0x100 + 0x400 + 27<<16 }), out)
}

func TestMatchAndReduce(t *testing.T) {
	value := func(i int) uint32 { return uint32(i*i) % 7 }
	out := good(t, `
mul.lo.u32 %r2, %t, %t; rem.u32 %r2, %r2, 7;
match.any.sync.b32 %r1, %r2, -1;
cvt.u64.u32 %d1, %r2; shl.b64 %d1, %d1, 40; match.any.sync.b64 %r3, %d1, -1; setp.eq.u32 %p1, %r1, %r3;
@!%p1 mov.u32 %r1, 0;
match.all.sync.b32 %r4|%p2, %r2, -1; selp.b32 %r5, 1, 0, %p2; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r4;
match.all.sync.b32 %r4|%p2, %r2, %r1;`+storeR1, 1, 32, 32)
	assert.Equal(t, each(32, func(i int) uint32 {
		var m uint32
		for j := range 32 {
			if value(j) == value(i) {
				m |= 1 << j
			}
		}
		return m
	}), out)

	for op, fold := range map[string]func(a, b uint32) uint32{
		"add.u32": func(a, b uint32) uint32 { return a + b },
		"min.s32": func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) },
		"max.s32": func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) },
		"min.u32": func(a, b uint32) uint32 { return min(a, b) },
		"max.u32": func(a, b uint32) uint32 { return max(a, b) },
		"and.b32": func(a, b uint32) uint32 { return a & b },
		"or.b32":  func(a, b uint32) uint32 { return a | b },
		"xor.b32": func(a, b uint32) uint32 { return a ^ b },
	} {
		in := func(i int) uint32 { return uint32(i)*0x9e3779b9 | 0x10 }
		out := good(t, "mul.lo.u32 %r2, %t, 0x9e3779b9; or.b32 %r2, %r2, 0x10; redux.sync."+op+" %r1, %r2, -1;"+storeR1, 1, 32, 32)
		want := in(0)
		for i := 1; i < 32; i++ {
			want = fold(want, in(i))
		}
		assert.Equal(t, each(32, func(int) uint32 { return want }), out, op)
	}
}

// Parts of a warp that name only themselves work on their own, also when they
// come to one instruction with several masks.
func TestMembermasks(t *testing.T) {
	out := good(t, `
and.b32 %r2, %t, 1; mov.u32 %r3, 0x55555555; shl.b32 %r3, %r3, %r2;
redux.sync.add.u32 %r1, %t, %r3;
setp.eq.u32 %p1, %r2, 0; @!%p1 bra ODD;
activemask.b32 %r4; add.u32 %r1, %r1, %r4;
shfl.sync.idx.b32 %r5, %t, 2, 31, 0x55555555; add.u32 %r1, %r1, %r5; bra END;
ODD: bar.warp.sync 0xaaaaaaaa; elect.sync %r6|%p2, 0xaaaaaaaa; add.u32 %r1, %r1, %r6; @%p2 add.u32 %r1, %r1, 5000;
END:`+storeR1, 1, 32, 32)
	assert.Equal(t, each(32, func(i int) uint32 {
		switch {
		case i%2 == 0:
			return 15*16 + 0x55555555 + 2
		case i == 1:
			return 16*16 + 1 + 5000
		}
		return 16*16 + 1
	}), out)
}

// bar.warp.sync joins lanes that wait at different instructions.
func TestWarpBarrierAtSeveralPlaces(t *testing.T) {
	out := good(t, `
.shared .b32 s[32];
mov.u32 %r3, s; mad.lo.u32 %r3, %t, 4, %r3; st.shared.u32 [%r3], %t;
setp.lt.u32 %p1, %t, 16; @%p1 bra LOW;
bar.warp.sync -1; bra END;
LOW: bar.warp.sync -1;
END: xor.b32 %r4, %t, 31; shl.b32 %r4, %r4, 2; mov.u32 %r5, s; add.u32 %r4, %r4, %r5; ld.shared.u32 %r1, [%r4];`+storeR1, 1, 32, 32)
	assert.Equal(t, each(32, func(i int) uint32 { return uint32(i ^ 31) }), out)
}

func TestWrongUseOfLanes(t *testing.T) {
	f := bad(t, exec.BadMask, "\nshfl.sync.idx.b32 %r1, %t, 0, 31, 0xffff;\nret;", 2, 64, 1)
	assert.Equal(t, exec.Dim{X: 16}, f.Thread)

	f = bad(t, exec.DivergentSync, "setp.lt.u32 %p1, %t, 8; @%p1 bra A;\nbarrier.sync 1, 64; ret;\nA: vote.sync.any.pred %p2, %p1, -1;\nret;", 1, 64, 1)
	assert.Equal(t, exec.Dim{}, f.Thread)
	assert.Contains(t, f.Detail, "lanes 0xffffffff are named but only 0x000000ff are here")

	f = bad(t, exec.AbsentLane, "setp.lt.u32 %p1, %t, 8; @!%p1 ret;\nshfl.sync.down.b32 %r1, %t, 4, 31, -1;\nret;", 1, 32, 1)
	assert.Equal(t, exec.Dim{X: 4}, f.Thread)
	assert.Contains(t, f.Detail, "lane 4 reads lane 8")

	// A warp of 8 lanes votes by itself: the rest does not exist.
	out := good(t, "setp.lt.u32 %p1, %t, 99; vote.sync.ballot.b32 %r1, %p1, -1;"+storeR1, 1, 8, 8)
	assert.Equal(t, each(8, func(int) uint32 { return 0xff }), out)
}

func TestClocks(t *testing.T) {
	out := good(t, "mov.u64 %d1, %clock64; mov.u32 %r2, %clock; nanosleep.u32 20; mov.u64 %d2, %clock64; sub.u64 %d1, %d2, %d1; cvt.u32.u64 %r1, %d1;"+storeR1, 1, 32, 32)
	assert.Greater(t, out[0], uint32(0))
}

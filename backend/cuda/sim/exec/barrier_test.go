package exec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// neighbour makes %r3 the shared address of the thread's word, %r4 that of the
// word of thread t xor %r5.
const neighbour = `
.shared .align 4 .b8 s[4096];
mov.u32 %r2, s; mad.lo.u32 %r3, %t, 4, %r2;
xor.b32 %r4, %t, %r5; mad.lo.u32 %r4, %r4, 4, %r2;
`

func TestBarrier(t *testing.T) {
	for name, bar := range map[string]string{
		"bar.sync":             "bar.sync 0;",
		"barrier.sync":         "barrier.sync 0;",
		"barrier.sync.aligned": "barrier.sync.aligned 3;",
		"with a count":         "bar.sync 7, 128;",
		"bar.cta.sync":         "bar.cta.sync 0;",
		"register":             "mov.u32 %r9, 5; mov.u32 %r10, 128; bar.sync %r9, %r10;",
	} {
		t.Run(name, func(t *testing.T) {
			out := good(t, "mov.u32 %r5, 127;"+neighbour+"add.u32 %r6, %t, 100; st.shared.u32 [%r3], %r6;"+bar+"ld.shared.u32 %r1, [%r4];"+storeR1, 3, 128, 128)
			assert.Equal(t, each(128, func(i int) uint32 { return uint32(i^127) + 100 }), out)
		})
	}
}

func TestBarrierReductions(t *testing.T) {
	out := good(t, `
setp.lt.u32 %p1, %t, 37; setp.lt.u32 %p2, %t, 1000;
bar.red.popc.u32 %r1, 0, %p1; bar.red.popc.u32 %r2, 0, !%p1; shl.b32 %r2, %r2, 8; add.u32 %r1, %r1, %r2;
bar.red.or.pred %p3, 0, %p1; bar.red.and.pred %p4, 0, %p1; bar.red.and.pred %p5, 0, 96, %p2; barrier.cta.red.or.aligned.pred %p6, 2, 96, !%p2;
selp.b32 %r3, 0x10000, 0, %p3; selp.b32 %r4, 0x20000, 0, %p4; selp.b32 %r5, 0x40000, 0, %p5; selp.b32 %r6, 0x80000, 0, %p6;
add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6;`+storeR1, 2, 96, 96)
	assert.Equal(t, each(96, func(int) uint32 { return 37 + 59<<8 + 0x10000 + 0x40000 }), out)
}

// One warp makes values, the other uses them, with a barrier for each direction.
const producer = `
.shared .align 4 .b8 s[128];
mov.u32 %r2, s; and.b32 %r3, %t, 31; mad.lo.u32 %r3, %r3, 4, %r2; mov.u32 %r4, 0; mov.u32 %r1, 0;
setp.ge.u32 %p1, %t, 32; @%p1 bra USE;
MAKE: add.u32 %r5, %r4, %t; st.shared.u32 [%r3], %r5; bar.arrive 1, 64; bar.sync 2, 64;
add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 5; @%p2 bra MAKE; ret;
USE: bar.sync 1, 64; xor.b32 %r6, %r3, 4; ld.shared.u32 %r5, [%r6]; add.u32 %r1, %r1, %r5; bar.arrive 2, 64;
add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 5; @%p2 bra USE;`

func TestProducerAndConsumer(t *testing.T) {
	out := good(t, producer+storeR1, 1, 64, 64)
	assert.Equal(t, each(32, func(i int) uint32 { return uint32(5*(i^1) + 10) }), out[32:])
}

// Threads that have exited are not waited for.
func TestBarrierAfterExit(t *testing.T) {
	out := good(t, "setp.lt.u32 %p1, %t, 40; mov.u32 %r1, 5; @%p1 ret; bar.sync 0;"+storeR1, 1, 96, 96)
	assert.Equal(t, each(96, func(i int) uint32 {
		if i < 40 {
			return 0
		}
		return 5
	}), out)
}

func TestWrongBarriers(t *testing.T) {
	// Half of a warp comes to an aligned barrier, the rest to another one.
	f := bad(t, exec.DivergentBarrier, "setp.lt.u32 %p1, %t, 16; @%p1 bra A;\nbar.sync 0;\nret;\nA: bar.sync 0;\nret;", 2, 64, 1)
	assert.Equal(t, exec.Dim{X: 16}, f.Thread)
	assert.Contains(t, f.Detail, "only lanes 0xffff0000 of 0xffffffff reach it")
	// Without .aligned that is allowed.
	good(t, "setp.lt.u32 %p1, %t, 16; @%p1 bra A;\nbarrier.sync 0;\nret;\nA: barrier.sync 0;\nret;", 1, 64, 1)

	f = bad(t, exec.Deadlock, "setp.lt.u32 %p1, %t, 32; @%p1 bra A;\nbar.sync 1;\nret;\nA: bar.sync 2;\nret;", 1, 64, 1)
	assert.Contains(t, f.Detail, "warp 0")
	assert.Contains(t, f.Detail, "warp 1")
	bad(t, exec.Deadlock, "bar.sync 1, 96;\nret;", 1, 128, 1)

	for body, detail := range map[string]string{
		"bar.sync 16;\nret;":     "barrier 16 of 16",
		"bar.sync 0, 33;\nret;":  "a count of 33 threads",
		"bar.sync 0, 128;\nret;": "a count of 128 threads",
		"setp.lt.u32 %p1, %t, 32; @%p1 bra A;\nbar.sync 0, 64;\nret;\nA: bar.sync 0;\nret;":                                                                           "with another count",
		"setp.lt.u32 %p1, %t, 32; @%p1 bra A;\nbar.sync 0, 32;\nret;\nA: setp.lt.u32 %p1, %t, 16; @!%p1 ret; setp.lt.u32 %p1, %t, 8;\n@%p1 barrier.sync 0, 32;\nret;": "40 threads came to a barrier of 32",
	} {
		f := bad(t, exec.BarrierMisuse, body, 1, 64, 1)
		assert.Contains(t, f.Detail, detail)
	}
}

const mbarriers = `
.shared .align 8 .b64 bar; .shared .align 256 .b8 s[256];
mov.u32 %r2, bar; mov.u32 %r7, s; mad.lo.u32 %r3, %t, 4, %r7; xor.b32 %r4, %r3, 128;
setp.ne.u32 %p1, %t, 0; @%p1 bra READY;
mbarrier.init.shared::cta.b64 [%r2], 64;
READY: bar.sync 0;
mov.u32 %r5, 0;
ROUND:
add.u32 %r6, %t, %r5; st.shared.u32 [%r3], %r6;
mbarrier.arrive.shared::cta.b64 %d1, [%r2];
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], %r5; @!%p2 bra WAIT;
ld.shared.u32 %r1, [%r4];
mbarrier.arrive.shared.b64 %d1, [%r2];
AGAIN: mbarrier.test_wait.shared.b64 %p2, [%r2], %d1; @!%p2 bra AGAIN;
`

func TestMBarrier(t *testing.T) {
	out := good(t, mbarriers+storeR1, 2, 64, 64)
	assert.Equal(t, each(64, func(i int) uint32 { return uint32(i ^ 32) }), out)

	// Bytes of transfers keep a phase open; arrive_drop lowers the count of the next.
	out = good(t, `
.shared .align 8 .b64 bar;
mov.u32 %r2, bar; setp.ne.u32 %p1, %t, 0; @%p1 ret;
mbarrier.init.shared.b64 [%r2], 2;
mbarrier.arrive.expect_tx.shared.b64 %d1, [%r2], 100; mbarrier.pending_count.b64 %r1, %d1;
mbarrier.arrive_drop.shared.b64 %d2, [%r2]; mbarrier.pending_count.b64 %r3, %d2; mad.lo.u32 %r1, %r3, 10, %r1;
mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0; selp.b32 %r3, 100, 0, %p2; add.u32 %r1, %r1, %r3;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 100;
mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0; selp.b32 %r3, 200, 0, %p2; add.u32 %r1, %r1, %r3;
mbarrier.arrive.shared.b64 %d1, [%r2]; mbarrier.pending_count.b64 %r3, %d1; mad.lo.u32 %r1, %r3, 1000, %r1;
mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 1; selp.b32 %r3, 400, 0, %p2; add.u32 %r1, %r1, %r3;
mbarrier.inval.shared.b64 [%r2];`+storeR1, 1, 32, 1)
	assert.Equal(t, uint32(2+10*1+200+1000*1+400), out[0])
}

func TestWrongMBarriers(t *testing.T) {
	f := bad(t, exec.Deadlock, `
.shared .align 8 .b64 bar;
mov.u32 %r2, bar; mbarrier.init.shared.b64 [%r2], 33;
bar.sync 0;
mbarrier.arrive.shared.b64 _, [%r2];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
@!%p2 bra WAIT; ret;`, 1, 32, 1)
	assert.Contains(t, f.Detail, "nobody completes")
	bad(t, exec.Uninitialised, ".shared .align 8 .b64 bar;\nmov.u32 %r2, bar;\nmbarrier.arrive.shared.b64 _, [%r2];\nret;", 1, 32, 1)
	bad(t, exec.Uninitialised, ".shared .align 8 .b64 bar;\nmov.u32 %r2, bar;\nmbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0;\nret;", 1, 32, 1)
	bad(t, exec.BarrierMisuse, ".shared .align 8 .b64 bar;\nmov.u32 %r2, bar;\nmbarrier.init.shared.b64 [%r2], 0;\nret;", 1, 1, 1)
	bad(t, exec.BarrierMisuse, ".shared .align 8 .b64 bar;\nmov.u32 %r2, bar; mbarrier.init.shared.b64 [%r2], 2;\nmbarrier.arrive.shared.b64 _, [%r2], 3;\nret;", 1, 1, 1)
	bad(t, exec.BarrierMisuse, ".shared .align 8 .b64 bar;\nmov.u32 %r2, bar; mbarrier.init.shared.b64 [%r2], 2;\nmbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], 2000000;\nret;", 1, 1, 1)
	bad(t, exec.Misaligned, ".shared .align 8 .b64 bar;\nmov.u32 %r2, 4;\nmbarrier.init.shared.b64 [%r2], 1;\nret;", 1, 1, 1)
}

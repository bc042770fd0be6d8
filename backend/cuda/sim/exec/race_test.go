package exec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// Each of these kernels has accesses of different threads without an order.
func TestRaces(t *testing.T) {
	for _, c := range []struct {
		name, body string
		detail     string
	}{
		{"read of another warp's write", "mov.u32 %r5, 32;" + neighbour + "setp.lt.u32 %p1, %t, 32; @%p1 st.shared.u32 [%r3], %t;\n@!%p1 ld.shared.u32 %r1, [%r4];\nret;", "reads what thread (0, 0, 0) wrote"},
		{"write over another warp's write", "mov.u32 %r5, 0; .shared .b32 x; mov.u32 %r2, x;\nst.shared.u32 [%r2], %t;\nret;", "overwrites what thread (0, 0, 0) wrote"},
		{"write over another warp's read", "mov.u32 %r5, 32;" + neighbour + "st.shared.u32 [%r3], %t; bar.sync 0; ld.shared.u32 %r1, [%r4]; setp.ge.u32 %p1, %t, 32;\n@%p1 st.shared.u32 [%r3], 1;\nret;", "overwrites what thread (0, 0, 0) reads"},
		{"within a warp", "mov.u32 %r5, 1;" + neighbour + "st.shared.u32 [%r3], %t;\nld.shared.u32 %r1, [%r4];\nret;", "reads what thread (1, 0, 0) wrote"},
		{"write after read within a warp", "mov.u32 %r5, 1;" + neighbour + "st.shared.u32 [%r3], %t; bar.warp.sync -1; ld.shared.u32 %r1, [%r4];\nst.shared.u32 [%r3], 1;\nret;", "overwrites what thread (1, 0, 0) reads"},
		{"write after a read by the whole warp", "mov.u32 %r5, 1;" + neighbour + "st.shared.u32 [%r3], %t; bar.warp.sync -1; ld.shared.u32 %r1, [%r2]; setp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [%r3], 1;\nret;", "overwrites what thread (0, 0, 0) reads"},
		{"write after reads by the whole warp and by the writer", "mov.u32 %r5, 1;" + neighbour + "st.shared.u32 [%r3], %t; bar.warp.sync -1; ld.shared.u32 %r1, [%r2]; setp.eq.u32 %p1, %t, 0; @%p1 ld.shared.u32 %r1, [%r2];\n@%p1 st.shared.u32 [%r3], 1;\nret;", "overwrites what thread (0, 0, 0) reads"},
		{"bytes of a word", ".shared .b8 s[64]; mov.u32 %r2, s; add.u32 %r3, %r2, %t; st.shared.u8 [%r3], %t; xor.b32 %r4, %t, 32; add.u32 %r4, %r4, %r2; setp.lt.u32 %p1, %t, 32; @%p1 ret;\nld.shared.u8 %r1, [%r4];\nret;", "reads what thread (0, 0, 0) wrote"},
		{"atomic and plain", ".shared .b32 x; mov.u32 %r2, x; setp.ne.u32 %p1, %t, 0; @%p1 bra A; st.shared.u32 [%r2], 5; A: bar.sync 0; setp.eq.u32 %p1, %t, 40; @%p1 bra B; red.shared.add.u32 [%r2], 1; ret; B:\nld.shared.u32 %r1, [%r2];\nret;", "reads what thread"},
		{"atomic after another's plain write", ".shared .b32 x; mov.u32 %r2, x; setp.ne.u32 %p1, %t, 0; @%p1 bra A; st.shared.u32 [%r2], 0; A:\nred.shared.add.u32 [%r2], 1;\nret;", "overwrites what thread (0, 0, 0) wrote"},
		{"lanes that did not meet", "mov.u32 %r5, 8;" + neighbour + "st.shared.u32 [%r3], %t; and.b32 %r6, %t, 24; shl.b32 %r6, 255, %r6; bar.warp.sync %r6;\nld.shared.u32 %r1, [%r4];\nret;", "reads what thread (8, 0, 0) wrote"},
		{"a barrier that only one side passes", "mov.u32 %r5, 32;" + neighbour + "setp.lt.u32 %p1, %t, 32; @%p1 st.shared.u32 [%r3], %t; @%p1 ret; bar.sync 1, 32;\nld.shared.u32 %r1, [%r4];\nret;", "reads what thread"},
		{"arrival that is not waited for", ".shared .b32 x; mov.u32 %r2, x; setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.arrive 1, 64;\nsetp.eq.u32 %p2, %t, 32; @%p2 st.shared.u32 [%r2], 7; ret;\nA: bar.sync 1, 64; setp.eq.u32 %p2, %t, 0;\n@%p2 st.shared.u32 [%r2], 8;\nret;", "overwrites what thread"},
		{"vector and word", "mov.u32 %r5, 32;" + neighbour + "st.shared.u32 [%r3], %t; mov.u32 %r6, s; setp.eq.u32 %p1, %t, 32;\n@%p1 ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6];\nret;", "reads what thread (0, 0, 0) wrote"},
		{"generic addresses", "mov.u32 %r5, 32;" + neighbour + "cvt.u64.u32 %d1, %r4; cvta.shared.u64 %d1, %d1; setp.lt.u32 %p1, %t, 32; @%p1 st.shared.u32 [%r3], %t; @%p1 ret;\nld.u32 %r1, [%d1];\nret;", "reads what thread"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := bad(t, exec.SharedRace, c.body, 2, 64, 64)
			assert.Contains(t, f.Detail, c.detail)
		})
	}
}

// These kernels look alike but are in order.
func TestNoRaces(t *testing.T) {
	for name, body := range map[string]string{
		"own words":                        "mov.u32 %r5, 0;" + neighbour + "st.shared.u32 [%r3], %t; ld.shared.u32 %r1, [%r4]; st.shared.u32 [%r3], %r1;",
		"the same value":                   ".shared .b32 x; mov.u32 %r2, x; st.shared.u32 [%r2], 5; bar.sync 0; ld.shared.u32 %r1, [%r2];",
		"a shuffle between":                "mov.u32 %r5, 1;" + neighbour + "st.shared.u32 [%r3], %t; shfl.sync.idx.b32 %r9, %t, 0, 31, -1; ld.shared.u32 %r1, [%r4];",
		"lanes that met alone":             "mov.u32 %r5, 7;" + neighbour + "st.shared.u32 [%r3], %t; and.b32 %r6, %t, 24; shl.b32 %r6, 255, %r6; bar.warp.sync %r6; ld.shared.u32 %r1, [%r4]; bar.warp.sync %r6; st.shared.u32 [%r3], %r1;",
		"lanes that met one after another": "mov.u32 %r5, 12;" + neighbour + "st.shared.u32 [%r3], %t; and.b32 %r6, %t, 24; shl.b32 %r6, 255, %r6; bar.warp.sync %r6; and.b32 %r7, %t, 20; shl.b32 %r7, 0x0f0f, %r7; bar.warp.sync %r7; bar.warp.sync %r6; ld.shared.u32 %r1, [%r4];",
		"other bytes":                      ".shared .b8 s[64]; mov.u32 %r2, s; add.u32 %r3, %r2, %t; st.shared.u8 [%r3], %t; ld.shared.u8 %r1, [%r3];",
		"atomics":                          ".shared .b32 x; mov.u32 %r2, x; setp.ne.u32 %p1, %t, 0; @%p1 bra A; st.shared.u32 [%r2], 0; A: bar.sync 0; atom.shared.add.u32 %r3, [%r2], 1; bar.sync 0; ld.shared.u32 %r1, [%r2];",
		"write after a barrier":            "mov.u32 %r5, 32;" + neighbour + "st.shared.u32 [%r3], %t; bar.sync 0; ld.shared.u32 %r1, [%r4]; bar.sync 0; st.shared.u32 [%r3], 1;",
		"volatile flags":                   ".shared .b32 x; mov.u32 %r2, x; st.volatile.shared.u32 [%r2], %t; ld.volatile.shared.u32 %r1, [%r2];",
		"mbarriers":                        mbarriers,
		"named barriers":                   producer,
	} {
		t.Run(name, func(t *testing.T) { good(t, body+storeR1, 3, 64, 64) })
	}
}

// An mbarrier orders only what came before the arrival.
func TestRaceBesideMBarrier(t *testing.T) {
	bad(t, exec.SharedRace, `
.shared .align 8 .b64 bar; .shared .b32 x;
mov.u32 %r2, bar; mov.u32 %r3, x; setp.ne.u32 %p1, %t, 0; @%p1 bra READY;
mbarrier.init.shared.b64 [%r2], 32;
READY: bar.sync 0; setp.lt.u32 %p1, %t, 32; @%p1 bra USE;
mbarrier.arrive.shared.b64 _, [%r2]; setp.eq.u32 %p2, %t, 32;
@%p2 st.shared.u32 [%r3], %t; ret;
USE: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra USE; setp.eq.u32 %p2, %t, 0;
@%p2 st.shared.u32 [%r3], %t;
ret;`, 1, 64, 1)
}

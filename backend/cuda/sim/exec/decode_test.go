package exec_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// Registers wider than an instruction's types: sources give their low bits,
// destinations are extended as the type says.
func TestRegistersOfOtherWidths(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       uint64
	}{
		{"narrow source", "mov.u64 %d1, 0x123456789abcdef0; cvt.u32.u16 %r1, %d1; cvt.u64.u32 %d2, %r1;", 0xdef0},
		{"signed source", "mov.u64 %d1, 0x80; cvt.s64.s8 %d2, %d1;", 0xffffffffffffff80},
		{"signed destination", "mov.u32 %r1, 0x18000; cvt.s16.s32 %d2, %r1;", 0xffffffffffff8000},
		{"unsigned destination", "mov.u32 %r1, 0x1ffff; cvt.u16.u32 %d2, %r1;", 0xffff},
		{"word destination", "mov.u32 %r1, -2; cvt.s32.s16 %d2, %r1;", 0xfffffffffffffffe},
		{"only active lanes", "setp.eq.u32 %p1, %t, 99; mov.u64 %d2, 5; mov.u32 %r1, 7; @%p1 cvt.u16.u32 %d2, %r1;", 5},
		{"decimal float", "mov.f32 %f1, 1.5; mov.b32 %r1, %f1; cvt.u64.u32 %d2, %r1;", 0x3fc00000},
		{"decimal double", ".reg .f64 %g; mov.f64 %g, -0.5; mov.b64 %d2, %g;", math.Float64bits(-0.5)},
		{"pack of halves", "mov.b16 %h1, 0x1234; mov.b16 %h2, 0x5678; mov.b32 %r1, {%h1, %h2}; mov.b32 {%h3, %h4}, %r1; mov.b32 %r2, {%h4, %h3}; mov.b64 %d2, {%r1, %r2};", 0x1234567856781234},
		{"pack of four halves", "mov.b16 %h1, 0x1111; mov.b16 %h2, 0x2222; mov.b64 %d1, {%h1, %h2, %h2, %h1}; mov.b64 {%h3, %h4, _, %h5}, %d1; mov.b64 %d2, {%h4, %h3, %h5, %h4};", 0x2222111111112222},
		{"pack of bytes", ".reg .b8 %b<4>; ld.param.u8 %b0, [p1]; ld.param.u8 %b1, [p1+1]; mov.b16 %h1, {%b0, %b1}; mov.b16 {%b2, %b3}, %h1; mov.b32 %r1, {%b3, %b2, %b1, %b0}; mov.b32 {%b0, %b1, %b2, %b3}, %r1; mov.b32 %r2, {%b3, %b2, %b1, %b0}; mov.b64 %d2, {%r1, %r2};", 0x0201020101020102},
		{"predicate constants", "mov.pred %p1, 1; mov.pred %p2, 0; selp.b64 %d2, 3, 4, %p1; @%p2 mov.u64 %d2, 9;", 3},
		{"absolute constant address", ".reg .pred %q; mov.pred %q, %is_explicit_cluster; selp.b64 %d2, 1, 2, %q;", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := good(t, c.body+"\nst.global.u64 [%out], %d2; ret;", 1, 32, 2, 0x0201)
			assert.Equal(t, c.want, uint64(out[0])|uint64(out[1])<<32)
		})
	}
}

// Every special register that does not change while a kernel runs.
func TestValuesOfSpecialRegisters(t *testing.T) {
	for name, want := range map[string]uint32{
		"%tid.y": 0, "%tid.z": 0, "%ntid.x": 64, "%ntid.y": 1, "%ntid.z": 1, "%ctaid.x": 0, "%ctaid.z": 0,
		"%nctaid.x": 1, "%nctaid.y": 1, "%nctaid.z": 1, "%nwarpid": 2, "%smid": 0, "%nsmid": 1,
		"%dynamic_smem_size": 1024, "%total_smem_size": 1024, "%aggr_smem_size": 1024,
		"%clusterid.x": 0, "%clusterid.y": 0, "%nclusterid.x": 1, "%nclusterid.y": 1, "%nclusterid.z": 1,
		"%cluster_ctaid.x": 0, "%cluster_nctaid.x": 1, "%cluster_nctaid.y": 1, "%cluster_nctaid.z": 1,
		"%cluster_ctarank": 0, "%cluster_nctarank": 1, "%envreg1": 0, "%envreg2": 0,
	} {
		out := good(t, "mov.u32 %r1, "+name+";"+storeR1, 1, 64, 64)
		assert.Equal(t, each(64, func(int) uint32 { return want }), out, name)
	}
	for name, want := range map[string]func(lane int) uint32{
		"%warpid":      func(i int) uint32 { return uint32(i / 32) },
		"%laneid":      func(i int) uint32 { return uint32(i % 32) },
		"%lanemask_eq": func(i int) uint32 { return 1 << (i % 32) },
		"%lanemask_lt": func(i int) uint32 { return 1<<(i%32) - 1 },
		"%lanemask_le": func(i int) uint32 { return 2<<(i%32) - 1 },
		"%lanemask_gt": func(i int) uint32 { return ^uint32(2<<(i%32) - 1) },
		"%lanemask_ge": func(i int) uint32 { return ^uint32(1<<(i%32) - 1) },
	} {
		out := good(t, "mov.u32 %r1, "+name+";"+storeR1, 1, 64, 64)
		assert.Equal(t, each(64, want), out, name)
	}
	out := good(t, "mov.u64 %d1, %gridid; cvt.u32.u64 %r1, %d1;"+storeR1, 1, 1, 1)
	assert.Zero(t, out[0])
	out = good(t, "mov.u32 %r1, %clock_hi; mov.u32 %r2, %globaltimer_lo; mov.u32 %r3, %globaltimer_hi; mov.u64 %d1, %globaltimer; add.u32 %r1, %r1, %r3;"+storeR1, 1, 1, 1)
	assert.Zero(t, out[0])
}

// Fences and hints change nothing.
func TestFencesAndHints(t *testing.T) {
	out := good(t, "mov.u32 %r1, 3; membar.gl; membar.cta; fence.acq_rel.gpu; fence.proxy.async; fence.mbarrier_init.release.cluster; prefetch.global.L2 [%out]; pmevent 1; griddepcontrol.wait; griddepcontrol.launch_dependents;"+storeR1, 1, 32, 32)
	assert.Equal(t, each(32, func(int) uint32 { return 3 }), out)
}

// The mbarrier may be given by a generic address, which must be one of shared memory.
func TestGenericMBarrier(t *testing.T) {
	out := good(t, `
.shared .align 8 .b64 bar; mov.u64 %d1, bar; cvta.shared.u64 %d1, %d1; setp.ne.u32 %p1, %t, 0; @%p1 bra READY;
mbarrier.init.b64 [%d1], 32;
READY: bar.sync 0; mbarrier.arrive.b64 %d2, [%d1];
WAIT: mbarrier.test_wait.b64 %p2, [%d1], %d2; @!%p2 bra WAIT; mov.u32 %r1, 6;`+storeR1, 1, 32, 32)
	assert.Equal(t, each(32, func(int) uint32 { return 6 }), out)
	bad(t, exec.BadAddressSpace, "\nmbarrier.init.b64 [%out], 32;\nret;", 1, 32, 2)
}

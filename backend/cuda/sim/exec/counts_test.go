package exec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// counted runs statements with a large p0 and returns the counts.
func counted(t *testing.T, body string, blocks, threads int) *exec.Counts {
	t.Helper()
	_, c, err := run(t, body+"\nret;", blocks, threads, 1<<15)
	require.NoError(t, err)
	return c
}

// Sectors of a warp's access, by hand: 32 bytes each, distinct within the access.
func TestSectors(t *testing.T) {
	for _, c := range []struct {
		name, address, op string
		threads           int
		sectors, bytes    uint64
		dram              uint64
	}{
		{"contiguous words", "mad.wide.u32 %d1, %t, 4, %out;", "ld.global.u32 %r1, [%d1];", 32, 4, 128, 128},
		{"contiguous words off by one", "mad.wide.u32 %d1, %t, 4, %out; add.u64 %d1, %d1, 4;", "ld.global.u32 %r1, [%d1];", 32, 5, 128, 160},
		{"contiguous bytes", "cvt.u64.u32 %d1, %t; add.u64 %d1, %d1, %out;", "ld.global.u8 %r1, [%d1];", 32, 1, 32, 32},
		{"contiguous double words", "mad.wide.u32 %d1, %t, 8, %out;", "ld.global.u64 %d2, [%d1];", 32, 8, 256, 256},
		{"contiguous vectors", "mad.wide.u32 %d1, %t, 16, %out;", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];", 32, 16, 512, 512},
		{"stride of two words", "mad.wide.u32 %d1, %t, 8, %out;", "ld.global.u32 %r1, [%d1];", 32, 8, 128, 256},
		{"stride of a sector", "mad.wide.u32 %d1, %t, 32, %out;", "ld.global.u32 %r1, [%d1];", 32, 32, 128, 1024},
		{"one word for all", "mov.u64 %d1, %out;", "ld.global.u32 %r1, [%d1];", 32, 1, 128, 32},
		{"backwards", "sub.u32 %r2, 31, %t; mad.wide.u32 %d1, %r2, 4, %out;", "ld.global.u32 %r1, [%d1];", 32, 4, 128, 128},
		{"back and forth", "and.b32 %r2, %t, 1; mad.wide.u32 %d1, %r2, 4096, %out;", "ld.global.u32 %r1, [%d1];", 32, 2, 128, 64},
		{"half a warp", "mad.wide.u32 %d1, %t, 4, %out;", "ld.global.u32 %r1, [%d1];", 16, 2, 64, 64},
		{"stored words", "mad.wide.u32 %d1, %t, 4, %out;", "st.global.u32 [%d1], %t;", 32, 4, 128, 128},
		{"stored with a stride", "mad.wide.u32 %d1, %t, 64, %out;", "st.global.u32 [%d1], %t;", 32, 32, 128, 1024},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := counted(t, c.address+c.op, 1, c.threads)
			want := exec.Traffic{Requests: 1, Sectors: c.sectors, Bytes: c.bytes}
			if c.op[0] == 's' {
				assert.Equal(t, want, got.GlobalStores)
				assert.Zero(t, got.GlobalLoads)
				assert.Equal(t, c.dram, got.DRAMWritten)
				assert.Zero(t, got.DRAMRead)
			} else {
				assert.Equal(t, want, got.GlobalLoads)
				assert.Zero(t, got.GlobalStores)
				assert.Equal(t, c.dram, got.DRAMRead)
				assert.Zero(t, got.DRAMWritten)
			}
		})
	}
}

// What several accesses and blocks share is moved once from memory.
func TestSectorsOfTheWholeLaunch(t *testing.T) {
	c := counted(t, "ld.global.u32 %r1, [%at]; ld.global.u32 %r2, [%at+4]; st.global.u32 [%at+1024], %r1;", 6, 32)
	assert.Equal(t, exec.Traffic{Requests: 12, Sectors: 6 * (4 + 5), Bytes: 12 * 128}, c.GlobalLoads)
	assert.EqualValues(t, 5*32, c.DRAMRead)
	assert.EqualValues(t, 4*32, c.DRAMWritten)
}

// Wavefronts of shared memory, by hand.
func TestBankConflicts(t *testing.T) {
	for _, c := range []struct {
		name, address, op string
		threads           int
		wavefronts, extra uint64
	}{
		{"a word a lane", "shl.b32 %r2, %t, 2;", "st.shared.u32 [%r2], %t;", 32, 1, 0},
		{"stride of two words", "shl.b32 %r2, %t, 3;", "st.shared.u32 [%r2], %t;", 32, 2, 1},
		{"stride of three words", "mul.lo.u32 %r2, %t, 12;", "st.shared.u32 [%r2], %t;", 32, 1, 0},
		{"stride of a row", "shl.b32 %r2, %t, 7;", "st.shared.u32 [%r2], %t;", 8, 8, 7},
		{"padded row", "mul.lo.u32 %r2, %t, 132;", "st.shared.u32 [%r2], %t;", 32, 1, 0},
		{"bytes", "mov.u32 %r2, %t;", "st.shared.u8 [%r2], %t;", 32, 1, 0},
		{"bytes of words apart", "shl.b32 %r2, %t, 7; and.b32 %r2, %r2, 384; shr.u32 %r3, %t, 3; add.u32 %r2, %r2, %r3; shr.u32 %r3, %t, 2; and.b32 %r3, %r3, 1; shl.b32 %r3, %r3, 3; add.u32 %r2, %r2, %r3;", "st.shared.u8 [%r2], %t;", 32, 4, 3},
		{"double words", "shl.b32 %r2, %t, 3; mov.u64 %d1, 5;", "st.shared.u64 [%r2], %d1;", 32, 2, 0},
		{"double words with a stride", "shl.b32 %r2, %t, 4; mov.u64 %d1, 5;", "st.shared.u64 [%r2], %d1;", 32, 4, 2},
		{"vectors", "shl.b32 %r2, %t, 4;", "st.shared.v4.u32 [%r2], {%t, %t, %t, %t};", 32, 4, 0},
		{"vectors with a stride", "shl.b32 %r2, %t, 5;", "st.shared.v4.u32 [%r2], {%t, %t, %t, %t};", 32, 8, 4},
		{"half a warp of vectors", "shl.b32 %r2, %t, 4;", "st.shared.v4.u32 [%r2], {%t, %t, %t, %t};", 16, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := counted(t, ".shared .align 16 .b8 s[4352];"+c.address+"mov.u32 %r9, s; add.u32 %r2, %r2, %r9;"+c.op, 1, c.threads)
			assert.Equal(t, exec.SharedTraffic{Requests: 1, Wavefronts: c.wavefronts, Extra: c.extra}, got.SharedStores)
			assert.Zero(t, got.SharedLoads)
		})
	}
	// A word that many lanes read is read once.
	got := counted(t, ".shared .align 16 .b8 s[4096]; mov.u32 %r9, s; mad.lo.u32 %r2, %t, 4, %r9; st.shared.u32 [%r2], 1; bar.sync 0; ld.shared.u32 %r1, [s]; ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s+16];", 1, 32)
	assert.Equal(t, exec.SharedTraffic{Requests: 2, Wavefronts: 5}, got.SharedLoads)
	// An atomic is counted as an access of its kind.
	got = counted(t, ".shared .align 16 .b8 s[4096]; mov.u32 %r9, s; mad.lo.u32 %r2, %t, 128, %r9; st.shared.u32 [%r2], 1; red.shared.add.u32 [%r2], 1;", 1, 32)
	assert.EqualValues(t, 32, got.Atomics)
	assert.Equal(t, exec.SharedTraffic{Requests: 2, Wavefronts: 64, Extra: 62}, got.SharedStores)
}

func TestCountsOfInstructions(t *testing.T) {
	body := `
setp.lt.u32 %p1, %t, 8;
@%p1 add.f32 %f1, %f1, %f1;
@!%p1 bra END;
mul.lo.u32 %r1, %t, %t;
END: cvt.rn.f32.u32 %f1, %t; ex2.approx.f32 %f1, %f1; mov.u32 %r3, 5; bar.sync 0; .local .b32 l; st.local.u32 [l], %r3; ret;`
	_, c, err := run(t, body, 3, 40, 1)
	require.NoError(t, err)
	// Per block a warp of 32 lanes, of which 24 jump, and one of 8 that all do.
	// Three instructions of each come before the statements.
	perBlock := func(class exec.Class, warps, lanes uint64) {
		t.Helper()
		assert.Equal(t, exec.Issued{Warps: 3 * warps, Lanes: 3 * lanes}, c.Classes[class], class.String())
	}
	perBlock(exec.ClassFloatMath, 2, 8)
	perBlock(exec.ClassCompare, 2, 40)
	perBlock(exec.ClassInteger, 2+1, 40+8) // with the address in %at
	perBlock(exec.ClassConvert, 2, 40)
	perBlock(exec.ClassSpecial, 2, 40)
	perBlock(exec.ClassMove, 4, 80)
	perBlock(exec.ClassSync, 2, 40)
	perBlock(exec.ClassLoad, 2, 40)
	perBlock(exec.ClassStore, 2, 40)
	perBlock(exec.ClassControl, 2+2, 32+40)
	assert.EqualValues(t, 3*2, c.LocalAccesses)
	assert.EqualValues(t, 3*2, c.Barriers)
	var warps, lanes uint64
	for _, x := range c.Classes {
		warps += x.Warps
		lanes += x.Lanes
	}
	assert.Equal(t, warps, c.WarpInstructions)
	assert.Equal(t, lanes, c.LaneInstructions)
	var lineWarps uint64
	for _, x := range c.Lines {
		lineWarps += x.Warps
	}
	assert.Equal(t, warps, lineWarps)
}

// Registers of other widths than a form takes cost no instructions.
func TestCountsOfFittedRegisters(t *testing.T) {
	out, c, err := run(t, "mov.u64 %d1, 0xfffffffffffffff0; cvt.s64.s8 %d2, %d1; cvt.u32.u64 %r1, %d2;"+storeR1, 1, 32, 32)
	require.NoError(t, err)
	assert.Equal(t, each(32, func(int) uint32 { return 0xfffffff0 }), out)
	assert.EqualValues(t, 3+5, c.WarpInstructions)
}

// Counts do not depend on how many blocks run at once.
func TestCountsOfWorkers(t *testing.T) {
	p := load(t, source("mov.u32 %r5, 0;"+neighbour+"st.shared.u32 [%r3], %t; bar.sync 0; ld.shared.u32 %r1, [%r3]; mov.u32 %r9, %ctaid.x; shl.b32 %r9, %r9, 7; cvt.u64.u32 %d1, %r9; add.u64 %at, %at, %d1;"+storeR1))
	var counts []*exec.Counts
	for _, workers := range []int{1, 3, 8} {
		mem := exec.NewMemory()
		out, _ := mem.Alloc(1 << 13)
		args := []exec.Arg{exec.ArgOf(out), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}
		c, err := p.Launch(context.Background(), "k", dim(40), dim(32), 0, args, mem, exec.Options{Workers: workers, CheckRaces: true})
		require.NoError(t, err)
		counts = append(counts, c)
	}
	assert.Equal(t, counts[0], counts[1])
	assert.Equal(t, counts[0], counts[2])
	assert.EqualValues(t, 40*128, counts[0].DRAMWritten)
}

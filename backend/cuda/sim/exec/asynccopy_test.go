package exec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

// copied is a kernel of one warp whose lanes copy 16 bytes of p1 each to shared
// memory, and read what the lane beside them copied.
func copied(copies string) string {
	return `
.shared .align 16 .b8 s[1024];
ld.param.u64 %d1, [p1]; mad.wide.u32 %d1, %t, 16, %d1; mov.u32 %r2, s; mad.lo.u32 %r3, %t, 16, %r2; xor.b32 %r4, %t, 1; mad.lo.u32 %r4, %r4, 16, %r2;
` + copies + `
bar.sync 0;
ld.shared.u32 %r1, [%r4+4];`
}

func TestAsyncCopy(t *testing.T) {
	value := func(i int) uint32 { return uint32(i*i + 1) }
	launch := func(t *testing.T, body string, words int) ([]uint32, error) {
		mem := exec.NewMemory()
		out, got := array[uint32](mem, 64)
		in, v := array[uint32](mem, words)
		for i := range v {
			v[i] = value(i)
		}
		_, err := exec1(t, source(body+storeR1), 32, []exec.Arg{exec.ArgOf(out), exec.ArgOf(in), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}, mem)
		return got[:32], err
	}
	neighbours := each(32, func(i int) uint32 { return value((i^1)*4 + 1) })
	for name, copies := range map[string]string{
		"wait for all":        "cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.wait_all;",
		"wait for the group":  "cp.async.ca.shared.global.L2::128B [%r3], [%d1], 16; cp.async.commit_group; cp.async.wait_group 0;",
		"small pieces":        "cp.async.ca.shared.global [%r3], [%d1], 4; cp.async.ca.shared.global [%r3+4], [%d1+4], 4; cp.async.ca.shared.global [%r3+8], [%d1+8], 8; cp.async.wait_all;",
		"an older group":      "cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.commit_group; cp.async.cg.shared.global [%r3+512], [%d1], 16; cp.async.commit_group; cp.async.wait_group 1;",
		"all bytes by number": "mov.u32 %r9, 16; cp.async.cg.shared.global [%r3], [%d1], 16, %r9; cp.async.wait_all;",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := launch(t, copied(copies), 32*4)
			require.NoError(t, err)
			assert.Equal(t, neighbours, got)
		})
	}
	t.Run("fewer bytes", func(t *testing.T) {
		// Lanes 0, 3, … copy nothing, 1, 4, … four bytes and 2, 5, … eight; what is
		// not read may lie beyond the memory.
		got, err := launch(t, copied("rem.u32 %r9, %t, 3; mul.lo.u32 %r9, %r9, 4; setp.eq.u32 %p1, %r9, 0; @%p1 mov.u64 %d1, 0; cp.async.cg.shared.global [%r3], [%d1], 16, %r9; cp.async.wait_all;"), 31*4+2)
		require.NoError(t, err)
		assert.Equal(t, each(32, func(i int) uint32 {
			if (i^1)%3 == 2 {
				return neighbours[i]
			}
			return 0
		}), got)
	})
	for name, c := range map[string]struct {
		kind   exec.FaultKind
		copies string
		detail string
	}{
		"no wait":                 {exec.Uninitialised, "\ncp.async.cg.shared.global [%r3], [%d1], 16; cp.async.commit_group;", "the asynchronous copy of line 14 is not waited for"},
		"not committed":           {exec.Uninitialised, "\ncp.async.cg.shared.global [%r3], [%d1], 16; cp.async.wait_group 0;", "is not waited for"},
		"too few groups":          {exec.Uninitialised, "\ncp.async.cg.shared.global [%r3], [%d1], 16; cp.async.commit_group; cp.async.wait_group 1;", "is not waited for"},
		"read before the barrier": {exec.SharedRace, "cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.wait_all; ld.shared.u32 %r1, [%r4];", "reads what thread (1, 0, 0) wrote at line 13"},
		"over what others read":   {exec.SharedRace, "st.shared.u32 [%r3], 1; bar.sync 0; ld.shared.u32 %r1, [%r4];\ncp.async.cg.shared.global [%r3], [%d1], 16;", "overwrites what thread (1, 0, 0) reads"},
		"beyond the source":       {exec.OutOfBounds, "add.u64 %d1, %d1, 16; cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.wait_all;", "behind the end"},
		"misaligned source":       {exec.Misaligned, "add.u64 %d1, %d1, 4; cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.wait_all;", "a multiple of 16"},
		"misaligned destination":  {exec.Misaligned, "cp.async.cg.shared.global [%r3+8], [%d1], 16; cp.async.wait_all;", "a multiple of 16"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := launch(t, copied(c.copies), 32*4)
			var f *exec.Fault
			require.ErrorAs(t, err, &f)
			assert.Equal(t, c.kind, f.Kind, "%v", err)
			assert.Contains(t, f.Detail, c.detail)
		})
	}
}

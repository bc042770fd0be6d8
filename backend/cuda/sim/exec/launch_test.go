package exec_test

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

func TestEndlessLoop(t *testing.T) {
	f := bad(t, exec.InstructionLimit, "L: add.u32 %r1, %r1, 1;\nbra L;", 4, 64, 1)
	assert.Contains(t, f.Detail, "1048576")

	// A lane that waits for another of its warp, and a warp that waits for another,
	// both with a plain loop.
	out := good(t, `
.shared .b32 flag; setp.eq.u32 %p1, %t, 0; @%p1 st.volatile.shared.u32 [flag], 0; bar.sync 0;
setp.eq.u32 %p1, %t, 63; @%p1 bra SET;
WAIT: ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT; bra END;
SET: st.volatile.shared.u32 [flag], 7; mov.u32 %r1, 8;
END:`+storeR1, 1, 64, 64)
	assert.Equal(t, each(64, func(i int) uint32 { return 7 + uint32(i/63) }), out)
}

func TestCancelled(t *testing.T) {
	p := load(t, source("L: add.u32 %r1, %r1, 1; bra L;"))
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	args := []exec.Arg{exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}
	_, err := p.Launch(ctx, "k", dim(8), dim(32), 0, args, exec.NewMemory(), exec.Options{})
	assert.ErrorIs(t, err, cause)

	// Before anything ran, of a kernel that would end at once.
	counts, err := load(t, source("ret;")).Launch(ctx, "k", dim(1), dim(1), 0, args, exec.NewMemory(), exec.Options{})
	assert.ErrorIs(t, err, cause)
	assert.Nil(t, counts)
}

func TestWrongLaunches(t *testing.T) {
	p := load(t, source("ret;")+".entry small() .maxntid 64, 1, 1 { .shared .b8 s[1024]; .reg .b64 %d; mov.u64 %d, s; ret; }\n.entry exact() .reqntid 8, 2 { ret; }")
	args := []exec.Arg{exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}
	assert.Equal(t, []string{"k", "small", "exact"}, p.Entries())
	assert.Equal(t, 1024, p.Static("small"))
	assert.Zero(t, p.Static("other"))
	for _, c := range []struct {
		name        string
		entry       string
		grid, block exec.Dim
		shared      int
		args        []exec.Arg
		want        string
	}{
		{"entry", "other", dim(1), dim(1), 0, args, "no such entry"},
		{"too few arguments", "k", dim(1), dim(1), 0, args[:3], "3 arguments, want 4"},
		{"argument of another size", "k", dim(1), dim(1), 0, []exec.Arg{args[0], exec.ArgOf(uint32(1)), args[2], args[3]}, "argument 1 has 4 bytes, want 8"},
		{"no blocks", "k", dim(0), dim(1), 0, args, "a grid of (0, 1, 1)"},
		{"no threads", "k", dim(1), exec.Dim{X: 1, Y: 0, Z: 1}, 0, args, "a block of (1, 0, 1)"},
		{"too many threads", "k", dim(1), exec.Dim{X: 32, Y: 33, Z: 1}, 0, args, "1024 in all"},
		{"too deep", "k", dim(1), exec.Dim{X: 1, Y: 1, Z: 65}, 0, args, "a block of (1, 1, 65)"},
		{"too tall a grid", "k", exec.Dim{X: 1, Y: 70000, Z: 1}, dim(1), 0, args, "a grid of"},
		{"too many blocks", "k", exec.Dim{X: 1 << 30, Y: 4, Z: 1}, dim(1), 0, args, "more than 2147483647"},
		{"too much shared memory", "k", dim(1), dim(1), 300000, args, "300000 bytes of shared memory"},
		{"shared memory beyond all numbers", "small", dim(1), dim(1), math.MaxInt, nil, "beside 1024 of its own"},
		{"less than no shared memory", "k", dim(1), dim(1), -1, args, "-1 bytes of shared memory"},
		{"more threads than compiled for", "small", dim(1), dim(65), 0, nil, "compiled for 64 at most"},
		{"other threads than compiled for", "exact", dim(1), dim(16), 0, nil, "compiled for (8, 2, 1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := p.Launch(context.Background(), c.entry, c.grid, c.block, c.shared, c.args, exec.NewMemory(), exec.Options{})
			var arg *exec.ArgumentError
			require.ErrorAs(t, err, &arg)
			assert.Contains(t, err.Error(), c.want)
		})
	}
	_, err := p.Launch(context.Background(), "exact", dim(1), exec.Dim{X: 8, Y: 2, Z: 1}, 0, nil, nil, exec.Options{})
	assert.EqualError(t, err, "exec: launch of exact: no memory")
	for _, good := range []struct {
		entry string
		block exec.Dim
	}{{"small", dim(64)}, {"exact", exec.Dim{X: 8, Y: 2, Z: 1}}} {
		_, err := p.Launch(context.Background(), good.entry, dim(1), good.block, 0, nil, exec.NewMemory(), exec.Options{})
		require.NoError(t, err)
	}
}

// What is not executed is refused when the module is loaded.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct{ name, src, reason string }{
		{"opcode", source("wgmma.fence.sync.aligned;"), "no such opcode"},
		{"form", source("add.rn.f32 %f1, %f2;"), "does not take these operands"},
		{"wide register for a narrow destination", source("add.u64 %r1, %d1, %d2;"), "a destination of another width"},
		{"narrow source", source("add.u64 %d1, %d1, %r1;"), "a source of another width"},
		{"predicate as number", source("add.u32 %r1, %p1, 1;"), "a source of another width"},
		{"negated number", source("add.u32 %r1, !%r1, 1;"), "only predicates are negated"},
		{"vector of too few", source("ld.global.v4.u32 {%r1, %r2}, [%d1];"), "as many registers"},
		{"store of a destination", source("st.global.u32 [%d1];"), "an address and a source"},
		{"shared variable as global", source(".shared .b32 s; ld.global.u32 %r1, [s];"), "of the space that the opcode names"},
		{"write to constants", source(".const .b32 c;\n---\nst.const.u32 [c], 1;"), "a writable space"},
		{"shuffle without sync", source("shfl.down.b32 %r1, %r2, 1, 31;"), "want 4 source operands"},
		{"cluster", source("barrier.cluster.arrive;"), "clusters"},
		{"atomic on floats", source("atom.global.min.f32 %f1, [%d1], %f2;"), "no such operation on this type"},
		{"tensor copy", source("cp.async.bulk.commit_group;"), "only cp.async is executed"},
		{"size of a copy", source("cp.async.ca.shared.global [%r1], [%d1], 3;"), "4, 8 or 16"},
		{"recursion", ".version 8.8\n.target sm_80\n.address_size 64\n.func f() { call f; ret; }\n.entry k() { call f; ret; }", "recursive"},
		{"missing function", ".version 8.8\n.target sm_80\n.address_size 64\n.extern .func f();\n.entry k() { call f; ret; }", "nothing defines the function"},
		{"missing variable", ".version 8.8\n.target sm_80\n.address_size 64\n.extern .global .b32 g;\n.entry k() { ret; }", "nothing defines the variable"},
		{"wrong arguments", source(".func f(.param .b32 a) { ret; }\n---\ncall f;"), "the arguments and results"},
		{"32 bits", ".version 8.8\n.target sm_80\n.address_size 32\n.entry k() { ret; }", "want 64"},
		{"much local memory", source(".local .b8 l[1000000];"), "want at most 524288"},
		{"many parameters", ".version 8.8\n.target sm_80\n.address_size 64\n.entry k(.param .b8 p[40000]) { ret; }", "want at most 32764"},
		{"many registers", source(".reg .b32 %q<100000>;"), "want at most 65536"},
		{"large variables", source(".global .b8 g[900000000];\n---\nret;"), "more than 268435456 bytes"},
		{"branch to nowhere", source("bra;"), "want a label"},
		{"wide registers", source(".reg .b128 %q;"), "up to 64 bits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ptx.Parse(c.src)
			require.NoError(t, err)
			p, err := exec.Load(m)
			assert.Nil(t, p)
			var u *exec.UnsupportedError
			require.ErrorAs(t, err, &u)
			assert.Contains(t, u.Error(), c.reason)
		})
	}
	m, err := ptx.Parse(".version 8.8")
	require.NoError(t, err)
	_, err = exec.Load(m)
	assert.EqualError(t, err, "exec: .address_size 32: want 64")
}

// The order of blocks changes with the seed and nothing else does.
func TestSeed(t *testing.T) {
	first := map[uint64]uint32{}
	for _, seed := range []uint64{0, 1, 2, 3} {
		mem := exec.NewMemory()
		out, got := array[uint32](mem, 40)
		args := []exec.Arg{exec.ArgOf(out), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}
		_, err := load(t, source("atom.global.add.u32 %r1, [%out], 1; mov.u32 %r2, %ctaid.x; mad.wide.u32 %d1, %r2, 4, %out; st.global.u32 [%d1+4], %r1; ret;")).
			Launch(context.Background(), "k", dim(39), dim(1), 0, args, mem, exec.Options{Workers: 1, Seed: seed})
		require.NoError(t, err)
		assert.Equal(t, uint32(39), got[0])
		assert.Equal(t, seed == 0, got[1] == 0 && got[2] == 1 && got[39] == 38)
		first[seed] = got[1]
	}
	assert.NotEqual(t, first[1], first[2])
}

// Of several blocks that fail the lowest is reported, when one worker runs them.
func TestFirstFault(t *testing.T) {
	args := []exec.Arg{exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0)), exec.ArgOf(uint64(0))}
	p := load(t, source("mov.u32 %r1, %ctaid.x; setp.gt.u32 %p1, %r1, 4; @%p1 trap; ret;"))
	_, err := p.Launch(context.Background(), "k", exec.Dim{X: 3, Y: 4, Z: 2}, dim(32), 0, args, exec.NewMemory(), exec.Options{Workers: 1})
	require.NoError(t, err)
	_, err = p.Launch(context.Background(), "k", dim(99), dim(32), 0, args, exec.NewMemory(), exec.Options{Workers: 1})
	var f *exec.Fault
	require.ErrorAs(t, err, &f)
	assert.Equal(t, dim(5).X, f.Block.X)
}

// Whatever text comes, loading and launching end with a typed error or a result.
func FuzzLaunch(f *testing.F) {
	for _, arch := range []string{"sm_80", "sm_100"} {
		src, err := os.ReadFile(testdata + "kernels." + arch + ".ptx")
		require.NoError(f, err)
		f.Add(string(src))
	}
	for _, body := range []string{mbarriers, producer, device + "ret;", copied("cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.wait_all;"), "L: bra L;"} {
		f.Add(source(body))
	}
	f.Fuzz(func(t *testing.T, src string) {
		m, err := ptx.Parse(src)
		if err != nil {
			return // FuzzParse looks at these
		}
		p, err := exec.Load(m)
		if err != nil {
			var u *exec.UnsupportedError
			require.ErrorAs(t, err, &u)
			return
		}
		mem := exec.NewMemory()
		addr, _ := mem.Alloc(4096)
		for _, entry := range p.Entries() {
			var args []exec.Arg
			for _, d := range m.Func(entry).Params {
				arg := make(exec.Arg, d.Size)
				if d.Size == 8 {
					arg = exec.ArgOf(addr)
				}
				args = append(args, arg)
			}
			o := checked
			o.Workers, o.MaxInstructions = 1, 20000
			_, err := p.Launch(context.Background(), entry, dim(2), dim(48), 256, args, mem, o)
			var fault *exec.Fault
			var arg *exec.ArgumentError
			if err != nil && !errors.As(err, &fault) && !errors.As(err, &arg) {
				t.Errorf("%T: %v", err, err)
			}
		}
	})
}

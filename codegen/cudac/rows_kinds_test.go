package cudac_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// kinds runs launches with each of their candidates on the interpreter of PTX.
type kinds struct {
	engine *runner.Engine
	take   int
	list   []*cudac.Variant // of the last launch
	report *runner.Report
	seen   map[string]int // how often each kind ran
}

func newKinds(t *testing.T, target cudac.Target) *kinds {
	k := &kinds{seen: map[string]int{}}
	k.engine = runner.New(runner.Options{
		Target: target, Compile: runner.Cached(nvrtctest.Cache(t)),
		Exec: exec.Options{CheckRaces: true, CheckUndefined: true, MaxInstructions: 1 << 30},
		Choose: func(_ *codegen.Kernel, list []*cudac.Variant) *cudac.Variant {
			k.list = list
			return list[min(k.take, len(list)-1)]
		},
		Observe: func(r *runner.Report) { k.report = r },
	})
	return k
}

// run compares what each candidate writes with the evaluator, and with each other
// bit for bit. With share, an output takes the storage of the first input.
func (k *kinds) run(t *testing.T, c kerneltest.Case, share int, each func(kind string, r *runner.Report)) {
	t.Helper()
	require.NoError(t, c.Check())
	want := kerneltest.CloneMemory(c.Mem)
	tolerance, ok := kerneltest.EvaluateWithin(c.Kernel, c.Launch, want)
	require.True(t, ok)
	if share > 0 {
		want[0] = want[share]
	}
	x, err := k.engine.Compile(c.Kernel)
	require.NoError(t, err)
	var first [][]byte
	for k.take = 0; k.take == 0 || k.take < len(k.list); k.take++ {
		got := kerneltest.CloneMemory(c.Mem)
		if share > 0 {
			got[share] = got[0]
		}
		err := x.(codegen.HostExecutable).Run(c.Launch, got, codegen.Serial{})
		kind := k.list[k.take].Kind
		require.NoError(t, err, "%s\n%s", k.list[k.take], x.Listing())
		k.seen[kind]++
		require.NoError(t, kerneltest.Compare(c.Kernel, want, got, tolerance), "%s\n%s", k.list[k.take], x.Listing())
		if first == nil {
			first = got
		}
		require.Equal(t, first, got, "%s gives other bits than %s", k.list[k.take], k.list[0])
		if each != nil {
			each(kind, k.report)
		}
	}
}

// narrow has little shared memory, so that rows need not be long to exceed it, and
// few multiprocessors, so that few rows fill it.
var narrow = cudac.Target{SM: 80, SMs: 4, Shared: 24 << 10}

// centred is Σ(x-Σx/n)², the position of the least of x-Σx/n, and x-Σx/n scaled by
// a value of the row: two passes before the elements are stored.
func centred(dt ir.DType, dims []int, axes []int) *kerneltest.Builder {
	m := kerneltest.NewBuilder(rand.New(rand.NewPCG(3, 3)), codegen.Rows, 1, dims...)
	x := m.In(dt, axes...)
	scale := m.InAt(codegen.Row, dt, 0)
	m.Tame()
	n := m.Emit(codegen.Instr{Op: codegen.OpCount, Type: dt.Compute(), Level: codegen.Row})
	mean := m.Apply(ir.SDiv, m.Reduce(codegen.RSum, x), n)
	d := m.Apply(ir.SSub, x, mean)
	m.Out(m.Apply(ir.SMul, m.Reduce(codegen.RSum, m.Apply(ir.SMul, d, d)), scale), dt.Compute(), 0)
	m.Out(m.Reduce(codegen.RArgMin, d), ir.I64, 0)
	m.Out(m.Apply(ir.SMul, d, scale), dt, axes...)
	return m
}

func TestRowKinds(t *testing.T) {
	k := newKinds(t, narrow)
	for _, rows := range []int{1, 5, 37} {
		for i, n := range []int{0, 1, 2, 7, 32, 33, 150, 1000, 1025, 2500, 7000} {
			if rows*n > 40000 || testing.Short() && (i+rows)%4 > 0 {
				continue
			}
			for _, axes := range [][]int{{0, 1}, {1, 0}} {
				t.Run(fmt.Sprint(rows, n, axes), func(t *testing.T) {
					k.run(t, centred(ir.F32, []int{rows, n}, axes).Case, 0, nil)
				})
			}
		}
	}
	if testing.Short() {
		return
	}
	for _, kind := range []string{"row-warp", "row-warp-shared", "row-block", "row-long", "row-split", "column", "column-split"} {
		assert.NotZero(t, k.seen[kind], kind)
	}
}

// Elements may be stored over what they came from: nothing is read again then that
// was overwritten.
func TestRowKindsInPlace(t *testing.T) {
	k := newKinds(t, narrow)
	for i, n := range []int{1, 60, 300, 1500, 7000} {
		for j, axes := range [][]int{{0, 1}, {1, 0}} {
			if testing.Short() && (i+j)%2 == 0 {
				continue
			}
			t.Run(fmt.Sprint(n, axes), func(t *testing.T) {
				m := centred(ir.F32, []int{20, n}, axes)
				k.run(t, m.Case, len(m.Mem)-1, nil)
			})
		}
	}
}

// Every reduction of every type, over rows that end inside a block of elements, a
// lane and a tree of blocks, in both orders of memory.
func TestReductions(t *testing.T) {
	k := newKinds(t, narrow)
	for _, dt := range ir.DTypes() {
		for op := codegen.RSum; op <= codegen.RAll; op++ {
			logical := op == codegen.RAny || op == codegen.RAll
			if dt.IsFloat8() || logical != (dt == ir.Bool) && (logical || op != codegen.RArgMax && op != codegen.RArgMin) {
				continue
			}
			if testing.Short() && (int(dt)+3*int(op))%4 > 0 {
				continue
			}
			t.Run(fmt.Sprint(dt, " ", op), func(t *testing.T) {
				for i, n := range []int{19, 40, 1300, 3100} {
					if which := (int(dt) + int(op)) % 8; i != which && (i != which-4 || testing.Short()) {
						continue
					}
					for j, axes := range [][]int{{0, 1}, {1, 0}} {
						if testing.Short() && (j+int(dt)/2)%2 > 0 {
							continue
						}
						m := kerneltest.NewBuilder(rand.New(rand.NewPCG(uint64(dt), uint64(op))), codegen.Rows, 1, 17, n)
						v := m.Reduce(op, m.In(dt, axes...))
						m.Out(v, m.Kernel.Body[v].Type, 0)
						k.run(t, m.Case, 0, nil)
					}
				}
			})
		}
	}
}

// Kinds differ in how they read a row and not in the order in which they add.
func TestRandomRows(t *testing.T) {
	n := 60
	if testing.Short() {
		n = 8
	}
	k := newKinds(t, narrow)
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 77))
		length := []int{3, 31, 200, 1024, 1500, 2100}[r.IntN(6)]
		dims := []int{1 + r.IntN(20), 1 + r.IntN(3), length}[r.IntN(3):]
		c := kerneltest.RandomProgram(r, codegen.Rows, r.IntN(len(dims)), dims).Case
		t.Run(fmt.Sprint(seed, " ", c), func(t *testing.T) { k.run(t, c, 0, nil) })
	}
}

// What a warp reads lies together, whichever way rows lie in memory, and shared
// memory is asked for no bank twice at once.
func TestRowsAreCoalesced(t *testing.T) {
	k := newKinds(t, narrow)
	for _, axes := range [][]int{{0, 1}, {1, 0}} {
		m := kerneltest.NewBuilder(rand.New(rand.NewPCG(1, 1)), codegen.Rows, 1, 64, 2048)
		x := m.In(ir.F32, axes...)
		m.Tame()
		m.Out(m.Reduce(codegen.RSum, x), ir.F32, 0)
		best := true
		k.run(t, m.Case, 0, func(kind string, r *runner.Report) {
			for _, c := range r.Calls {
				assert.Zero(t, c.Counts.SharedLoads.Extra+c.Counts.SharedStores.Extra, "%s: bank conflicts", kind)
			}
			if reads := r.Calls[0].Counts.GlobalLoads; best {
				assert.Equal(t, reads.Bytes, 32*reads.Sectors, "%s: all of each sector is used", kind)
			}
			best = false
		})
	}
}

package interp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/internal/race"
	"github.com/sinter-ml/sinter/ir"
)

// borders are lengths around the ends of lanes, blocks and tiles.
var borders = []int{0, 1, 2, 31, 32, 33, 255, 256, 1023, 1024, 1025, 2049, 4095, 4096, 4097, 8200}

func TestMapBorders(t *testing.T) {
	for _, n := range sample(borders) {
		for _, dims := range [][]int{{n}, {n, 3}, {3, n}, {n, 1, 2}} {
			r := rand.New(rand.NewPCG(uint64(n), 11))
			m := kerneltest.RandomProgram(r, codegen.Map, len(dims), dims)
			t.Run(fmt.Sprint(dims), func(t *testing.T) { check(t, m.Case) })
		}
	}
}

func TestRowsBorders(t *testing.T) {
	for _, n := range sample(borders) {
		for _, c := range []struct {
			dims  []int
			outer int
		}{{[]int{n}, 0}, {[]int{n}, 1}, {[]int{3, n}, 1}, {[]int{n, 3}, 1}, {[]int{40, n / 4}, 1}, {[]int{2, n / 2, 3}, 1}} {
			r := rand.New(rand.NewPCG(uint64(n), uint64(c.outer)))
			m := kerneltest.RandomProgram(r, codegen.Rows, c.outer, c.dims)
			t.Run(fmt.Sprint(c.dims, c.outer), func(t *testing.T) { check(t, m.Case) })
		}
	}
}

// The ways of walking rows give the same bits: each row of a softmax equals
// that row alone.
func TestSoftmaxRowAlone(t *testing.T) {
	for _, n := range []int{1, 10, shortRow, 32, 1000, wholeRow, wholeRow + 1, splitRow} {
		m := kerneltest.Softmax(20, n)
		x := compile(t, m.Kernel)
		all := kerneltest.CloneMemory(m.Mem)
		require.NoError(t, x.Run(m.Launch, all, workers(2)))
		for _, row := range []int{0, 7, 19} {
			l := m.Launch.Clone()
			l.Dims[0] = 1
			l.Access[0].Offset, l.Access[1].Offset = row*n, row*n
			one := kerneltest.CloneMemory(m.Mem)
			require.NoError(t, x.Run(l, one, codegen.Serial{}))
			require.Equal(t, all[1][row*n*4:(row+1)*n*4], one[1][row*n*4:(row+1)*n*4])
			sum := 0.0
			for _, p := range view[float32](one[1])[row*n : (row+1)*n] {
				sum += float64(p)
			}
			require.InDelta(t, 1, sum, 1e-5)
		}
	}
}

var numeric = []codegen.ReduceOp{codegen.RSum, codegen.RProd, codegen.RMax, codegen.RMin, codegen.RArgMax, codegen.RArgMin}

// A whole tensor, long enough to be split over workers.
func TestReduceSplit(t *testing.T) {
	lengths := []int{splitRow + 777, splitRow, 3*splitRow + 1}
	for _, n := range lengths[:kernels(1, 3)] {
		for _, op := range numeric {
			for _, dt := range []ir.DType{ir.F32, ir.I64, ir.BF16} {
				m := kerneltest.Reduction([]int{n}, 0, op, dt)
				check(t, m.Case)
			}
		}
	}
	m := kerneltest.Reduction([]int{2, splitRow / 2, 3}, 1, codegen.RSum, ir.F32)
	check(t, m.Case)
}

// The sum of a row depends on its elements alone: the same bits whether the
// rows lie along memory or across it, many or alone.
func TestReduceAxisOrder(t *testing.T) {
	for _, n := range []int{1, 31, 33, 1000, 1024, 1025, 5000} {
		for _, op := range numeric {
			const rows = 20
			along := kerneltest.Reduction([]int{rows, n}, 1, op, ir.F32)
			require.NoError(t, compile(t, along.Kernel).Run(along.Launch, along.Mem, codegen.Serial{}))
			across := kerneltest.Reduction([]int{rows, n}, 1, op, ir.F32)
			across.Launch.Access[0].Strides = []int{1, rows}
			src, dst := view[float32](along.Mem[0]), view[float32](across.Mem[0])
			for i := range rows {
				for j := range n {
					dst[j*rows+i] = src[i*n+j]
				}
			}
			require.NoError(t, compile(t, across.Kernel).Run(across.Launch, across.Mem, workers(3)))
			require.Equal(t, along.Mem[1], across.Mem[1], "%v of %d", op, n)
		}
	}
}

func TestReduceOfNothing(t *testing.T) {
	for op, want := range map[codegen.ReduceOp]kerneltest.Value{codegen.RSum: {}, codegen.RProd: {F: 1, I: 1}} {
		for _, dt := range []ir.DType{ir.F32, ir.I64} {
			m := kerneltest.Reduction([]int{3, 0}, 1, op, dt)
			require.NoError(t, compile(t, m.Kernel).Run(m.Launch, m.Mem, codegen.Serial{}))
			for i := range 3 {
				got := kerneltest.ReadElem(m.Mem[1], dt, i)
				if dt == ir.F32 {
					assert.Equal(t, want.F, got.F)
				} else {
					assert.Equal(t, want.I, got.I)
				}
			}
		}
	}
}

// inPlace makes every output of m that can take the storage of an input of
// the same layout do so, and returns what each buffer became.
func inPlace(m *kerneltest.Builder, mem [][]byte) [][]byte {
	out := slices.Clone(mem)
	taken := map[int]bool{}
	for _, s := range m.Kernel.Stores {
		sb := m.Kernel.Accesses[s.Access].Buffer
		for _, in := range m.Kernel.Body {
			if in.Op != codegen.OpLoad {
				continue
			}
			a, b := m.Launch.Access[s.Access], m.Launch.Access[in.Access]
			lb := m.Kernel.Accesses[in.Access].Buffer
			if len(b.Index) == 0 && len(b.Window) == 0 && !taken[lb] && m.Kernel.Buffers[sb].DType == m.Kernel.Buffers[lb].DType &&
				a.Offset == b.Offset && slices.Equal(a.Strides, b.Strides) && len(mem[sb]) == len(mem[lb]) {
				out[sb], taken[lb] = out[lb], true
				break
			}
		}
	}
	return out
}

func TestInPlace(t *testing.T) {
	aliases := 0
	for seed := range kernels(400, 3000) {
		r := rand.New(rand.NewPCG(uint64(seed), 21))
		dims := kerneltest.RandomDims(r, r.IntN(4), 6000)
		template, outer := codegen.Map, len(dims)
		if r.IntN(2) == 0 {
			template, outer = codegen.Rows, r.IntN(len(dims)+1)
		}
		m := kerneltest.RandomProgram(r, template, outer, dims)
		// What is not written stays as it was: give each output the contents of
		// the input whose storage it will take.
		for b, shared := range inPlace(m, m.Mem) {
			copy(m.Mem[b], shared)
		}
		want := kerneltest.CloneMemory(m.Mem)
		if !kerneltest.Evaluate(m.Kernel, m.Launch, want) {
			continue
		}
		for _, par := range []codegen.Parallel{codegen.Serial{}, workers(3)} {
			got := kerneltest.CloneMemory(m.Mem)
			shared := inPlace(m, got)
			for b := range got {
				if len(got[b]) > 0 && &shared[b][0] != &got[b][0] {
					aliases++
				}
			}
			require.NoError(t, compile(t, m.Kernel).Run(m.Launch, shared, par))
			for b := range shared {
				if m.Kernel.Buffers[b].Mode == codegen.In {
					shared[b] = want[b] // may have been overwritten
				}
			}
			requireSame(t, m.Kernel, want, shared, fmt.Sprint("seed ", seed))
		}
	}
	assert.Greater(t, aliases, 20, "too few kernels ran in place")
}

func allocKernels() map[string]*kerneltest.Builder {
	r := func() *rand.Rand { return rand.New(rand.NewPCG(5, 5)) }
	return map[string]*kerneltest.Builder{
		"map":         kerneltest.RandomProgram(r(), codegen.Map, 2, []int{70, 300}),
		"rows":        kerneltest.Reduction([]int{50, 300}, 1, codegen.RSum, ir.F32),
		"columns":     kerneltest.Reduction([]int{300}, 1, codegen.RMax, ir.F32),
		"split":       kerneltest.Reduction([]int{2 * splitRow}, 0, codegen.RSum, ir.F32),
		"contraction": kerneltest.MatMul([]int{40, 50, 300}, ir.F32),
		"vector":      kerneltest.MatMul([]int{1, 50, 300}, ir.BF16),
		"scan":        kerneltest.RandomScan(r(), []int{5, 1300}, ir.F32, codegen.RProd, false, true),
		"scatter":     kerneltest.RandomScatter(r(), 50, 30, 7, ir.BF16, ir.ScatterMax, 0),
		"gather":      kerneltest.Gather(20, 30, 4, 1),
		"doubles":     kerneltest.MatMul([]int{20, 30, 300}, ir.F64),
		"prologue":    kerneltest.RandomPrologues(r(), []int{20, 30, 300}, ir.F32),
		"sort":        kerneltest.RandomSort(r(), []int{30, 70}, ir.F16, true, false),
		"attention":   kerneltest.Attention{Batches: 1, Heads: 2, Queries: 40, Keys: 70, Dim: 8, ValueDim: 8, Spec: codegen.AttentionSpec{Causal: true}, DType: ir.F32}.Build(r()),
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector makes sync.Pool drop what it holds")
	}
	for name, m := range allocKernels() {
		t.Run(name, func(t *testing.T) {
			x := compile(t, m.Kernel)
			var err error
			n := testing.AllocsPerRun(20, func() {
				if e := x.Run(m.Launch, m.Mem, codegen.Serial{}); e != nil {
					err = e
				}
			})
			require.NoError(t, err)
			assert.Zero(t, n)
		})
	}
}

func TestRunConcurrently(t *testing.T) {
	for name, m := range allocKernels() {
		x := compile(t, m.Kernel)
		want := kerneltest.CloneMemory(m.Mem)
		require.NoError(t, x.Run(m.Launch, want, codegen.Serial{}))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 3 {
					got := kerneltest.CloneMemory(m.Mem)
					if assert.NoError(t, x.Run(m.Launch, got, workers(2))) {
						requireSame(t, m.Kernel, want, got, name)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestBadLaunch(t *testing.T) {
	m := kerneltest.MatMul([]int{4, 5, 6}, ir.F32)
	x := compile(t, m.Kernel)
	cases := map[string]func(l *codegen.Launch, mem [][]byte) [][]byte{
		"dims":    func(l *codegen.Launch, mem [][]byte) [][]byte { l.Dims = l.Dims[:2]; return mem },
		"access":  func(l *codegen.Launch, mem [][]byte) [][]byte { l.Access = l.Access[:2]; return mem },
		"buffers": func(l *codegen.Launch, mem [][]byte) [][]byte { return mem[:2] },
		"short":   func(l *codegen.Launch, mem [][]byte) [][]byte { mem[0] = mem[0][:8]; return mem },
		"offset":  func(l *codegen.Launch, mem [][]byte) [][]byte { l.Access[2].Offset = -1; return mem },
	}
	for name, spoil := range cases {
		l := m.Launch.Clone()
		err := x.Run(l, spoil(l, kerneltest.CloneMemory(m.Mem)), codegen.Serial{})
		var ae *codegen.ArgsError
		assert.ErrorAs(t, err, &ae, name)
	}
	require.NoError(t, x.Run(m.Launch, m.Mem, codegen.Serial{}), "an executable stays usable")
}

func TestBadKernel(t *testing.T) {
	_, err := New().Compile(&codegen.Kernel{Name: "empty"})
	var ve *codegen.VerifyError
	require.ErrorAs(t, err, &ve)
}

type failing struct{}

func (failing) Workers() int                     { return 1 }
func (failing) For(int, int, codegen.Task) error { return errWorker }

var errWorker = fmt.Errorf("worker lost")

func TestWorkerErrorComesBack(t *testing.T) {
	for name, m := range allocKernels() {
		x := compile(t, m.Kernel)
		assert.ErrorIs(t, x.Run(m.Launch, m.Mem, failing{}), errWorker, name)
		assert.NoError(t, x.Run(m.Launch, m.Mem, codegen.Serial{}), name)
	}
}

func TestListing(t *testing.T) {
	m := kerneltest.Reduction([]int{3, 4}, 1, codegen.RSum, ir.BF16)
	x := compile(t, m.Kernel)
	assert.Same(t, m.Kernel, x.Kernel())
	assert.Equal(t, `interp rows, 1 outer, 1 inner axes, 2 registers of 1024 elements
  %0 r0 f32 = load access 0
  %1 r1 f32 = reduce sum %0
  store access 1 = %1
  pass 0: rows, elements %0, fold %1
  pass 1: rows, elements
`, x.Listing())
	assert.Equal(t, "interp", New().Name())
}

func TestRandomWords(t *testing.T) {
	// Known answers of Random123 for Philox 4x32-10.
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		assert.Equal(t, c.want, philox4x32(c.counter, c.key))
	}
}

func TestNormal(t *testing.T) {
	for _, n := range []int{1, 3, 1024, 1030} {
		m := kerneltest.NewBuilder(rand.New(rand.NewPCG(1, 1)), codegen.Map, 2, 3, n)
		p := m.Param(ir.I64, 42)
		m.Param(ir.I64, 7<<32)
		m.Emit(codegen.Instr{Op: codegen.OpNormal, Type: ir.F32, Index: p})
		m.Emit(codegen.Instr{Op: codegen.OpNormal, Type: ir.F64, Index: p})
		m.StoreUnused()
		check(t, m.Case)
	}
}

package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// sortKernel sorts the last axis, or as much of it as a window lets through:
// the values and where they were, in the order given.
func sortKernel(r *rand.Rand, dims []int, dt ir.DType, descending, positionsFirst bool) *maker {
	m := &maker{r: r}
	m.k.Template, m.k.Outer, m.k.Inner = codegen.Sort, len(dims)-1, 1
	m.l.Dims = dims
	t := dt.Compute()
	args, n := m.layout(len(dims), true)
	b := m.buffer(dt, codegen.In, n)
	for i := range n { // many ties, among them zeros of both signs and NaNs
		if r.IntN(2) == 0 {
			writeElem(m.mem[b], dt, i, one(m, []value{{}, {f: math.Copysign(0, -1)}, {f: 1, i: 1, b: true}, {f: math.NaN(), i: dt.Wrap(-1)}, {f: math.Inf(1)}, {f: math.Inf(-1)}}))
		}
	}
	x := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: t, Access: m.access(b, args, false)})
	for i := range 2 {
		in := codegen.Instr{Op: codegen.OpSort, Type: t, Reverse: descending, Args: []codegen.Value{x}}
		if in.Positions = (i == 0) == positionsFirst; in.Positions {
			in.Type = ir.I64
		}
		m.emit(in)
	}
	m.finish()
	for s := range m.k.Stores {
		if a := m.k.Stores[s].Access; r.IntN(2) == 0 {
			m.k.Accesses[a].Masked = true
			axis := len(dims) - 1
			m.l.Access[a].Window = []codegen.WindowArg{{Axis: axis, Lo: 0, Hi: r.IntN(dims[axis] + 2)}}
		}
	}
	return m
}

func TestSort(t *testing.T) {
	for i, dims := range sample([][]int{{0}, {1}, {2}, {31}, {33}, {1300}, {3, 5}, {0, 4}, {4, 0}, {40, 7}, {2, 3, 130}}) {
		for _, dt := range ir.DTypes() {
			for mode := range 4 {
				if testing.Short() && (dims[0] == 1300 && dt != ir.BF16 || mode != (i+int(dt))%4) {
					continue
				}
				m := sortKernel(rand.New(rand.NewPCG(uint64(i), uint64(mode))), dims, dt, mode&1 != 0, mode&2 != 0)
				t.Run(fmt.Sprint(dims, dt, mode), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
			}
		}
	}
}

// sortOne sorts a row of F32 and returns values and positions.
func sortOne(t *testing.T, x []float32, descending bool) ([]float32, []int64) {
	t.Helper()
	n := len(x)
	dense := codegen.AccessArgs{Strides: []int{1}}
	m := &maker{r: rand.New(rand.NewPCG(1, 1))}
	m.k.Template, m.k.Inner = codegen.Sort, 1
	m.l.Dims = []int{n}
	v := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.F32, Access: m.access(m.buffer(ir.F32, codegen.In, n), dense, false)})
	copy(view[float32](m.mem[0]), x)
	s := m.emit(codegen.Instr{Op: codegen.OpSort, Type: ir.F32, Reverse: descending, Args: []codegen.Value{v}})
	p := m.emit(codegen.Instr{Op: codegen.OpSort, Type: ir.I64, Reverse: descending, Positions: true, Args: []codegen.Value{v}})
	m.k.Stores = []codegen.Store{
		{Access: m.access(m.buffer(ir.F32, codegen.Out, n), dense, false), Value: s},
		{Access: m.access(m.buffer(ir.I64, codegen.Out, n), dense, false), Value: p},
	}
	require.NoError(t, compile(t, &m.k).Run(&m.l, m.mem, codegen.Serial{}))
	return view[float32](m.mem[1]), view[int64](m.mem[2])
}

// NaN is the greatest, zeros are equal, and equals keep their order both ways.
func TestSortOrder(t *testing.T) {
	nan, inf, zero := float32(math.NaN()), float32(math.Inf(1)), float32(math.Copysign(0, -1))
	x := []float32{0, nan, zero, inf, 1, -inf, 0, nan, -1, 1}
	_, up := sortOne(t, x, false)
	assert.Equal(t, []int64{5, 8, 0, 2, 6, 4, 9, 3, 1, 7}, up)
	values, down := sortOne(t, x, true)
	assert.Equal(t, []int64{1, 7, 3, 4, 9, 0, 2, 6, 8, 5}, down)
	assert.True(t, math.Signbit(float64(values[6])), "the negative zero stays itself")

	r := rand.New(rand.NewPCG(4, 4))
	long := make([]float32, 100000)
	for i := range long {
		long[i] = float32(r.IntN(500))
	}
	want := make([]int64, len(long))
	for i := range want {
		want[i] = int64(i)
	}
	slices.SortStableFunc(want, func(a, b int64) int { return int(long[a] - long[b]) })
	_, got := sortOne(t, long, false)
	assert.Equal(t, want, got)
}

// A sorted row may take the storage of what is sorted.
func TestSortInPlace(t *testing.T) {
	for _, n := range []int{1, 7, 1024, 5000} {
		dense := codegen.AccessArgs{Strides: []int{n, 1}}
		m := &maker{r: rand.New(rand.NewPCG(2, 2))}
		m.k.Template, m.k.Outer, m.k.Inner = codegen.Sort, 1, 1
		m.l.Dims = []int{3, n}
		v := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.I64, Access: m.access(m.buffer(ir.I64, codegen.In, 3*n), dense, false)})
		s := m.emit(codegen.Instr{Op: codegen.OpSort, Type: ir.I64, Args: []codegen.Value{v}})
		m.k.Stores = []codegen.Store{{Access: m.access(m.buffer(ir.I64, codegen.Out, 3*n), dense, false), Value: s}}
		x := compile(t, &m.k)
		apart := cloneMem(m.mem)
		require.NoError(t, x.Run(&m.l, apart, codegen.Serial{}))
		shared := cloneMem(m.mem)
		shared[1] = shared[0]
		require.NoError(t, x.Run(&m.l, shared, workers(2)))
		assert.Equal(t, apart[1], shared[1])
	}
}

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
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

func TestSort(t *testing.T) {
	for i, dims := range sample([][]int{{0}, {1}, {2}, {31}, {33}, {1300}, {3, 5}, {0, 4}, {4, 0}, {40, 7}, {2, 3, 130}}) {
		for _, dt := range ir.DTypes() {
			for mode := range 4 {
				if testing.Short() && (dims[0] == 1300 && dt != ir.BF16 || mode != (i+int(dt))%4) {
					continue
				}
				m := kerneltest.RandomSort(rand.New(rand.NewPCG(uint64(i), uint64(mode))), dims, dt, mode&1 != 0, mode&2 != 0)
				t.Run(fmt.Sprint(dims, dt, mode), func(t *testing.T) { check(t, m.Case) })
			}
		}
	}
}

// sortOne sorts a row of F32 and returns values and positions.
func sortOne(t *testing.T, x []float32, descending bool) ([]float32, []int64) {
	t.Helper()
	n := len(x)
	dense := codegen.AccessArgs{Strides: []int{1}}
	m := kerneltest.NewBuilder(rand.New(rand.NewPCG(1, 1)), codegen.Sort, 0, n)
	v := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.F32, Access: m.Access(m.Buffer(ir.F32, codegen.In, n), dense, false)})
	copy(view[float32](m.Mem[0]), x)
	s := m.Emit(codegen.Instr{Op: codegen.OpSort, Type: ir.F32, Reverse: descending, Args: []codegen.Value{v}})
	p := m.Emit(codegen.Instr{Op: codegen.OpSort, Type: ir.I64, Reverse: descending, Positions: true, Args: []codegen.Value{v}})
	m.Kernel.Stores = []codegen.Store{
		{Access: m.Access(m.Buffer(ir.F32, codegen.Out, n), dense, false), Value: s},
		{Access: m.Access(m.Buffer(ir.I64, codegen.Out, n), dense, false), Value: p},
	}
	require.NoError(t, compile(t, m.Kernel).Run(m.Launch, m.Mem, codegen.Serial{}))
	return view[float32](m.Mem[1]), view[int64](m.Mem[2])
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
		m := kerneltest.NewBuilder(rand.New(rand.NewPCG(2, 2)), codegen.Sort, 1, 3, n)
		v := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.I64, Access: m.Access(m.Buffer(ir.I64, codegen.In, 3*n), dense, false)})
		s := m.Emit(codegen.Instr{Op: codegen.OpSort, Type: ir.I64, Args: []codegen.Value{v}})
		m.Kernel.Stores = []codegen.Store{{Access: m.Access(m.Buffer(ir.I64, codegen.Out, 3*n), dense, false), Value: s}}
		x := compile(t, m.Kernel)
		apart := kerneltest.CloneMemory(m.Mem)
		require.NoError(t, x.Run(m.Launch, apart, codegen.Serial{}))
		shared := kerneltest.CloneMemory(m.Mem)
		shared[1] = shared[0]
		require.NoError(t, x.Run(m.Launch, shared, workers(2)))
		assert.Equal(t, apart[1], shared[1])
	}
}

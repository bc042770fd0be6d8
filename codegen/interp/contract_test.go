package interp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// contractionKernel builds a contraction over dims [batch…, m, n, k] with operands
// in random layouts and an epilogue: add a bias along n, round to BF16, store.
func contractionKernel(r *rand.Rand, dims []int, ta, tb ir.DType) *maker {
	m := &maker{r: r}
	t := ta.Compute()
	if t != tb.Compute() || t == ir.I8 && r.IntN(2) == 0 {
		t = ir.I32
	}
	k := len(dims) - 1
	m.k.Template, m.k.Outer, m.k.Inner = codegen.Contraction, k, 1
	m.l.Dims = dims
	// An operand has no stride along the axis of the other; batch axes may be
	// shared.
	side := func(dt ir.DType, without int) int {
		args, n := m.layout(len(dims), false)
		args.Strides[without] = 0
		for axis := range k - 2 {
			if r.IntN(3) == 0 {
				args.Strides[axis] = 0
			}
		}
		lo, hi := 0, 0
		for axis, s := range args.Strides {
			lo += min(0, s*(dims[axis]-1))
			hi += max(0, s*(dims[axis]-1))
		}
		args.Offset = -lo
		return m.access(m.buffer(dt, codegen.In, max(n, hi-lo+1)), args, false)
	}
	a, b := side(ta, k-1), side(tb, k-2)
	c := m.emit(codegen.Instr{Op: codegen.OpContract, Type: t, Access: a, Access2: b})
	if r.IntN(2) == 0 {
		bias := codegen.AccessArgs{Strides: make([]int, len(dims))}
		bias.Strides[k-1] = 1
		at := m.access(m.buffer(t, codegen.In, dims[k-1]), bias, false)
		x := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: t, Access: at})
		c = m.emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SAdd, Type: t, Args: []codegen.Value{c, x}})
	}
	out := t
	if t == ir.F32 && r.IntN(3) == 0 {
		out = ir.BF16
	}
	args, n := m.layout(k, false)
	m.k.Stores = append(m.k.Stores, codegen.Store{Access: m.access(m.buffer(out, codegen.Out, n), args, false), Value: c})
	return m
}

// tame replaces the special values of float operands, which would make every
// result NaN.
func (m *maker) tame() {
	for b := range m.k.Buffers {
		dt := m.k.Buffers[b].DType
		if dt.IsFloat() {
			for i := range len(m.mem[b]) / dt.Size() {
				writeElem(m.mem[b], dt, i, value{f: float64(float32(m.r.NormFloat64()))})
			}
		}
	}
}

// plainContraction multiplies dense row-major matrices [m, k]·[k, n].
func plainContraction(dims []int, dt ir.DType) *maker {
	m := &maker{r: rand.New(rand.NewPCG(1, 1))}
	m.k.Template, m.k.Outer, m.k.Inner = codegen.Contraction, 2, 1
	m.l.Dims = dims
	a := m.access(m.buffer(dt, codegen.In, dims[0]*dims[2]), codegen.AccessArgs{Strides: []int{dims[2], 0, 1}}, false)
	b := m.access(m.buffer(dt, codegen.In, dims[2]*dims[1]), codegen.AccessArgs{Strides: []int{0, 1, dims[1]}}, false)
	c := m.emit(codegen.Instr{Op: codegen.OpContract, Type: dt.Compute(), Access: a, Access2: b})
	out := m.access(m.buffer(dt, codegen.Out, dims[0]*dims[1]), codegen.AccessArgs{Strides: []int{dims[1], 1, 0}}, false)
	m.k.Stores = []codegen.Store{{Access: out, Value: c}}
	m.tame()
	return m
}

// The bits of a row do not depend on the rows beside it, nor on the layout.
func TestContractionRowAlone(t *testing.T) {
	m := plainContraction([]int{9, 11, 600}, ir.F32)
	x := compile(t, &m.k)
	all := cloneMem(m.mem)
	require.NoError(t, x.Run(&m.l, all, codegen.Serial{}))
	for row := range 9 {
		l := m.l.Clone()
		l.Dims[0] = 1
		l.Access[0].Offset, l.Access[2].Offset = row*600, row*11
		one := cloneMem(m.mem)
		require.NoError(t, x.Run(l, one, codegen.Serial{}))
		require.Equal(t, all[2][row*11*4:(row+1)*11*4], one[2][row*11*4:(row+1)*11*4])
	}
}

func TestContractions(t *testing.T) {
	shapes := [][]int{
		{1, 1, 1}, {1, 1, 0}, {3, 5, 0}, {0, 4, 3}, {4, 0, 3}, {1, 7, 300}, {1, 1030, 3}, {1, 17, 257}, {9, 1, 256}, {1030, 1, 5},
		{2, 4, 8}, {3, 3, 513}, {4, 4, 255}, {5, 9, 1}, {63, 127, 31}, {64, 128, 33}, {65, 129, 7}, {130, 260, 2},
		{2, 3, 5, 7}, {3, 1, 4, 9}, {2, 3, 4, 1, 6}, {2, 2, 3, 70, 5}, {4, 4, 4, 4, 4},
	}
	types := [][2]ir.DType{
		{ir.F32, ir.F32}, {ir.BF16, ir.BF16}, {ir.F32, ir.BF16}, {ir.F16, ir.F8E5M2}, {ir.F64, ir.F64}, {ir.I64, ir.I64}, {ir.U64, ir.U64},
		{ir.I32, ir.I32}, {ir.U16, ir.U16}, {ir.I8, ir.I8}, {ir.I8, ir.U8}, {ir.U8, ir.I8},
	}
	for i, dims := range sample(shapes) {
		for j, ty := range types {
			if testing.Short() && j > 1 && (i+j)%3 > 0 {
				continue
			}
			for seed := range kernels(1, 6) {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(i*10+j)))
				m := contractionKernel(r, dims, ty[0], ty[1])
				if seed%2 == 0 {
					m.tame()
				}
				t.Run(fmt.Sprint(dims, ty, seed), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
			}
		}
	}
}

func TestRandomContractions(t *testing.T) {
	for seed := range kernels(40, 400) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		dims := randomDims(r, 3+r.IntN(3), 6000)
		m := contractionKernel(r, dims, ir.F32, []ir.DType{ir.F32, ir.BF16, ir.F16}[r.IntN(3)])
		m.tame()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
	}
}

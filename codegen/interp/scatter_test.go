package interp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// scatterKernel writes values of the space [updates, width] to rows of a
// target with the given number of rows; row numbers are in [0, rows) but for
// one bad one if wanted.
func scatterKernel(r *rand.Rand, updates, width, rows int, dt ir.DType, mode ir.ScatterMode, bad int64) *maker {
	m := &maker{r: r}
	m.k.Template, m.k.Outer = codegen.Scatter, 2
	m.l.Dims = []int{updates, width}
	idx := m.buffer(ir.I64, codegen.In, updates)
	for i := range updates {
		writeElem(m.mem[idx], ir.I64, i, value{i: int64(r.IntN(max(1, rows)))})
	}
	if bad != 0 {
		writeElem(m.mem[idx], ir.I64, r.IntN(updates), value{i: bad})
	}
	x := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.I64, Access: m.access(idx, codegen.AccessArgs{Strides: []int{1, 0}}, false)})
	args, n := m.layout(2, true)
	v := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: dt.Compute(), Access: m.access(m.buffer(dt, codegen.In, n), args, false)})
	m.tame()
	target := codegen.AccessArgs{Strides: []int{0, 1}, Index: []codegen.IndexArg{{Extent: rows, Stride: width}}}
	if r.IntN(2) == 0 {
		target = codegen.AccessArgs{Strides: []int{0, rows}, Index: []codegen.IndexArg{{Extent: rows, Stride: 1}}}
	}
	out := m.access(m.buffer(dt, codegen.InOut, max(1, rows*width)), target, false)
	m.k.Stores = append(m.k.Stores, codegen.Store{Access: out, Value: v, Index: []codegen.Value{x}, Mode: mode})
	return m
}

func TestScatter(t *testing.T) {
	for i, dims := range [][3]int{{1, 1, 1}, {5, 3, 4}, {40, 33, 7}, {3, 1030, 2}, {700, 5, 3}, {0, 4, 3}, {4, 0, 3}} {
		for _, dt := range ir.DTypes() {
			for mode := ir.Assign; mode <= ir.ScatterMax; mode++ {
				if mode != ir.Assign && !ir.Numbers.Has(dt) {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 5))
				m := scatterKernel(r, dims[0], dims[1], dims[2], dt, mode, 0)
				t.Run(fmt.Sprint(dims, dt, mode), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
			}
		}
	}
}

// 256 + 1 rounds back to 256 in BF16: only a sum rounded once counts the ones.
func TestScatterAddBF16(t *testing.T) {
	m := scatterKernel(rand.New(rand.NewPCG(1, 1)), 300, 1, 2, ir.BF16, ir.ScatterSum, 0)
	target := m.mem[len(m.mem)-1]
	writeElem(target, ir.BF16, 0, value{f: 256})
	signalling := binary.NativeEndian.AppendUint16(nil, 0x7f81) // a NaN whose bits rounding would change
	copy(target[2:], signalling)
	for i := range 300 {
		writeElem(m.mem[0], ir.I64, i, value{})
		for j := range len(m.mem[1]) / 2 {
			writeElem(m.mem[1], ir.BF16, j, value{f: 1})
		}
	}
	require.NoError(t, compile(t, &m.k).Run(&m.l, m.mem, codegen.Serial{}))
	assert.Equal(t, 556.0, readElem(target, ir.BF16, 0).f)
	assert.Equal(t, signalling, target[2:4], "what is not written keeps its bits")
}

// Two stores of one kernel to the same buffer: those of a point come before
// those of the next.
func TestScatterTwice(t *testing.T) {
	for _, dt := range []ir.DType{ir.F32, ir.BF16, ir.F16, ir.I64, ir.U8} {
		m := scatterKernel(rand.New(rand.NewPCG(2, 2)), 30, 3, 4, dt, one(&maker{r: rand.New(rand.NewPCG(3, uint64(dt)))}, []ir.ScatterMode{ir.ScatterSum, ir.ScatterMul}), 0)
		first := m.k.Stores[0]
		out := m.l.Access[first.Access]
		m.k.Stores = append(m.k.Stores, codegen.Store{
			Access: m.access(m.k.Accesses[first.Access].Buffer, out, false), Value: first.Value, Index: first.Index,
		})
		check(t, &m.k, &m.l, m.mem)
		m.k.Stores[0], m.k.Stores[1] = m.k.Stores[1], m.k.Stores[0]
		check(t, &m.k, &m.l, m.mem)
	}
}

func TestIndexOutOfRange(t *testing.T) {
	for _, bad := range []int64{-1, 4, 1 << 62, -1 << 63} {
		m := scatterKernel(rand.New(rand.NewPCG(7, 7)), 20, 3, 4, ir.F32, ir.Assign, bad)
		check(t, &m.k, &m.l, m.mem)

		for _, width := range []int{1, 3, 300} {
			g := gatherKernel(20, width, 4, bad)
			x := compile(t, &g.k)
			for range 2 { // an executable stays usable
				err := x.Run(&g.l, g.mem, workers(4))
				var ie *ir.IndexError
				require.True(t, errors.As(err, &ie), "%v", err)
				assert.Equal(t, fmt.Sprintf("index %d out of range for an axis of length 4", bad), ie.Msg)
			}
			writeElem(g.mem[0], ir.I64, 11, value{i: 3})
			require.NoError(t, x.Run(&g.l, g.mem, workers(4)))
		}
	}
}

// gatherKernel reads rows of a table as an embedding does; row number 11 is
// bad.
func gatherKernel(n, width, rows int, bad int64) *maker {
	m := &maker{r: rand.New(rand.NewPCG(8, 8))}
	m.k.Template, m.k.Outer = codegen.Map, 2
	m.l.Dims = []int{n, width}
	idx := m.buffer(ir.I64, codegen.In, n)
	for i := range n {
		writeElem(m.mem[idx], ir.I64, i, value{i: int64(i % rows)})
	}
	writeElem(m.mem[idx], ir.I64, 11, value{i: bad})
	x := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.I64, Access: m.access(idx, codegen.AccessArgs{Strides: []int{1, 0}}, false)})
	table := codegen.AccessArgs{Strides: []int{0, 1}, Index: []codegen.IndexArg{{Extent: rows, Stride: width}}}
	m.emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.F32, Args: []codegen.Value{x}, Access: m.access(m.buffer(ir.F32, codegen.In, rows*width), table, false)})
	m.finish()
	return m
}

func TestGatherRows(t *testing.T) {
	for _, width := range []int{1, 3, 255, 256, 384, 1030} {
		m := gatherKernel(20, width, 4, 2)
		check(t, &m.k, &m.l, m.mem)
	}
}

package runner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// indexed is a case with an index value in its first buffer, of an axis of length
// 5.
type indexed struct {
	name string
	make func() *kerneltest.Builder
}

const indexExtent = 5

// indexedCases are kernels of each template that reads or writes at an index.
func indexedCases() []indexed {
	// begin has the index values as its first buffer.
	begin := func(template codegen.Template, outer int, level codegen.Level, axes []int, dims ...int) (*kerneltest.Builder, codegen.Value) {
		m := kerneltest.NewBuilder(rand.New(rand.NewPCG(2, 2)), template, outer, dims...)
		x := m.InAt(level, ir.I64, axes...)
		m.Fill(0, func(i int) kerneltest.Value { return kerneltest.Value{I: int64(i % indexExtent)} })
		return m, x
	}
	table := func(m *kerneltest.Builder, level codegen.Level, strides []int, stride int, x codegen.Value) codegen.Value {
		args := codegen.AccessArgs{Strides: strides, Index: []codegen.IndexArg{{Extent: indexExtent, Stride: stride}}}
		return m.Load(level, ir.F32, indexExtent*stride, args, x)
	}
	list := []indexed{
		{"map", func() *kerneltest.Builder {
			m, x := begin(codegen.Map, 2, codegen.Element, []int{0}, 7, 12)
			m.Out(table(m, codegen.Element, []int{0, 1}, 12, x), ir.F32, 0, 1)
			return m
		}},
		{"rows", func() *kerneltest.Builder {
			m, x := begin(codegen.Rows, 1, codegen.Element, []int{1}, 3, 40)
			y := table(m, codegen.Element, []int{1, 0}, 3, x)
			m.Out(m.Apply(ir.SSub, y, m.Reduce(codegen.RSum, y)), ir.F32, 0, 1)
			return m
		}},
		{"row values", func() *kerneltest.Builder {
			m, x := begin(codegen.Rows, 1, codegen.Row, []int{0}, 7, 40)
			y := table(m, codegen.Row, []int{0, 0}, 1, x)
			m.Out(m.Apply(ir.SMul, m.Reduce(codegen.RSum, m.In(ir.F32, 0, 1)), y), ir.F32, 0)
			return m
		}},
		{"contraction", func() *kerneltest.Builder {
			m, x := begin(codegen.Contraction, 2, codegen.Left, []int{0}, 9, 6, 20)
			left := table(m, codegen.Left, []int{0, 0, 1}, 20, x)
			right := m.InAt(codegen.Right, ir.F32, 2, 1)
			c := m.Emit(codegen.Instr{Op: codegen.OpContract, Type: ir.F32, From: ir.F32, To: ir.F32, Args: []codegen.Value{left, right}})
			m.Out(c, ir.F32, 0, 1)
			return m
		}},
		{"epilogue", func() *kerneltest.Builder {
			m := kerneltest.NewBuilder(rand.New(rand.NewPCG(2, 2)), codegen.Contraction, 2, 6, 9, 20)
			column := m.Access(m.Buffer(ir.I64, codegen.In, 9), codegen.AccessArgs{Strides: []int{0, 1, 0}}, false)
			m.Fill(0, func(i int) kerneltest.Value { return kerneltest.Value{I: int64(i % indexExtent)} })
			left := m.Access(m.Buffer(ir.F32, codegen.In, 120), codegen.AccessArgs{Strides: []int{20, 0, 1}}, false)
			right := m.Access(m.Buffer(ir.F32, codegen.In, 180), codegen.AccessArgs{Strides: []int{0, 1, 9}}, false)
			c := m.Emit(codegen.Instr{Op: codegen.OpContract, Type: ir.F32, Access: left, Access2: right})
			x := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.I64, Access: column})
			m.Out(m.Apply(ir.SAdd, c, table(m, codegen.Element, []int{1, 0, 0}, 6, x)), ir.F32, 0, 1)
			return m
		}},
		{"scan", func() *kerneltest.Builder {
			m, x := begin(codegen.Scan, 1, codegen.Element, []int{1}, 3, 40)
			y := table(m, codegen.Element, []int{1, 0}, 3, x)
			m.Out(m.Emit(codegen.Instr{Op: codegen.OpScan, Reduce: codegen.RMax, Type: ir.F32, Args: []codegen.Value{y}}), ir.F32, 0, 1)
			return m
		}},
		{"sort", func() *kerneltest.Builder {
			m, x := begin(codegen.Sort, 1, codegen.Element, []int{1}, 3, 40)
			y := table(m, codegen.Element, []int{1, 0}, 3, x)
			m.Out(m.Emit(codegen.Instr{Op: codegen.OpSort, Type: ir.F32, Args: []codegen.Value{y}}), ir.F32, 0, 1)
			return m
		}},
	}
	for _, mode := range []ir.ScatterMode{ir.Assign, ir.ScatterSum, ir.ScatterMul, ir.ScatterMin, ir.ScatterMax} {
		for _, dt := range []ir.DType{ir.F32, ir.BF16, ir.I32} {
			list = append(list, indexed{fmt.Sprint("scatter ", mode, " ", dt), func() *kerneltest.Builder {
				return kerneltest.RandomScatter(rand.New(rand.NewPCG(3, 3)), 9, 4, indexExtent, dt, mode, 0)
			}})
		}
	}
	return list
}

// An index out of range is an *ir.IndexError that names it, in each candidate,
// nothing is read or written outside, and the kernel works afterwards.
func TestIndexOutOfRange(t *testing.T) {
	e := newEvery(t, cudac.Ampere)
	for n, x := range indexedCases() {
		if testing.Short() && n%7 != 0 {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			good := x.make().Case
			require.NoError(t, good.Check())
			e.check(t, good)
			count := len(good.Mem[0]) / 8
			for i, bad := range []int64{-1, indexExtent, math.MinInt64, math.MaxInt64, 1 << 32, -1 << 32} {
				broken := good.Clone()
				kerneltest.WriteElem(broken.Mem[0], ir.I64, []int{0, count - 1, count / 2}[i%3], kerneltest.Value{I: bad})
				e.list = nil
				for take := 0; take == 0 || take < len(e.list); take++ {
					f := e.run(broken, kerneltest.CloneMemory(broken.Mem), take)
					require.NotNil(t, f, "candidate %d", take)
					var out *ir.IndexError
					require.ErrorAs(t, f.err, &out, f.listing)
					assert.Equal(t, fmt.Sprintf("index %d out of range for an axis of length %d", bad, indexExtent), out.Msg)
				}
			}
			e.check(t, good)
		})
	}
}

// Nothing is wrong with an index that is not read: outside of a window, in a
// launch without points, along an axis that is empty.
func TestIndexThatIsNotRead(t *testing.T) {
	e := newEvery(t, cudac.Ampere)
	m := kerneltest.NewBuilder(rand.New(rand.NewPCG(4, 4)), codegen.Map, 1, 40)
	x := m.In(ir.I64, 0)
	m.Fill(0, func(i int) kerneltest.Value { return kerneltest.Value{I: int64(i)} })
	args := codegen.AccessArgs{Strides: []int{0}, Index: []codegen.IndexArg{{Extent: 9, Stride: 1}}, Window: []codegen.WindowArg{{Axis: 0, Lo: 3, Hi: 9}}}
	access := m.Access(m.Buffer(ir.F32, codegen.In, 9), args, true)
	fill := m.Const(codegen.Element, ir.F32, kerneltest.Value{F: -7})
	m.Out(m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.F32, Access: access, Args: []codegen.Value{x, fill}}), ir.F32, 0)
	e.check(t, m.Case)
	require.NoError(t, e.try(m.Case))

	for _, c := range indexedCases() {
		if c.name != "map" && c.name != "scatter assign f32" {
			continue
		}
		empty := c.make().Case
		kerneltest.WriteElem(empty.Mem[0], ir.I64, 0, kerneltest.Value{I: -1})
		empty.Launch.Dims[1] = 0
		e.check(t, empty)
	}
}

package cudac_test

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

// updates is a scatter over a space of dims: along which axes its index changes,
// how the place moves along each, and the indexed axis of the target.
type updates struct {
	name           string
	dims           []int
	index          []int // strides of the index values
	place          []int // strides of the target
	extent, stride int
	elements       int // of the target
}

// The structures of scatters. Many updates meet: targets are short.
var updateStructures = []updates{
	{"rows", []int{700, 5}, []int{1, 0}, []int{0, 1}, 3, 5, 15},
	{"few rows of many columns", []int{4, 1000}, []int{1, 0}, []int{0, 1}, 9, 1000, 9000},
	{"last axis", []int{6, 90}, []int{0, 1}, []int{40, 0}, 40, 1, 240},
	{"an index for each element", []int{60, 7}, []int{7, 1}, []int{0, 1}, 11, 7, 77},
	{"one place", []int{333}, []int{1}, []int{0}, 1, 1, 1},
	{"columns that meet", []int{50, 7}, []int{1, 0}, []int{0, 0}, 9, 1, 9},
	{"one index", []int{30, 7}, []int{0, 0}, []int{7, 1}, 4, 1, 214},
	{"batched rows", []int{3, 40, 4}, []int{40, 1, 0}, []int{32, 0, 1}, 8, 4, 96},
	{"backwards", []int{40, 4}, []int{1, 0}, []int{0, -1}, 8, 4, 35},
}

// build returns the scatter, its value x·w for a number w of each update.
func (u updates) build(dt ir.DType, mode ir.ScatterMode, seed uint64) *kerneltest.Builder {
	m := kerneltest.NewBuilder(rand.New(rand.NewPCG(seed, 9)), codegen.Scatter, len(u.dims), u.dims...)
	n := 1
	for axis, d := range u.dims {
		n += u.index[axis] * (d - 1)
	}
	index := m.Buffer(ir.I64, codegen.In, n)
	m.Fill(index, func(int) kerneltest.Value { return kerneltest.Value{I: int64(m.Rand.IntN(max(1, u.extent)))} })
	i := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.I64, Access: m.Access(index, codegen.AccessArgs{Strides: u.index}, false)})
	args, size := m.Layout(len(u.dims), false)
	v := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: dt.Compute(), Access: m.Access(m.Buffer(dt, codegen.In, size), args, false)})
	m.Tame()
	target := codegen.AccessArgs{Strides: u.place, Index: []codegen.IndexArg{{Extent: u.extent, Stride: u.stride}}}
	for axis, s := range u.place {
		if s < 0 {
			target.Offset -= s * (u.dims[axis] - 1)
		}
	}
	out := m.Access(m.Buffer(dt, codegen.InOut, u.elements), target, false)
	m.Kernel.Stores = append(m.Kernel.Stores, codegen.Store{Access: out, Value: v, Index: []codegen.Value{i}, Mode: mode})
	return m
}

// Every kind writes the bits of the definition: every dtype and way of joining by
// the first structure, some of them by each.
func TestScatterKinds(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	n := 0
	for i, u := range updateStructures {
		some := 7
		if testing.Short() {
			some = 17
		} else if i == 0 {
			some = 1
		}
		for _, dt := range ir.DTypes() {
			for mode := ir.Assign; mode <= ir.ScatterMax; mode++ {
				if mode != ir.Assign && !ir.Numbers.Has(dt) {
					continue
				}
				if n++; n%some != 0 {
					continue
				}
				t.Run(fmt.Sprint(u.name, " ", dt, " ", mode), func(t *testing.T) {
					k.run(t, u.build(dt, mode, uint64(n)).Case, 0, nil)
				})
			}
		}
	}
	for _, kind := range []string{"scatter-once", "scatter-last", "scatter-atomic", "scatter-list", "scatter-one"} {
		assert.Positive(t, k.seen[kind], kind)
	}
}

// The sum of halves is rounded once: 256 + 1 rounds back to 256 in BF16. What is
// not written keeps its bits, a NaN that a rounding would change among them.
func TestScatterAddHalves(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	c := updates{"", []int{300, 1}, []int{1, 0}, []int{0, 1}, 2, 1, 2}.build(ir.BF16, ir.ScatterSum, 1)
	c.Fill(0, func(int) kerneltest.Value { return kerneltest.Value{} })
	c.Fill(1, func(int) kerneltest.Value { return kerneltest.Value{F: 1} })
	copy(c.Mem[2], []byte{0x80, 0x43, 0x81, 0x7f})
	x, err := k.engine.Compile(c.Kernel)
	require.NoError(t, err)
	for k.take = range 2 {
		mem := kerneltest.CloneMemory(c.Mem)
		require.NoError(t, x.(codegen.HostExecutable).Run(c.Launch, mem, codegen.Serial{}))
		assert.Equal(t, []byte{0x0b, 0x44, 0x81, 0x7f}, mem[2], "556, and the NaN")
	}
}

// Stores to one buffer happen in order at each point, halves in f32 between them.
func TestScatterSeveralStores(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	for _, dt := range []ir.DType{ir.F32, ir.BF16, ir.F16, ir.I64, ir.U8} {
		for _, modes := range [][2]ir.ScatterMode{{ir.Assign, ir.ScatterSum}, {ir.ScatterMul, ir.Assign}, {ir.ScatterMax, ir.ScatterSum}} {
			m := updateStructures[3].build(dt, modes[0], uint64(dt))
			s := m.Kernel.Stores[0]
			second := m.Launch.Access[s.Access]
			second.Offset += 7
			m.Kernel.Buffers[2].Mode = codegen.InOut
			m.Mem[2] = append(m.Mem[2], m.Mem[2][:7*dt.Size()]...)
			m.Kernel.Stores = append(m.Kernel.Stores, codegen.Store{Access: m.Access(2, second, false), Value: s.Value, Index: s.Index, Mode: modes[1]})
			k.run(t, m.Case, 0, nil)
		}
	}
	assert.Equal(t, 1, len(k.seen), "%v", k.seen)
}

// Indices and values that are random numbers change along every axis, though
// nothing is read.
func TestScatterRandomNumbers(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	for mode := ir.Assign; mode <= ir.ScatterMax; mode++ {
		m := kerneltest.NewBuilder(rand.New(rand.NewPCG(5, 5)), codegen.Scatter, 2, 20, 7)
		seed := m.Param(ir.I64, 7)
		m.Param(ir.I64, 11)
		word := m.Emit(codegen.Instr{Op: codegen.OpPhilox, Type: ir.I64, Index: seed})
		at := m.Apply(ir.SFmod, word, m.Const(codegen.Element, ir.I64, kerneltest.Value{I: 9}))
		v := m.Emit(codegen.Instr{Op: codegen.OpCast, Type: ir.F32, From: ir.I64, To: ir.F32, Args: []codegen.Value{word}})
		target := codegen.AccessArgs{Strides: []int{0, 9}, Index: []codegen.IndexArg{{Extent: 9, Stride: 1}}}
		out := m.Access(m.Buffer(ir.F32, codegen.InOut, 63), target, false)
		m.Tame()
		m.Kernel.Stores = []codegen.Store{{Access: out, Value: v, Index: []codegen.Value{at}, Mode: mode}}
		k.run(t, m.Case, 0, nil)
		assert.Equal(t, mode == ir.Assign, k.seen["scatter-last"] > 0 && k.seen["scatter-list"] == 0)
	}
}

// Places and counts of 64 bits.
func TestScatterWide(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	for mode := ir.Assign; mode <= ir.ScatterMax; mode++ {
		for _, dt := range []ir.DType{ir.F32, ir.I64, ir.F16} {
			u := updates{"", []int{1, 40, 3}, []int{0, 1, 0}, []int{math.MaxInt, 0, 1}, 8, 3, 24}
			k.run(t, u.build(dt, mode, 3).Case, 0, nil)
			for _, v := range k.list {
				assert.True(t, v.Wide)
			}
		}
	}
}

// An index out of range is reported by every kind, wherever it is; the other
// updates happen.
func TestScatterOutOfRange(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	for _, mode := range []ir.ScatterMode{ir.Assign, ir.ScatterSum, ir.ScatterMin} {
		for _, dt := range []ir.DType{ir.F32, ir.I32} {
			for _, u := range []updates{updateStructures[0], updateStructures[3], updateStructures[6], {"no target", []int{5, 2}, []int{1, 0}, []int{0, 1}, 0, 2, 0}} {
				for _, bad := range []int64{-1, int64(u.extent), 1 << 62, -1 << 63} {
					m := u.build(dt, mode, 4)
					at := len(m.Mem[0])/8 - 1
					if u.extent > 0 {
						kerneltest.WriteElem(m.Mem[0], ir.I64, at/2, kerneltest.Value{I: bad})
					}
					want := kerneltest.CloneMemory(m.Mem)
					tolerance, ok := kerneltest.EvaluateWithin(m.Kernel, m.Launch, want)
					require.False(t, ok)
					x, err := k.engine.Compile(m.Kernel)
					require.NoError(t, err)
					for k.take = 0; k.take == 0 || k.take < len(k.list); k.take++ {
						got := kerneltest.CloneMemory(m.Mem)
						err := x.(codegen.HostExecutable).Run(m.Launch, got, codegen.Serial{})
						var out *ir.IndexError
						require.ErrorAs(t, err, &out, "%v", k.list[k.take])
						assert.Contains(t, out.Msg, fmt.Sprintf("out of range for an axis of length %d", u.extent))
						assert.NoError(t, kerneltest.Compare(m.Kernel, want, got, tolerance), "%v", k.list[k.take])
					}
				}
			}
		}
	}
}

// Random scatters, with random programs, layouts and windows.
func TestRandomScatters(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 12
	}
	k := newKinds(t, cudac.Ampere)
	for seed := range n {
		c := kerneltest.Random(rand.New(rand.NewPCG(uint64(seed), 82)), kerneltest.Options{Templates: []codegen.Template{codegen.Scatter}})
		if _, ok := kerneltest.EvaluateWithin(c.Kernel, c.Launch, kerneltest.CloneMemory(c.Mem)); ok {
			t.Run(fmt.Sprint(seed), func(t *testing.T) { k.run(t, c, 0, nil) })
		}
	}
}

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

// attentionOf is an attention over lengths: batches, heads, queries, keys, head
// dim and value dim.
func attentionOf(dt ir.DType, spec codegen.AttentionSpec, offset int64, n [6]int) kerneltest.Attention {
	return kerneltest.Attention{Batches: n[0], Heads: n[1], Queries: n[2], Keys: n[3], Dim: n[4], ValueDim: n[5], Spec: spec, Offset: offset, DType: dt}
}

// buildAttention returns an attention with its result in f32 or f64, so that no rounding
// at the end hides an error.
func buildAttention(a kerneltest.Attention, seed uint64) kerneltest.Case {
	return a.Build(rand.New(rand.NewPCG(seed, 6))).Case
}

// attentionTypes are the dtypes of attention, in a short run one for each class.
func attentionTypes() []ir.DType {
	if testing.Short() {
		return []ir.DType{ir.F32, ir.BF16}
	}
	return []ir.DType{ir.F32, ir.F64, ir.BF16, ir.F16}
}

var attentionSpecs = []codegen.AttentionSpec{
	{}, {Causal: true}, {HasMask: true}, {HasMask: true, BoolMask: true, ScaleRead: true},
	{Causal: true, HasMask: true}, {Causal: true, HasMask: true, BoolMask: true},
}

// Every candidate gives the right results, and the same bits as each other.
func TestAttentionKinds(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	n := 0
	for i, size := range [][6]int{
		{1, 1, 1, 1, 1, 1}, {2, 3, 5, 7, 4, 3}, {1, 2, 33, 63, 8, 5}, {1, 1, 31, 64, 16, 8}, {1, 1, 70, 65, 24, 40}, {2, 1, 20, 150, 64, 64},
		{1, 2, 3, 130, 260, 2}, {1, 1, 3, 70, 256, 136}, {1, 1, 3, 0, 4, 2}, {1, 1, 3, 4, 0, 2}, {1, 1, 0, 4, 3, 2}, {1, 1, 3, 4, 3, 0}, {0, 2, 3, 4, 3, 2},
	} {
		for j, spec := range attentionSpecs {
			for x, dt := range []ir.DType{ir.F32, ir.F64, ir.BF16, ir.F16} {
				if n++; (i+j+x)%4 != 0 || testing.Short() && (i != 4 || j%2 != 0) {
					continue
				}
				offset := []int64{0, 3, -2, 1 << 62, -40}[n%5]
				c := attentionOf(dt, spec, offset, size)
				t.Run(fmt.Sprint(c), func(t *testing.T) { k.run(t, buildAttention(c, uint64(n)), 0, nil) })
			}
		}
	}
	assert.Positive(t, k.seen["attention-simt"])
	assert.Positive(t, k.seen["attention-mma"])
}

// A query alone gives the bits of that query among others, and so do one head,
// some value columns and keys in other places in memory.
func TestAttentionAlone(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	for _, dt := range attentionTypes() {
		c := buildAttention(attentionOf(dt, codegen.AttentionSpec{Causal: true}, 60, [6]int{1, 2, 70, 130, 24, 72}), 1)
		x, err := k.engine.Compile(c.Kernel)
		require.NoError(t, err)
		k.take = 0
		all := kerneltest.CloneMemory(c.Mem)
		require.NoError(t, x.(codegen.HostExecutable).Run(c.Launch, all, codegen.Serial{}))
		query, head, columns := 37, 1, 5
		l := c.Launch.Clone()
		l.Params[1] += uint64(query) // causality counts from the first
		l.Dims[1], l.Dims[2], l.Dims[3] = 1, 1, columns
		for a := range l.Access {
			s := l.Access[a].Strides
			l.Access[a].Offset += query*s[2] + head*s[1]
		}
		out := len(all) - 1
		for k.take = 0; k.take == 0 || k.take < len(k.list); k.take++ {
			one := kerneltest.CloneMemory(c.Mem)
			require.NoError(t, x.(codegen.HostExecutable).Run(l, one, codegen.Serial{}))
			s := l.Access[3]
			for e := range columns {
				at := s.Offset + e*s.Strides[3]
				want, got := kerneltest.ReadElem(all[out], dt.Compute(), at), kerneltest.ReadElem(one[out], dt.Compute(), at)
				assert.Equal(t, want, got, "%v %v column %d", dt, k.list[k.take], e)
			}
		}
	}
}

// strange puts a value into every key that matches, of K and V.
func strange(c *kerneltest.Case, dt ir.DType, value float64, match func(key int) bool) {
	l := c.Launch
	for buffer, last := range map[int]int{1: 5, 2: 3} {
		s := l.Access[buffer].Strides
		for key := range l.Dims[4] {
			for e := range l.Dims[last] {
				if match(key) {
					kerneltest.WriteElem(c.Mem[buffer], dt, l.Access[buffer].Offset+key*s[4]+e*s[last], kerneltest.Value{F: value})
				}
			}
		}
	}
}

// Infinite and NaN values of keys that are hidden and seen.
func TestAttentionStrangeValues(t *testing.T) {
	k := newKinds(t, cudac.Ampere) // the tests have sources in common
	if !testing.Short() {
		t.Run("hidden", func(t *testing.T) { hiddenKeys(t, k) })
		t.Run("seen", func(t *testing.T) { strangeValues(t, k) })
	}
	t.Run("faded", func(t *testing.T) { fadedInfinity(t, k) })
}

// What a hidden key holds has no effect at all: the bits are those with any other
// numbers there.
func hiddenKeys(t *testing.T, k *kinds) {
	for _, dt := range attentionTypes() {
		for _, spec := range []codegen.AttentionSpec{{Causal: true}, {HasMask: true, BoolMask: true}} {
			c := buildAttention(attentionOf(dt, spec, -1, [6]int{1, 1, 70, 140, 16, 24}), 2)
			hidden := func(key int) bool { return key >= 69 } // from every query
			if spec.BoolMask {
				hidden = func(key int) bool { return key%3 == 1 }
				s := c.Launch.Access[3]
				for q := range 70 {
					for key := range 140 {
						kerneltest.WriteElem(c.Mem[3], ir.Bool, s.Offset+q*s.Strides[2]+key*s.Strides[4], kerneltest.Value{B: !hidden(key) && q != 5})
					}
				}
			}
			run := func(value float64) [][]byte {
				strange(&c, dt, value, hidden)
				x, err := k.engine.Compile(c.Kernel)
				require.NoError(t, err)
				var out [][]byte
				for k.take = 0; k.take == 0 || k.take < len(k.list); k.take++ {
					mem := kerneltest.CloneMemory(c.Mem)
					require.NoError(t, x.(codegen.HostExecutable).Run(c.Launch, mem, codegen.Serial{}))
					out = append(out, mem[len(mem)-1])
				}
				return out
			}
			want := run(0.5)
			for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				assert.Equal(t, want, run(value), "%v %+v %v", dt, spec, value)
			}
		}
	}
}

// Infinite and NaN values of keys that are seen reach the results of those queries
// that see them, and no others.
func strangeValues(t *testing.T, k *kinds) {
	for _, dt := range attentionTypes() {
		for _, spec := range []codegen.AttentionSpec{{Causal: true}, {HasMask: true, BoolMask: true}} {
			c := buildAttention(attentionOf(dt, spec, 0, [6]int{1, 1, 80, 80, 16, 24}), 3)
			l := c.Launch
			place := func(buffer, query, key, column int) int {
				s := l.Access[buffer]
				return s.Offset + query*s.Strides[2] + key*s.Strides[4] + column*s.Strides[3]
			}
			if spec.BoolMask {
				for q := range 80 {
					for key := range 80 {
						kerneltest.WriteElem(c.Mem[3], ir.Bool, place(3, q, key, 0), kerneltest.Value{B: key <= q})
					}
				}
			}
			inf := math.Inf(1)
			for _, v := range []struct {
				key, column int
				value       float64
			}{{10, 3, inf}, {20, 4, -inf}, {30, 5, math.NaN()}, {40, 6, inf}, {70, 6, -inf}, {66, 23, inf}} {
				kerneltest.WriteElem(c.Mem[2], dt, place(2, 0, v.key, v.column), kerneltest.Value{F: v.value})
			}
			x, err := k.engine.Compile(c.Kernel)
			require.NoError(t, err)
			for k.take = 0; k.take == 0 || k.take < len(k.list); k.take++ {
				mem := kerneltest.CloneMemory(c.Mem)
				require.NoError(t, x.(codegen.HostExecutable).Run(l, mem, codegen.Serial{}))
				for q := range 80 {
					for column := range 24 {
						want := 0.0 // finite
						switch {
						case column == 3 && q >= 10, column == 23 && q >= 66:
							want = inf
						case column == 4 && q >= 20:
							want = -inf
						case column == 5 && q >= 30, column == 6 && q >= 70:
							want = math.NaN()
						case column == 6 && q >= 40:
							want = inf
						}
						got := kerneltest.ReadElem(mem[len(mem)-1], dt.Compute(), place(len(c.Kernel.Accesses)-1, q, 0, column)).F
						assert.Equal(t, fmt.Sprint(want-want+0*want, want > 0, want < 0), fmt.Sprint(got-got, math.IsInf(got, 1), math.IsInf(got, -1)),
							"%v %v query %d column %d: %v", dt, k.list[k.take], q, column, got)
					}
				}
			}
		}
	}
}

// An infinite sum that fades to nothing is NaN, as 0·∞ is.
func fadedInfinity(t *testing.T, k *kinds) {
	for _, dt := range attentionTypes() {
		c := buildAttention(attentionOf(dt, codegen.AttentionSpec{Causal: true}, 0, [6]int{1, 1, 100, 100, 16, 24}), 3)
		l := c.Launch
		write := func(buffer, query, key, dim, column int, x float64) {
			s := l.Access[buffer]
			at := s.Offset + query*s.Strides[2] + column*s.Strides[3] + key*s.Strides[4] + dim*s.Strides[5]
			kerneltest.WriteElem(c.Mem[buffer], dt, at, kerneltest.Value{F: x})
		}
		for d := range 16 {
			write(0, 99, 0, d, 0, 100)
			write(1, 0, 10, d, 0, -100)
			write(1, 0, 90, d, 0, 100)
		}
		write(2, 0, 10, 0, 7, math.Inf(1))
		x, err := k.engine.Compile(c.Kernel)
		require.NoError(t, err)
		for k.take = 0; k.take == 0 || k.take < len(k.list); k.take++ {
			mem := kerneltest.CloneMemory(c.Mem)
			require.NoError(t, x.(codegen.HostExecutable).Run(l, mem, codegen.Serial{}))
			s := l.Access[3]
			got := kerneltest.ReadElem(mem[3], dt.Compute(), s.Offset+99*s.Strides[2]+7*s.Strides[3]).F
			assert.True(t, math.IsNaN(got), "%v %v: %v", dt, k.list[k.take], got)
		}
	}
}

// What follows an attention is computed at its points: a bias along the value
// columns, and random numbers by position.
func TestAttentionEpilogue(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	for _, dt := range attentionTypes() {
		m := attentionOf(dt, codegen.AttentionSpec{}, 0, [6]int{2, 3, 20, 30, 16, 24}).Build(rand.New(rand.NewPCG(7, 7)))
		t32 := dt.Compute()
		seed := m.Param(ir.I64, 7)
		m.Param(ir.I64, 11)
		word := m.Emit(codegen.Instr{Op: codegen.OpPhilox, Type: ir.I64, Index: seed})
		keep := m.Apply(ir.SLess, word, m.Const(codegen.Element, ir.I64, kerneltest.Value{I: 3 << 30}))
		y := m.Apply(ir.SAdd, 0, m.In(t32, 3))
		y = m.Apply(ir.SWhere, keep, y, m.Const(codegen.Element, t32, kerneltest.Value{}))
		m.Out(y, dt, 0, 1, 2, 3)
		k.run(t, m.Case, 0, nil)
	}
}

// Rounded weights, which only relaxed precision allows, are within a rounding of
// the operands' dtype.
func TestAttentionRoundedWeights(t *testing.T) {
	relaxed := cudac.Ampere
	relaxed.Relaxed = true
	strict, k := newKinds(t, cudac.Ampere), newKinds(t, relaxed)
	for _, dt := range []ir.DType{ir.BF16, ir.F16} {
		c := buildAttention(attentionOf(dt, codegen.AttentionSpec{Causal: true}, 0, [6]int{1, 2, 40, 100, 32, 32}), 4)
		run := func(k *kinds) []byte {
			x, err := k.engine.Compile(c.Kernel)
			require.NoError(t, err)
			mem := kerneltest.CloneMemory(c.Mem)
			require.NoError(t, x.(codegen.HostExecutable).Run(c.Launch, mem, codegen.Serial{}))
			return mem[3]
		}
		want, got := run(strict), run(k)
		assert.Equal(t, "attention-mma", strict.list[0].Kind)
		assert.Equal(t, "attention-mma-rounded", k.list[0].Kind)
		assert.NotEqual(t, want, got)
		most := 0.0 // of the values' magnitudes
		for i := range len(c.Mem[2]) / 2 {
			most = max(most, math.Abs(kerneltest.ReadElem(c.Mem[2], dt, i).F))
		}
		unit := map[ir.DType]float64{ir.BF16: 1.0 / 256, ir.F16: 1.0 / 2048}[dt]
		for i := range len(want) / 4 {
			a, b := kerneltest.ReadElem(want, ir.F32, i).F, kerneltest.ReadElem(got, ir.F32, i).F
			assert.InDelta(t, a, b, most*unit, "%v element %d", dt, i)
		}
	}
}

// The loops over products on tensor cores read shared memory without bank
// conflicts, and operands are copied in whole sectors.
func TestAttentionTraffic(t *testing.T) {
	k := newKinds(t, cudac.Ampere)
	for _, dims := range []int{32, 64, 128} {
		c := buildAttention(attentionOf(ir.BF16, codegen.AttentionSpec{}, 0, [6]int{1, 1, 64, 128, dims, dims}), 5)
		x, err := k.engine.Compile(c.Kernel)
		require.NoError(t, err)
		require.NoError(t, x.(codegen.HostExecutable).Run(c.Launch, c.Mem, codegen.Serial{}))
		v, n := k.report.Source.Variant, k.report.Calls[0].Counts
		assert.Equal(t, widest, v.Vector)
		assert.Zero(t, n.SharedLoads.Extra, "%v: %+v", v, n.SharedLoads)
		assert.Equal(t, n.GlobalLoads.Bytes, 32*n.GlobalLoads.Sectors, "%v: %+v", v, n.GlobalLoads)
		assert.Zero(t, n.LocalAccesses)
	}
}

// widest is how many halves are copied at once.
const widest = 8

package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// attentionCase is one attention: b, h, m, n, d, e.
type attentionCase struct {
	b, h, m, n, d, e int
	spec             codegen.AttentionSpec
	offset           int64
	dt               ir.DType
}

func (c attentionCase) build(r *rand.Rand) *maker {
	m := &maker{r: r}
	m.k.Template, m.k.Outer, m.k.Inner = codegen.Attention, 4, 2
	m.k.Attention = c.spec
	m.l.Dims = []int{c.b, c.h, c.m, c.e, c.n, c.d}
	operand := func(dt ir.DType, row, column int) {
		// [b, h, row, column], or with b and h exchanged in memory.
		s := make([]int, 6)
		dims := m.l.Dims
		s[column] = 1
		s[row] = dims[column]
		size := dims[row] * dims[column]
		if r.IntN(2) == 0 { // rows of all heads interleaved
			s[row] = dims[column] * c.h
			s[1], s[0] = dims[column], size*c.h
		} else {
			s[1], s[0] = size, size*c.h
		}
		b := m.buffer(dt, codegen.In, max(1, size*c.h*c.b))
		m.access(b, codegen.AccessArgs{Strides: s}, false)
	}
	operand(c.dt, 2, 5)
	operand(c.dt, 4, 5)
	operand(c.dt, 4, 3)
	m.tame()
	if c.spec.HasMask {
		dt := c.dt
		if c.spec.BoolMask {
			dt = ir.Bool
		}
		operand(dt, 2, 4)
	}
	t := c.dt.Compute()
	m.param(t, scalarBits(t, value{f: 1 / math.Sqrt(float64(max(1, c.d)))}))
	m.param(ir.I64, uint64(c.offset))
	m.emit(codegen.Instr{Op: codegen.OpAttention, Type: t})
	args, n := m.layout(4, false)
	m.k.Stores = append(m.k.Stores, codegen.Store{Access: m.access(m.buffer(t, codegen.Out, n), args, false)})
	return m
}

// naiveAttention computes one result by the definition, in float64: hidden
// keys are left out, a row whose scores are all −inf gives 0.
func naiveAttention(m *maker, at []int) float64 {
	k, l := &m.k, &m.l
	n := naive{k: k, l: l, mem: m.mem}
	point := append(append([]int{}, at...), 0, 0)
	read := func(access, key, dim int) float64 {
		point[4], point[5] = key, dim
		b := k.Accesses[access].Buffer
		v := readElem(m.mem[b], k.Buffers[b].DType, n.place(access, point))
		if v.b {
			return 1
		}
		return float64(v.f)
	}
	scale := bitsValue(k.Params[0], l.Params[0]).f
	type key struct{ score, v float64 }
	var keys []key
	most := math.Inf(-1)
	for j := range l.Dims[4] {
		if k.Attention.Causal && int64(j) > int64(at[2])+int64(l.Params[1]) {
			continue
		}
		s := 0.0
		for d := range l.Dims[5] {
			s += read(0, j, d) * read(1, j, d)
		}
		s *= scale
		if k.Attention.BoolMask {
			if read(3, j, 0) == 0 {
				continue
			}
		} else if k.Attention.HasMask {
			s += read(3, j, 0)
		}
		keys = append(keys, key{s, read(2, j, 0)})
		most = math.Max(most, s)
	}
	if math.IsInf(most, -1) {
		return 0
	}
	sum, out := 0.0, 0.0
	for _, x := range keys {
		p := math.Exp(x.score - most)
		sum += p
		out += p * x.v
	}
	return out / sum
}

func checkAttention(t *testing.T, m *maker) {
	t.Helper()
	x := compile(t, &m.k)
	serial, parallel := cloneMem(m.mem), cloneMem(m.mem)
	require.NoError(t, x.Run(&m.l, serial, codegen.Serial{}))
	require.NoError(t, x.Run(&m.l, parallel, workers(4)))
	requireSame(t, &m.k, serial, parallel, "workers")
	n := naive{k: &m.k, l: &m.l}
	s := m.k.Stores[0].Access
	ty, tolerance := m.k.Body[0].Type, 2e-5
	if ty == ir.F64 {
		tolerance = 1e-13
	}
	for _, p := range points(m.l.Dims[:4]) {
		got := readElem(serial[m.k.Accesses[s].Buffer], ty, n.place(s, append(append([]int{}, p...), 0, 0))).f
		want := naiveAttention(m, p)
		if math.IsNaN(want) {
			require.True(t, got != got, "%v: want NaN, got %v", p, got)
			continue
		}
		require.InDelta(t, want, got, tolerance, "%v", p)
	}
}

func TestAttention(t *testing.T) {
	sizes := [][6]int{
		{1, 1, 1, 1, 1, 1}, {2, 3, 5, 7, 4, 3}, {1, 2, 33, 63, 8, 5}, {1, 1, 31, 64, 16, 4}, {1, 1, 70, 65, 3, 9}, {1, 2, 1, 130, 260, 2},
		{1, 1, 3, 0, 4, 2}, {1, 1, 3, 4, 0, 2}, {1, 1, 0, 4, 3, 2}, {1, 1, 3, 4, 3, 0}, {0, 2, 3, 4, 3, 2},
	}
	specs := []codegen.AttentionSpec{{}, {Causal: true}, {HasMask: true}, {HasMask: true, BoolMask: true}, {Causal: true, HasMask: true, BoolMask: true}}
	for i, s := range sample(sizes) {
		for j, spec := range specs {
			for _, offset := range []int64{0, 3, -2, 1 << 62} {
				if !spec.Causal && offset != 0 {
					continue
				}
				for n, dt := range []ir.DType{ir.F32, ir.F64, ir.BF16, ir.F16} {
					if testing.Short() && n != (i+j)%4 && n != (i+j+2)%4 {
						continue
					}
					c := attentionCase{s[0], s[1], s[2], s[3], s[4], s[5], spec, offset, dt}
					m := c.build(rand.New(rand.NewPCG(uint64(i), uint64(j))))
					if spec.HasMask && !spec.BoolMask { // finite, but for some −inf
						b := m.k.Accesses[3].Buffer
						for x := range len(m.mem[b]) / dt.Size() {
							v := m.r.NormFloat64()
							if m.r.IntN(6) == 0 {
								v = math.Inf(-1)
							}
							writeElem(m.mem[b], dt, x, value{f: v})
						}
					}
					t.Run(fmt.Sprint(c), func(t *testing.T) { checkAttention(t, m) })
				}
			}
		}
	}
}

// A hidden key has no effect, whatever it holds; a visible NaN does.
func TestAttentionNaN(t *testing.T) {
	c := attentionCase{1, 1, 2, 3, 2, 2, codegen.AttentionSpec{HasMask: true, BoolMask: true}, 0, ir.F32}
	m := c.build(rand.New(rand.NewPCG(3, 3)))
	m.l.Access[3].Strides = []int{0, 0, 3, 0, 1, 0}
	mask := m.mem[m.k.Accesses[3].Buffer]
	copy(mask, []byte{1, 0, 1, 0, 0, 0})
	m.l.Access[1].Strides = []int{0, 0, 0, 0, 2, 1}
	m.l.Access[2].Strides = []int{0, 0, 0, 1, 2, 0}
	nan := value{f: math.NaN()}
	for i := range 2 {
		writeElem(m.mem[1], ir.F32, 2+i, nan)
		writeElem(m.mem[2], ir.F32, 2+i, nan)
	}
	checkAttention(t, m)
	copy(mask, []byte{0, 1, 1, 1, 1, 1})
	mem := cloneMem(m.mem)
	require.NoError(t, compile(t, &m.k).Run(&m.l, mem, codegen.Serial{}))
	n := naive{k: &m.k, l: &m.l}
	for _, p := range points(m.l.Dims[:4]) {
		got := readElem(mem[len(mem)-1], ir.F32, n.place(4, append(append([]int{}, p...), 0, 0))).f
		assert.True(t, got != got)
	}
}

// A query gives the same bits alone and among others.
func TestAttentionBatchInvariant(t *testing.T) {
	c := attentionCase{1, 1, 40, 100, 16, 8, codegen.AttentionSpec{}, 0, ir.F32}
	m := c.build(rand.New(rand.NewPCG(4, 4)))
	x := compile(t, &m.k)
	all, one := cloneMem(m.mem), cloneMem(m.mem)
	require.NoError(t, x.Run(&m.l, all, codegen.Serial{}))
	q := 37
	l := m.l.Clone()
	l.Dims[2] = 1
	for a := range l.Access {
		l.Access[a].Offset += q * l.Access[a].Strides[2]
	}
	require.NoError(t, x.Run(l, one, codegen.Serial{}))
	n := naive{k: &m.k, l: &m.l}
	for e := range 8 {
		at := n.place(3, []int{0, 0, q, e, 0, 0})
		assert.Equal(t, readElem(all[3], ir.F32, at).f, readElem(one[3], ir.F32, at).f)
	}
}

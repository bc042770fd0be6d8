package exec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec/internal/num"
)

// layout is how the PTX manual gives the fragments of a shape: by element i of a
// lane's group g and place t.
type layout struct {
	rowA, colA func(g, t, i int) int
	rowB       func(t, i int) int // the column is g
}

func choose(c bool, a, b int) int {
	if c {
		return a
	}
	return b
}

// manual has the formulas of the PTX manual, each shape by itself.
var manual = map[string]layout{
	"m16n8k16 16": {
		func(g, _, i int) int { return choose(i < 2 || i >= 4 && i < 6, g, g+8) },
		func(_, t, i int) int { return choose(i < 4, t*2+i&1, t*2+i&1+8) },
		func(t, i int) int { return choose(i < 2, t*2+i&1, t*2+i&1+8) },
	},
	"m16n8k8 16": {
		func(g, _, i int) int { return choose(i < 2, g, g+8) },
		func(_, t, i int) int { return t*2 + i&1 },
		func(t, i int) int { return t*2 + i },
	},
	"m16n8k4 32": {
		func(g, _, i int) int { return choose(i == 0, g, g+8) },
		func(_, t, _ int) int { return t },
		func(t, _ int) int { return t },
	},
	"m16n8k8 32": {
		func(g, _, i int) int { return choose(i == 0 || i == 2, g, g+8) },
		func(_, t, i int) int { return choose(i < 2, t, t+4) },
		func(t, i int) int { return choose(i == 0, t, t+4) },
	},
	"m8n8k16 8": {
		func(g, _, _ int) int { return g },
		func(_, t, i int) int { return t*4 + i },
		func(t, i int) int { return t*4 + i },
	},
	"m16n8k16 8": {
		func(g, _, i int) int { return choose(i < 4, g, g+8) },
		func(_, t, i int) int { return t*4 + i&3 },
		func(t, i int) int { return t*4 + i },
	},
	"m16n8k32 8": {
		func(g, _, i int) int { return choose(i < 4 || i >= 8 && i < 12, g, g+8) },
		func(_, t, i int) int { return choose(i < 8, t*4+i&3, t*4+i&3+16) },
		func(t, i int) int { return choose(i < 4, t*4+i&3, t*4+i&3+16) },
	},
	"m8n8k4 64": {
		func(g, _, _ int) int { return g },
		func(_, t, _ int) int { return t },
		func(t, _ int) int { return t },
	},
	"m16n8k4 64": {
		func(g, _, i int) int { return choose(i == 0, g, g+8) },
		func(_, t, _ int) int { return t },
		func(t, _ int) int { return t },
	},
	"m16n8k8 64": {
		func(g, _, i int) int { return choose(i == 0 || i == 2, g, g+8) },
		func(_, t, i int) int { return choose(i < 2, t, t+4) },
		func(t, i int) int { return choose(i == 0, t, t+4) },
	},
	"m16n8k16 64": {
		func(g, _, i int) int { return choose(i%2 == 0, g, g+8) },
		func(_, t, i int) int { return t + i/2*4 },
		func(t, i int) int { return t + i*4 },
	},
}

func rowC(g, i int) int { return choose(i < 2, g, g+8) }
func colC(t, i int) int { return t*2 + i&1 }

// matrices of the shape of an opcode, with values that every type holds exactly
// or rounds once.
type matrices struct {
	a, b, c [][]float64
}

func random(rows, cols int, draw func() float64) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, cols)
		for j := range m[i] {
			m[i][j] = draw()
		}
	}
	return m
}

// encode gives a value's bits in a type, and the value that they have.
func encode(t ptx.Type, x float64) (bits uint64, value float64) {
	switch t {
	case ptx.S8:
		v := int8(max(-128, min(127, math.Round(x*40))))
		return uint64(uint8(v)), float64(v)
	case ptx.U8:
		v := uint8(max(0, min(255, math.Round(math.Abs(x)*80))))
		return uint64(v), float64(v)
	case ptx.S32:
		v := int32(x * 1e5)
		return uint64(uint32(v)), float64(v)
	case ptx.TF32:
		v := num.TF32.Pack(x, num.RZ)
		return v<<13 | 0x1abc, num.TF32.Value(v) // what the multiplier does not read is not zero
	}
	f := formats[t]
	if f == nil {
		f = formats8[t]
	}
	v := f.Pack(x, num.RN)
	return v, f.Value(v)
}

func TestMmaMultiplies(t *testing.T) {
	opcodes := []string{
		"m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f16.f16.f16.f16", "m16n8k16.row.col.f32.bf16.bf16.f32",
		"m16n8k8.row.col.f32.f16.f16.f32", "m16n8k8.row.col.f16.f16.f16.f16", "m16n8k8.row.col.f32.bf16.bf16.f32",
		"m16n8k8.row.col.f32.tf32.tf32.f32", "m16n8k4.row.col.f32.tf32.tf32.f32",
		"m8n8k16.row.col.s32.s8.s8.s32", "m16n8k16.row.col.s32.s8.u8.s32", "m16n8k32.row.col.s32.s8.s8.s32", "m16n8k32.row.col.s32.u8.s8.s32", "m16n8k32.row.col.s32.u8.u8.s32",
		"m16n8k32.row.col.f32.e4m3.e5m2.f32", "m16n8k32.row.col.f32.e5m2.e4m3.f32",
		"m8n8k4.row.col.f64.f64.f64.f64", "m16n8k4.row.col.f64.f64.f64.f64", "m16n8k8.row.col.f64.f64.f64.f64", "m16n8k16.row.col.f64.f64.f64.f64",
	}
	for _, name := range opcodes {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(len(name))))
			o := opcode(t, "mma.sync.aligned."+name)
			f, ok := lookup(o)
			require.True(t, ok)
			m, k := o.Shape.M, o.Shape.K
			lay, ok := manual[fmt.Sprintf("m%dn8k%d %d", m, k, o.Types[1].Bits())]
			require.True(t, ok)
			values := matrices{random(m, k, rng.NormFloat64), random(k, 8, rng.NormFloat64), random(m, 8, rng.NormFloat64)}

			width := 32
			if o.Types[1] == ptx.F64 {
				width = 64
			}
			per, perC := width/o.Types[1].Bits(), width/o.Types[0].Bits()
			na, nb, nc := m*k/32, 8*k/32, m*8/32
			ra, rb, rc := na/per, nb/per, nc/perC
			// D is C with its registers in another order: sources are read first.
			in := &inst{}
			for i := range rc {
				in.v = append(in.v, int32(ra+rb+(i+1)%rc))
			}
			for i := range ra + rb + rc {
				in.v = append(in.v, int32(i))
			}
			w := &warp{r: make([][32]uint32, ra+rb+rc), d: make([][32]uint64, ra+rb+rc)}
			put := func(typ ptx.Type, reg, lane, e int, x *float64) {
				var b uint64
				b, *x = encode(typ, *x)
				if width == 64 {
					w.d[reg][lane] = b
				} else {
					w.r[reg][lane] |= uint32(b) << (e * typ.Bits())
				}
			}
			owned := map[string]bool{}
			own := func(matrix string, row, col int) {
				at := fmt.Sprint(matrix, row, " ", col)
				require.False(t, owned[at], "%s twice", at)
				owned[at] = true
			}
			for lane := range 32 {
				g, place := lane/4, lane%4
				for i := range na {
					row, col := lay.rowA(g, place, i), lay.colA(g, place, i)
					require.Equal(t, at{row, col}, fragmentA(m, per, lane, i/per, i%per), "A: lane %d, element %d", lane, i)
					own("A", row, col)
					put(o.Types[1], i/per, lane, i%per, &values.a[row][col])
				}
				for i := range nb {
					row := lay.rowB(place, i)
					require.Equal(t, at{row, g}, fragmentB(per, lane, i/per, i%per), "B: lane %d, element %d", lane, i)
					own("B", row, g)
					put(o.Types[2], ra+i/per, lane, i%per, &values.b[row][g])
				}
				for i := range nc {
					row, col := rowC(g, i), colC(place, i)
					require.Equal(t, at{row, col}, fragmentC(lane, i), "C: lane %d, element %d", lane, i)
					own("C", row, col)
					put(o.Types[0], ra+rb+i/perC, lane, i%perC, &values.c[row][col])
				}
			}
			require.Len(t, owned, m*k+k*8+m*8)

			f.run(w, in, full)
			for lane := range 32 {
				for i := range nc {
					row, col := rowC(lane/4, i), colC(lane%4, i)
					want := values.c[row][col]
					scale := math.Abs(want)
					for z := range k {
						p := values.a[row][z] * values.b[z][col]
						want, scale = want+p, scale+math.Abs(p)
					}
					reg := in.v[i/perC]
					switch o.Types[0] {
					case ptx.S32:
						require.Equal(t, int32(want), int32(w.r[reg][lane]))
					case ptx.F64:
						require.InDelta(t, want, math.Float64frombits(w.d[reg][lane]), scale*1e-15)
					case ptx.F32:
						require.InDelta(t, want, float64(math.Float32frombits(w.r[reg][lane])), math.Abs(want)*0x1p-24+scale*1e-15)
					case ptx.F16:
						require.InDelta(t, want, num.F16.Value(uint64(w.r[reg][lane]>>(16*(i%2))&0xffff)), math.Abs(want)*0x1.002p-11)
					}
				}
			}
		})
	}
}

func TestMmaRefuses(t *testing.T) {
	for _, name := range []string{
		"m16n8k16.row.row.f32.f16.f16.f32", "m16n8k16.row.col.f32.f16.bf16.f32", "m16n8k16.row.col.f16.bf16.bf16.f16", "m16n8k16.row.col.f32.f16.f16.f16",
		"m16n8k32.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.tf32.tf32.f32", "m16n8k32.row.col.satfinite.s32.s8.s8.s32", "m16n8k32.row.col.f32.e4m3.s8.f32",
	} {
		_, ok := lookup(opcode(t, "mma.sync.aligned."+name))
		assert.False(t, ok, name)
	}
}

func TestMovmatrixTransposes(t *testing.T) {
	f, ok := lookup(opcode(t, "movmatrix.sync.aligned.m8n8.trans.b16"))
	require.True(t, ok)
	w := &warp{r: make([][32]uint32, 1)}
	for lane := range w.r[0] {
		row, col := uint32(lane/4), uint32(lane%4*2)
		w.r[0][lane] = (row<<4 | col) | (row<<4|col+1)<<16
	}
	f.run(w, &inst{}, full) // onto itself
	for lane, v := range w.r[0] {
		row, col := uint32(lane/4), uint32(lane%4*2)
		require.Equal(t, (col<<4|row)|((col+1)<<4|row)<<16, v)
	}
}

func BenchmarkMma(b *testing.B) {
	for _, name := range []string{"m16n8k16.row.col.f32.bf16.bf16.f32", "m16n8k16.row.col.f32.f16.f16.f32", "m16n8k32.row.col.s32.s8.s8.s32", "m16n8k8.row.col.f32.tf32.tf32.f32"} {
		b.Run(name, func(b *testing.B) {
			f, ok := lookup(opcode(b, "mma.sync.aligned."+name))
			require.True(b, ok)
			w, in := &warp{r: make([][32]uint32, 14)}, &inst{}
			for i := range 14 {
				in.v = append(in.v, int32(i))
			}
			for b.Loop() {
				f.run(w, in, full)
			}
		})
	}
}

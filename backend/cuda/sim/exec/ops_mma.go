package exec

import (
	"fmt"
	"math"
	"slices"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec/internal/num"
)

// mma is a decoded matrix multiplication D = A·B+C, with N = 8.
//
// The model of floats: products are exact, c and they are added in float64 in the
// order of k, and the sum is rounded once to D's type. Tensor cores add in other
// orders and cut bits that are not documented; they and this agree within the
// errors of f32, not bit for bit. Integers are exact and wrap. Of f64 each step
// is an FMA.
type mma struct {
	m, k       int
	a, b, d    ptx.Type // of C, the type is D's
	per        int      // elements of A or B in a register
	ra, rb, rd int      // registers of a lane; C has as many as D
	// Where the elements lie: of A at row·K+column, of B at row·8+column, in the
	// order of registers, lanes and elements; of C and D likewise, in the order
	// of the elements of a lane, lanes within.
	atA, atB, atC []uint16
}

// mmaShapes are the shapes by the type of A: M and K.
var mmaShapes = map[ptx.Type][][2]int{
	ptx.F16: {{16, 8}, {16, 16}}, ptx.BF16: {{16, 8}, {16, 16}}, ptx.TF32: {{16, 4}, {16, 8}},
	ptx.S8: {{8, 16}, {16, 16}, {16, 32}}, ptx.U8: {{8, 16}, {16, 16}, {16, 32}},
	ptx.E4M3: {{16, 32}}, ptx.E5M2: {{16, 32}},
	ptx.F64: {{8, 4}, {16, 4}, {16, 8}, {16, 16}},
}

// accumulators are the types of D by that of A.
var accumulators = map[ptx.Type][]ptx.Type{
	ptx.F16: {ptx.F32, ptx.F16}, ptx.BF16: {ptx.F32}, ptx.TF32: {ptx.F32}, ptx.S8: {ptx.S32}, ptx.U8: {ptx.S32},
	ptx.E4M3: {ptx.F32}, ptx.E5M2: {ptx.F32}, ptx.F64: {ptx.F64},
}

// multiply is the form of mma.sync.
func multiply(o *ptx.Opcode) (form, bool) {
	if !slices.Equal(o.Mods, []ptx.Mod{ptx.ModSync, ptx.ModAligned, ptx.ModShape, ptx.ModRow, ptx.ModCol}) || len(o.Types) != 4 || o.Shape.N != 8 {
		return form{}, false
	}
	d, a, b, c := o.Types[0], o.Types[1], o.Types[2], o.Types[3]
	if c != d || !slices.Contains(mmaShapes[a], [2]int{o.Shape.M, o.Shape.K}) || !slices.Contains(accumulators[a], d) {
		return form{}, false
	}
	if a != b && (a.Bits() != 8 || b.Bits() != 8 || accumulators[a][0] != accumulators[b][0]) {
		return form{}, false
	}
	x := &mma{m: o.Shape.M, k: o.Shape.K, a: a, b: b, d: d}
	file, width := "r", 32
	if a == ptx.F64 {
		file, width = "d", 64
	}
	x.per = width / a.Bits()
	x.ra, x.rb, x.rd = x.m*x.k/32/x.per, 8*x.k/32/x.per, x.m*8/32*d.Bits()/width
	x.place()
	f := form{sig: fmt.Sprintf("%[1]s%[2]d=%[1]s%[3]d%[1]s%[4]d%[1]s%[2]d", file, x.rd, x.ra, x.rb), run: x.floats}
	switch d {
	case ptx.S32:
		f.run = x.integers
	case ptx.F64:
		f.run = x.doubles
	}
	return f, true
}

// place fills the tables of places.
func (x *mma) place() {
	for r := range x.ra {
		for lane := range 32 {
			for e := range x.per {
				p := fragmentA(x.m, x.per, lane, r, e)
				x.atA = append(x.atA, uint16(p.row*x.k+p.col))
			}
		}
	}
	for r := range x.rb {
		for lane := range 32 {
			for e := range x.per {
				p := fragmentB(x.per, lane, r, e)
				x.atB = append(x.atB, uint16(p.row*8+p.col))
			}
		}
	}
	for i := range x.m / 4 {
		for lane := range 32 {
			p := fragmentC(lane, i)
			x.atC = append(x.atC, uint16(p.row*8+p.col))
		}
	}
}

// registers splits the operands.
func (x *mma) registers(in *inst) (d, a, b, c []int32) {
	v := in.v
	return v[:x.rd], v[x.rd : x.rd+x.ra], v[x.rd+x.ra : x.rd+x.ra+x.rb], v[x.rd+x.ra+x.rb:]
}

// The greatest matrices.
type (
	matrixA [16 * 32]float64
	matrixB [32 * 8]float64
	matrixC [16 * 8]float64
)

// gather reads the elements of registers of 32 bits into a matrix.
func gather(m []float64, at []uint16, w *warp, regs []int32, t ptx.Type) {
	for _, reg := range regs {
		lanes := &w.r[reg]
		switch t {
		case ptx.F32:
			for i, v := range lanes {
				m[at[i]] = float64(math.Float32frombits(v))
			}
			at = at[32:]
		case ptx.TF32: // of which the upper 19 bits count
			for i, v := range lanes {
				m[at[i]] = float64(math.Float32frombits(v &^ 0x1fff))
			}
			at = at[32:]
		case ptx.BF16:
			for i, v := range lanes {
				m[at[2*i]] = float64(math.Float32frombits(v << 16))
				m[at[2*i+1]] = float64(math.Float32frombits(v &^ 0xffff))
			}
			at = at[64:]
		case ptx.F16:
			for i, v := range lanes {
				m[at[2*i]] = float64(math.Float32frombits(num.F16ToF32(v & 0xffff)))
				m[at[2*i+1]] = float64(math.Float32frombits(num.F16ToF32(v >> 16)))
			}
			at = at[64:]
		case ptx.E4M3, ptx.E5M2:
			f := formats8[t]
			for i, v := range lanes {
				for e := range 4 {
					m[at[4*i+e]] = f.Value(uint64(v >> (8 * e) & 0xff))
				}
			}
			at = at[128:]
		case ptx.S8, ptx.U8: // exact as floats too
			for i, v := range lanes {
				for e := range 4 {
					b := v >> (8 * e) & 0xff
					if t == ptx.S8 {
						m[at[4*i+e]] = float64(int8(b))
					} else {
						m[at[4*i+e]] = float64(b)
					}
				}
			}
			at = at[128:]
		}
	}
}

var formats8 = map[ptx.Type]*num.Format{ptx.E4M3: num.E4M3, ptx.E5M2: num.E5M2}

// product adds A·B to c.
func (x *mma) product(w *warp, ra, rb []int32, c *matrixC) {
	var a matrixA
	var b matrixB
	gather(a[:], x.atA, w, ra, x.a)
	gather(b[:], x.atB, w, rb, x.b)
	for row := range x.m {
		s, left := c[row*8:][:8], a[row*x.k:][:x.k]
		s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
		for k, v := range left {
			right := (*[8]float64)(b[k*8:])
			s0 += float64(v * right[0])
			s1 += float64(v * right[1])
			s2 += float64(v * right[2])
			s3 += float64(v * right[3])
			s4 += float64(v * right[4])
			s5 += float64(v * right[5])
			s6 += float64(v * right[6])
			s7 += float64(v * right[7])
		}
		s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7] = s0, s1, s2, s3, s4, s5, s6, s7
	}
}

// floats multiplies in f16, bf16, tf32 and the floats of 8 bits.
func (x *mma) floats(w *warp, in *inst, _ uint32) {
	var c matrixC
	rd, ra, rb, rc := x.registers(in)
	if x.d == ptx.F32 {
		gather(c[:], x.atC, w, rc, ptx.F32)
		x.product(w, ra, rb, &c)
		for i, reg := range rd {
			d, at := &w.r[reg], x.atC[32*i:]
			for lane := range d {
				d[lane] = num.F64ToF32(math.Float64bits(c[at[lane]]))
			}
		}
		return
	}
	at := func(reg, lane, e int) uint16 { return x.atC[32*(2*reg+e)+lane] }
	for i, reg := range rc {
		for lane, v := range w.r[reg] {
			c[at(i, lane, 0)], c[at(i, lane, 1)] = num.F16.Value(uint64(v&0xffff)), num.F16.Value(uint64(v>>16))
		}
	}
	x.product(w, ra, rb, &c)
	for i, reg := range rd {
		d := &w.r[reg]
		for lane := range d {
			d[lane] = uint32(num.F16.Pack(c[at(i, lane, 0)], num.RN) | num.F16.Pack(c[at(i, lane, 1)], num.RN)<<16)
		}
	}
}

// integers multiplies bytes; the sum of products is exact in float64.
func (x *mma) integers(w *warp, in *inst, _ uint32) {
	var c matrixC
	rd, ra, rb, rc := x.registers(in)
	x.product(w, ra, rb, &c)
	var sums [4][32]uint32
	for i, reg := range rc {
		for lane, v := range w.r[reg] {
			sums[i][lane] = v + uint32(int32(c[x.atC[32*i+lane]]))
		}
	}
	for i, reg := range rd {
		w.r[reg] = sums[i]
	}
}

// doubles multiplies f64.
func (x *mma) doubles(w *warp, in *inst, _ uint32) {
	var a matrixA
	var b matrixB
	var sums [4][32]uint64
	rd, ra, rb, rc := x.registers(in)
	gather64(a[:], x.atA, w, ra)
	gather64(b[:], x.atB, w, rb)
	for i, reg := range rc {
		for lane, s := range w.d[reg] {
			p := int(x.atC[32*i+lane])
			for k := range x.k {
				s = num.FmaF64(math.Float64bits(a[p/8*x.k+k]), math.Float64bits(b[k*8+p%8]), s)
			}
			sums[i][lane] = s
		}
	}
	for i, reg := range rd {
		w.d[reg] = sums[i]
	}
}

// gather64 is gather of registers of 64 bits.
func gather64(m []float64, at []uint16, w *warp, regs []int32) {
	for i, reg := range regs {
		for lane, v := range w.d[reg] {
			m[at[32*i+lane]] = math.Float64frombits(v)
		}
	}
}

// transpose is movmatrix: a matrix of 8×8 halves, two neighbours of a row in each
// lane, becomes its transpose.
func transpose(w *warp, in *inst, _ uint32) {
	a, d := w.r[in.a], &w.r[in.dst]
	for lane := range 32 {
		row, col := lane/4, lane%4*2
		half := func(r, c int) uint32 { return a[r*4+c/2] >> (c % 2 * 16) & 0xffff }
		d[lane] = half(col, row) | half(col+1, row)<<16
	}
}

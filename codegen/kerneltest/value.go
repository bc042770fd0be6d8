package kerneltest

import (
	"encoding/binary"
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// Value is a scalar of any register type. An F32 lies exactly in F; integers
// lie in I as in registers, those of U64 as their bits.
type Value struct {
	F float64
	I int64
	B bool
	// Err is how far the number may be from this one in a right engine, 0 if it
	// must be this one, infinite if nothing is known of it. See Bound.
	Err float64
}

// rawBits returns the bits of element i of memory of elements of a size.
func rawBits(mem []byte, size, i int) uint64 {
	switch size {
	case 1:
		return uint64(mem[i])
	case 2:
		return uint64(binary.NativeEndian.Uint16(mem[2*i:]))
	case 4:
		return uint64(binary.NativeEndian.Uint32(mem[4*i:]))
	}
	return binary.NativeEndian.Uint64(mem[8*i:])
}

func setRawBits(mem []byte, size, i int, bits uint64) {
	switch size {
	case 1:
		mem[i] = uint8(bits)
	case 2:
		binary.NativeEndian.PutUint16(mem[2*i:], uint16(bits))
	case 4:
		binary.NativeEndian.PutUint32(mem[4*i:], uint32(bits))
	case 8:
		binary.NativeEndian.PutUint64(mem[8*i:], bits)
	}
}

// ReadElem returns element i of memory of a dtype.
func ReadElem(mem []byte, dt ir.DType, i int) Value { return FromBits(dt, rawBits(mem, dt.Size(), i)) }

// WriteElem stores a value as element i of memory of a dtype, a float rounded
// once.
func WriteElem(mem []byte, dt ir.DType, i int, v Value) { setRawBits(mem, dt.Size(), i, ToBits(dt, v)) }

// FromBits returns what the bits of a stored element stand for.
func FromBits(dt ir.DType, bits uint64) Value {
	switch {
	case dt == ir.Bool:
		return Value{B: bits != 0}
	case dt.IsInt():
		return Value{I: dt.Wrap(int64(bits))}
	case dt == ir.F64:
		return Value{F: math.Float64frombits(bits)}
	case dt == ir.F32:
		return Value{F: float64(math.Float32frombits(uint32(bits)))}
	}
	// sign, exponent and mantissa as the formats define them
	mantissa := floatFormats[dt].prec - 1
	exponent := 8*dt.Size() - 1 - mantissa
	m := int(bits & (1<<mantissa - 1))
	e := int(bits >> mantissa & (1<<exponent - 1))
	f := 0.0
	switch bias := 1<<(exponent-1) - 1; {
	case dt == ir.F8E4M3 && e == 15 && m == 7, dt != ir.F8E4M3 && e == 1<<exponent-1 && m != 0:
		f = math.NaN()
	case dt != ir.F8E4M3 && e == 1<<exponent-1:
		f = math.Inf(1)
	case e == 0:
		f = math.Ldexp(float64(m), 1-bias-mantissa)
	default:
		f = math.Ldexp(float64(m+1<<mantissa), e-bias-mantissa)
	}
	if bits>>(8*dt.Size()-1) == 1 {
		f = math.Copysign(f, -1)
	}
	return Value{F: f}
}

// ToBits returns the bits of an element that holds a value, a float rounded
// once.
func ToBits(dt ir.DType, v Value) uint64 {
	switch {
	case dt == ir.Bool:
		if v.B {
			return 1
		}
		return 0
	case dt.IsInt():
		return uint64(v.I) << (64 - 8*dt.Size()) >> (64 - 8*dt.Size())
	case dt == ir.F64:
		return math.Float64bits(v.F)
	case dt == ir.F32:
		return uint64(math.Float32bits(float32(v.F)))
	}
	v = Cast(ir.F32, dt, true, v)
	if v.F != v.F {
		return map[ir.DType]uint64{ir.F16: 0x7e00, ir.BF16: 0x7fc0, ir.F8E4M3: 0x7f, ir.F8E5M2: 0x7e}[dt]
	}
	sign := uint64(0)
	if math.Signbit(v.F) {
		sign = 1 << (8*dt.Size() - 1)
	}
	return sign | uint64(smallCode(dt, v.F))
}

// FromScalar returns the value of a constant or parameter of a register type,
// which has the form of ir.Scalar.
func FromScalar(t ir.DType, bits uint64) Value {
	if t == ir.F64 {
		return Value{F: math.Float64frombits(bits)}
	}
	return Value{F: float64(math.Float32frombits(uint32(bits))), I: int64(bits), B: bits != 0}
}

// ScalarBits returns a value of a register type in the form of ir.Scalar.
func ScalarBits(t ir.DType, v Value) uint64 {
	if t == ir.Bool || t.IsFloat() {
		return ToBits(t, v)
	}
	return uint64(v.I)
}

// same reports whether two stored elements are one value: the same bits, but
// that all NaNs are one.
func same(v, w Value) bool {
	return v.F != v.F && w.F != w.F || math.Float64bits(v.F) == math.Float64bits(w.F) && v.I == w.I && v.B == w.B
}

// SpecialF32 holds float32 patterns that functions treat apart: zeros,
// infinities, a NaN, the least and greatest of their kind, and ones.
var SpecialF32 = []uint32{0, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000001, 0x7f7fffff, 0x00800000, 0x3f800000, 0xbf800000}

// Specials returns values of a register type on which functions differ from
// the ordinary.
func Specials(t ir.DType) []Value {
	var out []Value
	switch {
	case t == ir.Bool:
		return []Value{{}, {B: true}}
	case t.IsInt():
		least, greatest := t.Limits()
		for _, i := range []int64{0, 1, -1, 2, -2, 3, 7, 8, 31, 62, 63, 64, 127, -128, least, least + 1, int64(greatest), 1077936129, -1077936129, 1<<53 + 1, 1 << 24, 1<<24 + 1} {
			out = append(out, Value{I: t.Wrap(i)})
		}
		return out
	}
	for _, b := range append(SpecialF32, 0x7f7f0000, 0x42c80000, 0xc2c80000, 0x3f000000, 0x3fc00000, 0x40200000, 0x5f000000, 0xdf000000, 0x5effffff, 0x3dcccccd, 0xc0e00000, 0x40400000) {
		out = append(out, Value{F: float64(math.Float32frombits(b))})
	}
	if t == ir.F64 {
		for _, f := range []float64{math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 0.1, 1.0 / 3, 1e15 + 0.3, 1<<63 - 1024, 1 << 63, 1 << 64, 1<<64 - 2048, -0x1p63, 2.5} {
			out = append(out, Value{F: f})
		}
	}
	return out
}

// Points returns all coordinates of a space in row-major order.
func Points(dims []int) [][]int {
	out := [][]int{{}}
	for _, d := range dims {
		var next [][]int
		for _, p := range out {
			for i := range d {
				next = append(next, append(append([]int{}, p...), i))
			}
		}
		out = next
	}
	return out
}

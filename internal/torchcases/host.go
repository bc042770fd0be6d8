package torchcases

import (
	"encoding/binary"
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// Host is a tensor in host memory: elements in row-major order, little endian.
type Host struct {
	DType string // as in the corpus: "f32"
	Shape []int
	Data  []byte
}

// Len returns the number of elements.
func (h Host) Len() int { return ir.Shape(h.Shape).NumElements() }

// IsFloat reports whether the elements are floating-point numbers.
func (h Host) IsFloat() bool { return format(h.DType) != (floatFormat{}) }

// At returns element i. It is exact but for i64 and u64 beyond ±2⁵³.
func (h Host) At(i int) float64 {
	switch b := h.Data; h.DType {
	case "f64":
		return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	case "f32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	case "bf16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16))
	case "f16":
		return fromHalf(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return float64(h.Int(i))
}

// Int returns element i of a tensor of integers or bools.
func (h Host) Int(i int) int64 {
	switch b := h.Data; h.DType {
	case "i64":
		return int64(binary.LittleEndian.Uint64(b[8*i:]))
	case "i32":
		return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
	case "i16":
		return int64(int16(binary.LittleEndian.Uint16(b[2*i:])))
	case "i8":
		return int64(int8(b[i]))
	case "u8", "bool":
		return int64(b[i])
	}
	panic(callError("no integers in a tensor of " + h.DType))
}

// fromHalf returns the value of an IEEE half-precision number: 1 sign bit, 5
// exponent bits, 10 fraction bits.
func fromHalf(h uint16) float64 {
	sign := 1.0
	if h>>15 == 1 {
		sign = -1
	}
	e, m := int(h>>10&31), float64(h&1023)
	switch e {
	case 0:
		return math.Copysign(math.Ldexp(m, -24), sign)
	case 31:
		if m != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+m, e-25)
}

// floatFormat is an IEEE-like binary format.
type floatFormat struct {
	fraction int // explicit bits of the fraction
	minExp   int // exponent of the least normal number
	maxExp   int // exponent of the greatest finite number
}

// format returns the format of a float dtype, zero for others.
func format(dtype string) floatFormat {
	switch dtype {
	case "f64":
		return floatFormat{52, -1022, 1023}
	case "f32":
		return floatFormat{23, -126, 127}
	case "f16":
		return floatFormat{10, -14, 15}
	case "bf16":
		return floatFormat{7, -126, 127}
	}
	return floatFormat{}
}

// epsilon is the distance from 1 to the next number.
func (f floatFormat) epsilon() float64 { return math.Ldexp(1, -f.fraction) }

// ulp returns the distance of neighbouring numbers at x, which is finite.
func (f floatFormat) ulp(x float64) float64 {
	e := f.minExp
	if x != 0 {
		e = min(max(math.Ilogb(x), e), f.maxExp)
	}
	return math.Ldexp(1, e-f.fraction)
}

// overflow is the least magnitude that rounds to infinity. It is +Inf for f64.
func (f floatFormat) overflow() float64 {
	return math.Ldexp(2-f.epsilon()/2, f.maxExp)
}

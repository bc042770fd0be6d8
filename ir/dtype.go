package ir

import (
	"fmt"
	"math"
)

// DType is the element type of a tensor.
type DType uint8

// The element types. A Bool is stored as one byte, 0 or 1.
const (
	Invalid DType = iota
	F32
	BF16
	I64
	Bool
	numDTypes
)

// dtypeInfo is the one table every dtype question is answered from.
var dtypeInfo = [numDTypes]struct {
	name  string
	size  int
	float bool
	int   bool
}{
	Invalid: {name: "invalid"},
	F32:     {name: "f32", size: 4, float: true},
	BF16:    {name: "bf16", size: 2, float: true},
	I64:     {name: "i64", size: 8, int: true},
	Bool:    {name: "bool", size: 1},
}

// Valid reports whether d is one of the element types.
func (d DType) Valid() bool { return d > Invalid && d < numDTypes }

// String returns the name used in the text form, such as "f32".
func (d DType) String() string {
	if d >= numDTypes {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypeInfo[d].name
}

// Size returns the bytes one element takes in memory.
func (d DType) Size() int {
	if d >= numDTypes {
		return 0
	}
	return dtypeInfo[d].size
}

// IsFloat reports whether d is a floating-point type.
func (d DType) IsFloat() bool { return d < numDTypes && dtypeInfo[d].float }

// IsInt reports whether d is an integer type; Bool is not.
func (d DType) IsInt() bool { return d < numDTypes && dtypeInfo[d].int }

// Compute returns the type arithmetic on d is carried out in: half types
// compute in F32, every other type in itself.
func (d DType) Compute() DType {
	if d == BF16 {
		return F32
	}
	return d
}

// ParseDType returns the dtype with the given name.
func ParseDType(name string) (DType, bool) {
	for d := Invalid + 1; d < numDTypes; d++ {
		if dtypeInfo[d].name == name {
			return d, true
		}
	}
	return Invalid, false
}

// DTypes returns every element type, in order.
func DTypes() []DType {
	out := make([]DType, 0, numDTypes-1)
	for d := Invalid + 1; d < numDTypes; d++ {
		out = append(out, d)
	}
	return out
}

// BFloat16 is the 16-bit brain float: the upper half of an IEEE float32.
type BFloat16 uint16

// Float32 returns the exact value of b.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// BFloat16FromFloat32 rounds f to the nearest bfloat16, ties to even. A NaN
// stays a NaN; values too large become infinite.
func BFloat16FromFloat32(f float32) BFloat16 {
	u := math.Float32bits(f)
	if u&0x7fffffff > 0x7f800000 {
		return BFloat16(u>>16 | 0x40)
	}
	return BFloat16((u + 0x7fff + u>>16&1) >> 16)
}

// BFloat16FromInt64 rounds i to the nearest bfloat16, ties to even, in one
// rounding: going through float32 would round twice.
func BFloat16FromInt64(i int64) BFloat16 {
	// float64 is exact up to 2^53; beyond it, rounding to odd keeps the sticky
	// bits, so the second rounding is the only one that counts.
	f := float64(i)
	if back := int64(f); back != i || (i > 0 && back < 0) {
		f = roundToOdd(i)
	}
	return bfloat16FromFloat64(f)
}

// roundToOdd returns i truncated to 53 significant bits with the lowest bit
// set when anything was cut off.
func roundToOdd(i int64) float64 {
	neg := i < 0
	u := uint64(i)
	if neg {
		u = -u
	}
	shift := 0
	for u>>shift >= 1<<53 {
		shift++
	}
	m := u >> shift
	if m<<shift != u {
		m |= 1
	}
	f := math.Ldexp(float64(m), shift)
	if neg {
		return -f
	}
	return f
}

func bfloat16FromFloat64(f float64) BFloat16 {
	s := float32(f)
	if d := float64(s); d != f && !math.IsInf(d, 0) {
		// Make s the truncation of f with a sticky last bit (round to odd).
		b := math.Float32bits(s)
		if math.Abs(d) > math.Abs(f) {
			b--
		}
		s = math.Float32frombits(b | 1)
	}
	return BFloat16FromFloat32(s)
}

package num

import "math"

// F8 is one of the two 8-bit types: E4M3, which has no infinities, and E5M2.
type F8 struct{ *format }

var (
	E4M3 = F8{&fmtE4M3}
	E5M2 = F8{&fmtE5M2}
)

// FromF32 rounds an f32 to the nearest and clamps to the greatest finite value;
// NaN stays NaN (cvt.rn.satfinite).
func (f F8) FromF32(a uint32) uint32 {
	x := float64(f32(a))
	return uint32(f.finite(f.packF64(x, RN), x != x))
}

// FromF16 is FromF32 of an f16.
func (f F8) FromF16(a uint32) uint32 { return f.FromF32(F16ToF32(a)) }

// ToF16 widens, exactly.
func (f F8) ToF16(a uint32) uint32 {
	sign, m := a&0x80<<8, a&0x7f
	switch {
	case f.format == &fmtE5M2 && m > 0x7c, f.format == &fmtE4M3 && m == 0x7f:
		return NaN16
	case f.format == &fmtE5M2:
		return sign | m<<8
	}
	// The fraction and exponent at the place of f16's, whose bias is 8 more.
	return sign | F32ToF16(math.Float32bits(f32(F16ToF32(m<<7))*0x1p8))
}

// Relu clamps negative values to +0 (.relu).
func (f F8) Relu(a uint32) uint32 {
	switch {
	case a&0x7f > uint32(f.over) || f.over == NaN8 && a&0x7f == NaN8:
		return NaN8
	case a&0x80 != 0:
		return 0
	}
	return a
}

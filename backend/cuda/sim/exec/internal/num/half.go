package num

import "math"

// F16ToF32 widens an f16, exactly.
func F16ToF32(h uint32) uint32 {
	sign, m := h&0x8000<<16, h&0x7fff<<13
	switch {
	case m > 0x7c00<<13:
		return NaN32
	case m == 0x7c00<<13:
		return sign | 0x7f800000
	}
	// Multiplied by 2¹¹², which makes subnormals normal.
	return sign | math.Float32bits(math.Float32frombits(m)*0x1p112)
}

// F32ToF16 rounds an f32 to f16, to the nearest.
func F32ToF16(a uint32) uint32 {
	sign, m := a>>16&0x8000, a&0x7fffffff
	switch {
	case m > 0x7f800000:
		return NaN16
	case m >= 0x47800000: // 2¹⁶
		return sign | 0x7c00
	case m < 0x38800000: // subnormal: units of 2⁻²⁴ at the end of the fraction of 1/2
		return sign | math.Float32bits(math.Float32frombits(m)+0.5)&0x7ff
	}
	m += 0xfff + m>>13&1
	return sign | (m-112<<23)>>13
}

// BF16ToF32 widens a bf16, exactly; a NaN keeps its bits.
func BF16ToF32(h uint32) uint32 { return h << 16 }

// F32ToBF16 rounds an f32 to bf16, to the nearest.
func F32ToBF16(a uint32) uint32 {
	if IsNaN32(a) {
		return NaN16
	}
	return (a + 0x7fff + a>>16&1) >> 16
}

// Half is one of the two half types.
type Half struct{ *Format }

// widen returns the value, exactly.
func (h Half) widen(a uint32) float64 {
	if h.Format == F16.Format {
		return float64(f32(F16ToF32(a)))
	}
	return float64(f32(a << 16))
}

// round rounds a value that is exact or cut to odd.
func (h Half) round(x float64) uint32 { return uint32(h.Pack(x, RN)) }

// Add, Sub, Mul and Fma round once, to the nearest. A float64 holds more than
// twice the bits of a half, so that rounding to it first does no harm to sums
// and products (Figueroa); Fma adds exactly.
func (h Half) Add(a, b uint32) uint32 { return h.round(h.widen(a) + h.widen(b)) }

// Sub is a−b.
func (h Half) Sub(a, b uint32) uint32 { return h.round(h.widen(a) - h.widen(b)) }

// Mul is a·b.
func (h Half) Mul(a, b uint32) uint32 { return h.round(h.widen(a) * h.widen(b)) }

// Fma is a·b+c.
func (h Half) Fma(a, b, c uint32) uint32 {
	return h.round(odd(twoSum(float64(h.widen(a)*h.widen(b)), h.widen(c))))
}

// Neg and Abs change the sign, of NaN too.
func (h Half) Neg(a uint32) uint32 { return a&0xffff ^ 0x8000 }

// Abs clears the sign.
func (h Half) Abs(a uint32) uint32 { return a & 0x7fff }

// IsNaN reports whether a half is NaN.
func (h Half) IsNaN(a uint32) bool { return uint64(a&0x7fff) > h.over }

// Min is the lesser, −0 before +0; of a number and NaN, the number.
func (h Half) Min(a, b uint32) uint32 {
	switch {
	case h.IsNaN(b):
		a, b = b, a
		fallthrough
	case h.IsNaN(a):
		if h.IsNaN(b) {
			return NaN16
		}
		return b & 0xffff
	case order16(a) < order16(b):
		return a & 0xffff
	}
	return b & 0xffff
}

// Max is the greater, +0 after −0; of a number and NaN, the number.
func (h Half) Max(a, b uint32) uint32 {
	switch {
	case h.IsNaN(b):
		a, b = b, a
		fallthrough
	case h.IsNaN(a):
		if h.IsNaN(b) {
			return NaN16
		}
		return b & 0xffff
	case order16(a) > order16(b):
		return a & 0xffff
	}
	return b & 0xffff
}

// order16 orders the bits of halves that are not NaN as their values, −0 first.
func order16(a uint32) int32 {
	if a&0x8000 != 0 {
		return ^int32(a & 0x7fff)
	}
	return int32(a & 0x7fff)
}

// MinNaN and MaxNaN give NaN if an operand is NaN (.NaN).
func (h Half) MinNaN(a, b uint32) uint32 {
	if h.IsNaN(a) || h.IsNaN(b) {
		return NaN16
	}
	return h.Min(a, b)
}

// MaxNaN is the twin of MinNaN.
func (h Half) MaxNaN(a, b uint32) uint32 {
	if h.IsNaN(a) || h.IsNaN(b) {
		return NaN16
	}
	return h.Max(a, b)
}

// Ftz, Sat and Relu are those of the format.
func (h Half) Ftz(a uint32) uint32 { return uint32(h.Format.Ftz(uint64(a & 0xffff))) }

// Sat clamps to [+0, 1].
func (h Half) Sat(a uint32) uint32 { return uint32(h.Format.Sat(uint64(a & 0xffff))) }

// Relu clamps negative values to +0.
func (h Half) Relu(a uint32) uint32 { return uint32(h.Format.Relu(uint64(a & 0xffff))) }

// F32 is the f32 of a half, as the comparisons take it.
func (h Half) F32(a uint32) uint32 {
	if h.Format == F16.Format {
		return F16ToF32(a)
	}
	return a << 16
}

// SignedHalf gives v the sign of signs, unless it is NaN (.xorsign.abs).
func SignedHalf(v, signs uint32) uint32 {
	if v == NaN16 {
		return v
	}
	return v | signs&0x8000
}

package ir

import "math"

// BFloat16 is the 16-bit brain float: the upper half of an IEEE float32.
type BFloat16 uint16

// Float16 is IEEE 754's binary16.
type Float16 uint16

// Float8E4M3 is an 8-bit float with 4 exponent and 3 mantissa bits in the
// variant E4M3FN of the OCP 8-bit floating point specification: no infinities,
// one NaN of each sign, greatest value 448.
type Float8E4M3 uint8

// Float8E5M2 is an 8-bit float with 5 exponent and 2 mantissa bits, infinities
// and NaNs as in IEEE 754; its greatest value is 57344.
type Float8E5M2 uint8

// Float32 returns the exact value of b.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// BFloat16FromFloat32 rounds f to the nearest bfloat16, ties to even. A NaN
// stays a NaN, that of a bfloat16 with the same bits; values too large become
// infinite.
func BFloat16FromFloat32(f float32) BFloat16 {
	u := math.Float32bits(f)
	if u&magnitude > 0x7f800000 {
		return BFloat16(u>>31<<15 | 0x7f80 | payload(u, 7))
	}
	return BFloat16((u + 0x7fff + u>>16&1) >> 16)
}

// small describes a float of fewer bits than float32: its mantissa bits and
// the difference of the exponents' biases.
type small struct{ mantissa, rebias uint32 }

var (
	f16  = small{10, 127 - 15}
	f8e4 = small{3, 127 - 7}
	f8e5 = small{2, 127 - 15}
)

const magnitude = 0x7fffffff // the bits of a float32 but for its sign

// encode rounds a float32 that is not negative, given by its bits, to the
// nearest code of s, ties to even, as if exponents had no upper end.
func (s small) encode(u uint32) uint32 {
	drop := 23 - s.mantissa
	if u < (s.rebias+1)<<23 {
		// Below the least normal number codes are multiples of the least
		// subnormal: adding 2²³ of those leaves their number in the low bits.
		magic := (s.rebias + 1 + drop) << 23
		return math.Float32bits(math.Float32frombits(u)+math.Float32frombits(magic)) - magic
	}
	return (u - s.rebias<<23 + 1<<(drop-1) - 1 + u>>drop&1) >> drop
}

// payload returns what a NaN of so many mantissa bits keeps of the mantissa of
// the float32 NaN u: the upper bits, so that a small NaN made a float32 and back
// stays as it is (Bitcast shows the difference), or, where those are 0, which
// would be infinity, the quiet bit.
func payload(u uint32, mantissa uint) uint32 {
	if p := u & 0x7fffff >> (23 - mantissa); p != 0 {
		return p
	}
	return 1 << (mantissa - 1)
}

// decode returns the value of a code without sign that is neither infinite nor
// NaN.
func (s small) decode(code uint32) float32 {
	drop := 23 - s.mantissa
	if code < 1<<s.mantissa {
		return float32(code) * math.Float32frombits((s.rebias+1-s.mantissa)<<23)
	}
	return math.Float32frombits(code<<drop + s.rebias<<23)
}

func signed32(f float32, sign uint32) float32 {
	return math.Float32frombits(math.Float32bits(f) | sign)
}

// Float32 returns the exact value of h.
func (h Float16) Float32() float32 {
	code := uint32(h) & 0x7fff
	sign := uint32(h) << 16 & 0x80000000
	if code >= 0x7c00 {
		return math.Float32frombits(sign | 0x7f800000 | code<<13&0x7fffff)
	}
	return signed32(f16.decode(code), sign)
}

// Float16FromFloat32 rounds f to the nearest Float16, ties to even. A NaN
// stays a NaN, that of a Float16 with the same bits; values too large become infinite.
func Float16FromFloat32(f float32) Float16 {
	u := math.Float32bits(f)
	sign := u >> 16 & 0x8000
	switch u &= magnitude; {
	case u > 0x7f800000:
		return Float16(sign | 0x7c00 | payload(u, 10))
	case u >= 0x47800000: // 2¹⁶
		return Float16(sign | 0x7c00)
	}
	return Float16(sign | f16.encode(u))
}

// Float32 returns the exact value of e.
func (e Float8E4M3) Float32() float32 {
	code, sign := uint32(e)&0x7f, uint32(e)<<24&0x80000000
	if code == 0x7f {
		return math.Float32frombits(sign | 0x7fc00000)
	}
	return signed32(f8e4.decode(code), sign)
}

// Float8E4M3FromFloat32 rounds f to the nearest Float8E4M3, ties to even. What
// is too large, infinities too, becomes ±448, or NaN if saturate is false.
func Float8E4M3FromFloat32(f float32, saturate bool) Float8E4M3 {
	u := math.Float32bits(f)
	sign := u >> 24 & 0x80
	switch u &= magnitude; {
	case u > 0x7f800000:
		return Float8E4M3(sign | 0x7f)
	case u < 0x7f800000:
		if code := f8e4.encode(u); code <= 0x7e {
			return Float8E4M3(sign | code)
		}
	}
	if saturate {
		return Float8E4M3(sign | 0x7e)
	}
	return Float8E4M3(sign | 0x7f)
}

// Float32 returns the exact value of e.
func (e Float8E5M2) Float32() float32 {
	code, sign := uint32(e)&0x7f, uint32(e)<<24&0x80000000
	if code >= 0x7c {
		return math.Float32frombits(sign | 0x7f800000 | code<<21&0x7fffff)
	}
	return signed32(f8e5.decode(code), sign)
}

// Float8E5M2FromFloat32 rounds f to the nearest Float8E5M2, ties to even. What
// is too large, infinities too, becomes ±57344, or infinite if saturate is
// false.
func Float8E5M2FromFloat32(f float32, saturate bool) Float8E5M2 {
	u := math.Float32bits(f)
	sign := u >> 24 & 0x80
	switch u &= magnitude; {
	case u > 0x7f800000:
		return Float8E5M2(sign | 0x7c | payload(u, 2))
	case u < 0x7f800000:
		if code := f8e5.encode(u); code <= 0x7b {
			return Float8E5M2(sign | code)
		}
	}
	if saturate {
		return Float8E5M2(sign | 0x7b)
	}
	return Float8E5M2(sign | 0x7c)
}

// OddFloat32 returns f rounded to odd: f itself where float32 holds it, else
// the one of its two neighbours with an odd mantissa. Rounding that to a type
// of at most 22 mantissa bits is the only rounding that counts (Boldo and
// Melquiond, "When double rounding is odd", 2005).
func OddFloat32(f float64) float32 {
	s := float32(f)
	if d := float64(s); d != f && d == d && !math.IsInf(d, 0) {
		b := math.Float32bits(s)
		if math.Abs(d) > math.Abs(f) {
			b--
		}
		s = math.Float32frombits(b | 1)
	}
	return s
}

// OddFloat64 returns i rounded to odd in float64; see OddFloat32.
func OddFloat64(i int64) float64 {
	if i < 0 {
		return -OddFloat64Unsigned(-uint64(i))
	}
	return OddFloat64Unsigned(uint64(i))
}

// OddFloat64Unsigned is OddFloat64 for u64.
func OddFloat64Unsigned(u uint64) float64 {
	shift := 0
	for u>>shift >= 1<<53 {
		shift++
	}
	m := u >> shift
	if m<<shift != u {
		m |= 1
	}
	return math.Ldexp(float64(m), shift)
}

// BFloat16FromInt64 rounds i to the nearest bfloat16, ties to even, in one
// rounding: going through float32 would round twice.
func BFloat16FromInt64(i int64) BFloat16 {
	return BFloat16FromFloat32(OddFloat32(OddFloat64(i)))
}

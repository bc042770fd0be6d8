package num

import (
	"math"
	"math/bits"
)

// Round is a rounding mode: of floating-point results (.rn .rz .rm .rp, and .rna
// of tf32), and of conversions to integers (.rni .rzi .rmi .rpi).
type Round uint8

const (
	RN  Round = iota // to the nearest, ties to even
	RZ               // toward zero
	RM               // toward minus infinity
	RP               // toward plus infinity
	RNA              // to the nearest, ties away from zero
)

// Format is a binary floating-point format, its bit patterns in the low bits of
// a word: sign, exponent, fraction.
type Format struct {
	frac  uint   // bits of the fraction
	bias  int    // of the exponent; 1-bias is the exponent of the least normal
	sign  uint64 // the sign bit
	max   uint64 // the greatest finite value
	over  uint64 // what is beyond it: infinity, or NaN where there is none
	quiet uint64 // the NaN that instructions produce
}

// The formats. A NaN result is always the same bits, so that results do not
// depend on the host: 0x7fffffff for f32 and 0x7fff for the half types, as the
// hardware gives; for f64, whose NaNs keep their payload there, CUDA's own NaN.
var (
	F64  = &Format{52, 1023, 1 << 63, 0x7fefffffffffffff, 0x7ff << 52, NaN64}
	F32  = &Format{23, 127, 1 << 31, 0x7f7fffff, 0x7f800000, NaN32}
	TF32 = &Format{10, 127, 1 << 18, 0x3fbff, 0x3fc00, NaN32 >> 13} // the upper 19 bits of an f32
	F16  = Half{&Format{10, 15, 1 << 15, 0x7bff, 0x7c00, NaN16}}
	BF16 = Half{&Format{7, 127, 1 << 15, 0x7f7f, 0x7f80, NaN16}}
	E4M3 = &Format{3, 7, 1 << 7, 0x7e, NaN8, NaN8} // has no infinities
	E5M2 = &Format{2, 15, 1 << 7, 0x7b, 0x7c, NaN8}
)

// The NaNs of the formats.
const (
	NaN64 = 0xfff8000000000000
	NaN32 = 0x7fffffff
	NaN16 = 0x7fff // f16 and bf16
	NaN8  = 0x7f   // e4m3 and e5m2
)

// pack rounds ±m·2^(e−63), with bit 63 of m set, to the format. The lowest bit
// of m may stand for anything smaller that is not zero: 64 bits are at least two
// more than any format has, so a value cut to odd rounds as itself.
func (f *Format) pack(neg bool, m uint64, e int, r Round) uint64 {
	var sign uint64
	if neg {
		sign = f.sign
	}
	shift, exp := 63-f.frac, e+f.bias-1
	if exp < 0 { // subnormal: fewer bits
		shift, exp = shift+uint(-exp), 0
	}
	kept := m >> shift // 0 for shifts of 64 and more
	up := false
	switch r {
	case RN, RNA:
		if shift > 64 {
			break
		}
		rest, half := m&^(kept<<shift), uint64(1)<<(shift-1)
		up = rest > half || rest == half && (r == RNA || kept&1 != 0)
	case RM, RP:
		up = neg == (r == RM) && kept<<shift != m
	}
	if up {
		kept++
	}
	// The implicit bit of kept, and a carry out of the fraction, count in the
	// exponent.
	kept += uint64(exp) << f.frac
	if kept > f.max {
		kept = f.over
		if r == RZ || r == RM && !neg || r == RP && neg {
			kept = f.max
		}
	}
	return sign | kept
}

// Pack rounds a float64 to the format. The least bit of x may stand for anything
// smaller, as for pack.
func (f *Format) Pack(x float64, r Round) uint64 {
	u := math.Float64bits(x)
	neg, m, e := u>>63 != 0, u&(1<<52-1), int(u>>52&0x7ff)
	switch {
	case e == 0x7ff && m != 0:
		return f.quiet
	case e == 0x7ff && neg:
		return f.sign | f.over
	case e == 0x7ff:
		return f.over
	case e != 0:
		return f.pack(neg, m<<11|1<<63, e-1023, r)
	case m != 0:
		n := bits.LeadingZeros64(m)
		return f.pack(neg, m<<n, 11-n-1022, r)
	case neg:
		return f.sign
	}
	return 0
}

// PackInt rounds an integer, extended to 64 bits by its signedness; zero gives +0.
func (f *Format) PackInt(v uint64, signed bool, r Round) uint64 {
	neg := signed && int64(v) < 0
	if neg {
		v = -v
	}
	if v == 0 {
		return 0
	}
	n := bits.LeadingZeros64(v)
	return f.pack(neg, v<<n, 63-n, r)
}

// twoSum returns the nearest float64 of a+b and the error, such that their sum
// is exact unless something overflows (Knuth).
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	v := s - a
	return s, (a - (s - v)) + (b - v)
}

// odd returns the exact value that s is the nearest float64 of, cut to odd:
// rest, of which only the sign is used, is what s lacks (NaN beside infinities). Rounding that once more
// to a format of at most 51 bits is rounding the exact value.
func odd(s, rest float64) float64 {
	u := math.Float64bits(s)
	switch {
	case rest == 0 || rest != rest || u&1 != 0 || s-s != 0:
		return s
	case (rest > 0) == (s > 0):
		return math.Float64frombits(u | 1)
	}
	return math.Float64frombits(u - 1)
}

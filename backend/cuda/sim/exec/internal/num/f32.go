package num

import "math"

func f32(a uint32) float32 { return math.Float32frombits(a) }

// bits32 is math.Float32bits with one NaN.
func bits32(x float32) uint32 {
	if x != x {
		return NaN32
	}
	return math.Float32bits(x)
}

// IsNaN32 reports whether an f32 is NaN.
func IsNaN32(a uint32) bool { return a<<1 > 0x7f800000<<1 }

// FtzF32 replaces a subnormal f32 by zero of the same sign (.ftz).
func FtzF32(a uint32) uint32 {
	if a&0x7f800000 == 0 {
		return a & 0x80000000
	}
	return a
}

// SatF32 clamps an f32 to [+0, 1]; NaN gives +0 (.sat).
func SatF32(a uint32) uint32 {
	switch {
	case a >= 0x80000000 || a > 0x7f800000:
		return 0
	case a > 0x3f800000:
		return 0x3f800000
	}
	return a
}

// AddF32, SubF32, MulF32, DivF32, RcpF32 and SqrtF32 round to the nearest.
func AddF32(a, b uint32) uint32 { return bits32(f32(a) + f32(b)) }
func SubF32(a, b uint32) uint32 { return bits32(f32(a) - f32(b)) }
func MulF32(a, b uint32) uint32 { return bits32(f32(a) * f32(b)) }
func DivF32(a, b uint32) uint32 { return bits32(f32(a) / f32(b)) }
func RcpF32(a uint32) uint32    { return bits32(1 / f32(a)) }
func SqrtF32(a uint32) uint32   { return bits32(float32(math.Sqrt(float64(f32(a))))) }

// FmaF32 is a·b+c rounded once, to the nearest.
func FmaF32(a, b, c uint32) uint32 {
	if s := FmaSum(a, b, c); FmaPlain(s) {
		return math.Float32bits(float32(s))
	}
	return FmaF32Slow(a, b, c)
}

// FmaSum is a·b+c rounded to float64, in which the product is exact.
func FmaSum(a, b, c uint32) float64 {
	return float64(float64(f32(a))*float64(f32(b))) + float64(f32(c))
}

// FmaPlain reports whether FmaSum rounded to f32 is the f32 FMA: it is not the
// middle between two f32, and the result is normal.
func FmaPlain(s float64) bool {
	u := math.Float64bits(s)
	return uint32(u)<<3 != 0x80000000 && u<<1-(1023-126)<<53 < (0x7ff-(1023-126))<<53
}

// FmaF32Slow is FmaF32 for the operands that FmaPlain leaves.
func FmaF32Slow(a, b, c uint32) uint32 {
	p := float64(float64(f32(a)) * float64(f32(b)))
	return bits32(float32(odd(twoSum(p, float64(f32(c))))))
}

// AddF32R is a+b in any rounding; SubF32R, MulF32R, FmaF32R, DivF32R, RcpF32R and
// SqrtF32R likewise.
func AddF32R(a, b uint32, r Round) uint32 { return sum32(float64(f32(a)), float64(f32(b)), r) }

// SubF32R is AddF32R of a and −b.
func SubF32R(a, b uint32, r Round) uint32 { return sum32(float64(f32(a)), -float64(f32(b)), r) }

// MulF32R rounds the product, which is exact in float64.
func MulF32R(a, b uint32, r Round) uint32 {
	return uint32(F32.Pack(float64(f32(a))*float64(f32(b)), r))
}

// FmaF32R is a·b+c rounded once.
func FmaF32R(a, b, c uint32, r Round) uint32 {
	return sum32(float64(float64(f32(a))*float64(f32(b))), float64(f32(c)), r)
}

// sum32 rounds the exact sum once. A sum of zero is −0 when rounding down unless
// both are +0.
func sum32(x, y float64, r Round) uint32 {
	s, e := twoSum(x, y)
	if s == 0 && r == RM && math.Signbit(x) != math.Signbit(y) {
		return 0x80000000
	}
	return uint32(F32.Pack(odd(s, e), r))
}

// DivF32R rounds the quotient; the remainder's sign tells on which side of the
// float64 quotient the exact one lies.
func DivF32R(a, b uint32, r Round) uint32 {
	x, y := float64(f32(a)), float64(f32(b))
	q := x / y
	rest := math.FMA(-q, y, x)
	if y < 0 {
		rest = -rest
	}
	return uint32(F32.Pack(odd(q, rest), r))
}

// RcpF32R is DivF32R of 1.
func RcpF32R(a uint32, r Round) uint32 { return DivF32R(0x3f800000, a, r) }

// SqrtF32R rounds the square root.
func SqrtF32R(a uint32, r Round) uint32 {
	x := float64(f32(a))
	s := math.Sqrt(x)
	return uint32(F32.Pack(odd(s, math.FMA(-s, s, x)), r))
}

// MinF32 is the lesser, −0 before +0; of a number and NaN, the number.
func MinF32(a, b uint32) uint32 {
	x, y := f32(a), f32(b)
	switch {
	case x < y || y != y:
		if x != x {
			return NaN32
		}
		return a
	case x == y:
		return a | b
	}
	return b
}

// MaxF32 is the greater, +0 after −0; of a number and NaN, the number.
func MaxF32(a, b uint32) uint32 {
	x, y := f32(a), f32(b)
	switch {
	case x > y || y != y:
		if x != x {
			return NaN32
		}
		return a
	case x == y:
		return a & b
	}
	return b
}

// MinNaNF32 and MaxNaNF32 give NaN if an operand is NaN (.NaN).
func MinNaNF32(a, b uint32) uint32 {
	if IsNaN32(a) || IsNaN32(b) {
		return NaN32
	}
	return MinF32(a, b)
}

// MaxNaNF32 is the twin of MinNaNF32.
func MaxNaNF32(a, b uint32) uint32 {
	if IsNaN32(a) || IsNaN32(b) {
		return NaN32
	}
	return MaxF32(a, b)
}

// CopysignF32 is the magnitude of b with the sign of a.
func CopysignF32(a, b uint32) uint32 { return a&0x80000000 | b&0x7fffffff }

// SignedF32 gives v the sign of signs, unless it is NaN (.xorsign.abs).
func SignedF32(v, signs uint32) uint32 {
	if IsNaN32(v) {
		return NaN32
	}
	return v | signs&0x80000000
}

// SignMaskF32 is all ones where slct keeps its first operand: where a is not
// negative, as −0 is not, nor NaN.
func SignMaskF32(a uint32) uint32 {
	if a <= 0x7f800000 || a == 0x80000000 {
		return ^uint32(0)
	}
	return 0
}

// SignMaskFtzF32 is SignMaskF32 with subnormals as zeros.
func SignMaskFtzF32(a uint32) uint32 { return SignMaskF32(FtzF32(a)) }

// Class is what testp asks of a float.
type Class uint8

const (
	Finite Class = iota
	Infinite
	Number
	NotANumber
	Normal
	Subnormal
)

// IsF32 reports whether an f32 is of the class. Zero is neither normal nor
// subnormal, an infinity not normal.
func IsF32(a uint32, c Class) bool { return is(uint64(a)&0x7fffffff, F32, c) }

// IsF64 is IsF32 of an f64.
func IsF64(a uint64, c Class) bool { return is(a&^(1<<63), F64, c) }

func is(magnitude uint64, f *Format, c Class) bool {
	least := uint64(1) << f.frac // the least normal
	switch c {
	case Finite:
		return magnitude <= f.max
	case Infinite:
		return magnitude == f.over
	case Number:
		return magnitude <= f.over
	case NotANumber:
		return magnitude > f.over
	case Normal:
		return magnitude >= least && magnitude <= f.max
	}
	return magnitude != 0 && magnitude < least
}

package num

import (
	"math"
	"math/bits"
)

func f64(a uint64) float64 { return math.Float64frombits(a) }

// bits64 is math.Float64bits with one NaN.
func bits64(x float64) uint64 {
	if x != x {
		return NaN64
	}
	return math.Float64bits(x)
}

// IsNaN64 reports whether an f64 is NaN.
func IsNaN64(a uint64) bool { return a<<1 > 0x7ff<<53 }

// AddF64, SubF64, MulF64, DivF64, RcpF64, SqrtF64 and FmaF64 round to the nearest.
func AddF64(a, b uint64) uint64    { return bits64(f64(a) + f64(b)) }
func SubF64(a, b uint64) uint64    { return bits64(f64(a) - f64(b)) }
func MulF64(a, b uint64) uint64    { return bits64(f64(a) * f64(b)) }
func DivF64(a, b uint64) uint64    { return bits64(f64(a) / f64(b)) }
func RcpF64(a uint64) uint64       { return bits64(1 / f64(a)) }
func SqrtF64(a uint64) uint64      { return bits64(math.Sqrt(f64(a))) }
func FmaF64(a, b, c uint64) uint64 { return bits64(math.FMA(f64(a), f64(b), f64(c))) }

// AddF64R is a+b in any rounding; SubF64R, MulF64R, FmaF64R, DivF64R, RcpF64R and
// SqrtF64R likewise.
func AddF64R(a, b uint64, r Round) uint64 { return FmaF64R(a, 0x3ff<<52, b, r) }

// SubF64R is AddF64R of a and −b.
func SubF64R(a, b uint64, r Round) uint64 { return AddF64R(a, b^1<<63, r) }

// MulF64R rounds the product.
func MulF64R(a, b uint64, r Round) uint64 {
	if special(a, b) {
		return MulF64(a, b)
	}
	return product(a, b).pack(r)
}

// FmaF64R is a·b+c rounded once. A sum of zero is −0 when rounding down unless
// both are +0.
func FmaF64R(a, b, c uint64, r Round) uint64 {
	switch {
	case special(a, b): // the product is exact
		p := float64(f64(a) * f64(b))
		s := p + f64(c)
		if s == 0 && r == RM && math.Signbit(p) != math.Signbit(f64(c)) {
			return 1 << 63
		}
		return bits64(s)
	case c<<1 >= 0x7ff<<53:
		return bits64(f64(c))
	case c<<1 == 0:
		return product(a, b).pack(r)
	}
	s, zero := product(a, b).plus(widen(c))
	switch {
	case zero && r == RM:
		return 1 << 63
	case zero:
		return 0
	}
	return s.pack(r)
}

// special reports whether one of two f64 is zero, infinite or NaN.
func special(a, b uint64) bool {
	return a<<1 == 0 || b<<1 == 0 || a<<1 >= 0x7ff<<53 || b<<1 >= 0x7ff<<53
}

// DivF64R rounds the quotient.
func DivF64R(a, b uint64, r Round) uint64 {
	if special(a, b) {
		return DivF64(a, b)
	}
	x, y := widen(a), widen(b)
	// Both have 64 bits with the highest set; half the dividend keeps the
	// quotient below 2⁶⁴.
	q, rest := bits.Div64(x.hi>>1, x.hi<<63, y.hi)
	exp := x.exp - y.exp - 63
	if q>>63 == 0 {
		q, exp = q<<1, exp-1
		over := rest>>63 != 0
		rest <<= 1
		if over || rest >= y.hi {
			q, rest = q|1, rest-y.hi
		}
	}
	if rest != 0 {
		q |= 1
	}
	return F64.pack(x.neg != y.neg, q, exp+63, r)
}

// RcpF64R is DivF64R of 1.
func RcpF64R(a uint64, r Round) uint64 { return DivF64R(0x3ff<<52, a, r) }

// SqrtF64R rounds the square root: the one to the nearest, and on which side of
// it the exact one lies.
func SqrtF64R(a uint64, r Round) uint64 {
	s := math.Sqrt(f64(a))
	if special(a, a) || s != s {
		return bits64(s)
	}
	root := widen(math.Float64bits(s))
	square := product(math.Float64bits(s), math.Float64bits(s))
	square.neg = true
	m := root.hi
	switch rest, zero := widen(a).plus(square); {
	case zero:
	case rest.neg:
		m-- // all ones below the bits of the nearest
	default:
		m |= 1
	}
	return F64.pack(false, m, root.exp+127, r)
}

// MinF64 and MaxF64 are as MinF32 and MaxF32.
func MinF64(a, b uint64) uint64 {
	x, y := f64(a), f64(b)
	switch {
	case x != x && y != y:
		return NaN64
	case x < y || y != y:
		return a
	case x == y:
		return a | b
	}
	return b
}

// MaxF64 is the twin of MinF64.
func MaxF64(a, b uint64) uint64 {
	x, y := f64(a), f64(b)
	switch {
	case x != x && y != y:
		return NaN64
	case x > y || y != y:
		return a
	case x == y:
		return a & b
	}
	return b
}

// CopysignF64 is the magnitude of b with the sign of a.
func CopysignF64(a, b uint64) uint64 { return a&(1<<63) | b&^(1<<63) }

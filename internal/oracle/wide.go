package oracle

import (
	"math"
	"math/big"
)

// wide is a number with about 106 bits of significand: hi + lo, hi being the
// float64 nearest to the sum. What is infinite or a NaN has lo = 0. Everything
// that is not exact is evaluated in wide numbers and rounded once, so that the
// oracle is better than an engine that computes in float64.
//
// The arithmetic is that of Dekker and Knuth as in Hida, Li and Bailey,
// "Library for double-double and quad-double arithmetic" (2007): relative
// errors of a few units of 2⁻¹⁰⁴, as long as lo does not underflow.
type wide struct{ hi, lo float64 }

func exact(x float64) wide { return wide{hi: x} }

// normal returns hi + lo as a wide number.
func normal(hi, lo float64) wide {
	s := hi + lo
	switch {
	case s-s != 0: // infinite or a NaN
		return exact(s)
	case lo == 0:
		return exact(hi) // a zero keeps its sign
	}
	return wide{s, lo - (s - hi)}
}

func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

func twoProduct(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

func (a wide) add(b wide) wide {
	s, e := twoSum(a.hi, b.hi)
	if s-s != 0 {
		return exact(s)
	}
	if max(math.Abs(a.hi), math.Abs(b.hi)) > 0x1p1020 { // steps may overflow
		return a.scale(-10).add(b.scale(-10)).scale(10)
	}
	t, f := twoSum(a.lo, b.lo)
	m := normal(s, e+t)
	return normal(m.hi, m.lo+f)
}

func (a wide) neg() wide       { return wide{-a.hi, -a.lo} }
func (a wide) sub(b wide) wide { return a.add(b.neg()) }

func (a wide) mul(b wide) wide {
	p, e := twoProduct(a.hi, b.hi)
	if p-p != 0 || p == 0 {
		return exact(p)
	}
	cross := float64(a.hi*b.lo) + float64(a.lo*b.hi)
	return normal(p, e+cross)
}

func (a wide) div(b wide) wide {
	q := a.hi / b.hi
	if q-q != 0 || q == 0 || math.IsInf(b.hi, 0) {
		return exact(q)
	}
	if n := a.room(); n != 0 {
		return a.scale(n).div(b).scale(-n)
	}
	r := a.sub(b.mul(exact(q)))
	q2 := r.hi / b.hi
	r = r.sub(b.mul(exact(q2)))
	return normal(q, q2).add(exact(r.hi / b.hi))
}

func (a wide) sqrt() wide {
	root := math.Sqrt(a.hi)
	if root == 0 || root-root != 0 {
		return exact(root)
	}
	if n := a.room(); n != 0 {
		return a.scale(n).sqrt().scale(-n / 2)
	}
	// One step of Newton's method.
	rest := a.sub(exact(root).mul(exact(root)))
	return normal(root, rest.hi/(2*root))
}

// room returns an even power of two that keeps products of about a's size, and
// their lower parts, within float64; 0 if they are.
func (a wide) room() int {
	switch x := math.Abs(a.hi); {
	case x > 0x1p1000:
		return -100
	case x != 0 && x < 0x1p-800:
		return 300
	}
	return 0
}

// scale returns a·2^n.
func (a wide) scale(n int) wide {
	hi := math.Ldexp(a.hi, n)
	if hi-hi != 0 {
		return exact(hi)
	}
	return normal(hi, math.Ldexp(a.lo, n))
}

func (a wide) abs() wide {
	if math.Signbit(a.hi) {
		return a.neg()
	}
	return a
}

// plus and times take a float64 on the right.
func (a wide) plus(b float64) wide  { return a.add(exact(b)) }
func (a wide) times(b float64) wide { return a.mul(exact(b)) }

func (a wide) isNaN() bool    { return a.hi != a.hi }
func (a wide) isFinite() bool { return a.hi-a.hi == 0 }

// decimal returns the wide number nearest to a decimal fraction.
func decimal(digits string) wide {
	x, _, err := big.ParseFloat(digits, 10, 300, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return fromBig(x)
}

func fromBig(x *big.Float) wide {
	hi, _ := x.Float64()
	if math.IsInf(hi, 0) {
		return exact(hi)
	}
	lo, _ := new(big.Float).SetPrec(300).Sub(x, new(big.Float).SetFloat64(hi)).Float64()
	return wide{hi, lo}
}

var (
	widePi           = decimal("3.14159265358979323846264338327950288419716939937510582097494459")
	wideHalfPi       = widePi.scale(-1)
	wideLn2          = decimal("0.693147180559945309417232121458176568075500134360255254120680009")
	wideLn10         = decimal("2.30258509299404568401799145468436420760110148862877297603332790")
	wideRootPi       = decimal("1.77245385090551602729816748334114518279754945612238712821380779")  // √π
	wideHalfLogTwoPi = decimal("0.918938533204672741780329736405617639861397473637783412817151540") // ½·log(2π)
)

package oracle

import (
	"math"
	"math/big"
	"sync"
)

// pi has enough bits to reduce the largest float64: 1,024 before the point of
// x·2/π and 200 behind it.
var pi = sync.OnceValue(func() *big.Float {
	const bits = 1400
	// Machin's formula: π = 16·atan(1/5) − 4·atan(1/239).
	arc := func(n int64) *big.Float {
		x := new(big.Float).SetPrec(bits).Quo(big.NewFloat(1).SetPrec(bits), new(big.Float).SetInt64(n))
		square := new(big.Float).Mul(x, x)
		sum, power := new(big.Float).Set(x), new(big.Float).Set(x)
		for k := int64(3); power.Sign() != 0 && power.MantExp(nil) > -bits; k += 2 {
			power.Mul(power, square).Neg(power)
			sum.Add(sum, new(big.Float).Quo(power, new(big.Float).SetPrec(bits).SetInt64(k)))
		}
		return sum
	}
	return new(big.Float).Sub(new(big.Float).Mul(big.NewFloat(16), arc(5)), new(big.Float).Mul(big.NewFloat(4), arc(239)))
})

// quadrant returns x less the multiple of π/2 nearest to it, and that multiple
// mod 4. x is a float64 or near 0.
func quadrant(x wide) (r wide, k int) {
	if math.Abs(x.hi) < 0.785 {
		return x, 0
	}
	const bits = 1400
	half := new(big.Float).SetPrec(bits).Mul(pi(), big.NewFloat(0.5))
	whole := new(big.Float).SetPrec(bits).SetFloat64(x.hi)
	whole.Add(whole, new(big.Float).SetFloat64(x.lo))
	n, _ := new(big.Float).SetPrec(bits).Quo(whole, half).Add(new(big.Float).Quo(whole, half), big.NewFloat(math.Copysign(0.5, x.hi))).Int(nil)
	rest := new(big.Float).SetPrec(bits).Sub(whole, new(big.Float).SetPrec(bits).Mul(new(big.Float).SetPrec(bits).SetInt(n), half))
	return fromBig(rest), int(new(big.Int).And(n, big.NewInt(3)).Int64())
}

// sinSmall and cosSmall are Taylor's series for |r| ≤ π/4.
func sinSmall(r wide) wide {
	square, term, sum := r.mul(r), r, r
	for n := 2.0; n < 30; n += 2 {
		term = term.mul(square).div(exact(-n * (n + 1)))
		sum = sum.add(term)
	}
	return sum
}

func cosSmall(r wide) wide {
	square, term, sum := r.mul(r), exact(1), exact(1)
	for n := 1.0; n < 30; n += 2 {
		term = term.mul(square).div(exact(-n * (n + 1)))
		sum = sum.add(term)
	}
	return sum
}

func wideSinCos(x wide) (sin, cos wide) {
	if !x.isFinite() {
		return exact(math.NaN()), exact(math.NaN())
	}
	if x.hi == 0 {
		return x, exact(1)
	}
	r, k := quadrant(x)
	s, c := sinSmall(r), cosSmall(r)
	switch k {
	case 1:
		return c, s.neg()
	case 2:
		return s.neg(), c.neg()
	case 3:
		return c.neg(), s
	}
	return s, c
}

func wideSin(x wide) wide { s, _ := wideSinCos(x); return s }
func wideCos(x wide) wide { _, c := wideSinCos(x); return c }
func wideTan(x wide) wide {
	s, c := wideSinCos(x)
	if s.hi == 0 {
		return s
	}
	return s.div(c)
}

func wideAtan(t wide) wide {
	switch {
	case t.hi == 0 || t.isNaN():
		return t
	case math.Abs(t.hi) > 0x1p120:
		return wideHalfPi.times(math.Copysign(1, t.hi))
	case math.Abs(t.hi) > 2:
		return wideHalfPi.times(math.Copysign(1, t.hi)).sub(wideAtan(exact(1).div(t)))
	}
	// atan t = y + atan d with d = (t−tan y)/(1+t·tan y), so small that it is its
	// own arc tangent: d³/3 is below 2⁻¹⁵⁰.
	y := exact(math.Atan(t.hi))
	tan := wideTan(y)
	d := t.sub(tan).div(t.mul(tan).plus(1))
	return y.add(d)
}

func wideAsin(x wide) wide {
	switch {
	case math.Abs(x.hi) > 1 || x.isNaN():
		return exact(math.NaN())
	case math.Abs(x.hi) == 1:
		return wideHalfPi.times(x.hi)
	}
	return wideAtan(x.div(exact(1).sub(x).mul(x.plus(1)).sqrt()))
}

func wideAcos(x wide) wide {
	switch {
	case math.Abs(x.hi) > 1 || x.isNaN():
		return exact(math.NaN())
	case x.hi > 0.5:
		return wideAsin(exact(1).sub(x).scale(-1).sqrt()).scale(1)
	case x.hi < -0.5:
		return widePi.sub(wideAcos(x.neg()))
	}
	return wideHalfPi.sub(wideAsin(x))
}

// wideAtan2 is the angle of the point (x, y); zeros and infinities are those
// of IEEE 754.
func wideAtan2(y, x float64) wide {
	if y == 0 || x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || x != x || y != y {
		switch a := math.Atan2(y, x); math.Abs(a) { // a multiple of π/4 or NaN
		case math.Pi:
			return widePi.times(math.Copysign(1, a))
		case math.Pi / 2:
			return wideHalfPi.times(math.Copysign(1, a))
		case math.Pi / 4:
			return wideHalfPi.scale(-1).times(math.Copysign(1, a))
		case 3 * math.Pi / 4:
			return widePi.sub(wideHalfPi.scale(-1)).times(math.Copysign(1, a))
		default:
			return exact(a)
		}
	}
	// Scaled by powers of two, so that the quotient keeps its lower part.
	my, ey := math.Frexp(y)
	mx, ex := math.Frexp(x)
	var a wide
	switch e := ey - ex; {
	case e > 200:
		return wideHalfPi.times(math.Copysign(1, y))
	case e < -200 && x > 0:
		return exact(math.Abs(my)).div(exact(mx)).scale(e).times(math.Copysign(1, y))
	case e < -200:
		return widePi.times(math.Copysign(1, y))
	default:
		a = wideAtan(exact(math.Abs(my)).div(exact(math.Abs(mx))).scale(e))
	}
	if x < 0 {
		a = widePi.sub(a)
	}
	return a.times(math.Copysign(1, y))
}

// wideHypot is √(a²+b²), scaled so that the squares neither over- nor
// underflow.
func wideHypot(a, b float64) wide {
	switch {
	case math.IsInf(a, 0) || math.IsInf(b, 0):
		return exact(math.Inf(1))
	case a != a || b != b:
		return exact(math.NaN())
	}
	big := math.Max(math.Abs(a), math.Abs(b))
	if big == 0 {
		return exact(0)
	}
	_, e := math.Frexp(big)
	x, y := exact(a).scale(-e), exact(b).scale(-e)
	return x.mul(x).add(y.mul(y)).sqrt().scale(e)
}

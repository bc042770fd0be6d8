package interp

import "math"

// The functions take the exact float64 of an element and return a float64
// that the loops round once to float32. Those of package math are used as
// they are where they are not in the way of whole models.

// wideLen is how many elements a loop converts to float64 at a time.
const wideLen = 128

func widenF32(d []float64, a []float32) {
	a = a[:len(d)]
	for i, x := range a {
		d[i] = float64(x)
	}
}

func roundF32(d []float32, a []float64) {
	d = d[:len(a)]
	for i, x := range a {
		d[i] = float32(x)
	}
}

// expCore returns e^x within a relative error of 2⁻³⁰ for x from −1022·ln2
// to 1024·ln2, which gives +∞.
//
// x is split into k·ln2/32 + r with |r| ≤ ln2/64; e^x is then 2^(k/32), from
// the table and the exponent bits, times the Taylor polynomial of e^r, whose
// first neglected term is r⁴/24 < 2⁻³⁰.
func expCore(x float64) float64 {
	const (
		scale = 32 / math.Ln2
		step  = math.Ln2 / 32
		shift = 0x1.8p52 // adding it rounds to an integer in the low bits
	)
	t := float64(x*scale) + shift
	k := math.Float64bits(t)
	r := x - float64((t-shift)*step)
	p := (1 + r) + float64(float64(r*r)*(0.5+float64(r*(1.0/6))))
	return p * math.Float64frombits(math.Float64bits(exp2Table[k&31].hi)+k>>5<<52)
}

// clampExp keeps x where expCore is defined. At the upper end the exponent
// bits of expCore become those of +∞, at the lower e^x is below every float32.
func clampExp(x float64) float64 {
	if x > 1024*math.Ln2 {
		return 1024 * math.Ln2
	}
	if x < -1022*math.Ln2 {
		return -1022 * math.Ln2
	}
	return x
}

// exp returns e^x, for results that become float32.
func exp(x float64) float64 { return expCore(clampExp(x)) }

func rsqrt(x float64) float64 { return 1 / math.Sqrt(x) }

// tanh is 1 − 2/(e^2|x| + 1) with the sign of x, and near zero, where that
// cancels, the Taylor polynomial.
func tanh(x float64) float64 {
	a := math.Abs(x)
	if a < 0.08 {
		s := float64(x * x)
		return x * (1 + float64(s*(-1.0/3+float64(s*(2.0/15-float64(s*(17.0/315)))))))
	}
	return math.Copysign(1-2/(exp(2*a)+1), x)
}

// sigmoid is 1/(1 + e^−x).
func sigmoid(x float64) float64 { return 1 / (1 + exp(-x)) }

// silu is x·sigmoid(x); −∞ gives the NaN of −∞·0.
func silu(x float64) float64 { return x * sigmoid(x) }

// gelu is x·½·erfc(−x/√2).
func gelu(x float64) float64 {
	tail := erfcTail(math.Abs(x) * (1 / math.Sqrt2))
	if x > 0 {
		tail = 2 - tail
	}
	return 0.5 * x * tail
}

// geluTanh is ½·x·(1 + tanh u) with u = √(2/π)·(x + 0.044715·x³), where
// ½·(1 + tanh u) is the sigmoid of 2u, which does not cancel.
func geluTanh(x float64) float64 {
	const twice = 2 * 0.7978845608028653558798921198687 // 2√(2/π)
	return x * sigmoid(twice*(x+float64(0.044715*float64(x*float64(x*x)))))
}

// sigmoidF64, siluF64, geluF64 and geluTanhF64 are those functions for results
// that stay float64.
func sigmoidF64(x float64) float64 {
	if x < -700 { // 1 + e^x is 1, and e^−x may overflow
		return expF64(x)
	}
	return 1 / (1 + expF64(-x))
}

// siluF64 multiplies x in before e^x, which is 1/(1 + e^−x) far out, is subnormal.
func siluF64(x float64) float64 {
	if x < -700 && x > -800 {
		half := expF64(x / 2)
		return float64(x*half) * half
	}
	return x * sigmoidF64(x)
}

// erfinvF64 mends math.Erfinv, which is a few ulps off, by a step of Newton's
// method: for small |x| by erf, for large by erfc, of which 1−|x| is exact.
func erfinvF64(x float64) float64 {
	y := math.Abs(math.Erfinv(x))
	if y-y != 0 || y < 0x1p-20 {
		return math.Erfinv(x)
	}
	miss := math.Erf(y) - math.Abs(x)
	if math.Abs(x) > 0.5 {
		miss = (1 - math.Abs(x)) - math.Erfc(y)
	}
	slope := 2 / math.SqrtPi * math.Exp(-float64(y*y))
	return math.Copysign(y-miss/slope, x)
}

// geluF64 takes erfc at −x/√2 in the precision of double, since far out the
// error of its operand is multiplied by its square. Where erfc is subnormal x·½·erfc
// is −e^(−x²/2)/√(2π) times the asymptotic series 1 − 1/x² + 3/x⁴ − 15/x⁶ + …
func geluF64(x float64) float64 {
	if x-x != 0 {
		return gelu(x)
	}
	if x < -37 {
		w, series := 1/(x*x), 1.0
		for n := 13.0; n > 0; n -= 2 {
			series = 1 - float64(float64(n*w)*series)
		}
		return -1 / (math.Sqrt2 * math.SqrtPi) * series * expDouble(twoProduct(x, -0.5*x))
	}
	z := invSqr2.scale(-x)
	return 0.5 * x * (math.Erfc(z.hi) - float64(2/math.SqrtPi*math.Exp(-float64(z.hi*z.hi))*z.lo))
}

// geluTanhF64 is geluTanh with the operand of the exponential in the precision
// of double.
func geluTanhF64(x float64) float64 {
	if !(math.Abs(x) < 1e6) {
		return geluTanh(x)
	}
	linear := double{0x1.9884533d43651p+0, -0x1.cbc0d30ebfd15p-54} // 2√(2/π)
	cubic := double{0x1.2444f2a4d8b4bp-4, -0x1.3023b0e5fbc6ep-58}  // 0.044715 of it
	u := linear.plus(cubic.times(twoProduct(x, x))).scale(-x)
	if u.hi > 700 && u.hi < 800 { // 1 + e^u is e^u, and may overflow
		half := expDouble(double{-u.hi / 2, -u.lo / 2})
		return float64(x*half) * half
	}
	return x / (1 + expDouble(u))
}

func frac(x float64) float64 { return x - math.Trunc(x) }

// softplus is log(1 + e^x), as max(x, 0) + log(1 + e^−|x|).
func softplus(x float64) float64 {
	return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

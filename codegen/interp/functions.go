package interp

import "math"

// The functions compute in float64 and round once to float32.

// exp2Table holds 2^(j/32) for j = 0 … 31, as float64 bits.
var exp2Table = func() (t [32]uint64) {
	for j := range t {
		t[j] = math.Float64bits(math.Exp2(float64(j) / 32))
	}
	return t
}()

// expCore returns e^x within a relative error of 2⁻³⁰ for |x| < 700.
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
	r2 := r * r
	p := (1 + r) + float64(r2*(0.5+float64(r*(1.0/6))))
	return p * math.Float64frombits(exp2Table[k&31]+k>>5<<52)
}

// exp returns e^x, at most one ulp off, usually correctly rounded.
func exp(x float32) float32 {
	switch {
	case x > 89:
		return float32(math.Inf(1))
	case x < -104:
		return 0
	}
	return float32(expCore(float64(x)))
}

// expWide returns e^x for any x, as expCore does.
func expWide(x float64) float64 {
	switch {
	case x > 700:
		return math.Inf(1)
	case x < -700:
		return 0
	}
	return expCore(x)
}

func expm1(x float32) float32 { return float32(math.Expm1(float64(x))) }
func log(x float32) float32   { return float32(math.Log(float64(x))) }
func log1p(x float32) float32 { return float32(math.Log1p(float64(x))) }
func sin(x float32) float32   { return float32(math.Sin(float64(x))) }
func cos(x float32) float32   { return float32(math.Cos(float64(x))) }
func erf(x float32) float32   { return float32(math.Erf(float64(x))) }

// tanh is 1 − 2/(e^2|x| + 1) with the sign of x, and near zero, where that
// cancels, the Taylor polynomial.
func tanh(x float32) float32 {
	a := math.Abs(float64(x))
	switch {
	case a < 0.05:
		y := float64(x)
		s := y * y
		return float32(y + float64(float64(y*s)*(-1.0/3+float64(s*(2.0/15-float64(s*(17.0/315)))))))
	case a > 10:
		return float32(math.Copysign(1, float64(x)))
	}
	return float32(math.Copysign(1-2/(expCore(2*a)+1), float64(x)))
}

// sigmoid is 1/(1 + e^−x).
func sigmoid(x float32) float32 { return float32(1 / (1 + expWide(-float64(x)))) }

// silu is x·sigmoid(x).
func silu(x float32) float32 { return float32(float64(x) / (1 + expWide(-float64(x)))) }

// gelu is x·½·erfc(−x/√2).
func gelu(x float32) float32 {
	y := float64(x)
	return float32(0.5 * y * math.Erfc(y*(-1/math.Sqrt2)))
}

// geluTanh is ½·x·(1 + tanh u) with u = √(2/π)·(x + 0.044715·x³), where
// ½·(1 + tanh u) is the sigmoid of 2u, which does not cancel.
func geluTanh(x float32) float32 {
	const twice = 2 * 0.7978845608028653558798921198687 // 2√(2/π)
	y := float64(x)
	u := twice * (y + float64(0.044715*float64(y*float64(y*y))))
	return float32(y / (1 + expWide(-u)))
}

// softplus is log(1 + e^x), as max(x, 0) + log(1 + e^−|x|).
func softplus(x float32) float32 {
	y := float64(x)
	return float32(max(y, 0) + math.Log1p(math.Exp(-math.Abs(y))))
}

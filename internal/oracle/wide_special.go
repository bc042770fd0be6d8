package oracle

import "math"

// erfSeries is erf(x) = 2/√π·e^(−x²)·Σ 2ⁿ·x^(2n+1)/(2n+1)!!, whose terms are
// all of one sign (Abramowitz and Stegun, 7.1.6).
func erfSeries(x wide) wide {
	square := x.mul(x)
	term, sum := x, x
	for n := 1.0; n < 200; n++ {
		term = term.mul(square.scale(1)).div(exact(2*n + 1))
		sum = sum.add(term)
		if math.Abs(term.hi) < 0x1p-110*math.Abs(sum.hi) {
			break
		}
	}
	return sum.mul(wideExp(square.neg())).scale(1).div(wideRootPi)
}

// erfcTail is erfc(x) for x ≥ 3.5 by its continued fraction
// e^(−x²)/√π · 1/(x + ½/(x + 1/(x + 1½/(x + …)))) (Abramowitz and Stegun,
// 7.1.14).
func erfcTail(x wide) wide {
	f := x
	for n := 150.0; n > 0; n-- {
		f = x.add(exact(n / 2).div(f))
	}
	return wideExp(x.mul(x).neg()).div(wideRootPi.mul(f))
}

const erfcSplit = 3.5

func wideErf(x wide) wide {
	switch {
	case x.hi == 0 || x.isNaN():
		return x
	case math.Abs(x.hi) < erfcSplit:
		return erfSeries(x)
	case x.hi > 0:
		return exact(1).sub(wideErfc(x))
	}
	return wideErfc(x.neg()).plus(-1)
}

func wideErfc(x wide) wide {
	switch {
	case x.isNaN():
		return x
	case math.Abs(x.hi) > 30:
		return exact(1 - math.Copysign(1, x.hi))
	case math.Abs(x.hi) < erfcSplit:
		return exact(1).sub(erfSeries(x))
	case x.hi > 0:
		return erfcTail(x)
	}
	return exact(2).sub(erfcTail(x.neg()))
}

// wideErfinv solves erf(x) = y by Newton's method, for |y| > ½ in the form
// erfc(x) = 1−|y|, which is exact.
func wideErfinv(y wide) wide {
	a := y.abs()
	switch {
	case a.hi > 1 || y.isNaN():
		return exact(math.NaN())
	case a.hi == 1:
		return exact(math.Inf(int(y.hi)))
	case y.hi == 0:
		return y
	}
	x := exact(math.Erfinv(a.hi))
	if a.hi < 1e-8 {
		x = a.mul(wideRootPi).scale(-1)
	}
	for range 4 {
		var miss wide
		if a.hi > 0.5 {
			miss = exact(1).sub(a).sub(wideErfc(x)) // erf(x) − |y|
		} else {
			miss = wideErf(x).sub(a)
		}
		slope := wideExp(x.mul(x).neg()).scale(1).div(wideRootPi)
		x = x.sub(miss.div(slope))
	}
	if y.hi < 0 {
		return x.neg()
	}
	return x
}

// bernoulli are B₂, B₄, … as fractions (Abramowitz and Stegun, table 23.2).
var bernoulli = [...][2]float64{
	{1, 6}, {-1, 30}, {1, 42}, {-1, 30}, {5, 66}, {-691, 2730}, {7, 6}, {-3617, 510}, {43867, 798}, {-174611, 330},
	{854513, 138}, {-236364091, 2730}, {8553103, 6}, {-23749461029, 870}, {8615841276005, 14322},
}

// stirlingFrom is from where on Stirling's series with the Bernoulli numbers
// above is good to 2⁻¹¹⁰.
const stirlingFrom = 30

// besidePole is up to where Γ(x) is 1/x and its logarithm's derivative −1/x to all
// digits; products with π lose theirs there, and quotients overflow.
const besidePole = 0x1p-110

// wideLgamma is log|Γ(x)|: Stirling's series (Abramowitz and Stegun, 6.1.40)
// above 30, the recurrence below, the reflection formula for x < ½.
func wideLgamma(x wide) wide {
	switch {
	case x.isNaN():
		return x
	case math.IsInf(x.hi, 0) || x.hi <= 0 && x.hi == math.Trunc(x.hi):
		return exact(math.Inf(1))
	case x.hi < -0x1p52: // an integer
		return exact(math.Inf(1))
	case math.Abs(x.hi) < besidePole:
		return wideLog(x.abs()).neg()
	case x.hi < 0.5:
		// log(π/|sin πx|) − lgamma(1−x)
		return wideLog(widePi.div(sinPi(x).abs())).sub(wideLgamma(exact(1).sub(x)))
	case x.hi == 1 || x.hi == 2:
		return exact(0)
	}
	product := exact(1)
	for x.hi < stirlingFrom {
		product = product.mul(x)
		x = x.plus(1)
	}
	log := wideLog(x)
	// (x−½)·log x − x = x·(log x − 1) − ½·log x
	r := x.mul(log.plus(-1)).sub(log.scale(-1)).add(wideHalfLogTwoPi)
	if !r.isFinite() {
		return exact(math.Inf(1))
	}
	square := x.mul(x)
	power := exact(1).div(x)
	for k, b := range bernoulli {
		n := float64(2 * (k + 1))
		r = r.add(exact(b[0]).div(exact(b[1] * n * (n - 1))).mul(power))
		power = power.div(square)
		if power.hi < 1e-40 {
			break
		}
	}
	return r.sub(wideLog(product))
}

// sinPi is sin(πx) for a float64 x.
func sinPi(x wide) wide {
	n := math.RoundToEven(x.hi)
	s := wideSin(widePi.mul(x.plus(-n)))
	if math.Mod(n, 2) != 0 {
		return s.neg()
	}
	return s
}

// wideDigamma is the derivative of wideLgamma: asymptotic (Abramowitz and
// Stegun, 6.3.18) above 30, the recurrence below, the reflection formula for
// x < ½.
func wideDigamma(x wide) wide {
	switch {
	case x.hi == 0:
		return exact(math.Copysign(math.Inf(1), -1) * math.Copysign(1, x.hi))
	case x.isNaN() || x.hi < 0 && x.hi == math.Trunc(x.hi):
		return exact(math.NaN())
	case math.IsInf(x.hi, 1):
		return x
	case math.Abs(x.hi) < besidePole:
		return exact(-1).div(x)
	case x.hi < 0.5:
		// ψ(1−x) − π/tan πx
		n := math.RoundToEven(x.hi)
		sin, cos := wideSinCos(widePi.mul(x.plus(-n)))
		return wideDigamma(exact(1).sub(x)).sub(widePi.mul(cos).div(sin))
	}
	sum := exact(0)
	for x.hi < stirlingFrom {
		sum = sum.add(exact(1).div(x))
		x = x.plus(1)
	}
	r := wideLog(x).sub(exact(0.5).div(x))
	square := x.mul(x)
	power := exact(1).div(square)
	for k, b := range bernoulli {
		n := float64(2 * (k + 1))
		r = r.sub(exact(b[0]).div(exact(b[1] * n)).mul(power))
		power = power.div(square)
		if power.hi < 1e-40 {
			break
		}
	}
	return r.sub(sum)
}

package interp

import "math"

// lgamma is the logarithm of |Γ(x)|, for results that become float32; it is
// infinite at both infinities, zero and negative integers.
func lgamma(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.Inf(1)
	}
	y, _ := math.Lgamma(x)
	return y
}

// lgammaF64 is lgamma for results that stay float64: by Γ(x)·Γ(1−x) =
// π/sin πx for negative x, Γ(x+1) = x·Γ(x) for small ones, and Stirling's
// series (x−½)·log x − x + ½·log 2π + Σ B₂ₙ/(2n·(2n−1)·x²ⁿ⁻¹) from 20 on. Near
// its zeros the error is absolute, some 10⁻¹⁸.
func lgammaF64(x float64) float64 {
	switch {
	case !(math.Abs(x) < 1e300) || x <= 0 && x == math.Trunc(x):
		return lgamma(x)
	case x == 1 || x == 2:
		return 0
	case math.Abs(x) < 0x1p-60: // 1/Γ(x) is x there, and π/sin πx may overflow
		return -logF64(math.Abs(x))
	case x < 0:
		return logDouble(math.Pi / math.Abs(sinPi(x))).plus(lgammaPositive(1 - x).negate()).value()
	}
	return lgammaPositive(x).value()
}

func lgammaPositive(x float64) double {
	p := double{1, 0}
	y := double{x, 0}
	for ; y.hi < 20; y = y.plus(double{1, 0}) {
		p = p.times(y)
	}
	s := 1 / (y.hi * y.hi)
	series := (1.0/12 - float64(s*(1.0/360-float64(s*(1.0/1260-float64(s*(1.0/1680-float64(s*(1.0/1188-
		float64(s*(691.0/360360))))))))))) / y.hi
	halfLog2Pi := double{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55}
	r := y.plus(double{-0.5, 0}).times(y.log()).plus(y.negate()).plus(halfLog2Pi).plus(double{series, 0})
	return r.plus(p.log().negate())
}

// log returns the logarithm of a finite x > 0.
func (x double) log() double { return logDouble(x.hi).plus(double{x.lo / x.hi, 0}) }

// sinPi is sin πx.
func sinPi(x float64) float64 {
	f := x - math.RoundToEven(x)
	a := math.Abs(f)
	y := 0.0
	if a > 0.25 {
		y = cosNear(halfPi.scale(1 - float64(2*a)))
	} else {
		y = sinNear(halfPi.scale(2 * a))
	}
	if (f < 0) != (math.Mod(math.RoundToEven(x), 2) != 0) {
		return -y
	}
	return y
}

// digamma is the derivative of lgamma: by ψ(x) = ψ(1−x) − π/tan πx for
// negative x, ψ(x) = ψ(x+1) − 1/x for small ones, and the asymptotic series
// log x − 1/2x − Σ B₂ₙ/(2n·x²ⁿ) from 20 on (Bernardo, "Algorithm AS 103: psi
// (digamma) function", 1976). At zeros it is infinite with the other sign, at
// negative integers NaN.
func digamma(x float64) float64 {
	switch {
	case x == 0:
		return math.Copysign(math.Inf(1), -x)
	case !(x < 0x1p60):
		return math.Log(x)
	case math.Abs(x) < 0x1p-1000:
		return -1 / x
	case x < 0 && x == math.Trunc(x):
		return math.NaN()
	case x < 0:
		return digammaPositive(1 - x).plus(double{float64(-math.Pi * cotPi(x)), 0}).value()
	}
	return digammaPositive(x).value()
}

func digammaPositive(x float64) double {
	sum := double{}
	y := double{x, 0}
	for ; y.hi < 20; y = y.plus(double{1, 0}) {
		sum = sum.plus(double{1, 0}.over(y))
	}
	s := 1 / (y.hi * y.hi)
	series := float64(s * (1.0/12 - float64(s*(1.0/120-float64(s*(1.0/252-float64(s*(1.0/240-float64(s*(1.0/132))))))))))
	r := y.log().plus(double{-0.5, 0}.over(y)).plus(double{-series, 0})
	return r.plus(sum.negate())
}

// cotPi is 1/tan πx.
func cotPi(x float64) float64 {
	f := x - math.RoundToEven(x)
	a := math.Abs(f)
	y := halfPi.scale(2 * a)
	t := 0.0
	if a > 0.25 {
		y = halfPi.scale(1 - float64(2*a))
		t = sinNear(y) / cosNear(y)
	} else {
		t = cosNear(y) / sinNear(y)
	}
	return math.Copysign(t, f)
}

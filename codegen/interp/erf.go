package interp

import "math"

// erf is, near zero, its Taylor series (2/√π)·Σ (−1)ⁿ·x²ⁿ⁺¹/(n!·(2n+1)), and
// else 1 − erfc(|x|) with the sign of x.
func erf(x float64) float64 {
	if s := float64(x * x); s < 0.25 {
		p := 1 + float64(s*(-1.0/3+float64(s*(1.0/10+float64(s*(-1.0/42+float64(s*(1.0/216+
			float64(s*(-1.0/1320+float64(s*(1.0/9360-float64(s*(1.0/75600))))))))))))))
		return x * (2 / math.SqrtPi) * p
	}
	return math.Copysign(1-erfcTail(math.Abs(x)), x)
}

// erfcTail returns erfc(z) for z ≥ 0 within a relative error of 2⁻³⁰, or 0
// where that is below every float32.
//
// e^z²·erfc(z) is smooth in t = (z−2)/(z+2); the polynomial interpolates it at
// the thirteen Chebyshev nodes of 0 ≤ z ≤ 10.6, where it is 1.3·10⁻¹⁰ off at
// most.
func erfcTail(z float64) float64 {
	if z > 10.6 {
		return 0
	}
	t := (z - 2) / (z + 2)
	s := float64(t * t)
	even := 0.25539567633021465 + float64(s*(0.2416581921884438+float64(s*(0.0037329310190350913+
		float64(s*(-0.0008474582624885355+float64(s*(4.499334639833175e-05+float64(s*(2.3668027987491696e-05+
			float64(s*(-8.274630350556958e-06))))))))))))
	odd := -0.42718584782477764 + float64(s*(-0.07897856256505546+float64(s*(0.006997226948886658+
		float64(s*(-0.0009806911448827422+float64(s*(0.00017092857123747793+float64(s*(-2.332591640392504e-05))))))))))
	return (even + float64(t*odd)) * expCore(-float64(z*z))
}

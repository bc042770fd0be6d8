package oracle

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// exactUnary are the float functions with an exactly rounded result: for
// float32 operands what float64 gives is exact, or, of a root and a quotient,
// has more than twice the bits, so that rounding it again is harmless.
var exactUnary = map[ir.Kind]func(float64) float64{
	ir.Sqrt:   math.Sqrt,
	ir.Recip:  func(x float64) float64 { return 1 / x },
	ir.Round:  math.RoundToEven,
	ir.Floor:  math.Floor,
	ir.Ceil:   math.Ceil,
	ir.Trunc:  math.Trunc,
	ir.Frac:   func(x float64) float64 { return x - math.Trunc(x) },
	ir.Abs:    math.Abs,
	ir.Neg:    func(x float64) float64 { return math.Copysign(x, -math.Copysign(1, x)) },
	ir.Square: func(x float64) float64 { return float64(x * x) },
	ir.Relu:   func(x float64) float64 { return maximum(x, 0) },
	ir.Sign: func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x // a zero with its sign, or a NaN
	},
}

// functions are evaluated in wide numbers and rounded once.
var functions = map[ir.Kind]func(wide) wide{
	ir.Exp:     wideExp,
	ir.Expm1:   wideExpm1,
	ir.Exp2:    wideExp2,
	ir.Log:     wideLog,
	ir.Log2:    wideLog2,
	ir.Log10:   wideLog10,
	ir.Log1p:   wideLog1p,
	ir.Rsqrt:   func(x wide) wide { return exact(1).div(x.sqrt()) },
	ir.Sin:     wideSin,
	ir.Cos:     wideCos,
	ir.Tan:     wideTan,
	ir.Asin:    wideAsin,
	ir.Acos:    wideAcos,
	ir.Atan:    wideAtan,
	ir.Sinh:    wideSinh,
	ir.Cosh:    wideCosh,
	ir.Tanh:    wideTanh,
	ir.Asinh:   wideAsinh,
	ir.Acosh:   wideAcosh,
	ir.Atanh:   wideAtanh,
	ir.Erf:     wideErf,
	ir.Erfc:    wideErfc,
	ir.Erfinv:  wideErfinv,
	ir.Lgamma:  wideLgamma,
	ir.Digamma: wideDigamma,
}

var testsOfFloats = map[ir.Kind]func(float64) bool{
	ir.IsNaN:    math.IsNaN,
	ir.IsInf:    func(x float64) bool { return math.IsInf(x, 0) },
	ir.IsFinite: func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) },
}

// maximum is the greater of a and b: NaN propagates, +0 is above −0.
func maximum(a, b float64) float64 {
	switch {
	case a != a:
		return a
	case b != b:
		return b
	case a == 0 && b == 0:
		if math.Signbit(a) {
			return b
		}
		return a
	case a > b:
		return a
	}
	return b
}

// minimum is the lesser of a and b: NaN propagates, −0 is below +0.
func minimum(a, b float64) float64 { return -maximum(-a, -b) }

// pow is IEEE 754's pow.
func pow(a, b float64) wide {
	switch {
	case b == 0 || a == 1:
		return exact(1)
	case a != a || b != b:
		return exact(math.NaN())
	case a == 0 || math.IsInf(a, 0) || math.IsInf(b, 0) || a == -1 || a < 0 && b != math.Trunc(b):
		return exact(math.Pow(a, b)) // 0, ±1, infinite or NaN
	}
	r := widePow(exact(math.Abs(a)), exact(b))
	if a < 0 && math.Mod(b, 2) != 0 {
		return r.neg()
	}
	return r
}

package oracle

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// exactUnary are the float functions with an exactly rounded float32 result.
var exactUnary = map[ir.Kind]func(float32) float32{
	// A square root in float64 has more than twice the bits, so rounding it
	// again is harmless.
	ir.Sqrt:   func(x float32) float32 { return float32(math.Sqrt(float64(x))) },
	ir.Recip:  func(x float32) float32 { return 1 / x },
	ir.Round:  func(x float32) float32 { return float32(math.RoundToEven(float64(x))) },
	ir.Floor:  func(x float32) float32 { return float32(math.Floor(float64(x))) },
	ir.Ceil:   func(x float32) float32 { return float32(math.Ceil(float64(x))) },
	ir.Trunc:  func(x float32) float32 { return float32(math.Trunc(float64(x))) },
	ir.Abs:    func(x float32) float32 { return float32(math.Abs(float64(x))) },
	ir.Neg:    func(x float32) float32 { return float32(math.Copysign(float64(x), -math.Copysign(1, float64(x)))) },
	ir.Square: func(x float32) float32 { return x * x },
	ir.Relu:   func(x float32) float32 { return maximum(x, 0) },
	ir.Sign: func(x float32) float32 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x // a zero with its sign, or a NaN
	},
}

// functions are evaluated in float64.
var functions = map[ir.Kind]func(float64) float64{
	ir.Exp:      math.Exp,
	ir.Expm1:    math.Expm1,
	ir.Log:      math.Log,
	ir.Log1p:    math.Log1p,
	ir.Rsqrt:    func(x float64) float64 { return 1 / math.Sqrt(x) },
	ir.Sin:      math.Sin,
	ir.Cos:      math.Cos,
	ir.Tanh:     math.Tanh,
	ir.Erf:      math.Erf,
	ir.Sigmoid:  sigmoid,
	ir.Silu:     func(x float64) float64 { return x * sigmoid(x) },
	ir.Gelu:     func(x float64) float64 { return x * (math.Erfc(-x/math.Sqrt2) / 2) },
	ir.GeluTanh: geluTanh,
	ir.Softplus: func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
}

// sigmoid keeps its relative accuracy for large negative x.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// geluTanh is x·½(1+tanh u) with ½(1+tanh u) = Sigmoid(2u), which does not
// cancel for negative u.
func geluTanh(x float64) float64 {
	u := math.Sqrt(2/math.Pi) * (x + 0.044715*(x*x*x))
	return x * sigmoid(2*u)
}

// maximum is the greater of a and b: NaN propagates, +0 is above −0.
func maximum(a, b float32) float32 {
	switch {
	case a != a:
		return a
	case b != b:
		return b
	case a == 0 && b == 0:
		if math.Signbit(float64(a)) {
			return b
		}
		return a
	case a > b:
		return a
	}
	return b
}

// minimum is the lesser of a and b: NaN propagates, −0 is below +0.
func minimum(a, b float32) float32 {
	switch {
	case a != a:
		return a
	case b != b:
		return b
	case a == 0 && b == 0:
		if math.Signbit(float64(a)) {
			return a
		}
		return b
	case a < b:
		return a
	}
	return b
}

// pow is IEEE 754's pow for float32 operands. math.Pow multiplies repeatedly,
// so its error grows with the exponent; that of exp(y·log|x|) stays below 2⁻⁴⁵
// over the float32 range.
func pow(x, y float32) float64 {
	a, b := float64(x), float64(y)
	special := a == 0 || math.IsInf(a, 0) || math.IsInf(b, 0) || a != a || b != b
	integer := b == math.Trunc(b)
	if special || math.Abs(b) <= 64 || math.Abs(a) == 1 || a < 0 && !integer {
		return math.Pow(a, b)
	}
	r := math.Exp(b * math.Log(math.Abs(a)))
	if a < 0 && math.Mod(b, 2) != 0 {
		return -r
	}
	return r
}

// divInt truncates; x/0 is 0 and the least integer over −1 wraps to itself.
func divInt(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// powInt multiplies repeatedly, wrapping. With a negative exponent base 1
// gives 1, base −1 gives ±1, every other base 0.
func powInt(a, b int64) int64 {
	if b < 0 {
		switch {
		case a == 1:
			return 1
		case a == -1:
			return 1 - 2*(b&1)
		}
		return 0
	}
	r := int64(1)
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			r *= a
		}
		a *= a
	}
	return r
}

package kerneltest

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// bending is how a function carries on an error of its operand.
type bending uint8

const (
	wild     bending = iota // nothing is said: any error leaves the result open
	monotone                // monotone or convex: the ends of the operand's range give the result's
	gentle                  // a slope of at most 1.13, that of Gelu
)

// function is a scalar function of a float whose results engines owe only
// within some distance: by the numeric rules, in units of the last place.
type function struct {
	f       func(x float64) float64
	ulps    float64
	near    float64 // also allowed in F32, absolutely, near roots
	bending bending
}

var inexact = map[ir.ScalarOp]function{
	ir.SExp:      {math.Exp, 1, 0, monotone},
	ir.SExpm1:    {math.Expm1, 2, 0, monotone},
	ir.SExp2:     {math.Exp2, 1, 0, monotone},
	ir.SLog:      {log, 1, 0, monotone},
	ir.SLog2:     {func(x float64) float64 { return log(x) / math.Ln2 }, 1, 0, monotone},
	ir.SLog10:    {func(x float64) float64 { return log(x) / math.Ln10 }, 1, 0, monotone},
	ir.SLog1p:    {math.Log1p, 2, 0, monotone},
	ir.SRsqrt:    {func(x float64) float64 { return 1 / math.Sqrt(x) }, 2, 0, monotone},
	ir.SSin:      {math.Sin, 2, 0, gentle},
	ir.SCos:      {math.Cos, 2, 0, gentle},
	ir.STan:      {math.Tan, 2, 0, wild},
	ir.SAsin:     {math.Asin, 2, 0, monotone},
	ir.SAcos:     {acos, 2, 0, monotone},
	ir.SAtan:     {math.Atan, 2, 0, monotone},
	ir.SSinh:     {math.Sinh, 2, 0, monotone},
	ir.SCosh:     {math.Cosh, 2, 0, monotone},
	ir.STanh:     {math.Tanh, 2, 0, monotone},
	ir.SAsinh:    {math.Asinh, 4, 0, monotone},
	ir.SAcosh:    {math.Acosh, 4, 0, monotone},
	ir.SAtanh:    {math.Atanh, 4, 0, monotone},
	ir.SErf:      {math.Erf, 2, 0, monotone},
	ir.SErfc:     {math.Erfc, 4, 0, monotone},
	ir.SErfinv:   {math.Erfinv, 4, 0, monotone},
	ir.SLgamma:   {lgamma, 4, 1e-6, wild},
	ir.SDigamma:  {digamma, 4, 1e-6, wild},
	ir.SSigmoid:  {func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 4, 0, monotone},
	ir.SSilu:     {func(x float64) float64 { return swish(x, x) }, 4, 0, gentle},
	ir.SGelu:     {func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }, 4, 0, gentle},
	ir.SGeluTanh: {geluTanh, 4, 0, gentle},
	ir.SSoftplus: {softplus, 4, 0, monotone},
}

// inexact2 holds the functions of two floats that are not exact.
var inexact2 = map[ir.ScalarOp]func(x, y float64) float64{ir.SPow: math.Pow, ir.SAtan2: atan2, ir.SHypot: math.Hypot}

// atan2 is math.Atan2, which takes the sign of −0 where y/x of a negative y is too
// small for a float64, with that of y.
func atan2(y, x float64) float64 { return math.Copysign(math.Atan2(math.Abs(y), x), y) }

const inexact2Ulps = 4

// Function returns the definition in float64 of a function of one float that is
// not exact, nil for another.
func Function(fn ir.ScalarOp) func(x float64) float64 { return inexact[fn].f }

// Function2 is Function for a function of two floats.
func Function2(fn ir.ScalarOp) func(x, y float64) float64 { return inexact2[fn] }

// Ulps returns the distance from the exact result that the numeric rules allow
// a function of floats, in units of the last place: 0 if the result must be the
// right one rounded once.
func Ulps(fn ir.ScalarOp) float64 {
	if _, ok := inexact2[fn]; ok {
		return inexact2Ulps
	}
	return inexact[fn].ulps
}

// ExactFunctions are the scalar functions with one right result for all operand
// types, in order: those that Ulps has 0 for.
var ExactFunctions = func() (ops []ir.ScalarOp) {
	for _, fn := range ir.ScalarOps() {
		if Ulps(fn) == 0 {
			ops = append(ops, fn)
		}
	}
	return ops
}()

// leastNormal is the least number above 0 that is not subnormal.
const leastNormal = 0x1p-1022

// log is math.Log, which on some platforms is wrong at subnormals.
func log(x float64) float64 {
	if x > 0 && x < leastNormal {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// acos avoids the cancellation of math.Acos near 1.
func acos(x float64) float64 {
	if x > 0.5 && x <= 1 {
		return 2 * math.Asin(math.Sqrt((1-x)/2))
	}
	return math.Acos(x)
}

func geluTanh(x float64) float64 {
	u := math.Sqrt(2/math.Pi) * (x + float64(0.044715*x*x*x))
	return swish(x, 2*u)
}

// swish is x/(1 + e^−u). Where the sum is e^−u, which may overflow, the product has
// more digits than e^u, which may be subnormal.
func swish(x, u float64) float64 {
	if u < -700 && u > -1e6 {
		return float64(x*math.Exp(u/2)) * math.Exp(u/2)
	}
	return x / (1 + math.Exp(-u))
}

func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// lgamma is log|Γ(x)|, infinite at −∞ as at each pole.
func lgamma(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Inf(1)
	}
	if x != 0 && math.Abs(x) < leastNormal {
		return -log(math.Abs(x))
	}
	y, _ := math.Lgamma(x)
	return y
}

// digamma goes up by ψ(x) = ψ(x+1) − 1/x to where its asymptotic series
// (Abramowitz and Stegun 6.3.18) is good, and reflects negative operands.
func digamma(x float64) float64 {
	switch {
	case x == 0:
		return math.Copysign(math.Inf(1), -x)
	case math.IsInf(x, -1), x < 0 && x == math.Floor(x):
		return math.NaN()
	case x < 0:
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*math.Mod(x, 1))
	}
	y := 0.0
	for ; x < 12; x++ {
		y -= 1 / x
	}
	s := 1 / (x * x)
	return y + math.Log(x) - 0.5/x - s*(1.0/12-s*(1.0/120-s*(1.0/252-s*(1.0/240-s*(1.0/132-s*691.0/32760)))))
}

// unit returns the distance of neighbours of a float type from x on.
func unit(t ir.DType, x float64) float64 {
	f := floatFormats[t]
	_, e := math.Frexp(min(math.Abs(x), f.max)) // |x| in [2^(e−1), 2^e)
	if x == 0 {
		e = f.last
	}
	return math.Ldexp(1, max(e-f.prec, f.last))
}

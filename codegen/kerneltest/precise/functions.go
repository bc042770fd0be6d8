package precise

import (
	"math"
	"math/big"

	"github.com/sinter-ml/sinter/ir"
)

// functions holds the definitions of functions of one float in arbitrary precision.
var functions = map[ir.ScalarOp]func(x *big.Float) *big.Float{
	ir.SExp:   bigExp,
	ir.SExpm1: func(x *big.Float) *big.Float { return sub(bigExp(x), number(x, 1)) },
	ir.SExp2:  func(x *big.Float) *big.Float { return bigExp(mul(x, ln2(x.Prec()))) },
	ir.SLog:   bigLog,
	ir.SLog2:  func(x *big.Float) *big.Float { return quo(bigLog(x), ln2(x.Prec())) },
	ir.SLog10: func(x *big.Float) *big.Float { return quo(bigLog(x), bigLog(number(x, 10))) },
	ir.SLog1p: func(x *big.Float) *big.Float { return bigLog(add(number(x, 1), x)) },
	ir.SRsqrt: func(x *big.Float) *big.Float { return quo(number(x, 1), root(x)) },
	ir.SSin:   func(x *big.Float) *big.Float { s, _ := bigSinCos(x); return s },
	ir.SCos:   func(x *big.Float) *big.Float { _, c := bigSinCos(x); return c },
	ir.STan:   func(x *big.Float) *big.Float { s, c := bigSinCos(x); return quo(s, c) },
	ir.SAsin:  func(x *big.Float) *big.Float { return bigAtan(quo(x, root(sub(number(x, 1), mul(x, x))))) },
	ir.SAcos: func(x *big.Float) *big.Float {
		y := bigAtan(quo(root(sub(number(x, 1), mul(x, x))), x))
		if x.Sign() < 0 {
			y = add(y, pi(x.Prec()))
		}
		return y
	},
	ir.SAtan: bigAtan,
	ir.SSinh: func(x *big.Float) *big.Float { return scaled(sub(bigExp(x), bigExp(neg(x))), -1) },
	ir.SCosh: func(x *big.Float) *big.Float { return scaled(add(bigExp(x), bigExp(neg(x))), -1) },
	ir.STanh: func(x *big.Float) *big.Float {
		a, b := bigExp(x), bigExp(neg(x))
		return quo(sub(a, b), add(a, b))
	},
	ir.SAsinh: func(x *big.Float) *big.Float { return bigAsinh(x) },
	ir.SAcosh: func(x *big.Float) *big.Float { return bigLog(add(x, root(sub(mul(x, x), number(x, 1))))) },
	ir.SAtanh: func(x *big.Float) *big.Float {
		one := number(x, 1)
		return scaled(bigLog(quo(add(one, x), sub(one, x))), -1)
	},
	ir.SErf:     bigErf,
	ir.SErfc:    func(x *big.Float) *big.Float { e := bigErf(x); return sub(number(e, 1), e) },
	ir.SErfinv:  bigErfinv,
	ir.SLgamma:  bigLgamma,
	ir.SDigamma: bigDigamma,
	ir.SSigmoid: func(x *big.Float) *big.Float { return quo(number(x, 1), add(number(x, 1), bigExp(neg(x)))) },
	ir.SSilu:    func(x *big.Float) *big.Float { return quo(x, add(number(x, 1), bigExp(neg(x)))) },
	ir.SGelu: func(x *big.Float) *big.Float {
		e := bigErf(neg(quo(x, root(number(x, 2)))))
		return scaled(mul(x, sub(number(e, 1), e)), -1)
	},
	ir.SGeluTanh: func(x *big.Float) *big.Float {
		u := mul(root(quo(scaled(number(x, 1), 3), pi(x.Prec()))), add(x, mul(zero(x).SetFloat64(0.044715), mul(x, mul(x, x)))))
		return quo(x, add(number(x, 1), bigExp(neg(u))))
	},
	ir.SSoftplus: func(x *big.Float) *big.Float { return bigLog(add(number(x, 1), bigExp(x))) },
}

func bigAsinh(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return neg(bigAsinh(neg(x)))
	}
	return bigLog(add(x, root(add(mul(x, x), number(x, 1)))))
}

// bigErfinv mends the result of float64 by Newton's method.
func bigErfinv(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := zero(x).SetFloat64(math.Erfinv(f))
	for range 4 {
		slope := quo(scaled(bigExp(neg(mul(y, y))), 1), root(pi(y.Prec())))
		y = sub(y, quo(sub(bigErf(y), x), slope))
	}
	return y
}

// functions2 holds those of functions of two floats.
var functions2 = map[ir.ScalarOp]func(x, y *big.Float) *big.Float{
	ir.SPow:   func(x, y *big.Float) *big.Float { return bigExp(mul(y, bigLog(x))) },
	ir.SAtan2: bigAtan2,
	ir.SHypot: func(x, y *big.Float) *big.Float { return root(add(mul(x, x), mul(y, y))) },
}

func bigAtan2(y, x *big.Float) *big.Float {
	a := bigAtan(quo(y, x))
	switch {
	case x.Sign() > 0:
		return a
	case y.Sign() < 0:
		return sub(a, pi(a.Prec()))
	}
	return add(a, pi(a.Prec()))
}

// Function returns the definition of a function of one float that is not correctly
// rounded, in the precision of its operand, or nil. Operands must be finite and
// inside the function's domain; Of makes them.
func Function(fn ir.ScalarOp) func(x *big.Float) *big.Float { return functions[fn] }

// Function2 is Function for functions of two floats, which must be finite and not 0.
func Function2(fn ir.ScalarOp) func(x, y *big.Float) *big.Float { return functions2[fn] }

// Distance returns the error of got in ulps of a float64 near want.
func Distance(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	unit := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	if math.Abs(w) == math.MaxFloat64 || math.IsInf(w, 0) {
		unit = 0x1p971
	}
	d := sub(new(big.Float).SetPrec(want.Prec()).SetFloat64(got), want)
	e, _ := quo(d, new(big.Float).SetPrec(want.Prec()).SetFloat64(unit)).Float64()
	return math.Abs(e)
}

package kerneltest

import (
	"math"
	"math/big"

	"github.com/sinter-ml/sinter/ir"
)

// Apply returns a function of operands of register type t, but for a mask. Where
// Ulps is 0 the result is the right one; the others are computed in float64 and
// rounded once.
func Apply(fn ir.ScalarOp, t ir.DType, a []Value) Value {
	if fn == ir.SWhere {
		if a[0].B {
			return a[1]
		}
		return a[2]
	}
	switch {
	case t.IsInt():
		return applyInt(fn, t, a)
	case t == ir.F64:
		f := make([]float64, len(a))
		for i := range a {
			f[i] = a[i].F
		}
		return applyFloat(fn, t, f)
	case t == ir.F32:
		f := make([]float32, len(a))
		for i := range a {
			f[i] = float32(a[i].F)
		}
		return applyFloat(fn, t, f)
	}
	x, y := a[0].B, len(a) > 1 && a[1].B
	switch fn {
	case ir.SNot:
		return Value{B: !x}
	case ir.SAnd:
		return Value{B: x && y}
	case ir.SOr:
		return Value{B: x || y}
	case ir.SXor, ir.SNotEqual:
		return Value{B: x != y}
	case ir.SEqual:
		return Value{B: x == y}
	}
	panic("no rule for " + fn.String())
}

func applyFloat[T float32 | float64](fn ir.ScalarOp, t ir.DType, a []T) Value {
	num := func(x T) Value { return Value{F: float64(x)} }
	x := a[0]
	y, z := x, x
	if len(a) > 1 {
		y = a[1]
	}
	if len(a) > 2 {
		z = a[2]
	}
	f, g := float64(x), float64(y)
	ordered := x == x && y == y
	switch fn {
	case ir.SAbs:
		return num(T(math.Abs(f)))
	case ir.SNeg:
		return num(T(math.Copysign(f, -math.Copysign(1, f))))
	case ir.SSign:
		if x != x || x == 0 {
			return num(x)
		}
		return num(T(math.Copysign(1, f)))
	case ir.SIsNaN:
		return Value{B: math.IsNaN(f)}
	case ir.SIsInf:
		return Value{B: math.IsInf(f, 0)}
	case ir.SIsFinite:
		return Value{B: !math.IsNaN(f) && !math.IsInf(f, 0)}
	case ir.SSqrt:
		return num(T(math.Sqrt(f)))
	case ir.SRecip:
		return num(1 / x)
	case ir.SRound:
		return num(T(math.RoundToEven(f)))
	case ir.SFloor:
		return num(T(math.Floor(f)))
	case ir.SCeil:
		return num(T(math.Ceil(f)))
	case ir.STrunc:
		return num(T(math.Trunc(f)))
	case ir.SFrac:
		return num(x - T(math.Trunc(f)))
	case ir.SAdd:
		return num(x + y)
	case ir.SSub:
		return num(x - y)
	case ir.SMul:
		return num(T(x * y))
	case ir.SDiv:
		return num(x / y)
	case ir.SFloorDiv:
		return Value{F: floorDiv(t, f, g)}
	case ir.SFmod, ir.SRemainder:
		m := T(fmod(f, g))
		if fn == ir.SRemainder && m == m {
			if m == 0 {
				m = T(math.Copysign(0, g))
			} else if math.Signbit(float64(m)) != math.Signbit(g) {
				m += y
			}
		}
		return num(m)
	case ir.SCopySign:
		if math.Signbit(f) != math.Signbit(g) {
			x = -x
		}
		return num(x)
	case ir.SMaximum, ir.SMinimum:
		greater := x > y || x == y && !math.Signbit(f)
		switch {
		case !ordered:
			return Value{F: math.NaN()}
		case greater == (fn == ir.SMaximum):
			return num(x)
		case x == y && math.Signbit(f) == math.Signbit(g):
			return num(x)
		}
		return num(y)
	case ir.SEqual:
		return Value{B: x == y}
	case ir.SNotEqual:
		return Value{B: !(x == y)}
	case ir.SLess:
		return Value{B: x < y}
	case ir.SLessEqual:
		return Value{B: x <= y}
	case ir.SGreater:
		return Value{B: x > y}
	case ir.SGreaterEqual:
		return Value{B: x >= y}
	case ir.SMulAdd:
		return Value{F: fma(t, f, g, float64(z))}
	}
	if f2 := inexact2[fn]; f2 != nil {
		return num(T(f2(f, g)))
	}
	return num(T(inexact[fn].f(f)))
}

// floorDiv rounds the exact quotient down.
func floorDiv(t ir.DType, x, y float64) float64 {
	switch {
	case x == x && y == 0:
		return x / y
	case x != x || y != y || math.IsInf(x, 0):
		return math.NaN()
	case x == 0:
		return x / y
	case math.IsInf(y, 0):
		if math.Signbit(x) != math.Signbit(y) {
			return -1
		}
		return 0
	}
	q := new(big.Rat).Quo(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y))
	n, rest := new(big.Int).QuoRem(q.Num(), q.Denom(), new(big.Int))
	if n.BitLen() > 53 {
		return roundTo(t, q, false, false)
	}
	if rest.Sign() < 0 {
		n.Sub(n, big.NewInt(1))
	}
	return roundTo(t, new(big.Rat).SetInt(n), false, false)
}

// fmod takes the remainder of exact integers.
func fmod(x, y float64) float64 {
	switch {
	case x != x || y != y || math.IsInf(x, 0) || y == 0:
		return math.NaN()
	case math.IsInf(y, 0) || x == 0:
		return x
	}
	a, b := new(big.Rat).SetFloat64(math.Abs(x)), new(big.Rat).SetFloat64(math.Abs(y))
	q := new(big.Rat).Quo(a, b)
	n := new(big.Int).Quo(q.Num(), q.Denom())
	r, _ := a.Sub(a, b.Mul(b, new(big.Rat).SetInt(n))).Float64()
	return math.Copysign(r, x)
}

// fma uses exact arithmetic for finite operands.
func fma(t ir.DType, x, y, z float64) float64 {
	switch {
	case x != x || y != y || math.IsInf(x, 0) || math.IsInf(y, 0):
		return float64(x*y) + z
	case z != z || math.IsInf(z, 0):
		return z
	}
	rat := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	r := new(big.Rat).Mul(rat(x), rat(y))
	r.Add(r, rat(z))
	p := math.Signbit(x) != math.Signbit(y)
	exactZero := (x == 0 || y == 0) && z == 0
	return roundTo(t, r, exactZero && p && math.Signbit(z), false)
}

package kerneltest

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// How errors are carried on. Values with one right result have error 0. One
// begins where the rules leave a choice (a function that is good to some ulps, the
// order and the fused multiplications of a contraction) and then is bounded,
// first order and all, through each instruction: results that depend on an
// uncertain operand may also round to a neighbour. Where a small error may
// make a great difference (a comparison of values as near as their errors, an
// index, an overflow) the result is open: its error is infinite.

var open = math.Inf(1)

// signed returns the error e of a result r of an uncertain operand, not 0 where
// the result is: its sign may be the other.
func signed(t ir.DType, r, e float64) float64 {
	if r == 0 {
		return max(e, unit(t, 0))
	}
	return e
}

// settle returns the error of a float result r of type t, given that of its
// exact value: open where it may have overflowed.
func settle(t ir.DType, r, e float64) float64 {
	if !(e < open) {
		return open
	}
	if e == 0 {
		return signed(t, r, e)
	}
	e += unit(t, math.Abs(r)+e)
	if !(math.Abs(r)+e <= floatFormats[t].max) {
		return open
	}
	return e
}

// applyError returns the error of r = fn(a…), whose operands have type t.
func applyError(fn ir.ScalarOp, t ir.DType, a []Value, r Value) float64 {
	if fn == ir.SWhere {
		if a[0].Err > 0 {
			return open
		}
		return r.Err // that of the operand taken
	}
	most, nan, inf := 0.0, false, false
	for _, x := range a {
		most = max(most, x.Err)
		nan = nan || x.F != x.F
		inf = inf || math.IsInf(x.F, 0)
	}
	switch {
	case t.IsFloat() && Ulps(fn) > 0:
		return inexactError(fn, t, a, r)
	case most == 0:
		return 0
	case most == open || !t.IsFloat():
		return open
	case r.F != r.F && nan:
		return 0
	}
	x, y := a[0], a[len(a)-1]
	switch fn {
	case ir.SNeg, ir.SAbs:
		return x.Err
	case ir.SCopySign:
		if y.Err > 0 && math.Abs(y.F) <= y.Err {
			return open
		}
		return x.Err
	case ir.SMaximum, ir.SMinimum:
		return most
	case ir.SEqual, ir.SNotEqual, ir.SLess, ir.SLessEqual, ir.SGreater, ir.SGreaterEqual:
		if nan || math.Abs(x.F-y.F) > x.Err+y.Err {
			return 0
		}
		return open
	case ir.SIsNaN, ir.SIsInf, ir.SIsFinite:
		return 0 // a value with an error is finite
	}
	if math.IsInf(r.F, 0) && inf && (fn == ir.SAdd || fn == ir.SSub) {
		return 0
	}
	if r.F != r.F || math.IsInf(r.F, 0) {
		return open
	}
	e := open
	switch fn {
	case ir.SAdd, ir.SSub:
		e = x.Err + y.Err
	case ir.SMul:
		e = productError(x, y)
	case ir.SMulAdd:
		e = productError(x, a[1]) + a[2].Err
	case ir.SDiv, ir.SRecip:
		if fn == ir.SRecip {
			x = Value{F: 1}
		}
		if least := math.Abs(y.F) - y.Err; least > 0 {
			e = (x.Err + math.Abs(r.F)*y.Err) / least
		}
	case ir.SSqrt, ir.SRound, ir.SFloor, ir.SCeil, ir.STrunc, ir.SSign:
		e = endsError(x, r, func(x float64) float64 { return Apply(fn, ir.F64, []Value{{F: x}}).F })
		if fn != ir.SSqrt {
			return signed(t, r.F, e)
		}
	}
	return settle(t, r.F, e)
}

// productError is the error of x·y before it is rounded.
func productError(x, y Value) float64 {
	e := x.Err * y.Err
	if y.Err > 0 {
		e += math.Abs(x.F) * y.Err
	}
	if x.Err > 0 {
		e += math.Abs(y.F) * x.Err
	}
	return e
}

// endsError is the error of r = f(x) for a monotone or convex f.
func endsError(x, r Value, f func(float64) float64) float64 {
	e := max(math.Abs(f(x.F-x.Err)-r.F), math.Abs(f(x.F+x.Err)-r.F))
	if e != e {
		return open
	}
	return e
}

// inexactError is applyError of a function that has a distance of its own. The
// definition that r was computed by is itself up to a unit of F32, and a few of
// F64, from the truth.
func inexactError(fn ir.ScalarOp, t ir.DType, a []Value, r Value) float64 {
	own := Ulps(fn) + 1
	if t == ir.F64 {
		own += 4
	}
	f, unary := inexact[fn]
	e := 0.0
	for _, x := range a {
		e = max(e, x.Err)
	}
	x := a[0]
	switch {
	case e == open || e > 0 && (!unary || f.bending == wild):
		return open
	case e == 0 && (r.F != r.F || x.F == 0 && unary && (r.F == 0 || r.F == 1)):
		return 0 // NaN, or an exact value at 0 or minus 0
	case e == 0 && math.IsInf(r.F, 0):
		if t == ir.F32 && unary && math.Abs(f.f(x.F)) < 2*math.MaxFloat32 {
			return open // where the greatest value is as good
		}
		return 0
	case r.F != r.F || math.IsInf(r.F, 0):
		return open
	case t == ir.F64 && math.Abs(x.F) > 1e300:
		return open // where package math reduces arguments of sines only roughly
	case t == ir.F64 && fn == ir.SPow && x.F != 0 && math.Abs(x.F) < leastNormal:
		return open // where it is wrong on some platforms
	case t == ir.F64 && fn == ir.SPow && x.F != 0 && !math.IsInf(x.F, 0): // a product of squares of squares of x
		own += 2*math.Abs(a[1].F) + 2*math.Abs(log(math.Abs(x.F)))
	case e > 0 && f.bending == gentle:
		e *= 1.13
	case e > 0:
		e = endsError(x, r, f.f)
	}
	e += own*unit(t, math.Abs(r.F)+e) + f.near
	if t == ir.F64 && f.near > 0 {
		e += 1e-13 - f.near
	}
	if t == ir.F64 && (fn == ir.SGelu || fn == ir.SGeluTanh) { // whose tails follow the error of what is taken of x first
		e += endsError(Value{F: x.F, Err: 4 * unit(t, x.F)}, r, f.f)
	}
	if !(math.Abs(r.F)+e <= floatFormats[t].max) {
		return open
	}
	return e
}

// castError returns the error of a converted value.
func castError(from, to ir.DType, overflow bool, x, r Value) float64 {
	switch {
	case x.Err == 0:
		return 0
	case x.Err == open || from.IsInt() || from == ir.Bool:
		return open
	}
	lo, hi := Cast(from, to, overflow, Value{F: x.F - x.Err}), Cast(from, to, overflow, Value{F: x.F + x.Err})
	switch {
	case to == ir.Bool:
		if math.Abs(x.F) > x.Err {
			return 0
		}
		return open
	case to.IsInt():
		least, greatest := bigInt(to, lo), bigInt(to, hi)
		if least.Cmp(greatest) == 0 {
			return 0
		}
		return open
	}
	e := max(math.Abs(lo.F-r.F), math.Abs(hi.F-r.F))
	if e != e {
		return open
	}
	return signed(to, r.F, e)
}

// reduceError returns the error of a reduction of values of type t: of sums
// and products, what the operands bring and what rounding makes different then.
func reduceError(op codegen.ReduceOp, t ir.DType, v []Value, r Value) float64 {
	most, total, size, relative := 0.0, 0.0, 0.0, 0.0
	nan := false
	for _, x := range v {
		most = max(most, x.Err)
		total += x.Err
		size += math.Abs(x.F) + x.Err
		nan = nan || x.F != x.F
		if least := math.Abs(x.F) - x.Err; x.Err > 0 && least > 0 {
			relative += x.Err / least
		} else if x.Err > 0 {
			relative = open
		}
	}
	switch {
	case most == 0:
		return 0
	case most == open || !t.IsFloat():
		return open
	case op == codegen.RMax || op == codegen.RMin:
		if nan {
			return 0
		}
		return most
	case op == codegen.RArgMax || op == codegen.RArgMin:
		return argError(op, v, int(r.I))
	case nan && r.F != r.F:
		return 0
	case r.F != r.F || math.IsInf(r.F, 0):
		return open
	}
	u := math.Ldexp(1, -floatFormats[t].prec)
	n := float64(len(v))
	if op == codegen.RSum {
		return settle(t, r.F, total+2*n*u*size)
	}
	if math.Abs(r.F) < 0x1p-100 { // some part may have underflowed
		return open
	}
	return settle(t, r.F, math.Abs(r.F)*math.Expm1(relative+2*n*u))
}

// argError says whether another element than the one chosen may be the extreme.
func argError(op codegen.ReduceOp, v []Value, at int) float64 {
	for i, x := range v {
		d := v[at].F - x.F
		if op == codegen.RArgMin {
			d = -d
		}
		if i != at && x.Err+v[at].Err > 0 && !(d > x.Err+v[at].Err) {
			return open
		}
	}
	return 0
}

package cudac

import (
	"strings"

	"github.com/sinter-ml/sinter/ir"
)

// The expressions of scalar functions: C++ operators and built-ins where they do
// what the operation rules ask, device functions elsewhere. In a pattern $1, $2
// and $3 stand for the operands, $T for their C++ type and $U for the unsigned
// type in which its arithmetic may wrap.

// patterns are how a function is written for f32, for f64, for integers and for
// bools; "" where it is not defined.
type patterns struct{ f32, f64, integer, boolean string }

// floats is a pair of device functions of one name.
func floats(name, args string) patterns {
	return patterns{f32: name + "_f32(" + args + ")", f64: name + "_f64(" + args + ")"}
}

// builtins is a pair of C++ built-ins.
func builtins(f32, f64 string) patterns {
	return patterns{f32: f32 + "($1)", f64: f64 + "($1)"}
}

// same is one pattern for both floats.
func same(float, integer, boolean string) patterns { return patterns{float, float, integer, boolean} }

// with adds a pattern for integers.
func (p patterns) with(integer string) patterns {
	p.integer = integer
	return p
}

var applied = map[ir.ScalarOp]patterns{
	ir.SExp:      floats("exp", "$1"),
	ir.SExpm1:    floats("expm1", "$1"),
	ir.SExp2:     floats("exp2", "$1"),
	ir.SLog:      floats("log", "$1"),
	ir.SLog2:     floats("log2", "$1"),
	ir.SLog10:    floats("log10", "$1"),
	ir.SLog1p:    floats("log1p", "$1"),
	ir.SSqrt:     builtins("__fsqrt_rn", "__dsqrt_rn"),
	ir.SRsqrt:    {f32: "1.0f / __fsqrt_rn($1)", f64: "1.0 / __dsqrt_rn($1)"},
	ir.SRecip:    {f32: "1.0f / $1", f64: "1.0 / $1"},
	ir.SSin:      floats("sin", "$1"),
	ir.SCos:      floats("cos", "$1"),
	ir.STan:      floats("tan", "$1"),
	ir.SAsin:     floats("asin", "$1"),
	ir.SAcos:     floats("acos", "$1"),
	ir.SAtan:     floats("atan", "$1"),
	ir.SSinh:     floats("sinh", "$1"),
	ir.SCosh:     floats("cosh", "$1"),
	ir.STanh:     floats("tanh", "$1"),
	ir.SAsinh:    floats("asinh", "$1"),
	ir.SAcosh:    floats("acosh", "$1"),
	ir.SAtanh:    floats("atanh", "$1"),
	ir.SErf:      floats("erf", "$1"),
	ir.SErfc:     floats("erfc", "$1"),
	ir.SErfinv:   floats("erfinv", "$1"),
	ir.SLgamma:   floats("lgamma", "$1"),
	ir.SDigamma:  floats("digamma", "$1"),
	ir.SRound:    builtins("rintf", "rint"),
	ir.SFloor:    builtins("floorf", "floor"),
	ir.SCeil:     builtins("ceilf", "ceil"),
	ir.STrunc:    builtins("truncf", "trunc"),
	ir.SFrac:     {f32: "$1 - truncf($1)", f64: "$1 - trunc($1)"},
	ir.SSigmoid:  floats("sigmoid", "$1"),
	ir.SSilu:     floats("silu", "$1"),
	ir.SGelu:     floats("gelu", "$1"),
	ir.SGeluTanh: floats("gelutanh", "$1"),
	ir.SSoftplus: floats("softplus", "$1"),

	ir.SAbs:    builtins("fabsf", "fabs").with("abs_int($1)"),
	ir.SNeg:    same("-$1", "($T)(0u - ($U)$1)", ""),
	ir.SSign:   floats("sign", "$1").with("sign_int($1)"),
	ir.SBitNot: {integer: "($T)~$1"},

	ir.SIsNaN:    same("$1 != $1", "", ""),
	ir.SIsInf:    floats("is_inf", "$1"),
	ir.SIsFinite: floats("is_finite", "$1"),
	ir.SNot:      {boolean: "!$1"},

	ir.SAdd:       same("$1 + $2", "($T)(($U)$1 + ($U)$2)", ""),
	ir.SSub:       same("$1 - $2", "($T)(($U)$1 - ($U)$2)", ""),
	ir.SMul:       same("$1 * $2", "($T)(($U)$1 * ($U)$2)", ""),
	ir.SDiv:       same("$1 / $2", "div_int($1, $2)", ""),
	ir.SFloorDiv:  {f32: "(float)floordiv_f64($1, $2)", f64: "floordiv_f64($1, $2)", integer: "floordiv_int($1, $2)"},
	ir.SRemainder: floats("remainder", "$1, $2").with("remainder_int($1, $2)"),
	ir.SFmod:      floats("fmod", "$1, $2").with("fmod_int($1, $2)"),
	ir.SPow:       floats("pow", "$1, $2").with("pow_int($1, $2)"),
	ir.SAtan2:     floats("atan2", "$1, $2"),
	ir.SHypot:     floats("hypot", "$1, $2"),
	ir.SCopySign:  floats("copysign", "$1, $2"),
	ir.SMaximum:   floats("max", "$1, $2").with("$1 > $2 ? $1 : $2"),
	ir.SMinimum:   floats("min", "$1, $2").with("$1 < $2 ? $1 : $2"),
	ir.SBitAnd:    {integer: "($T)($1 & $2)"},
	ir.SBitOr:     {integer: "($T)($1 | $2)"},
	ir.SBitXor:    {integer: "($T)($1 ^ $2)"},
	ir.SShl:       {integer: "shl_int($1, $2)"},
	ir.SShr:       {integer: "shr_int($1, $2)"},

	ir.SEqual:        same("$1 == $2", "$1 == $2", "$1 == $2"),
	ir.SNotEqual:     same("$1 != $2", "$1 != $2", "$1 != $2"),
	ir.SLess:         same("$1 < $2", "$1 < $2", ""),
	ir.SLessEqual:    same("$1 <= $2", "$1 <= $2", ""),
	ir.SGreater:      same("$1 > $2", "$1 > $2", ""),
	ir.SGreaterEqual: same("$1 >= $2", "$1 >= $2", ""),

	ir.SAnd: {boolean: "$1 && $2"},
	ir.SOr:  {boolean: "$1 || $2"},
	ir.SXor: {boolean: "$1 != $2"},

	ir.SWhere:  same("$1 ? $2 : $3", "$1 ? $2 : $3", "$1 ? $2 : $3"),
	ir.SMulAdd: {f32: "__fmaf_rn($1, $2, $3)", f64: "__fma_rn($1, $2, $3)", integer: "($T)(($U)$1 * ($U)$2 + ($U)$3)"},
}

// pattern returns how fn is written for operands of register type t.
func pattern(fn ir.ScalarOp, t ir.DType) string {
	p := applied[fn]
	switch {
	case t == ir.F32:
		return p.f32
	case t == ir.F64:
		return p.f64
	case t == ir.Bool:
		return p.boolean
	}
	return p.integer
}

// applyExpr returns the C++ expression of a scalar function on operand
// expressions of register type t (of Where's last two, the first is a bool), and
// the names of the device functions it needs.
func applyExpr(fn ir.ScalarOp, t ir.DType, args []string) (string, []string) {
	text := pattern(fn, t)
	if text == "" {
		panic("cudac: " + fn.String() + " of " + t.String())
	}
	return fill(text, t, args)
}

// fill puts operands and types into a pattern and returns the device functions
// it names.
func fill(text string, t ir.DType, args []string) (string, []string) {
	var needs []string
	for _, id := range identifier.FindAllString(text, -1) {
		if _, ok := library()[id]; ok {
			needs = append(needs, id)
		}
	}
	pairs := []string{"$T", ctype(t), "$U", wrapType(t)}
	for i, a := range args {
		pairs = append(pairs, "$"+string(rune('1'+i)), operand(a))
	}
	expr := strings.NewReplacer(pairs...).Replace(text)
	if !atom.MatchString(expr) {
		expr = "(" + expr + ")"
	}
	return expr, needs
}

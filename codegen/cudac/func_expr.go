package cudac

import (
	"fmt"
	"regexp"

	"github.com/sinter-ml/sinter/ir"
)

// atom matches an expression that needs no parentheses: a name, a number or a
// call without calls or parentheses in it.
var atom = regexp.MustCompile(`^[\w.]+(\([^()]*\))?$`)

// operand puts an expression into parentheses where it needs them.
func operand(expr string) string {
	if atom.MatchString(expr) {
		return expr
	}
	return "(" + expr + ")"
}

// wrapType returns the C++ type in which integers of type t are added and
// multiplied: unsigned, since signed overflow is undefined, and at least an int
// wide, to which narrower ones would be promoted.
func wrapType(t ir.DType) string {
	if t.Size() == 8 {
		return "unsigned long long"
	}
	return "unsigned int"
}

// call returns the call of a device function.
func call(name, args string) (string, []string) {
	return name + "(" + args + ")", []string{name}
}

// convert returns a C++ cast of arg.
func convert(t ir.DType, arg string) string {
	return "(" + ctype(t) + ")" + operand(arg)
}

// loadExpr returns the register value of an element as stored: raw is of
// rawtype(dt).
func loadExpr(dt ir.DType, raw string) (string, []string) {
	switch dt {
	case ir.F16, ir.BF16, ir.F8E4M3, ir.F8E5M2:
		return call(dt.String()+"_to_f32", raw)
	case ir.Bool:
		return "(" + operand(raw) + " != 0)", nil
	}
	return raw, nil
}

// storeExpr returns the element, of rawtype(dt), that stores a register value: a
// float rounded once to nearest even. An infinity stays one in an 8-bit float
// that has them: what is stored has been cast, and casts saturate.
func storeExpr(dt ir.DType, value string) (string, []string) {
	switch dt {
	case ir.F16, ir.BF16:
		return call("f32_to_"+dt.String(), value)
	case ir.F8E4M3, ir.F8E5M2:
		return call("f32_to_"+dt.String(), value+", false")
	case ir.Bool:
		return "(unsigned char)" + operand(value), nil
	}
	return value, nil
}

// storeExactExpr is storeExpr of a value that dt holds, so that nothing is rounded
// again: of a bf16 the upper half of the register, which costs nothing after the
// cast that made it.
func storeExactExpr(dt ir.DType, value string) (string, []string) {
	if dt == ir.BF16 {
		return "(unsigned short)(__float_as_uint(" + value + ") >> 16)", nil
	}
	return storeExpr(dt, value)
}

// castExpr returns the cast of a register value from one dtype to another,
// rounded once: to a 16-bit or 8-bit float within the F32 register. overflow says
// that what is too large for an 8-bit float becomes NaN or infinite.
func castExpr(from, to ir.DType, overflow bool, arg string) (string, []string) {
	source := from.Compute()
	switch {
	case from == to, source == to:
		return arg, nil // rounded already
	case to == ir.Bool:
		return "(" + operand(arg) + " != 0)", nil
	case to == ir.F64, to == ir.F32:
		return convert(to, arg), nil
	case to.IsInt() && source.IsFloat():
		return floatToInt(source, to, arg)
	case to.IsInt():
		return convert(to, arg), nil
	}
	narrow, needs := narrowExpr(source, arg)
	if to.IsFloat8() {
		narrow += fmt.Sprintf(", %t", !overflow)
	}
	raw, stored := call("f32_to_"+to.String(), narrow)
	value, loaded := loadExpr(to, raw)
	return value, append(append(needs, stored...), loaded...)
}

// narrowExpr returns an F32 from which a 16-bit or 8-bit float may be rounded:
// the value where F32 holds all of its type, else the value rounded to odd.
func narrowExpr(source ir.DType, arg string) (string, []string) {
	switch source {
	case ir.F32:
		return arg, nil
	case ir.F64, ir.I64, ir.U64, ir.I32, ir.U32:
		return call("odd_"+source.String(), arg)
	}
	return convert(ir.F32, arg), nil
}

// floatToInt truncates and saturates, in 32 bits for what is narrower.
func floatToInt(source, to ir.DType, arg string) (string, []string) {
	wide := to
	if to.Size() < 4 {
		wide = ir.I32
	}
	expr, needs := call(source.String()+"_to_"+wide.String(), arg)
	if wide != to {
		least, greatest := to.Limits()
		expr = fmt.Sprintf("(%s)max(%d, min(%s, %d))", ctype(to), least, expr, greatest)
	}
	return expr, needs
}

// bitcastExpr returns the register value of dtype to whose stored bits are those
// of a register value of dtype from; both have one size and neither is Bool.
func bitcastExpr(from, to ir.DType, arg string) (string, []string) {
	raw, needs := storeExpr(from, arg)
	switch from {
	case ir.F64:
		raw, _ = call("__double_as_longlong", arg)
	case ir.F32:
		raw, _ = call("__float_as_int", arg)
	}
	var more []string
	switch to {
	case ir.F64:
		raw, _ = call("__longlong_as_double", convert(ir.I64, raw))
	case ir.F32:
		raw, _ = call("__int_as_float", convert(ir.I32, raw))
	case ir.F16, ir.BF16:
		raw, more = loadExpr(to, convert(ir.U16, raw))
	case ir.F8E4M3, ir.F8E5M2:
		raw, more = loadExpr(to, convert(ir.U8, raw))
	default:
		raw = convert(to, raw)
	}
	return raw, append(needs, more...)
}

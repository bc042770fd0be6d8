package cudac

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sinter-ml/sinter/ir"
)

// ctype returns the C++ type of a register of type t.
func ctype(t ir.DType) string {
	switch t {
	case ir.F64:
		return "double"
	case ir.F32:
		return "float"
	case ir.Bool:
		return "bool"
	}
	return rawtype(t)
}

// rawtype returns the C++ type of an element in memory. Floats that have no type
// of their own without headers lie in unsigned integers.
func rawtype(t ir.DType) string {
	switch t {
	case ir.F64:
		return "double"
	case ir.F32:
		return "float"
	case ir.F16, ir.BF16, ir.U16:
		return "unsigned short"
	case ir.F8E4M3, ir.F8E5M2, ir.Bool, ir.U8:
		return "unsigned char"
	case ir.I64:
		return "long long"
	case ir.U64:
		return "unsigned long long"
	case ir.I32:
		return "int"
	case ir.U32:
		return "unsigned int"
	case ir.I16:
		return "short"
	case ir.I8:
		return "signed char"
	}
	panic(fmt.Sprintf("no C++ type of %v", t))
}

// literal writes a constant of register type t, given in the form of ir.Scalar.
func literal(t ir.DType, bits uint64) string {
	switch t {
	case ir.F64:
		x := math.Float64frombits(bits)
		if x-x != 0 {
			return fmt.Sprintf("__longlong_as_double(0x%016xll)", bits)
		}
		return decimal(strconv.FormatFloat(x, 'g', -1, 64))
	case ir.F32:
		x := math.Float32frombits(uint32(bits))
		if x-x != 0 {
			return fmt.Sprintf("__int_as_float(0x%08x)", uint32(bits))
		}
		return decimal(strconv.FormatFloat(float64(x), 'g', -1, 32)) + "f"
	case ir.Bool:
		return strconv.FormatBool(bits != 0)
	case ir.U64:
		return fmt.Sprintf("%dull", bits)
	case ir.I64:
		if bits == 1<<63 {
			return "(-9223372036854775807ll - 1)"
		}
		return fmt.Sprintf("%dll", int64(bits))
	case ir.U32:
		return fmt.Sprintf("%du", uint32(bits))
	case ir.I32:
		if int32(bits) == math.MinInt32 {
			return "(-2147483647 - 1)"
		}
		return fmt.Sprint(int32(bits))
	}
	return fmt.Sprintf("(%s)%d", ctype(t), int64(bits))
}

// decimal makes a number one of C++: with a point or an exponent.
func decimal(s string) string {
	for _, c := range s {
		if c == '.' || c == 'e' {
			return s
		}
	}
	return s + ".0"
}

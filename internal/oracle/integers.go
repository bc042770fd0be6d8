package oracle

import "github.com/sinter-ml/sinter/ir"

// Integers are computed in 64 bits and wrapped to their width; what depends on
// the sign looks at the dtype.

func unaryInt(kind ir.Kind, d ir.DType, v int64) int64 {
	switch kind {
	case ir.Abs:
		if lessInt(d, v, 0) {
			return -v
		}
		return v
	case ir.Neg:
		return -v
	case ir.Square:
		return v * v
	case ir.BitwiseNot:
		return ^v
	}
	switch { // Sign
	case v == 0:
		return 0
	case lessInt(d, v, 0):
		return -1
	}
	return 1
}

// lessInt compares two integers of a dtype.
func lessInt(d ir.DType, a, b int64) bool {
	if d.IsUnsigned() {
		return uint64(a) < uint64(b)
	}
	return a < b
}

// binaryInt are the kinds of two integers.
var binaryInt = map[ir.Kind]func(d ir.DType, a, b int64) int64{
	ir.Add: func(_ ir.DType, a, b int64) int64 { return a + b },
	ir.Sub: func(_ ir.DType, a, b int64) int64 { return a - b },
	ir.Mul: func(_ ir.DType, a, b int64) int64 { return a * b },
	ir.Pow: powInt,
	ir.Div: func(d ir.DType, a, b int64) int64 { q, _ := divide(d, a, b); return q },
	ir.Fmod: func(d ir.DType, a, b int64) int64 {
		_, r := divide(d, a, b)
		return r
	},
	ir.FloorDiv: func(d ir.DType, a, b int64) int64 {
		q, r := divide(d, a, b)
		if r != 0 && lessInt(d, r, 0) != lessInt(d, b, 0) {
			return q - 1
		}
		return q
	},
	ir.Remainder: func(d ir.DType, a, b int64) int64 {
		_, r := divide(d, a, b)
		if r != 0 && lessInt(d, r, 0) != lessInt(d, b, 0) {
			return r + b
		}
		return r
	},
	ir.Maximum: func(d ir.DType, a, b int64) int64 {
		if lessInt(d, a, b) {
			return b
		}
		return a
	},
	ir.Minimum: func(d ir.DType, a, b int64) int64 {
		if lessInt(d, b, a) {
			return b
		}
		return a
	},
	ir.BitwiseAnd: func(_ ir.DType, a, b int64) int64 { return a & b },
	ir.BitwiseOr:  func(_ ir.DType, a, b int64) int64 { return a | b },
	ir.BitwiseXor: func(_ ir.DType, a, b int64) int64 { return a ^ b },
	ir.ShiftLeft: func(d ir.DType, a, b int64) int64 {
		if !isShift(d, b) {
			return 0
		}
		return a << b
	},
	ir.ShiftRight: func(d ir.DType, a, b int64) int64 {
		switch {
		case isShift(d, b) && d.IsSigned():
			return a >> b
		case isShift(d, b):
			return int64(uint64(a) >> b)
		case lessInt(d, a, 0):
			return -1
		}
		return 0
	},
}

// divide truncates; x/0 and x%0 are 0, and the least integer over −1 wraps.
func divide(d ir.DType, a, b int64) (q, r int64) {
	switch {
	case b == 0:
		return 0, 0
	case d.IsUnsigned():
		return int64(uint64(a) / uint64(b)), int64(uint64(a) % uint64(b))
	}
	return a / b, a % b
}

// isShift reports whether b is a count from 0 to below the width.
func isShift(d ir.DType, b int64) bool { return uint64(b) < uint64(8*d.Size()) }

// powInt multiplies repeatedly. With a negative exponent base 1 gives 1, base
// −1 gives ±1, every other base 0.
func powInt(d ir.DType, a, b int64) int64 {
	if lessInt(d, b, 0) {
		switch a {
		case 1:
			return 1
		case -1:
			return 1 - 2*(b&1)
		}
		return 0
	}
	r := int64(1)
	for n := uint64(b); n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= a
		}
		a *= a
	}
	return r
}

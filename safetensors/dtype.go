package safetensors

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// DType is an element type of the format. The order is that of the reference
// implementation, by alignment, and decides where [Write] puts a tensor.
type DType uint8

// The element types a file may hold.
const (
	Bool DType = iota + 1
	F4
	F6E2M3
	F6E3M2
	U8
	I8
	F8E5M2
	F8E4M3
	F8E8M0
	F8E4M3FNUZ
	F8E5M2FNUZ
	I16
	U16
	F16
	BF16
	I32
	U32
	F32
	C64
	F64
	I64
	U64
	numDTypes
)

// dtypeInfo holds the name in the header, the bits an element takes, and the
// tensor element type of the same layout, ir.Invalid where there is none.
var dtypeInfo = [numDTypes]struct {
	name string
	bits uint64
	ir   ir.DType
}{
	Bool:       {"BOOL", 8, ir.Bool},
	F4:         {"F4", 4, ir.Invalid},
	F6E2M3:     {"F6_E2M3", 6, ir.Invalid},
	F6E3M2:     {"F6_E3M2", 6, ir.Invalid},
	U8:         {"U8", 8, ir.U8},
	I8:         {"I8", 8, ir.I8},
	F8E5M2:     {"F8_E5M2", 8, ir.F8E5M2},
	F8E4M3:     {"F8_E4M3", 8, ir.F8E4M3},
	F8E8M0:     {"F8_E8M0", 8, ir.Invalid},
	F8E4M3FNUZ: {"F8_E4M3FNUZ", 8, ir.Invalid},
	F8E5M2FNUZ: {"F8_E5M2FNUZ", 8, ir.Invalid},
	I16:        {"I16", 16, ir.I16},
	U16:        {"U16", 16, ir.U16},
	F16:        {"F16", 16, ir.F16},
	BF16:       {"BF16", 16, ir.BF16},
	I32:        {"I32", 32, ir.I32},
	U32:        {"U32", 32, ir.U32},
	F32:        {"F32", 32, ir.F32},
	C64:        {"C64", 64, ir.Invalid},
	F64:        {"F64", 64, ir.F64},
	I64:        {"I64", 64, ir.I64},
	U64:        {"U64", 64, ir.U64},
}

// String returns the name used in the header, such as "BF16".
func (d DType) String() string {
	if d == 0 || d >= numDTypes {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypeInfo[d].name
}

// IR returns the tensor element type with the same layout, and whether there
// is one.
func (d DType) IR() (ir.DType, bool) {
	if d >= numDTypes {
		return ir.Invalid, false
	}
	t := dtypeInfo[d].ir
	return t, t != ir.Invalid
}

// parseDType returns the type with the given header name.
func parseDType(name string) (DType, bool) {
	for d := DType(1); d < numDTypes; d++ {
		if dtypeInfo[d].name == name {
			return d, true
		}
	}
	return 0, false
}

// fromIR returns the format's type for a tensor element type.
func fromIR(t ir.DType) (DType, bool) {
	for d := DType(1); d < numDTypes; d++ {
		if t != ir.Invalid && dtypeInfo[d].ir == t {
			return d, true
		}
	}
	return 0, false
}

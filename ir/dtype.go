package ir

import "fmt"

// DType is the element type of a tensor.
type DType uint8

// The element types. A Bool is stored as one byte, 0 or 1. F8E4M3 (the variant
// without infinities, E4M3FN) and F8E5M2 are storage: they can be moved and
// cast, and nothing else.
const (
	Invalid DType = iota
	F64
	F32
	F16
	BF16
	I64
	I32
	I16
	I8
	U64
	U32
	U16
	U8
	Bool
	F8E4M3
	F8E5M2
	numDTypes
)

// family is what sort of number a dtype holds.
type family uint8

const (
	noNumber family = iota
	float
	signed
	unsigned
	smallFloat // storage only
)

// dtypeInfo is the one table every dtype question is answered from.
var dtypeInfo = [numDTypes]struct {
	name    string
	size    int
	family  family
	compute DType // what arithmetic is carried out in, Invalid: the type itself
}{
	Invalid: {name: "invalid"},
	F64:     {name: "f64", size: 8, family: float},
	F32:     {name: "f32", size: 4, family: float},
	F16:     {name: "f16", size: 2, family: float, compute: F32},
	BF16:    {name: "bf16", size: 2, family: float, compute: F32},
	I64:     {name: "i64", size: 8, family: signed},
	I32:     {name: "i32", size: 4, family: signed},
	I16:     {name: "i16", size: 2, family: signed},
	I8:      {name: "i8", size: 1, family: signed},
	U64:     {name: "u64", size: 8, family: unsigned},
	U32:     {name: "u32", size: 4, family: unsigned},
	U16:     {name: "u16", size: 2, family: unsigned},
	U8:      {name: "u8", size: 1, family: unsigned},
	Bool:    {name: "bool", size: 1},
	F8E4M3:  {name: "f8e4m3", size: 1, family: smallFloat, compute: F32},
	F8E5M2:  {name: "f8e5m2", size: 1, family: smallFloat, compute: F32},
}

// Valid reports whether d is one of the element types.
func (d DType) Valid() bool { return d > Invalid && d < numDTypes }

// String returns the name used in the text form, such as "f32".
func (d DType) String() string {
	if d >= numDTypes {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypeInfo[d].name
}

// Size returns the bytes one element takes in memory.
func (d DType) Size() int {
	if d >= numDTypes {
		return 0
	}
	return dtypeInfo[d].size
}

func (d DType) is(f family) bool { return d < numDTypes && dtypeInfo[d].family == f }

// IsFloat reports whether d is a floating-point type with arithmetic: F64, F32,
// F16 or BF16.
func (d DType) IsFloat() bool { return d.is(float) }

// IsFloat8 reports whether d is one of the 8-bit floats, which are storage.
func (d DType) IsFloat8() bool { return d.is(smallFloat) }

// IsHalf reports whether d is F16 or BF16.
func (d DType) IsHalf() bool { return d == F16 || d == BF16 }

// IsInt reports whether d is an integer type, signed or not; Bool is not.
func (d DType) IsInt() bool { return d.is(signed) || d.is(unsigned) }

// IsSigned reports whether d is a signed integer type.
func (d DType) IsSigned() bool { return d.is(signed) }

// IsUnsigned reports whether d is an unsigned integer type.
func (d DType) IsUnsigned() bool { return d.is(unsigned) }

// Compute returns the type arithmetic on d is carried out in, which is also
// the type of its scalars: 16-bit and 8-bit floats compute in F32, every other
// type in itself.
func (d DType) Compute() DType {
	if d < numDTypes && dtypeInfo[d].compute != Invalid {
		return dtypeInfo[d].compute
	}
	return d
}

// Limits returns the least and greatest value of a signed integer type, and 0
// and the greatest value, as bits, of an unsigned one.
func (d DType) Limits() (least int64, greatest uint64) {
	size := d.Size() * 8
	switch {
	case d.IsSigned():
		return -1 << (size - 1), 1<<(size-1) - 1
	case d.IsUnsigned():
		return 0, ^uint64(0) >> (64 - size)
	}
	return 0, 0
}

// Wrap keeps the low bits of an integer of type d and extends them to 64 bits,
// by the sign for a signed type, by zeros for an unsigned one: the canonical
// form of an integer in a scalar or a register. Other types are left alone.
func (d DType) Wrap(v int64) int64 {
	shift := 64 - 8*d.Size()
	switch {
	case d.IsSigned():
		return v << shift >> shift
	case d.IsUnsigned():
		return int64(uint64(v) << shift >> shift)
	}
	return v
}

// ParseDType returns the dtype with the given name.
func ParseDType(name string) (DType, bool) {
	for d := Invalid + 1; d < numDTypes; d++ {
		if dtypeInfo[d].name == name {
			return d, true
		}
	}
	return Invalid, false
}

// DTypes returns every element type, in order.
func DTypes() []DType {
	out := make([]DType, 0, numDTypes-1)
	for d := Invalid + 1; d < numDTypes; d++ {
		out = append(out, d)
	}
	return out
}

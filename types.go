package sinter

import (
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// DType is the element type of a tensor.
type DType = ir.DType

// The element types. F8E4M3 and F8E5M2 are storage: they can be moved and cast,
// and nothing else.
const (
	F64    = ir.F64    // float64
	F32    = ir.F32    // float32
	F16    = ir.F16    // Float16
	BF16   = ir.BF16   // BFloat16
	I64    = ir.I64    // int64
	I32    = ir.I32    // int32
	I16    = ir.I16    // int16
	I8     = ir.I8     // int8
	U64    = ir.U64    // uint64
	U32    = ir.U32    // uint32
	U16    = ir.U16    // uint16
	U8     = ir.U8     // uint8
	Bool   = ir.Bool   // bool
	F8E4M3 = ir.F8E4M3 // Float8E4M3
	F8E5M2 = ir.F8E5M2 // Float8E5M2
)

type (
	// BFloat16 is the 16-bit brain float: the upper half of an IEEE float32.
	BFloat16 = ir.BFloat16
	// Float16 is IEEE 754's binary16.
	Float16 = ir.Float16
	// Float8E4M3 is an 8-bit float without infinities, greatest value 448.
	Float8E4M3 = ir.Float8E4M3
	// Float8E5M2 is an 8-bit float with infinities, greatest value 57344.
	Float8E5M2 = ir.Float8E5M2
)

// ToBFloat16 rounds to the nearest BFloat16, ties to even.
func ToBFloat16(f float32) BFloat16 { return ir.BFloat16FromFloat32(f) }

// ToFloat16 rounds to the nearest Float16, ties to even.
func ToFloat16(f float32) Float16 { return ir.Float16FromFloat32(f) }

// Elem is a Go type that tensors can be made from and read into.
type Elem interface {
	float64 | float32 | Float16 | BFloat16 |
		int64 | int32 | int16 | int8 | uint64 | uint32 | uint16 | uint8 |
		bool | Float8E4M3 | Float8E5M2
}

// DTypeOf returns the dtype of tensors made from Ts.
func DTypeOf[T Elem]() DType {
	var zero T
	switch any(zero).(type) {
	case float64:
		return F64
	case float32:
		return F32
	case Float16:
		return F16
	case BFloat16:
		return BF16
	case int64:
		return I64
	case int32:
		return I32
	case int16:
		return I16
	case int8:
		return I8
	case uint64:
		return U64
	case uint32:
		return U32
	case uint16:
		return U16
	case uint8:
		return U8
	case Float8E4M3:
		return F8E4M3
	case Float8E5M2:
		return F8E5M2
	}
	return Bool
}

// Shape is the length of a tensor along each axis.
type Shape = ir.Shape

// The errors of operations and devices; use errors.As or errors.AsType.
type (
	// OpError is the failure of one operation: it prints the operation, its
	// shapes and the caller's file:line, and wraps the cause.
	OpError = ir.OpError
	// ShapeError says that shapes, axes or ranks do not fit.
	ShapeError = ir.ShapeError
	// DTypeError says that an operation is not defined for a dtype.
	DTypeError = ir.DTypeError
	// IndexError says that an index lies outside its axis.
	IndexError = ir.IndexError
	// ArgumentError says that an attribute or scalar has no meaning.
	ArgumentError = ir.ArgumentError
	// ReleasedError says that a tensor was used after Release or the end of
	// its scope.
	ReleasedError = fusion.ReleasedError
	// ClosedError says that a device or stream was used after Close.
	ClosedError = fusion.ClosedError
	// CompileError says that a kernel could not be compiled.
	CompileError = backend.CompileError
	// LaunchError says that a kernel failed to run.
	LaunchError = backend.LaunchError
	// CaptureError says why a capture was refused or failed.
	CaptureError = backend.CaptureError
	// OutOfMemoryError says that memory ran out after all that is free was
	// given back.
	OutOfMemoryError = backend.OutOfMemoryError
	// DeviceError says that a device is closed, missing or broken.
	DeviceError = backend.DeviceError
	// NotLinkedError says that [Open] needs a backend that the program does not
	// import, and which package that is.
	NotLinkedError = backend.NotLinkedError
)

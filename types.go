package sinter

import (
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// DType is the element type of a tensor.
type DType = ir.DType

// The element types.
const (
	F32  = ir.F32  // float32
	BF16 = ir.BF16 // BFloat16
	I64  = ir.I64  // int64
	Bool = ir.Bool // bool
)

// BFloat16 is the 16-bit brain float: the upper half of an IEEE float32.
type BFloat16 = ir.BFloat16

// ToBFloat16 rounds to the nearest BFloat16, ties to even.
func ToBFloat16(f float32) BFloat16 { return ir.BFloat16FromFloat32(f) }

// Elem is a Go type that tensors can be made from and read into.
type Elem interface {
	float32 | BFloat16 | int64 | bool
}

// DTypeOf returns the dtype of tensors made from Ts.
func DTypeOf[T Elem]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return F32
	case BFloat16:
		return BF16
	case int64:
		return I64
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
)

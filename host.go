package sinter

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// From makes a tensor of the given shape from host data in row-major order,
// which is copied. The length of data must be the product of shape.
func From[T Elem](at Placer, data []T, shape ...int) *Tensor {
	return from(place(at), DTypeOf[T](), shape, len(data), bytesOf(data), caller(2))
}

// FromBytes makes a tensor from little-endian host data, which is copied.
func FromBytes(at Placer, dtype DType, data []byte, shape ...int) *Tensor {
	n := 0
	if dtype.Size() > 0 {
		n = len(data) / dtype.Size()
	}
	return from(place(at), dtype, shape, n, data, caller(2))
}

// Scalar makes a rank-0 tensor.
func Scalar[T Elem](at Placer, v T) *Tensor {
	data := []T{v}
	return from(place(at), DTypeOf[T](), nil, 1, bytesOf(data), caller(2))
}

func from(s *fusion.Stream, dtype DType, shape []int, n int, data []byte, pc uintptr) *Tensor {
	if s == nil {
		return orphan("From", errNoPlace)
	}
	sh := append(Shape{}, shape...)
	err := checkShape(dtype, sh)
	if err == nil {
		switch want := sh.NumElements(); {
		case n == want && len(data) == want*dtype.Size():
		case len(data) != n*dtype.Size():
			err = &ShapeError{Msg: fmt.Sprintf("%d bytes for shape %v of %v, which takes %d", len(data), sh, dtype, want*dtype.Size())}
		default:
			err = &ShapeError{Msg: fmt.Sprintf("%d elements for shape %v, which has %d", n, sh, want)}
		}
	}
	if err == nil && dtype == Bool && slices.ContainsFunc(data, func(b byte) bool { return b > 1 }) {
		err = &ArgumentError{Msg: "a bool is the byte 0 or 1"}
	}
	if err != nil {
		return &Tensor{v: s.Fail("From", pc, sh, dtype, err)}
	}
	return &Tensor{v: s.FromBytes(dtype, sh, data, pc)}
}

// checkShape returns why there is no tensor of a dtype and shape.
func checkShape(dtype DType, shape Shape) error {
	op := ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{Shape: shape, DType: dtype}, Scalars: []ir.Scalar{{DType: dtype.Compute()}}}
	err := op.Check()
	if e, ok := err.(*OpError); ok {
		return e.Err
	}
	return err
}

// Read returns the elements of t in row-major order. It computes what t needs.
// T must be t's dtype: nothing is converted.
func Read[T Elem](ctx context.Context, t *Tensor) ([]T, error) {
	v := t.val()
	if err := readable[T](v); err != nil {
		return nil, err
	}
	var out []T
	err := v.ReadNew(ctx, func() []byte {
		out = make([]T, v.Shape().NumElements())
		return bytesOf(out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// readable returns why v cannot be read as Ts. A value that carries an error
// can: reading returns it.
func readable[T Elem](v *fusion.Value) error {
	switch {
	case v == nilValue:
		return v.ReadError(errNil)
	case v.Err() == nil && v.DType() != DTypeOf[T]():
		return v.ReadError(&DTypeError{Msg: fmt.Sprintf("tensor is %v, destination is %v; reading never converts", v.DType(), DTypeOf[T]())})
	}
	return nil
}

// ReadInto copies the elements of t to dst, whose length must fit exactly. In
// the steady state it allocates nothing.
func ReadInto[T Elem](ctx context.Context, t *Tensor, dst []T) error {
	v := t.val()
	if err := readable[T](v); err != nil {
		return err
	}
	if v.Err() == nil && v.Shape().NumElements() != len(dst) {
		return v.ReadError(&ShapeError{Msg: fmt.Sprintf("%d elements to read into %d", v.Shape().NumElements(), len(dst))})
	}
	return v.Read(ctx, bytesOf(dst))
}

// Item returns the element of a tensor that has exactly one.
func Item[T Elem](ctx context.Context, t *Tensor) (T, error) {
	var one [1]T
	err := ReadInto(ctx, t, one[:])
	return one[0], err
}

// ReadBytes returns the elements of t in row-major order, little endian.
func ReadBytes(ctx context.Context, t *Tensor) ([]byte, error) {
	v := t.val()
	if v == nilValue {
		return nil, v.ReadError(errNil)
	}
	var out []byte
	err := v.ReadNew(ctx, func() []byte {
		out = make([]byte, v.Shape().NumElements()*v.DType().Size())
		return out
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// bytesOf returns the memory of a slice. Hosts Go runs on that are not little
// endian are not supported.
func bytesOf[T Elem](data []T) []byte {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(data[0])))
}

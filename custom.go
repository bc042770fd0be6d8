package sinter

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// CustomOp is an operation of a user. It is recorded, planned, launched,
// captured and replayed like any other; nothing is fused into it but by a
// fuser of the user's own ([RegisterFuser]).
type CustomOp struct {
	// Name is what [Custom] calls it by. It is known to the whole process, once.
	Name string
	// Infer checks the operands, attributes and scalars of a call and returns
	// the shape and dtype of its one result. It must depend on nothing else. Its
	// errors are best a *ShapeError, *DTypeError or *ArgumentError.
	Infer func(o *ir.Operation) (Shape, DType, error)
	// Run holds the function that computes the result, by the name of the
	// backend, such as "cpu".
	Run map[string]HostFunc
}

// RegisterFuser adds a fuser to those of every device opened from now on: it is
// offered operations like the library's own and finishes what it accepted where
// its score is the best, ties going to the library's. Package fuser says what a
// fuser promises, fuser.HostBlock makes a block that is one call of a
// registered function. It returns an *ArgumentError when the name is taken.
func RegisterFuser(f fuser.Factory) error { return fuser.Register(f) }

// UnregisterFuser removes a registered fuser, and reports whether there was one.
// Open devices keep it.
func UnregisterFuser(name string) bool { return fuser.Unregister(name) }

// What a custom operation's function is given: see package backend.
type (
	// HostFunc computes the results of a call.
	HostFunc = backend.HostFunc
	// HostCall is one call, with its operands and results.
	HostCall = backend.HostCall
	// HostTensor is an operand or result in host memory.
	HostTensor = backend.HostTensor
)

// RegisterCustom makes an operation known. It returns an *ArgumentError when its
// name is taken or something is missing.
func RegisterCustom(op CustomOp) error {
	if len(op.Run) == 0 {
		return &ArgumentError{Msg: "a custom operation needs a function for a backend"}
	}
	for device, f := range op.Run { // before the name is taken
		if device == "" || f == nil {
			return &ArgumentError{Msg: fmt.Sprintf("a custom operation has no function for backend %q", device)}
		}
	}
	if err := ir.RegisterCustom(op.Name, op.Infer); err != nil {
		return err
	}
	var errs []error
	for device, f := range op.Run {
		errs = append(errs, backend.RegisterHost(device, op.Name, f))
	}
	return errors.Join(errs...)
}

// CustomAttrs are the attributes of a call of a custom operation. Another value
// is another plan, but for scalars.
type CustomAttrs struct {
	Ints    []int
	DType   DType
	Flag    bool
	Scalars []ir.Scalar // at most 64: ir.F32Scalar(x), ir.I64Scalar(n), …
}

// Custom records the operation registered under a name on at least one tensor.
func Custom(name string, attrs CustomAttrs, in ...*Tensor) *Tensor {
	return apply(ir.Operation{
		Kind:    ir.Custom,
		Attrs:   ir.Attrs{Name: name, Ints: slices.Clone(attrs.Ints), DType: attrs.DType, Flag: attrs.Flag},
		Scalars: slices.Clone(attrs.Scalars),
	}, in...)
}

// HostElems returns the elements of a custom operation's operand or result in
// row-major order: the memory itself if it is dense, as results are, else a
// copy. T must be its dtype, or the function panics.
func HostElems[T Elem](t *HostTensor) []T {
	if DTypeOf[T]() != t.DType {
		panic(&DTypeError{Msg: "elements of " + t.DType.String() + " asked for as " + DTypeOf[T]().String()})
	}
	n := t.Shape.NumElements()
	if n == 0 {
		return nil
	}
	all := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(t.Data))), len(t.Data)/t.DType.Size())
	if t.Dense() {
		return all[t.Offset : t.Offset+n]
	}
	out := make([]T, 0, n)
	index := make([]int, len(t.Shape))
	for at := t.Offset; len(out) < n; {
		out = append(out, all[at])
		for a := len(index) - 1; a >= 0; a-- {
			index[a]++
			at += t.Strides[a]
			if index[a] < t.Shape[a] {
				break
			}
			at -= index[a] * t.Strides[a]
			index[a] = 0
		}
	}
	return out
}

package sinter

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// Staging is host memory of a device for n elements, to be used again and
// again: tensors are made from it and read into it without going through the Go
// heap, and on devices with memory of their own while the program goes on
// (there it is pinned).
//
// The memory has one user at a time: the function given to Access, or copies on
// one stream. Whoever comes next waits for the copies before; a copy while
// Access runs is an error. A Staging may be used from several goroutines.
type Staging[T Elem] struct {
	st *fusion.Staging
	n  int
}

// NewStaging returns staging memory for n elements. It is an *OutOfMemoryError
// if there is none.
func NewStaging[T Elem](d *Device, n int) (*Staging[T], error) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	switch {
	case d.Runtime() == nil:
		return nil, errNoPlace
	case n < 0 || n > math.MaxInt/size:
		return nil, &ArgumentError{Msg: fmt.Sprintf("staging memory of %d elements", n)}
	}
	st, err := d.rt.NewStaging(n * size)
	if err != nil {
		return nil, err
	}
	out := &Staging[T]{st: st, n: n}
	// The memory has what it had before, which may be no bools.
	return out, out.Access(context.Background(), func(data []T) error { clear(data); return nil })
}

// Len returns how many elements there are.
func (st *Staging[T]) Len() int {
	if st == nil {
		return 0
	}
	return st.n
}

// memory returns what is below, or why there is none.
func (st *Staging[T]) memory() (*fusion.Staging, error) {
	if st == nil || st.st == nil {
		return nil, &ArgumentError{Msg: "staging memory is nil"}
	}
	return st.st, nil
}

// Access waits for the copies under way and runs f with the memory, to fill it
// or to look at what was downloaded. The slice ends with f.
func (st *Staging[T]) Access(ctx context.Context, f func(data []T) error) error {
	below, err := st.memory()
	switch {
	case err != nil:
		return err
	case f == nil:
		return errNoFunction
	}
	return below.Access(ctx, func(mem []byte) error {
		return f(unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), st.n))
	})
}

// Upload makes a tensor of the given shape from the first elements, in
// row-major order. The copy may still be under way when it returns; Access
// waits for it. A capture records the elements as they are now.
func (st *Staging[T]) Upload(at Placer, shape ...int) *Tensor {
	s := place(at)
	if s == nil {
		return orphan("Upload", errNoPlace)
	}
	return &Tensor{v: st.upload(s, append(Shape{}, shape...), caller(2))}
}

func (st *Staging[T]) upload(s *fusion.Stream, shape Shape, pc uintptr) *fusion.Value {
	dtype := DTypeOf[T]()
	below, err := st.memory()
	if err == nil {
		err = checkShape(dtype, shape)
	}
	if err == nil {
		if n := shape.NumElements(); n > st.n {
			err = &ShapeError{Msg: fmt.Sprintf("shape %v has %d elements, the staging memory %d", shape, n, st.n)}
		}
	}
	if err != nil {
		return s.Fail("Upload", pc, shape, dtype, err)
	}
	return s.FromStaging(dtype, shape, below, pc)
}

// UploadTo gives a Var the first elements, as [Write] does. The copy may still
// be under way when it returns; Access waits for it.
func (st *Staging[T]) UploadTo(v *Var) {
	s := v.stream()
	if s == nil {
		return // no device
	}
	op := ir.Operation{Kind: ir.Set, PC: caller(2)}
	if v.DType() != DTypeOf[T]() {
		v.fail(s, op, &DTypeError{Msg: fmt.Sprintf("Var is %v, staging memory is %v", v.DType(), DTypeOf[T]())})
		return
	}
	s.Effect(v.v, op, st.upload(s, v.v.Shape(), op.PC))
}

// Download computes what t needs and copies its elements to the first of the
// memory. The copy may still be under way when it returns; Access waits for it.
// T must be t's dtype.
func (st *Staging[T]) Download(ctx context.Context, t *Tensor) error {
	v := t.val()
	if err := readable[T](v); err != nil {
		return err
	}
	below, err := st.memory()
	if err != nil {
		return err
	}
	return below.Download(ctx, v)
}

// Close gives the memory back once the copies under way are done. It may be
// called again; while Access runs it is an error. A Staging that is dropped is
// closed by the collector.
func (st *Staging[T]) Close() error {
	below, err := st.memory()
	if err != nil {
		return err
	}
	return below.Close()
}

package fusion

import (
	"context"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// FromBytes stores a host tensor, little endian, and returns it. The data is
// copied.
func (s *Stream) FromBytes(dtype ir.DType, shape ir.Shape, data []byte, pc uintptr) *Value {
	return s.fromHost("From", dtype, shape, pc, func(dst *Storage) error { return s.put(pc, dst, data) })
}

// put copies host data to a new tensor; a capture takes note of it.
func (s *Stream) put(pc uintptr, dst *Storage, data []byte) error {
	if s.window != nil {
		s.window.hostData(pc, data)
	}
	return s.write(context.Background(), dst, data)
}

// fromHost stores a tensor whose elements write puts into its memory. Errors
// name the call.
func (s *Stream) fromHost(name string, dtype ir.DType, shape ir.Shape, pc uintptr, write func(dst *Storage) error) *Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	op := ir.Operation{PC: pc, Outputs: []ir.TensorRef{{Shape: shape, DType: dtype}}}
	fail := func(err error) *Value {
		return s.failed(&op, nil, &ir.OpError{Op: name, Shapes: []ir.Shape{shape}, PC: pc, Err: err})
	}
	if s.closed || s.rt.closed.Load() {
		return fail(&ClosedError{"stream"})
	}
	st, err := s.allocDraining(shape.NumElements() * dtype.Size())
	if err != nil {
		return fail(err)
	}
	if err := write(st); err != nil {
		st.letGo()
		return fail(err)
	}
	v := s.rt.newValue()
	v.home, v.pc, v.shape, v.dtype = s, pc, shape, dtype
	v.store(st, codegen.Contiguous(shape))
	if sc := s.innermost(); sc != nil {
		sc.add(v)
	}
	return v
}

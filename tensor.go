package sinter

import (
	"fmt"
	"runtime"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// Tensor is a value: an array of elements of one dtype that never changes. Its
// elements may not have been computed yet.
type Tensor struct {
	v  *fusion.Value
	on *fusion.Stream // the stream operations on it record on, when chosen by On
}

// ValueOf returns the runtime's value behind a tensor; for extenders.
func ValueOf(t *Tensor) *fusion.Value { return t.v }

// Wrap returns the tensor of a runtime's value; for extenders.
func Wrap(v *fusion.Value) *Tensor { return &Tensor{v: v} }

// Shape returns the length of each axis, as a copy.
func (t *Tensor) Shape() Shape { return t.v.Shape().Clone() }

// Rank returns the number of axes.
func (t *Tensor) Rank() int { return len(t.v.Shape()) }

// Dim returns the length of an axis; negative axes count from the end. It is 0
// for an axis the tensor does not have.
func (t *Tensor) Dim(axis int) int {
	s := t.v.Shape()
	if axis < 0 {
		axis += len(s)
	}
	if axis < 0 || axis >= len(s) {
		return 0
	}
	return s[axis]
}

// DType returns the element type.
func (t *Tensor) DType() DType { return t.v.DType() }

// Err returns the error the tensor carries, if it is known yet, without
// waiting.
func (t *Tensor) Err() error { return t.v.Err() }

// Named gives the tensor a name for dumps and returns it.
func (t *Tensor) Named(name string) *Tensor {
	t.v.SetName(name)
	return t
}

// Release ends the tensor at once: it can no longer be used, what only it
// needed is not computed, and its memory is free as soon as nothing queued
// reads it.
func (t *Tensor) Release() { t.v.Release(caller(2)) }

// On returns the same tensor, with operations on it recording on s.
func (t *Tensor) On(s *Stream) *Tensor { return &Tensor{v: t.v, on: s.s} }

// String describes the tensor without computing it.
func (t *Tensor) String() string {
	name := t.v.Name()
	if name != "" {
		name = " " + name
	}
	return fmt.Sprintf("%s%s%s (%s)", t.DType(), t.v.Shape(), name, t.v.State())
}

// caller returns the program counter of the skip-th caller, to be made into
// file:line when an error is printed.
func caller(skip int) uintptr {
	var pc [1]uintptr
	runtime.Callers(skip+1, pc[:])
	return pc[0]
}

// apply records an operation on tensors, on the stream of the first that has
// one. Methods of Tensor call it directly, so that the caller is two up.
func apply(op ir.Operation, in ...*Tensor) *Tensor {
	op.PC = caller(3)
	return record(op, in)
}

func record(op ir.Operation, in []*Tensor) *Tensor {
	var buf [4]*fusion.Value
	vals := buf[:0]
	for _, t := range in {
		if t == nil {
			vals = append(vals, nil)
			continue
		}
		if t.v.Runtime() == nil {
			return t // an orphan: the first cause
		}
		vals = append(vals, t.v)
	}
	s := homeOf(in)
	if s == nil {
		if rt := runtimeOf(in); rt != nil {
			return &Tensor{v: rt.Defer(op, vals...)}
		}
		return noOperands(op)
	}
	return &Tensor{v: s.Record(op, vals...)}
}

// streamOf returns the stream an operation on the tensors records on: that
// chosen by On, else the first operand's own, else the device's default.
func streamOf(in []*Tensor) *fusion.Stream {
	if s := homeOf(in); s != nil {
		return s
	}
	return runtimeOf(in).Default()
}

// runtimeOf returns the device the tensors are on, nil if there are none.
func runtimeOf(in []*Tensor) *fusion.Runtime {
	for _, t := range in {
		if t != nil {
			return t.v.Runtime()
		}
	}
	return nil
}

// homeOf returns the stream chosen by On, else the first operand's own, nil if
// all are leaves.
func homeOf(in []*Tensor) *fusion.Stream {
	for _, t := range in {
		if t != nil && t.on != nil {
			return t.on
		}
	}
	for _, t := range in {
		if t != nil {
			if s := t.v.Home(); s != nil {
				return s
			}
		}
	}
	return nil
}

// noOperands is the result of an operation on no tensor at all, such as Cat():
// it has no device, so it is a tensor that only carries its error.
func noOperands(op ir.Operation) *Tensor {
	return &Tensor{v: fusion.Orphan(op)}
}

// scalarOf returns c as a scalar operand of tensors of a dtype: Go scalars
// take the tensor's dtype.
func scalarOf(dtype DType, c float64) (ir.Scalar, error) {
	switch dtype.Compute() {
	case I64:
		if c != float64(int64(c)) {
			return ir.Scalar{}, &ArgumentError{Msg: fmt.Sprintf("scalar %v is not an integer, but the tensor is i64", c)}
		}
		return ir.I64Scalar(int64(c)), nil
	case Bool:
		if c != 0 && c != 1 {
			return ir.Scalar{}, &ArgumentError{Msg: fmt.Sprintf("scalar %v is neither 0 nor 1, but the tensor is bool", c)}
		}
		return ir.BoolScalar(c == 1), nil
	}
	return ir.F32Scalar(float32(c)), nil
}

// applyScalars is apply with scalars of t's dtype.
func (t *Tensor) applyScalars(op ir.Operation, c ...float64) *Tensor {
	op.PC = caller(3)
	for _, x := range c {
		s, err := scalarOf(t.DType(), x)
		if err != nil {
			return t.fail(op, err)
		}
		op.Scalars = append(op.Scalars, s)
	}
	return record(op, []*Tensor{t})
}

// fail returns the tensor of an operation on t that could not be recorded.
func (t *Tensor) fail(op ir.Operation, err error) *Tensor {
	s := streamOf([]*Tensor{t})
	return &Tensor{v: s.Fail(op.Kind.String(), op.PC, t.v.Shape(), t.DType(), err)}
}

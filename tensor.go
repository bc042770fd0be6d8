package sinter

import (
	"fmt"
	"math"
	"runtime"
	"slices"

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
func ValueOf(t *Tensor) *fusion.Value {
	if t == nil {
		return nil
	}
	return t.v
}

// Wrap returns the tensor of a runtime's value; for extenders.
func Wrap(v *fusion.Value) *Tensor { return &Tensor{v: v} }

// nilValue stands for the value of a tensor that is nil. It is on no device.
var nilValue = new(fusion.Value)

var errNil = &ArgumentError{Msg: "tensor is nil"}

// val returns t's value, that of no tensor if t is nil.
func (t *Tensor) val() *fusion.Value {
	if t == nil || t.v == nil {
		return nilValue
	}
	return t.v
}

// Shape returns the length of each axis, as a copy.
func (t *Tensor) Shape() Shape { return t.val().Shape().Clone() }

// Rank returns the number of axes.
func (t *Tensor) Rank() int { return len(t.val().Shape()) }

// Dim returns the length of an axis; negative axes count from the end. It is 0
// for an axis the tensor does not have.
func (t *Tensor) Dim(axis int) int {
	s := t.val().Shape()
	if axis < 0 {
		axis += len(s)
	}
	if axis < 0 || axis >= len(s) {
		return 0
	}
	return s[axis]
}

// DType returns the element type.
func (t *Tensor) DType() DType { return t.val().DType() }

// Err returns the error the tensor carries, if it is known yet, without
// waiting.
func (t *Tensor) Err() error {
	if v := t.val(); v != nilValue {
		return v.Err()
	}
	return errNil
}

// Named gives the tensor a name for dumps and returns it.
func (t *Tensor) Named(name string) *Tensor {
	if v := t.val(); v != nilValue {
		v.SetName(name)
	}
	return t
}

// Release ends the tensor at once: it can no longer be used, what only it
// needed is not computed, and its memory is free as soon as nothing queued
// reads it.
func (t *Tensor) Release() {
	if v := t.val(); v.Runtime() != nil {
		v.Release(caller(2))
	}
}

// Stream returns the stream operations on the tensor record on, nil for a
// leaf such as a Var's value, which records where it is used.
func (t *Tensor) Stream() *Stream {
	if s := homeOf([]*Tensor{t}); s != nil {
		return &Stream{s: s}
	}
	return nil
}

// On returns the same tensor, with operations on it recording on s.
func (t *Tensor) On(s *Stream) *Tensor {
	if s.Runtime() == nil {
		return t.failed("On", &ArgumentError{Msg: "stream is nil"})
	}
	return &Tensor{v: t.val(), on: s.s}
}

// String describes the tensor without computing it.
func (t *Tensor) String() string {
	v := t.val()
	if v == nilValue {
		return "no tensor"
	}
	name := v.Name()
	if name != "" {
		name = " " + name
	}
	return fmt.Sprintf("%s%s%s (%s)", v.DType(), v.Shape(), name, v.State())
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
		v := t.val()
		switch {
		case v == nilValue:
			v = nil
		case v.Runtime() == nil:
			return t // an orphan: the first cause
		}
		vals = append(vals, v)
	}
	if s := homeOf(in); s != nil {
		return &Tensor{v: s.Record(op, vals...)}
	}
	if rt := runtimeOf(in); rt != nil {
		return &Tensor{v: rt.Defer(op, vals...)}
	}
	err := errNil
	if len(in) == 0 {
		err = &ArgumentError{Msg: "needs at least one tensor"}
	}
	return orphan(op.Kind.String(), err)
}

// streamOf returns the stream an operation on the tensors records on: that
// chosen by On, else the first operand's own, else the device's default; nil
// if there is no device.
func streamOf(in []*Tensor) *fusion.Stream {
	if s := homeOf(in); s != nil {
		return s
	}
	if rt := runtimeOf(in); rt != nil {
		return rt.Default()
	}
	return nil
}

// runtimeOf returns the device the tensors are on, nil if there are none.
func runtimeOf(in []*Tensor) *fusion.Runtime {
	for _, t := range in {
		if rt := t.val().Runtime(); rt != nil {
			return rt
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
		if s := t.val().Home(); s != nil {
			return s
		}
	}
	return nil
}

// orphan is the result of an operation that has no device, such as Cat() of
// nothing: a tensor that only carries its error. No stream reports it.
func orphan(op string, err error) *Tensor {
	return &Tensor{v: fusion.Orphan(op, err)}
}

// scalarOf returns c as a scalar operand of tensors of a dtype: Go scalars
// take the tensor's dtype, which must hold them if it is no float.
func scalarOf(dtype DType, c float64) (ir.Scalar, error) {
	d := dtype.Compute()
	switch {
	case d.IsInt():
		if c != math.Trunc(c) {
			return ir.Scalar{}, &ArgumentError{Msg: fmt.Sprintf("scalar %v is not an integer, but the tensor is %v", c, d)}
		}
		least, greatest := d.Limits()
		// The limits of 64 bits are not float64s, the powers of two next to them are.
		if c < float64(least) || c >= 2*float64(greatest/2+1) {
			return ir.Scalar{}, &ArgumentError{Msg: fmt.Sprintf("scalar %v is outside %v", c, d)}
		}
		if d == U64 {
			return ir.Scalar{DType: d, Bits: uint64(c)}, nil
		}
		return ir.IntScalar(d, int64(c)), nil
	case d == Bool:
		if c != 0 && c != 1 {
			return ir.Scalar{}, &ArgumentError{Msg: fmt.Sprintf("scalar %v is neither 0 nor 1, but the tensor is bool", c)}
		}
		return ir.BoolScalar(c == 1), nil
	}
	return ir.FloatScalar(d, c), nil
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

// applyScalars2 is applyScalars with a second operand.
func (t *Tensor) applyScalars2(op ir.Operation, u *Tensor, c float64) *Tensor {
	op.PC = caller(3)
	s, err := scalarOf(t.DType(), c)
	if err != nil {
		return t.fail(op, err)
	}
	op.Scalars = []ir.Scalar{s}
	return record(op, []*Tensor{t, u})
}

// applyHeld is apply with scalars that tensors of rank 0 and of t's dtype hold.
func (t *Tensor) applyHeld(op ir.Operation, in []*Tensor, scalars ...*Tensor) *Tensor {
	op.PC = caller(3)
	return t.recordHeld(op, in, scalars...)
}

func (t *Tensor) recordHeld(op ir.Operation, in []*Tensor, scalars ...*Tensor) *Tensor {
	for i := range scalars {
		op.Scalars = append(op.Scalars, ir.Scalar{DType: t.DType().Compute(), Input: uint8(len(in) + i)})
	}
	return record(op, slices.Concat(in, scalars))
}

// fail returns the tensor of an operation on t that could not be recorded. If t
// carries an error, that first cause stays.
func (t *Tensor) fail(op ir.Operation, err error) *Tensor {
	return t.failed(op.Kind.String(), err)
}

func (t *Tensor) failed(op string, err error) *Tensor {
	v := t.val()
	if v == nilValue {
		return orphan(op, errNil)
	}
	if known := v.Err(); known != nil {
		released, ok := known.(*ReleasedError)
		if !ok {
			return t
		}
		err = released
	}
	return &Tensor{v: streamOf([]*Tensor{t}).Fail(op, 0, v.Shape(), v.DType(), err)}
}

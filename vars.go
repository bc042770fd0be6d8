package sinter

import (
	"context"
	"fmt"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// Var is state: parameters, caches, counters. It changes by ordered effects,
// which are queued like operations and never change a tensor: a value read
// before an effect keeps what it was.
type Var struct {
	v   *fusion.Var
	bad *Tensor // in place of v: the error of a Var made from a tensor without a device
}

// NewVar makes state that starts as init, which is computed now. If init
// carries an error, so does the Var until it is wholly written.
func NewVar(init *Tensor) *Var {
	s := streamOf([]*Tensor{init})
	if s == nil {
		return &Var{bad: init.failed("NewVar", errNil)}
	}
	return &Var{v: s.NewVar(init.v)}
}

// VarOf returns the runtime's Var; for extenders.
func VarOf(v *Var) *fusion.Var {
	if v == nil {
		return nil
	}
	return v.v
}

// without returns the tensor of a Var that is nil or has no device.
func (v *Var) without(op string) *Tensor {
	if v == nil || v.bad == nil {
		return orphan(op, &ArgumentError{Msg: "Var is nil"})
	}
	return v.bad
}

// WrapVar returns the Var of a runtime's Var; for extenders.
func WrapVar(v *fusion.Var) *Var { return &Var{v: v} }

// Shape returns the length of each axis, as a copy.
func (v *Var) Shape() Shape {
	if VarOf(v) == nil {
		return nil
	}
	return v.v.Shape().Clone()
}

// DType returns the element type.
func (v *Var) DType() DType {
	if VarOf(v) == nil {
		return ir.Invalid
	}
	return v.v.DType()
}

// Named gives the Var a name for dumps and returns it.
func (v *Var) Named(name string) *Var {
	if VarOf(v) != nil {
		v.v.SetName(name)
	}
	return v
}

// Name returns the Var's name, "" if none.
func (v *Var) Name() string {
	if VarOf(v) == nil {
		return ""
	}
	return v.v.Name()
}

// Value returns the Var's value at this point of the program. A handle taken
// in a scope ends with the scope unless kept.
func (v *Var) Value() *Tensor {
	if VarOf(v) == nil {
		return v.without("Value")
	}
	return &Tensor{v: v.v.Value()}
}

// err returns the error the Var's value carries, as far as it is known.
func (v *Var) err() error {
	t := v.Value()
	defer t.Release()
	return t.Err()
}

// effect queues an effect on the stream of its operands. Methods of Var call
// it directly.
func (v *Var) effect(op ir.Operation, in []*Tensor) {
	s := v.stream(in...)
	if s == nil {
		return // nothing has a device to tell the error to
	}
	if VarOf(v) == nil {
		v.fail(s, op, v.without(op.Kind.String()).Err())
		return
	}
	vals := make([]*fusion.Value, len(in))
	for i, t := range in {
		if val := t.val(); val.Runtime() != nil {
			vals[i] = val
		} else if val != nilValue {
			v.fail(s, op, val.Err())
			return
		}
	}
	s.Effect(v.v, op, vals...)
}

// stream returns the stream an effect with the operands is queued on: theirs,
// if they are on the Var's device.
func (v *Var) stream(in ...*Tensor) *fusion.Stream {
	s := streamOf(in)
	if VarOf(v) == nil || s != nil && s.Runtime() == v.v.Runtime() {
		return s
	}
	return v.v.Runtime().Default()
}

// fail makes err an unreported error of a stream.
func (v *Var) fail(s *fusion.Stream, op ir.Operation, err error) {
	s.Fail(op.Kind.String(), op.PC, v.Shape(), v.DType(), err)
}

// Set gives the Var the value t, of its shape and dtype. A t that carries an
// error leaves the Var as it was.
func (v *Var) Set(t *Tensor) {
	v.effect(ir.Operation{Kind: ir.Set, PC: caller(2)}, []*Tensor{t})
}

// SetSlice writes t over a part of the Var, given as in [Tensor.Slice].
func (v *Var) SetSlice(t *Tensor, ranges ...Range) {
	op := ir.Operation{Kind: ir.SetSlice, PC: caller(2)}
	// Positions count the old version as operand 0.
	in, err := resolve(&op, v.Shape(), ranges, []*Tensor{nil, t})
	switch s := v.stream(t); {
	case err == nil || s == nil || VarOf(v) == nil:
		v.effect(op, in[1:])
	case (t == nil || t.Err() == nil) && v.err() == nil: // else that is the first cause
		v.fail(s, op, err)
	}
}

// SetSelect writes t over the places at indices (rank 1, i64) along an axis.
// Of equal indices the last wins.
func (v *Var) SetSelect(axis int, indices, t *Tensor) {
	v.effect(ir.Operation{Kind: ir.SetSelect, PC: caller(2), Attrs: ir.Attrs{Axes: []int{axis}}}, []*Tensor{indices, t})
}

// ScatterAdd adds t to the places at indices (rank 1, i64) along an axis, in
// the order of the indices.
func (v *Var) ScatterAdd(axis int, indices, t *Tensor) {
	v.effect(ir.Operation{Kind: ir.ScatterAdd, PC: caller(2), Attrs: ir.Attrs{Axes: []int{axis}}}, []*Tensor{indices, t})
}

// Write gives the Var host data in row-major order, which is copied. The
// length and T must fit the Var.
func Write[T Elem](v *Var, src []T) {
	s := v.stream()
	if s == nil {
		return // no device
	}
	op := ir.Operation{Kind: ir.Set, PC: caller(2)}
	shape := v.v.Shape()
	switch {
	case v.DType() != DTypeOf[T]():
		v.fail(s, op, &DTypeError{Msg: fmt.Sprintf("Var is %v, data is %v", v.DType(), DTypeOf[T]())})
	case len(src) != shape.NumElements():
		v.fail(s, op, &ShapeError{Msg: fmt.Sprintf("%d elements for shape %v, which has %d", len(src), shape, shape.NumElements())})
	default:
		s.Effect(v.v, op, s.FromBytes(v.DType(), shape, bytesOf(src), op.PC))
	}
}

// ReadVar returns the elements of the Var's value.
func ReadVar[T Elem](ctx context.Context, v *Var) ([]T, error) {
	t := v.Value()
	defer t.Release()
	return Read[T](ctx, t)
}

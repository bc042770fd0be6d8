package fusion

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sinter-ml/sinter/ir"
)

// failure is the first cause a value and its dependents carry. It is reported
// once by whoever waits, and by every read of a value that carries it.
type failure struct {
	err      error
	reported atomic.Bool
}

// ReleasedError says that a tensor was used after Release or after the end of
// the scope it was made in.
type ReleasedError struct {
	By string // "Release" or "the end of its scope"
	At string // file:line of it, "" if unknown
}

func (e *ReleasedError) Error() string {
	if e.At == "" {
		return "tensor used after " + e.By
	}
	return fmt.Sprintf("tensor used after %s at %s", e.By, e.At)
}

// ErrClosed is the cause of errors after Close.
var ErrClosed = errors.New("closed")

// ClosedError says that a device or stream was used after it was closed.
type ClosedError struct{ What string }

func (e *ClosedError) Error() string { return e.What + " is closed" }

// Unwrap returns ErrClosed.
func (e *ClosedError) Unwrap() error { return ErrClosed }

func (d *death) error() error {
	by := d.by
	switch {
	case by != "":
	case d.scope:
		by = "the end of its scope"
	default:
		by = "Release"
	}
	return &ReleasedError{By: by, At: ir.Position(d.pc)}
}

// opError wraps the cause of a failed operation, unless it already names one.
func opError(op *ir.Operation, in []*Value, err error) error {
	var known *ir.OpError
	if errors.As(err, &known) {
		return err
	}
	shapes := make([]ir.Shape, len(in))
	for i, v := range in {
		shapes[i] = v.shape
	}
	return &ir.OpError{Op: op.Kind.String(), Shapes: shapes, PC: op.PC, Err: err}
}

// failed returns a value that carries a failure. A new failure joins the
// stream's unreported ones.
func (s *Stream) failed(op *ir.Operation, in []*Value, err error) *Value {
	f := &failure{err: opError(op, in, err)}
	s.errs = append(s.errs, f)
	return s.failedBy(op, f)
}

// failedBy returns a value that carries a known failure.
func (s *Stream) failedBy(op *ir.Operation, f *failure) *Value {
	v := s.rt.newValue()
	v.home, v.pc, v.fail = s, op.PC, f
	if len(op.Outputs) > 0 {
		v.shape, v.dtype = op.Outputs[0].Shape, op.Outputs[0].DType
	}
	v.setState(Failed)
	if sc := s.innermost(); sc != nil {
		sc.made = append(sc.made, v)
	}
	return v
}

// takeError returns the first failure of the stream nobody was told of, and
// marks it told. The rest stay for later calls.
func (s *Stream) takeError() error {
	for len(s.errs) > 0 {
		f := s.errs[0]
		s.errs = s.errs[1:]
		if !f.reported.Swap(true) {
			return f.err
		}
	}
	s.errs = nil
	return nil
}

// report returns the failure's error and marks it told.
func (f *failure) report() error {
	f.reported.Store(true)
	return f.err
}

// Orphan returns the result of an operation without operands to say which
// device it belongs to: a value that only carries its error.
func Orphan(op ir.Operation) *Value {
	v := &Value{id: ir.TensorID(nextID.Add(1)), pc: op.PC, dtype: ir.F32}
	v.fail = &failure{err: opError(&op, nil, &ir.ArgumentError{Msg: "needs at least one tensor"})}
	v.setState(Failed)
	return v
}

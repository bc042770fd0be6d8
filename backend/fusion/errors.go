package fusion

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/sinter-ml/sinter/ir"
)

// failure is the first cause a value and its dependents carry. It is reported
// once by whoever waits, and by every read of a value that carries it.
type failure struct {
	err      error
	number   uint64 // among the failures of its stream
	reported atomic.Bool
}

// ReleasedError says that a tensor was used after Release or after the end of
// the scope it was made in.
type ReleasedError struct {
	By string // "Release" or "the end of its scope"
	At string // file:line of it, "" if unknown
}

// lost is the cause where a version of a Var can no longer be rebuilt, or memory
// went while an operation on it was recorded by another goroutine.
var lost = &ReleasedError{By: "its memory was let go"}

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

// failed returns a value that carries the failure of an operation that could
// not be recorded. A new failure joins the stream's unreported ones. The stack
// still stands, so the position is the program's own line, however many of the
// library's packages the call went through.
func (s *Stream) failed(op *ir.Operation, in []*Value, err error) *Value {
	op.PC = callSite(op.PC)
	err = opError(op, in, err)
	if own, ok := err.(*ir.OpError); ok {
		own.PC = op.PC
	}
	f := &failure{err: err}
	s.unreported(f)
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
		sc.add(v)
	}
	return v
}

// maxErrors bounds the failures a stream that nobody flushes remembers.
const maxErrors = 256

// unreported notes a new failure until somebody is told of it. When there are
// many, those told since are dropped; if that is not half of them, so are the
// oldest but for the first, which is what a flush returns.
func (s *Stream) unreported(f *failure) {
	if len(s.errs) >= maxErrors {
		s.errs = slices.DeleteFunc(s.errs, func(f *failure) bool { return f.reported.Load() })
		if n := len(s.errs); n > maxErrors/2 {
			s.errs = slices.Delete(s.errs, 1, n-maxErrors/2+1)
		}
	}
	f.number = s.failures
	s.failures++
	s.errs = append(s.errs, f)
}

// takeError returns the first failure of the stream nobody was told of. All of
// them count as told then: each sticks to its values all the same.
func (s *Stream) takeError() error { return s.takeErrorSince(0) }

// takeErrorSince is takeError for the failures from a number on.
func (s *Stream) takeErrorSince(number uint64) error {
	var first error
	keep := s.errs[:0]
	for _, f := range s.errs {
		if f.number < number {
			keep = append(keep, f)
		} else if !f.reported.Swap(true) && first == nil {
			first = f.err
		}
	}
	clear(s.errs[len(keep):])
	s.errs = keep
	return first
}

// report returns the failure's error and marks it told.
func (f *failure) report() error {
	f.reported.Store(true)
	return f.err
}

// Orphan returns the result of an operation that has no operand to say which
// device it belongs to: a value that only carries its error.
func Orphan(op string, err error) *Value {
	v := &Value{id: ir.TensorID(nextID.Add(1)), dtype: ir.F32, pc: callSite(0)}
	v.fail = &failure{err: &ir.OpError{Op: op, PC: v.pc, Err: err}}
	v.setState(Failed)
	return v
}

// OpError wraps an error of a call that is no operation, such as a replay, and
// names the caller's line. What names an operation already stays as it is.
func (s *Stream) OpError(op string, shapes []ir.Shape, err error) error {
	var known *ir.OpError
	if errors.As(err, &known) {
		return err
	}
	return &ir.OpError{Op: op, Shapes: shapes, PC: callSite(0), Err: err}
}

// FailQuietly returns a value that carries an error which was told already.
func (s *Stream) FailQuietly(op string, err error) *Value {
	f := &failure{err: s.OpError(op, nil, err)}
	f.reported.Store(true)
	v := s.rt.newValue()
	v.home, v.dtype, v.fail = s, ir.F32, f
	v.setState(Failed)
	return v
}

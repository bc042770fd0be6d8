package ir

import (
	"fmt"
	"runtime"
	"strings"
)

// OpError is the failure of one operation. It prints the operation, the
// shapes of its operands and the caller's file and line.
type OpError struct {
	Op     string  // the kind's name
	Shapes []Shape // of the operands
	PC     uintptr // the call that recorded it, 0 if unknown
	Err    error   // *ShapeError, *DTypeError, *IndexError, *ArgumentError, …
}

// Error formats e as "file:line: Op([2,3], [4]): cause".
func (e *OpError) Error() string {
	var b strings.Builder
	if at := e.Position(); at != "" {
		b.WriteString(at)
		b.WriteString(": ")
	}
	b.WriteString(e.Op)
	b.WriteByte('(')
	for i, s := range e.Shapes {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.String())
	}
	b.WriteString("): ")
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Err }

// Position returns "file:line" of the call that recorded the operation, or "".
func (e *OpError) Position() string { return Position(e.PC) }

// Position returns "file:line" of a program counter as recorded in
// Operation.PC, or "" for 0.
func Position(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if f.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// ShapeError says that shapes, axes or ranks do not fit an operation.
type ShapeError struct{ Msg string }

func (e *ShapeError) Error() string { return e.Msg }

// DTypeError says that an operation is not defined for a dtype.
type DTypeError struct{ Msg string }

func (e *DTypeError) Error() string { return e.Msg }

// IndexError says that an index lies outside its axis.
type IndexError struct{ Msg string }

func (e *IndexError) Error() string { return e.Msg }

// ArgumentError says that an attribute or scalar has no meaning for an
// operation, such as a negative count.
type ArgumentError struct{ Msg string }

func (e *ArgumentError) Error() string { return e.Msg }

func shapeErrorf(format string, args ...any) error {
	return &ShapeError{fmt.Sprintf(format, args...)}
}

func dtypeErrorf(format string, args ...any) error {
	return &DTypeError{fmt.Sprintf(format, args...)}
}

func indexErrorf(format string, args ...any) error {
	return &IndexError{fmt.Sprintf(format, args...)}
}

func argumentErrorf(format string, args ...any) error {
	return &ArgumentError{fmt.Sprintf(format, args...)}
}

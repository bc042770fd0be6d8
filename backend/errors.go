package backend

import "fmt"

// CompileError says that a kernel could not be compiled.
type CompileError struct {
	Kernel string // the kernel's text, or its name where a compiler knows no more
	Source string // what was given to a compiler, "" if it did not come to that
	Log    string // the compiler's
	Err    error
}

func (e *CompileError) Error() string { return fmt.Sprintf("compile kernel: %v", e.Err) }
func (e *CompileError) Unwrap() error { return e.Err }

// LaunchError says that a kernel failed to run.
type LaunchError struct {
	Kernel string // the kernel's name
	Err    error
}

func (e *LaunchError) Error() string { return fmt.Sprintf("launch %s: %v", e.Kernel, e.Err) }
func (e *LaunchError) Unwrap() error { return e.Err }

// The reasons of a CaptureError.
const (
	CaptureRecording    = "already recording"
	CaptureNotRecording = "not recording"
	CaptureAllocated    = "allocated" // memory was taken from the system inside the window
	CaptureRead         = "read"      // a result was asked for inside the window
	CaptureSync         = "sync"      // a wait inside the window
	CaptureTrim         = "trim"      // pools trimmed inside a window
	CaptureReplay       = "replay"    // a graph replayed inside the window
	CaptureDestroyed    = "destroyed" // the graph was destroyed
	CaptureNotOrigin    = "not begun on this stream"
	CaptureUnjoined     = "unjoined"  // work of a stream that the first one does not wait for
	CaptureIsolation    = "isolation" // a wait for work outside the recording
	CaptureMerge        = "merge"     // a wait between two recordings
	CaptureBody         = "body"      // bodies of conditional parts begin and end otherwise
	CaptureTopology     = "topology"  // another graph differs in more than arguments
	CaptureState        = "state"     // a replay gives less state than launches take
	CaptureInjected     = "injected"  // by a test
)

// CaptureError says why a capture was refused or failed.
type CaptureError struct {
	Reason string // a short fixed name
	Op     string // the operation or stream concerned, if any
	Stream Stream // CaptureUnjoined: the stream
	Err    error
}

func (e *CaptureError) Error() string {
	s := "capture: " + e.Reason
	if e.Op != "" {
		s += " (" + e.Op + ")"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}
func (e *CaptureError) Unwrap() error { return e.Err }

// OutOfMemoryError says that memory ran out after everything free was given
// back.
type OutOfMemoryError struct {
	Bytes  int          // wanted
	Limit  int64        // the most bytes the device takes, 0: not known
	Report MemoryReport // what was held then
}

func (e *OutOfMemoryError) Error() string {
	u := e.Report.Usage
	s := fmt.Sprintf("out of memory: %d bytes wanted, %d in use by %d buffers, %d reserved", e.Bytes, u.InUse, u.Allocations, u.Reserved)
	if e.Limit > 0 {
		s += fmt.Sprintf(", limit %d", e.Limit)
	}
	return s
}

// DeviceError says that a device is closed, missing or broken.
type DeviceError struct {
	Device   string
	Poisoned bool // nothing will work on this device any more
	Err      error
}

func (e *DeviceError) Error() string { return fmt.Sprintf("device %s: %v", e.Device, e.Err) }
func (e *DeviceError) Unwrap() error { return e.Err }

// PanicError is a panic of a kernel, caught.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

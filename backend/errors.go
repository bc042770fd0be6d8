package backend

import "fmt"

// CompileError says that a kernel could not be compiled.
type CompileError struct {
	Kernel string // the kernel's text
	Log    string
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

// CaptureError says why a capture was refused or failed.
type CaptureError struct {
	Reason string // a short fixed name
	Op     string // the operation concerned, if any
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
	Bytes int
	Usage MemoryUsage
}

func (e *OutOfMemoryError) Error() string {
	return fmt.Sprintf("out of memory: %d bytes wanted, %d in use by %d buffers, %d reserved",
		e.Bytes, e.Usage.InUse, e.Usage.Allocations, e.Usage.Reserved)
}

// DeviceError says that a device is closed, missing or broken.
type DeviceError struct {
	Device   string
	Poisoned bool // nothing will work on this device any more
	Err      error
}

func (e *DeviceError) Error() string { return fmt.Sprintf("device %s: %v", e.Device, e.Err) }
func (e *DeviceError) Unwrap() error { return e.Err }

package nvrtc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoPlatform says that there is no NVRTC for the system or the processor this
// program was built for.
var ErrNoPlatform = errors.New("NVIDIA has no NVRTC for this system, only for Linux and Windows on 64 bits")

// NotFoundError says that a library could not be loaded or a program is not here:
// what was tried, and why it failed.
type NotFoundError struct {
	What  string // is missing
	Tried []Attempt
	Mend  string
}

// Attempt is one file or name that was tried.
type Attempt struct {
	Name string
	Err  error // in the system's words
}

const (
	library     = "NVRTC, CUDA's run-time compiler,"
	mendLibrary = "install CUDA 12 or 13, or the Python package nvidia-cuda-nvrtc-cu12, and let SINTER_NVRTC name the folder of the library"

	assemblerName = "ptxas"
	mendAssembler = "install CUDA 12 or 13, or the Python package nvidia-cuda-nvcc-cu12, and put the program beside NVRTC or into PATH"
)

func (e *NotFoundError) Error() string {
	var b strings.Builder
	b.WriteString(e.What + " was not found; tried")
	for _, a := range e.Tried {
		fmt.Fprintf(&b, "\n\t%s: %v", a.Name, a.Err)
	}
	b.WriteString("\n" + e.Mend)
	return b.String()
}

func (e *NotFoundError) Unwrap() []error {
	var out []error
	for _, a := range e.Tried {
		out = append(out, a.Err)
	}
	return out
}

// Error says that a call of the library failed.
type Error struct {
	Call string // the C function
	Code int    // nvrtcResult
	Text string // the name of the result
	Hint string // what may help or where the source is wrong, or ""
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%d)", e.Call, e.Text, e.Code)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// ArchError says that the library knows no such architecture.
type ArchError struct {
	Arch  string
	Known []int // compute capabilities
}

func (e *ArchError) Error() string {
	known := make([]string, len(e.Known))
	for i, a := range e.Known {
		known[i] = fmt.Sprintf("sm_%d", a)
	}
	return fmt.Sprintf("NVRTC knows no architecture %q; it knows %s (and compute_… for PTX alone, …a and …f of newer ones)",
		e.Arch, strings.Join(slices.Compact(known), " "))
}

// InputError says what of an Input cannot be compiled, whatever the source is.
type InputError struct {
	Field  string
	Reason string
}

func (e *InputError) Error() string { return fmt.Sprintf("nvrtc: input %s: %s", e.Field, e.Reason) }

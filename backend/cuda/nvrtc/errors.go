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

// NotFoundError says that no NVRTC could be loaded: what was tried, and why it
// failed.
type NotFoundError struct {
	Tried []Attempt
}

// Attempt is one file or name given to the system's loader.
type Attempt struct {
	Name string
	Err  error // in the loader's words
}

func (e *NotFoundError) Error() string {
	var b strings.Builder
	b.WriteString("NVRTC, CUDA's run-time compiler, was not found; tried")
	for _, a := range e.Tried {
		fmt.Fprintf(&b, "\n\t%s: %v", a.Name, a.Err)
	}
	b.WriteString("\ninstall it with CUDA 12 or 13, or with pip install nvidia-cuda-nvrtc-cu12, and let SINTER_NVRTC name the folder of " + sharedNames[0])
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
	Mend string // what may help, or ""
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%d)", e.Call, e.Text, e.Code)
	if e.Mend != "" {
		s += "; " + e.Mend
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

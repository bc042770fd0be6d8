package null

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
)

// Entry is one call of the device, in the order they came.
type Entry struct {
	Call    backend.Call
	Stream  backend.Stream
	Kernel  *codegen.Kernel // Compile, Launch
	Launch  *codegen.Launch // Launch
	Buffers []uint64        // ids: Launch as given; Copy destination, source; else the one
	Offsets []int           // Write, Read, Copy: one for each buffer
	Bytes   int             // Alloc, Write, Read, Copy
	Other   backend.Stream  // Wait
	Pool    backend.Pool    // UsePool, ClosePool, NewPool
	Failed  bool            // it returned an error
}

// String prints the entry on one line, such as
// "Launch s1 add dims=[2 3] b1 b2 b3".
func (e Entry) String() string {
	var b strings.Builder
	b.WriteString(string(e.Call))
	if e.Stream != 0 {
		fmt.Fprintf(&b, " s%d", e.Stream)
	}
	if e.Other != 0 {
		fmt.Fprintf(&b, " for s%d", e.Other)
	}
	if e.Pool != 0 {
		fmt.Fprintf(&b, " p%d", e.Pool)
	}
	if e.Kernel != nil {
		b.WriteString(" " + e.Kernel.Name)
	}
	if e.Launch != nil {
		fmt.Fprintf(&b, " dims=%v", e.Launch.Dims)
	}
	for i, id := range e.Buffers {
		fmt.Fprintf(&b, " b%d", id)
		if i < len(e.Offsets) && e.Offsets[i] != 0 {
			fmt.Fprintf(&b, "+%d", e.Offsets[i])
		}
	}
	if e.Bytes != 0 {
		fmt.Fprintf(&b, " %dB", e.Bytes)
	}
	if e.Failed {
		b.WriteString(" failed")
	}
	return b.String()
}

// The calls of a log beside those that can be made to fail.
const (
	CallFree        backend.Call = "Free"
	CallNewStream   backend.Call = "NewStream"
	CallCloseStream backend.Call = "CloseStream"
	CallNewPool     backend.Call = "NewPool"
	CallUsePool     backend.Call = "UsePool"
	CallClosePool   backend.Call = "ClosePool"
	CallTrim        backend.Call = "Trim"
	CallDestroy     backend.Call = "Destroy"
	CallClose       backend.Call = "Close"
)

// Log returns the calls since Open or ClearLog, in order. Asking for names,
// profiles, counters and memory is not logged.
func (d *Device) Log() []Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.log)
}

// ClearLog forgets the calls so far.
func (d *Device) ClearLog() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = nil
}

// Launched returns the names of the kernels launched on any stream since Open
// or ClearLog, those recorded by a capture included, in order.
func (d *Device) Launched() []string {
	var names []string
	for _, e := range d.Log() {
		if e.Call == backend.CallLaunch && !e.Failed {
			names = append(names, e.Kernel.Name)
		}
	}
	return names
}

package backend

import (
	"errors"
	"fmt"
	"sync"
)

// Call names a method of Device or Graph, for fault injection and logs.
type Call string

// The calls that can be made to fail.
const (
	CallAlloc        Call = "Alloc"
	CallAllocHost    Call = "AllocHost"
	CallWrite        Call = "Write"
	CallRead         Call = "Read"
	CallCopy         Call = "Copy"
	CallCompile      Call = "Compile"
	CallLaunch       Call = "Launch"
	CallSync         Call = "Sync"
	CallBeginCapture Call = "BeginCapture"
	CallEndCapture   Call = "EndCapture"
	CallReplay       Call = "Replay"
	CallWait         Call = "Wait"
	CallBeginBody    Call = "BeginBody"
	CallEndBody      Call = "EndBody"
	CallUpdate       Call = "Update"
)

// ErrInjected is what injected failures wrap, but for out-of-memory errors.
var ErrInjected = errors.New("injected fault")

// Faults counts calls and makes chosen ones fail. The zero value fails none.
type Faults struct {
	mu    sync.Mutex
	seen  map[Call]int
	fails map[Call]map[int]bool
}

// FailAt makes the k-th call of a kind from now, counted from 1, fail once.
func (f *Faults) FailAt(c Call, k int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails == nil {
		f.fails = map[Call]map[int]bool{}
	}
	if f.fails[c] == nil {
		f.fails[c] = map[int]bool{}
	}
	f.fails[c][f.seen[c]+k] = true
}

// Calls returns how many calls of a kind were made.
func (f *Faults) Calls(c Call) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[c]
}

// Next counts a call and reports whether it has to fail.
func (f *Faults) Next(c Call) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[Call]int{}
	}
	f.seen[c]++
	fail := f.fails[c][f.seen[c]]
	delete(f.fails[c], f.seen[c])
	return fail
}

// Fault returns the error an injected failure of c gives on a device, of the
// type that the device itself would return.
func Fault(c Call, device string) error {
	switch c {
	case CallCompile:
		return &CompileError{Err: ErrInjected}
	case CallLaunch, CallReplay:
		return &LaunchError{Err: ErrInjected}
	case CallBeginCapture, CallEndCapture, CallBeginBody, CallEndBody, CallUpdate:
		return &CaptureError{Reason: CaptureInjected, Err: ErrInjected}
	}
	return &DeviceError{Device: device, Err: fmt.Errorf("%s: %w", c, ErrInjected)}
}

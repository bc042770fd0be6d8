package exec

import (
	"fmt"
	"strings"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// UnsupportedError says that a module holds something that this interpreter does
// not execute. Nothing of such a module runs.
type UnsupportedError struct {
	Func   string
	Instr  string // as printed, or the declaration
	Line   int
	Reason string
}

// Error prints where the instruction stands and why it is not executed.
func (e *UnsupportedError) Error() string {
	where := ""
	if e.Func != "" {
		where = e.Func + ", "
	}
	if e.Line != 0 {
		where += fmt.Sprintf("line %d: ", e.Line)
	}
	return fmt.Sprintf("exec: %s%s: %s", where, e.Instr, e.Reason)
}

// ArgumentError says that a launch asks for what no device could run: an unknown
// entry, a wrong number of arguments, a block that is too large.
type ArgumentError struct {
	Entry  string
	Reason string
}

// Error prints the entry and the reason.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("exec: launch of %s: %s", e.Entry, e.Reason)
}

// FaultKind is a class of wrong behaviour of a kernel.
type FaultKind uint8

// The kinds of faults.
const (
	OutOfBounds      FaultKind = iota + 1 // an address outside of what may be accessed
	Misaligned                            // an address that is not a multiple of the access's size
	UseAfterFree                          // an address of memory that was freed
	Uninitialised                         // a read of bytes that nothing wrote, or that a cp.async not waited for will write
	ReadOnly                              // a write to constants or parameters
	SharedRace                            // accesses of two threads to shared memory without an order between them
	DivergentBarrier                      // an aligned barrier that a part of a warp reached
	DivergentSync                         // a warp-wide instruction that not all named lanes reach
	BadMask                               // a membermask without the executing lane
	AbsentLane                            // a shuffle that reads a lane which does not take part
	Deadlock                              // threads that wait for others for ever
	BarrierMisuse                         // a barrier with impossible or disagreeing numbers
	Trap                                  // trap was executed
	InstructionLimit                      // Options.MaxInstructions was exceeded
	BadAddressSpace                       // a generic address of the wrong window, or a call of what is no function
)

var faultNames = [...]string{
	OutOfBounds: "out of bounds", Misaligned: "misaligned", UseAfterFree: "use after free",
	Uninitialised: "uninitialised read", ReadOnly: "write to read-only memory", SharedRace: "shared-memory race",
	DivergentBarrier: "divergent barrier", DivergentSync: "divergent warp-wide instruction", BadMask: "bad membermask",
	AbsentLane: "read of an absent lane", Deadlock: "deadlock", BarrierMisuse: "barrier misuse", Trap: "trap",
	InstructionLimit: "too many instructions", BadAddressSpace: "bad address space",
}

// String returns the kind in words.
func (k FaultKind) String() string { return faultNames[k] }

// Fault reports what a kernel did wrong, and where. The launch ends with the
// first one; memory holds whatever was written before.
type Fault struct {
	Kind   FaultKind
	Kernel string
	Func   string // the device function, if not the kernel itself
	Line   int    // of the PTX text
	Instr  string // as printed
	Block  Dim    // index of the block
	Thread Dim    // index of the thread in its block; of the lowest lane for a fault of a warp
	Space  ptx.Space
	Addr   uint64 // of memory faults
	Size   int    // bytes of the access
	Detail string // what else is known: the allocation, the other thread
}

// Error prints the fault on one line.
func (f *Fault) Error() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "exec: %s in %s", f.Kind, f.Kernel)
	if f.Func != "" && f.Func != f.Kernel {
		fmt.Fprintf(w, " (%s)", f.Func)
	}
	fmt.Fprintf(w, ", line %d: %s, block %v thread %v", f.Line, f.Instr, f.Block, f.Thread)
	if f.Size > 0 {
		fmt.Fprintf(w, ", %d bytes at %s address %#x", f.Size, f.Space, f.Addr)
	}
	if f.Detail != "" {
		w.WriteString(": " + f.Detail)
	}
	return w.String()
}

// fault ends the launch with a fault at the running instruction of a lane. It
// panics; the worker that runs the block recovers.
func (w *warp) fault(kind FaultKind, lane int, format string, args ...any) {
	panic(w.newFault(kind, lane, w.pc, fmt.Sprintf(format, args...)))
}

// faultAt is fault for an access to memory.
func (w *warp) faultAt(kind FaultKind, in *inst, lane int, space ptx.Space, addr uint64, format string, args ...any) {
	f := w.newFault(kind, lane, w.pc, fmt.Sprintf(format, args...))
	f.Space, f.Addr, f.Size = space, addr, in.mem.bytes
	panic(f)
}

func (w *warp) newFault(kind FaultKind, lane int, pc int32, detail string) *Fault {
	b := w.blk
	f := &Fault{Kind: kind, Kernel: b.k.name, Block: b.index, Thread: b.thread(w.id*32 + lane), Detail: detail}
	if in := &b.k.code[pc]; in.src != nil {
		f.Func, f.Line, f.Instr = in.fn.Name, in.src.Line, in.fn.Format(in.src)
	}
	return f
}

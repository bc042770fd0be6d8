package interp

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// run is the state of one launch. Runs are pooled by executable, so that a
// launch allocates nothing once its scratch has grown to size.
type run struct {
	exe    *executable
	dims   []int
	launch *codegen.Launch // only during the launch
	mem    [][]byte        // only during the launch
	sizes  []int

	slots   []slot
	strides []int    // storage of the slots' own strides
	windows []window // of all masked accesses
	winFrom []int    // windows of access i: winFrom[i] … winFrom[i+1]-1

	// aliased says that an output shares storage with an input; a step may
	// then write an output directly only if nothing reads after it.
	aliased    bool
	copyLoads  bool
	pitchElems int

	outer, inner grid
	axes         []int
	workers      []*worker
	failure      atomic.Pointer[ir.IndexError]

	// task is the parallel loop of templates that are compiled for a type.
	task codegen.Task

	rows      rowsState
	contract  contractState
	attention attentionState
	scatter   scatterState
}

// window bounds the coordinate in a slot.
type window struct{ slot, lo, hi int }

func newRun(e *executable) *run {
	return &run{exe: e, sizes: make([]int, len(e.kernel.Buffers)), winFrom: make([]int, len(e.kernel.Accesses)+1)}
}

// bind checks a launch and resolves its slots, windows and aliases.
func (r *run) bind(l *codegen.Launch, mem [][]byte, workers int) error {
	e := r.exe
	k := e.kernel
	if len(mem) != len(r.sizes) {
		return &codegen.ArgsError{Kernel: k.Name, Where: "launch", Rule: fmt.Sprintf("%d buffers, not %d", len(mem), len(r.sizes))}
	}
	for i := range mem {
		r.sizes[i] = len(mem[i])
	}
	if err := e.checker.Check(l, r.sizes); err != nil {
		return err
	}
	r.launch, r.mem = l, mem
	r.dims = l.Dims
	r.failure.Store(nil)
	r.bindSlots(l)
	r.bindAlias()
	for len(r.workers) < workers {
		r.workers = append(r.workers, newWorker(r))
	}
	r.pitchElems = tileLen
	return nil
}

// bindSlots resolves the affine functions of the launch: accesses, then the
// coordinates and positions the program uses, then those of windows.
func (r *run) bindSlots(l *codegen.Launch) {
	e := r.exe
	rank := len(l.Dims)
	coordSlot := e.coordSlot
	n := e.numSlots
	for i := range l.Access {
		for _, w := range l.Access[i].Window {
			if coordSlot[w.Axis] == 0 {
				coordSlot[w.Axis] = n
				n++
			}
		}
	}
	if cap(r.slots) < n {
		r.slots = make([]slot, n)
	}
	r.slots = r.slots[:n]
	if need := (n - len(l.Access)) * rank; cap(r.strides) < need {
		r.strides = make([]int, need)
	}
	own := r.strides[:cap(r.strides)]
	for i := range r.slots {
		if i < len(l.Access) {
			r.slots[i] = slot{offset: l.Access[i].Offset, strides: l.Access[i].Strides}
			continue
		}
		r.slots[i] = slot{strides: own[:rank:rank]}
		own = own[rank:]
		clear(r.slots[i].strides)
	}
	for axis, s := range coordSlot[:rank] {
		if s != 0 {
			r.slots[s].strides[axis] = 1
		}
	}
	if e.posSlot != 0 {
		last := rank
		if t := e.kernel.Template; t == codegen.Contraction || t == codegen.Attention {
			last = e.kernel.Outer // elements exist at outer points
		}
		step := 1
		for a := last - 1; a >= 0; a-- {
			r.slots[e.posSlot].strides[a] = step
			step *= l.Dims[a]
		}
	}
	r.windows = r.windows[:0]
	for i := range l.Access {
		r.winFrom[i] = len(r.windows)
		for _, w := range l.Access[i].Window {
			r.windows = append(r.windows, window{coordSlot[w.Axis], w.Lo, w.Hi})
		}
	}
	r.winFrom[len(l.Access)] = len(r.windows)
}

// bindAlias finds out whether a written buffer shares storage with a read one.
func (r *run) bindAlias() {
	r.aliased = false
	k := r.exe.kernel
	for i, b := range k.Buffers {
		if b.Mode == codegen.InOut {
			r.aliased = true
		}
		for j := range k.Buffers {
			if b.Mode != codegen.In && k.Buffers[j].Mode == codegen.In && len(r.mem[i]) > 0 && len(r.mem[j]) > 0 &&
				unsafe.SliceData(r.mem[i]) == unsafe.SliceData(r.mem[j]) {
				r.aliased = true
			}
		}
	}
	r.copyLoads = r.aliased && len(r.exe.stores) > 1
}

// release forgets what belongs to the caller.
func (r *run) release() {
	r.launch, r.mem, r.dims = nil, nil, nil
	for i := range r.slots {
		r.slots[i] = slot{}
	}
	for _, w := range r.workers {
		clear(w.direct)
		for i := range w.regs {
			w.regs[i] = reg{}
		}
		w.bound = false
	}
}

// fail records that an index value was out of range.
func (r *run) fail(index int64, extent int) {
	if r.failure.Load() == nil {
		r.failure.CompareAndSwap(nil, &ir.IndexError{Msg: fmt.Sprintf("index %d out of range for an axis of length %d", index, extent)})
	}
}

// allAxes returns from, from+1, …, to-1 in storage of the run.
func (r *run) allAxes(from, to int) []int {
	r.axes = r.axes[:0]
	for a := from; a < to; a++ {
		r.axes = append(r.axes, a)
	}
	return r.axes
}

// worker returns the state of a worker, ready for this launch.
func (r *run) worker(i int) *worker {
	w := r.workers[i]
	if !w.bound {
		w.bind()
	}
	return w
}

// grain is how many points of about the given weight make a part worth
// handing to a worker.
func grain(weight int) int { return max(1, 16384/max(1, weight)) }

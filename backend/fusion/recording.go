package fusion

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/ir"
)

// Recording is a captured pass that can be replayed. It keeps what it touches.
type Recording struct {
	s *Stream

	mu     sync.Mutex // replays are serialised
	closed bool
	after  func(Drawn, error) error
	state  [stateWords]uint64
	work
}

// work is what a recording does and keeps.
type work struct {
	graph    backend.Graph
	pool     *Pool
	retained []*Storage
	vars     []recordedVar // in order of number
	outs     []*output
	notes    notes
	drawing  *Drawing
	launches []*profiled // what a replay launches, in order
	draws    uint64      // random numbers a replay draws
}

// recordedVar is a Var the recording touches.
type recordedVar struct {
	v       *Var
	written bool
	read    bool // a replay depends on what the Var is before it
}

// output is an output of a recording: its memory is written by each replay.
type output struct {
	v      *Var
	handle *Value // what Out gave since the last replay
}

// outputVar makes the memory of an output a Var's, which nothing has written.
func (s *Stream) outputVar(o *Value) *output {
	v := &Var{rt: s.rt, number: nextVar.Add(1), shape: o.shape, dtype: o.dtype}
	m := o.storage
	m.hold()
	v.fix(m)
	v.cur = s.rt.newVersion(v, m)
	v.cur.fail = &failure{err: &backend.CaptureError{Reason: "an output is not written before the first replay"}}
	v.cur.setState(Failed)
	o.letGo()
	return &output{v: v}
}

// Launches returns how many launches are recorded, those of conditional parts
// counted once.
func (r *Recording) Launches() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.graph.Launches()
}

// Frozen lists what replays repeat as it was.
func (r *Recording) Frozen() []FrozenItem {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notes.frozen()
}

// Drawing returns what was recorded.
func (r *Recording) Drawing() *Drawing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.drawing
}

// Drawing returns what the last capture on the stream recorded, whatever became
// of it, nil if there was none.
func (s *Stream) Drawing() *Drawing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Watch makes replays run step by step, with after called for each; it may
// change the error. It is for debugging. A device that cannot do so is an error.
func (r *Recording) Watch(after func(Drawn, error) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.graph.(backend.Stepper); !ok {
		return &backend.CaptureError{Reason: "the device cannot tell of the steps of a replay"}
	}
	r.after = after
	return nil
}

// Stream returns the stream the recording belongs to.
func (r *Recording) Stream() *Stream { return r.s }

// Outputs returns how many outputs there are.
func (r *Recording) Outputs() int { return len(r.outs) }

// Out returns output i as the last replay wrote it. The next replay ends it,
// as it overwrites the memory; operations recorded on it before are run first.
func (r *Recording) Out(i int) *Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i < 0 || i >= len(r.outs) {
		return r.s.FailQuietly("Out", &ir.IndexError{Msg: fmt.Sprintf("output %d of %d", i, len(r.outs))})
	}
	o := r.outs[i]
	if o.handle == nil || o.handle.dead() {
		o.handle = o.v.Value()
	}
	return o.handle
}

var errCapturing = &backend.CaptureError{Reason: "a graph cannot be closed while a capture is open on its stream"}

// closeWait is how long CloseLater waits for a capture to end at first.
const closeWait = time.Millisecond

// CloseLater is Close for a graph nobody has any more: it waits, on a goroutine
// of its own, for a capture that is open on the stream.
func (r *Recording) CloseLater() {
	go func() {
		for wait := closeWait; r.Close() == error(errCapturing); wait = min(2*wait, time.Second) {
			time.Sleep(wait)
		}
	}()
}

// Close gives back what the recording keeps. Outputs can no longer be read.
// While a capture is open on the stream it is refused: it would execute part of
// a pass.
func (r *Recording) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.window != nil {
		return errCapturing
	}
	r.closed = true
	if !s.closed {
		s.drain(context.Background(), len(s.queue.nodes))
	}
	r.lock()
	f := &failure{err: &ClosedError{"graph"}}
	f.reported.Store(true)
	for _, o := range r.outs {
		o.v.wrote(f)
		o.v.pinned, o.v.pin.fixed = false, false
		o.v.pin.letGo()
	}
	r.unlock()
	for i := range r.vars {
		r.vars[i].v.unpin()
	}
	err := r.graph.Destroy()
	for _, m := range r.retained {
		m.letGo()
	}
	r.retained = nil
	r.pool.release()
	return err
}

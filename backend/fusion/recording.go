package fusion

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Recording is a captured pass that can be replayed. It keeps what it touches.
type Recording struct {
	Frozen []FrozenItem

	s        *Stream
	graph    backend.Graph
	pool     backend.Pool
	retained []*Storage
	launches []*profiled   // what a replay launches, in order
	vars     []recordedVar // in order of number
	outs     []*output

	mu     sync.Mutex // replays are serialised
	closed bool
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

// Launches returns how many launches a replay does.
func (r *Recording) Launches() int { return r.graph.Launches() }

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

// Replay runs the recorded work. Values read from the Vars and outputs it
// writes, and operations recorded on them, keep what they were.
func (r *Recording) Replay() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return &ClosedError{"graph"}
	}
	for i := range r.vars {
		r.vars[i].v.settleElsewhere(r.s)
	}
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.rt.closed.Load() {
		return &ClosedError{"stream"}
	}
	s.drain(context.Background(), len(s.queue.nodes))
	r.lock()
	defer r.unlock()
	if err := r.supersede(); err != nil {
		return err
	}
	err := r.graph.Replay(s.id, nil)
	var f *failure
	if err != nil {
		f = &failure{err: err}
		f.reported.Store(true)
	} else {
		s.replayed(r.launches)
	}
	for i := range r.vars {
		if r.vars[i].written {
			r.vars[i].v.wrote(f)
		}
	}
	for _, o := range r.outs {
		o.v.wrote(f)
	}
	return err
}

// settleElsewhere executes an effect that is pending on another stream.
func (v *Var) settleElsewhere(s *Stream) {
	v.mu.Lock()
	cur := v.cur
	v.mu.Unlock()
	if cur.home != nil && cur.home != s && cur.is(Pending) {
		cur.home.materialise(cur)
	}
}

func (r *Recording) lock() {
	for i := range r.vars {
		if r.vars[i].written {
			r.vars[i].v.content.Lock()
		} else {
			r.vars[i].v.content.RLock()
		}
	}
	for _, o := range r.outs {
		o.v.content.Lock()
	}
}

func (r *Recording) unlock() {
	for i := range r.vars {
		if r.vars[i].written {
			r.vars[i].v.content.Unlock()
		} else {
			r.vars[i].v.content.RUnlock()
		}
	}
	for _, o := range r.outs {
		o.v.content.Unlock()
	}
}

// supersede gives everything the replay will write a new version, where
// somebody can still ask for the old one.
func (r *Recording) supersede() error {
	for i := range r.vars {
		x := &r.vars[i]
		if x.read || !x.written {
			if err := x.v.ready(); err != nil {
				return err
			}
		}
	}
	for i := range r.vars {
		if r.vars[i].written {
			if err := r.s.supersede(r.vars[i].v); err != nil {
				return err
			}
		}
	}
	for _, o := range r.outs {
		if h := o.handle; h != nil {
			if h.death.CompareAndSwap(nil, replayed) {
				h.handle.of.version.unask()
			}
			o.handle = nil
		}
		if err := r.s.supersede(o.v); err != nil {
			return err
		}
	}
	return nil
}

// replayed is the end of an output handle.
var replayed = &death{by: "the next replay overwrote it; read it or copy it before"}

// ready reports the failure of a Var the replay reads: one that an earlier
// replay failed to write stays failed until it is wholly written.
func (v *Var) ready() error {
	if v.cur.is(Failed) {
		return v.cur.fail.report()
	}
	return nil
}

// supersede makes a version for what a replay is about to write into the Var's
// fixed memory. The content is locked.
func (s *Stream) supersede(v *Var) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	old := v.cur
	if old.is(Failed) || old.version.asks() == 0 {
		return nil // nobody can tell that the version changes
	}
	if old.storage != v.pin {
		return fmt.Errorf("the memory of a Var moved away from the graph's")
	}
	aside, err := s.clone(v.pin)
	if err != nil {
		return err
	}
	old.storage = aside
	v.cur = s.rt.newVersion(v, v.pin)
	return nil
}

// wrote settles the version a replay wrote, or failed to. The content is
// locked.
func (v *Var) wrote(f *failure) {
	if f != nil {
		v.cur.fail = f
		v.cur.setState(Failed)
		return
	}
	if v.cur.is(Failed) {
		if v.cur.storage == nil {
			v.cur.storage, v.cur.layout = v.pin, codegen.Contiguous(v.shape)
		}
		v.cur.setState(Stored)
	}
}

// Report returns the error v carries, if it is known yet, and counts it as
// told.
func (v *Value) Report() error {
	if v.dead() {
		return v.Err()
	}
	if t := v.target(); t.is(Failed) {
		return t.fail.report()
	}
	return nil
}

// CopyIn writes a tensor of the same shape and dtype into a Var of the
// recording's stream without going through the queue, if it lies densely in
// this device's memory. It reports whether it did.
func (s *Stream) CopyIn(v *Var, t *Value) (bool, error) {
	if t.rt != s.rt || t.death.Load() != nil || t.dtype != v.dtype || !slices.Equal(t.shape, v.shape) {
		return false, nil
	}
	x := t.target()
	if x.awayFrom(s) {
		x.home.materialise(x)
	}
	v.settleElsewhere(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain(context.Background(), len(s.queue.nodes))
	if x.home == s && x.is(Virtual) {
		s.ask(context.Background(), x)
	}
	if x.State() != Stored || x.version != nil && x.version.v != v {
		return false, nil
	}
	v.content.Lock()
	defer v.content.Unlock()
	if x.storage == v.pin {
		return true, nil // the same memory
	}
	if x.version != nil || !x.layout.IsContiguous() || !x.storage.tryHold() {
		return false, nil
	}
	defer x.storage.letGo() // another stream may release it meanwhile
	if err := s.supersede(v); err != nil {
		return true, err
	}
	n := x.bytes()
	if err := s.copy(v.pin, x.storage, x.layout.Offset*x.dtype.Size(), n); err != nil {
		return true, err
	}
	v.wrote(nil)
	return true, nil
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
	for i := range r.vars {
		v := r.vars[i].v
		v.pins--
		v.unpin()
	}
	r.unlock()
	err := r.graph.Destroy()
	for _, m := range r.retained {
		m.letGo()
	}
	r.retained = nil
	_ = s.rt.dev.ClosePool(r.pool) // buffers somebody still holds go when they are let go
	return err
}

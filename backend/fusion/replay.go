package fusion

import (
	"context"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Replay runs the recorded work. Values read from the Vars and outputs it
// writes, and operations recorded on them, keep what they were.
func (r *Recording) Replay() error { return r.ReplayOn(r.s) }

// ReplayOn is Replay on another stream of the device. It waits for the work on
// the recording's own stream, which waits for it.
func (r *Recording) ReplayOn(on *Stream) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return &ClosedError{"graph"}
	case on == nil || on.rt != r.s.rt:
		return &ir.ArgumentError{Msg: "the stream to replay on is nil or of another device"}
	}
	for i := range r.vars {
		r.vars[i].v.settleElsewhere(on)
	}
	if on == r.s {
		return r.pool.run(on, func() error { return r.run(on) })
	}
	if err := r.s.submit(); err != nil {
		return err
	}
	err := r.pool.run(on, func() error { return r.run(on) })
	if err != nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.s.rt.dev.Wait(r.s.id, on.id)
}

// submit executes what is queued before a replay on another stream.
func (s *Stream) submit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.window != nil {
		return &backend.CaptureError{Reason: backend.CaptureReplay}
	}
	s.drain(context.Background(), len(s.queue.nodes))
	return nil
}

// run runs the recorded work on s. The pool is the recording's.
func (r *Recording) run(s *Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || s.rt.closed.Load():
		return &ClosedError{"stream"}
	case s.window != nil:
		return &backend.CaptureError{Reason: backend.CaptureReplay}
	}
	s.drain(context.Background(), len(s.queue.nodes))
	if s != r.s {
		if err := s.rt.dev.Wait(s.id, r.s.id); err != nil {
			return err
		}
	}
	r.lock()
	defer r.unlock()
	if err := r.supersede(s); err != nil {
		return err
	}
	r.state = s.rt.take(r.draws)
	err := r.launch(s)
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

// launch runs the device's graph, step by step if somebody watches.
func (r *Recording) launch(s *Stream) error {
	if r.after == nil {
		return r.graph.Replay(s.id, r.state[:])
	}
	return r.graph.(backend.Stepper).ReplaySteps(s.id, r.state[:], func(i int, err error) error {
		return r.after(r.drawing.Step(i), err)
	})
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
func (r *Recording) supersede(s *Stream) error {
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
			if err := s.supersede(r.vars[i].v); err != nil {
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
		if err := s.supersede(o.v); err != nil {
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

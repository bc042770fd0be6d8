package fusion

import (
	"context"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Window is a capture that is open on a stream: passes of a program, some run
// to warm up and the last only recorded. Each pass is a scope. A window has no
// visible effect: Vars and random numbers are put back after each pass.
type Window struct {
	s         *Stream
	pool      backend.Pool
	outer     backend.Pool // the pool in use outside passes
	born      ir.TensorID  // tensors with greater ids were made since
	seed, pos uint64
	keepVars  bool // what warm-ups do to Vars stays

	pass      int
	running   bool // between Begin and End
	recording bool
	scope     *Scope
	vars      []*Var // touched by a pass, in order of number
	snapshots map[*Var]*Storage
	written   map[*Var]bool
	read      map[*Var]bool // a pass reads what the Var is before it
	began     ir.TensorID   // tensors with greater ids were made in this pass
	now, then notes         // of this pass and the one before
	retained  map[*Storage]struct{}
	refusal   *backend.CaptureError
	launches  []*profiled // of the recording
}

// OpenWindow executes what is queued and opens a window on the stream.
func (s *Stream) OpenWindow(ctx context.Context, keepVars bool) (*Window, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.rt.closed.Load() {
		return nil, &ClosedError{"stream"}
	}
	if s.window != nil {
		return nil, &backend.CaptureError{Reason: "a capture is open on the stream already"}
	}
	s.drain(ctx, len(s.queue.nodes))
	if err := s.takeError(); err != nil {
		return nil, err
	}
	w := &Window{
		s: s, keepVars: keepVars, pool: s.rt.dev.NewPool(), born: ir.TensorID(nextID.Load()),
		snapshots: make(map[*Var]*Storage), written: make(map[*Var]bool), read: make(map[*Var]bool), retained: make(map[*Storage]struct{}),
	}
	w.seed, w.pos = s.rt.RandomState()
	s.window = w
	return w, nil
}

// Begin starts a pass. With record nothing is executed from here to End; the
// device takes notes.
func (w *Window) Begin(record bool) error {
	if w.pass > 0 {
		if err := w.restore(); err != nil {
			return err
		}
	}
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.pass > 0 {
		if err := w.pin(); err != nil {
			return err
		}
	}
	w.outer = s.rt.dev.UsePool(s.id, w.pool)
	if record {
		if err := s.rt.dev.BeginCapture(s.id); err != nil {
			s.rt.dev.UsePool(s.id, w.outer)
			return err
		}
		w.recording = true
	}
	w.then, w.now = w.now, notes{}
	w.scope = &Scope{s: s, born: nextBirth.Add(1)}
	s.scopes = append(s.scopes, w.scope)
	w.running, w.began = true, ir.TensorID(nextID.Load())
	return nil
}

// End ends a pass and returns the outputs, which it keeps: each dense and of
// its own memory. The pass's other tensors are dead.
func (w *Window) End(ctx context.Context, outs []*Value) ([]*Value, error) {
	s := w.s
	s.arrive(outs)
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := make([]*Value, len(outs))
	w.now.outputs(outs, w.began)
	for i, v := range outs {
		kept[i] = w.output(v)
	}
	w.endScopes()
	s.drain(ctx, len(s.queue.nodes))
	err := s.takeError()
	for _, v := range kept {
		if err == nil {
			err = w.own(v)
		}
	}
	if err == nil && w.pass > 0 {
		if c := w.now.differs(&w.then); c != nil {
			err = c
		}
	}
	if w.refusal != nil {
		err = w.refusal
	}
	w.leave()
	w.pass++
	return kept, err
}

// output returns what stands for a returned tensor: itself if the pass
// computes it into memory of its own, else a copy.
func (w *Window) output(v *Value) *Value {
	s := w.s
	if v != nil && v.handle == nil && v.is(Pending) && v.home == s && !v.dead() &&
		ir.Lookup(v.node.op.Kind).Class != ir.ClassView {
		v.asked = true
		w.scope.keepLocked(v)
		return v
	}
	op := ir.Operation{Kind: ir.Repeat}
	if v != nil {
		op = repeatOnce(v.shape)
		op.PC = v.pc
	}
	w.running = false // the copy is no operation of the program's
	c := s.record(&op, []*Value{v})
	w.running = true
	c.asked = true
	w.scope.keepLocked(c)
	return c
}

// own gives an output dense memory of the window's pool that nothing else has:
// a plan may have made it a view of a Var or of another output.
func (w *Window) own(v *Value) error {
	s := w.s
	if v.is(Virtual) {
		if err := s.late(v); err != nil {
			return err
		}
	}
	if v.is(Failed) {
		return v.fail.report()
	}
	m := v.storage
	if m.buf.Pool == w.pool && !m.fixed && m.refs.Load() == 1 && v.layout.Offset == 0 && v.layout.IsContiguous() {
		return nil
	}
	own, err := s.copyOut(m, v.layout, v.dtype)
	if err != nil {
		return err
	}
	m.letGo()
	v.store(own, codegen.Contiguous(v.shape))
	return nil
}

func (sc *Scope) keepLocked(v *Value) {
	if sc.keep == nil {
		sc.keep = make(map[*Value]struct{})
	}
	sc.keep[v] = struct{}{}
}

// endScopes ends the pass's scope and those opened in it.
func (w *Window) endScopes() {
	for !w.scope.ended {
		w.s.endInnermost(0)
	}
}

// leave ends what Begin set up on the device. A recording nobody asked for is
// thrown away.
func (w *Window) leave() {
	s := w.s
	w.running = false
	for _, v := range w.scope.made {
		if v.dead() && !v.is(Pending) {
			v.letGo()
		}
	}
	s.rt.dev.UsePool(s.id, w.outer)
}

// Recording ends a window whose last pass was recorded and returns it. outs
// are that pass's outputs.
func (w *Window) Recording(outs []*Value) (*Recording, error) {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	graph, err := s.rt.dev.EndCapture(s.id, w.refusal != nil)
	w.recording = false
	if err == nil && w.refusal != nil {
		err = w.refusal
	}
	if err != nil {
		return nil, err
	}
	r := &Recording{s: s, graph: graph, pool: w.pool, Frozen: w.now.frozen(), launches: w.launches}
	for m := range w.retained {
		r.retained = append(r.retained, m) // with the window's holds
	}
	clear(w.retained)
	for _, v := range w.vars {
		r.vars = append(r.vars, recordedVar{v: v, written: w.written[v], read: w.read[v]})
		w.settleVar(v)
	}
	for _, o := range outs {
		r.outs = append(r.outs, s.outputVar(o))
	}
	w.close()
	return r, nil
}

// Abandon closes the window whatever state it is in. Vars and random numbers
// are as when it opened, and the stream records nothing.
func (w *Window) Abandon() {
	s := w.s
	s.mu.Lock()
	if s.window != w {
		s.mu.Unlock()
		return
	}
	if w.scope != nil && !w.scope.ended {
		w.endScopes()
		if w.recording {
			s.forget()
		} else {
			s.drain(context.Background(), len(s.queue.nodes))
		}
		w.leave()
	}
	wasRecording := w.recording
	if w.recording {
		_, _ = s.rt.dev.EndCapture(s.id, true) // the reason is known already
		w.recording = false
	}
	for v := range w.written {
		if wasRecording {
			w.settleVar(v)
		}
	}
	s.errs = nil
	s.mu.Unlock()
	_ = w.restore() // a Var that cannot be put back is reported when it is read
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range w.vars {
		v.content.Lock()
		if wasRecording && w.written[v] {
			v.pins--
		}
		v.unpin()
		v.content.Unlock()
	}
	w.close()
	_ = s.rt.dev.ClosePool(w.pool) // buffers still held go when they are let go
}

// forget drops what is queued without executing it.
func (s *Stream) forget() {
	for _, n := range s.queue.nodes {
		if n.v == nil {
			n.out.fail = &failure{err: &backend.CaptureError{Reason: "the capture was abandoned"}}
			n.out.setState(Failed)
		}
		n.out.node = nil
	}
	s.queue.reset()
	s.seg++
}

// close takes the window off the stream.
func (w *Window) close() {
	for _, m := range w.snapshots {
		m.letGo()
	}
	for m := range w.retained {
		m.letGo()
	}
	w.s.rt.SetRandomState(w.seed, w.pos)
	w.s.window = nil
}

// Refused returns why the last pass could not be recorded, nil if it could.
func (w *Window) Refused() error {
	if w.refusal == nil {
		return nil
	}
	return w.refusal
}

// retain holds memory the recorded work uses and the window's pool does not
// have: tensors from outside. What lies in the pool stays there, and is held
// no more than in a warm-up, so that the recording takes the same decisions.
// The memory of Vars is fixed.
func (w *Window) retain(m *Storage) {
	if !w.recording || m == nil || m.fixed || m.buf.Pool == w.pool {
		return
	}
	if _, ok := w.retained[m]; !ok {
		m.hold()
		w.retained[m] = struct{}{}
	}
}

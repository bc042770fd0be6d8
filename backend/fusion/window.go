package fusion

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Window is a capture that is open on a stream: passes of a program, some run
// to warm up and the last only recorded. Each pass is a scope. A window has no
// visible effect: Vars are put back after each pass, and random numbers come
// from a counter of the window's own.
type Window struct {
	s        *Stream
	ctx      context.Context
	pool     *Pool
	outer    backend.Pool // the pool in use outside passes
	born     ir.TensorID  // tensors with greater ids were made since
	keepVars bool         // what warm-ups do to Vars stays

	pass      int
	serial    uint64      // of the pass, unique in the process
	running   atomic.Bool // between Begin and End
	recording bool        // the device records this pass, to be kept
	graph     backend.Graph
	unrun     atomic.Bool // the device records: nothing is executed
	scope     *Scope
	began     ir.TensorID // tensors with greater ids were made in this pass
	then      notes       // of the pass before
	retained  map[*Storage]struct{}
	random    draws
	forks     *backend.Forks
	bodies    bodies
	drawing   *Drawing   // of the recording
	checks    *Recording // the window only compares a pass with it

	vars      []*Var // touched by a pass, in order of number
	snapshots map[*Var]*Storage
	pins      map[*Var]bool // whose addresses the window fixes
	written   map[*Var]int  // 1 + the first pass that writes it
	read      map[*Var]bool // a pass reads what the Var is before it

	mu       sync.Mutex // guards what follows: streams that take part note side by side
	now      notes      // of this pass
	members  []member   // streams that take part in this pass, without the first
	refusal  *backend.CaptureError
	launches []*profiled // of the recording
	taken    []*Storage  // while recording
	broken   error       // what went wrong in a body, whatever the program made of it
}

// WindowOptions say how a window captures.
type WindowOptions struct {
	KeepVars bool  // what warm-ups do to Vars stays
	Pool     *Pool // memory shared with other recordings; nil: of its own
}

// OpenWindow executes what is queued and opens a window on the stream.
func (s *Stream) OpenWindow(ctx context.Context, o WindowOptions) (*Window, error) {
	ctx = given(ctx)
	pool := o.Pool
	if pool == nil {
		pool = s.rt.NewPool()
		pool.private = true
	}
	if err := pool.open(s.rt); err != nil {
		return nil, err
	}
	w := newWindow(ctx, s, o, pool)
	if err := s.openWindow(ctx, w); err != nil {
		pool.shut(false)
		return nil, err
	}
	return w, nil
}

func newWindow(ctx context.Context, s *Stream, o WindowOptions, pool *Pool) *Window {
	return &Window{
		s: s, ctx: ctx, keepVars: o.KeepVars, pool: pool, retained: make(map[*Storage]struct{}),
		snapshots: make(map[*Var]*Storage), pins: make(map[*Var]bool), written: make(map[*Var]int), read: make(map[*Var]bool),
	}
}

func (s *Stream) openWindow(ctx context.Context, w *Window) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.rt.closed.Load() {
		return &ClosedError{"stream"}
	}
	if s.window != nil {
		return &backend.CaptureError{Reason: "a capture is open on the stream already"}
	}
	s.drain(ctx, len(s.queue.nodes))
	if err := s.takeError(); err != nil {
		return err
	}
	w.born = ir.TensorID(nextID.Load())
	s.window = w
	return nil
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
	for _, v := range w.vars {
		v.settleElsewhere(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.pass > 0 && w.checks == nil { // else they are pinned
		if err := w.pin(); err != nil {
			return err
		}
	}
	w.outer = s.rt.dev.UsePool(s.id, w.pool.id)
	if record {
		if err := s.rt.dev.BeginCapture(s.id); err != nil {
			s.rt.dev.UsePool(s.id, w.outer)
			w.refuseBy(err)
			return err
		}
		w.recording = true
		if w.checks == nil {
			w.drawing = newDrawing()
		}
		w.unrun.Store(true)
	}
	w.then, w.now = w.now, notes{}
	w.scope = &Scope{s: s, born: nextBirth.Add(1), first: s.failures}
	s.scopes = append(s.scopes, w.scope)
	w.serial, w.began = nextBirth.Add(1), ir.TensorID(nextID.Load())
	w.forks, w.bodies = backend.NewForks(s.id), bodies{}
	w.random.begin(s.rt)
	w.running.Store(true)
	return nil
}

// End ends a pass and returns the outputs, which it keeps: each dense and of
// its own memory. The pass's other tensors are dead.
func (w *Window) End(ctx context.Context, outs []*Value) ([]*Value, error) {
	ctx = given(ctx)
	w.s.arrive(outs)
	kept, err := w.collect(ctx, outs)
	if e := w.settleMembers(ctx); err == nil {
		err = e
	}
	s := w.s
	s.mu.Lock()
	// A body that does not run is noted from the second pass on.
	if err == nil && w.pass > 0 && !(w.pass == 1 && w.bodies.any) {
		if c := w.now.differs(&w.then); c != nil {
			err = c
		}
	}
	if w.random.reseeded(s.rt) && w.recording {
		w.refuseOp("the random numbers were seeded while the program ran; seed between replays", 0)
	}
	if r := w.refused(); r != nil {
		err = r
	}
	if b := w.failed(); b != nil && err == nil {
		err = b
	}
	if w.recording {
		g, e := s.rt.dev.EndCapture(s.id, err != nil || w.checks != nil)
		w.recording, w.graph = false, g
		w.unrun.Store(false)
		if err == nil && e != nil {
			w.refuseBy(e)
			err = e
		}
		if w.graph == nil {
			w.unwritten(w.born)
		}
	}
	w.leave()
	w.pass++
	s.mu.Unlock()
	w.releaseMembers(ctx)
	return kept, err
}

// collect ends the pass on the window's own stream.
func (w *Window) collect(ctx context.Context, outs []*Value) ([]*Value, error) {
	s := w.s
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
	if e := w.forks.End(); err == nil && e != nil {
		err = w.named(e)
	}
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
		if v.home != nil && v.home != s {
			_ = w.follow(s, v.home) // what it says the copy will say
		}
	}
	w.running.Store(false) // the copy is no operation of the program's
	c := s.record(&op, []*Value{v})
	w.running.Store(true)
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
	if m.buf.Pool == w.pool.id && w.pool.private && !m.fixed && m.refs.Load() == 1 && v.layout.Offset == 0 && v.layout.IsContiguous() {
		return nil
	}
	defer s.persists()()
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
	w.running.Store(false)
	freeDead(w.scope.made)
	w.s.rt.dev.UsePool(w.s.id, w.outer)
}

// Recording ends a window whose last pass was recorded and returns it. outs
// are that pass's outputs.
func (w *Window) Recording(outs []*Value) *Recording {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Recording{s: s, work: work{graph: w.graph, pool: w.pool, notes: w.now, drawing: w.drawing, launches: w.launches, draws: w.random.taken}}
	w.graph = nil
	for m := range w.retained {
		r.retained = append(r.retained, m) // with the window's holds
	}
	clear(w.retained)
	for _, m := range w.taken {
		if m.tryHold() {
			r.retained = append(r.retained, m)
		}
	}
	for _, v := range w.vars {
		r.vars = append(r.vars, recordedVar{v: v, written: w.written[v] > 0, read: w.read[v]}) // pinned by the window
	}
	w.unwritten(w.born)
	for _, o := range outs {
		r.outs = append(r.outs, s.outputVar(o))
	}
	w.close(true)
	return r
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
	unrun := w.unrun.Load()
	if w.running.Load() {
		w.endScopes()
		s.giveUp(unrun)
		w.leave()
	}
	if unrun {
		_, _ = s.rt.dev.EndCapture(s.id, true) // the reason is known already
		w.unrun.Store(false)
	}
	if w.graph != nil {
		_ = w.graph.Destroy()
	}
	if unrun || w.graph != nil {
		w.unwritten(w.born)
	}
	w.recording, s.errs = false, nil
	s.mu.Unlock()
	w.abandonMembers(unrun)
	_ = w.restore() // a Var that cannot be put back is reported when it is read
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range w.pins {
		v.unpin()
	}
	w.close(false)
}

// giveUp ends the queue of a pass that is abandoned: without executing it if
// nothing of the pass was.
func (s *Stream) giveUp(unrun bool) {
	if !unrun {
		s.drain(context.Background(), len(s.queue.nodes))
		return
	}
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

// close takes the window off the stream. The pool stays open for a recording.
func (w *Window) close(recorded bool) {
	for _, m := range w.snapshots {
		m.letGo()
	}
	for m := range w.retained {
		m.letGo()
	}
	w.s.window = nil
	for v := range w.read {
		v.window.CompareAndSwap(w, nil)
	}
	if w.drawing != nil {
		w.s.last = w.drawing
	}
	w.pool.shut(recorded)
}

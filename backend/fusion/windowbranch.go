package fusion

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Capturing reports whether a pass of a capture is open on the stream, and
// whether it is recorded.
func (s *Stream) Capturing() (pass, recorded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.window
	if w == nil || !w.running.Load() {
		return false, false
	}
	return true, w.unrun.Load()
}

// If records a conditional part in a capture: then if the predicate, a rank-0
// bool or i64, is true, els, which may be nil, if not. A replay evaluates the
// predicate on the device. Both must return tensors of the same shapes and
// dtypes; a warm-up runs the one and only plans the other. What goes wrong fails
// the pass, whatever the program makes of the error: the graph would lack it.
func (s *Stream) If(pred *Value, then, els Body) (out []*Value, err error) {
	w, err := s.conditional()
	if err != nil {
		return nil, err
	}
	defer func() { w.fail(err) }()
	s.lockWith([]*Value{pred})
	var c backend.Condition
	var taken bool
	if err = w.ready(s); err == nil {
		var p *Storage
		if p, err = w.private(s, pred); err == nil {
			defer p.letGo()
			c = backend.Condition{Pred: p.buf, Bytes: pred.bytes()}
			taken, err = w.truth(s, p)
		}
	}
	s.unlock()
	if err != nil {
		return nil, err
	}
	var res results
	if err := w.body(s, w.how(taken), c, then, &res); err != nil {
		res.letGo()
		return nil, err
	}
	c.Not = true
	if els == nil {
		els = func() ([]*Value, error) { return nil, nil }
	}
	if err := w.body(s, w.how(!taken), c, els, &res); err != nil {
		res.letGo()
		return nil, err
	}
	return s.results(&res), nil
}

// While records a loop in a capture: as long as cond says so of the state, body
// makes the next; limit bounds the rounds, 0 does not. The state keeps its
// shapes and dtypes. A replay evaluates the condition on the device.
func (s *Stream) While(limit int, init []*Value, cond func([]*Value) (*Value, error), body func([]*Value) ([]*Value, error)) (out []*Value, err error) {
	w, err := s.conditional()
	if err != nil {
		return nil, err
	}
	defer func() { w.fail(err) }()
	var state, pred results
	test := func() ([]*Value, error) {
		p, err := cond(w.carried(s, &state))
		if err == nil {
			err = Predicate(p)
		}
		return []*Value{p}, err
	}
	s.arrive(init)
	s.mu.Lock()
	err = w.ready(s)
	if err == nil {
		err = w.fill(s, init, &state)
	}
	s.mu.Unlock()
	fail := func(err error) ([]*Value, error) {
		state.letGo()
		pred.letGo()
		return nil, err
	}
	if err != nil {
		return fail(err)
	}
	// The condition is tested before the first round and at the end of each.
	if err := w.section(s, test, &pred); err != nil {
		return fail(err)
	}
	defer pred.letGo()
	c := backend.Condition{Pred: pred.mem[0].buf, Bytes: pred.mem[0].buf.Bytes, Loop: true, Limit: limit}
	round := func() ([]*Value, error) {
		// What the body makes ends before the state it was made from.
		err := w.section(s, func() ([]*Value, error) { return body(w.carried(s, &state)) }, &state)
		if err != nil {
			return nil, err
		}
		return test()
	}
	for n := 0; ; n++ {
		s.mu.Lock()
		goes, err := w.truth(s, pred.mem[0])
		s.mu.Unlock()
		if err == nil {
			err = w.ctx.Err()
		}
		if err != nil {
			state.letGo()
			return nil, err
		}
		goes = goes && (limit == 0 || n < limit)
		if n > 0 && !goes {
			break
		}
		if n == 1 {
			w.mute(1)
			defer w.mute(-1)
		}
		h := w.how(goes)
		if err := w.body(s, h, c, round, &pred); err != nil {
			state.letGo()
			return nil, err
		}
		if h != runs {
			break
		}
	}
	return s.results(&state), nil
}

// conditional returns the window a conditional part is recorded in.
func (s *Stream) conditional() (*Window, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.window; w != nil && w.running.Load() {
		return w, nil
	}
	return nil, &backend.CaptureError{Reason: backend.CaptureNotRecording}
}

// section runs f as a body that always runs.
func (w *Window) section(s *Stream, f Body, res *results) error {
	outs, sc, err := s.within(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = w.fill(s, outs, res)
	}
	if e := w.end(s, sc); err == nil {
		err = e
	}
	return err
}

// within runs f in a scope of its own, which it leaves open.
func (s *Stream) within(f Body) ([]*Value, *Scope, error) {
	sc := s.Begin()
	outs, err := f()
	s.arrive(outs)
	return outs, sc, err
}

// Predicate returns what keeps a value from being a predicate: a nil one, or one
// that is not a rank-0 bool or i64.
func Predicate(p *Value) error {
	switch {
	case p == nil:
		return &ir.ArgumentError{Msg: "the predicate is nil"}
	case p.Err() != nil:
		return p.Report()
	case len(p.shape) != 0:
		return &ir.ShapeError{Msg: fmt.Sprintf("the predicate has shape %v; it is of rank 0", p.shape)}
	case p.dtype != ir.Bool && p.dtype != ir.I64:
		return &ir.DTypeError{Msg: fmt.Sprintf("the predicate is %v; it is bool or i64", p.dtype)}
	}
	return nil
}

// private copies a value to memory that nothing writes while bodies run.
func (w *Window) private(s *Stream, v *Value) (*Storage, error) {
	var res results
	if err := w.fill(s, []*Value{v}, &res); err != nil {
		res.letGo()
		return nil, err
	}
	return res.mem[0], nil
}

// truth reads a predicate in a warm-up. Where nothing is executed both ways are
// recorded, and it is true.
func (w *Window) truth(s *Stream, p *Storage) (bool, error) {
	if w.unrun.Load() {
		return true, nil
	}
	var data [8]byte
	got := data[:p.buf.Bytes]
	if err := s.read(w.ctx, got, p, 0); err != nil {
		return false, err
	}
	return slices.ContainsFunc(got, func(b byte) bool { return b != 0 }), nil
}

// carried returns values for a loop's state as it is now. They end with the
// scope that is open.
func (w *Window) carried(s *Stream, state *results) []*Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*Value, len(state.mem))
	for i, m := range state.mem {
		m.hold() // with the loop's own hold, nothing is written over it
		out[i] = s.stored(m, state.of[i])
	}
	return out
}

// results returns values that take over the memory of results.
func (s *Stream) results(res *results) []*Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*Value, len(res.mem))
	for i, m := range res.mem {
		out[i] = s.stored(m, res.of[i])
	}
	return out
}

// stored returns a value of the innermost scope for memory, with one hold.
func (s *Stream) stored(m *Storage, of ir.TensorRef) *Value {
	v := s.rt.newValue()
	v.home, v.shape, v.dtype = s, of.Shape, of.DType
	v.store(m, codegen.Contiguous(of.Shape))
	if sc := s.innermost(); sc != nil {
		sc.add(v)
	}
	return v
}

// LastID returns the id of the tensor made last in the process.
func LastID() ir.TensorID { return ir.TensorID(nextID.Load()) }

// SameResults says how the shapes and dtypes of what a body returns differ from
// those of other values.
func SameResults(outs, like []*Value) error {
	want := make([]ir.TensorRef, len(like))
	for i, v := range like {
		want[i] = ir.TensorRef{Shape: v.shape, DType: v.dtype}
	}
	return sameResults(outs, want)
}

// sameResults says how what a body returns differs from what is expected.
func sameResults(outs []*Value, want []ir.TensorRef) error {
	if len(outs) != len(want) {
		return &ir.ShapeError{Msg: fmt.Sprintf("a body returned %d tensors, not %d", len(outs), len(want))}
	}
	for i, v := range outs {
		switch w := want[i]; {
		case v == nil:
			return &ir.ArgumentError{Msg: "a body returned nil"}
		case v.Err() != nil:
			return v.Report()
		case !slices.Equal(v.shape, w.Shape):
			return &ir.ShapeError{Msg: fmt.Sprintf("a body returned shape %v for tensor %d, not %v", v.shape, i, w.Shape)}
		case v.dtype != w.DType:
			return &ir.DTypeError{Msg: fmt.Sprintf("a body returned %v for tensor %d, not %v", v.dtype, i, w.DType)}
		}
	}
	return nil
}

// mute begins or ends the rounds of a loop that take no notes.
func (w *Window) mute(by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies.muted += by
}

// unplaced is a deferred value from outside a body, in the body: what stands for
// it there is made anew, so that the value itself is not computed in a body that
// may not run. The stream is locked.
func (w *Window) unplaced(s *Stream, v *Value) *Value {
	if x := w.bodies.stand[v]; x != nil {
		return x
	}
	d := v.deferred.Load()
	if d == nil || d.born >= w.bodies.birth {
		return v // of the body, or another stream placed it meanwhile
	}
	n := &node{op: d.op}
	n.in = n.inArr[:0]
	for _, x := range d.in {
		t := x.target()
		if t.is(Unplaced) {
			t = w.unplaced(s, t)
		}
		n.in = append(n.in, t)
	}
	x := s.rt.newValue()
	x.home, x.pc, x.shape, x.dtype, x.node = s, v.pc, v.shape, v.dtype, n
	n.op.Outputs = []ir.TensorRef{{ID: x.id, Shape: v.shape, DType: v.dtype}}
	n.out = x
	w.bodies.stand[v] = x
	_ = w.note(s, n)
	s.push(n)
	return x
}

package fusion

import "github.com/sinter-ml/sinter/ir"

// deferred is an operation all of whose operands belong to no stream, such as
// a view of a Var. It is recorded when its result is first used, on the stream
// that uses it: so a transposed weight fuses into what reads it, whatever
// stream that is on. Until then it holds its operands, which may be released.
type deferred struct {
	op   ir.Operation
	in   []*Value
	held []*Storage // by operand: the memory of a constant; nil for a version, which is asked for, and a deferred operand, which is wanted
	born uint64     // orders it against the beginnings of scopes
}

// Defer returns the result of an operation on leaves, to be recorded at its
// first use. A bad operation gives a value that carries an *ir.OpError, an
// unreported error of the default stream.
func (rt *Runtime) Defer(op ir.Operation, in ...*Value) *Value {
	d := &deferred{op: op, born: nextBirth.Add(1)}
	for _, x := range in {
		bad := x == nil || x.rt != rt || x.dead() || x.State() == Failed
		if bad || rt.closed.Load() {
			return rt.def.Record(op, in...) // which finds the same fault
		}
		d.in = append(d.in, x)
		d.op.Inputs = append(d.op.Inputs, ir.TensorRef{ID: x.id, Shape: x.shape, DType: x.dtype})
	}
	if err := d.op.Check(); err != nil {
		return rt.def.Record(op, in...)
	}
	if s := rt.hold(d); s != nil {
		return s.Record(op, in...)
	}
	v := rt.newValue()
	v.pc, v.shape, v.dtype = op.PC, d.op.Outputs[0].Shape, d.op.Outputs[0].DType
	v.deferred.Store(d)
	v.setState(Unplaced)
	return v
}

// hold makes sure that the operands of d stay. If one is on a stream, because
// somebody placed it since, nothing is held and that stream returned.
func (rt *Runtime) hold(d *deferred) *Stream {
	rt.placing.Lock()
	defer rt.placing.Unlock()
	for _, x := range d.in {
		if t := x.target(); t.version == nil && !t.is(Unplaced) && t.home != nil {
			return t.home
		}
	}
	d.held = make([]*Storage, len(d.in))
	for i, x := range d.in {
		t := x.target()
		switch {
		case t.version != nil:
			t.version.ask()
		case t.is(Unplaced):
			t.wants.Add(1)
		case t.storage != nil:
			d.held[i] = t.storage
			t.storage.hold()
		}
	}
	return nil
}

// letGo drops what d holds and calls unwanted for each operand that was
// deferred, too, and that no other deferred operation needs.
func (d *deferred) letGo(unwanted func(t *Value)) {
	for i, x := range d.in {
		switch t := x.target(); {
		case t.version != nil:
			t.version.unask()
		case d.held[i] != nil:
			d.held[i].letGo()
		case t.wants.Add(-1) == 0:
			unwanted(t)
		}
	}
}

// place records a deferred value on s, and those it is computed from, unless
// somebody did before. It returns a value that another stream has to store
// first, nil if there is none. The stream's lock is held.
func (s *Stream) place(v *Value) (away *Value) {
	d := v.deferred.Load()
	if d == nil {
		return s.awaited(v)
	}
	if s.window != nil && d.born < s.window.bodies.birth {
		return nil // it stays as it is: see Window.fromOutside
	}
	for _, x := range d.in {
		if a := s.place(x.target()); a != nil {
			return a
		}
	}
	s.rt.placing.Lock()
	if v.deferred.Load() == nil {
		s.rt.placing.Unlock()
		return s.awaited(v) // another stream, or its end, was first
	}
	v.home = s
	v.setState(Pending) // it publishes the home
	v.deferred.Store(nil)
	s.rt.placing.Unlock()
	defer d.letGo(s.unwanted)
	n := &node{op: d.op, out: v}
	n.in = n.inArr[:0]
	for _, x := range d.in {
		if x.handle != nil && !x.dead() {
			s.claim(x)
		}
		t := x.target()
		if s.window != nil {
			var err error
			if t, err = s.window.fromOutside(s, t); err != nil {
				v.fail = &failure{err: opError(&n.op, n.in, err)}
				v.setState(Failed)
				return nil
			}
		}
		n.in = append(n.in, t)
	}
	if f := s.demand(n.in); f != nil {
		v.fail = f
		v.setState(Failed)
		return nil
	}
	n.op.Outputs = []ir.TensorRef{{ID: v.id, Shape: v.shape, DType: v.dtype}}
	v.node = n
	if w := s.window; w != nil && w.running.Load() && w.scope.born < d.born {
		// One from before the pass is recorded in one pass only.
		if err := w.note(s, n); err != nil {
			v.fail = &failure{err: opError(&n.op, n.in, err)}
			v.setState(Failed)
			return nil
		}
	}
	s.enqueue(n)
	for i := len(s.scopes) - 1; i >= 0; i-- {
		if sc := s.scopes[i]; sc.born < d.born {
			sc.add(v)
			break
		}
	}
	return nil
}

// awaited returns v if another stream has to store it before s can use it.
func (s *Stream) awaited(v *Value) *Value {
	if v.awayFrom(s) {
		return v
	}
	return nil
}

// unwanted frees an operand of deferred operations that all have been placed,
// if it is dead. That of another stream is freed by unlock.
func (s *Stream) unwanted(t *Value) {
	switch {
	case !t.dead() || t.is(Pending):
	case t.home == s:
		t.letGo()
	default:
		s.owed = append(s.owed, t)
	}
}

// lockWith locks s when everything deferred among the operands is recorded on
// it and nothing of theirs is pending or virtual on other streams. It takes
// one stream's lock at a time; none may be held.
func (s *Stream) lockWith(in []*Value) {
	for {
		s.mu.Lock()
		away := s.placeAll(in)
		if away == nil {
			return
		}
		s.unlock()
		away.home.materialise(away)
	}
}

// placeAll places operands on s. It returns a value that another stream has to
// store first.
func (s *Stream) placeAll(in []*Value) (away *Value) {
	for _, v := range in {
		if v == nil || v.rt != s.rt || v.dead() {
			continue
		}
		if a := s.place(v.target()); a != nil {
			return a
		}
	}
	return nil
}

// unlock ends what lockWith began.
func (s *Stream) unlock() {
	owed := s.owed
	s.owed = nil
	s.mu.Unlock()
	for _, t := range owed {
		t.free()
	}
}

// free drops the hold of a dead value on its memory. No lock is held.
func (v *Value) free() {
	if v.home == nil {
		return // it was never placed
	}
	v.home.mu.Lock()
	defer v.home.mu.Unlock()
	if !v.is(Pending) {
		v.letGo()
	}
}

// drop ends a value that is deferred still: what it holds is let go unless a
// deferred operation needs it. It reports false if the value has been placed.
func (v *Value) drop(why *death) bool {
	rt := v.rt
	rt.placing.Lock()
	if !v.is(Unplaced) {
		rt.placing.Unlock()
		return false
	}
	v.death.CompareAndSwap(nil, why)
	var d *deferred
	if v.wants.Load() == 0 {
		d = v.deferred.Load()
		v.setState(Gone)
		v.deferred.Store(nil)
	}
	rt.placing.Unlock()
	if d != nil {
		d.letGo(func(t *Value) {
			if t.dead() && !t.drop(why) {
				t.free()
			}
		})
	}
	return true
}

package fusion

import "github.com/sinter-ml/sinter/ir"

// deferred is an operation all of whose operands belong to no stream, such as
// a view of a Var. It is recorded when its result is first used, on the stream
// that uses it: so a transposed weight fuses into what reads it, whatever
// stream that is on. Until then it holds its operands, which may be released.
type deferred struct {
	op   ir.Operation
	in   []*Value
	born uint64 // orders it against the beginnings of scopes
}

// Defer returns the result of an operation on leaves, to be recorded at its
// first use. A bad operation gives a value that carries an *ir.OpError, an
// unreported error of the default stream.
func (rt *Runtime) Defer(op ir.Operation, in ...*Value) *Value {
	v := rt.newValue()
	d := &deferred{op: op, born: nextBirth.Add(1)}
	s := rt.def
	for _, x := range in {
		bad := x == nil || x.rt != rt || x.dead() || x.State() == Failed
		if bad || rt.closed.Load() {
			return s.Record(op, in...) // which finds the same fault
		}
		d.in = append(d.in, x)
		d.op.Inputs = append(d.op.Inputs, ir.TensorRef{ID: x.id, Shape: x.shape, DType: x.dtype})
	}
	if err := d.op.Check(); err != nil {
		return s.Record(op, in...)
	}
	v.pc, v.shape, v.dtype = op.PC, d.op.Outputs[0].Shape, d.op.Outputs[0].DType
	for _, x := range d.in {
		if t := x.target(); t.version != nil {
			t.version.ask()
		} else if t.storage != nil {
			t.storage.hold()
		}
	}
	v.deferred.Store(d)
	v.setState(Unplaced)
	return v
}

func (d *deferred) letGo() {
	for _, x := range d.in {
		if t := x.target(); t.version != nil {
			t.version.unask()
		} else if t.storage != nil {
			t.storage.letGo()
		}
	}
}

// place records a deferred value on s, if nobody did yet. The stream's lock is
// held.
func (s *Stream) place(v *Value) {
	s.rt.placing.Lock()
	d := v.deferred.Swap(nil)
	if d == nil {
		s.rt.placing.Unlock()
		return
	}
	v.home = s
	v.setState(Pending)
	s.rt.placing.Unlock()
	defer d.letGo()
	n := &node{op: d.op, out: v}
	n.in = n.inArr[:0]
	for _, x := range d.in {
		t := x.target()
		if t.is(Unplaced) {
			s.place(t)
		}
		if x.handle != nil && !x.dead() {
			s.claim(x)
		}
		n.in = append(n.in, t)
	}
	if f := s.demand(n.in); f != nil {
		v.fail = f
		v.setState(Failed)
		return
	}
	n.op.Outputs = []ir.TensorRef{{ID: v.id, Shape: v.shape, DType: v.dtype}}
	v.node = n
	s.enqueue(n)
	for i := len(s.scopes) - 1; i >= 0; i-- {
		if sc := s.scopes[i]; sc.born < d.born {
			sc.add(v)
			break
		}
	}
}

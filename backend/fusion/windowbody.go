package fusion

import (
	"slices"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// bodies is where a pass stands in conditional parts.
type bodies struct {
	any   bool // the pass has conditional parts
	depth int  // bodies that are open
	muted int  // open bodies that run again: they take no notes

	// Of the innermost open body:
	began ir.TensorID // tensors with greater ids were made in it
	birth uint64
	stand map[*Value]*Value // what stands in it for deferred values from outside
}

// Body is what runs on a condition: it returns the results. No lock is held.
type Body func() ([]*Value, error)

// how says what becomes of a body in a pass.
type how uint8

const (
	runs     how = iota // executed, in a warm-up
	unrun               // recorded and thrown away, in a warm-up: so that it is planned and compiled
	recorded            // recorded for the graph
	skipped             // neither, in the first warm-up: Vars it writes have no fixed address yet
)

// how returns what becomes of a body of which a warm-up knows whether it runs.
func (w *Window) how(taken bool) how {
	switch {
	case w.unrun.Load():
		return recorded // for the graph, or for nothing within a body that does not run
	case taken:
		return runs
	case w.pass == 0:
		return skipped
	}
	return unrun
}

// ready makes what bodies may use real before them: in a replay a body may not
// run, so nothing from outside may be computed in it. It copies old versions of
// Vars aside, which an effect in a body would only do if the body runs.
func (w *Window) ready(s *Stream) error {
	for _, sc := range s.scopes {
		for _, v := range sc.made {
			if v.is(Pending) && !v.dead() {
				v.asked = true
			}
		}
	}
	s.drain(w.ctx, len(s.queue.nodes))
	for _, sc := range s.scopes {
		for _, v := range sc.made {
			if v.is(Virtual) && !v.dead() {
				_ = s.late(v) // what fails stays with the value
			}
		}
		for _, h := range sc.handles {
			if t := h.handle.of; t.is(Patched) && !h.dead() {
				t.version.v.content.Lock()
				s.resolve(t)
				t.version.v.content.Unlock()
			}
		}
	}
	for _, v := range w.overwritten() {
		v.content.Lock()
		var err error
		if v.pinned {
			err = s.supersede(v)
		}
		v.content.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// results is memory for what bodies return, in the window's pool. It is made
// when the first of them returns.
type results struct {
	mem []*Storage
	of  []ir.TensorRef // shapes and dtypes
}

func (r *results) letGo() {
	for _, m := range r.mem {
		m.letGo()
	}
	r.mem = nil
}

// body runs a body as how says, and copies what it returns into res. What it
// makes is dead afterwards.
func (w *Window) body(s *Stream, h how, c backend.Condition, f Body, res *results) error {
	if h == skipped {
		w.bodies.any = true
		return nil
	}
	s.mu.Lock()
	outside, err := w.enter(s, h, c)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	outs, sc, err := s.within(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = w.fill(s, outs, res)
	}
	return w.exit(s, h, sc, outside, err)
}

// enter begins a body on s, which is locked.
func (w *Window) enter(s *Stream, h how, c backend.Condition) (outside bodies, err error) {
	outside = w.bodies
	if err := w.forks.Enter(s.id); err != nil {
		return outside, w.named(err)
	}
	switch h {
	case unrun:
		err = s.rt.dev.BeginCapture(s.id)
		w.unrun.Store(err == nil)
	case recorded:
		err = s.rt.dev.BeginBody(s.id, c)
	}
	if err != nil {
		_ = w.forks.Leave(s.id)
		return outside, err
	}
	w.draw(func(d *Drawing) { d.enter(s.id, c) })
	w.bodies.depth++
	w.bodies.stand = make(map[*Value]*Value)
	w.bodies.began, w.bodies.birth = ir.TensorID(nextID.Load()), nextBirth.Add(1)
	return outside, nil
}

// exit ends a body on s, which is locked; err is what went wrong in it.
func (w *Window) exit(s *Stream, h how, sc *Scope, outside bodies, err error) error {
	if e := w.end(s, sc); err == nil {
		err = e
	}
	if e := w.forks.Leave(s.id); err == nil && e != nil {
		err = w.named(e)
	}
	began := w.bodies.began
	w.bodies = outside
	w.bodies.any = true
	switch h {
	case unrun:
		w.unrun.Store(false)
		if _, e := s.rt.dev.EndCapture(s.id, true); err == nil {
			err = e
		}
	case recorded:
		if e := s.rt.dev.EndBody(s.id); err == nil {
			err = e
		}
	}
	w.draw(func(d *Drawing) { d.leave(s.id) })
	if h != runs {
		w.unwritten(began) // the Vars have the memory and the content they had
	}
	return err
}

// end ends a scope on s, which is locked, and executes what is left of it.
func (w *Window) end(s *Stream, sc *Scope) error {
	var made []*Value
	for !sc.ended {
		made = append(made, s.endInnermost(0)...)
	}
	s.drain(w.ctx, len(s.queue.nodes))
	freeDead(made)
	return s.takeErrorSince(sc.first)
}

// fill copies values into the results' memory.
func (w *Window) fill(s *Stream, outs []*Value, res *results) error {
	in := make([]*Value, len(outs))
	for i, v := range outs {
		if v == nil {
			return &ir.ArgumentError{Msg: "a tensor of the state, or one that a body returned, is nil"}
		}
		t, f, err := s.operand(v)
		if err != nil {
			return err
		}
		if f != nil {
			return f.report()
		}
		if t.version == nil {
			t.asked = true
			if t.home != nil && t.home != s && w.has(t) {
				if err := w.follow(s, t.home); err != nil {
					return err
				}
			}
		}
		in[i] = t
	}
	s.drain(w.ctx, len(s.queue.nodes))
	if err := res.make(s, in); err != nil {
		return err
	}
	// What lies in the memory the results go to is copied apart first.
	from := make([]*Storage, len(in))
	lays := make([]codegen.Layout, len(in))
	for i, v := range in {
		m, l, err := s.settled(v)
		if err != nil {
			return err
		}
		if !l.IsContiguous() || slices.Contains(res.mem, m) {
			if m, err = s.copyOut(m, l, v.dtype); err != nil {
				return err
			}
			l = codegen.Contiguous(v.shape)
			defer m.letGo()
		}
		from[i], lays[i] = m, l
	}
	for i, m := range from {
		if err := s.move(res.mem[i], m, lays[i].Offset*in[i].dtype.Size(), in[i].bytes()); err != nil {
			return err
		}
	}
	return nil
}

// make makes memory for values, or checks that they fit what there is.
func (r *results) make(s *Stream, vs []*Value) error {
	if r.of != nil {
		return sameResults(vs, r.of)
	}
	r.of = []ir.TensorRef{}
	for _, v := range vs {
		m, err := s.alloc(v.bytes())
		if err != nil {
			return err
		}
		r.mem = append(r.mem, m)
		r.of = append(r.of, ir.TensorRef{Shape: v.shape, DType: v.dtype})
	}
	return nil
}

// fromOutside returns what stands in a body for an operand, which may be from
// outside it, where it must be real already.
func (w *Window) fromOutside(s *Stream, t *Value) (*Value, error) {
	switch {
	case w.bodies.depth == 0:
	case t.is(Unplaced):
		return w.unplaced(s, t), nil
	case w.unrun.Load() && t.id <= w.bodies.began && (t.is(Virtual) || t.is(Patched)):
		w.refuseOp("a body of If or While uses a tensor from outside that has not been computed; read it or use it before", t.pc)
		return nil, w.refused()
	}
	return t, nil
}

// settled returns where an executed value lies. A version of a Var keeps its
// memory as long as the stream is locked and the Var's address is fixed.
func (s *Stream) settled(v *Value) (*Storage, codegen.Layout, error) {
	if v.is(Virtual) {
		_ = s.late(v)
	}
	if v.version != nil {
		c := &v.version.v.content
		c.Lock()
		defer c.Unlock()
	}
	if f := s.resolve(v); f != nil {
		return nil, codegen.Layout{}, f.report()
	}
	if v.storage == nil {
		return nil, codegen.Layout{}, lost
	}
	return v.storage, v.layout, nil
}

// move copies n bytes to the beginning of to.
func (s *Stream) move(to, from *Storage, offset, n int) error {
	if n == 0 {
		return nil
	}
	return s.copy(to, from, offset, n)
}

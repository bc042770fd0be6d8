package livemodel

// Tensor is an engine's handle to a value; Var its handle to a variable.
type (
	Tensor any
	Var    any
)

// Engine is what a program runs on: what a user could do, on one stream. The
// Model is an Engine, too.
type Engine interface {
	// NewVar makes a Var. No handle to its first version is left.
	NewVar(data []float32, shape []int) Var
	// From makes a leaf, which belongs to the innermost scope.
	From(data []float32, shape []int) Tensor
	// Op records the one operation of c. An impossible one gives a tensor that
	// carries an error.
	Op(c Call, in []Tensor) Tensor
	Value(v Var) Tensor
	// Effect records the Set or SetSlice of c.
	Effect(c Call, v Var, t Tensor)

	// Read returns the values of t. site is the call's own.
	Read(site int, t Tensor) ([]float32, error)
	Flush() error
	BeginScope()
	Keep(t Tensor) // by the innermost scope, to which t belongs
	EndScope() error
	Release(t Tensor)
	// Forgot says that the program dropped a handle: a place to collect
	// garbage, which must change nothing.
	Forgot()

	// Cause returns the first cause of an error this engine gave.
	Cause(err error) Cause
}

// Inspector is an Engine that shows what it did.
type Inspector interface {
	// Events returns the drains and late demands since the last call, in order.
	// Operations are numbered from 0 as they are queued, effects among them;
	// leaves, handles and what could not be recorded have no number.
	Events() []Event
}

// runner executes a program's steps on one engine.
type runner struct {
	e     Engine
	vars  []Var
	regs  map[int]Tensor
	held  []Tensor
	depth int
	step  int
}

func newRunner(e Engine, p *Program) *runner {
	r := &runner{e: e, regs: map[int]Tensor{}}
	for i, shape := range p.Vars {
		r.vars = append(r.vars, e.NewVar(fill(i, size(shape)), shape))
	}
	return r
}

// do executes one step and returns what happened.
func (r *runner) do(s *Step, iter int) Trace {
	defer func() {
		if s.Op != OpDrop {
			r.step++
		}
	}()
	in := make([]Tensor, len(s.In))
	for i, reg := range s.In {
		t, ok := r.regs[reg]
		if !ok {
			return nil
		}
		in[i] = t
	}
	c := s.call(iter)
	var out Trace
	put := func(t Tensor) { r.regs[s.Out] = t }
	read := func(t Tensor) {
		v, err := r.e.Read(s.Site, t)
		out = append(out, r.events()...)
		if err != nil {
			out = append(out, Event{Kind: EventErr, Step: r.step, Cause: r.e.Cause(err)})
		} else {
			out = append(out, Event{Kind: EventValue, Step: r.step, Values: v})
		}
	}
	fail := func(err error) {
		out = append(out, r.events()...)
		if err != nil {
			out = append(out, Event{Kind: EventErr, Step: r.step, Cause: r.e.Cause(err)})
		}
	}
	switch s.Op {
	case OpFrom:
		put(r.e.From(fill(c.Seed, size(c.Shape)), c.Shape))
	case OpValue:
		put(r.e.Value(r.vars[s.Var]))
	case OpSet, OpSetSlice:
		r.e.Effect(c, r.vars[s.Var], in[0])
	case OpRead:
		read(in[0])
	case OpFlush:
		fail(r.e.Flush())
	case OpScopeBegin:
		r.depth++
		r.e.BeginScope()
	case OpKeep:
		if r.depth > 0 {
			r.e.Keep(in[0])
		}
	case OpScopeEnd:
		if r.depth > 0 {
			r.depth--
			fail(r.e.EndScope())
		}
	case OpRelease:
		r.e.Release(in[0])
	case OpDrop:
		delete(r.regs, s.In[0])
		r.e.Forgot()
	case OpMove:
		put(in[0])
	case OpHold:
		r.held = append(r.held, in[0])
	case OpReadHeld:
		for _, t := range r.held {
			read(t)
		}
	default:
		put(r.e.Op(c, in))
	}
	return append(out, r.events()...)
}

func (r *runner) events() Trace {
	in, ok := r.e.(Inspector)
	if !ok {
		return nil
	}
	ev := in.Events()
	for i := range ev {
		ev[i].Step = r.step
	}
	return ev
}

// each calls f with every step of p that is executed, in order, until f
// returns false. Scopes left open are ended.
func (p *Program) each(f func(s *Step, iter int) bool) {
	open := 0
	run := func(steps []Step, iter int) bool {
		for i := range steps {
			s := &steps[i]
			if s.Every > 0 && iter%s.Every != s.Phase {
				continue
			}
			switch {
			case s.Op == OpScopeBegin:
				open++
			case s.Op == OpScopeEnd && open > 0:
				open--
			}
			if !f(s, iter) {
				return false
			}
		}
		return true
	}
	if !run(p.Init, 0) {
		return
	}
	for i := range p.Times {
		if !run(p.Body, i) {
			return
		}
	}
	if !run(p.Final, p.Times) {
		return
	}
	for open > 0 {
		open--
		if !f(&Step{Call: Call{Op: OpScopeEnd}, Out: -1}, p.Times) {
			return
		}
	}
}

// Run executes p on e and returns what happened.
func Run(e Engine, p *Program) Trace {
	r := newRunner(e, p)
	var t Trace
	p.each(func(s *Step, iter int) bool {
		t = append(t, r.do(s, iter)...)
		return true
	})
	return t
}

package livemodel

import (
	"errors"
	"fmt"
	"slices"
)

// Config is what a model is given.
type Config struct {
	// Cut is the queue length at which the recorded sequence's period is looked
	// for; 0: 4,096.
	Cut int
	// Planner forms the blocks; nil: Greedy.
	Planner Planner
	// Uniform gives the n numbers of the draw with this number; nil: Philox
	// with seed 0 and the number as offset.
	Uniform func(draw, n int) []float32
}

// Model runs programs by the rules of the package comment. Besides eager
// values it keeps storage as the rules say it is kept, computes every block
// and recipe from that storage, and checks each result against the eager
// value: a wrong rule shows as a Fault.
type Model struct {
	cfg   Config
	rules rules

	queue    []*node
	ops      int // recorded so far
	segment  int
	draws    int
	vars     []*variable
	living   []*node // values that may depend on others' storage
	remember map[uint64]bool
	scope    *scope
	failures []*failure

	plans  map[string]bool
	events []Event
	faults []error
}

// New returns a model with no Vars and an empty queue.
func New(cfg Config) *Model {
	if cfg.Cut == 0 {
		cfg.Cut = 4096
	}
	if cfg.Planner == nil {
		cfg.Planner = Greedy{}
	}
	if cfg.Uniform == nil {
		cfg.Uniform = func(draw, n int) []float32 { return Philox(0, uint64(draw), n) }
	}
	return &Model{
		cfg: cfg, rules: standard(),
		remember: map[uint64]bool{}, plans: map[string]bool{},
	}
}

// Fault returns the first thing that should be impossible under the rules: a
// value that differs from eager evaluation, or an illegal plan.
func (m *Model) Fault() error {
	if len(m.faults) == 0 {
		return nil
	}
	return m.faults[0]
}

func (m *Model) fault(format string, args ...any) {
	m.faults = append(m.faults, fmt.Errorf(format, args...))
}

// Events implements Inspector.
func (m *Model) Events() []Event {
	ev := m.events
	m.events = nil
	return ev
}

// leaf returns a value that is stored from the start.
func leaf(data []float32, shape []int) *node {
	return &node{op: -1, shape: shape, truth: data, state: stored, store: &buffer{slices.Clone(data)}}
}

// NewVar implements Engine.
func (m *Model) NewVar(data []float32, shape []int) Var {
	v := &variable{id: len(m.vars), cur: leaf(data, shape)}
	v.cur.v = v
	m.vars = append(m.vars, v)
	m.living = append(m.living, v.cur)
	return v
}

// From implements Engine.
func (m *Model) From(data []float32, shape []int) Tensor { return m.hand(leaf(data, shape)) }

// hand makes a living handle to n, which dies with the innermost scope.
func (m *Model) hand(n *node) *handle {
	h := &handle{n: n, scope: m.scope}
	n.handles++
	if h.scope != nil {
		h.scope.handles = append(h.scope.handles, h)
	}
	return h
}

// Value implements Engine: a handle to the present version.
func (m *Model) Value(v Var) Tensor { return m.hand(v.(*variable).cur) }

// Op implements Engine.
func (m *Model) Op(c Call, in []Tensor) Tensor {
	nodes, err := m.use(c.Site, in...)
	if err != nil {
		return &handle{err: err}
	}
	n, err := m.record(c, nodes)
	if err != nil {
		return &handle{err: err}
	}
	h := m.hand(n)
	m.maybeCut()
	return h
}

// Effect implements Engine. One that cannot be recorded leaves the Var as it
// was.
func (m *Model) Effect(c Call, v Var, t Tensor) {
	nodes, err := m.use(c.Site, t)
	if err != nil {
		return
	}
	w := v.(*variable)
	n, err := m.record(c, append(nodes, w.cur))
	if err != nil {
		return
	}
	n.v = w
	w.cur = n
	m.maybeCut()
}

// use returns the values behind operands, or the first cause if one carries an
// error or died.
func (m *Model) use(site int, in ...Tensor) ([]*node, *failure) {
	var nodes []*node
	for _, t := range in {
		h := t.(*handle)
		switch {
		case h.err != nil:
			return nil, h.err
		case h.dead:
			return nil, m.fail(Released, site)
		}
		nodes = append(nodes, h.n)
	}
	return nodes, nil
}

func (m *Model) fail(kind ErrKind, site int) *failure {
	f := &failure{Cause: Cause{kind, site}}
	m.failures = append(m.failures, f)
	return f
}

// record queues an operation, once its shapes fit. Virtual operands become
// real first.
func (m *Model) record(c Call, in []*node) (*node, *failure) {
	shapes := make([][]int, len(in))
	values := make([][]float32, len(in))
	for i, x := range in {
		shapes[i], values[i] = x.shape, x.truth
	}
	shape, err := inferShape(c, shapes)
	if err != nil {
		return nil, m.fail(BadOp, c.Site)
	}
	for _, x := range in {
		m.demand(x)
	}
	n := &node{op: m.ops, call: c, in: in, shape: shape, segment: m.segment}
	if c.Op == OpUniform {
		n.drawn = m.cfg.Uniform(m.draws, size(shape))
		n.truth = n.drawn
		m.draws++
	} else {
		n.truth = eval(c, shapes, shape, values)
	}
	m.ops++
	n.hash = m.rules.hash(m, n)
	m.queue = append(m.queue, n)
	return n, nil
}

// demand makes a virtual value real: its recipe runs at once, before
// everything queued, and its hash is remembered. So is the hash of one that is
// stored by chance: another plan of the same sequence might not store it. A view of a Var's memory gets
// memory of its own, which is no news.
func (m *Model) demand(n *node) {
	m.copyView(n)
	if n.chance {
		m.remember[n.hash], n.chance = true, false
	}
	if n.state != virtual {
		return
	}
	m.events = append(m.events, Event{Kind: EventLate, Op: n.op})
	m.remember[n.hash] = true
	m.rules.late(m, n)
}

// Read implements Engine. Only a pending value drains.
func (m *Model) Read(site int, t Tensor) ([]float32, error) {
	nodes, err := m.use(site, t)
	if err != nil {
		err.reported = true
		return nil, err
	}
	n := nodes[0]
	m.demand(n)
	if n.state == pending {
		n.read = true
		m.drain(len(m.queue))
		m.demand(n)
	}
	got := m.fetch(n)
	if !sameBits(got, n.truth) {
		m.fault("read of #%d gives %v, want %v", n.op, got, n.truth)
	}
	return got, nil
}

// Flush implements Engine: it returns the first error nobody was told of.
func (m *Model) Flush() error {
	m.drain(len(m.queue))
	return m.report(0)
}

// report returns the first unreported error from a position on, and counts all
// of them as reported.
func (m *Model) report(from int) error {
	var first error
	for _, f := range m.failures[from:] {
		if !f.reported && first == nil {
			first = f
		}
		f.reported = true
	}
	return first
}

// BeginScope implements Engine.
func (m *Model) BeginScope() {
	m.scope = &scope{parent: m.scope, kept: map[*handle]bool{}, first: len(m.failures)}
}

// Keep implements Engine.
func (m *Model) Keep(t Tensor) {
	h := t.(*handle)
	if h.err != nil || h.dead || h.scope != m.scope {
		return
	}
	m.scope.kept[h] = true
	h.n.kept = true
}

// EndScope implements Engine: what was not kept dies, and the outermost scope
// drains.
func (m *Model) EndScope() error {
	s := m.scope
	m.scope = s.parent
	for _, h := range s.handles {
		if !s.kept[h] {
			m.kill(h)
			continue
		}
		h.scope = s.parent
		if s.parent != nil {
			s.parent.handles = append(s.parent.handles, h)
		}
	}
	if s.parent == nil {
		m.drain(len(m.queue))
	}
	return m.report(s.first)
}

// Release implements Engine.
func (m *Model) Release(t Tensor) { m.kill(t.(*handle)) }

func (m *Model) kill(h *handle) {
	if h.err != nil || h.dead {
		return
	}
	h.dead = true
	h.n.handles--
	if h.n.dead() && h.n.state == virtual {
		h.n.state = gone
	}
}

// Forgot implements Engine: a forgotten handle is as alive as any other.
func (m *Model) Forgot() {}

// Cause implements Engine.
func (m *Model) Cause(err error) Cause {
	var f *failure
	if !errors.As(err, &f) {
		return Cause{}
	}
	return f.Cause
}

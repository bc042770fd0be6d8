package fusion

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// findPlan finds the segment's plan, or makes one, and binds it to the lengths,
// slice starts and layouts at hand.
func (e *executor) findPlan() error {
	e.stateFacts()
	rt := e.s.rt
	if e.bound() {
		e.s.stats.hits.Add(1)
		return nil
	}
	k := e.key()
	if p := rt.plans.lookup(e, k); p != nil {
		e.s.stats.hits.Add(1)
		e.plan = p
		return e.rebind(k)
	}
	seg := e.segment()
	made, err := rt.planner.Plan(seg)
	if err != nil {
		return err
	}
	e.s.stats.explorations.Add(1)
	e.plan, e.explored = rt.plans.prepare(e, made), true
	rt.plans.add(e, k, seg, made)
	return e.rebind(k)
}

// stateFacts writes the facts that are part of a plan's key beside the
// relative form: what is asked for, dead and in place, and how inputs lie.
func (e *executor) stateFacts() {
	g := &e.seg
	facts := e.facts[:0]
	var word uint64
	var used uint
	put := func(bits uint64, n uint) {
		if used+n > 64 {
			facts = append(facts, word)
			word, used = 0, 0
		}
		word |= bits << used
		used += n
	}
	bit := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	effects := false
	f := &e.flags
	for i, n := range g.nodes {
		put(bit(f.asked[i])|bit(f.dead[i])<<1|bit(f.inPlace[i])<<2, 3)
		effects = effects || n.v != nil
	}
	e.buffers = e.buffers[:0]
	for _, r := range g.inputs {
		v := g.tensors[r]
		dense := v.storage == nil || v.layout.IsContiguous()
		takeable := v.version == nil && v.over() && v.storage != nil && v.storage.refs.Load() == 1
		put(bit(dense)|bit(v.version != nil)<<1|bit(takeable)<<2, 3)
		if effects || takeable {
			put(uint64(e.buffer(v))&0xffff, 16)
		}
	}
	e.facts = append(facts, word)
}

// buffer numbers the distinct buffers of inputs within the segment, from 1.
func (e *executor) buffer(v *Value) int {
	if v.storage == nil {
		return 0
	}
	for i, m := range e.buffers {
		if m == v.storage {
			return i + 1
		}
	}
	e.buffers = append(e.buffers, v.storage)
	return len(e.buffers)
}

// bound looks for a binding the stream keeps for exactly this segment, with
// these lengths, slice starts and layouts, and takes it.
func (e *executor) bound() bool {
	for _, b := range e.s.bound[e.hash()] {
		if e.fits(b) {
			e.plan, e.bind = b.plan, b
			e.stored = append(e.stored[:0], b.lay...)
			return true
		}
	}
	return false
}

func (e *executor) fits(b *binding) bool {
	rel := &e.seg.rel
	n := len(rel.Tokens)
	if len(b.tokens) != n+len(e.facts) || !slices.Equal(b.tokens[:n], rel.Tokens) || !slices.Equal(b.tokens[n:], e.facts) {
		return false
	}
	if !slices.Equal(b.dims, rel.Dims) {
		return false
	}
	at := 0
	for _, n := range e.seg.nodes {
		for i := range n.op.Ranges {
			if b.starts[at] != n.op.Ranges[i].Start {
				return false
			}
			at++
		}
	}
	for i, r := range b.inputs {
		if !sameLayout(b.layouts[i], e.seg.tensors[r].layout) {
			return false
		}
	}
	return !b.plan.scalarGuards || b.plan.Holds(optimize.Facts{Dims: b.dims, Layouts: b.lay, Ops: e.operations()})
}

func sameLayout(a, b codegen.Layout) bool {
	return a.Offset == b.Offset && slices.Equal(a.Strides, b.Strides)
}

// layouts fills in how every tensor lies, views of the segment left out.
func (e *executor) layouts() {
	g := &e.seg
	e.stored = grow(e.stored, len(g.tensors))
	for r, v := range g.tensors {
		if g.outside[r] && v.storage != nil {
			e.stored[r] = v.layout
		} else {
			e.stored[r] = codegen.Contiguous(v.shape)
		}
	}
}

// rebind computes the plan's layouts and launches anew and keeps them.
func (e *executor) rebind(k optimize.Key) error {
	g := &e.seg
	b := &binding{plan: e.plan, tokens: slices.Clone(k.Tokens), dims: slices.Clone(g.rel.Dims),
		launches: make([][]codegen.Launch, len(e.plan.steps))}
	for _, n := range g.nodes {
		for i := range n.op.Ranges {
			b.starts = append(b.starts, n.op.Ranges[i].Start)
		}
	}
	e.layouts()
	for _, r := range g.inputs {
		if v := g.tensors[r]; v.storage != nil {
			b.inputs = append(b.inputs, r)
			b.layouts = append(b.layouts, v.layout)
		}
	}
	ops := e.operations()
	for i := range e.plan.steps {
		st := &e.plan.steps[i]
		b.launches[i] = make([]codegen.Launch, len(st.opt.Calls))
		for c := range st.opt.Calls {
			l := &b.launches[i][c]
			if err := fuser.Bind(&st.opt.Calls[c], b.dims, ops, e.layout, l); err != nil {
				return err
			}
			r, w := codegen.Traffic(st.opt.Calls[c].Kernel, l)
			b.read, b.written = b.read+r, b.written+w
		}
		for _, a := range st.opt.Aliases {
			l, err := fuser.ViewLayout(a.Of, e.stored[a.Of], a.Views, b.dims, ops)
			if err != nil {
				return err
			}
			e.stored[a.Tensor] = l
		}
	}
	b.hollow = make([]bool, len(e.plan.steps))
	for i := range e.plan.steps {
		b.hollow[i] = e.hollow(&e.plan.steps[i], b.launches[i])
	}
	b.lay = slices.Clone(e.stored)
	e.bind = b
	e.s.keep(k.Hash, b)
	return nil
}

// hollow reports whether a launch of a block of several operations has no
// elements although something it writes has some: an operation of less axes
// joined one over an axis that is empty at the lengths at hand.
func (e *executor) hollow(st *step, launches []codegen.Launch) bool {
	if len(st.opt.Ops) == 1 {
		return false
	}
	for c := range st.opt.Calls {
		if e.hollowCall(&st.opt.Calls[c], &launches[c]) {
			return true
		}
	}
	return false
}

func (e *executor) hollowCall(call *fuser.Call, l *codegen.Launch) bool {
	for i := range call.Parts {
		if e.hollowCall(&call.Parts[i], &l.Parts[i]) {
			return true
		}
	}
	if !slices.Contains(l.Dims, 0) {
		return false
	}
	for k, t := range call.Tensors {
		if call.Kernel.Buffers[k].Mode != codegen.In && e.seg.tensors[t].shape.NumElements() > 0 {
			return true
		}
	}
	return false
}

// maxBindings bounds the bindings a stream keeps.
const maxBindings = 256

// sameForm bounds the bindings kept for one relative form and facts: slices
// that move, lengths that grow.
const sameForm = 4

// keep remembers a binding. When there are too many all are forgotten: they
// are cheap to make again.
func (s *Stream) keep(hash uint64, b *binding) {
	if len(s.bound) >= maxBindings {
		clear(s.bound)
	}
	same := s.bound[hash]
	if len(same) >= sameForm {
		copy(same, same[1:])
		same = same[:sameForm-1]
	}
	s.bound[hash] = append(same, b)
}

// segment describes the segment to the planner.
func (e *executor) segment() *optimize.Segment {
	g := &e.seg
	seg := &optimize.Segment{
		Ops:     make([]ir.Operation, len(g.nodes)),
		Tensors: make([]optimize.Tensor, len(g.tensors)),
		Dims:    slices.Clone(g.rel.Dims),
		InPlace: slices.Clone(e.flags.inPlace[:len(g.nodes)]),
	}
	vars := make(map[*Var]int)
	number := func(v *Value) int {
		if v.version == nil {
			return 0
		}
		if vars[v.version.v] == 0 {
			vars[v.version.v] = len(vars) + 1
		}
		return vars[v.version.v]
	}
	e.buffers = e.buffers[:0]
	for r, v := range g.tensors {
		t := &seg.Tensors[r]
		t.Shape, t.DType = v.shape, v.dtype
		if g.outside[r] {
			t.Input, t.Var, t.Buffer = true, number(v), e.buffer(v)
			t.Layout = codegen.Contiguous(v.shape)
			if v.storage != nil {
				t.Layout = v.layout
				t.Takeable = v.version == nil && v.over() && v.storage.refs.Load() == 1
			}
		}
	}
	for i, n := range g.nodes {
		op := n.op
		op.Inputs = make([]ir.TensorRef, len(n.in))
		for k, r := range g.operands(i) {
			v := n.in[k]
			op.Inputs[k] = ir.TensorRef{ID: ir.TensorID(r), Shape: v.shape, DType: v.dtype}
		}
		op.Outputs = []ir.TensorRef{{ID: ir.TensorID(n.out.rel), Shape: n.out.shape, DType: n.out.dtype, Status: ir.NotInit}}
		seg.Ops[i] = op
		t := &seg.Tensors[n.out.rel]
		t.Asked, t.Dead = e.flags.asked[i], e.flags.dead[i]
		t.Var = number(n.out)
	}
	return seg
}

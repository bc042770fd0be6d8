package fusion

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// step runs block i of the plan. If the block cannot run as one, its
// operations run one by one, once; what fails then fails with its error.
func (e *executor) step(i int) {
	st := &e.plan.steps[i]
	if e.tainted(st) {
		e.alone(i)
		e.free(st)
		return
	}
	err := st.err
	ran := false
	if err == nil {
		if err = e.allocate(st); err == nil {
			ran = true
			err = e.launch(st, e.bind.launches[i])
		}
	}
	for _, t := range e.taken {
		e.mem[t] = nil // its memory is an output's now
	}
	e.taken = e.taken[:0]
	if err != nil {
		e.unallocate(st)
		if len(st.opt.Ops) > 1 && (st.rerun || !ran) {
			e.warn(st, err)
			e.alone(i)
		} else {
			e.failBlock(st, err)
		}
		e.free(st)
		return
	}
	for _, a := range st.opt.Aliases {
		e.alias(int32(a.Tensor), int32(a.Of))
	}
	for _, pos := range st.effects {
		e.effectDone(pos, nil)
	}
	e.free(st)
}

// tainted reports whether an operand of the block carries an error.
func (e *executor) tainted(st *step) bool {
	if !e.anyFail {
		return false
	}
	for _, pos := range st.opt.Ops {
		for k, t := range e.rel(pos) {
			if e.fail[t] != nil && !(k == 0 && e.seg.nodes[pos].op.Kind == ir.Set) {
				return true
			}
		}
	}
	return false
}

// alias makes tensor t lie in another's memory. It holds that memory if it may
// outlive the other's hold; the memory of a Var is never held by a view, which
// would make it look shared.
func (e *executor) alias(t, of int32) {
	m := e.mem[of]
	e.mem[t] = m
	if e.ofVar[of] || e.seg.tensors[of].version != nil {
		e.ofVar[t] = true
		return
	}
	if f := e.plan.Fates[t]; f == optimize.Stored || f == optimize.Temporary {
		m.hold()
	}
}

// rel returns the relative ids of an operation's operands.
func (e *executor) rel(pos int) []int32 {
	ids := e.ids[:0]
	for _, v := range e.seg.nodes[pos].in {
		ids = append(ids, e.id(v))
	}
	e.ids = ids
	return ids
}

func (e *executor) id(v *Value) int32 {
	if r, ok := e.seg.inputs[v]; ok {
		return r
	}
	return v.rel
}

// allocate finds a place for everything the block writes.
func (e *executor) allocate(st *step) error {
	for _, t := range st.inputs {
		if e.mem[t] == nil {
			if err := e.recall(t); err != nil {
				return err
			}
		}
	}
	for _, pos := range st.effects {
		if err := e.effectPlace(pos); err != nil {
			return err
		}
	}
	for _, t := range st.writes {
		if e.mem[t] != nil {
			continue
		}
		if from := e.takeable(st, t); from != nil {
			e.mem[t] = from
			e.s.rt.stats.inPlace.Add(1)
			continue
		}
		m, err := e.s.alloc(e.seg.tensors[t].bytes())
		if err != nil {
			return err
		}
		e.mem[t] = m
	}
	return nil
}

// takeable returns storage of an input the block may write output t over: a
// temporary this block is the last to read, or a dead input of which the
// segment is the sole owner.
func (e *executor) takeable(st *step, t int32) *Storage {
	for _, p := range st.takes {
		if int32(p.Out) != t {
			continue
		}
		in := int32(p.In)
		m := e.mem[in]
		v := e.seg.tensors[in]
		if m == nil || m.fixed || m.buf.Bytes != e.seg.tensors[t].bytes() || m.refs.Load() != 1 {
			continue
		}
		if r, input := e.seg.inputs[v]; input {
			if r != in || v.version != nil || !v.dead() || !e.lastRead(st, in) {
				continue
			}
			m.hold() // the segment's own hold ends with it
			e.taken = append(e.taken, in)
			return m
		}
		for _, f := range st.frees {
			if f == in {
				e.taken = append(e.taken, in)
				return m
			}
		}
	}
	return nil
}

// lastRead reports whether no later block reads tensor t.
func (e *executor) lastRead(st *step, t int32) bool {
	after := false
	for i := range e.plan.steps {
		other := &e.plan.steps[i]
		if other == st {
			after = true
			continue
		}
		if !after {
			continue
		}
		for _, in := range other.inputs {
			if in == t {
				return false
			}
		}
		for _, a := range other.opt.Aliases {
			if int32(a.Of) == t {
				return false
			}
		}
	}
	return true
}

// unallocate gives back what a block that did not run was to write. Memory
// taken from an input is not given back: the input may be damaged.
func (e *executor) unallocate(st *step) {
	for _, t := range st.writes {
		if m := e.mem[t]; m != nil {
			e.mem[t] = nil
			m.letGo()
		}
	}
}

// launch runs the calls of a block.
func (e *executor) launch(st *step, launches []codegen.Launch) error {
	for c := range st.opt.Calls {
		if err := e.call(&st.opt.Calls[c], st.exes[c], &launches[c]); err != nil {
			return err
		}
	}
	return nil
}

func (e *executor) call(call *fuser.Call, exe codegen.Executable, l *codegen.Launch) error {
	bufs := e.bufs[:0]
	for _, t := range call.Tensors {
		bufs = append(bufs, e.mem[t].buf)
	}
	e.bufs = bufs
	if w := e.s.window; w != nil && w.recording {
		for _, t := range call.Tensors {
			w.retain(e.mem[t])
		}
	}
	e.params(call, l)
	return e.s.rt.dev.Launch(e.s.id, exe, l, bufs)
}

// params puts the scalars at hand into a bound launch.
func (e *executor) params(call *fuser.Call, l *codegen.Launch) {
	for i := range call.Params {
		p := &call.Params[i]
		if p.Op >= 0 {
			l.Params[i] = e.seg.nodes[p.Op].op.Scalars[p.Scalar].Bits
		}
	}
}

// free ends the temporaries whose last reader the block was.
func (e *executor) free(st *step) {
	for _, t := range st.frees {
		if m := e.mem[t]; m != nil && !e.ofVar[t] {
			e.mem[t] = nil
			m.letGo()
		}
	}
}

// dense returns storage of its own, or shared if it is dense already, with the
// elements of a stored value in row-major order and one hold for the caller.
func (s *Stream) dense(v *Value) (*Storage, error) {
	if v.version == nil && v.layout.Offset == 0 && v.layout.IsContiguous() && v.storage.buf.Bytes == v.bytes() {
		v.storage.hold()
		return v.storage, nil
	}
	return s.copyOut(v.storage, v.layout, v.dtype)
}

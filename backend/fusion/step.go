package fusion

import (
	"errors"

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
			e.mem[in] = nil
			return m
		}
		for _, f := range st.frees {
			if f == in {
				e.mem[in] = nil
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

// alone runs the operations of a block one by one. An operation over an
// operand that carries an error is skipped and passes the error on.
func (e *executor) alone(i int) {
	st := &e.plan.steps[i]
	fallback := e.plan.Blocks[i].Fallback
	if fallback == nil {
		fallback = []*fuser.Optimization{st.opt}
	}
	for _, opt := range fallback {
		pos := opt.Ops[len(opt.Ops)-1]
		out := e.seg.nodes[pos].out.rel
		if e.mem[out] != nil && e.seg.nodes[pos].v == nil || e.fail[out] != nil {
			continue // a view that another block made too
		}
		if f := e.operandFailure(pos); f != nil {
			e.skip(pos, f)
			continue
		}
		if err := e.runAlone(pos, opt); err != nil {
			e.failOp(pos, err)
		}
	}
	// What only the block itself needed ends with it.
	for _, pos := range st.opt.Ops {
		out := e.seg.nodes[pos].out.rel
		if f := e.plan.Fates[out]; f == optimize.Virtual || f == optimize.Dropped {
			if m := e.mem[out]; m != nil && !e.isView(pos) {
				m.letGo()
			}
			e.mem[out] = nil
		}
	}
}

func (e *executor) isView(pos int) bool {
	return ir.Lookup(e.seg.nodes[pos].op.Kind).Class == ir.ClassView
}

func (e *executor) operandFailure(pos int) *failure {
	for k, t := range e.rel(pos) {
		if f := e.fail[t]; f != nil && !(k == 0 && e.seg.nodes[pos].op.Kind == ir.Set) {
			return f
		}
	}
	return nil
}

// runAlone runs one operation by its own optimization.
func (e *executor) runAlone(pos int, opt *fuser.Optimization) error {
	n := e.seg.nodes[pos]
	if n.v != nil {
		if err := e.effectPlace(pos); err != nil {
			return err
		}
	}
	ops, dims := e.operations(), e.seg.rel.Dims
	for _, a := range opt.Aliases {
		l, err := fuser.ViewLayout(a.Of, e.stored[a.Of], a.Views, dims, ops)
		if err != nil {
			return err
		}
		e.stored[a.Tensor] = l
		e.alias(int32(a.Tensor), int32(a.Of))
	}
	for c := range opt.Calls {
		call := &opt.Calls[c]
		for _, t := range call.Tensors {
			if e.mem[t] != nil {
				continue
			}
			m, err := e.s.alloc(e.seg.tensors[t].bytes())
			if err != nil {
				return err
			}
			e.mem[t], e.stored[t] = m, codegen.Contiguous(e.seg.tensors[t].shape)
		}
		exe, err := e.s.rt.dev.Compile(call.Kernel)
		if err != nil {
			return err
		}
		var l codegen.Launch
		if err := fuser.Bind(call, dims, ops, e.layout, &l); err != nil {
			return err
		}
		if err := e.call(call, exe, &l); err != nil {
			return err
		}
	}
	if n.v != nil {
		e.effectDone(pos, nil)
	}
	return nil
}

// warn says once that a block fell back to its operations.
func (e *executor) warn(st *step, err error) {
	var index *ir.IndexError
	if errors.As(err, &index) {
		return // the program's fault: running alone only finds the operation
	}
	e.s.rt.stats.fallbacks.Add(1)
	e.s.rt.log.Warn("sinter: a fused block failed and runs as single operations", "fuser", st.opt.Fuser, "operations", len(st.opt.Ops), "error", err)
}

// failOp makes an operation's output carry err.
func (e *executor) failOp(pos int, err error) {
	n := e.seg.nodes[pos]
	f := &failure{err: opError(&n.op, n.in, err)}
	e.s.errs = append(e.s.errs, f)
	e.spread(pos, f, n.v != nil)
}

// skip makes the output of an operation that did not run carry the cause. An
// effect that did not run leaves the Var as it was.
func (e *executor) skip(pos int, f *failure) {
	if n := e.seg.nodes[pos]; n.v != nil && e.mem[e.id(n.in[0])] != nil {
		e.effectSkipped(pos)
		return
	}
	e.spread(pos, f, false)
}

func (e *executor) spread(pos int, f *failure, wrote bool) {
	n := e.seg.nodes[pos]
	out := n.out.rel
	if m := e.mem[out]; m != nil && n.v == nil {
		m.letGo()
	}
	e.mem[out] = nil
	e.fail[out] = f
	e.anyFail = true
	if wrote {
		e.effectDone(pos, f)
	}
}

// failBlock makes the block's outputs carry the error of its launch.
func (e *executor) failBlock(st *step, err error) {
	for _, pos := range st.opt.Ops {
		if f := e.operandFailure(pos); f != nil {
			e.spread(pos, f, e.seg.nodes[pos].v != nil)
			continue
		}
		e.failOp(pos, err)
	}
}

// failRest makes everything from block i on carry err; effects that were not
// sent leave their Vars as they were.
func (e *executor) failRest(i int, err error) {
	for ; i < len(e.plan.steps); i++ {
		st := &e.plan.steps[i]
		for _, pos := range st.opt.Ops {
			n := e.seg.nodes[pos]
			if n.v != nil && e.mem[e.id(n.in[0])] != nil {
				e.effectSkipped(pos)
				continue
			}
			f := e.operandFailure(pos)
			if f == nil {
				f = &failure{err: opError(&n.op, n.in, err)}
				e.s.errs = append(e.s.errs, f)
			}
			e.spread(pos, f, false)
		}
		e.free(st)
	}
}

// failAll is failRest before there is a plan.
func (e *executor) failAll(err error) {
	for pos, n := range e.seg.nodes {
		f := e.operandFailure(pos)
		if f == nil {
			f = &failure{err: opError(&n.op, n.in, err)}
			e.s.errs = append(e.s.errs, f)
		}
		n.out.fail = f
		n.out.node = nil
		n.out.setState(Failed)
		e.fail[n.out.rel] = f
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

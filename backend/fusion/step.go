package fusion

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// step runs block i of the plan. If the block cannot run as one, its
// operations run one by one, once; what fails then fails with its error.
func (e *executor) step(i int) {
	st := &e.plan.steps[i]
	if e.s.profiles != nil {
		e.beginBlock(st.opt.Ops)
	}
	look := e.inspect(st)
	if e.bind.hollow[i] || e.tainted(st) || look.apart() {
		e.alone(i)
		look.ran()
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
		again := !ran || st.rerun && len(e.taken) == 0
		e.retract(st, ran)
		if again && (len(st.opt.Ops) > 1 || st.err != nil) {
			e.warn(st, err)
			e.fell = true
			e.alone(i) // which compiles anew
			e.fell = false
		} else {
			e.failBlock(st, err)
		}
		e.free(st)
		return
	}
	for _, x := range e.taken {
		e.mem[x.In] = nil // its memory is the output's now
	}
	e.taken = e.taken[:0]
	for _, a := range st.opt.Aliases {
		e.alias(int32(a.Tensor), int32(a.Of))
	}
	look.ran()
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
		for k, t := range e.seg.operands(pos) {
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
	if e.seg.tensors[of].version != nil {
		e.base[t] = of + 1
		return
	}
	if e.base[of] != 0 {
		e.base[t] = e.base[of]
		return
	}
	if f := e.plan.Fates[t]; f == optimize.Stored || f == optimize.Temporary {
		m.hold()
	}
}

// allocate finds a place for everything the block writes.
func (e *executor) allocate(st *step) error {
	for _, t := range st.inputs {
		if err := e.present(t); err != nil {
			return err
		}
	}
	for _, a := range st.opt.Aliases {
		if !slices.Contains(st.opt.Stored, a.Of) {
			if err := e.present(int32(a.Of)); err != nil {
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
			e.s.stats.inPlace.Add(1)
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

// present makes sure that tensor t is in memory. Passes may have put t in the
// place of a recorded operand, so only here its failure may be met.
func (e *executor) present(t int32) error {
	switch {
	case e.fail[t] != nil:
		return carried{e.fail[t]}
	case e.mem[t] != nil:
		return nil
	}
	return e.recall(t)
}

// carried is the failure of an operand, on its way to the operation's result.
type carried struct{ f *failure }

func (c carried) Error() string { return c.f.err.Error() }

// takeable returns storage of an input the block may write output t over: a
// temporary this block is the last to read, or a dead input of which the
// segment is the sole owner.
func (e *executor) takeable(st *step, t int32) *Storage {
	if st.indexes {
		return nil // it may have to run again, one by one
	}
	for _, x := range st.takes {
		if int32(x.Out) != t {
			continue
		}
		in := int32(x.In)
		m := e.mem[in]
		v := e.seg.tensors[in]
		if m == nil || m.fixed || m.buf.Bytes != e.seg.tensors[t].bytes() || m.refs.Load() != 1 {
			continue
		}
		if l := &e.stored[in]; l.Offset != 0 || !l.IsContiguous() {
			continue // a view, such as one from the end: elements do not lie where the output's will
		}
		if e.seg.outside[in] {
			if v.version != nil || !v.over() {
				continue
			}
			m.hold() // the segment's own hold ends with it
		} else if !slices.Contains(st.frees, in) {
			continue
		}
		e.taken = append(e.taken, x)
		return m
	}
	return nil
}

// retract gives back what a block that failed was to write. What its launch
// may have damaged is restored, or not used any more.
func (e *executor) retract(st *step, ran bool) {
	for _, pos := range slices.Backward(st.effects) {
		e.unplace(pos, ran)
	}
	for _, x := range e.taken {
		switch {
		case ran:
			e.mem[x.In] = nil
			continue
		case e.seg.outside[x.In]:
			e.mem[x.In].letGo()
		}
		e.mem[x.Out] = nil
	}
	e.taken = e.taken[:0]
	for _, t := range st.writes {
		if m := e.mem[t]; m != nil {
			e.mem[t] = nil
			m.letGo()
		}
	}
}

// launch runs the calls of a block.
func (e *executor) launch(st *step, launches []codegen.Launch) error {
	if err := e.setAside(st.opt); err != nil {
		return err
	}
	defer e.dropAside()
	for c := range st.opt.Calls {
		if call := &st.opt.Calls[c]; call.Copies && e.mem[call.Tensors[0]] == e.mem[call.Tensors[1]] {
			continue // the output took the operand's storage
		}
		if err := e.call(st.opt, &st.opt.Calls[c], st.exes[c], &launches[c]); err != nil {
			return err
		}
	}
	return nil
}

// aside is a copy of memory that a kernel reads in another order than it
// writes over it.
type aside struct{ of, copy *Storage }

// setAside copies what the optimization reads and overwrites in another order.
func (e *executor) setAside(opt *fuser.Optimization) error {
	for _, t := range opt.Aside {
		m := e.mem[t]
		if slices.ContainsFunc(e.aside, func(x aside) bool { return x.of == m }) {
			continue
		}
		for _, pos := range opt.Ops {
			if n := e.seg.nodes[pos]; n.v != nil && e.mem[n.out.rel] == m {
				c, err := e.s.clone(m)
				if err != nil {
					return err
				}
				e.aside = append(e.aside, aside{m, c})
				break
			}
		}
	}
	return nil
}

func (e *executor) dropAside() {
	for _, x := range e.aside {
		x.copy.letGo()
	}
	clear(e.aside)
	e.aside = e.aside[:0]
}

func (e *executor) call(opt *fuser.Optimization, call *fuser.Call, exe codegen.Executable, l *codegen.Launch) error {
	bufs := e.bufs[:0]
	for k, t := range call.Tensors {
		m := e.mem[t]
		if call.Kernel.Buffers[k].Mode == codegen.In {
			for _, x := range e.aside {
				if x.of == m {
					m = x.copy
				}
			}
		}
		bufs = append(bufs, m.buf)
		if w := e.s.window; w != nil {
			w.retain(m)
		}
	}
	e.bufs = bufs
	e.params(call, l)
	err := e.s.rt.dev.Launch(e.s.id, exe, l, bufs)
	l.State = nil // the binding serves again
	if err != nil {
		return err
	}
	e.launched(opt, call, l)
	return nil
}

// params puts the scalars at hand into a bound launch.
func (e *executor) params(call *fuser.Call, l *codegen.Launch) {
	for i := range call.Parts {
		e.params(&call.Parts[i], &l.Parts[i])
	}
	for i := range call.Params {
		p := &call.Params[i]
		if p.Op >= 0 {
			n := e.seg.nodes[p.Op]
			l.Params[i] = n.op.Scalars[p.Scalar].Bits
			if w := e.s.window; w != nil && w.recording && n.pass == w.serial && p.Scalar < stateWords {
				l.State = append(l.State, w.stateParam(i, p.Scalar, l.Params[i]))
			}
		}
	}
}

// free ends the temporaries whose last reader the block was.
func (e *executor) free(st *step) {
	for _, t := range st.frees {
		if m := e.mem[t]; m != nil && e.base[t] == 0 {
			e.mem[t] = nil
			m.letGo()
		}
	}
}

// dense returns storage of its own, or shared if it is dense already, with the
// elements of a stored value in row-major order and one hold for the caller.
func (s *Stream) dense(v *Value) (*Storage, error) {
	if v.version == nil && v.layout.Offset == 0 && v.layout.IsContiguous() && v.storage.buf.Bytes == v.bytes() {
		if !v.storage.tryHold() {
			return nil, lost
		}
		return v.storage, nil
	}
	return s.copyOut(v.storage, v.layout, v.dtype)
}

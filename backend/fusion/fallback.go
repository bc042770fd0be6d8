package fusion

import (
	"errors"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// alone runs the operations of a block one by one. An operation over an
// operand that carries an error is skipped and passes the error on.
func (e *executor) alone(i int) {
	st := &e.plan.steps[i]
	fallback, err := e.plan.Blocks[i].Fallback()
	if err != nil {
		e.failBlock(st, err)
		return
	}
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
	for k, t := range e.seg.operands(pos) {
		if f := e.fail[t]; f != nil && !(k == 0 && e.seg.nodes[pos].op.Kind == ir.Set) {
			return f
		}
	}
	return nil
}

// runAlone runs one operation by its own optimization.
func (e *executor) runAlone(pos int, opt *fuser.Optimization) (err error) {
	n := e.seg.nodes[pos]
	launched := false
	if n.v != nil {
		defer func() {
			if err != nil {
				e.unplace(pos, launched)
			}
		}()
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
		if err := e.present(int32(a.Of)); err != nil {
			return err
		}
		e.stored[a.Tensor] = l
		e.alias(int32(a.Tensor), int32(a.Of))
	}
	for c := range opt.Calls {
		call := &opt.Calls[c]
		for k, t := range call.Tensors {
			if call.Kernel.Buffers[k].Mode == codegen.In {
				if err := e.present(int32(t)); err != nil {
					return err
				}
				continue
			}
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
		launched = true
		if err := e.launchAlone(opt, call, exe, &l); err != nil {
			return err
		}
	}
	if n.v != nil {
		e.effectDone(pos, nil)
	}
	return nil
}

func (e *executor) launchAlone(opt *fuser.Optimization, call *fuser.Call, exe codegen.Executable, l *codegen.Launch) error {
	if err := e.setAside(opt); err != nil {
		return err
	}
	defer e.dropAside()
	return e.call(opt, call, exe, l)
}

// warn counts a block that fell back to its operations and says so once.
func (e *executor) warn(st *step, err error) {
	var index *ir.IndexError
	var operand carried
	if errors.As(err, &index) || errors.As(err, &operand) {
		return // the program's fault: running alone only finds the operation
	}
	if len(st.opt.Ops) == 1 {
		return // it is tried again
	}
	e.s.stats.fallbacks.Add(1)
	if st.warned.Swap(true) {
		return
	}
	e.s.rt.log.Warn("sinter: a fused block failed and runs as single operations", "fuser", st.opt.Fuser, "operations", len(st.opt.Ops), "error", err)
}

// failOp makes an operation's output carry err. An operand's failure is passed
// on.
func (e *executor) failOp(pos int, err error) {
	var c carried
	if errors.As(err, &c) {
		e.skip(pos, c.f)
		return
	}
	n := e.seg.nodes[pos]
	f := &failure{err: opError(&n.op, n.in, err)}
	e.s.unreported(f)
	e.spread(pos, f, n.v != nil)
}

// skip makes the output of an operation that did not run carry the cause. An
// effect that did not run leaves the Var as it was, unless a launch that failed
// had begun to write over it and nothing was kept.
func (e *executor) skip(pos int, f *failure) {
	if slices.Contains(e.damaged, pos) {
		e.spread(pos, f, true)
		return
	}
	if n := e.seg.nodes[pos]; n.v != nil && e.mem[e.seg.operands(pos)[0]] != nil {
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
			if n.v != nil && e.mem[e.seg.operands(pos)[0]] != nil {
				e.effectSkipped(pos)
				continue
			}
			f := e.operandFailure(pos)
			if f == nil {
				f = &failure{err: opError(&n.op, n.in, err)}
				e.s.unreported(f)
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
			e.s.unreported(f)
		}
		n.out.fail = f
		n.out.node = nil
		n.out.setState(Failed)
		e.fail[n.out.rel] = f
	}
}

package fusion

import (
	"cmp"
	"context"
	"slices"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// executor runs one segment. A stream keeps the ones it used, so that their
// memory serves again; a drain that has to run something else first (a recipe,
// the saving of what an effect overwrites) uses another.
type executor struct {
	s     *Stream
	seg   segment
	flags flags

	plan     *plan
	bind     *binding
	own      bool     // the segment is the runtime's: a recipe, a copy, what an effect overwrites
	late     *Value   // the value whose recipe it is
	explored bool     // the plan was made for this segment
	facts    []uint64 // the part of the plan's key beside the relative form
	buffers  []*Storage
	tokens   []uint64
	vars     []varUse

	// By relative id.
	mem     []*Storage      // where a tensor of the segment lies now, nil: nowhere
	base    []int32         // 1 + the version of a Var it is a view of, 0: none
	taken   []fuser.InPlace // what the block at hand writes over
	aside   []aside         // what it reads copies of
	damaged []int           // effects a failed launch may have half done; nothing was kept of the old version
	fail    []*failure
	anyFail bool
	block   int64            // number of the block at hand, while a profile is open
	fell    bool             // it failed and runs as single operations
	stored  []codegen.Layout // how it lies there

	ops    []ir.Operation // the segment's operations, when a pass needs them
	bufs   []*backend.Buffer
	layout func(ir.TensorID) codegen.Layout // of e.stored
}

// varUse is a Var whose content a segment reads or writes.
type varUse struct {
	v     *Var
	write bool
}

func (s *Stream) executor() *executor {
	if n := len(s.idle); n > 0 {
		e := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return e
	}
	e := &executor{s: s}
	e.layout = func(t ir.TensorID) codegen.Layout { return e.stored[t] }
	e.seg.init(s)
	return e
}

func (s *Stream) release(e *executor) {
	clear(e.vars)
	clear(e.mem)
	clear(e.buffers[:cap(e.buffers)])
	clear(e.fail)
	clear(e.ops)
	clear(e.bufs[:cap(e.bufs)])
	e.plan, e.bind, e.own, e.late = nil, nil, false, nil
	s.idle = append(s.idle, e)
}

// run executes the segment: it finds or makes the plan, binds it, runs its
// blocks and settles what became of every output. The stream's lock is held.
func (e *executor) run(ctx context.Context) {
	g := &e.seg
	if len(g.nodes) == 0 {
		return
	}
	s := e.s
	s.stats.segments.Add(1)
	if s.profiles != nil {
		e.beginSegment()
		defer e.profileSegment()
	}
	e.lockVars()
	defer e.unlockVars()
	e.mem = grow(e.mem, len(g.tensors))
	e.fail = grow(e.fail, len(g.tensors))
	e.base = grow(e.base, len(g.tensors))
	e.anyFail, e.explored = false, false
	e.damaged = e.damaged[:0]
	for i, r := range g.inputs {
		v := g.tensors[r]
		switch f := s.resolve(v); {
		case f != nil:
			e.fail[r], e.anyFail = f, true
		case v.version != nil:
			e.mem[r] = v.storage
		default:
			e.mem[r] = g.held[i]
		}
	}
	if s.window != nil {
		for _, u := range e.vars {
			if u.v.cur != nil { // not one of the runtime's own
				s.window.Use(u.v)
			}
		}
	}
	if err := e.findPlan(); err != nil {
		e.failAll(err)
		return
	}
	s.stats.read.Add(e.bind.read)
	s.stats.written.Add(e.bind.written)
	for i := range e.plan.steps {
		if err := ctx.Err(); err != nil {
			e.failRest(i, err)
			break
		}
		e.step(i)
	}
	e.settle()
	if o := s.rt.observer.Load(); o != nil {
		e.observe(*o)
	}
}

// lockVars takes the content of every Var the segment touches, in order of
// number: exclusively if an effect of the segment writes it, or if an old
// version has to be rebuilt, which settles it.
func (e *executor) lockVars() {
	for {
		e.collectVars()
		for _, u := range e.vars {
			if u.write {
				u.v.content.Lock()
			} else {
				u.v.content.RLock()
			}
		}
		if !e.stale() {
			return
		}
		e.unlockVars() // a version was overwritten before the locks were taken
	}
}

func (e *executor) collectVars() {
	vars := e.vars[:0]
	use := func(v *Var, write bool) {
		for i := range vars {
			if vars[i].v == v {
				vars[i].write = vars[i].write || write
				return
			}
		}
		vars = append(vars, varUse{v, write})
	}
	for _, r := range e.seg.inputs {
		if v := e.seg.tensors[r]; v.version != nil {
			use(v.version.v, v.is(Patched))
		}
	}
	for _, n := range e.seg.nodes {
		if n.v != nil {
			use(n.v, true)
		}
	}
	slices.SortFunc(vars, func(a, b varUse) int { return cmp.Compare(a.v.number, b.v.number) })
	e.vars = vars
}

// stale reports whether an input has to be rebuilt whose Var is only read.
func (e *executor) stale() bool {
	for _, r := range e.seg.inputs {
		v := e.seg.tensors[r]
		if v.version == nil || !v.is(Patched) {
			continue
		}
		for _, u := range e.vars {
			if u.v == v.version.v && !u.write {
				return true
			}
		}
	}
	return false
}

func (e *executor) unlockVars() {
	for _, u := range e.vars {
		if u.write {
			u.v.content.Unlock()
		} else {
			u.v.content.RUnlock()
		}
	}
	clear(e.vars)
	e.vars = e.vars[:0]
}

// operations returns the segment's operations as one slice, ids not relative.
func (e *executor) operations() []ir.Operation {
	if len(e.ops) != len(e.seg.nodes) {
		e.ops = grow(e.ops, len(e.seg.nodes))
	}
	for i, n := range e.seg.nodes {
		e.ops[i] = n.op
	}
	return e.ops
}

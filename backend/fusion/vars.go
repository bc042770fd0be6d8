package fusion

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Var is state: a tensor that changes through ordered effects. Each effect
// makes a new version; a version is a value like any other.
type Var struct {
	rt     *Runtime
	number uint64
	shape  ir.Shape
	dtype  ir.DType
	name   atomic.Pointer[string]

	mu  sync.Mutex // guards cur
	cur *Value

	window atomic.Pointer[Window] // the last to use it of the captures that are open

	asking sync.Mutex // guards the versions' lines; no other lock is taken under it

	// content is held shared while a drain reads the memory of any version and
	// exclusively while one writes it. Drains take several in order of number.
	content sync.RWMutex
	pinned  bool     // under content: a graph fixes the address
	pin     *Storage // under content: the memory a graph fixes
	pins    int      // under content: graphs and captures that do
}

// version is what is known of a version of a Var beside its value.
type version struct {
	v     *Var
	line  *line  // under the Var's asking
	patch *patch // Patched: how to rebuild it
}

// line is a run of versions each but the last of which is rebuilt from the
// next. As long as one of them can be asked for, the last must be kept, too.
type line struct {
	asks int // living handles, living recipes and queued readers of all of them
}

func newVersion(v *Var) *version { return &version{v: v, line: new(line)} }

// ask counts one more who can ask for the version.
func (ver *version) ask() {
	ver.v.asking.Lock()
	ver.line.asks++
	ver.v.asking.Unlock()
}

func (ver *version) unask() {
	ver.v.asking.Lock()
	ver.line.asks--
	ver.v.asking.Unlock()
}

// asks returns how many can ask for the version or an older one that is
// rebuilt from it.
func (ver *version) asks() int {
	ver.v.asking.Lock()
	defer ver.v.asking.Unlock()
	return ver.line.asks
}

// follow makes ver, the newest version, one that old is rebuilt from.
func (ver *version) follow(old *version) {
	ver.v.asking.Lock()
	old.line.asks += ver.line.asks
	ver.line = old.line
	ver.v.asking.Unlock()
}

// patch is what an in-place effect overwrote.
type patch struct {
	next  *Value       // the version the effect made
	saved *Storage     // the overwritten part, dense
	op    ir.Operation // the effect without its operands: which part
	index *Value       // the rows, of effects that take indices
}

func (p *patch) letGo() {
	p.saved.letGo()
	if p.index != nil {
		p.index.storage.letGo()
	}
}

// NewVar returns state that starts as init, which is executed if need be. If
// init carries an error, the Var does until it is wholly written.
func (s *Stream) NewVar(init *Value) *Var {
	s.lockWith([]*Value{init})
	defer s.unlock()
	v := &Var{rt: s.rt, number: nextVar.Add(1), shape: init.shape, dtype: init.dtype}
	cur := s.rt.newValue()
	cur.shape, cur.dtype, cur.pc = init.shape, init.dtype, init.pc
	cur.version = newVersion(v)
	v.cur = cur
	t, f, err := s.operand(init)
	if err == nil && f == nil && t.home == s {
		f = s.ask(context.Background(), t)
	}
	switch {
	case err != nil:
		f = &failure{err: err}
		s.unreported(f)
		fallthrough
	case f != nil:
		cur.fail = f
		cur.setState(Failed)
		return v
	}
	if t.version != nil {
		t.version.v.content.Lock() // an old version may have to be rebuilt
		defer t.version.v.content.Unlock()
	}
	if f := s.resolve(t); f != nil {
		cur.fail = f
		cur.setState(Failed)
		return v
	}
	st, err := s.dense(t)
	if err != nil {
		cur.fail = &failure{err: err}
		s.unreported(cur.fail)
		cur.setState(Failed)
		return v
	}
	cur.store(st, codegen.Contiguous(v.shape))
	return v
}

// Shape returns the lengths of the Var's axes; it must not be changed.
func (v *Var) Shape() ir.Shape { return v.shape }

// DType returns the element type.
func (v *Var) DType() ir.DType { return v.dtype }

// Runtime returns the runtime v belongs to.
func (v *Var) Runtime() *Runtime { return v.rt }

// SetName names the Var in dumps and errors.
func (v *Var) SetName(name string) { v.name.Store(&name) }

// Name returns the name given to the Var, "" if none.
func (v *Var) Name() string {
	if p := v.name.Load(); p != nil {
		return *p
	}
	return ""
}

// Value returns a handle on the Var's value at this point of the program.
// Later effects do not change what it stands for.
func (v *Var) Value() *Value {
	v.mu.Lock()
	cur := v.cur
	cur.version.ask()
	v.mu.Unlock()
	h := v.rt.newValue()
	h.shape, h.dtype = v.shape, v.dtype
	h.handle = &handle{of: cur, born: nextBirth.Add(1)}
	return h
}

// Effect queues an effect on the Var: Set, SetSlice, SetSelect or ScatterAdd,
// with the operands after the old version. An operand that carries an error
// leaves the Var as it was; a bad effect does too and is an unreported error
// of the stream.
func (s *Stream) Effect(v *Var, op ir.Operation, in ...*Value) {
	for {
		v.mu.Lock()
		cur := v.cur
		v.mu.Unlock()
		if cur.home != nil && cur.home != s && cur.is(Pending) {
			cur.home.materialise(cur)
			continue
		}
		if s.effect(v, cur, &op, in) {
			return
		}
	}
}

// effect queues the effect if cur is still the Var's version.
func (s *Stream) effect(v *Var, cur *Value, op *ir.Operation, in []*Value) bool {
	streamless := !slices.ContainsFunc(in, func(o *Value) bool { return o == nil || o.Home() != nil })
	s.lockWith(in)
	defer s.unlock()
	if w := v.window.Load(); streamless && w != nil && s.window == nil {
		w.strayed(op.PC)
	}
	n := s.node()
	n.op, n.v = *op, v
	n.in = append(n.inArr[:0], cur)
	n.op.Inputs = append(n.refArr[:0], ir.TensorRef{ID: cur.id, Shape: cur.shape, DType: cur.dtype})
	for _, o := range in {
		t, f, err := s.operand(o)
		if err != nil {
			s.failed(&n.op, append(n.in, known(in)...), err)
			return true
		}
		if f != nil {
			return true
		}
		n.in = append(n.in, t)
		n.op.Inputs = append(n.op.Inputs, ir.TensorRef{ID: t.id, Shape: t.shape, DType: t.dtype})
	}
	if cur.is(Failed) && op.Kind != ir.Set {
		return true
	}
	if s.closed || s.rt.closed.Load() {
		s.failed(&n.op, n.in, &ClosedError{"stream"})
		return true
	}
	if v.rt != s.rt {
		s.failed(&n.op, n.in, &ir.ArgumentError{Msg: "Var is on another device"})
		return true
	}
	if err := n.op.Check(); err != nil {
		s.failed(&n.op, n.in, err)
		return true
	}
	if s.demand(n.in[1:]) != nil {
		return true
	}
	if !s.supplant(n, cur) {
		return false
	}
	s.cut()
	return true
}

// supplant queues a checked effect on the version cur, if that is the Var's
// still.
func (s *Stream) supplant(n *node, cur *Value) bool {
	v, op := n.v, &n.op
	v.mu.Lock() // nothing is executed under it
	defer v.mu.Unlock()
	if v.cur != cur {
		return false
	}
	if s.window != nil {
		skip, err := s.window.overwrite(s, v, cur)
		if err == nil {
			err = s.window.note(s, n)
		}
		if err != nil {
			s.failed(&n.op, n.in, err)
		}
		if skip || err != nil {
			return true
		}
	}
	nv := s.rt.newValue()
	nv.home, nv.pc, nv.shape, nv.dtype = s, op.PC, v.shape, v.dtype
	nv.version = newVersion(v)
	n.op.Outputs[0].ID = nv.id
	n.out, nv.node = nv, n
	s.push(n)
	v.cur = nv
	return true
}

// claim gives a handle to the scope it was taken in, at its first use on the
// scope's stream: the innermost one that was open when the handle was taken.
func (s *Stream) claim(h *Value) {
	if len(s.scopes) == 0 || h.handle.scope.Load() != nil {
		return
	}
	for i := len(s.scopes) - 1; i >= 0; i-- {
		if sc := s.scopes[i]; sc.born < h.handle.born {
			if h.handle.scope.CompareAndSwap(nil, sc) {
				sc.handles = append(sc.handles, h)
			}
			return
		}
	}
}

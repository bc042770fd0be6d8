package fusion

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// State is where a value stands.
type State uint32

// The states of a value.
const (
	Pending  State = iota // recorded, not executed
	Stored                // in device memory
	Virtual               // not in memory: its recipe computes it
	Patched               // an old version of a Var: rebuilt from the next version and what that overwrote
	Gone                  // dead, or computed by nothing
	Failed                // carries an error
	Unplaced              // an operation on leaves, not recorded yet
)

var stateNames = [...]string{"pending", "stored", "virtual", "patched", "gone", "failed", "unplaced"}

func (s State) String() string { return stateNames[s] }

// Value is one tensor: its shape, its dtype, and where its elements are.
//
// A value belongs to the stream it was recorded on and changes under that
// stream's lock; a version of a Var, once executed, changes under the lock of
// the Var's content. Everything else is published before the state, so a value
// seen Stored may be used from any goroutine.
type Value struct {
	id    ir.TensorID
	shape ir.Shape
	dtype ir.DType
	rt    *Runtime
	home  *Stream // where it was recorded; nil: a stored leaf
	pc    uintptr // the call that made it
	name  atomic.Pointer[string]
	state atomic.Uint32
	death atomic.Pointer[death] // set once the value can no longer be asked for

	deferred atomic.Pointer[deferred] // Unplaced: the operation
	wants    atomic.Int32             // deferred operations that need it and are not placed; it goes up while it is Unplaced, under the runtime's placing

	node  *node // the operation, of values that were not in memory after their segment
	seg   uint64
	rel   int32  // relative id within segment seg of the home stream
	hash  uint64 // structural hash, ending at the segment's inputs
	asked bool   // read or saved by a tape: stored at the drain
	kept  bool   // kept by a scope: stored at the drain unless dead by then
	scope *Scope // the innermost scope it was made in that is open; nil: none

	// chance: the value is in memory only because of how its segment fell into
	// blocks. If it is used, it is remembered like one asked for late.
	chance atomic.Bool

	storage *Storage
	layout  codegen.Layout
	recipe  *recipe
	fail    *failure
	let     bool // v's own hold on storage or recipe is dropped

	version *version // a version of a Var
	handle  *handle  // what Var.Value returned: stands for a version
}

// death says when and how a value ended.
type death struct {
	pc    uintptr
	scope bool
	by    string // any other way
}

// handle is a Value() handle of a Var: itself a reader of the version.
type handle struct {
	of    *Value
	born  uint64                // orders it against the beginnings of scopes
	scope atomic.Pointer[Scope] // the scope it was taken in, known at its first use
}

// recipe computes a virtual value: the operations of one block that lead to its
// node from values in memory, which it holds.
type recipe struct {
	node   *node
	inputs []*Value
	held   bool // of a view of a Var that the plan stores: it is copied when it is used

	arr [3]*Value
}

// node is a recorded operation.
type node struct {
	op   ir.Operation
	in   []*Value // operands; versions in place of handles
	out  *Value
	v    *Var   // effects: the Var written
	site uint64 // kind and call site, for cutting long queues
	seq  uint64 // number among what the stream recorded, from 1; 0: the runtime made it
	pass uint64 // draws: the pass of a window they belong to

	inArr  [3]*Value
	refArr [4]ir.TensorRef
}

// Shape returns the lengths of v's axes; it must not be changed.
func (v *Value) Shape() ir.Shape { return v.shape }

// DType returns the element type.
func (v *Value) DType() ir.DType { return v.dtype }

// ID returns the value's id, unique in the process.
func (v *Value) ID() ir.TensorID { return v.id }

// Runtime returns the runtime v belongs to.
func (v *Value) Runtime() *Runtime { return v.rt }

// Home returns the stream operations on v record on, nil for a stored leaf:
// a constant or a version of a Var.
func (v *Value) Home() *Stream {
	if v.handle != nil || v.version != nil || v.is(Unplaced) {
		return nil
	}
	return v.home
}

// State returns where v stands. Another goroutine may change it.
func (v *Value) State() State { return State(v.target().state.Load()) }

// SetName names the value in dumps and errors.
func (v *Value) SetName(name string) { v.name.Store(&name) }

// Name returns the name given to the value, "" if none.
func (v *Value) Name() string {
	if p := v.name.Load(); p != nil {
		return *p
	}
	return ""
}

// Err returns the error v carries. It neither waits nor counts as reporting.
func (v *Value) Err() error {
	if d := v.death.Load(); d != nil {
		return d.error()
	}
	if t := v.target(); State(t.state.Load()) == Failed {
		return t.fail.err
	}
	return nil
}

// target returns the version a handle stands for, or v itself.
func (v *Value) target() *Value {
	if v.handle != nil {
		return v.handle.of
	}
	return v
}

func (v *Value) setState(s State) { v.state.Store(uint32(s)) }

func (v *Value) is(s State) bool { return State(v.state.Load()) == s }

// awayFrom reports whether v has to be stored by another stream before s can
// use it. The state is looked at first: it publishes the home of a value that
// was deferred.
func (v *Value) awayFrom(s *Stream) bool {
	st := State(v.state.Load())
	return (st == Pending || st == Virtual) && v.home != nil && v.home != s
}

func (v *Value) dead() bool { return v.death.Load() != nil }

// over reports whether v can neither be asked for nor is needed by a deferred
// operation.
func (v *Value) over() bool { return v.dead() && v.wants.Load() == 0 }

func (v *Value) bytes() int { return v.shape.NumElements() * v.dtype.Size() }

// store publishes v as lying in st, taking over one hold on it.
func (v *Value) store(st *Storage, l codegen.Layout) {
	v.storage, v.layout = st, l
	v.node, v.recipe = nil, nil
	v.setState(Stored)
}

// letGo drops v's own hold on its storage or its recipe's inputs, once, but not
// while a deferred operation needs v. Pending operations have holds of their
// own and still find the storage in v.
func (v *Value) letGo() {
	if v.let || v.wants.Load() > 0 {
		return
	}
	v.let = true
	if r := v.recipe; r != nil {
		v.recipe = nil
		v.setState(Gone)
		r.release()
	}
	if v.storage != nil {
		v.storage.letGo()
	}
}

func (r *recipe) hold() {
	for _, in := range r.inputs {
		if in.version != nil {
			in.version.ask()
		} else if in.storage != nil {
			in.storage.hold()
		}
	}
}

func (r *recipe) release() {
	for _, in := range r.inputs {
		if in.version != nil {
			in.version.unask()
		} else if in.storage != nil {
			in.storage.letGo()
		}
	}
}

// nodes returns the recipe's operations in the order they were recorded, or the
// failure of a value it leads through.
func (r *recipe) nodes() (out []*node, f *failure) {
	seen := make(map[*Value]bool, 2*len(r.inputs))
	for _, in := range r.inputs {
		seen[in] = true
	}
	var visit func(n *node)
	visit = func(n *node) {
		for _, in := range n.in {
			switch {
			case seen[in]:
				continue
			case in.is(Failed):
				f = in.fail
			default:
				visit(in.node)
			}
			seen[in] = true
		}
		out = append(out, n)
	}
	visit(r.node)
	slices.SortFunc(out, func(a, b *node) int { return cmp.Compare(a.out.id, b.out.id) })
	return out, f
}

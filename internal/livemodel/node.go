package livemodel

// state is where a value is.
type state uint8

const (
	pending state = iota // queued
	stored               // in memory
	virtual              // a recipe
	gone                 // nobody can ask
)

// buffer is a piece of memory. Contents change in place, buffers never move.
type buffer struct{ data []float32 }

// node is a value: a leaf, an operation's result, or a version of a Var.
type node struct {
	op    int // number among the recorded operations, -1: a leaf
	call  Call
	in    []*node // effects: the value, then the version before
	shape []int
	truth []float32 // what eager evaluation gives
	drawn []float32 // Uniform: the numbers, as its seed and offset give them

	state  state
	store  *buffer
	base   *node   // a stored view: the value whose storage it shares
	root   *node   // a stored view of a Var's memory: the version
	recipe []*node // operations, in order
	next   *node   // a kept version that is rebuilt: the version that overwrote it …
	saved  *patch  // … and what that overwrote, once it ran

	hash    uint64
	segment int // the segment it was recorded for, once queued
	v       *variable
	handles int  // living handles
	chance  bool // stored only because of how its segment fell into blocks
	read    bool // asked for by the read that drains
	kept    bool // asked for by Keep
}

// patch is a saved part of an overwritten version.
type patch struct {
	at   int
	data []float32
}

// dead reports whether nobody can ask for the value any more. Versions of
// Vars are not computed values that can be spared; their handles matter to
// effects only.
func (n *node) dead() bool { return n.v == nil && n.handles == 0 }

func (n *node) asked() bool { return n.read || n.kept && !n.dead() }

// old returns the version an effect replaces.
func (n *node) old() *node { return n.in[1] }

// sharesStorage reports whether n is, or may become, a view of its operand's
// storage.
func (n *node) sharesStorage() bool {
	return n.base != nil || n.op >= 0 && n.state == pending && n.call.Op.Class() == ClassView
}

func (n *node) effect() bool { return n.op >= 0 && n.call.Op.Class() == ClassEffect }

// ends returns the values a recipe starts from.
func ends(recipe []*node) []*node {
	inside := map[*node]bool{}
	for _, o := range recipe {
		inside[o] = true
	}
	var out []*node
	seen := map[*node]bool{}
	for _, o := range recipe {
		for _, x := range o.in {
			if !inside[x] && !seen[x] {
				seen[x] = true
				out = append(out, x)
			}
		}
	}
	return out
}

// needs returns the values whose storage n depends on besides its own.
func (n *node) needs() []*node {
	switch {
	case n.state == virtual:
		return ends(n.recipe)
	case n.root != nil:
		return []*node{n.base, n.root}
	case n.base != nil:
		return []*node{n.base}
	}
	return nil
}

// variable is a Var: its present version.
type variable struct {
	id  int
	cur *node
}

// handle is what a program holds. It belongs to a scope or to none.
type handle struct {
	n     *node
	err   *failure // the first cause, when the operation could not be recorded
	scope *scope
	dead  bool
}

// failure is a first cause.
type failure struct {
	Cause
	reported bool
}

func (f *failure) Error() string {
	return map[ErrKind]string{BadOp: "bad operation", Released: "use after release"}[f.Kind]
}

// scope is an open scope: the handles that die with it and the errors inside.
type scope struct {
	parent  *scope
	handles []*handle
	kept    map[*handle]bool
	first   int // how many failures there were before
}

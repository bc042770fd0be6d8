package fuser

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// species is what distinguishes the fusers: which operations a block may be
// built around and what may surround them.
type species struct {
	name string
	doc  string
	// anchor takes an operation the species' template is built around.
	anchor func(b *block, op int) Verdict
	// anchors reports whether anchor is what takes an operation.
	anchors func(op *ir.Operation) bool
	// needsAnchor says that a block without one is not ready.
	needsAnchor bool
	// free says that the space is the block's own choice.
	free bool
	// draws says that random numbers can be drawn.
	draws bool
	// prologues says that operands of the anchor may be computed as it reads them.
	prologues bool
	// rowsOnly says that what depends on a reduction must be as small as its
	// result.
	rowsOnly bool
}

// block is a growing block of any species. Accepting an operation checks only
// that operation: where its value lies in the block's frame and whether its
// operands can be had there. Kernels are written by Finish.
type block struct {
	*species
	g       *Graph
	profile *Profile
	broken  error // the graph cannot be used

	members []member // ascending
	now     member   // the operation being offered

	// frame is the shape every value's home leads to: that of the output of an
	// element-wise block or a contraction, of the operand of a reduction.
	frame  []Dim
	core   int   // the contraction, or -1
	target int   // the contraction that prologues taken so far are for, or -1
	axes   []int // rows: the frame's inner axes, in the recorded order; nil: not yet known
	pinned bool  // an operation of the block needs its elements to be the frame's own
	split  path  // from the frame to a space that has more axes (Repeat), or nil
	lined  bool  // an operation of the block needs its axes to be some of the frame's

	derived []Derived // lengths no tensor has, of the space

	reads []read // of external tensors, in the frame
	read  int64  // bytes they read

	unfused   int64   // bytes the operations move one by one
	launches  int     // they take
	shared    float64 // parts of launches that make created tensors
	recompute float64
	redone    []placed // what the offered operation has computed again
}

// member is an accepted operation.
type member struct {
	op   int
	home path // from its output, or what it writes, to the frame; nil: only a way of reading
	// repeated: it is computed once for each of its repetitions in the frame
	// and cannot be stored.
	repeated bool
	// dependent: it depends on a reduction over the block's rows.
	dependent bool
	// prologue: it is computed as an operand of the contraction is read, and has
	// no place in the frame.
	prologue bool
}

func newBlock(s *species, g *Graph, p *Profile) *block {
	b := &block{species: s, g: g, profile: p, broken: g.prepare()}
	b.Reset()
	return b
}

// Reset forgets every operation.
func (b *block) Reset() {
	*b = block{species: b.species, g: b.g, profile: b.profile, broken: b.broken, core: -1, target: -1}
}

// Clone returns a copy that grows on its own.
func (b *block) Clone() Fuser {
	c := *b
	c.members = slices.Clone(b.members)
	c.reads = slices.Clone(b.reads)
	return &c
}

// member returns the accepted operation at a position of the segment.
func (b *block) member(pos int) (*member, bool) {
	i, ok := slices.BinarySearchFunc(b.members, pos, func(m member, pos int) int { return m.op - pos })
	if !ok {
		return nil, false
	}
	return &b.members[i], true
}

// maker returns the accepted operation that makes a tensor.
func (b *block) maker(t ir.TensorID) (*member, bool) {
	if p := b.g.Tensors[t].Producer; p >= 0 {
		return b.member(p)
	}
	return nil, false
}

// home returns the path from a tensor the block computes to the frame.
func (b *block) home(t ir.TensorID) (path, bool) {
	if m, ok := b.maker(t); ok && m.home != nil {
		return m.home, true
	}
	return nil, false
}

// Name returns the species' name.
func (b *block) Name() string { return b.name }

// Len returns how many operations were accepted.
func (b *block) Len() int { return len(b.members) }

// Status is closed once the block has as many operations as it may.
func (b *block) Status() Status {
	if b.full() || b.clipped() {
		return Closed
	}
	return Open
}

func (b *block) full() bool {
	return b.profile.MaxOps > 0 && len(b.members) >= b.profile.MaxOps && !b.g.Off[RuleMaxOps]
}

func refuse(r Rule, format string, args ...any) Verdict {
	return Verdict{Rule: r, Detail: fmt.Sprintf(format, args...)}
}

var accepted = Verdict{Accepted: true}

// Fuse offers an operation. Operations must be offered in ascending order; a
// refused one leaves the block as it was.
func (b *block) Fuse(pos int) Verdict {
	switch {
	case b.broken != nil:
		return refuse(RuleMalformed, "%v", b.broken)
	case pos < 0 || pos >= len(b.g.Ops):
		return refuse(RuleMalformed, "no operation %d of %d", pos, len(b.g.Ops))
	case len(b.members) > 0 && pos <= b.members[len(b.members)-1].op:
		return refuse(RuleClosed, "operation %d comes before the last one taken, %d", pos, b.members[len(b.members)-1].op)
	case b.clipped():
		return refuse(RuleClosed, "%v gives no whole rows", b.g.Ops[b.core].Kind)
	case b.full():
		return refuse(RuleMaxOps, "%d operations", len(b.members))
	}
	// Slices only grow, or are replaced, so a refusal is undone by going back.
	before := *b
	b.now = member{op: pos}
	b.redone = nil
	v := b.take(pos)
	if v.Accepted {
		b.members = append(b.members, b.now)
		b.count(pos)
		if n := b.buffers(); b.profile.MaxBuffers > 0 && n > b.profile.MaxBuffers && len(b.members) > 1 {
			v = refuse(RuleMaxBuffers, "%d buffers of at most %d", n, b.profile.MaxBuffers)
		}
	}
	if !v.Accepted {
		*b = before
	}
	return v
}

// take dispatches on what the operation is.
func (b *block) take(pos int) Verdict {
	op := &b.g.Ops[pos]
	if b.g.Remade(pos) {
		return accepted // it has no place: it is made wherever it is read
	}
	if target := b.feeds(pos); target >= 0 {
		return b.takePrologue(pos, target)
	}
	if _, ok := b.g.viewStep(pos); ok {
		return b.takeView(pos)
	}
	switch class := ir.Lookup(op.Kind).Class; {
	case b.anchors(op):
		return b.anchor(b, pos)
	case class == ir.ClassEffect:
		return b.takeEffect(pos)
	case class == ir.ClassRandom && !b.draws:
		return refuse(RuleRandomPosition, "%v", op.Kind)
	case op.Kind == ir.Repeat && b.free:
		return b.takeRepeat(pos)
	case !pointwise(op):
		return refuse(RuleKind, "%v", op.Kind)
	}
	return b.takePoint(pos)
}

// pointwise reports whether each element of an operation can be computed on its
// own, at any place.
func pointwise(op *ir.Operation) bool {
	switch ir.Lookup(op.Kind).Class {
	case ir.ClassMap, ir.ClassCreate, ir.ClassRandom, ir.ClassView, ir.ClassGather:
		return true
	case ir.ClassMove:
		return op.Kind != ir.Repeat && !changesCopy(op)
	}
	return op.Kind == ir.BatchNorm
}

// needed reports whether an output must exist in memory, as far as is known:
// it is asked for, something outside the block reads it, or nothing reads it.
func (b *block) needed(t ir.TensorID) bool {
	info := &b.g.Tensors[t]
	if info.Stored || len(info.Consumers) == 0 && !info.Dead {
		return true
	}
	for _, c := range info.Consumers {
		if _, ok := b.member(c); !ok {
			return true
		}
	}
	return false
}

// outputs calls f for each output the kernel must write: those needed, and
// what is below a needed view that has no place of its own in the frame.
func (b *block) outputs(f func(m *member)) {
	for i := range b.members {
		m := &b.members[i]
		t := b.g.output(m.op)
		if b.g.Remade(m.op) || !b.needed(t) {
			continue
		}
		if _, view := b.g.viewStep(m.op); view && m.home == nil {
			base, _ := b.below(t)
			below, ok := b.maker(base)
			if !ok || b.needed(base) || b.g.Remade(below.op) {
				continue // an alias of what is in memory anyway
			}
			m = below
		}
		f(m)
	}
}

// buffers returns how many buffers the kernel has.
func (b *block) buffers() int {
	n := 0
	b.outputs(func(*member) { n++ })
	b.external(func(ir.TensorID) { n++ })
	return n
}

// external calls f once for each external tensor that is read.
func (b *block) external(f func(t ir.TensorID)) {
	for i := range b.reads {
		if b.reads[i].first {
			f(b.reads[i].tensor)
		}
	}
}

// Properties returns the nanoseconds saved: bytes not moved over the
// bandwidth, launches saved, less what is computed twice. A block is ready
// when it has what its species is built around and every output that must be
// stored can be.
func (b *block) Properties() Properties {
	if !b.built() {
		return Properties{}
	}
	s, ready := b.saving()
	return Properties{Score: s.Score(b.profile), Ready: ready}
}

// built reports whether the block has what its species is built around.
func (b *block) built() bool {
	return b.launches > 0 && (!b.needsAnchor || b.core >= 0 || b.axes != nil)
}

// Finish writes the kernel. Outputs whose Tensor is marked Stored are stored;
// the others exist inside the kernel only.
func (b *block) Finish() (*Optimization, error) {
	w := &builder{g: b.g, name: b.name, stored: func(t ir.TensorID) bool { return b.g.Tensors[t].Stored }}
	for _, m := range b.members {
		w.ops = append(w.ops, m.op)
	}
	if !b.built() {
		return nil, &Refusal{RuleKind, fmt.Sprintf("operations %v make no %s block", w.ops, b.name)}
	}
	l := &lowering{g: b.g, ops: w.ops}
	tail := b.space(l)
	homes := make(map[ir.TensorID]path, len(b.members))
	for _, m := range b.members {
		switch {
		case m.op == b.core && l.anchor != nil:
			homes[b.g.output(m.op)] = l.anchor
		case m.home != nil && !m.repeated:
			homes[b.g.output(m.op)] = m.home.then(tail)
		}
	}
	o, err := w.build(l, b.core, homes)
	if err != nil {
		return nil, err
	}
	o.Saving, _ = b.saving()
	o.Score = o.Saving.Score(b.profile)
	return o, nil
}

// space sets the kernel's space and returns the path from the frame to it.
func (b *block) space(l *lowering) path {
	switch {
	case b.core >= 0:
		home := l.frame(b.core)
		if l.template == codegen.Sort { // whose output may be shorter than the frame
			home = walk(b.frame, l.space, rowOrder(len(b.frame), b.g.Ops[b.core].Attrs.Axes))
		}
		return home
	case b.axes != nil:
		return l.rows(b.frame, b.axes)
	}
	if b.split != nil {
		l.call.Derived = slices.Clone(b.derived)
		l.space = b.split[len(b.split)-1].dst
		l.outer = len(l.space)
		return b.split
	}
	l.space, l.outer = b.frame, len(b.frame)
	return identity(b.frame)
}

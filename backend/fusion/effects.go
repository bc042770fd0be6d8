package fusion

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// effectPlace finds the memory an effect writes, before its block runs. The
// new version gets the old one's memory when the effect is in place; what the
// effect overwrites is saved first unless nothing can ask for it. The content
// of the Var is locked for writing.
func (e *executor) effectPlace(pos int) error {
	n := e.seg.nodes[pos]
	out := n.out.rel
	if e.mem[out] != nil {
		return nil // placed by the block that then failed and now runs alone
	}
	was := e.mem[e.seg.operands(pos)[0]]
	if !e.flags.inPlace[pos] || was == nil {
		if n.v.pinned && was != nil {
			return e.moveAside(pos, was)
		}
		if n.v.pinned && n.v.pin != nil { // the old version failed; the address stays
			n.v.pin.hold()
			e.mem[out] = n.v.pin
			return nil
		}
		use := e.s.outlives(nil)
		m, err := e.s.alloc(n.out.bytes())
		use()
		if err != nil {
			return err
		}
		e.mem[out] = m
		return nil
	}
	m := was
	if m.refs.Load() > 1 && !m.fixed {
		// The first write to memory the Var shares with the tensor it was made
		// from, or with a version an effect skipped.
		use := e.s.outlives(nil)
		aside, err := e.s.clone(m)
		use()
		if err != nil {
			return err
		}
		m = aside
		if !e.flags.forced[pos] {
			// The old version keeps the shared memory: nothing is overwritten.
			e.mem[out] = m
			return nil
		}
		was.letGo()
		e.replace(pos, m)
	}
	if !e.flags.forced[pos] {
		if !e.savable(pos) {
			return e.moveAside(pos, m)
		}
		if err := e.save(pos, m); err != nil {
			return err
		}
	}
	e.mem[out] = m
	return nil
}

// moveAside copies the old version to memory of its own and gives its memory
// to the new one.
func (e *executor) moveAside(pos int, was *Storage) error {
	n := e.seg.nodes[pos]
	defer e.s.outlives(n.in[0])()
	aside, err := e.s.clone(was)
	if err != nil {
		return err
	}
	e.replace(pos, aside)
	e.mem[n.out.rel] = was
	return nil
}

// replace gives the version that the effect at a position overwrites other
// memory; its hold on the memory it had passes to the caller.
func (e *executor) replace(pos int, m *Storage) {
	old := e.seg.operands(pos)[0]
	e.mem[old] = m
	for t, of := range e.base {
		if of == old+1 && e.mem[t] != nil {
			e.mem[t] = m
		}
	}
	if e.seg.outside[old] {
		e.seg.tensors[old].storage = m
	}
}

// unplace takes back what effectPlace did, after a failure. Old versions that a
// launch may have damaged are restored from what was saved of them.
func (e *executor) unplace(pos int, ran bool) {
	n := e.seg.nodes[pos]
	old, m := n.in[0], e.mem[n.out.rel]
	if m == nil {
		return
	}
	e.mem[n.out.rel] = nil
	if aside := e.mem[e.seg.operands(pos)[0]]; m != aside {
		if !n.v.pinned || m != n.v.pin {
			m.letGo()
			return
		}
		// The old version was moved aside and goes back to the fixed address.
		if ran && e.s.copy(m, aside, 0, aside.buf.Bytes) != nil {
			e.damaged = append(e.damaged, pos)
		}
		e.replace(pos, m)
		aside.letGo()
		return
	}
	if p := old.version.patch; p == nil {
		if ran {
			e.damaged = append(e.damaged, pos)
		}
	} else {
		if ran && e.s.restore(old, m) != nil {
			e.damaged = append(e.damaged, pos)
		}
		old.version.patch = nil
		p.letGo()
	}
}

// effectDone settles the versions after an effect ran, or failed with f while
// it was writing. A version made in this segment is settled with its other
// outputs.
func (e *executor) effectDone(pos int, f *failure) {
	n := e.seg.nodes[pos]
	old, was := n.in[0], e.seg.operands(pos)[0]
	m := e.mem[n.out.rel]
	if m == nil && f == nil {
		return
	}
	e.s.stats.effects.Add(1)
	input := e.seg.outside[was]
	switch {
	case m != nil && m == e.mem[was]: // in place
		e.s.stats.inPlaceEffects.Add(1)
		e.mem[was] = nil
		for t, of := range e.base {
			if of == was+1 {
				e.mem[t] = nil // a view of what is overwritten: see recall
			}
		}
		if old.version.patch != nil {
			n.out.version.follow(old.version)
		}
		if input {
			old.storage = nil // its hold on the memory passes to the new version
			old.overwritten()
		}
	case f == nil && e.flags.forced[pos] && input:
		old.letGo()
		old.storage = nil
		old.setState(Gone)
	}
	if f != nil {
		e.fail[n.out.rel], e.anyFail = f, true
	}
}

// overwritten settles a version whose memory the next one has.
func (v *Value) overwritten() {
	v.node = nil
	if v.version.patch != nil {
		v.setState(Patched)
		return
	}
	v.let = true
	v.setState(Gone)
}

// effectSkipped makes the new version the old one: the effect did not run.
func (e *executor) effectSkipped(pos int) {
	n := e.seg.nodes[pos]
	old, out := e.seg.operands(pos)[0], n.out.rel
	if m := e.mem[out]; m != nil && m != e.mem[old] {
		m.letGo()
	}
	m := e.mem[old]
	m.hold()
	e.mem[out] = m
}

// clone copies a whole buffer.
func (s *Stream) clone(from *Storage) (*Storage, error) {
	m, err := s.alloc(from.buf.Bytes)
	if err != nil {
		return nil, err
	}
	if err := s.copy(m, from, 0, from.buf.Bytes); err != nil {
		m.letGo()
		return nil, err
	}
	s.stats.versionCopies.Add(1)
	return m, nil
}

// savable reports whether what an effect overwrites can be named later: a
// fixed slice, or rows whose indices are in memory now.
func (e *executor) savable(pos int) bool {
	n := e.seg.nodes[pos]
	if n.op.Kind == ir.SetSlice {
		return !dynamic(&n.op)
	}
	return e.mem[e.seg.operands(pos)[1]] != nil
}

// save copies what an effect will overwrite, for rebuilding the old version.
func (e *executor) save(pos int, m *Storage) error {
	s, n := e.s, e.seg.nodes[pos]
	old := n.in[0]
	defer s.outlives(old)()
	p := &patch{next: n.out, op: ir.Operation{Kind: n.op.Kind, Attrs: n.op.Attrs, Ranges: n.op.Ranges}}
	whole := codegen.Contiguous(n.out.shape)
	var err error
	if n.op.Kind == ir.SetSlice {
		p.saved, err = s.copyOut(m, whole.Slice(n.op.Ranges), n.out.dtype)
	} else {
		r := e.seg.operands(pos)[1]
		p.index = s.leaf(e.mem[r], e.stored[r], n.in[1].dtype)
		p.index.storage.hold()
		p.saved, err = s.mini(ir.Operation{Kind: ir.Select, Attrs: n.op.Attrs}, s.leaf(m, whole, n.out.dtype), p.index)
	}
	if err != nil {
		return err
	}
	s.stats.versionCopies.Add(1)
	old.version.patch = p
	return nil
}

func dynamic(op *ir.Operation) bool {
	for i := range op.Ranges {
		if op.Ranges[i].Input != 0 {
			return true
		}
	}
	return false
}

// resolve makes an executed value's memory readable: an old version of a Var
// is rebuilt. It returns the failure of a value that carries an error. For a
// version the content of the Var is locked, for writing if it is Patched.
func (s *Stream) resolve(v *Value) *failure {
	if v.is(Failed) {
		return v.fail
	}
	if !v.is(Patched) {
		return nil
	}
	// Follow the versions to one that is in memory, then come back, undoing
	// one effect at a time.
	var chain []*Value
	at := v
	for at.is(Patched) {
		chain = append(chain, at)
		at = at.version.patch.next
	}
	m := at.storage
	if m == nil {
		return &failure{err: lost}
	}
	for i := len(chain) - 1; i >= 0; i-- {
		c := chain[i]
		use := s.outlives(c)
		back, err := s.undo(c, m)
		use()
		if err != nil {
			f := &failure{err: err}
			s.unreported(f)
			return f
		}
		c.version.patch.letGo()
		c.version.patch = nil
		c.let = false
		c.store(back, codegen.Contiguous(c.shape))
		m = back
	}
	s.stats.rebuilt.Add(int64(len(chain)))
	return nil
}

// recall rebuilds, in the middle of a segment, a version the segment itself
// overwrote and an operation recorded after the effect still reads, maybe
// through a view.
func (e *executor) recall(t int32) error {
	v := e.seg.tensors[t]
	if of := e.base[t] - 1; of >= 0 {
		if e.mem[of] == nil {
			if err := e.recall(of); err != nil {
				return err
			}
		}
		e.mem[t] = e.mem[of]
		return nil
	}
	if v.version == nil || v.version.patch == nil {
		return lost
	}
	next := v.version.patch.next.rel
	if e.mem[next] == nil {
		if err := e.recall(next); err != nil {
			return err
		}
	}
	m, err := e.s.undo(v, e.mem[next])
	if err != nil {
		return err
	}
	v.version.patch.letGo()
	v.version.patch = nil
	e.mem[t] = m
	if e.seg.outside[t] {
		v.let = false
		v.store(m, codegen.Contiguous(v.shape))
	}
	e.s.stats.rebuilt.Add(1)
	return nil
}

// undo returns memory with the content of version old, given that of the next.
func (s *Stream) undo(old *Value, next *Storage) (*Storage, error) {
	m, err := s.clone(next)
	if err != nil {
		return nil, err
	}
	if err := s.restore(old, m); err != nil {
		m.letGo()
		return nil, err
	}
	return m, nil
}

// restore puts what was saved of version old back into m.
func (s *Stream) restore(old *Value, m *Storage) error {
	p := old.version.patch
	op, shape := p.op, old.shape.Clone()
	if op.Kind == ir.SetSlice {
		for i, r := range op.Ranges {
			shape[i] = r.Len
		}
		return s.miniEffect(op, m, old, s.leaf(p.saved, codegen.Contiguous(shape), old.dtype))
	}
	op.Kind = ir.SetSelect
	shape[op.Attrs.Axes[0]] = p.index.shape[0]
	return s.miniEffect(op, m, old, p.index, s.leaf(p.saved, codegen.Contiguous(shape), old.dtype))
}

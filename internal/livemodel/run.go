package livemodel

import "slices"

// run executes the blocks in order, as an engine would: each operation reads
// what its block made before it, or storage; only what the fates say stays.
func (s *segment) run(blocks [][]int) {
	for _, b := range blocks {
		made := map[*node][]float32{}
		for _, i := range b {
			o := s.ops[i]
			made[o] = s.m.compute(o, made)
			if o.effect() {
				s.write(i, made[o])
			} else if s.fates[i] == Stored || s.fates[i] == Temporary {
				o.store = &buffer{made[o]}
				if s.alias[i] {
					o.base = o.in[0]
					if o.root = o.base.root; o.base.v != nil {
						o.root = o.base
					}
				}
			}
		}
	}
	for i, o := range s.ops {
		o.read = false
		switch s.fates[i] {
		case Stored:
			o.state = stored
		case Virtual:
			o.state, o.recipe = virtual, throughViews(s.nodes(s.recip[i]))
		default:
			o.state = gone
		}
	}
}

// throughViews extends a recipe that starts from views of a Var's memory to the
// versions, for views are copied when they are used.
func throughViews(recipe []*node) []*node {
	for {
		ends := ends(recipe)
		i := slices.IndexFunc(ends, func(x *node) bool { return x.root != nil })
		if i < 0 {
			return recipe
		}
		recipe = append([]*node{ends[i]}, recipe...)
		slices.SortFunc(recipe, func(a, b *node) int { return a.op - b.op })
	}
}

// compute evaluates one operation and checks it against its eager value.
func (m *Model) compute(o *node, made map[*node][]float32) []float32 {
	if o.drawn != nil {
		return o.drawn
	}
	shapes := make([][]int, len(o.in))
	values := make([][]float32, len(o.in))
	for i, x := range o.in {
		shapes[i] = x.shape
		if o.call.Op == OpSet && i == 1 {
			continue // overwritten unread
		}
		if v, ok := made[x]; ok {
			values[i] = v
		} else {
			values[i] = m.fetch(x)
		}
	}
	got := eval(o.call, shapes, o.shape, values)
	if !sameBits(got, o.truth) {
		m.fault("#%d %v gives %v, want %v", o.op, o.call.Op, got, o.truth)
	}
	return got
}

// copyView gives a stored view of a Var's memory, which effects change, memory
// of its own.
func (m *Model) copyView(x *node) {
	if x.state == stored && x.root != nil {
		x.store = &buffer{m.fetch(x)}
		x.base, x.root = nil, nil
	}
}

// fetch reads a value from storage, rebuilding an overwritten version. A view
// is read through the value whose storage it shares.
func (m *Model) fetch(x *node) []float32 {
	switch {
	case x.saved != nil:
		out := slices.Clone(m.fetch(x.next))
		copy(out[x.saved.at:], x.saved.data)
		return out
	case x.base != nil:
		return eval(x.call, [][]int{x.base.shape}, x.shape, [][]float32{m.fetch(x.base)})
	case x.store == nil:
		m.fault("#%d is asked for, but its storage is gone", x.op)
		return slices.Clone(x.truth)
	}
	return slices.Clone(x.store.data)
}

// write stores an effect's result. Set takes a fresh buffer and leaves the old
// one with the version before; SetSlice writes over it and saves what it
// overwrites. When nothing can ask for the version before, Set writes over it
// too and nothing is saved.
func (s *segment) write(i int, data []float32) {
	o := s.ops[i]
	old := o.old()
	if s.keeps[i] && o.call.Op == OpSet {
		o.store = &buffer{slices.Clone(data)}
		return
	}
	if s.keeps[i] {
		at, n := o.call.Start*o.shape[1], size(o.in[0].shape)
		old.saved = &patch{at, slices.Clone(s.m.fetch(old)[at : at+n])}
	}
	o.store, old.store = old.store, nil
	if o.store != nil {
		copy(o.store.data, data)
	}
}

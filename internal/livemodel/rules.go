package livemodel

import (
	"fmt"
	"hash/fnv"
	"slices"
)

// rules are the decisions that tests replace by wrong ones, to see that they
// matter.
type rules struct {
	hash func(m *Model, n *node) uint64
	late func(m *Model, n *node)
	// askers are the ways in which the version that effect j replaces can still
	// be asked for. None left: nothing of it is kept.
	askers []asker
	cut    func(m *Model) int
}

func standard() rules {
	return rules{hash: structuralHash, late: runRecipe, askers: askers, cut: wholePeriods}
}

// structuralHash names a value by how its segment computes it: kind,
// attributes without scalars and offsets, call site, and its inputs' hashes.
// It ends at the segment's inputs, which are anonymous, but for Vars.
func structuralHash(m *Model, n *node) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, n.call.Op, n.call.Len, n.call.Axis, n.call.Shape, n.call.Site)
	for _, x := range n.in {
		switch {
		case x.state == pending && x.segment == m.segment:
			fmt.Fprintln(h, "value", x.hash)
		case x.v != nil:
			fmt.Fprintln(h, "var", x.v.id)
		default:
			fmt.Fprintln(h, "leaf")
		}
	}
	return h.Sum64()
}

// runRecipe computes a virtual value as a plan of its own and stores it.
func runRecipe(m *Model, n *node) {
	made := map[*node][]float32{}
	for _, o := range n.recipe {
		made[o] = m.compute(o, made)
	}
	n.store = &buffer{made[n]}
	n.state, n.recipe = stored, nil
}

// asker is one reason for which a version must be kept.
type asker struct {
	name  string
	holds func(s *segment, j int) bool
}

var askers = []asker{
	{"a handle is left", func(s *segment, j int) bool { return s.ops[j].old().handles > 0 }},
	{"an operation recorded after the effect reads it", func(s *segment, j int) bool {
		old := s.ops[j].old()
		return anyReads(s.ops[j+1:], old) || anyReads(s.rest, old)
	}},
	{"a living value of this segment was made from it", func(s *segment, j int) bool {
		return s.feedsLiving(s.ops[j].old())
	}},
	{"a recipe or view of an earlier segment starts from it", func(s *segment, j int) bool {
		return s.outer[s.ops[j].old()]
	}},
	{"an older version is rebuilt from it", func(s *segment, j int) bool {
		return s.rebuilds(s.ops[j].old())
	}},
}

// anyReads reports whether an operation reads the value x, itself or through
// views, other than by overwriting it.
func anyReads(ops []*node, x *node) bool {
	for _, o := range ops {
		for i, y := range o.in {
			if o.effect() && i == 1 {
				continue
			}
			for y != x && y.sharesStorage() {
				y = y.in[0]
			}
			if y == x {
				return true
			}
		}
	}
	return false
}

// feedsLiving reports whether x has a living reader, itself or through views;
// or a recipe of this segment may start from it: a living value computed from x
// through dead ones, unless it is asked for and so stored. Effects end the way,
// for their outputs are stored.
func (s *segment) feedsLiving(x *node) bool {
	from := map[*node]bool{x: true}
	for i, o := range s.ops {
		if o.effect() || !slices.ContainsFunc(o.in, func(y *node) bool {
			for ; y != nil && !from[y]; y = y.base {
			}
			return y != nil
		}) {
			continue
		}
		switch {
		case s.dead[i]:
			from[o] = true
		case !s.asked[i] || anyReads(s.ops[i:i+1], x):
			return true
		}
	}
	return false
}

// rebuilds reports whether a version that can still be asked for is rebuilt
// from x.
func (s *segment) rebuilds(x *node) bool {
	rebuilt := func(p *node) bool {
		return p.next == x && (p.handles > 0 || s.outer[p] || anyReads(s.ops, p) || anyReads(s.rest, p) || s.rebuilds(p))
	}
	return slices.ContainsFunc(s.m.living, rebuilt) || slices.ContainsFunc(s.ops, rebuilt)
}

// wholePeriods returns how many operations of a long queue to drain, 0 for
// none: at the threshold a whole number of periods of the recorded sequence,
// or else up to where its first operations recur, or all at four times the
// threshold.
func wholePeriods(m *Model) int {
	n := len(m.queue)
	if n < m.cfg.Cut {
		return 0
	}
	same := func(i, j, count int) bool {
		for k := range count {
			if a, b := m.queue[i+k].call, m.queue[j+k].call; a.Op != b.Op || a.Site != b.Site {
				return false
			}
		}
		return true
	}
	for p := 1; p <= n/2; p++ {
		if same(n-p, n-2*p, p) {
			return n / p * p
		}
	}
	const head = 8
	for at := n - head; at > n/4; at-- {
		if same(0, at, head) {
			return at
		}
	}
	if n >= 4*m.cfg.Cut {
		return n
	}
	return 0
}

func (m *Model) maybeCut() {
	if n := m.rules.cut(m); n > 0 {
		m.drain(n)
	}
}

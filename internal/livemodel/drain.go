package livemodel

import (
	"fmt"
	"slices"
	"strings"
)

// segment is what one drain executes, with what is known before planning.
type segment struct {
	m     *Model
	ops   []*node
	rest  []*node // recorded after a cut
	pos   map[*node]int
	own   []bool // asked for by the program in this place: read, kept, used after a cut
	asked []bool // or remembered
	dead  []bool
	keeps []bool         // effects: the version before is kept
	live  []bool         // is computed
	outer map[*node]bool // what living recipes and views of earlier segments start from
	fates []Fate
	alias []bool
	recip map[int][]int
}

// drain executes the first n queued operations.
func (m *Model) drain(n int) {
	ops, rest := m.queue[:n], slices.Clone(m.queue[n:])
	m.queue = rest
	m.segment++
	for _, o := range rest { // their hashes end at the new segment's inputs
		o.segment = m.segment
	}
	if n == 0 {
		return
	}
	s := m.facts(ops, rest)
	key, sequence := s.key()
	planned := !m.plans[key]
	m.plans[key] = true
	plan, err := m.cfg.Planner.Plan(s.describe())
	if err != nil {
		m.fault("plan: %w", err)
		plan = Single(s.describe())
	}
	if err := s.legal(plan.Blocks); err != nil {
		m.fault("illegal plan %v: %w", plan.Blocks, err)
	}
	s.decide(plan)
	s.run(plan.Blocks)
	for _, o := range rest {
		for _, x := range o.in {
			m.copyView(x)
		}
		o.hash = m.rules.hash(m, o)
	}
	m.living = slices.DeleteFunc(append(m.living, ops...), func(x *node) bool {
		return x.state == gone || x.dead()
	})
	m.events = append(m.events, Event{Kind: EventDrain, Drain: s.drained(plan.Blocks, planned, sequence)})
}

// facts works out what is asked for, what is dead, which effects keep the
// version before, and what must be computed.
func (m *Model) facts(ops, rest []*node) *segment {
	n := len(ops)
	s := &segment{
		m: m, ops: ops, rest: rest, pos: map[*node]int{}, outer: map[*node]bool{},
		own: make([]bool, n), asked: make([]bool, n), dead: make([]bool, n), keeps: make([]bool, n), live: make([]bool, n),
	}
	for i, o := range ops {
		s.pos[o] = i
	}
	for _, x := range m.living {
		if !x.dead() {
			for _, y := range x.needs() {
				for ; y != nil; y = y.base {
					s.outer[y] = true
				}
			}
		}
	}
	later := map[*node]bool{}
	for _, o := range rest {
		for _, x := range o.in {
			later[x] = true
		}
	}
	for i, o := range ops {
		if !o.effect() {
			s.own[i] = o.asked() || later[o]
			s.dead[i] = o.dead() && !later[o]
			s.asked[i] = s.own[i] || m.remember[o.hash] && !s.dead[i]
		}
	}
	for i, o := range ops {
		if !o.effect() {
			continue
		}
		for _, a := range m.rules.askers {
			s.keeps[i] = s.keeps[i] || a.holds(s, i)
		}
		if old := o.old(); s.keeps[i] && o.call.Op == OpSetSlice {
			old.next = o
		}
	}
	for i := n - 1; i >= 0; i-- {
		o := ops[i]
		s.live[i] = s.live[i] || o.effect() || !s.dead[i]
		if s.live[i] {
			for _, x := range o.in {
				if p, ok := s.pos[x]; ok {
					s.live[p] = true
				}
			}
		}
	}
	return s
}

// key returns the segment's relative form, in which equal programs are equal
// values, with all that was asked for; and the recorded sequence: the same with
// call sites and only what the program itself asks for in this place.
func (s *segment) key() (key, sequence string) {
	ids := map[*node]int{}
	dims := map[int]int{1: 0}
	dim := func(shape []int) (out []int) {
		for _, d := range shape {
			if _, ok := dims[d]; !ok {
				dims[d] = len(dims)
			}
			out = append(out, dims[d])
		}
		return out
	}
	id := func(x *node) int {
		if _, ok := ids[x]; !ok {
			ids[x] = len(ids)
		}
		return ids[x]
	}
	var full, own strings.Builder
	for i, o := range s.ops {
		fmt.Fprint(&full, o.call.Op, o.call.Len, o.call.Axis, s.keeps[i], s.dead[i])
		for _, x := range o.in {
			fmt.Fprint(&full, " ", id(x), dim(x.shape))
		}
		fmt.Fprintln(&full, " →", id(o), dim(o.shape))
		fmt.Fprintln(&own, o.call.Site, s.own[i])
	}
	return full.String() + fmt.Sprint(s.asked), full.String() + own.String()
}

// decide gives every operation its fate and every virtual value its recipe.
func (s *segment) decide(plan Plan) {
	n := len(s.ops)
	s.fates, s.recip, s.alias = make([]Fate, n), map[int][]int{}, make([]bool, n)
	used, crosses := make([]bool, n), make([]bool, n)
	for _, block := range plan.Blocks {
		for _, j := range block {
			for _, x := range s.ops[j].in {
				if p, ok := s.pos[x]; ok {
					used[p] = true
					crosses[p] = crosses[p] || !slices.Contains(block, p)
				}
			}
		}
	}
	for i, o := range s.ops {
		switch {
		case o.effect():
			s.fates[i] = Stored
		case !s.live[i]:
			s.fates[i] = Dropped
		case s.dead[i] && crosses[i]:
			s.fates[i] = Temporary
		case s.dead[i]:
			s.fates[i] = Dropped
		case s.asked[i], !used[i], o.call.Op.Class() == ClassReduce:
			s.fates[i] = Stored
		case crosses[i]:
			s.fates[i], o.chance = Stored, true
		default:
			// Values are decided in order, so it is known where the recipe stops.
			recipe := s.recipe(i)
			through := i < len(plan.Through) && plan.Through[i]
			if s.fates[i] = Virtual; s.tooLong(recipe) && !through {
				s.fates[i], o.chance = Stored, true
			} else {
				s.recip[i] = recipe
			}
		}
		s.alias[i] = i < len(plan.Alias) && plan.Alias[i] && s.inMemory(o) && s.inMemory(o.in[0])
	}
}

// inMemory reports whether a value is in memory while the segment runs.
func (s *segment) inMemory(x *node) bool {
	i, ok := s.pos[x]
	return !ok || s.fates[i] == Stored || s.fates[i] == Temporary
}

// recipe returns the operations that compute i from what is in memory, all of
// them in i's block, ascending.
func (s *segment) recipe(i int) []int {
	seen := map[int]bool{}
	var walk func(j int)
	walk = func(j int) {
		seen[j] = true
		for _, x := range s.ops[j].in {
			p, ok := s.pos[x]
			if ok && !seen[p] && !s.inMemory(x) {
				walk(p)
			}
		}
	}
	walk(i)
	var out []int
	for j := range s.ops {
		if seen[j] {
			out = append(out, j)
		}
	}
	return out
}

// tooLong reports whether a recipe would hold more than four times the bytes
// of its value, Vars not counted.
func (s *segment) tooLong(recipe []int) bool {
	total := 0
	for _, x := range ends(s.nodes(recipe)) {
		if x.v == nil {
			total += size(x.shape)
		}
	}
	return total > 4*size(s.ops[recipe[len(recipe)-1]].shape)
}

func (s *segment) nodes(positions []int) []*node {
	out := make([]*node, len(positions))
	for i, p := range positions {
		out[i] = s.ops[p]
	}
	return out
}

func (s *segment) drained(blocks [][]int, planned bool, sequence string) *Drain {
	d := &Drain{
		Asked: s.asked, Dead: s.dead, Keeps: s.keeps, Fates: s.fates, Alias: s.alias,
		Recipes: s.recip, Blocks: blocks, Planned: planned, sequence: sequence,
	}
	for _, o := range s.ops {
		d.Ops = append(d.Ops, o.op)
	}
	return d
}

package optimize

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/fuser"
)

// unit is a block as it is finished.
type unit struct {
	core  []int  // the operations it computes, ascending
	ops   []int  // core and what it takes along, ascending
	block int    // the number of the search's block
	entry *entry // the fuser that finishes it, nil: one operation lowered alone
	alias bool   // a merged operation
	// parts are the units that share its launch. What one takes along another may
	// read from memory, so each waits and reads for itself.
	parts []*unit
}

// each yields the unit's parts, itself if it has none.
func (u *unit) each(yield func(*unit) bool) {
	if len(u.parts) == 0 {
		yield(u)
		return
	}
	for _, p := range u.parts {
		if !yield(p) {
			return
		}
	}
}

// units chooses the fuser of each block. A block that no fuser finishes, or
// not with a gain, comes apart.
func (s *search) units() []*unit {
	var out []*unit
	for _, b := range s.o.list {
		if b == nil || b.alias {
			continue
		}
		if u := s.choose(b); u != nil {
			out = append(out, u)
		} else {
			if len(b.ops) > 1 {
				s.log.add(b.dissolved())
			}
			out = append(out, apart(b.ops)...)
		}
	}
	return out
}

// dissolved says why a block that no fuser is worth finishing comes apart.
func (b *block) dissolved() Decision {
	d := Decision{Event: EventDissolved, Op: b.ops[0], Block: b.id, Rule: string(RuleNotReady)}
	if b.value.ready {
		d.Rule, d.Score, d.Ready = string(RuleNoGain), b.value.score, true
		d.Detail = fmt.Sprintf("%.6g ns saved by the best fuser", b.value.score)
	}
	return d
}

func apart(ops []int) []*unit {
	out := make([]*unit, len(ops))
	for i, op := range ops {
		out[i] = &unit{core: []int{op}, ops: []int{op}}
	}
	return out
}

func (s *search) choose(b *block) *unit {
	best := -1
	var top fuser.Properties
	for i := range b.alive {
		e := &b.alive[i]
		p := e.fuser.Properties()
		enough := p.Ready && len(b.ops)+len(e.views) > 1 && (p.Score > 0 || s.p.off[string(RuleNoGain)])
		if enough && (best < 0 || p.Score > top.Score) {
			best, top = i, p
		}
	}
	if best < 0 {
		return nil
	}
	e := &b.alive[best]
	for i := range b.alive {
		if i != best {
			o := b.alive[i].fuser.Properties()
			s.log.add(Decision{Event: EventBeaten, Op: b.ops[0], Block: b.id, Fuser: s.p.factories[b.alive[i].factory].Name, Score: o.Score, Ready: o.Ready, Detail: "by " + s.p.factories[e.factory].Name})
		}
	}
	s.log.add(Decision{Event: EventChosen, Op: b.ops[0], Block: b.id, Fuser: s.p.factories[e.factory].Name, Score: top.Score, Ready: true, Detail: fmt.Sprintf("%d operations, %d taken along", len(b.ops), len(e.views))})
	return &unit{core: b.ops, ops: union(b.ops, e.views), block: b.id, entry: e}
}

// finish chooses fusers, decides fates, finishes every block and puts them in
// the order they run. Blocks whose fusers fail come apart, all that fail at
// once, so that the rounds do not grow with the segment.
func (s *search) finish() (*Plan, error) {
	units := s.units()
	for {
		f := s.decide(slices.Clone(units))
		order, err := f.sort()
		if err != nil {
			return nil, err
		}
		blocks, failed, err := f.lower(order)
		if err != nil {
			return nil, err
		}
		if len(failed) == 0 {
			if order, blocks, err = f.join(order, blocks); err != nil {
				return nil, err
			}
			return f.plan(order, blocks), nil
		}
		next := make([]*unit, 0, len(units)+len(failed))
		for _, u := range units {
			switch {
			case !slices.Contains(failed, u), f.relent(u):
				next = append(next, u)
			default:
				s.log.add(Decision{Event: EventDissolved, Op: u.core[0], Block: u.block, Detail: "its fuser failed"})
				next = append(next, apart(u.core)...)
			}
		}
		units = next
	}
}

// relent gives up storing what only the size of a recipe asked the unit to
// store, and reports whether there was any.
func (f *fates) relent(u *unit) bool {
	found := false
	for _, op := range u.core {
		for _, out := range f.ops[op].Outputs {
			if f.spare[out.ID] {
				f.unstorable[out.ID], found = true, true
			}
		}
	}
	return found
}

// sort returns the units in topological order, ties by first operation.
func (f *fates) sort() ([]*unit, error) {
	number := make(map[*unit]int, len(f.units))
	slices.SortFunc(f.units, func(a, b *unit) int { return a.core[0] - b.core[0] })
	for i, u := range f.units {
		number[u] = i
	}
	waits := make([]int, len(f.units))
	next := make([][]int, len(f.units))
	for i, u := range f.units {
		for _, before := range f.waits(u) {
			next[number[before]] = append(next[number[before]], i)
			waits[i]++
		}
	}
	var ready intHeap
	for i := range f.units {
		if waits[i] == 0 {
			heap.Push(&ready, i)
		}
	}
	out := make([]*unit, 0, len(f.units))
	for len(ready) > 0 {
		i := heap.Pop(&ready).(int)
		out = append(out, f.units[i])
		for _, j := range next[i] {
			if waits[j]--; waits[j] == 0 {
				heap.Push(&ready, j)
			}
		}
	}
	if len(out) != len(f.units) {
		return nil, errors.New("optimize: the blocks wait for each other; this is a bug in the search")
	}
	return out, nil
}

type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

package optimize

import (
	"container/heap"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// unit is a block as it is finished.
type unit struct {
	core  []int  // the operations it computes, ascending
	ops   []int  // core and the views it reads through, ascending
	entry *entry // the fuser that finishes it, nil: one operation lowered alone
	alias bool   // a merged operation
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
			out = append(out, apart(b.ops)...)
		}
	}
	return out
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
		enough := p.Ready && len(b.ops)+len(e.views) > 1 && (p.Score > 0 || s.p.opts.Force)
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
	s.log.add(Decision{Event: EventChosen, Op: b.ops[0], Block: b.id, Fuser: s.p.factories[e.factory].Name, Score: top.Score, Ready: true, Detail: fmt.Sprintf("%d operations, %d views", len(b.ops), len(e.views))})
	return &unit{core: b.ops, ops: union(b.ops, e.views), entry: e}
}

// finish chooses fusers, decides fates, finishes every block and puts them in
// the order they run. A block whose fuser fails comes apart.
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
		if failed == nil {
			return f.plan(order, blocks), nil
		}
		i := slices.Index(units, failed)
		units = slices.Replace(units, i, i+1, apart(failed.core)...)
	}
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
		var seen []int
		follow := func(p int) {
			if p < 0 || f.unitOf[p] == nil || f.unitOf[p] == u {
				return
			}
			if j := number[f.unitOf[p]]; !slices.Contains(seen, j) {
				seen = append(seen, j)
				next[j] = append(next[j], i)
				waits[i]++
			}
		}
		for _, op := range u.ops {
			if u.alias {
				follow(f.producer[f.same[f.ops[op].Outputs[0].ID]])
				continue
			}
			for _, in := range f.ops[op].Inputs {
				if p := f.producer[in.ID]; p >= 0 && !contains(u.ops, p) {
					follow(p)
				}
			}
			for _, r := range f.d.before[op] {
				follow(r)
			}
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
		return nil, fmt.Errorf("optimize: the blocks wait for each other; this is a bug in the search")
	}
	return out, nil
}

// lower finishes the units. It returns the unit whose fuser failed, if one did.
func (f *fates) lower(order []*unit) ([]Block, *unit, error) {
	for i := range f.g.Tensors {
		f.g.Tensors[i].Stored = false
	}
	blocks := make([]Block, 0, len(order))
	for _, u := range order {
		// A view taken along is stored elsewhere if it is stored at all.
		for _, op := range u.ops {
			core := contains(u.core, op)
			for _, out := range f.ops[op].Outputs {
				f.g.Tensors[out.ID].Stored = core && f.fate[out.ID].inMemory()
			}
		}
		b := Block{}
		var err error
		switch {
		case u.alias:
			out := f.ops[u.core[0]].Outputs[0].ID
			b.Optimization = &fuser.Optimization{Fuser: "alias", Ops: u.ops, Aliases: []fuser.Alias{{Tensor: out, Of: f.same[out]}}}
		case u.entry == nil:
			if b.Optimization, err = f.p.single(f.g, u.core[0]); err != nil {
				return nil, nil, fmt.Errorf("optimize: %s: %w", opName(f.seg, u.core[0]), err)
			}
		default:
			if b.Optimization, err = u.entry.fuser.Finish(); err != nil {
				f.log.add(Decision{Event: EventFailed, Op: u.core[0], Fuser: f.p.factories[u.entry.factory].Name, Detail: err.Error()})
				return nil, u, nil
			}
			for _, op := range u.ops {
				alone, err := f.p.single(f.g, op)
				if err != nil {
					return nil, nil, fmt.Errorf("optimize: %s: %w", opName(f.seg, op), err)
				}
				b.Fallback = append(b.Fallback, alone)
			}
		}
		blocks = append(blocks, b)
	}
	return blocks, nil, nil
}

// plan puts the parts together.
func (f *fates) plan(order []*unit, blocks []Block) *Plan {
	f.adopt(blocks)
	f.allowInPlace(order, blocks)
	for i, u := range order {
		for _, op := range u.core {
			f.log.place(op, i)
		}
	}
	guards := append(slices.Clip(f.guards), reshapeGuards(f.g, f.seg, blocks)...)
	guards = append(guards, rowGuards(f.g, f.seg, &f.p.profile)...)
	return &Plan{Blocks: blocks, Fates: f.fate, Recipes: f.recipes, Guards: guards, Log: f.log}
}

// adopt takes over what the optimizations put in memory beyond what they had
// to, and holds what stored aliases are views of.
func (f *fates) adopt(blocks []Block) {
	put := func(t ir.TensorID) {
		switch f.fate[t] {
		case Virtual:
			f.fate[t] = Stored
			delete(f.recipes, t)
		case Dropped:
			f.fate[t] = Temporary
		}
	}
	for _, b := range slices.Backward(blocks) {
		for _, a := range b.Aliases {
			put(a.Tensor)
		}
		for _, t := range b.Stored {
			put(t)
		}
		for _, a := range slices.Backward(b.Aliases) {
			if f.fate[a.Tensor] == Stored {
				f.hold(a.Of)
			}
		}
	}
}

// allowInPlace keeps, of the storage the optimizations would take, what nobody
// needs afterwards: of inputs whose last use is here and of temporaries.
func (f *fates) allowInPlace(order []*unit, blocks []Block) {
	// lastRead is, by storage, the last block that reads it; held tells that it
	// outlives the segment.
	storages := 0
	for _, r := range f.d.root {
		storages = max(storages, r+1)
	}
	lastRead, held := make([]int, storages), make([]bool, storages)
	for t, r := range f.d.root {
		id := ir.TensorID(t)
		switch {
		case f.producer[t] >= 0:
			held[r] = held[r] || f.fate[t] == Stored
		case !f.seg.Tensors[t].Takeable || f.isVar(id) || f.leaf[t]:
			held[r] = true
		}
	}
	reads := make([][]ir.TensorID, len(order))
	for i, u := range order {
		reads[i] = f.external(u)
		for _, t := range reads[i] {
			lastRead[f.d.root[t]] = i
		}
	}
	for i, u := range order {
		alone := func(t ir.TensorID) bool { // no other name of its storage is read here
			return !slices.ContainsFunc(reads[i], func(x ir.TensorID) bool { return x != t && f.d.root[x] == f.d.root[t] })
		}
		var given []ir.TensorID // an output takes one storage, and a storage is taken once
		ok := func(x fuser.InPlace) bool {
			p := f.producer[x.Out]
			if p >= 0 && f.seg.inPlace(p) && f.ops[p].Inputs[0].ID == x.In {
				return true // an effect, not a permission
			}
			a, b := &f.seg.Tensors[x.Out], &f.seg.Tensors[x.In]
			free := !slices.Contains(given, x.Out) && !slices.Contains(given, x.In) &&
				p >= 0 && contains(u.core, p) && a.Shape.Equal(b.Shape) && a.DType == b.DType &&
				slices.Contains(reads[i], x.In) && !held[f.d.root[x.In]] && lastRead[f.d.root[x.In]] == i && alone(x.In)
			if free {
				given = append(given, x.Out, x.In)
			}
			return free
		}
		blocks[i].InPlace = slices.DeleteFunc(slices.Clone(blocks[i].InPlace), func(x fuser.InPlace) bool { return !ok(x) })
	}
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

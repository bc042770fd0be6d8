package livemodel

import (
	"math/rand"
	"slices"
)

// Greedy is a plain stand-in for fusers: maps join the block that makes one of
// their operands when shapes allow, reductions join their operand's map, an
// effect joins the block that makes its value.
type Greedy struct{}

// Random forms any legal blocks, whatever kernels could do, and stores some
// views without a copy; the same for the same operations.
type Random struct{ Seed int64 }

// Plan implements Planner.
func (Greedy) Plan(s *Segment) (Plan, error) {
	return grow(s, func(f *former, i int) []int {
		return slices.DeleteFunc(f.producers(i), func(b int) bool { return !joins(s, f.blocks[b], i) })
	}), nil
}

// Plan implements Planner.
func (r Random) Plan(s *Segment) (Plan, error) {
	seed := r.Seed
	for _, o := range s.Ops {
		seed = seed*31 + int64(o.Call.Site)
	}
	rg := rand.New(rand.NewSource(seed))
	p := grow(s, func(f *former, i int) []int {
		if rg.Intn(4) == 0 {
			return nil
		}
		out := f.producers(i)
		for b := range f.blocks {
			if rg.Intn(8) == 0 {
				out = append(out, b)
			}
		}
		rg.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	})
	for _, o := range s.Ops {
		p.Alias = append(p.Alias, o.Call.Op.Class() == ClassView && rg.Intn(3) > 0)
	}
	return p, nil
}

// joins reports whether Greedy lets operation i join a block.
func joins(s *Segment, block []int, i int) bool {
	first, last, o := s.Ops[block[0]], s.Ops[block[len(block)-1]], s.Ops[i]
	class := first.Call.Op.Class()
	switch o.Call.Op.Class() {
	case ClassMap, ClassRandom:
		return slices.Equal(o.Shape, last.Shape) || slices.Equal(o.Shape, first.Shape)
	case ClassReduce:
		return class == ClassMap && slices.Equal(o.Shapes[0], last.Shape)
	case ClassEffect:
		return true
	}
	return false
}

// former grows blocks over a segment's order.
type former struct {
	s      *Segment
	next   [][]int // who must run after each position
	block  []int   // by position, -1: none
	blocks [][]int
}

// grow offers each operation in order to the blocks pick names, most wanted
// first; it joins the first that stays legal, or starts one.
func grow(s *Segment, pick func(f *former, i int) []int) Plan {
	f := &former{s: s, next: make([][]int, len(s.Ops)), block: make([]int, len(s.Ops))}
	for i, o := range s.Ops {
		f.block[i] = -1
		if o.Live {
			for _, p := range o.After {
				f.next[p] = append(f.next[p], i)
			}
		}
	}
	for i, o := range s.Ops {
		if !o.Live {
			continue
		}
		for _, b := range pick(f, i) {
			if !f.reenters(b, i) {
				f.block[i] = b
				f.blocks[b] = append(f.blocks[b], i)
				break
			}
		}
		if f.block[i] < 0 {
			f.block[i] = len(f.blocks)
			f.blocks = append(f.blocks, []int{i})
		}
	}
	return Plan{Blocks: f.order()}
}

// producers returns the blocks that make operands of i.
func (f *former) producers(i int) []int {
	var out []int
	for k, p := range f.s.Ops[i].In {
		if f.s.Ops[i].Call.Op.Class() == ClassEffect && k == 1 {
			continue
		}
		if p >= 0 && !slices.Contains(out, f.block[p]) {
			out = append(out, f.block[p])
		}
	}
	return out
}

// reenters reports whether a path would leave block b grown by i and come back.
func (f *former) reenters(b, i int) bool {
	in := func(j int) bool { return j == i || f.block[j] == b }
	seen := make([]bool, len(f.s.Ops))
	var stack []int
	for _, j := range append(slices.Clone(f.blocks[b]), i) {
		for _, k := range f.next[j] {
			if !in(k) {
				stack = append(stack, k)
			}
		}
	}
	for len(stack) > 0 {
		j := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if in(j) {
			return true
		}
		if seen[j] {
			continue
		}
		seen[j] = true
		stack = append(stack, f.next[j]...)
		if f.block[j] >= 0 { // leaving a block may happen at any of its operations
			for _, k := range f.blocks[f.block[j]] {
				stack = append(stack, f.next[k]...)
			}
		}
	}
	return false
}

// order returns the blocks so that each follows all it must.
func (f *former) order() [][]int {
	var out [][]int
	done := make([]bool, len(f.blocks))
	for range f.blocks {
		for b, ops := range f.blocks {
			if !done[b] && f.ready(ops, b, done) {
				done[b] = true
				out = append(out, ops)
				break
			}
		}
	}
	return out
}

func (f *former) ready(ops []int, b int, done []bool) bool {
	for _, i := range ops {
		for _, p := range f.s.Ops[i].After {
			if f.s.Ops[p].Live && f.block[p] != b && !done[f.block[p]] {
				return false
			}
		}
	}
	return true
}

package cudac

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// rowPass is one walk over the elements of a row. A reduction whose operand
// depends on another reduction's result needs a later pass.
type rowPass struct {
	folds    []fold
	stores   []*codegen.Store // of element values
	elements []bool           // the element values that are computed
	reads    []codegen.Value  // element values that an earlier pass kept
	writes   []codegen.Value  // element values that are kept for later passes
	rows     []codegen.Value  // row values that elements or stores need
}

// walks reports whether a pass has anything to do at the elements.
func (p *rowPass) walks() bool { return len(p.folds) > 0 || len(p.stores) > 0 }

// rowPlan sorts the body of a Rows kernel into passes.
type rowPlan struct {
	passes []rowPass
	// stores are those of row values, after the last pass; rows are the values.
	stores []*codegen.Store
	rows   []codegen.Value

	slots  []ir.DType // of an element that is kept: one for each value kept at the same time
	slotOf map[codegen.Value]int
}

// bytes returns how much of an element is kept.
func (p *rowPlan) bytes() int {
	n := 0
	for _, t := range p.slots {
		n += t.Size()
	}
	return n
}

// foldBytes returns the size of the records of all folds.
func (p *rowPlan) foldBytes() int {
	n := 0
	for i := range p.passes {
		for _, f := range p.passes[i].folds {
			n += recordBytes(f)
		}
	}
	return n
}

// recordBytes returns the most memory a record of a fold takes.
func recordBytes(f fold) int {
	n := f.t.Size()
	if f.positions() {
		n += 8
	}
	return n
}

// planRows returns the passes of a kernel. With early, elements are stored as
// soon as they are known, else in the last pass, as they must be where a later
// pass would read what was overwritten. With keep, what one pass computes is kept
// for the next, else computed again.
func planRows(k *codegen.Kernel, early, keep bool) *rowPlan {
	phase := make([]int, len(k.Body))
	last := 0
	plan := &rowPlan{slotOf: map[codegen.Value]int{}}
	for i := range k.Body {
		in := &k.Body[i]
		for _, a := range in.Args {
			phase[i] = max(phase[i], phase[a])
		}
		if in.Op == codegen.OpReduce {
			phase[i]++
			last = max(last, phase[i])
		}
	}
	plan.passes = make([]rowPass, last+1)
	for i := range k.Body {
		if k.Body[i].Op == codegen.OpReduce {
			p := &plan.passes[phase[i]-1]
			p.folds = append(p.folds, newFold(k, codegen.Value(i)))
		}
	}
	for i := range k.Stores {
		s := &k.Stores[i]
		switch {
		case k.Body[s.Value].Level == codegen.Row:
			plan.stores = append(plan.stores, s)
			plan.rows = append(plan.rows, s.Value)
		case early:
			p := &plan.passes[phase[s.Value]]
			p.stores = append(p.stores, s)
		default:
			plan.passes[last].stores = append(plan.passes[last].stores, s)
		}
	}
	if !early { // row values, too, are read before anything is overwritten
		plan.passes[last].rows = slices.Clone(plan.rows)
	}
	known := make([]int, len(k.Body)) // 1 + the pass that computed a value first
	for i := range plan.passes {
		plan.fill(k, i, known, keep)
	}
	if keep {
		plan.place(k)
	}
	return plan
}

// fill finds what pass i computes, and what of it was known before.
func (plan *rowPlan) fill(k *codegen.Kernel, i int, known []int, keep bool) {
	p := &plan.passes[i]
	p.elements = make([]bool, len(k.Body))
	var visit func(v codegen.Value)
	visit = func(v codegen.Value) {
		in := &k.Body[v]
		switch {
		case in.Level == codegen.Row:
			p.rows = appendOnce(p.rows, v)
		case p.elements[v]:
		case keep && known[v] > 0 && worthKeeping(in):
			p.reads = appendOnce(p.reads, v)
			from := &plan.passes[known[v]-1]
			from.writes = appendOnce(from.writes, v)
		default:
			p.elements[v] = true
			for _, a := range in.Args {
				visit(a)
			}
		}
	}
	for _, f := range p.folds {
		visit(f.in.Args[0])
	}
	for _, s := range p.stores {
		visit(s.Value)
	}
	for v, ok := range p.elements {
		if ok && known[v] == 0 {
			known[v] = i + 1
		}
	}
}

func appendOnce(list []codegen.Value, v codegen.Value) []codegen.Value {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// worthKeeping reports whether a value costs more to compute than to keep.
func worthKeeping(in *codegen.Instr) bool {
	switch in.Op {
	case codegen.OpConst, codegen.OpParam, codegen.OpCoord, codegen.OpCount, codegen.OpArange:
		return false
	}
	return true
}

// place gives each kept value a slot. A value may take the slot of one that is
// read for the last time in the pass that computes it: a pass reads an element
// before it writes it.
func (plan *rowPlan) place(k *codegen.Kernel) {
	var free []int // by slot: the pass from which on it may be written
	for i := range plan.passes {
		for _, v := range plan.passes[i].writes {
			t := k.Body[v].Type
			n := -1
			for slot, from := range free {
				if n < 0 && from <= i && plan.slots[slot] == t {
					n = slot
				}
			}
			if n < 0 {
				n = len(free)
				free, plan.slots = append(free, 0), append(plan.slots, t)
			}
			plan.slotOf[v] = n
			for j := range plan.passes {
				if slices.Contains(plan.passes[j].reads, v) {
					free[n] = j
				}
			}
		}
	}
}

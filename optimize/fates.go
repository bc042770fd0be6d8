package optimize

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// recipeLimit is how many times a value's size the inputs of its recipe may
// take: a recipe keeps them in memory. Versions of Vars are there anyway.
const recipeLimit = 4

// fates decides what becomes of each output, once the units are known.
type fates struct {
	*search
	units   []*unit
	unitOf  []*unit // by position: the unit that computes it, nil: none
	crosses []bool  // by tensor: read by a unit that does not compute it
	fate    []Fate
	recipes map[ir.TensorID][]int
	leaf    []bool // by tensor: a recipe starts from it
	spare   []bool // by tensor: stored only because its recipe would hold too much

	epoch              int // of the walk that last came by
	opSeen, tensorSeen []int
}

// decide returns the fates of a segment run as the given units. Views, merged
// operations and created tensors that must exist by themselves get a unit each.
func (s *search) decide(units []*unit) *fates {
	n, m := len(s.ops), len(s.seg.Tensors)
	f := &fates{
		search: s, units: units, unitOf: make([]*unit, n), crosses: make([]bool, m), fate: make([]Fate, m),
		recipes: make(map[ir.TensorID][]int), leaf: make([]bool, m), spare: make([]bool, m),
		opSeen: make([]int, n), tensorSeen: make([]int, m),
	}
	for _, u := range units {
		for _, op := range u.core {
			f.unitOf[op] = u
		}
	}
	for _, u := range units {
		for _, t := range s.external(u) {
			f.crosses[t] = true
		}
	}
	// What a view that exists by itself starts from is read by that view.
	for i := n - 1; i >= 0; i-- {
		if s.isView(i) && s.computed(i) && f.unitOf[i] == nil {
			if f.inMemory(s.ops[i].Outputs[0].ID) {
				for _, in := range s.ops[i].Inputs { // the base, and starts
					f.crosses[in.ID] = true
				}
			}
		}
	}
	for i := range s.ops {
		for _, out := range s.seg.Ops[i].Outputs {
			f.settle(i, out.ID)
		}
	}
	for i := range s.ops {
		if f.unitOf[i] == nil && s.aliasNode(i) && f.fate[s.ops[i].Outputs[0].ID].inMemory() {
			u := &unit{core: []int{i}, ops: []int{i}, alias: s.merged[i]}
			f.unitOf[i] = u
			f.units = append(f.units, u)
		}
	}
	return f
}

// inMemory reports whether a tensor of this fate is in memory at some time:
// virtual and dropped ones never are.
func (f Fate) inMemory() bool { return f == Stored || f == Temporary }

// external returns the tensors a unit reads and does not compute.
func (s *search) external(u *unit) []ir.TensorID {
	var out []ir.TensorID
	for part := range u.each {
		for _, op := range part.ops {
			for _, in := range s.ops[op].Inputs {
				if p := s.producer[in.ID]; (p < 0 || !contains(part.ops, p)) && !slices.Contains(out, in.ID) {
					out = append(out, in.ID)
				}
			}
		}
	}
	return out
}

// aliasNode reports whether the operation is a view or a created tensor that no
// block computes, or was merged.
func (s *search) aliasNode(op int) bool {
	b := s.o.of[op]
	return b != nil && b.alias
}

func (f *fates) inMemory(t ir.TensorID) bool { return f.wanted[t] || f.crosses[t] }

// settle decides the fate of output t of an operation. Operations are settled
// in recorded order, so a recipe stops at what earlier ones store.
func (f *fates) settle(op int, t ir.TensorID) {
	switch {
	case f.unneeded[op]:
		f.fate[t] = Dropped
	case f.merged[op]:
		f.settleMerged(op, t)
	case f.inMemory(t) && (!f.dead[t] || f.aliasNode(op) && !f.isView(op)):
		// A created tensor that is read from memory by one block and made anew by
		// others has no last reader.
		f.fate[t] = Stored
	case f.inMemory(t):
		f.fate[t] = Temporary
	case f.seg.Tensors[t].Dead: // what it stands for is settled by itself
		f.fate[t] = Dropped
	default:
		f.virtual(op, t)
	}
}

func (f *fates) settleMerged(op int, t ir.TensorID) {
	rep := f.same[t]
	switch {
	case f.seg.Tensors[t].Dead && !f.seg.Tensors[t].Asked:
		f.fate[t] = Dropped
	case f.wanted[t] || f.producer[rep] >= 0 && f.fate[rep] == Stored:
		f.fate[t] = Stored
	default:
		f.virtual(op, t)
	}
}

// hold makes a tensor that something starts from outlive the segment. Of an
// alias, adopt holds the tensor behind it.
func (f *fates) hold(t ir.TensorID) {
	if f.producer[t] >= 0 {
		f.fate[t] = Stored
		delete(f.recipes, t)
	}
}

// virtual gives a tensor a recipe, or stores it when the recipe would keep too
// much in memory.
func (f *fates) virtual(op int, t ir.TensorID) {
	f.fate[t] = Virtual
	ops, leaves := f.recipe(op, func(t ir.TensorID) bool {
		rep := f.same[t]
		return f.fate[t].inMemory() || f.producer[rep] >= 0 && f.fate[rep].inMemory()
	})
	if f.unitOf[op] != nil {
		var held int64
		for _, x := range leaves {
			if !f.isVar(x) {
				held += f.bytes(x)
			}
		}
		if held > recipeLimit*f.bytes(t) && !f.unstorable[t] {
			f.fate[t], f.spare[t] = Stored, true
			return
		}
	}
	for _, x := range leaves {
		f.leaf[x] = true
		f.hold(x)
	}
	f.recipes[t] = ops
}

// recipe returns the operations, as recorded, that compute the output of op
// from inputs and tensors where it stops, and those.
func (f *fates) recipe(op int, stops func(t ir.TensorID) bool) (ops []int, leaves []ir.TensorID) {
	f.epoch++
	var need func(op int)
	need = func(op int) {
		f.opSeen[op] = f.epoch
		ops = append(ops, op)
		for _, in := range f.seg.Ops[op].Inputs {
			t, p := in.ID, f.producer[in.ID]
			if f.tensorSeen[t] == f.epoch {
				continue
			}
			f.tensorSeen[t] = f.epoch
			if p < 0 || stops(t) {
				leaves = append(leaves, t)
			} else if f.opSeen[p] != f.epoch {
				need(p)
			}
		}
	}
	need(op)
	slices.Sort(ops)
	return ops, leaves
}

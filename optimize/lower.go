package optimize

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// lower finishes the units. It returns those whose fusers failed.
func (f *fates) lower(order []*unit) (blocks []Block, failed []*unit, err error) {
	for i := range f.g.Tensors {
		f.g.Tensors[i].Stored = false
	}
	blocks = make([]Block, 0, len(order))
	for _, u := range order {
		// A view taken along is stored elsewhere if it is stored at all.
		for _, op := range u.ops {
			core := contains(u.core, op)
			for _, out := range f.ops[op].Outputs {
				f.g.Tensors[out.ID].Stored = core && f.fate[out.ID].inMemory()
			}
		}
		b := Block{}
		switch {
		case u.alias:
			out := f.ops[u.core[0]].Outputs[0].ID
			b.Optimization = &fuser.Optimization{Fuser: "alias", Ops: u.ops, Aliases: []fuser.Alias{{Tensor: out, Of: f.same[out]}}}
		case u.entry == nil:
			f.log.Lowerings++
			if b.Optimization, err = f.p.single(f.g, u.core[0]); err != nil {
				return nil, nil, fmt.Errorf("optimize: %s: %w", opName(f.seg, u.core[0]), err)
			}
		default:
			f.log.Lowerings += len(u.ops)
			if b.Optimization, err = u.entry.fuser.Finish(); err == nil {
				err = f.complete(u, b.Optimization)
			}
			if err != nil {
				f.log.add(Decision{Event: EventFailed, Op: u.core[0], Block: u.block, Fuser: f.p.factories[u.entry.factory].Name, Detail: err.Error()})
				failed = append(failed, u)
				continue
			}
			b = f.p.fallback(f.g, b.Optimization)
		}
		blocks = append(blocks, b)
	}
	return blocks, failed, nil
}

// complete checks that an optimization is of the unit's operations and puts in
// memory what it has to.
func (f *fates) complete(u *unit, o *fuser.Optimization) error {
	if !slices.Equal(o.Ops, u.ops) {
		return fmt.Errorf("finished operations %v, not %v", o.Ops, u.ops)
	}
	made := slices.Clone(o.Stored)
	for _, a := range o.Aliases {
		if p := f.producer[a.Of]; p >= 0 && contains(u.ops, p) && !slices.Contains(made, a.Of) {
			return fmt.Errorf("t%d aliases t%d, which is not stored", a.Tensor, a.Of)
		}
		made = append(made, a.Tensor)
	}
	for _, op := range u.core {
		for _, out := range f.ops[op].Outputs {
			if f.fate[out.ID].inMemory() && !slices.Contains(made, out.ID) {
				return fmt.Errorf("t%d is not stored", out.ID)
			}
		}
	}
	return nil
}

// plan puts the parts together.
func (f *fates) plan(order []*unit, blocks []Block) *Plan {
	f.adopt(blocks)
	f.allowInPlace(order, blocks)
	for i, u := range order {
		for _, op := range u.ops {
			f.log.place(op, i)
		}
	}
	guards := f.p.guards(f.work, f.g, f.seg, blocks)
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
	f.shorten()
}

// shorten makes recipes anew that lead through a tensor which adopt found to be
// stored: once a value is stored, the operation that made it is forgotten.
func (f *fates) shorten() {
	stored := func(op int) bool { return f.fate[f.ops[op].Outputs[0].ID] == Stored }
	for op := range f.ops {
		t := f.ops[op].Outputs[0].ID
		if ops, ok := f.recipes[t]; !ok || !slices.ContainsFunc(ops, stored) {
			continue
		}
		ops, leaves := f.recipe(op, func(t ir.TensorID) bool { return f.fate[t].inMemory() })
		for _, x := range leaves {
			f.leaf[x] = true
			f.hold(x)
		}
		f.recipes[t] = ops
	}
}

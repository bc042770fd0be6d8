package optimize

import (
	"slices"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

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

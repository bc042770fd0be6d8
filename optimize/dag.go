package optimize

import "github.com/sinter-ml/sinter/ir"

// dag holds the order the operations of a segment must keep.
//
// Data edges lead from producers to consumers. Views cost nothing and can be
// taken wherever their base can be read, so a view that belongs to no block is
// looked through: its consumers depend on the producer of its base.
//
// Write-after-read edges lead from every reader of a storage to the effect
// that writes over it. Storage is followed through views and in-place effects,
// and inputs with equal buffer numbers share it. An effect that is not in
// place writes fresh storage and needs no such edge. All edges lead to higher
// positions.
type dag struct {
	w *work
	// root is, by tensor, the storage it lies in; overwritten is how often that
	// had been written over when the tensor was made.
	root        []int
	overwritten []int
	// before is, by position, the readers that run before this in-place effect.
	before [][]int
	// apart is, by position, the in-place effects that must not share a block
	// with this operation: it reads a version they have written over.
	apart [][]int
}

func newDAG(w *work) *dag {
	n, m := len(w.ops), len(w.seg.Tensors)
	d := &dag{w: w, root: make([]int, m), overwritten: make([]int, m), before: make([][]int, n), apart: make([][]int, n)}
	// Storages are numbered: inputs by buffer, then outputs.
	storages := 0
	for i := range w.seg.Tensors {
		storages = max(storages, w.seg.Tensors[i].Buffer+1)
	}
	for i := range w.seg.Tensors {
		if t := &w.seg.Tensors[i]; t.Input && t.Buffer == 0 { // shared with nobody
			d.root[i] = storages
			storages++
		} else if t.Input {
			d.root[i] = t.Buffer
		}
	}
	readers := make([][]int, storages, storages+m) // since the storage was last written over
	writers := make([][]int, storages, storages+m) // in-place effects on it
	read := func(i int, t ir.TensorID) {
		r := d.root[t]
		readers[r] = append(readers[r], i)
		d.apart[i] = append(d.apart[i], writers[r][d.overwritten[t]:]...)
	}
	share := func(out, from ir.TensorID) {
		d.root[out], d.overwritten[out] = d.root[from], d.overwritten[from]
	}
	for i := range w.ops {
		op := &w.ops[i]
		switch {
		case w.unneeded[i]:
		case w.merged[i]:
			share(op.Outputs[0].ID, w.same[op.Outputs[0].ID])
			continue
		case w.seg.inPlace(i):
			for _, in := range op.Inputs[1:] {
				read(i, in.ID)
			}
			out, old := op.Outputs[0].ID, op.Inputs[0].ID
			r := d.root[old]
			for _, j := range readers[r] {
				if j != i {
					d.before[i] = append(d.before[i], j)
				}
			}
			// The next effect comes after this one, which comes after the readers.
			readers[r] = readers[r][:0]
			writers[r] = append(writers[r], i)
			share(out, old)
			d.overwritten[out] = len(writers[r])
			continue
		default:
			for _, in := range op.Inputs {
				read(i, in.ID)
			}
		}
		for _, out := range op.Outputs {
			if w.isView(i) {
				share(out.ID, op.Inputs[0].ID)
				continue
			}
			d.root[out.ID] = len(readers)
			readers, writers = append(readers, nil), append(writers, nil)
		}
	}
	return d
}

// chain returns the views between a tensor and what it is a view of, outermost
// last, and that base. It stops at views for which stop is true.
func (d *dag) chain(t ir.TensorID, stop func(op int) bool) (views []int, base ir.TensorID) {
	for {
		p := d.w.producer[t]
		if p < 0 || !d.w.isView(p) || stop(p) {
			break
		}
		views = append(views, p)
		t = d.w.ops[p].Inputs[0].ID
	}
	for i, j := 0, len(views)-1; i < j; i, j = i+1, j-1 {
		views[i], views[j] = views[j], views[i]
	}
	return views, t
}

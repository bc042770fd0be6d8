package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// root returns the tensor whose memory t may lie in: below views and effects
// that write over their Var.
func (g *Graph) root(t ir.TensorID) ir.TensorID {
	for {
		pos := g.Tensors[t].Producer
		if pos < 0 {
			return t
		}
		op := &g.Ops[pos]
		if ir.Lookup(op.Kind).Class != ir.ClassView && !g.overwrites(pos) {
			return t
		}
		t = op.Inputs[0].ID
	}
}

// overwrites reports whether an effect writes over the old version's memory.
func (g *Graph) overwrites(pos int) bool {
	switch g.Ops[pos].Kind {
	case ir.SetSlice, ir.SetSelect, ir.ScatterAdd:
		return true
	case ir.Set:
		return pos < len(g.InPlace) && g.InPlace[pos]
	}
	return false
}

// mayAlias reports whether two tensors may share memory.
func (g *Graph) mayAlias(a, b ir.TensorID) bool {
	a, b = g.root(a), g.root(b)
	if a == b {
		return true
	}
	x, y := &g.Tensors[a], &g.Tensors[b]
	return x.Producer < 0 && y.Producer < 0 && x.Buffer != 0 && x.Buffer == y.Buffer
}

// overlaps returns the tensors a kernel reads that may lie in memory it
// overwrites, but for an old version that is read just where the new one is
// then written.
func (b *builder) overlaps(l *lowering, homes map[ir.TensorID]path) []ir.TensorID {
	var out []ir.TensorID
	for _, pos := range b.ops {
		op := &b.g.Ops[pos]
		if ir.Lookup(op.Kind).Class != ir.ClassEffect || !b.g.overwrites(pos) {
			continue
		}
		for _, r := range l.reads {
			same := op.Kind == ir.Set && r.tensor == op.Inputs[0].ID && r.plain && r.at.equal(homes[b.g.output(pos)])
			if !same && !slices.Contains(out, r.tensor) && b.g.mayAlias(r.tensor, op.Inputs[0].ID) {
				out = append(out, r.tensor)
			}
		}
	}
	return out
}

// takeable returns which outputs may be written to the storage of an input:
// the kernel reads the input only where it then writes the output, and both
// have one shape and element size.
func (b *builder) takeable(l *lowering, homes map[ir.TensorID]path, stored []ir.TensorID) []InPlace {
	var out []InPlace
	if l.template == codegen.Scatter {
		return nil
	}
	taken := map[ir.TensorID]bool{}
	for _, t := range stored {
		pos := b.g.Tensors[t].Producer
		if ir.Lookup(b.g.Ops[pos].Kind).Class == ir.ClassEffect {
			continue
		}
		for _, r := range l.reads {
			if taken[r.tensor] || !b.sameStorage(r.tensor, t) || !b.readOnlyAt(l, r.tensor, homes[t]) {
				continue
			}
			taken[r.tensor] = true
			out = append(out, InPlace{Out: t, In: r.tensor})
			break
		}
	}
	return out
}

func (b *builder) sameStorage(in, out ir.TensorID) bool {
	x, y := &b.g.Tensors[in], &b.g.Tensors[out]
	return x.DType.Size() == y.DType.Size() && x.Shape.Equal(y.Shape)
}

// readOnlyAt reports whether every read of a tensor is a plain one at p.
func (b *builder) readOnlyAt(l *lowering, t ir.TensorID, p path) bool {
	for _, r := range l.reads {
		if r.tensor == t && (!r.plain || !r.at.equal(p)) {
			return false
		}
	}
	return true
}

package fuser

import "github.com/sinter-ml/sinter/ir"

// Saving is what a block saves against running its operations one by one, in
// the parts of its score:
//
//	Bytes / bandwidth + Launches · launch cost − Recompute
type Saving struct {
	Bytes int64 // not moved
	// Launches not made. It is no whole number where a created tensor is made
	// anew in several blocks: each saves a part of the one launch.
	Launches  float64
	Recompute float64 // nanoseconds spent on computing values again
}

// Score returns the nanoseconds saved on a device.
func (s Saving) Score(p *Profile) float64 {
	ns := s.Launches*p.LaunchCost - s.Recompute
	if p.Bandwidth > 0 {
		ns += float64(s.Bytes) / p.Bandwidth
	}
	return ns
}

// bytes returns the size of a tensor.
func (g *Graph) bytes(t ir.TensorID) int64 {
	return int64(g.Tensors[t].Shape.NumElements()) * int64(g.Tensors[t].DType.Size())
}

// held returns the bytes behind a tensor: a view that repeats its operand has
// no more than that.
func (g *Graph) held(t ir.TensorID) int64 {
	n := g.bytes(t)
	for p := g.Tensors[t].Producer; p >= 0 && ir.Lookup(g.Ops[p].Kind).Class == ir.ClassView; p = g.Tensors[t].Producer {
		t = g.Ops[p].Inputs[0].ID
		n = min(n, g.bytes(t))
	}
	return n
}

// touched returns the bytes of tensor t that are read through a path, at so
// many points: a slice of a table, or rows picked from it, not the table.
func (g *Graph) touched(t ir.TensorID, p path, points int64) int64 {
	n := points
	for _, s := range p {
		if s.kind == stepSlice || s.kind == stepAffine {
			n = min(n, g.points(s.dst))
		}
	}
	last, walked := &p[len(p)-1], int64(1)
	for _, a := range last.axes {
		switch {
		case a < 0:
		case last.src[a] < 0: // a derived length, of a view of all of the tensor
			walked = n
		default:
			walked *= int64(g.Dims[last.src[a]])
		}
	}
	return min(min(n, walked)*int64(g.Tensors[t].DType.Size()), g.held(t))
}

// points returns the number of points of a space without derived lengths.
func (g *Graph) points(space []Dim) int64 {
	n := int64(1)
	for _, d := range space {
		n *= int64(g.Dims[d])
	}
	return n
}

// readAlone returns the bytes an operation reads of operand i when it runs
// alone. One that picks elements reads as many as it gives.
func (g *Graph) readAlone(op *ir.Operation, i int) int64 {
	t := op.Inputs[i].ID
	n := g.held(t)
	switch op.Kind {
	case ir.Select, ir.Gather, ir.Embedding, ir.GatherND, ir.Slice, ir.Pad:
		if i == 0 {
			n = min(n, int64(op.Outputs[0].Shape.NumElements())*int64(g.Tensors[t].DType.Size()))
		}
	}
	return n
}

// count adds an operation to what the block's operations cost one by one.
func (b *block) count(pos int) {
	op := &b.g.Ops[pos]
	for i, in := range op.Inputs {
		// A created tensor is made once for all that read it.
		if p := b.g.Tensors[in.ID].Producer; p >= 0 && b.g.Remade(p) && firstOf(op, i) {
			if _, ok := b.member(p); ok {
				readers := len(b.g.Tensors[in.ID].Consumers)
				b.unfused += b.g.bytes(in.ID) / int64(readers)
				b.shared += 1 / float64(readers)
			}
		}
	}
	if b.g.Remade(pos) {
		return
	}
	if s, view := b.g.viewStep(pos); view {
		if in := op.Inputs[0].ID; !b.g.strided(in, identity(s.dst).prepend(s)) {
			b.launches++ // alone, it is a copy
			b.unfused += 2 * b.g.bytes(in)
		}
		return
	}
	effect := ir.Lookup(op.Kind).Class == ir.ClassEffect
	out := b.g.bytes(b.g.output(pos))
	if effect {
		out = b.g.bytes(updateOf(op))
	}
	b.launches++
	b.unfused += out
	for i := range op.Inputs {
		if (i > 0 || !effect) && firstOf(op, i) {
			b.unfused += b.g.readAlone(op, i)
		}
	}
}

// firstOf reports whether an operand is not an earlier operand as well.
func firstOf(op *ir.Operation, i int) bool {
	for _, in := range op.Inputs[:i] {
		if in.ID == op.Inputs[i].ID {
			return false
		}
	}
	return true
}

// addRead records a read of an external tensor, at a number of points, unless
// it is known.
func (b *block) addRead(r read, points int64) {
	have := int64(0)
	first := true
	for i := range b.reads {
		o := &b.reads[i]
		if o.tensor != r.tensor {
			continue
		}
		if o.plain == r.plain && o.at.equal(r.at) && o.points == points {
			return
		}
		first = false
		have += o.bytes
	}
	r.first, r.points = first, points
	r.bytes = b.g.touched(r.tensor, r.at, points)
	all := b.g.held(r.tensor)
	b.read += min(have+r.bytes, all) - min(have, all)
	b.reads = append(b.reads, r)
}

// saving returns what the block saves at the moment, and whether every value
// that must be stored can be.
func (b *block) saving() (s Saving, ready bool) {
	ready = true
	fused := b.read
	b.outputs(func(m *member) {
		fused += b.g.bytes(b.g.output(m.op))
		ready = ready && m.home != nil && !m.repeated
	})
	return Saving{Bytes: b.unfused - fused, Launches: float64(b.launches-1) + b.shared, Recompute: b.recompute}, ready
}

// most returns the nanoseconds a block could save at the very most.
func (b *block) most() float64 {
	return Saving{Bytes: b.unfused, Launches: float64(b.launches)}.Score(b.profile)
}

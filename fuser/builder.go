package fuser

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// builder writes the optimization of a block: one kernel for what the block
// computes, aliases for views that need no kernel.
type builder struct {
	g      *Graph
	name   string
	ops    []int
	stored func(ir.TensorID) bool // must the output exist in memory?
}

// build lowers the block into a kernel whose space is already set. homes give
// the path of each computed output, and of what each effect writes, to the
// space; anchor is the operation a template is built around, or -1.
func (b *builder) build(l *lowering, anchor int, homes map[ir.TensorID]path) (*Optimization, error) {
	if anchor >= 0 && l.anchor != nil {
		if _, err := l.value(b.g.output(anchor), l.anchor, codegen.Element); err != nil {
			return nil, err
		}
	}
	o := &Optimization{Fuser: b.name, Ops: slices.Clone(b.ops)}
	written := b.writes(l, homes)
	for _, pos := range b.ops {
		t := b.g.output(pos)
		switch {
		case ir.Lookup(b.g.Ops[pos].Kind).Class == ir.ClassEffect:
			if err := l.effect(pos, homes[t]); err != nil {
				return nil, err
			}
			o.Stored = append(o.Stored, t)
		case written[t]:
			if homes[t] == nil {
				return nil, &Refusal{RuleStoredBehindView, fmt.Sprintf("tensor %d, %v", t, b.g.Ops[pos].Kind)}
			}
			if err := b.write(l, t, homes[t]); err != nil {
				return nil, err
			}
			o.Stored = append(o.Stored, t)
		case b.stored(t):
			base, p := b.base(l, t, written)
			if !b.g.strided(base, p) {
				return nil, &Refusal{RuleReshapeStrided, b.g.Ops[pos].Kind.String()}
			}
			o.Aliases = append(o.Aliases, Alias{Tensor: t, Of: base, Views: p.mapping()})
		}
	}
	if len(l.kernel.Stores) > 0 {
		b.finish(l, o, b.kernelName())
		o.Aside = b.overlaps(l, homes)
		o.InPlace = b.takeable(l, homes, o.Stored)
	}
	for _, a := range o.Aliases {
		for _, v := range a.Views {
			o.use(v.Shape...)
		}
	}
	return o, nil
}

// writes decides which outputs the kernel writes: those that must be stored,
// but for views of a tensor that is in memory anyway, and what such a view
// without a place of its own in the space is a view of.
func (b *builder) writes(l *lowering, homes map[ir.TensorID]path) map[ir.TensorID]bool {
	out := map[ir.TensorID]bool{}
	below := map[ir.TensorID]bool{} // a view of it is in memory
	for _, pos := range slices.Backward(b.ops) {
		t := b.g.output(pos)
		if !b.stored(t) && (!below[t] || b.g.Remade(pos)) || ir.Lookup(b.g.Ops[pos].Kind).Class == ir.ClassEffect {
			continue
		}
		s, view := b.g.viewStep(pos)
		if !view {
			out[t] = true
			continue
		}
		in := b.g.Ops[pos].Inputs[0].ID
		_, home := homes[t]
		_, made := l.computes(in)
		alias := made && b.stored(in) && b.g.strided(in, identity(s.dst).prepend(s))
		if home && !alias {
			out[t] = true
		} else {
			below[in] = true
		}
	}
	return out
}

// base returns the tensor in memory that a view which is not written aliases.
func (b *builder) base(l *lowering, t ir.TensorID, written map[ir.TensorID]bool) (ir.TensorID, path) {
	p := identity(b.g.shape(t))
	for {
		producer, ok := l.computes(t)
		if !ok || written[t] || b.g.Remade(producer) {
			return t, p
		}
		s, ok := b.g.viewStep(producer)
		if !ok {
			return t, p
		}
		t, p = b.g.Ops[producer].Inputs[0].ID, p.prepend(s)
	}
}

// write stores tensor t at its place in the space.
func (b *builder) write(l *lowering, t ir.TensorID, p path) error {
	v, err := l.placed(t, p)
	if err != nil {
		return err
	}
	l.store(t, p, v)
	return nil
}

// placed returns the value of t as often as p places it: at every element, or
// once a row.
func (l *lowering) placed(t ir.TensorID, p path) (codegen.Value, error) {
	if l.rowOnly(p) {
		return l.value(t, p, codegen.Row)
	}
	return l.elementValue(t, p)
}

// kernelName joins the names of the computed kinds, for people.
func (b *builder) kernelName() string {
	var name []byte
	for _, pos := range b.ops {
		if _, view := b.g.viewStep(pos); view && len(b.ops) > 1 {
			continue
		}
		if len(name) > 0 {
			name = append(name, '_')
		}
		name = append(name, b.g.Ops[pos].Kind.String()...)
		if len(name) > 80 {
			return string(append(name, "_…"...))
		}
	}
	return string(name)
}

// account adds the bytes a call moves at the sizes at hand, and notes the
// highest length it names.
func (b *builder) account(l *lowering, o *Optimization, c *Call) {
	points := int64(1)
	for _, d := range c.Dims {
		points *= int64(c.Length(d, b.g.Dims))
		o.use(d)
	}
	for n, t := range c.Tensors {
		if mode := c.Kernel.Buffers[n].Mode; mode != codegen.Out {
			o.Read += b.readOf(l, t, points)
		}
		if mode := c.Kernel.Buffers[n].Mode; mode != codegen.In {
			o.Written += min(b.g.bytes(t), points*int64(b.g.Tensors[t].DType.Size()))
		}
	}
	for _, a := range c.Access {
		for _, v := range a.Views {
			o.use(v.Shape...)
		}
		for _, w := range a.Window {
			o.use(w.Len)
			o.use(w.Sum...)
		}
	}
	for _, d := range c.Derived {
		o.use(d.Num, d.Den)
	}
	for _, p := range c.Params {
		o.use(p.Length)
	}
}

// readOf returns the bytes a kernel reads of a tensor at so many points: by all
// its loads, or of an old version that it adds to.
func (b *builder) readOf(l *lowering, t ir.TensorID, points int64) int64 {
	n, loaded := int64(0), false
	for i, r := range l.reads {
		if r.tensor != t {
			continue
		}
		loaded = true
		if !slices.ContainsFunc(l.reads[:i], func(o read) bool { return o.tensor == t && o.at.equal(r.at) }) {
			n += b.g.touched(t, r.at, points)
		}
	}
	if !loaded {
		n = points * int64(b.g.Tensors[t].DType.Size())
	}
	return min(n, b.g.held(t))
}

func (o *Optimization) use(dims ...Dim) {
	for _, d := range dims {
		o.MaxDim = max(o.MaxDim, d)
	}
}

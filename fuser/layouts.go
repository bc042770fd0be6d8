package fuser

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// layouts returns every layout tensor t may have when a kernel reads it, at
// the sizes at hand. An input has the one it has. A view made in the segment
// may be an alias of its operand, or stored densely by a block that computes
// it in place; what is written over a Var lies where the Var lies.
func (g *Graph) layouts(t ir.TensorID) []codegen.Layout {
	info := &g.Tensors[t]
	if info.Producer < 0 {
		if info.Layout.Shape == nil {
			return []codegen.Layout{codegen.Contiguous(info.Shape)}
		}
		return []codegen.Layout{info.Layout}
	}
	out := []codegen.Layout{codegen.Contiguous(info.Shape)}
	op := &g.Ops[info.Producer]
	switch {
	case ir.Lookup(op.Kind).Class == ir.ClassEffect:
		out = append(out, g.layouts(op.Inputs[0].ID)...)
	case ir.Lookup(op.Kind).Class == ir.ClassView:
		s, ok := g.viewStep(info.Producer)
		if !ok {
			break
		}
		views := identity(s.dst).prepend(s).views()
		for _, l := range g.layouts(op.Inputs[0].ID) {
			if v, err := g.viewed(t, l, identity(s.dst).prepend(s), views); err == nil {
				out = append(out, v)
			}
		}
	}
	return out
}

// viewed takes a layout through a path to a tensor's own shape.
func (g *Graph) viewed(t ir.TensorID, l codegen.Layout, p path, views []View) (codegen.Layout, error) {
	v, err := ViewLayout(t, l, views, g.Dims, g.Ops)
	if err != nil {
		return codegen.Layout{}, err
	}
	out := codegen.Layout{Shape: make(ir.Shape, len(p.axes())), Strides: make([]int, len(p.axes())), Offset: v.Offset}
	for i, d := range p[len(p)-1].dst {
		out.Shape[i] = g.Dims[d]
		if a := p.axes()[i]; a >= 0 {
			out.Strides[i] = v.Strides[a]
		}
	}
	return out, nil
}

// strided reports whether strides can express the views of a path from tensor
// t, whichever way t may be stored. Derived lengths do not occur in it.
func (g *Graph) strided(t ir.TensorID, p path) bool {
	reshapes := false
	for _, s := range p {
		reshapes = reshapes || s.kind == stepReshape
	}
	if !reshapes {
		return true
	}
	views := p.views()
	for _, l := range g.layouts(t) {
		if _, err := ViewLayout(t, l, views, g.Dims, g.Ops); err != nil {
			return false
		}
	}
	return true
}

// mapping returns the views a path stands for as a whole, its last map
// included: what an alias needs.
func (p path) mapping() []View {
	last := p[len(p)-1]
	out := p.views()
	for i, a := range last.axes {
		if a != i || len(last.axes) != len(last.src) {
			return append(out, last.mapViews()...)
		}
	}
	return out
}

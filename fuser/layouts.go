package fuser

import (
	"slices"

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
	if g.overwrites(info.Producer) {
		for producer := info.Producer; producer >= 0 && g.overwrites(producer); producer = g.Tensors[t].Producer {
			t = g.Ops[producer].Inputs[0].ID
		}
		return g.layouts(t)
	}
	out := []codegen.Layout{codegen.Contiguous(info.Shape)}
	if s, ok := g.viewStep(info.Producer); ok {
		views := identity(s.dst).prepend(s).mapping()
		for _, l := range g.layouts(g.Ops[info.Producer].Inputs[0].ID) {
			if v, err := ViewLayout(t, l, views, g.Dims, g.Ops); err == nil {
				out = append(out, v)
			}
		}
	}
	return out
}

// strided reports whether strides can express the views of a path from tensor
// t, whichever way t may be stored.
func (g *Graph) strided(t ir.TensorID, p path, derived ...Derived) bool {
	return !p.reshapes() || !slices.ContainsFunc(g.layouts(t), func(l codegen.Layout) bool { return !g.stridedFrom(l, p, derived...) })
}

// stridedFrom is strided for one layout.
func (g *Graph) stridedFrom(l codegen.Layout, p path, derived ...Derived) bool {
	if !p.reshapes() {
		return true
	}
	_, err := ViewLayout(0, l, p.views(), g.Dims, g.Ops, derived...)
	return err == nil
}

// reshapes reports whether a path regroups axes.
func (p path) reshapes() bool {
	return slices.ContainsFunc(p, func(s step) bool { return s.kind == stepReshape })
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

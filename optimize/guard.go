package optimize

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// Guard is a fact a pass looked at and the relative form does not fix.
type Guard struct {
	Name   string // what it guards, such as "reshape-strided"
	Detail string // the operations or tensors it is about
	Op     int    // the operation that recorded what it is about, -1: an input
	// Holds tells whether the fact is true of the lengths and input layouts
	// (see Facts). Nil: the fact is about neither.
	Holds func(dims []int, layouts []codegen.Layout) bool
	// HoldsOps tells whether the fact is true of the scalars and slice starts
	// of the operations. Nil: the fact is not about them.
	HoldsOps func(ops []ir.Operation) bool
}

// Facts are what guards are evaluated on: those parts of a segment that its
// relative form leaves open.
type Facts struct {
	Dims    []int            // the table of lengths
	Layouts []codegen.Layout // by tensor id; only those of inputs are looked at
	Ops     []ir.Operation   // only scalars and ranges are looked at, so ids need not be relative
}

// Facts returns the facts of a segment.
func (s *Segment) Facts() Facts {
	layouts := make([]codegen.Layout, len(s.Tensors))
	for i := range s.Tensors {
		layouts[i] = s.Tensors[i].Layout
	}
	return Facts{Dims: s.Dims, Layouts: layouts, Ops: s.Ops}
}

func (g *Guard) holds(f *Facts) bool {
	return (g.Holds == nil || g.Holds(f.Dims, f.Layouts)) && (g.HoldsOps == nil || g.HoldsOps(f.Ops))
}

// Holds reports whether every guard of the plan is true of f, so that the plan
// may run a segment with these facts.
func (p *Plan) Holds(f Facts) bool { return p.failed(&f) == nil }

// failed returns the first guard that is not true of f, nil if there is none.
func (p *Plan) failed(f *Facts) *Guard {
	for i := range p.Guards {
		if !p.Guards[i].holds(f) {
			return &p.Guards[i]
		}
	}
	return nil
}

// The names of the guards.
const (
	GuardScalarEqual    = "scalar-equal"    // two operations were merged because their scalars and slice starts were equal
	GuardRangeFull      = "range-full"      // a slice was dropped because it took everything
	GuardReshapeStrided = "reshape-strided" // a reshape is read without a copy
	GuardReplaced       = "replaced"        // an extra pass gives the same answer of an operation
	GuardRowFits        = "row-fits"        // a reduced row fits, or does not fit, on chip
)

// relative returns a shape as entries of the table of lengths.
func relative(g *fuser.Graph, shape ir.Shape) []fuser.Dim {
	out := make([]fuser.Dim, len(shape))
	for i, n := range shape {
		out[i], _ = g.Dim(n)
	}
	return out
}

// absolute returns the lengths of a shape of a call with the given derived
// lengths.
func absolute(shape []fuser.Dim, dims []int, derived ...fuser.Derived) ir.Shape {
	call := fuser.Call{Derived: derived}
	out := make(ir.Shape, len(shape))
	for i, d := range shape {
		out[i] = call.Length(d, dims)
	}
	return out
}

// reshapeGuards returns a guard for each access or alias of the blocks that
// goes through a reshape which strides may fail to express at other lengths
// and layouts.
func reshapeGuards(g *fuser.Graph, seg *Segment, blocks []Block) []Guard {
	base := make([]source, len(g.Tensors))
	for id := range g.Tensors {
		t := &g.Tensors[id]
		base[id] = source{tensor: ir.TensorID(id), input: t.Producer < 0, shape: relative(g, t.Shape)}
	}
	var out []Guard
	add := func(t ir.TensorID, s source) {
		if s.mayFail(g) {
			s.first = seg.Dims
			s.layout = seg.Tensors[s.tensor].Layout
			holds := func(dims []int, layouts []codegen.Layout) bool { return s.strided(g, dims, layouts) }
			out = append(out, Guard{Name: GuardReshapeStrided, Detail: tensorName(t), Op: g.Tensors[t].Producer, Holds: holds})
		}
	}
	for _, b := range blocks {
		for _, a := range b.Aliases {
			base[a.Tensor] = base[a.Of].through(a.Views)
			add(a.Tensor, base[a.Tensor])
		}
		for c := range b.Calls {
			for call := range b.Calls[c].Spaces() {
				for i := range call.Access {
					if len(call.Access[i].Views) > 0 {
						t := call.Tensors[call.Kernel.Accesses[i].Buffer]
						s := base[t].through(call.Access[i].Views)
						s.derived = call.Derived
						add(t, s)
					}
				}
			}
		}
	}
	return out
}

// source is where a tensor's elements lie: in a tensor of its own, reached
// through views.
type source struct {
	tensor ir.TensorID
	input  bool
	shape  []fuser.Dim
	views  []fuser.View
	// derived are the lengths that negative Dims of the views name.
	derived []fuser.Derived
	// The lengths and the layout that were found to work.
	first  []int
	layout codegen.Layout
}

func (s source) through(views []fuser.View) source {
	s.views = append(slices.Clip(s.views), views...)
	return s
}

// mayFail reports whether some reshape regroups axes of elements that need not
// lie dense: adding and dropping axes of length 1 always works.
func (s source) mayFail(g *fuser.Graph) bool {
	shape, dense := s.shape, !s.input
	for _, v := range s.views {
		next := viewShape(g, v, shape)
		if v.Kind != fuser.ViewReshape {
			dense = false
		} else if !dense && !slices.Equal(squeezed(shape), squeezed(next)) {
			return true
		}
		shape = next
	}
	return false
}

// strided reports whether strides express the source's views.
func (s source) strided(g *fuser.Graph, dims []int, layouts []codegen.Layout) bool {
	same := slices.Equal(dims, s.first)
	var l codegen.Layout
	if s.input {
		l = layouts[s.tensor]
	}
	if l.Shape == nil && !same {
		l = codegen.Contiguous(absolute(s.shape, dims))
	}
	if same && (!s.input || slices.Equal(l.Strides, s.layout.Strides)) {
		return true
	}
	_, err := fuser.ViewLayout(s.tensor, l, s.views, dims, s.ranges(g, dims), s.derived...)
	return err == nil
}

// ranges returns the operations with the ranges their slices have at other
// lengths. Starts are left out: they only move a layout.
func (s source) ranges(g *fuser.Graph, dims []int) []ir.Operation {
	ops := g.Ops
	shape := s.shape
	for _, v := range s.views {
		shape = viewShape(g, v, shape)
		if v.Kind != fuser.ViewSlice {
			continue
		}
		ops = slices.Clone(ops)
		op := &ops[v.Op]
		op.Ranges = slices.Clone(op.Ranges)
		for i, n := range absolute(shape, dims, s.derived...) {
			op.Ranges[i].Start, op.Ranges[i].Len = 0, n
		}
	}
	return ops
}

// viewShape returns the shape after a view of a tensor of the given shape. A
// slice has the shape of the operation's output, or of what an effect writes
// there, and leaves the axes whole whose start is a tensor.
func viewShape(g *fuser.Graph, v fuser.View, shape []fuser.Dim) []fuser.Dim {
	switch v.Kind {
	case fuser.ViewReshape, fuser.ViewExpand, fuser.ViewAffine:
		return v.Shape
	case fuser.ViewPermute:
		out := make([]fuser.Dim, len(v.Axes))
		for i, a := range v.Axes {
			out[i] = shape[a]
		}
		return out
	case fuser.ViewSlice:
		op := &g.Ops[v.Op]
		part := op.Outputs[0].Shape
		if op.Kind == ir.SetSlice || op.Kind == ir.SliceAssign {
			part = op.Inputs[1].Shape
		}
		out := relative(g, part)
		for i, r := range op.Ranges {
			if r.Input != 0 {
				out[i] = shape[i]
			}
		}
		return out
	}
	return shape
}

// squeezed returns a shape without its axes of length 1.
func squeezed(shape []fuser.Dim) []fuser.Dim {
	return slices.DeleteFunc(slices.Clone(shape), func(d fuser.Dim) bool { return d == 0 })
}

// rowGuards returns a guard for each distinct row that is reduced: whether it
// fits on chip decides between fusers.
func rowGuards(g *fuser.Graph, seg *Segment, p *fuser.Profile) []Guard {
	var out []Guard
	var seen [][]fuser.Dim
	for i := range seg.Ops {
		op := &seg.Ops[i]
		info := ir.Lookup(op.Kind)
		if info.Class != ir.ClassReduce && info.Class != ir.ClassComposite || len(op.Inputs) == 0 {
			continue
		}
		in := op.Inputs[0].Shape
		row := relative(g, rowShape(op, info, in))
		size := op.Inputs[0].DType.Compute().Size()
		slices.Sort(row)
		row = append(row, fuser.Dim(-size)) // rows of wider elements are other rows
		if slices.ContainsFunc(seen, func(s []fuser.Dim) bool { return slices.Equal(s, row) }) {
			continue
		}
		seen = append(seen, row)
		lens := row[:len(row)-1]
		fits := func(dims []int) bool {
			bytes := size
			for _, d := range lens {
				bytes *= dims[d]
			}
			return bytes <= p.RowBytes
		}
		first := fits(seg.Dims)
		holds := func(dims []int, _ []codegen.Layout) bool { return fits(dims) == first }
		out = append(out, Guard{Name: GuardRowFits, Detail: opName(seg, i), Op: i, Holds: holds})
	}
	return out
}

// rowShape returns the lengths of the axes an operation reduces over.
func rowShape(op *ir.Operation, info *ir.Info, in ir.Shape) ir.Shape {
	if info.Attrs&ir.HasAxes != 0 {
		out := make(ir.Shape, len(op.Attrs.Axes))
		for i, a := range op.Attrs.Axes {
			out[i] = in[a]
		}
		return out
	}
	return in[max(0, len(in)-1):] // norms work on the last axis
}

package fuser

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// ReshapeError says that a reshape on the way to a kernel cannot be expressed
// with strides for the layout at hand, so that the guard "reshape-strided"
// does not hold.
type ReshapeError struct {
	Tensor ir.TensorID
	Layout codegen.Layout // before the reshape
	Shape  ir.Shape       // asked for
}

func (e *ReshapeError) Error() string {
	return fmt.Sprintf("%s: tensor %d: strides %v of shape %v cannot express shape %v without a copy",
		RuleReshapeStrided, e.Tensor, e.Layout.Strides, e.Layout.Shape, e.Shape)
}

// Bind fills a launch of c for the lengths of a segment, its operations (for
// their ranges and scalars) and the layouts of its stored tensors. It reuses
// out's memory and allocates nothing once that is large enough. A reshape that
// strides cannot express is a *ReshapeError.
func Bind(c *Call, dims []int, ops []ir.Operation, layout func(ir.TensorID) codegen.Layout, out *codegen.Launch) error {
	out.Parts = resize(out.Parts, len(c.Parts))
	for i := range c.Parts {
		if err := Bind(&c.Parts[i], dims, ops, layout, &out.Parts[i]); err != nil {
			return err
		}
	}
	b := binders.Get().(*binder)
	defer binders.Put(b)
	b.dims, b.ops, b.derived = dims, ops, c.Derived

	out.Dims = out.Dims[:0]
	for _, d := range c.Dims {
		out.Dims = append(out.Dims, b.length(d))
	}
	out.Params = out.Params[:0]
	for i := range c.Params {
		out.Params = append(out.Params, b.param(&c.Params[i]))
	}
	out.Access = resize(out.Access, len(c.Access))
	for i := range c.Access {
		t := c.Tensors[c.Kernel.Accesses[i].Buffer]
		b.start(t, layout(t))
		if err := b.take(c.Access[i].Views); err != nil {
			return err
		}
		b.place(&c.Access[i], &out.Access[i])
	}
	return nil
}

// Length returns the length a Dim of the call stands for.
func (c *Call) Length(d Dim, dims []int) int {
	b := binder{dims: dims, derived: c.Derived}
	return b.length(d)
}

// ViewLayout returns the layout of tensor t, stored as given, taken through
// views: of an alias, or of a call's access with the call's derived lengths. A
// reshape that strides cannot express is a *ReshapeError.
func ViewLayout(t ir.TensorID, layout codegen.Layout, views []View, dims []int, ops []ir.Operation, derived ...Derived) (codegen.Layout, error) {
	b := &binder{dims: dims, ops: ops, derived: derived}
	b.start(t, layout)
	if err := b.take(views); err != nil {
		return codegen.Layout{}, err
	}
	return codegen.Layout{Shape: b.shape, Strides: b.strides, Offset: b.offset}, nil
}

// binder is a layout on its way through views, and the scratch memory for it.
type binder struct {
	dims    []int
	ops     []ir.Operation
	derived []Derived

	tensor         ir.TensorID
	shape, strides []int
	offset         int

	nextShape, nextStrides []int
}

var binders = sync.Pool{New: func() any { return new(binder) }}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		s = append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	return s[:n]
}

func (b *binder) length(d Dim) int {
	if d >= 0 {
		return b.dims[d]
	}
	if int(-1-d) >= len(b.derived) {
		return 0
	}
	r := b.derived[-1-d]
	n := r.Factor * b.length(r.Num)
	if den := b.length(r.Den); den > 0 {
		return n / den
	}
	return 0
}

func (b *binder) param(p *Param) uint64 {
	switch {
	case p.IsLength:
		return uint64(b.length(p.Length))
	case p.Op < 0:
		return p.Bits
	}
	return b.ops[p.Op].Scalars[p.Scalar].Bits
}

func (b *binder) start(t ir.TensorID, l codegen.Layout) {
	b.tensor, b.offset = t, l.Offset
	b.shape = append(b.shape[:0], l.Shape...)
	b.strides = append(b.strides[:0], l.Strides...)
}

// take applies views to the layout.
func (b *binder) take(views []View) error {
	for i := range views {
		v := &views[i]
		switch v.Kind {
		case ViewReshape:
			if err := b.reshape(v.Shape); err != nil {
				return err
			}
		case ViewPermute:
			b.nextShape, b.nextStrides = b.nextShape[:0], b.nextStrides[:0]
			for _, a := range v.Axes {
				b.nextShape = append(b.nextShape, b.shape[a])
				b.nextStrides = append(b.nextStrides, b.strides[a])
			}
			b.swap()
		case ViewExpand:
			b.expand(v.Shape)
		case ViewSlice:
			b.slice(b.ops[v.Op].Ranges)
		case ViewAffine:
			b.affine(v)
		case ViewFlip:
			for _, a := range v.Axes {
				b.offset += max(b.shape[a]-1, 0) * b.strides[a]
				b.strides[a] = -b.strides[a]
			}
		}
	}
	return nil
}

func (b *binder) swap() {
	b.shape, b.nextShape = b.nextShape, b.shape
	b.strides, b.nextStrides = b.nextStrides, b.strides
}

func (b *binder) expand(to []Dim) {
	off := len(to) - len(b.shape)
	b.nextShape, b.nextStrides = b.nextShape[:0], b.nextStrides[:0]
	for i, d := range to {
		n, stride := b.length(d), 0
		if i >= off && b.shape[i-off] == n && n != 1 {
			stride = b.strides[i-off]
		}
		b.nextShape = append(b.nextShape, n)
		b.nextStrides = append(b.nextStrides, stride)
	}
	b.swap()
}

// affine moves along every axis before the view that has a term with an axis
// after it.
func (b *binder) affine(v *View) {
	b.nextShape, b.nextStrides = b.nextShape[:0], b.nextStrides[:0]
	for _, d := range v.Shape {
		b.nextShape = append(b.nextShape, b.length(d))
		b.nextStrides = append(b.nextStrides, 0)
	}
	for _, t := range v.Terms {
		b.nextStrides[t.To] += t.Factor * b.strides[t.From]
	}
	if !slices.Contains(b.nextShape, 0) { // nothing is read: the start may lie anywhere
		for axis, at := range v.Start {
			b.offset += at * b.strides[axis]
		}
	}
	b.swap()
}

func (b *binder) slice(ranges []ir.Range) {
	for i := range ranges {
		r := &ranges[i]
		if r.Input != 0 {
			continue
		}
		if r.Len > 0 {
			b.offset += r.Start * b.strides[i]
		}
		b.shape[i] = r.Len
		b.strides[i] *= r.Step
	}
}

// reshape is codegen.Layout.Reshape without allocating.
func (b *binder) reshape(to []Dim) error {
	b.nextShape = b.nextShape[:0]
	for _, d := range to {
		b.nextShape = append(b.nextShape, b.length(d))
	}
	if slices.Equal(b.nextShape, b.shape) {
		return nil
	}
	b.nextStrides = resize(b.nextStrides, len(to))
	if !stridesOf(b.nextStrides, b.shape, b.strides, b.nextShape) {
		return &ReshapeError{
			Tensor: b.tensor,
			Layout: codegen.Layout{Shape: slices.Clone(b.shape), Strides: slices.Clone(b.strides), Offset: b.offset},
			Shape:  slices.Clone(b.nextShape),
		}
	}
	b.swap()
	return nil
}

// stridesOf fills dst with the strides under which shape to has the elements
// of (shape, strides) in row-major order, and reports whether there are any.
// Both shapes are walked from the back in groups of equal products; inside a
// group the source axes must lie evenly spaced.
func stridesOf(dst, shape, strides, to []int) bool {
	if slices.Contains(shape, 0) || slices.Contains(to, 0) {
		clear(dst)
		return slices.Contains(shape, 0) && slices.Contains(to, 0)
	}
	i, have := len(shape)-1, 1 // have: elements of the group not yet given out
	stride := 0                // from element to element of the group
	for j := len(to) - 1; j >= 0; j-- {
		dst[j] = 0
		if to[j] == 1 {
			continue
		}
		first := have == 1
		for need := to[j]; have%need != 0 || have < need; {
			for i >= 0 && shape[i] == 1 {
				i--
			}
			if i < 0 {
				return false
			}
			if first {
				stride = strides[i]
				first = false
			} else if strides[i] != stride*have {
				return false
			}
			have *= shape[i]
			i--
		}
		dst[j] = stride
		stride *= to[j]
		have /= to[j]
	}
	for ; i >= 0; i-- {
		if shape[i] != 1 {
			return false
		}
	}
	return have == 1
}

// place lays the layout's axes along the kernel's space.
func (b *binder) place(bind *Binding, a *codegen.AccessArgs) {
	a.Offset = b.offset
	a.Strides = resize(a.Strides, len(bind.Axes))
	for i, axis := range bind.Axes {
		a.Strides[i] = 0
		if axis >= 0 {
			a.Strides[i] = b.strides[axis]
		}
	}
	a.Index = a.Index[:0]
	for i, axis := range bind.Index {
		arg := codegen.IndexArg{Extent: b.length(bind.Extent[i])}
		if axis >= 0 {
			arg.Stride = b.strides[axis]
		}
		a.Index = append(a.Index, arg)
	}
	a.Window = a.Window[:0]
	for i := range bind.Window {
		w := &bind.Window[i]
		lo := w.Const
		for _, d := range w.Sum {
			lo += b.length(d)
		}
		if w.Range > 0 {
			r := &b.ops[w.Op].Ranges[w.Range-1]
			lo += r.Start + min(0, (r.Len-1)*r.Step)
		}
		a.Offset -= lo * a.Strides[w.Axis]
		a.Window = append(a.Window, codegen.WindowArg{Axis: w.Axis, Lo: lo, Hi: lo + b.length(w.Len)})
	}
}

package fuser

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// Validate checks that an optimization that was read from somewhere speaks of
// the operations, tensors and lengths of g alone and that its kernels are well
// formed, so that it can be bound. Whether it computes what the operations say
// it cannot tell. The operations of g must be valid.
func (o *Optimization) Validate(g *Graph) error {
	if err := g.prepare(); err != nil {
		return err
	}
	v := validator{g: g}
	if !slices.IsSorted(o.Ops) || len(o.Ops) == 0 {
		v.fail("operations %v", o.Ops)
	}
	for _, op := range o.Ops {
		v.op(op)
	}
	v.tensors(o.Stored)
	v.tensors(o.Aside)
	for _, x := range o.InPlace {
		v.tensors([]ir.TensorID{x.In, x.Out})
	}
	for _, a := range o.Aliases {
		if v.tensors([]ir.TensorID{a.Tensor, a.Of}) {
			v.views(len(g.Tensors[a.Of].Shape), a.Views)
		}
	}
	for i := range o.Calls {
		v.call(&o.Calls[i])
	}
	return v.err
}

// validator collects the first fault.
type validator struct {
	g       *Graph
	derived int // how many lengths of their own the call at hand has
	err     error
}

func (v *validator) fail(format string, args ...any) bool {
	if v.err == nil {
		v.err = fmt.Errorf(format, args...)
	}
	return false
}

func (v *validator) op(pos int) bool {
	return pos >= 0 && pos < len(v.g.Ops) || v.fail("operation %d of %d", pos, len(v.g.Ops))
}

func (v *validator) tensors(ids []ir.TensorID) bool {
	for _, t := range ids {
		if t >= ir.TensorID(len(v.g.Tensors)) {
			return v.fail("tensor %d of %d", t, len(v.g.Tensors))
		}
	}
	return true
}

func (v *validator) dims(dims ...Dim) bool {
	for _, d := range dims {
		if int(d) >= len(v.g.Dims) || int(d) < -v.derived {
			return v.fail("length %v of %d", d, len(v.g.Dims))
		}
	}
	return true
}

// views checks steps from a tensor of a rank, and returns the rank they lead
// to, -1 after a fault.
func (v *validator) views(rank int, views []View) int {
	for i := range views {
		s := &views[i]
		ok := true
		switch s.Kind {
		case ViewReshape:
			ok, rank = v.dims(s.Shape...), len(s.Shape)
		case ViewExpand:
			ok = v.dims(s.Shape...) && (len(s.Shape) >= rank || v.fail("%v of %d axes", s, rank))
			rank = len(s.Shape)
		case ViewPermute:
			seen := slices.Sorted(slices.Values(s.Axes))
			ok = len(seen) == rank && slices.Equal(seen, upTo(rank)) || v.fail("%v of %d axes", s, rank)
		case ViewSlice:
			ok = v.op(s.Op) && (len(v.g.Ops[s.Op].Ranges) == rank || v.fail("%v of %d axes", s, rank))
		case ViewFlip:
			ok = v.axes(rank, s.Axes) && !slices.Contains(s.Axes, -1) || v.fail("%v of %d axes", s, rank)
		case ViewAffine:
			ok = v.dims(s.Shape...) && len(s.Start) == rank || v.fail("%v of %d axes", s, rank)
			for _, t := range s.Terms {
				ok = ok && t.From >= 0 && t.From < rank && t.To >= 0 && t.To < len(s.Shape) || v.fail("%v of %d axes", s, rank)
			}
			rank = len(s.Shape)
		default:
			ok = v.fail("view of kind %d", s.Kind)
		}
		if !ok {
			return -1
		}
	}
	return rank
}

// axes checks axes of a layout, of which -1 stands for none.
func (v *validator) axes(rank int, axes []int) bool {
	for _, a := range axes {
		if a < -1 || a >= rank {
			return v.fail("axis %d of %d", a, rank)
		}
	}
	return true
}

func (v *validator) call(c *Call) {
	v.derived = len(c.Derived)
	defer func() { v.derived = 0 }()
	for i, d := range c.Derived {
		v.derived = i // made of lengths before it
		v.dims(d.Num, d.Den)
	}
	v.derived = len(c.Derived)
	if c.Kernel == nil {
		v.fail("a call without a kernel")
		return
	}
	if err := c.Kernel.Verify(); err != nil {
		v.err = errors.Join(v.err, err)
		return
	}
	k := c.Kernel
	if len(c.Parts) != len(k.Parts) {
		v.fail("%d parts of a kernel of %d", len(c.Parts), len(k.Parts))
		return
	}
	for i := range c.Parts {
		if c.Parts[i].Kernel == nil || !c.Parts[i].Kernel.Equal(k.Parts[i].Kernel) {
			v.fail("part %d is of another kernel", i)
			return
		}
		v.call(&c.Parts[i])
	}
	v.derived = len(c.Derived)
	if len(c.Dims) != k.Axes() || len(c.Tensors) != len(k.Buffers) || len(c.Access) != len(k.Accesses) || len(c.Params) != len(k.Params) {
		v.fail("a call that does not fit its kernel, %q", k.Name)
		return
	}
	if !v.dims(c.Dims...) || !v.tensors(c.Tensors) {
		return
	}
	for i := range c.Parts {
		for n, b := range k.Parts[i].Buffers {
			if c.Parts[i].Tensors[n] != c.Tensors[b] {
				v.fail("part %d is bound to other tensors", i)
			}
		}
	}
	for n, t := range c.Tensors {
		if v.g.Tensors[t].DType != k.Buffers[n].DType {
			v.fail("tensor %d is bound as %v", t, k.Buffers[n].DType)
		}
	}
	for i := range c.Access {
		v.binding(c, i)
	}
	for _, p := range c.Params {
		switch {
		case p.IsLength:
			v.dims(p.Length)
		case p.Op >= 0 && v.op(p.Op) && (p.Scalar < 0 || p.Scalar >= len(v.g.Ops[p.Op].Scalars)):
			v.fail("scalar %d of operation %d", p.Scalar, p.Op)
		}
	}
	if c.Copies && len(c.Tensors) != 2 {
		v.fail("a copy of %d tensors", len(c.Tensors))
	}
}

func (v *validator) binding(c *Call, i int) {
	a, b := &c.Kernel.Accesses[i], &c.Access[i]
	rank := v.views(len(v.g.Tensors[c.Tensors[a.Buffer]].Shape), b.Views)
	if rank < 0 {
		return
	}
	if len(b.Axes) != c.Kernel.Axes() || len(b.Index) != a.Indices || len(b.Extent) != len(b.Index) {
		v.fail("access %d does not fit its kernel", i)
		return
	}
	v.axes(rank, b.Axes)
	v.axes(rank, b.Index)
	v.dims(b.Extent...)
	for _, w := range b.Window {
		if w.Axis < 0 || w.Axis >= c.Kernel.Axes() {
			v.fail("window of axis %d", w.Axis)
		}
		v.dims(w.Len)
		v.dims(w.Sum...)
		if w.Range > 0 && v.op(w.Op) && w.Range > len(v.g.Ops[w.Op].Ranges) {
			v.fail("range %d of operation %d", w.Range-1, w.Op)
		}
	}
}

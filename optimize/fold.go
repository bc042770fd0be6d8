package optimize

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// foldViews drops views that change nothing and joins views of one kind.
func foldViews(w *work) {
	for i := range w.ops {
		if w.unneeded[i] || w.merged[i] {
			continue
		}
		w.resolve(i)
		if !w.isView(i) {
			continue
		}
		w.joinViews(i)
		if w.identityView(i) {
			if w.ops[i].Kind == ir.Slice {
				w.guards = append(w.guards, rangeFull(w.seg, i))
			}
			w.merge("fold-view", i, w.ops[i].Inputs[0].ID)
		}
	}
}

// joinViews makes a reshape of a reshape, a permute of a permute or an expand
// of an expand read what the inner one reads.
func (w *work) joinViews(i int) {
	op := &w.ops[i]
	p := w.producer[op.Inputs[0].ID]
	if p < 0 || w.ops[p].Kind != op.Kind || w.merged[p] {
		return
	}
	inner := &w.ops[p]
	switch op.Kind {
	case ir.Permute, ir.Reshape, ir.Expand:
	default:
		return
	}
	if w.skips("fold-view", i) {
		return
	}
	if op.Kind == ir.Permute {
		axes := make([]int, len(op.Attrs.Axes))
		for k, a := range op.Attrs.Axes {
			axes[k] = inner.Attrs.Axes[a]
		}
		op.Attrs.Axes = axes
	}
	w.log.add(Decision{Event: EventRewrite, Rule: "fold-view", Op: i, Detail: fmt.Sprintf("reads %s, not its view %s", tensorName(inner.Inputs[0].ID), tensorName(op.Inputs[0].ID))})
	w.replace(i, 0, inner.Inputs[0].ID)
}

// identityView reports whether a view's result equals its input.
func (w *work) identityView(i int) bool {
	op := &w.ops[i]
	in := w.seg.Tensors[op.Inputs[0].ID].Shape
	switch op.Kind {
	case ir.Reshape, ir.Expand:
		return in.Equal(op.Outputs[0].Shape)
	case ir.Permute:
		for k, a := range op.Attrs.Axes {
			if a != k {
				return false
			}
		}
		return true
	case ir.Flip:
		return !slices.ContainsFunc(op.Attrs.Axes, func(a int) bool { return in[a] != 1 })
	case ir.Slice:
		for k, r := range op.Ranges {
			if r.Input != 0 || r.Start != 0 || r.Step != 1 || r.Len != in[k] {
				return false
			}
		}
		return true
	}
	return false
}

// rangeFull guards that a slice still starts at the beginning of every axis;
// lengths and steps are part of the relative form.
func rangeFull(seg *Segment, i int) Guard {
	return Guard{Name: GuardRangeFull, Detail: opName(seg, i), Op: i, HoldsOps: func(ops []ir.Operation) bool {
		return !slices.ContainsFunc(ops[i].Ranges, func(r ir.Range) bool { return r.Start != 0 })
	}}
}

// foldCasts drops casts that keep every bit. Narrowing and widening again does
// not, and stays.
func foldCasts(w *work) {
	for i := range w.ops {
		if w.unneeded[i] || w.merged[i] {
			continue
		}
		w.resolve(i)
		op := &w.ops[i]
		if op.Kind != ir.Cast {
			continue
		}
		in := op.Inputs[0]
		to := op.Outputs[0].DType
		if in.DType == to {
			w.merge("fold-cast", i, in.ID)
			continue
		}
		p := w.producer[in.ID]
		if p < 0 || w.ops[p].Kind != ir.Cast {
			continue
		}
		if from := w.ops[p].Inputs[0]; from.DType == to && holdsEvery(in.DType, to) {
			w.merge("fold-cast", i, from.ID)
		}
	}
}

// holdsEvery reports whether casting narrow to wide and back gives every value
// of narrow again. (All NaNs count as one value.)
func holdsEvery(wide, narrow ir.DType) bool {
	switch narrow {
	case ir.Bool:
		return true
	case ir.BF16:
		return wide == ir.F32
	}
	return false
}

package fuser

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Single returns the optimization that runs one operation alone: how it runs
// with fusion off, and as the fallback of a block. A view is an alias and no
// launch, but for a reshape that strides cannot express, which copies. It fails
// with a *Refusal when the operation cannot be lowered.
func Single(g *Graph, op int) (*Optimization, error) {
	if err := g.prepare(); err != nil {
		return nil, &Refusal{RuleMalformed, err.Error()}
	}
	if op < 0 || op >= len(g.Ops) {
		return nil, &Refusal{RuleMalformed, fmt.Sprintf("no operation %d of %d", op, len(g.Ops))}
	}
	b := &builder{g: g, name: "single", ops: []int{op}, stored: func(ir.TensorID) bool { return true }}
	if g.Ops[op].Kind == ir.Custom {
		return HostBlock(g, b.name, b.ops, CustomCall(g, op))
	}
	if changesCopy(&g.Ops[op]) {
		return b.change(op)
	}
	l := &lowering{g: g, ops: b.ops}
	t := g.output(op)
	if s, ok := g.viewStep(op); ok {
		in := g.Ops[op].Inputs[0].ID
		if g.strided(in, identity(s.dst).prepend(s)) {
			return b.build(l, -1, nil)
		}
		// Only a reshape is not expressible: walk the operand as it is and
		// store through the reshape back.
		l.space, l.outer = s.src, len(s.src)
		back, _ := s.inverse()
		return b.build(l, -1, map[ir.TensorID]path{t: identity(s.src).prepend(back)})
	}
	return b.build(l, op, map[ir.TensorID]path{t: l.frame(op)})
}

// frame makes the kernel's space that of one operation and returns the path of
// the operation's value in it: of its output, or of what an effect writes.
func (l *lowering) frame(pos int) path {
	op := &l.g.Ops[pos]
	out := l.g.shape(l.g.output(pos))
	switch info := ir.Lookup(op.Kind); {
	case op.Kind == ir.Attention:
		l.template = codegen.Attention
		l.space, l.anchor = l.attentionSpace(op)
		l.outer = len(l.space) - 2
		return l.anchor
	case info.Class == ir.ClassContraction:
		l.template = codegen.Contraction
		l.space, l.anchor = contractSpace(l.g, op)
		l.outer = len(l.space) - 1
		return l.anchor
	case info.Class == ir.ClassOrder:
		return l.sorted(op)
	case op.Kind == ir.GroupNorm:
		return l.groupSpace(op)
	case rowAxes(op) != nil:
		l.template = codegen.Rows
		if info.Class == ir.ClassScan {
			l.template = codegen.Scan
		}
		return l.rowFrame(l.g.shape(op.Inputs[0].ID), rowAxes(op), info.Class == ir.ClassReduce)
	case op.Kind == ir.Repeat:
		l.space, _ = repeatSpace(l.g, op, l.derive)
		l.outer = len(l.space)
		return identity(l.space).prepend(step{kind: stepReshape, src: out, dst: l.space})
	case info.Class == ir.ClassEffect, changesCopy(op):
		if writesByIndex(op) {
			l.template = codegen.Scatter
		}
		out = l.g.shape(updateOf(op))
	}
	l.space, l.outer = out, len(out)
	return identity(out)
}

// rowAxes returns the axes an operation joins or walks, which must be the
// inner axes of its kernel; nil when it has none.
func rowAxes(op *ir.Operation) []int {
	switch ir.Lookup(op.Kind).Class {
	case ir.ClassReduce, ir.ClassScan:
		return append([]int{}, op.Attrs.Axes...)
	case ir.ClassComposite:
		switch op.Kind {
		case ir.LayerNorm, ir.RMSNorm, ir.LayerNormBackward, ir.RMSNormBackward:
			return []int{len(op.Inputs[0].Shape) - 1}
		case ir.Softmax, ir.LogSoftmax, ir.SoftmaxBackward, ir.LogSoftmaxBackward:
			return append([]int{}, op.Attrs.Axes...)
		}
	}
	return nil
}

// rowFrame makes the space the given shape with axes as its inner axes, and
// returns the path from that shape, or from it with the axes reduced.
func (l *lowering) rowFrame(shape []Dim, axes []int, reduced bool) path {
	order := rowOrder(len(shape), axes)
	l.outer = len(order) - len(axes)
	l.space = make([]Dim, len(order))
	for k, a := range order {
		l.space[k] = shape[a]
	}
	src := shape
	if reduced {
		src = make([]Dim, len(shape))
		for _, a := range order[:l.outer] {
			src[a] = shape[a]
		}
	}
	return walk(src, l.space, order)
}

// rowOrder returns the axes of a shape with the given ones last.
func rowOrder(rank int, axes []int) []int {
	order := make([]int, 0, rank)
	for a := range rank {
		if !slices.Contains(axes, a) {
			order = append(order, a)
		}
	}
	return append(order, axes...)
}

package fuser

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// contractRecipes lowers the kinds whose template reads the operands itself.
// Their instruction comes first in the kernel, at the one place the anchor's
// space gives it.
func contractRecipes() map[ir.Kind]recipe {
	return map[ir.Kind]recipe{ir.MatMul: lowerMatMul, ir.IntMatMul: lowerMatMul, ir.Linear: lowerLinear, ir.Attention: lowerAttention}
}

// templateAccess returns the access through which the template walks operand
// i: axes gives, for each axis of the space, the axis of the operand's shape
// after the given view, or -1.
func (c *context) templateAccess(i int, p path) (int, error) {
	t, steps, err := c.external(c.op.Inputs[i].ID)
	if err != nil {
		return 0, &Refusal{RuleOperandComputed, fmt.Sprintf("operand %d of %v", i, c.op.Kind)}
	}
	p = steps.then(p)
	c.reads = append(c.reads, read{tensor: t, at: p})
	return c.newAccess(t, p, nil, codegen.In), nil
}

// anchored checks that the operation is asked for where its template computes
// it.
func (c *context) anchored(t codegen.Template) error {
	if c.template != t || !c.p.equal(c.anchor) {
		return &Refusal{RuleAnchor, c.op.Kind.String()}
	}
	return nil
}

// contractSpace returns the space [batch…, m, n | k] of a contraction and the
// path of its output. A vector operand leaves m or n of length 1.
func contractSpace(g *Graph, op *ir.Operation) (space []Dim, home path) {
	a, b, out := g.shape(op.Inputs[0].ID), g.shape(op.Inputs[1].ID), g.shape(op.Outputs[0].ID)
	batch := len(out)
	m, n := -1, -1
	if len(b) > 1 {
		batch--
		n = batch
	}
	if len(a) > 1 {
		batch--
		m = batch
	}
	space = append(space, out[:batch]...)
	axes := upTo(batch)
	for _, axis := range []int{m, n} {
		axes = append(axes, axis)
		if axis < 0 {
			space = append(space, unit)
		} else {
			space = append(space, out[axis])
		}
	}
	k := a[len(a)-1]
	return append(space, k), walk(out, append(space, k), append(axes, -1))
}

// contractOperands returns the paths of operands 0 and 1 of a contraction to its
// space.
func contractOperands(g *Graph, op *ir.Operation, space []Dim) (left, right path) {
	batch := len(space) - 3
	m, n, k := batch, batch+1, batch+2
	// lay puts the last axes of an operand on the given ones and its batch axes,
	// aligned at the last, on those of the space.
	lay := func(shape []Dim, matrix ...int) path {
		axes := make([]int, len(space))
		own := len(shape) - len(matrix)
		for i := range axes {
			axes[i] = -1
			if at := i - (batch - own); i < batch && at >= 0 {
				axes[i] = at
			}
		}
		for i, axis := range matrix {
			axes[axis] = own + i
		}
		return walk(shape, space, axes)
	}
	a, b := g.shape(op.Inputs[0].ID), g.shape(op.Inputs[1].ID)
	left, right = lay(a, k), lay(b, k)
	if len(a) > 1 {
		left = lay(a, m, k)
	}
	if len(b) > 1 {
		right = lay(b, k, n)
	}
	return left, right
}

// contract emits the contraction of operands 0 and 1: of two tensors in memory,
// or, if the kernel computes one of them, of the values of prologues.
func (c *context) contract() (codegen.Value, error) {
	if err := c.anchored(codegen.Contraction); err != nil {
		return 0, err
	}
	a, b := c.op.Inputs[0].ID, c.op.Inputs[1].ID
	left, right := contractOperands(c.g, c.op, c.space)
	in := codegen.Instr{Op: codegen.OpContract, Type: c.outDType().Compute()}
	if c.inside(a) || c.inside(b) {
		x, err := c.value(a, left, codegen.Left)
		if err != nil {
			return 0, err
		}
		y, err := c.value(b, right, codegen.Right)
		if err != nil {
			return 0, err
		}
		in.Args, in.From, in.To = []codegen.Value{x, y}, c.dtype(a), c.dtype(b)
		return c.emit(in), nil
	}
	var err error
	if in.Access, err = c.templateAccess(0, left); err != nil {
		return 0, err
	}
	if in.Access2, err = c.templateAccess(1, right); err != nil {
		return 0, err
	}
	return c.emit(in), nil
}

// inside reports whether the kernel computes a tensor, not only views of one in
// memory.
func (l *lowering) inside(t ir.TensorID) bool {
	_, _, err := l.external(t)
	return err != nil
}

func lowerMatMul(c *context) (codegen.Value, error) {
	v, err := c.contract()
	if err != nil {
		return 0, err
	}
	return c.done(v), nil
}

// lowerLinear adds the bias in f32 before the one rounding.
func lowerLinear(c *context) (codegen.Value, error) {
	v, err := c.contract()
	if err != nil {
		return 0, err
	}
	if len(c.op.Operands()) == 3 {
		bias, err := c.operand(2)
		if err != nil {
			return 0, err
		}
		v = c.fn(ir.SAdd, v, bias)
	}
	return c.done(v), nil
}

// attentionSpace returns the space [batch…, head, query, value dim | key, head
// dim] of an attention and the path of its output. Where several heads share
// one of k and v, the head axis is split into groups and heads of a group, and
// the groups become a batch axis.
func (l *lowering) attentionSpace(op *ir.Operation) (space []Dim, home path) {
	q, k, v := l.g.shape(op.Inputs[0].ID), l.g.shape(op.Inputs[1].ID), l.g.shape(op.Inputs[2].ID)
	batch, heads, groups := q[0], q[1], k[1]
	inner := []Dim{k[2], k[3]}
	if heads == groups {
		space = append([]Dim{batch, heads, q[2], v[3]}, inner...)
		return space, walk(l.g.shape(op.Outputs[0].ID), space, []int{0, 1, 2, 3, -1, -1})
	}
	shared := heads
	if groups != unit {
		shared = l.derive(Derived{Factor: 1, Num: heads, Den: groups})
	}
	outer := []Dim{batch, groups, shared, q[2], v[3]}
	axes := []int{0, 1, 2, 3, 4, -1, -1}
	switch {
	case batch == unit:
		outer, axes = outer[1:], axes[:4:4]
		axes = append(axes, -1, -1)
	case groups == unit:
		outer = []Dim{batch, shared, q[2], v[3]}
		axes = append(axes[:4:4], -1, -1)
	}
	space = append(append(space, outer...), inner...)
	split := step{kind: stepReshape, src: l.g.shape(op.Outputs[0].ID), dst: outer}
	return space, walk(outer, space, axes).prepend(split)
}

func lowerAttention(c *context) (codegen.Value, error) {
	if err := c.anchored(codegen.Attention); err != nil {
		return 0, err
	}
	masked := len(c.op.Operands()) == 4
	c.kernel.Attention = codegen.AttentionSpec{Causal: c.op.Attrs.Flag, HasMask: masked}
	outer := c.space[:c.outer]
	head, query, value := c.outer-3, c.outer-2, c.outer-1
	key, dim := c.outer, c.outer+1

	// operand lays the last two of an operand's four axes along row and
	// column, and its batch and head axes, which are those of the space or
	// broadcast to it, along the outer ones.
	operand := func(i int, row, column int) error {
		shape := c.g.shape(c.op.Inputs[i].ID)
		full := make([]Dim, 0, len(outer)+1)
		full = append(append(full, outer[:head+1]...), c.space[row], c.space[column])
		axes := make([]int, len(c.space))
		for a := range axes {
			axes[a] = -1
			if a <= head {
				axes[a] = a
			}
		}
		axes[row], axes[column] = head+1, head+2
		_, err := c.templateAccess(i, c.headed(walk(full, c.space, axes), shape, full))
		return err
	}
	for _, o := range [...]struct{ input, row, column int }{{0, query, dim}, {1, key, dim}, {2, key, value}} {
		if err := operand(o.input, o.row, o.column); err != nil {
			return 0, err
		}
	}
	if masked {
		c.kernel.Attention.BoolMask = c.dtype(c.op.Inputs[3].ID) == ir.Bool
		if err := operand(3, query, key); err != nil {
			return 0, err
		}
	}
	t, scale := c.outDType().Compute(), Param{Op: c.pos}
	if in := int(c.op.Scalars[0].Input); in != 0 {
		c.kernel.Attention.ScaleRead = true
		scale = Param{Op: -1} // read from memory
		if _, err := c.templateAccess(in, identity(c.space).expand(nil, c.space)); err != nil {
			return 0, err
		}
	}
	c.param(scale, t)
	c.param(Param{Op: -1, Bits: uint64(int64(c.op.Attrs.N))}, ir.I64)
	return c.done(c.emit(codegen.Instr{Op: codegen.OpAttention, Type: t})), nil
}

// headed returns p, which starts at the shape full of an attention operand
// with its head axis split as the space has it, from the operand's own shape.
func (c *context) headed(p path, shape, full []Dim) path {
	heads, groups := c.g.shape(c.op.Inputs[0].ID)[1], c.g.shape(c.op.Inputs[1].ID)[1]
	if heads == groups || groups == unit {
		return p.expand(shape, full)
	}
	four := append([]Dim{unit, unit, unit, unit}[:4-len(shape)], shape...)
	shared := full[len(full)-3]
	batch := c.g.shape(c.out)[0]
	rows, columns := full[len(full)-2], full[len(full)-1]
	split := []Dim{batch, groups, shared, rows, columns}
	own := []Dim{four[0], four[1], unit, four[2], four[3]}
	if four[1] == heads {
		own[1], own[2] = groups, shared
	}
	p = p.prepend(step{kind: stepReshape, src: split, dst: full}).expand(own, split)
	return p.prepend(step{kind: stepReshape, src: shape, dst: own})
}

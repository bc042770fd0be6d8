package fuser

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// normRecipes lowers the composite kinds over rows: f32 inside, rounded once
// at the end.
func normRecipes() map[ir.Kind]recipe {
	return map[ir.Kind]recipe{
		ir.Softmax:    lowerSoftmax,
		ir.LogSoftmax: lowerLogSoftmax,
		ir.LayerNorm:  lowerLayerNorm,
		ir.RMSNorm:    lowerRMSNorm,
		ir.GroupNorm:  lowerGroupNorm,
	}
}

// rows returns the elements of operand 0 after checking that the kernel's
// rows run along the given axes.
func (c *context) rows(axes []int) (codegen.Value, error) {
	if c.template != codegen.Rows {
		return 0, &Refusal{RuleKind, fmt.Sprintf("%v needs whole rows", c.op.Kind)}
	}
	if err := c.innerIs(axes); err != nil {
		return 0, err
	}
	return c.elementValue(c.op.Inputs[0].ID, c.p)
}

// shifted returns x − max and e^(x − max).
func (c *context) shifted(x codegen.Value) (d, e codegen.Value) {
	d = c.fn(ir.SSub, x, c.reduce(codegen.RMax, x))
	return d, c.fn(ir.SExp, d)
}

func lowerSoftmax(c *context) (codegen.Value, error) {
	x, err := c.rows(c.op.Attrs.Axes)
	if err != nil {
		return 0, err
	}
	_, e := c.shifted(x)
	return c.done(c.fn(ir.SDiv, e, c.reduce(codegen.RSum, e))), nil
}

func lowerLogSoftmax(c *context) (codegen.Value, error) {
	x, err := c.rows(c.op.Attrs.Axes)
	if err != nil {
		return 0, err
	}
	d, e := c.shifted(x)
	return c.done(c.fn(ir.SSub, d, c.rowContext().fn(ir.SLog, c.reduce(codegen.RSum, e)))), nil
}

// lowerLayerNorm is (d−e)/√(var+ε)·w + b, with d and e as in deviations: a
// constant row gives exactly b.
func lowerLayerNorm(c *context) (codegen.Value, error) {
	x, err := c.rows([]int{len(c.g.shape(c.out)) - 1})
	if err != nil {
		return 0, err
	}
	n, _, err := c.normal(x)
	if err != nil {
		return 0, err
	}
	return c.scaled(n)
}

// lowerGroupNorm is lowerLayerNorm over the channels of a group and all axes
// after; the space has the channels split into groups (groupSpace).
func lowerGroupNorm(c *context) (codegen.Value, error) {
	if err := c.anchored(codegen.Rows); err != nil {
		return 0, err
	}
	x, err := c.elementValue(c.op.Inputs[0].ID, c.p)
	if err != nil {
		return 0, err
	}
	n, _, err := c.normal(x)
	if err != nil {
		return 0, err
	}
	return c.scaled(n)
}

// groupSpace makes the space [batch, group | channel of the group, the axes
// after] and returns the path of the output.
func (l *lowering) groupSpace(op *ir.Operation) path {
	l.template = codegen.Rows
	shape := l.g.shape(op.Outputs[0].ID)
	groups, channels := unit, shape[1]
	if op.Attrs.N != 1 {
		groups = l.derive(Derived{Factor: op.Attrs.N, Num: unit, Den: unit})
		channels = l.derive(Derived{Factor: 1, Num: shape[1], Den: groups})
	}
	l.space = append([]Dim{shape[0], groups, channels}, shape[2:]...)
	l.outer = 2
	l.anchor = identity(l.space).prepend(step{kind: stepReshape, src: shape, dst: l.space})
	return l.anchor
}

// normal returns (d−e)/root and root = √(var+ε), ε being scalar 0.
func (c *context) normal(x codegen.Value) (n, root codegen.Value, err error) {
	r := c.rowContext()
	eps, err := r.scalar(0)
	if err != nil {
		return 0, 0, err
	}
	d, e := c.deviations(x)
	root = r.fn(ir.SSqrt, r.fn(ir.SAdd, c.variance(d, r.count()), eps))
	return c.fn(ir.SDiv, c.fn(ir.SSub, d, e), root), root, nil
}

// lowerRMSNorm is x/√(mean(x²)+ε)·w.
func lowerRMSNorm(c *context) (codegen.Value, error) {
	x, err := c.rows([]int{len(c.g.shape(c.out)) - 1})
	if err != nil {
		return 0, err
	}
	n, _, err := c.rootMeanSquare(x)
	if err != nil {
		return 0, err
	}
	return c.scaled(n)
}

// rootMeanSquare returns x/root and root = √(mean(x²)+ε), ε being scalar 0.
func (c *context) rootMeanSquare(x codegen.Value) (n, root codegen.Value, err error) {
	r := c.rowContext()
	eps, err := r.scalar(0)
	if err != nil {
		return 0, 0, err
	}
	root = r.fn(ir.SSqrt, r.fn(ir.SAdd, c.meanOf(c.fn(ir.SMul, x, x)), eps))
	return c.fn(ir.SDiv, x, root), root, nil
}

// meanOf returns the mean of the elements of a row.
func (c *context) meanOf(x codegen.Value) codegen.Value {
	r := c.rowContext()
	return r.fn(ir.SDiv, c.reduce(codegen.RSum, x), r.count())
}

// scaled multiplies by the weight and adds the bias, where given, and rounds.
func (c *context) scaled(v codegen.Value) (codegen.Value, error) {
	for i := range c.op.Operands() {
		if i == 0 {
			continue
		}
		w, err := c.operand(i)
		if err != nil {
			return 0, err
		}
		fn := ir.SMul
		if i == 2 {
			fn = ir.SAdd
		}
		v = c.fn(fn, v, w)
	}
	return c.done(v), nil
}

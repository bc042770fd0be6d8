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
	r := c.rowContext()
	eps, err := r.scalar(0)
	if err != nil {
		return 0, err
	}
	d, e := c.deviations(x)
	root := r.fn(ir.SSqrt, r.fn(ir.SAdd, c.variance(d, r.count()), eps))
	return c.scaled(c.fn(ir.SDiv, c.fn(ir.SSub, d, e), root))
}

// lowerRMSNorm is x/√(mean(x²)+ε)·w.
func lowerRMSNorm(c *context) (codegen.Value, error) {
	x, err := c.rows([]int{len(c.g.shape(c.out)) - 1})
	if err != nil {
		return 0, err
	}
	r := c.rowContext()
	eps, err := r.scalar(0)
	if err != nil {
		return 0, err
	}
	mean := r.fn(ir.SDiv, c.reduce(codegen.RSum, c.fn(ir.SMul, x, x)), r.count())
	root := r.fn(ir.SSqrt, r.fn(ir.SAdd, mean, eps))
	return c.scaled(c.fn(ir.SDiv, x, root))
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

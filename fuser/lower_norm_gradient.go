package fuser

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// normGradientRecipes lowers the gradients of the composite kinds over rows with
// respect to their operand: f32 inside, rounded once at the end.
func normGradientRecipes() map[ir.Kind]recipe {
	return map[ir.Kind]recipe{
		ir.SoftmaxBackward:    lowerSoftmaxBackward,
		ir.LogSoftmaxBackward: lowerLogSoftmaxBackward,
		ir.LayerNormBackward:  lowerLayerNormBackward,
		ir.RMSNormBackward:    lowerRMSNormBackward,
	}
}

// withGradient returns the elements of operands 0 and 1, the second being a
// gradient.
func (c *context) withGradient(axes []int) (x, g codegen.Value, err error) {
	if x, err = c.rows(axes); err != nil {
		return 0, 0, err
	}
	g, err = c.elementValue(c.op.Inputs[1].ID, c.p)
	return x, g, err
}

// lowerSoftmaxBackward is y·(g − Σg·y), y being the output.
func lowerSoftmaxBackward(c *context) (codegen.Value, error) {
	y, g, err := c.withGradient(c.op.Attrs.Axes)
	if err != nil {
		return 0, err
	}
	sum := c.reduce(codegen.RSum, c.fn(ir.SMul, g, y))
	return c.done(c.fn(ir.SMul, y, c.fn(ir.SSub, g, sum))), nil
}

// lowerLogSoftmaxBackward is g − e^y·Σg, y being the output.
func lowerLogSoftmaxBackward(c *context) (codegen.Value, error) {
	y, g, err := c.withGradient(c.op.Attrs.Axes)
	if err != nil {
		return 0, err
	}
	return c.done(c.fn(ir.SSub, g, c.fn(ir.SMul, c.fn(ir.SExp, y), c.reduce(codegen.RSum, g)))), nil
}

// lowerLayerNormBackward is (h − mean(h) − n·mean(h·n))/root, with h = g·weight
// and n and root as in normal.
func lowerLayerNormBackward(c *context) (codegen.Value, error) {
	x, h, err := c.weightedGradient()
	if err != nil {
		return 0, err
	}
	n, root, err := c.normal(x)
	if err != nil {
		return 0, err
	}
	v := c.fn(ir.SSub, h, c.meanOf(h))
	v = c.fn(ir.SSub, v, c.fn(ir.SMul, n, c.meanOf(c.fn(ir.SMul, h, n))))
	return c.done(c.fn(ir.SDiv, v, root)), nil
}

// lowerRMSNormBackward is (h − n·mean(h·n))/root, with h = g·weight and n and
// root as in rootMeanSquare.
func lowerRMSNormBackward(c *context) (codegen.Value, error) {
	x, h, err := c.weightedGradient()
	if err != nil {
		return 0, err
	}
	n, root, err := c.rootMeanSquare(x)
	if err != nil {
		return 0, err
	}
	v := c.fn(ir.SSub, h, c.fn(ir.SMul, n, c.meanOf(c.fn(ir.SMul, h, n))))
	return c.done(c.fn(ir.SDiv, v, root)), nil
}

// weightedGradient returns the elements of operand 0 and the gradient, times
// the weight where one is given.
func (c *context) weightedGradient() (x, h codegen.Value, err error) {
	x, h, err = c.withGradient([]int{len(c.g.shape(c.out)) - 1})
	if err == nil && len(c.op.Operands()) == 3 {
		var w codegen.Value
		if w, err = c.operand(2); err == nil {
			h = c.fn(ir.SMul, h, w)
		}
	}
	return x, h, err
}

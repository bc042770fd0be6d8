package fuser

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// mapRecipes lowers the element-wise kinds: the scalar function of the table,
// or an expansion, in the compute dtype, rounded once.
func mapRecipes() map[ir.Kind]recipe {
	out := map[ir.Kind]recipe{}
	for _, k := range ir.Kinds() {
		if info := ir.Lookup(k); info.Class == ir.ClassMap && info.Scalar != ir.SNone {
			out[k] = lowerScalar
		}
	}
	out[ir.Cast] = lowerCast
	out[ir.Square] = lowerSquare
	out[ir.Relu] = lowerRelu
	out[ir.LeakyRelu] = lowerLeakyRelu
	out[ir.Clamp] = lowerClamp
	return out
}

// lowerScalar applies the table's function to the operands, then the scalars.
func lowerScalar(c *context) (codegen.Value, error) {
	var args []codegen.Value
	for i := range c.op.Operands() {
		v, err := c.operand(i)
		if err != nil {
			return 0, err
		}
		args = append(args, v)
	}
	for i := range c.op.Scalars {
		v, err := c.scalar(i)
		if err != nil {
			return 0, err
		}
		args = append(args, v)
	}
	return c.done(c.fn(ir.Lookup(c.op.Kind).Scalar, args...)), nil
}

func lowerCast(c *context) (codegen.Value, error) {
	x, err := c.operand(0)
	if err != nil {
		return 0, err
	}
	return c.cast(c.at, x, c.dtype(c.op.Inputs[0].ID), c.outDType()), nil
}

func lowerSquare(c *context) (codegen.Value, error) {
	x, err := c.operand(0)
	if err != nil {
		return 0, err
	}
	return c.done(c.fn(ir.SMul, x, x)), nil
}

// lowerRelu is maximum(x, +0): −0 becomes +0 and NaN stays.
func lowerRelu(c *context) (codegen.Value, error) {
	x, err := c.operand(0)
	if err != nil {
		return 0, err
	}
	return c.done(c.fn(ir.SMaximum, x, c.f32(0))), nil
}

// lowerLeakyRelu is x where x ≥ 0, else slope·x.
func lowerLeakyRelu(c *context) (codegen.Value, error) {
	x, err := c.operand(0)
	if err != nil {
		return 0, err
	}
	slope, err := c.scalar(0)
	if err != nil {
		return 0, err
	}
	return c.done(c.fn(ir.SWhere, c.fn(ir.SGreaterEqual, x, c.f32(0)), x, c.fn(ir.SMul, slope, x))), nil
}

// lowerClamp is min(max(x, lo), hi): with lo > hi the result is hi.
func lowerClamp(c *context) (codegen.Value, error) {
	x, err := c.operand(0)
	if err != nil {
		return 0, err
	}
	lo, err := c.scalar(0)
	if err != nil {
		return 0, err
	}
	hi, err := c.scalar(1)
	if err != nil {
		return 0, err
	}
	return c.done(c.fn(ir.SMinimum, c.fn(ir.SMaximum, x, lo), hi)), nil
}

package fuser

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// formula is what an element-wise kind does to its operands and scalars at one
// element, in the compute dtype, before the one rounding.
type formula func(c *context, v []codegen.Value) codegen.Value

// mapRecipes lowers the element-wise kinds: the scalar function of the table, or
// a formula.
func mapRecipes() map[ir.Kind]recipe {
	out := map[ir.Kind]recipe{ir.Cast: lowerCast, ir.Bitcast: lowerBitcast}
	for _, k := range ir.Kinds() {
		if fn := ir.Lookup(k).Scalar; fn != ir.SNone {
			out[k] = elementwiseBy(func(c *context, v []codegen.Value) codegen.Value { return c.fn(fn, v...) })
		}
	}
	for _, part := range []map[ir.Kind]formula{arithmetic, activations, gradients} {
		for k, f := range part {
			out[k] = elementwiseBy(f)
		}
	}
	return out
}

// arithmetic is the formulas of the kinds without a scalar function of their
// own.
var arithmetic = map[ir.Kind]formula{
	ir.Square: func(c *context, v []codegen.Value) codegen.Value { return c.fn(ir.SMul, v[0], v[0]) },
	// With lo > hi the result is hi.
	ir.Clamp: func(c *context, v []codegen.Value) codegen.Value {
		return c.fn(ir.SMinimum, c.fn(ir.SMaximum, v[0], v[1]), v[2])
	},
	// (x−mean)/√(variance+ε)·weight + bias.
	ir.BatchNorm: func(c *context, v []codegen.Value) codegen.Value {
		eps := v[len(v)-1]
		y := c.fn(ir.SDiv, c.fn(ir.SSub, v[0], v[1]), c.fn(ir.SSqrt, c.fn(ir.SAdd, v[2], eps)))
		own := v[:len(v)-1]
		if len(own) > 3 {
			y = c.fn(ir.SMul, y, own[3])
		}
		if len(own) > 4 {
			y = c.fn(ir.SAdd, y, own[4])
		}
		return y
	},
}

func elementwiseBy(f formula) recipe {
	return func(c *context) (codegen.Value, error) {
		v, err := c.arguments()
		if err != nil {
			return 0, err
		}
		return c.done(f(c, v)), nil
	}
}

func lowerCast(c *context) (codegen.Value, error) {
	x, err := c.operand(0)
	if err != nil {
		return 0, err
	}
	v := c.cast(c.at, x, c.dtype(c.op.Inputs[0].ID), c.outDType())
	if c.op.Attrs.Flag && v != x {
		c.kernel.Body[v].Overflow = true
	}
	return v, nil
}

func lowerBitcast(c *context) (codegen.Value, error) {
	x, err := c.operand(0)
	from, to := c.dtype(c.op.Inputs[0].ID), c.outDType()
	if err != nil || from == to {
		return x, err
	}
	args := []codegen.Value{x}
	return c.emit(codegen.Instr{
		Op: codegen.OpBitcast, From: from, To: to, Type: to.Compute(), Level: c.levelOf(c.at, args), Args: args,
	}), nil
}

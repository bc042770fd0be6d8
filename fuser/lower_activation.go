package fuser

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Constants of the scaled exponential linear unit (Klambauer and others,
// "Self-Normalizing Neural Networks", 2017).
const (
	seluAlpha = 1.6732632423543772848170429916717
	seluScale = 1.0507009873554804934193349852946
)

// activations is the formulas of the activations that are no scalar function of
// their own. Where a formula selects, NaN takes the branch that keeps it.
var activations = map[ir.Kind]formula{
	// −0 becomes +0 and NaN stays.
	ir.Relu:      func(c *context, v []codegen.Value) codegen.Value { return c.fn(ir.SMaximum, v[0], c.num(0)) },
	ir.LeakyRelu: leaky,
	ir.PRelu:     leaky,
	ir.Elu: func(c *context, v []codegen.Value) codegen.Value {
		return c.where(ir.SGreater, v[0], 0, v[0], c.fn(ir.SMul, v[1], c.fn(ir.SExpm1, v[0])))
	},
	ir.Selu: func(c *context, v []codegen.Value) codegen.Value {
		return c.where(ir.SGreater, v[0], 0, c.times(v[0], seluScale), c.times(c.fn(ir.SExpm1, v[0]), seluScale*seluAlpha))
	},
	ir.Celu: func(c *context, v []codegen.Value) codegen.Value {
		below := c.fn(ir.SMul, v[1], c.fn(ir.SExpm1, c.fn(ir.SDiv, v[0], v[1])))
		return c.fn(ir.SAdd, c.fn(ir.SMaximum, v[0], c.num(0)), c.fn(ir.SMinimum, below, c.num(0)))
	},
	// −softplus(−x).
	ir.LogSigmoid: func(c *context, v []codegen.Value) codegen.Value {
		return c.fn(ir.SNeg, c.fn(ir.SSoftplus, c.fn(ir.SNeg, v[0])))
	},
	ir.HardSigmoid: func(c *context, v []codegen.Value) codegen.Value { return c.hardSigmoid(v[0]) },
	// Dividing first keeps large x finite.
	ir.HardSwish: func(c *context, v []codegen.Value) codegen.Value { return c.fn(ir.SMul, v[0], c.hardSigmoid(v[0])) },
	// x·tanh(log(1+e)), with e = e^x, is silu(x)·(1 + e/(e·(e+2)+2)), which keeps
	// the accuracy of small values; from x = 40 on the second factor is 1.
	ir.Mish: func(c *context, v []codegen.Value) codegen.Value {
		e := c.fn(ir.SExp, c.fn(ir.SMinimum, v[0], c.num(40)))
		q := c.fn(ir.SDiv, e, c.plus(c.fn(ir.SMul, e, c.plus(e, 2)), 2))
		return c.fn(ir.SMul, c.fn(ir.SSilu, v[0]), c.plus(q, 1))
	},
	ir.Softsign: func(c *context, v []codegen.Value) codegen.Value {
		return c.fn(ir.SDiv, v[0], c.plus(c.fn(ir.SAbs, v[0]), 1))
	},
}

// gradients is the formulas of the gradients of activations: v[0] is the
// operand, or of Sigmoid and Tanh the output, v[1] the gradient of the output.
// At a kink they take the side PyTorch takes.
var gradients = map[ir.Kind]formula{
	ir.ReluBackward: func(c *context, v []codegen.Value) codegen.Value {
		return c.where(ir.SLessEqual, v[0], 0, c.num(0), v[1])
	},
	ir.LeakyReluBackward: func(c *context, v []codegen.Value) codegen.Value {
		return c.where(ir.SGreater, v[0], 0, v[1], c.fn(ir.SMul, v[1], v[2]))
	},
	ir.EluBackward: func(c *context, v []codegen.Value) codegen.Value {
		return c.where(ir.SLessEqual, v[0], 0, c.fn(ir.SMul, c.fn(ir.SMul, v[1], v[2]), c.fn(ir.SExp, v[0])), v[1])
	},
	ir.SeluBackward: func(c *context, v []codegen.Value) codegen.Value {
		below := c.fn(ir.SMul, c.times(v[1], seluScale*seluAlpha), c.fn(ir.SExp, v[0]))
		return c.where(ir.SLessEqual, v[0], 0, below, c.times(v[1], seluScale))
	},
	ir.CeluBackward: func(c *context, v []codegen.Value) codegen.Value {
		return c.where(ir.SLessEqual, v[0], 0, c.fn(ir.SMul, v[1], c.fn(ir.SExp, c.fn(ir.SDiv, v[0], v[2]))), v[1])
	},
	// g·(1−y)·y.
	ir.SigmoidBackward: func(c *context, v []codegen.Value) codegen.Value {
		return c.fn(ir.SMul, c.fn(ir.SMul, v[1], c.lessThanOne(v[0])), v[0])
	},
	// g·(1−y)·(1+y).
	ir.TanhBackward: func(c *context, v []codegen.Value) codegen.Value {
		return c.fn(ir.SMul, c.fn(ir.SMul, v[1], c.lessThanOne(v[0])), c.plus(v[0], 1))
	},
	// g·(1−σ(x)) = g·σ(−x).
	ir.LogSigmoidBackward: func(c *context, v []codegen.Value) codegen.Value {
		return c.fn(ir.SMul, v[1], c.fn(ir.SSigmoid, c.fn(ir.SNeg, v[0])))
	},
	ir.HardSigmoidBackward: func(c *context, v []codegen.Value) codegen.Value {
		inside := c.where(ir.SLess, v[0], 3, c.fn(ir.SDiv, v[1], c.num(6)), c.num(0))
		return c.where(ir.SGreater, v[0], -3, inside, c.num(0))
	},
	// g·(σ(x) + x·σ(x)·σ(−x)).
	ir.SiluBackward: func(c *context, v []codegen.Value) codegen.Value {
		slope := c.fn(ir.SMul, c.fn(ir.SSilu, v[0]), c.fn(ir.SSigmoid, c.fn(ir.SNeg, v[0])))
		return c.fn(ir.SMul, v[1], c.fn(ir.SAdd, c.fn(ir.SSigmoid, v[0]), slope))
	},
	// g·(x/3+½) between −3 and 3.
	ir.HardSwishBackward: func(c *context, v []codegen.Value) codegen.Value {
		slope := c.fn(ir.SMul, v[1], c.plus(c.fn(ir.SDiv, v[0], c.num(3)), 0.5))
		return c.where(ir.SLessEqual, v[0], -3, c.num(0), c.where(ir.SLess, v[0], 3, slope, v[1]))
	},
	// g·(t + x·σ(x)·(1−t²)), with t = tanh(softplus(x)).
	ir.MishBackward: func(c *context, v []codegen.Value) codegen.Value {
		t := c.fn(ir.STanh, c.fn(ir.SSoftplus, v[0]))
		slope := c.fn(ir.SMul, c.fn(ir.SSilu, v[0]), c.lessThanOne(c.fn(ir.SMul, t, t)))
		return c.fn(ir.SMul, v[1], c.fn(ir.SAdd, t, slope))
	},
	// g·(Φ(x) + x·φ(x)): Φ through erfc keeps the accuracy of small values.
	ir.GeluBackward: func(c *context, v []codegen.Value) codegen.Value {
		cdf := c.times(c.fn(ir.SErfc, c.times(v[0], -1/math.Sqrt2)), 0.5)
		pdf := c.times(c.fn(ir.SExp, c.times(c.fn(ir.SMul, v[0], v[0]), -0.5)), 1/math.Sqrt(2*math.Pi))
		return c.fn(ir.SMul, v[1], c.fn(ir.SAdd, cdf, c.fn(ir.SMul, v[0], pdf)))
	},
	// g·(s + x·2s·(1−s)·u′), with u = √(2/π)·(x+0.044715·x³), s = σ(2u) =
	// ½(1+tanh u) and 1−s = σ(−2u). Where s·(1−s) is 0 even an infinite u′ counts
	// for nothing.
	ir.GeluTanhBackward: func(c *context, v []codegen.Value) codegen.Value {
		const cubic = 0.044715
		root := math.Sqrt(2 / math.Pi)
		square := c.fn(ir.SMul, v[0], v[0])
		u := c.times(c.fn(ir.SMul, v[0], c.plus(c.times(square, cubic), 1)), 2*root)
		s := c.fn(ir.SSigmoid, u)
		steep := c.times(c.fn(ir.SMul, s, c.fn(ir.SSigmoid, c.fn(ir.SNeg, u))), 2)
		slope := c.fn(ir.SMul, c.fn(ir.SMul, v[0], steep), c.times(c.plus(c.times(square, 3*cubic), 1), root))
		return c.fn(ir.SMul, v[1], c.fn(ir.SAdd, s, c.where(ir.SEqual, steep, 0, c.num(0), slope)))
	},
	ir.SoftplusBackward: func(c *context, v []codegen.Value) codegen.Value {
		return c.fn(ir.SMul, v[1], c.fn(ir.SSigmoid, v[0]))
	},
	// g/(1+|x|)².
	ir.SoftsignBackward: func(c *context, v []codegen.Value) codegen.Value {
		d := c.plus(c.fn(ir.SAbs, v[0]), 1)
		return c.fn(ir.SDiv, c.fn(ir.SDiv, v[1], d), d)
	},
}

// leaky is x where x ≥ 0, else slope·x.
func leaky(c *context, v []codegen.Value) codegen.Value {
	return c.where(ir.SGreaterEqual, v[0], 0, v[0], c.fn(ir.SMul, v[1], v[0]))
}

// where returns a where x compares so with a constant, else b.
func (c *context) where(compare ir.ScalarOp, x codegen.Value, with float64, a, b codegen.Value) codegen.Value {
	return c.fn(ir.SWhere, c.fn(compare, x, c.num(with)), a, b)
}

func (c *context) times(x codegen.Value, by float64) codegen.Value {
	return c.fn(ir.SMul, x, c.num(by))
}

func (c *context) plus(x codegen.Value, n float64) codegen.Value {
	return c.fn(ir.SAdd, x, c.num(n))
}

func (c *context) lessThanOne(x codegen.Value) codegen.Value {
	return c.fn(ir.SSub, c.num(1), x)
}

// hardSigmoid is min(max(x+3, 0), 6)/6.
func (c *context) hardSigmoid(x codegen.Value) codegen.Value {
	return c.fn(ir.SDiv, c.fn(ir.SMinimum, c.fn(ir.SMaximum, c.plus(x, 3), c.num(0)), c.num(6)), c.num(6))
}

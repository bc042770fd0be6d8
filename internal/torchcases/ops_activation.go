package torchcases

import (
	"slices"

	"github.com/sinter-ml/sinter"
)

// activationOps are the activations, those without a kind of their own composed.
var activationOps = map[string]adapter{
	"sigmoid":                   unary((*tensor).Sigmoid, within(4)),
	"nn.functional.relu":        unary((*tensor).Relu, exact),
	"nn.functional.silu":        unary((*tensor).Silu, within(4)),
	"nn.functional.leaky_relu":  unary(func(x *tensor) *tensor { return x.LeakyRelu(0.01) }, within(4)),
	"nn.functional.celu":        unary(func(x *tensor) *tensor { return x.Celu(1) }, tolerance{ulps: 4, anyZero: true}),
	"nn.functional.elu":         unary(func(x *tensor) *tensor { return x.Elu(1) }, within(4)),
	"nn.functional.selu":        unary((*tensor).Selu, within(4)),
	"nn.functional.mish":        unary((*tensor).Mish, within(4)),
	"nn.functional.softsign":    unary((*tensor).Softsign, within(4)),
	"nn.functional.logsigmoid":  unary((*tensor).LogSigmoid, tolerance{ulps: 4, anyZero: true}),
	"nn.functional.hardsigmoid": unary((*tensor).HardSigmoid, within(4)),
	"nn.functional.hardswish":   unary((*tensor).HardSwish, within(4)),
	"nn.functional.prelu": one(func(c *Call) *tensor {
		x, slope := c.x(), c.tensor(1, "weight")
		if x.Rank() > 1 && slope.Rank() == 1 {
			slope = slope.Reshape(append([]int{-1}, slices.Repeat([]int{1}, x.Rank()-2)...)...) // one for each channel
		}
		return x.PRelu(slope)
	}, within(4)),
	"nn.functional.relu6":    unary(func(x *tensor) *tensor { return x.Clamp(0, 6) }, exactButZeros),
	"nn.functional.gelu":     gelu,
	"nn.functional.hardtanh": unary(func(x *tensor) *tensor { return x.Clamp(-1, 1) }, exactButZeros),
	"nn.functional.softplus": one(func(c *Call) *tensor {
		// PyTorch leaves x where beta·x is above a threshold.
		x, beta := c.x(), c.number(-1, "beta", 1)
		scaled := x.MulScalar(beta)
		return sinter.Where(scaled.GreaterScalar(c.number(-1, "threshold", 20)), x, scaled.Softplus().DivScalar(beta))
	}, rounds(40, nil)), // β·x, to ±27, is rounded: 16 ulps of e^βx
	"nn.functional.threshold": one(func(c *Call) *tensor {
		x := c.x()
		return x.MaskFill(x.LessEqualScalar(c.number(1, "threshold", 0)), c.number(2, "value", 0))
	}, exact),
	"nn.functional.hardshrink": one(func(c *Call) *tensor {
		x := c.x()
		return x.MaskFill(x.Abs().LessEqualScalar(c.number(-1, "lambd", 0.5)), 0)
	}, exact),
	"nn.functional.softshrink": unary(func(x *tensor) *tensor {
		const lambda = 0.5
		above, below := x.GreaterScalar(lambda), x.LessScalar(-lambda)
		zero := x.MulScalar(0) // NaN stays
		return sinter.Where(above, x.SubScalar(lambda), sinter.Where(below, x.AddScalar(lambda), zero))
	}, exactButZeros),
	"nn.functional.tanhshrink": unary(func(x *tensor) *tensor { return x.Sub(x.Tanh()) }, rounds(4, unit)),
	"nn.functional.glu": one(func(c *Call) *tensor {
		x, axis := c.x(), c.integer(1, "dim", -1)
		n := x.Dim(axis) / 2
		return x.Narrow(axis, 0, n).Mul(x.Narrow(axis, n, n).Sigmoid())
	}, rounds(6, nil)),
}

// gelu is of either form. In f64 PyTorch itself adds 1 to what may be nearly −1.
var gelu = adapter{
	make: func(c *Call) tensors {
		if c.text(-1, "approximate", "none") == "tanh" {
			return tensors{c.x().GeluTanh()}
		}
		return tensors{c.x().Gelu()}
	},
	tolFor: func(c *Case, _ int) tolerance {
		if c.DType == "f64" {
			return tolerance{ulps: 4, magnitude: greatest}
		}
		return within(4)
	},
}

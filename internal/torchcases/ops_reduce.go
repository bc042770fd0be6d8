package torchcases

import (
	"github.com/sinter-ml/sinter"
)

// reduceOps are the reductions.
var reduceOps = map[string]adapter{
	"sum":  one(reduced(widened((*tensor).Sum)), sums(total)),
	"mean": one(reduced((*tensor).Mean), sums(total)),
	"prod": one(reduced(widened((*tensor).Prod)), within(16)),
	"amax": one(reduced((*tensor).Max), exactButZeros),
	"amin": one(reduced((*tensor).Min), exactButZeros),
	"all":  one(reduced(func(x *tensor, axes ...int) *tensor { return truth(x).All(axes...) }), exact),
	"any":  one(reduced(func(x *tensor, axes ...int) *tensor { return truth(x).Any(axes...) }), exact),
	"count_nonzero": one(reduced(func(x *tensor, axes ...int) *tensor {
		return truth(x).Cast(sinter.I64).Sum(axes...)
	}), exact),
	"argmax":               one(reduced((*tensor).ArgMax), exact),
	"argmin":               one(reduced((*tensor).ArgMin), exact),
	"max.reduction_no_dim": unary(func(x *tensor) *tensor { return x.Max().Squeeze() }, exactButZeros),
	"min.reduction_no_dim": unary(func(x *tensor) *tensor { return x.Min().Squeeze() }, exactButZeros),
	"max.reduction_with_dim": {make: func(c *Call) tensors {
		return tensors{reduced((*tensor).Max)(c), reduced((*tensor).ArgMax)(c)}
	}, tol: exactButZeros},
	"min.reduction_with_dim": {make: func(c *Call) tensors {
		return tensors{reduced((*tensor).Min)(c), reduced((*tensor).ArgMin)(c)}
	}, tol: exactButZeros},
	"aminmax": {make: func(c *Call) tensors {
		return tensors{reduced((*tensor).Min)(c), reduced((*tensor).Max)(c)}
	}, tol: exactButZeros},
	"var": one(variance, within(16)),
	"var_mean": {make: func(c *Call) tensors {
		return tensors{variance(c), reduced((*tensor).Mean)(c)}
	}, tol: tolerance{ulps: 16, magnitude: total, anyZero: true}},
	"std": one(func(c *Call) *tensor { return variance(c).Sqrt() }, rounds(16, nil)),
	"std_mean": {make: func(c *Call) tensors {
		return tensors{variance(c).Sqrt(), reduced((*tensor).Mean)(c)}
	}, tol: tolerance{ulps: 16, steps: 2, magnitude: total, anyZero: true}},
}

// reduced makes the call of a reduction over dim, an int, a list, or all axes,
// dropping them unless keepdim says otherwise.
func reduced(f func(x *tensor, axes ...int) *tensor) func(c *Call) *tensor {
	return func(c *Call) *tensor {
		x := c.x()
		axes := c.ints(1, "dim")
		if x.Rank() == 0 {
			axes = nil // PyTorch lets axes 0 and −1 stand for none
		}
		y := f(x, axes...)
		if c.flag(2, "keepdim", false) {
			return y
		}
		return dropped(y, axes)
	}
}

// dropped is y without reduced axes, without all if there are none.
func dropped(y *tensor, axes []int) *tensor {
	if len(axes) == 0 {
		return y.Reshape()
	}
	return y.Squeeze(axes...)
}

// widened casts to the dtype PyTorch returns before reducing: i64 for integers.
func widened(f func(x *tensor, axes ...int) *tensor) func(x *tensor, axes ...int) *tensor {
	return func(x *tensor, axes ...int) *tensor {
		if !x.DType().IsFloat() {
			x = x.Cast(sinter.I64)
		}
		return f(x, axes...)
	}
}

// variance is that of var, std and their relatives: the divisor is n less
// correction, or with unbiased n−1 or n.
func variance(c *Call) *tensor {
	correction := 1
	if c.Variant == "unbiased" {
		if !c.flag(1, "unbiased", true) {
			correction = 0
		}
		return c.x().Variance(correction).Reshape()
	}
	if !c.flag(-1, "unbiased", true) {
		correction = 0
	}
	if c.has(-1, "correction") {
		correction = c.integer(-1, "correction", 1)
	}
	return reduced(func(x *tensor, axes ...int) *tensor { return x.Variance(correction, axes...) })(c)
}

// scanOps are the running reductions.
var scanOps = map[string]adapter{
	"cumsum": one(func(c *Call) *tensor {
		x := c.x().Cast(c.outDType())
		if x.Rank() == 0 {
			return x
		}
		return x.CumSum(c.integer(1, "dim", 0))
	}, sums(total)),
}

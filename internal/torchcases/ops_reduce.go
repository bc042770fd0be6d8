package torchcases

import (
	"math"
	"strings"

	"github.com/sinter-ml/sinter"
)

// reduceOps are the reductions.
var reduceOps = map[string]adapter{
	"sum":  one(widened((*tensor).Sum), sums(total)),
	"mean": one(reduced((*tensor).Mean), sums(greatest)),
	"prod": one(widened((*tensor).Prod), within(16)),
	"amax": one(reduced((*tensor).Max), exactButZeros),
	"amin": one(reduced((*tensor).Min), exactButZeros),
	"all":  one(reduced(func(x *tensor, axes ...int) *tensor { return truth(x).All(axes...) }), exact),
	"any":  one(reduced(func(x *tensor, axes ...int) *tensor { return truth(x).Any(axes...) }), exact),
	"count_nonzero": one(reduced(func(x *tensor, axes ...int) *tensor {
		return truth(x).Cast(sinter.I64).Sum(axes...)
	}), exact),
	"argmax":                 one(reduced((*tensor).ArgMax), exact),
	"argmin":                 one(reduced((*tensor).ArgMin), exact),
	"max.reduction_no_dim":   unary(func(x *tensor) *tensor { return x.Max().Squeeze() }, exactButZeros),
	"min.reduction_no_dim":   unary(func(x *tensor) *tensor { return x.Min().Squeeze() }, exactButZeros),
	"max.reduction_with_dim": {make: with((*tensor).MaxWith), tol: exactButZeros},
	"min.reduction_with_dim": {make: with((*tensor).MinWith), tol: exactButZeros},
	"aminmax": {make: func(c *Call) tensors {
		return tensors{reduced((*tensor).Min)(c), reduced((*tensor).Max)(c)}
	}, tol: exactButZeros},
	"logsumexp":          one(reduced((*tensor).LogSumExp), tolerance{ulps: 16, magnitude: greatest}),
	"norm":               one(norm, within(16)),
	"linalg.vector_norm": one(norm, within(16)),
	"var":                {make: func(c *Call) tensors { return tensors{spread((*tensor).Variance)(c)} }, tolFor: spreads},
	"std":                {make: func(c *Call) tensors { return tensors{spread((*tensor).Std)(c)} }, tolFor: spreads},
	"var_mean":           {make: func(c *Call) tensors { return tensors{spread((*tensor).Variance)(c), reduced((*tensor).Mean)(c)} }, tolFor: spreads},
	"std_mean":           {make: func(c *Call) tensors { return tensors{spread((*tensor).Std)(c), reduced((*tensor).Mean)(c)} }, tolFor: spreads},
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

// widened makes the call of a reduction in the dtype PyTorch returns: i64 for
// integers, or that asked for.
func widened(f func(x *tensor, axes ...int) *tensor) func(c *Call) *tensor {
	return func(c *Call) *tensor {
		return reduced(func(x *tensor, axes ...int) *tensor { return f(x.Cast(c.outDType()), axes...) })(c)
	}
}

// with makes the call of a reduction with a value and an index.
func with(f func(x *tensor, axes ...int) (value, position *tensor)) func(c *Call) tensors {
	return func(c *Call) tensors {
		var index *tensor
		value := reduced(func(x *tensor, axes ...int) (v *tensor) {
			v, index = f(x, axes...)
			return v
		})(c)
		return tensors{value, index.Reshape(c.outShape()...)}
	}
}

// norm is a vector norm: of all elements, or over dim.
func norm(c *Call) *tensor {
	p := 2.0
	if v, ok := c.arg(1, "ord"); ok && v != "fro" {
		p = c.number(1, "ord", 2)
	}
	x, axes := c.x(), c.ints(2, "dim")
	if x.Rank() == 0 {
		axes = nil
	}
	y := x.Norm(p, axes...)
	if c.flag(3, "keepdim", false) {
		return y
	}
	return dropped(y, axes)
}

// spread is var, std and their relatives: the divisor is n less correction, or
// with unbiased n−1 or n.
func spread(f func(x *tensor, correction int, axes ...int) *tensor) func(c *Call) *tensor {
	return func(c *Call) *tensor {
		correction := 1
		if c.Variant == "unbiased" {
			if !c.flag(1, "unbiased", true) {
				correction = 0
			}
			return f(c.x(), correction).Reshape()
		}
		if !c.flag(-1, "unbiased", true) {
			correction = 0
		}
		if !oddCorrection(c.Case) {
			correction = c.integer(-1, "correction", correction)
			return reduced(func(x *tensor, axes ...int) *tensor { return f(x, correction, axes...) })(c)
		}
		return reduced(func(x *tensor, axes ...int) *tensor {
			// By n, then set right.
			y := f(x, 0, axes...)
			n := float64(x.Shape().NumElements() / y.Shape().NumElements())
			factor := n / (n - c.number(-1, "correction", 1))
			if strings.HasPrefix(c.Op, "std") {
				factor = math.Sqrt(factor)
			}
			return y.MulScalar(factor)
		})(c)
	}
}

// oddCorrection reports whether the correction is no whole number from 0, as
// those of this library are.
func oddCorrection(c *Case) bool {
	switch v := c.Kwargs["correction"].(type) {
	case int:
		return v < 0
	case float64:
		return true
	}
	return false
}

// spreads is the tolerance of a variance or deviation, which may have to be
// set right, and of the mean after it.
func spreads(c *Case, out int) tolerance {
	switch {
	case out > 0:
		return sums(greatest)
	case oddCorrection(c):
		return tolerance{ulps: 16, steps: 4}
	}
	return within(16)
}

package oracle

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// A curve is an activation, or the derivative of one, of x with the operation's
// parameter, in wide numbers. Derivatives that are a sum of terms with a root
// also return the sum of the terms' magnitudes, which bounds what cancels, and
// count a term as often as the rounding of what an exponential is taken of
// shows in it.
type curve func(x, p wide) (y, size wide)

// plain makes a curve whose terms do not cancel.
func plain(f func(x wide) wide) curve {
	return func(x, _ wide) (wide, wide) { return f(x), exact(0) }
}

var (
	seluAlpha = decimal("1.6732632423543772848170429916717")
	seluScale = decimal("1.0507009873554804934193349852946")
	sixth     = exact(1).div(exact(6))
	rootTwo   = exact(2).sqrt()
	rootTwoPi = widePi.scale(1).sqrt()
	geluRoot  = exact(2).div(widePi).sqrt() // √(2/π)
	geluCubic = exact(0.044715)
)

// activations are the kinds of one float operand that are composites: one
// rounding at the end.
var activations = map[ir.Kind]curve{
	ir.Sigmoid:  plain(wideSigmoid),
	ir.Silu:     plain(func(x wide) wide { return x.mul(wideSigmoid(x)) }),
	ir.Softplus: plain(wideSoftplus),
	ir.Gelu:     plain(func(x wide) wide { return x.mul(normalCDF(x)) }),
	ir.GeluTanh: plain(func(x wide) wide { return x.mul(wideSigmoid(geluAngle(x).scale(1))) }),
	ir.Mish:     plain(func(x wide) wide { return x.mul(wideTanh(wideSoftplus(x))) }),
	ir.Softsign: plain(func(x wide) wide { return x.div(x.abs().plus(1)) }),
	ir.LogSigmoid: plain(func(x wide) wide {
		return wideSoftplus(x.neg()).neg()
	}),
	ir.HardSigmoid: plain(hardSigmoid),
	ir.HardSwish:   plain(func(x wide) wide { return x.mul(hardSigmoid(x)) }),
	ir.Elu: func(x, alpha wide) (wide, wide) {
		if x.hi > 0 {
			return x, exact(0)
		}
		return alpha.mul(wideExpm1(x)), exact(0)
	},
	ir.Selu: func(x, _ wide) (wide, wide) {
		if x.hi > 0 {
			return seluScale.mul(x), exact(0)
		}
		return seluScale.mul(seluAlpha).mul(wideExpm1(x)), exact(0)
	},
	ir.Celu: func(x, alpha wide) (wide, wide) {
		z := x.div(alpha)
		below := alpha.mul(wideExpm1(z))
		positive, negative := maximum(x.hi, 0), below
		if !(below.hi < 0) {
			negative = exact(minimum(below.hi, 0))
		}
		size := exact(0)
		if z.hi > 0 && negative.hi != 0 {
			size = negative.abs().mul(z) // alpha is negative: the rounding of z counts
		}
		return exact(positive).add(negative), size
	},
}

// derivatives are of the activations; SigmoidBackward and TanhBackward take the
// output instead of the operand. At a kink they take the side PyTorch takes,
// and what PyTorch makes of a NaN.
var derivatives = map[ir.Kind]curve{
	ir.EluBackward: func(x, alpha wide) (wide, wide) {
		if x.hi <= 0 {
			return alpha.mul(wideExp(x)), exact(0)
		}
		return exact(1), exact(0)
	},
	ir.SeluBackward: func(x, _ wide) (wide, wide) {
		if x.hi <= 0 {
			return seluScale.mul(seluAlpha).mul(wideExp(x)), exact(0)
		}
		return seluScale, exact(0)
	},
	ir.CeluBackward: func(x, alpha wide) (wide, wide) {
		if x.hi <= 0 {
			// The rounding of x/alpha counts |x/alpha| times.
			e := wideExp(x.div(alpha))
			return e, e.mul(x.div(alpha).abs()).scale(-2)
		}
		return exact(1), exact(0)
	},
	ir.SigmoidBackward:    plain(func(y wide) wide { return y.mul(exact(1).sub(y)) }),
	ir.TanhBackward:       plain(func(y wide) wide { return exact(1).sub(y).mul(y.plus(1)) }),
	ir.LogSigmoidBackward: plain(func(x wide) wide { return wideSigmoid(x.neg()) }),
	ir.SoftplusBackward:   plain(wideSigmoid),
	ir.SoftsignBackward: plain(func(x wide) wide {
		d := x.abs().plus(1)
		return exact(1).div(d).div(d)
	}),
	ir.HardSigmoidBackward: plain(func(x wide) wide {
		if x.hi > -3 && x.hi < 3 {
			return sixth
		}
		return exact(0)
	}),
	ir.HardSwishBackward: func(x, _ wide) (wide, wide) {
		switch {
		case x.hi <= -3:
			return exact(0), exact(0)
		case x.hi < 3:
			return sum(x.div(exact(3)), exact(0.5))
		}
		return exact(1), exact(0)
	},
	// σ + x·σ·(1−σ)
	ir.SiluBackward: func(x, _ wide) (wide, wide) {
		s := wideSigmoid(x)
		return sum(s, x.mul(s).mul(wideSigmoid(x.neg())))
	},
	// t + x·σ·(1−t²), t = tanh(softplus x)
	ir.MishBackward: func(x, _ wide) (wide, wide) {
		t := wideTanh(wideSoftplus(x))
		return sum(t, x.mul(wideSigmoid(x)).mul(exact(1).sub(t)).mul(t.plus(1)))
	},
	// Φ + x·φ
	ir.GeluBackward: func(x, _ wide) (wide, wide) {
		half := x.mul(x).scale(-1)
		density := wideExp(half.neg()).div(rootTwoPi)
		y, size := sum(normalCDF(x), x.mul(density))
		return y, size.mul(half.plus(1))
	},
	// With s = σ(2u) = ½(1+tanh u): s + x·2·s·(1−s)·u′
	ir.GeluTanhBackward: func(x, _ wide) (wide, wide) {
		twice := geluAngle(x).scale(1)
		s := wideSigmoid(twice)
		slope := geluRoot.mul(x.mul(x).mul(geluCubic).times(3).plus(1))
		steep := s.mul(wideSigmoid(twice.neg())).scale(1)
		if steep.hi == 0 {
			return s, exact(0) // beside it the slope, even an infinite one, is nothing
		}
		y, size := sum(s, x.mul(steep).mul(slope))
		return y, size.mul(twice.abs().plus(1))
	},
}

// sum adds two terms and their magnitudes.
func sum(a, b wide) (y, size wide) { return a.add(b), a.abs().add(b.abs()) }

// normalCDF is Φ(x) = ½·erfc(−x/√2).
func normalCDF(x wide) wide { return wideErfc(x.div(rootTwo).neg()).scale(-1) }

// geluAngle is √(2/π)·(x + 0.044715·x³).
func geluAngle(x wide) wide {
	return geluRoot.mul(x.add(geluCubic.mul(x.mul(x).mul(x))))
}

// hardSigmoid is min(max(x+3, 0), 6)/6.
func hardSigmoid(x wide) wide {
	switch {
	case x.isNaN():
		return x
	case x.hi <= -3:
		return exact(0)
	case x.hi >= 3:
		return exact(1)
	}
	return x.plus(3).div(exact(6))
}

// parameter is the activation's scalar, if it has one.
func (c *call) parameter() wide {
	if len(c.op.Scalars) == 0 {
		return exact(0)
	}
	return exact(c.float(0))
}

func evalActivation(c *call) (Tensor, error) {
	x := c.x[0]
	out := New(x.DType, x.Shape)
	f := formats[c.compute()]
	c.abs = make([]float64, x.Len())
	for i, v := range x.F {
		y, size := activations[c.op.Kind](exact(v), c.parameter())
		out.F[i] = roundWide(out.DType, y)
		switch c.op.Kind {
		case ir.Mish, ir.Gelu, ir.GeluTanh, ir.Silu: // a factor may be subnormal before it meets the operand
			if scale := max(1, math.Abs(v)); v != 0 && math.Abs(y.hi) < math.Ldexp(scale, f.minExp) {
				c.abs[i] = 2 * f.least() * scale
			}
		case ir.Celu:
			c.abs[i] = 8 * f.unit() * size.hi
			if z := v / c.float(0); v != 0 && math.Abs(z) < math.Ldexp(1, f.minExp) {
				c.abs[i] = 2 * f.least() * math.Abs(c.float(0)) // a subnormal quotient
			}
			if size.hi != 0 && math.Abs(y.hi) > f.max*math.Abs(c.float(0)) {
				c.abs[i] = math.Inf(1) // the exponential overflows
			}
		}
	}
	return out, nil
}

// evalDerivative is the derivative at the operand times the gradient.
func evalDerivative(c *call) (Tensor, error) {
	x, g, err := broadcast2(c.x[0], c.x[1])
	if err != nil {
		return Tensor{}, err
	}
	out := New(x.DType, x.Shape)
	c.abs, c.any = make([]float64, x.Len()), make([]bool, x.Len())
	f := formats[c.compute()]
	for i, v := range x.F {
		y, size := derivatives[c.op.Kind](exact(v), c.parameter())
		if c.selectsZero(v) {
			continue // whatever the gradient
		}
		out.F[i] = roundWide(out.DType, y.mul(exact(g.F[i])))
		gradient := math.Abs(g.F[i])
		if math.IsInf(gradient, 1) {
			// A derivative that underflows makes it NaN.
			c.any[i] = math.Abs(y.hi) < 4*f.least()*math.Max(1, math.Abs(v)) || math.IsInf(v, 0)
			continue
		}
		// Terms that cancel, each made of functions within 4 ulps (8 units), and a
		// derivative that is subnormal before it meets the gradient.
		factor := math.Max(1, math.Abs(v))
		if sumOfTerms[c.op.Kind] {
			factor *= 1 + v*v // of a slope
		}
		c.abs[i] = 24*f.unit()*size.hi*gradient + 2*f.least()*math.Max(1, gradient)*factor
		// A product may overflow before the small factor, and so may the
		// derivative; next to an infinite operand stands 0·∞.
		c.any[i] = !c.parameter().isFinite() || gradient*math.Max(1, math.Abs(c.parameter().hi)) > f.max/8 && math.Abs(y.hi) < 1+math.Abs(c.parameter().hi) || math.Abs(y.hi) > f.max && y.isFinite() || math.IsInf(v, 0) && sumOfTerms[c.op.Kind]
	}
	return out, nil
}

// sumOfTerms are the derivatives that are a sum of terms x·f(x) and others.
var sumOfTerms = map[ir.Kind]bool{ir.SiluBackward: true, ir.MishBackward: true, ir.GeluBackward: true, ir.GeluTanhBackward: true}

// selectsZero reports whether the kind selects 0 at x, instead of multiplying
// the gradient by it.
func (c *call) selectsZero(x float64) bool {
	switch c.op.Kind {
	case ir.HardSigmoidBackward:
		return !(x > -3 && x < 3)
	case ir.HardSwishBackward:
		return x <= -3
	}
	return false
}

// evalLeaky is x where x ≥ 0, else slope·x, the slope being a scalar or a
// tensor.
func evalLeaky(c *call) (Tensor, error) {
	x := c.x[0]
	slope := x
	var err error
	if c.op.Kind == ir.PRelu {
		x, slope, err = broadcast2(x, c.x[1])
	} else {
		slope = c.scalar(0, x.DType).expand(x.Shape)
	}
	if err != nil {
		return Tensor{}, err
	}
	out := New(x.DType, x.Shape)
	for i, v := range x.F {
		if !(v >= 0) {
			v = float64(slope.F[i] * v)
		}
		out.F[i] = step(x.DType, v)
	}
	return out, nil
}

// evalLeakyBackward is the gradient where x > 0, else slope·gradient, and for
// Relu 0 where x ≤ 0.
func evalLeakyBackward(c *call) (Tensor, error) {
	x, g, err := broadcast2(c.x[0], c.x[1])
	if err != nil {
		return Tensor{}, err
	}
	out := New(x.DType, x.Shape)
	for i, v := range x.F {
		y := g.F[i]
		switch {
		case c.op.Kind == ir.ReluBackward && v <= 0:
			y = 0
		case c.op.Kind == ir.LeakyReluBackward && !(v > 0):
			y = float64(y * c.float(0))
		}
		out.F[i] = step(x.DType, y)
	}
	return out, nil
}

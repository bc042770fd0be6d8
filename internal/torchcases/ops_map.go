package torchcases

import "github.com/sinter-ml/sinter"

// mapOps are the element-wise operations but activations.
var mapOps = map[string]adapter{
	"acos":     unary((*tensor).Acos, within(2)),
	"acosh":    unary((*tensor).Acosh, within(4)),
	"asin":     unary((*tensor).Asin, within(2)),
	"asinh":    unary((*tensor).Asinh, within(4)),
	"atan":     unary((*tensor).Atan, within(2)),
	"atanh":    unary((*tensor).Atanh, within(4)),
	"cosh":     unary((*tensor).Cosh, within(2)),
	"digamma":  unary((*tensor).Digamma, nearRoots),
	"erfc":     unary((*tensor).Erfc, within(4)),
	"erfinv":   unary((*tensor).Erfinv, within(4)),
	"exp2":     unary((*tensor).Exp2, within(1)),
	"frac":     unary((*tensor).Frac, exact),
	"isfinite": unary((*tensor).IsFinite, exact),
	"isinf":    unary((*tensor).IsInf, exact),
	"lgamma":   unary((*tensor).Lgamma, nearRoots),
	"log10":    unary((*tensor).Log10, within(1)),
	"log2":     unary((*tensor).Log2, within(1)),
	"sinh":     unary((*tensor).Sinh, within(2)),
	"tan":      unary((*tensor).Tan, within(2)),
	"bitwise_not": unary(func(x *tensor) *tensor {
		if x.DType() == sinter.Bool {
			return x.Not()
		}
		return x.BitwiseNot()
	}, exact),
	"abs":         unary((*tensor).Abs, exact),
	"ceil":        unary((*tensor).Ceil, exact),
	"clone":       unary(func(x *tensor) *tensor { return x }, exact),
	"cos":         unary((*tensor).Cos, within(2)),
	"erf":         unary((*tensor).Erf, within(2)),
	"exp":         unary((*tensor).Exp, within(1)),
	"expm1":       unary((*tensor).Expm1, within(2)),
	"floor":       unary((*tensor).Floor, exact),
	"isnan":       unary((*tensor).IsNaN, exact),
	"log":         unary((*tensor).Log, within(1)),
	"log1p":       unary((*tensor).Log1p, within(2)),
	"logical_not": unary(func(x *tensor) *tensor { return truth(x).Not() }, exact),
	"neg":         unary((*tensor).Neg, exact),
	"reciprocal":  unary((*tensor).Recip, exact),
	"round":       unary((*tensor).Round, exact),
	"rsqrt":       unary((*tensor).Rsqrt, within(2)),
	"sign":        unary((*tensor).Sign, exact),
	"sin":         unary((*tensor).Sin, within(2)),
	"sqrt":        unary((*tensor).Sqrt, exact),
	"square":      unary((*tensor).Square, exact),
	"tanh":        unary((*tensor).Tanh, within(2)),
	"trunc":       unary((*tensor).Trunc, exact),

	"add":   scaled((*tensor).Add),
	"sub":   scaled((*tensor).Sub),
	"mul":   infix((*tensor).Mul, exact),
	"pow":   infix((*tensor).Pow, within(4)),
	"atan2": infix((*tensor).Atan2, within(4)),
	"hypot": infix((*tensor).Hypot, within(4)),
	"copysign": one(func(c *Call) *tensor {
		if _, ok := c.Args[1].(TensorArg); ok {
			return c.x().CopySign(c.y())
		}
		return c.x().CopySignScalar(c.number(1, "other", 0))
	}, exact),
	"floor_divide":        infix((*tensor).FloorDiv, exact),
	"fmod":                infix((*tensor).Fmod, exact),
	"remainder":           infix((*tensor).Remainder, exact),
	"bitwise_and":         infix(logic((*tensor).And, (*tensor).BitwiseAnd), exact),
	"bitwise_or":          infix(logic((*tensor).Or, (*tensor).BitwiseOr), exact),
	"bitwise_xor":         infix(logic((*tensor).Xor, (*tensor).BitwiseXor), exact),
	"bitwise_left_shift":  infix((*tensor).ShiftLeft, exact),
	"bitwise_right_shift": infix((*tensor).ShiftRight, exact),

	"maximum": infix((*tensor).Maximum, exact),
	"minimum": infix((*tensor).Minimum, exact),

	"div.no_rounding_mode": infix((*tensor).Div, exact),
	"div.floor_rounding":   infix((*tensor).FloorDiv, exact),
	"div.trunc_rounding":   infix(truncated, exact),
	"max.binary":           infix((*tensor).Maximum, exact),
	"min.binary":           infix((*tensor).Minimum, exact),

	"eq":          infix((*tensor).Equal, exact),
	"ne":          infix((*tensor).NotEqual, exact),
	"lt":          infix((*tensor).Less, exact),
	"le":          infix((*tensor).LessEqual, exact),
	"gt":          infix((*tensor).Greater, exact),
	"ge":          infix((*tensor).GreaterEqual, exact),
	"logical_and": infix(func(x, y *tensor) *tensor { return truth(x).And(truth(y)) }, exact),
	"logical_or":  infix(func(x, y *tensor) *tensor { return truth(x).Or(truth(y)) }, exact),
	"logical_xor": infix(func(x, y *tensor) *tensor { return truth(x).Xor(truth(y)) }, exact),

	"addcdiv": one(func(c *Call) *tensor {
		return c.x().Add(scale(c.y(), c.number(-1, "value", 1)).Div(c.tensor(2, "tensor2")))
	}, rounds(3, products)),
	"addcmul": one(func(c *Call) *tensor {
		return c.x().Add(scale(c.y(), c.number(-1, "value", 1)).Mul(c.tensor(2, "tensor2")))
	}, rounds(3, products)),
	"lerp": lerp,
	"masked_fill": one(func(c *Call) *tensor {
		mask := c.tensor(1, "mask")
		if v, ok := c.Args[2].(TensorArg); ok {
			return sinter.Where(mask, c.put("value", v), c.x())
		}
		x, value := c.x(), c.number(2, "value", 0)
		if x.DType() == sinter.Bool && value != 0 {
			value = 1
		}
		return x.MaskFill(mask, value)
	}, exact),
	"where": one(func(c *Call) *tensor {
		return sinter.Where(c.tensor(1, "condition"), c.x(), c.tensor(2, "other"))
	}, exact),
	"clamp": one(func(c *Call) *tensor {
		x := c.x()
		if lo := c.tensor(1, "min"); lo != nil {
			x = x.Maximum(lo)
		}
		if hi := c.tensor(2, "max"); hi != nil {
			x = x.Minimum(hi)
		}
		return x
	}, exact),
	"clamp_max": infix((*tensor).Minimum, exact),
	"clamp_min": infix((*tensor).Maximum, exact),
}

// nearRoots is the tolerance of functions that cancel near their roots.
var nearRoots = tolerance{ulps: 4, abs: 1e-6}

// logic is one operation on bool and another on integers.
func logic(truth, bits func(t, u *tensor) *tensor) func(t, u *tensor) *tensor {
	return func(t, u *tensor) *tensor {
		if t.DType() == sinter.Bool {
			return truth(t, u)
		}
		return bits(t, u)
	}
}

// truth is PyTorch's x ≠ 0 of any dtype.
func truth(x *tensor) *tensor { return x.Cast(sinter.Bool) }

// truncated is division rounded towards zero.
func truncated(x, y *tensor) *tensor {
	if z := x.Div(y); z.DType().IsFloat() {
		return z.Trunc()
	} else {
		return z
	}
}

// scale is x times a number, x itself if that is 1.
func scale(x *tensor, by float64) *tensor {
	if by == 1 {
		return x
	}
	return x.MulScalar(by)
}

// scaled is an adapter of calls with the second operand multiplied by alpha.
func scaled(f func(t, u *tensor) *tensor) adapter {
	a := one(func(c *Call) *tensor { return f(c.x(), scale(c.y(), c.number(-1, "alpha", 1))) }, exact)
	a.tolFor = func(c *Case, _ int) tolerance {
		if _, ok := c.Kwargs["alpha"]; ok {
			return rounds(4, greatest)
		}
		return exact
	}
	return a
}

// lerp takes its weight from a tensor or a number. In half types PyTorch rounds
// once.
var lerp = adapter{
	make: func(c *Call) tensors {
		if _, ok := c.Args[2].(TensorArg); ok {
			return tensors{c.x().LerpTensor(c.y(), c.tensor(2, "weight"))}
		}
		return tensors{c.x().Lerp(c.y(), c.number(2, "weight", 0))}
	},
	tolFor: func(c *Case, _ int) tolerance {
		switch {
		case c.DType == "f64" || c.DType == "f32":
			return exact
		case match("*:edge*", c.Name): // operands from 0 to the greatest
			return rounds(4, nil)
		}
		return rounds(4, greatest)
	},
}

// products bounds what is computed on the way to input + value·t1·t2, or
// input + value·t1/t2 for quotients up to the square of the greatest element.
func products(c *Case) float64 {
	m := greatest(c)
	return m + max(1, m)*m
}

// castOps are the methods of PyTorch's tensors that convert.
var castOps = map[string]adapter{
	"bfloat16": one(converted, exact),
	"bool":     one(converted, exact),
	"byte":     one(converted, exact),
	"char":     one(converted, exact),
	"double":   one(converted, exact),
	"float":    one(converted, exact),
	"half":     one(converted, exact),
	"int":      one(converted, exact),
	"long":     one(converted, exact),
	"short":    one(converted, exact),
}

func converted(c *Call) *tensor { return c.x().Cast(c.outDType()) }

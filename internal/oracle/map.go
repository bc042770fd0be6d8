package oracle

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// evalUnary evaluates the kinds of one operand that are no activation.
func evalUnary(c *call) (Tensor, error) {
	x, kind := c.x[0], c.op.Kind
	if is, ok := testsOfFloats[kind]; ok {
		out := New(ir.Bool, x.Shape)
		for i, v := range x.F {
			out.B[i] = is(v)
		}
		return out, nil
	}
	out := New(x.DType, x.Shape)
	for i, v := range x.F {
		if f, ok := exactUnary[kind]; ok {
			out.F[i] = step(x.DType, f(v))
		} else {
			out.F[i] = roundWide(x.DType, functions[kind](exact(v)))
		}
	}
	for i, v := range x.I {
		out.I[i] = x.DType.Wrap(unaryInt(kind, x.DType, v))
	}
	for i, v := range x.B {
		out.B[i] = !v
	}
	if kind == ir.Lgamma || kind == ir.Digamma {
		c.abs = make([]float64, x.Len())
		for i := range c.abs {
			c.abs[i] = nearRoots * formats[x.DType.Compute()].unit()
		}
	}
	return out, nil
}

// nearRoots is the absolute error, in units of roundoff, of the logarithm of
// the gamma function and its derivative near their roots: 10⁻⁶ in float32.
const nearRoots = 1e-6 * (1 << 24)

// binaryFloat are the kinds of two floats with an exactly rounded result.
var binaryFloat = map[ir.Kind]func(a, b float64) float64{
	ir.Add:       func(a, b float64) float64 { return a + b },
	ir.Sub:       func(a, b float64) float64 { return a - b },
	ir.Mul:       func(a, b float64) float64 { return float64(a * b) },
	ir.Div:       func(a, b float64) float64 { return a / b },
	ir.Fmod:      fmod,
	ir.Remainder: remainder,
	ir.CopySign:  math.Copysign,
	ir.Maximum:   maximum,
	ir.Minimum:   minimum,
}

// binaryFunctions are the kinds of two floats that are evaluated in wide
// numbers.
var binaryFunctions = map[ir.Kind]func(a, b float64) wide{
	ir.Pow:      pow,
	ir.Atan2:    wideAtan2,
	ir.Hypot:    wideHypot,
	ir.FloorDiv: floorDiv,
}

var binaryBool = map[ir.Kind]func(a, b bool) bool{
	ir.And:      func(a, b bool) bool { return a && b },
	ir.Or:       func(a, b bool) bool { return a || b },
	ir.Xor:      func(a, b bool) bool { return a != b },
	ir.Equal:    func(a, b bool) bool { return a == b },
	ir.NotEqual: func(a, b bool) bool { return a != b },
}

// comparisons answer from whether a is less than, equal to or greater than b;
// next to a NaN it is none of them.
var comparisons = map[ir.Kind]func(less, equal, greater bool) bool{
	ir.Equal:        func(_, equal, _ bool) bool { return equal },
	ir.NotEqual:     func(_, equal, _ bool) bool { return !equal },
	ir.Less:         func(less, _, _ bool) bool { return less },
	ir.LessEqual:    func(less, equal, _ bool) bool { return less || equal },
	ir.Greater:      func(_, _, greater bool) bool { return greater },
	ir.GreaterEqual: func(_, equal, greater bool) bool { return greater || equal },
}

// evalBinary evaluates the kinds of two operands, the second being a tensor or
// a scalar.
func evalBinary(c *call) (Tensor, error) {
	kind, a := c.op.Kind, c.x[0]
	var b Tensor
	if len(c.op.Scalars) > 0 {
		b = c.scalar(0, a.DType)
	} else {
		b = c.x[1]
	}
	a, b, err := broadcast2(a, b)
	if err != nil {
		return Tensor{}, err
	}
	if compare, ok := comparisons[kind]; ok && a.DType != ir.Bool {
		out := New(ir.Bool, a.Shape)
		for i := range a.F {
			x, y := a.F[i], b.F[i]
			out.B[i] = compare(x < y, x == y, x > y)
		}
		for i := range a.I {
			x, y := a.I[i], b.I[i]
			out.B[i] = compare(lessInt(a.DType, x, y), x == y, lessInt(a.DType, y, x))
		}
		return out, nil
	}
	out := New(a.DType, a.Shape)
	for i := range out.F {
		x, y := a.F[i], b.F[i]
		if f, ok := binaryFloat[kind]; ok {
			out.F[i] = step(out.DType, f(x, y))
		} else if kind == ir.FloorDiv {
			out.F[i] = stepWide(out.DType, floorDiv(x, y))
		} else {
			out.F[i] = roundWide(out.DType, binaryFunctions[kind](x, y))
		}
	}
	for i := range out.I {
		out.I[i] = out.DType.Wrap(binaryInt[kind](a.DType, a.I[i], b.I[i]))
	}
	for i := range out.B {
		out.B[i] = binaryBool[kind](a.B[i], b.B[i])
	}
	c.loosen(out, b)
	return out, nil
}

// loosen allows what the rules leave open of two kinds: the last place of a
// quotient too large to be counted exactly, and the sign of a NaN.
func (c *call) loosen(out, b Tensor) {
	switch {
	case c.op.Kind == ir.FloorDiv && out.F != nil:
		f := formats[out.DType]
		c.abs = make([]float64, out.Len())
		for i, q := range out.F {
			if math.Abs(q) >= math.Ldexp(1, formats[out.DType.Compute()].precision) {
				c.abs[i] = f.ulp(q)
			}
		}
	case c.op.Kind == ir.CopySign:
		c.any = make([]bool, out.Len())
		for i, v := range b.F {
			c.any[i] = v != v
		}
	}
}

// evalWhere picks a where the mask is true, else b.
func evalWhere(c *call) (Tensor, error) {
	t, err := broadcast(c.x)
	if err != nil {
		return Tensor{}, err
	}
	out := New(t[1].DType, t[1].Shape)
	for i := range out.Len() {
		if t[0].B[i] {
			out.setFrom(i, t[1], i)
		} else {
			out.setFrom(i, t[2], i)
		}
	}
	return out, nil
}

// evalClamp is min(max(x, lo), hi): hi where lo > hi.
func evalClamp(c *call) (Tensor, error) {
	x := c.x[0]
	out := New(x.DType, x.Shape)
	for i, v := range x.F {
		out.F[i] = round(x.DType, minimum(maximum(v, c.float(0)), c.float(1)))
	}
	for i, v := range x.I {
		v = binaryInt[ir.Maximum](x.DType, v, c.int(0))
		out.I[i] = binaryInt[ir.Minimum](x.DType, v, c.int(1))
	}
	return out, nil
}

// evalMulAdd is a·b + c, rounded once in the compute dtype and from there to
// the dtype.
func evalMulAdd(c *call) (Tensor, error) {
	t, err := broadcast(c.x)
	if err != nil {
		return Tensor{}, err
	}
	out := New(t[0].DType, t[0].Shape)
	for i := range out.F {
		out.F[i] = round(out.DType, fma(out.DType.Compute(), t[0].F[i], t[1].F[i], t[2].F[i]))
	}
	for i := range out.I {
		out.I[i] = out.DType.Wrap(t[0].I[i]*t[1].I[i] + t[2].I[i])
	}
	return out, nil
}

// evalFull fills a shape with one value.
func evalFull(c *call) (Tensor, error) {
	dtype := c.op.Attrs.DType
	return cast(c.scalar(0, dtype.Compute()), dtype, true).expand(c.op.Attrs.Shape), nil
}

// evalArange is start + i·step: in float64 and rounded once for floats,
// wrapping for integers.
func evalArange(c *call) (Tensor, error) {
	out := New(c.op.Attrs.DType, c.op.Attrs.Shape)
	for i := range out.F {
		away := float64(float64(i) * c.float(1))
		out.F[i] = round(out.DType, c.float(0)+away)
	}
	for i := range out.I {
		out.I[i] = out.DType.Wrap(c.int(0) + int64(i)*c.int(1))
	}
	return out, nil
}

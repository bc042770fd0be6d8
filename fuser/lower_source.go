package fuser

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// sourceRecipes lowers what makes elements from nothing: creation and random
// numbers.
func sourceRecipes() map[ir.Kind]recipe {
	return map[ir.Kind]recipe{
		ir.Full:      lowerFull,
		ir.Arange:    lowerArange,
		ir.Uniform:   lowerUniform,
		ir.Normal:    lowerNormal,
		ir.Bernoulli: lowerBernoulli,
		ir.RandInt:   lowerRandInt,
	}
}

func lowerFull(c *context) (codegen.Value, error) {
	v, err := c.scalar(0)
	if err != nil {
		return 0, err
	}
	return c.done(v), nil
}

// lowerArange leaves start + i·step, in f64 or i64 and rounded once, to the
// engine: To says where to.
func lowerArange(c *context) (codegen.Value, error) {
	axis, err := c.axis(0)
	if err != nil {
		return 0, err
	}
	raw := ir.F64
	if c.outDType().IsInt() {
		raw = ir.I64
	}
	return c.emit(codegen.Instr{
		Op: codegen.OpArange, Type: c.outDType().Compute(), To: c.outDType(), Level: c.at, Index: axis, Index2: c.paramPair(0, raw),
	}), nil
}

// paramPair adds scalars i and i+1 as neighbouring parameters: of an operation
// without operands none comes from a tensor.
func (c *context) paramPair(i int, t ir.DType) int {
	n := c.param(Param{Op: c.pos, Scalar: i}, t)
	c.param(Param{Op: c.pos, Scalar: i + 1}, t)
	return n
}

// random emits an instruction that draws by row-major position.
func (c *context) random(op codegen.Op, t ir.DType) (codegen.Value, error) {
	p := c.p
	if c.template == codegen.Contraction || c.template == codegen.Attention {
		p = p.within(c.outer) // elements exist at outer points
	}
	if !p.rowMajor() || len(squeezed(p[len(p)-1].dst)) != p[len(p)-1].covered() {
		return 0, &Refusal{RuleRandomPosition, c.op.Kind.String()}
	}
	return c.emit(codegen.Instr{Op: op, Type: t, Index: c.paramPair(0, ir.I64)}), nil
}

// unitUniform returns (w>>8)·2⁻²⁴ as f32 or f64, in [0, 1): both steps are
// exact.
func (c *context) unitUniform(t ir.DType) (codegen.Value, error) {
	w, err := c.random(codegen.OpPhilox, ir.I64)
	if err != nil {
		return 0, err
	}
	top := c.cast(c.at, c.fn(ir.SDiv, w, c.i64(1<<8)), ir.I64, t)
	return c.fn(ir.SMul, top, c.constant(c.at, t, ir.FloatScalar(t, 1.0/(1<<24)).Bits)), nil
}

// lowerUniform is low + u·(high−low), each step rounded.
func lowerUniform(c *context) (codegen.Value, error) {
	u, err := c.unitUniform(c.outDType().Compute())
	if err != nil {
		return 0, err
	}
	low, high, err := c.twoScalars(2)
	if err != nil {
		return 0, err
	}
	return c.done(c.fn(ir.SAdd, low, c.fn(ir.SMul, u, c.fn(ir.SSub, high, low)))), nil
}

func (c *context) twoScalars(i int) (a, b codegen.Value, err error) {
	if a, err = c.scalar(i); err != nil {
		return
	}
	b, err = c.scalar(i + 1)
	return
}

// lowerNormal is mean + z·deviation.
func lowerNormal(c *context) (codegen.Value, error) {
	z, err := c.random(codegen.OpNormal, c.outDType().Compute())
	if err != nil {
		return 0, err
	}
	mean, deviation, err := c.twoScalars(2)
	if err != nil {
		return 0, err
	}
	return c.done(c.fn(ir.SAdd, mean, c.fn(ir.SMul, z, deviation))), nil
}

func lowerBernoulli(c *context) (codegen.Value, error) {
	u, err := c.unitUniform(ir.F32)
	if err != nil {
		return 0, err
	}
	p, err := c.scalar(2)
	if err != nil {
		return 0, err
	}
	return c.fn(ir.SLess, u, p), nil
}

// lowerRandInt is low + (w·range)>>32. The product does not fit 64 bits, so
// the range is cut into h·2³² + m·2¹⁶ + n, and the shift taken in two parts:
//
//	(w·range)>>32 = w·h + (w·m + (w·n)>>16)>>16
//
// which is exact for every range below 2⁶³, all terms being positive.
func lowerRandInt(c *context) (codegen.Value, error) {
	w, err := c.random(codegen.OpPhilox, ir.I64)
	if err != nil {
		return 0, err
	}
	low, high, err := c.twoScalars(2)
	if err != nil {
		return 0, err
	}
	div := func(a codegen.Value, by int64) codegen.Value { return c.fn(ir.SDiv, a, c.i64(by)) }
	rest := func(a, quotient codegen.Value, by int64) codegen.Value {
		return c.fn(ir.SSub, a, c.fn(ir.SMul, quotient, c.i64(by)))
	}
	span := c.fn(ir.SSub, high, low)
	h := div(span, 1<<32)
	below := rest(span, h, 1<<32)
	m := div(below, 1<<16)
	n := rest(below, m, 1<<16)
	lower := div(c.fn(ir.SAdd, c.fn(ir.SMul, w, m), div(c.fn(ir.SMul, w, n), 1<<16)), 1<<16)
	v := c.fn(ir.SAdd, low, c.fn(ir.SAdd, c.fn(ir.SMul, w, h), lower))
	return c.cast(c.at, v, ir.I64, c.outDType()), nil
}

package fuser

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// reduceRecipes lowers reductions. The inner axes of the kernel are
// the reduced axes in their recorded order, whatever views the operand is read
// through, so the order of a sum is that of the operation.
func reduceRecipes() map[ir.Kind]recipe {
	return map[ir.Kind]recipe{
		ir.Sum:    reduceBy(codegen.RSum),
		ir.Prod:   reduceBy(codegen.RProd),
		ir.Max:    reduceBy(codegen.RMax),
		ir.Min:    reduceBy(codegen.RMin),
		ir.Any:    reduceBy(codegen.RAny),
		ir.All:    reduceBy(codegen.RAll),
		ir.ArgMax: argBy(codegen.RArgMax),
		ir.ArgMin: argBy(codegen.RArgMin),
		ir.Mean:   lowerMean,
		ir.Var:    lowerVar,
		ir.Std:    lowerStd,

		ir.LogSumExp: lowerLogSumExp,
		ir.L2Norm:    lowerL2Norm,
		ir.Norm:      lowerNorm,
	}
}

// reduceBy rounds a reduction in the compute dtype once.
func reduceBy(r codegen.ReduceOp) recipe {
	return func(c *context) (codegen.Value, error) {
		x, err := c.reduced()
		if err != nil {
			return 0, err
		}
		return c.rowContext().done(c.reduce(r, x)), nil
	}
}

// argBy reduces to a position; bools compare as 0 and 1.
func argBy(r codegen.ReduceOp) recipe {
	return func(c *context) (codegen.Value, error) {
		x, err := c.reduced()
		if err != nil {
			return 0, err
		}
		if c.kernel.Body[x].Type == ir.Bool {
			x = c.cast(codegen.Element, x, ir.Bool, ir.I64)
		}
		return c.emit(codegen.Instr{Op: codegen.OpReduce, Reduce: r, Type: ir.I64, Level: codegen.Row, Args: []codegen.Value{x}}), nil
	}
}

// lowerMean is Sum/n, rounded once.
func lowerMean(c *context) (codegen.Value, error) {
	x, err := c.reduced()
	if err != nil {
		return 0, err
	}
	return c.rowContext().done(c.meanOf(x)), nil
}

// lowerVar is the corrected two-pass variance with divisor max(n−c, 0).
func lowerVar(c *context) (codegen.Value, error) {
	v, err := c.sampleVariance()
	if err != nil {
		return 0, err
	}
	return c.rowContext().done(v), nil
}

func lowerStd(c *context) (codegen.Value, error) {
	v, err := c.sampleVariance()
	if err != nil {
		return 0, err
	}
	r := c.rowContext()
	return r.done(r.fn(ir.SSqrt, v)), nil
}

func (c *context) sampleVariance() (codegen.Value, error) {
	x, err := c.reduced()
	if err != nil {
		return 0, err
	}
	d, _ := c.deviations(x)
	r := c.rowContext()
	divisor := r.fn(ir.SMaximum, r.fn(ir.SSub, r.count(), r.num(float64(c.op.Attrs.N))), r.num(0))
	return c.variance(d, divisor), nil
}

// lowerLogSumExp is m + log Σe^(x−m), m being the maximum, or m if that is
// infinite, as it is of nothing.
func lowerLogSumExp(c *context) (codegen.Value, error) {
	x, err := c.reduced()
	if err != nil {
		return 0, err
	}
	r := c.rowContext()
	_, e := c.shifted(x)
	m := c.reduce(codegen.RMax, x)
	v := r.fn(ir.SAdd, m, r.fn(ir.SLog, c.reduce(codegen.RSum, e)))
	return r.done(r.fn(ir.SWhere, r.fn(ir.SIsInf, m), m, v)), nil
}

// lowerL2Norm is √Σx².
func lowerL2Norm(c *context) (codegen.Value, error) {
	x, err := c.reduced()
	if err != nil {
		return 0, err
	}
	r := c.rowContext()
	return r.done(r.fn(ir.SSqrt, c.reduce(codegen.RSum, c.apply(codegen.Element, ir.SMul, x, x)))), nil
}

// lowerNorm is (Σ|x|^p)^(1/p).
func lowerNorm(c *context) (codegen.Value, error) {
	x, err := c.reduced()
	if err != nil {
		return 0, err
	}
	r := c.rowContext()
	p, err := r.scalar(0)
	if err != nil {
		return 0, err
	}
	powers := c.apply(codegen.Element, ir.SPow, c.apply(codegen.Element, ir.SAbs, x), p)
	return r.done(r.fn(ir.SPow, c.reduce(codegen.RSum, powers), r.fn(ir.SRecip, p))), nil
}

// rowContext returns c for values that exist once a row.
func (c *context) rowContext() *context {
	r := *c
	r.at = codegen.Row
	return &r
}

// count returns the number of elements of a row, in the type the operation
// computes in.
func (c *context) count() codegen.Value {
	key := instrKey{op: codegen.OpCount, typ: c.outDType().Compute()}
	if v, ok := c.memo.instr(key); ok {
		return v
	}
	return c.memo.keep(key, c.emit(codegen.Instr{Op: codegen.OpCount, Type: key.typ, Level: codegen.Row}))
}

// reduce joins the elements of a row; the same elements are joined once.
func (c *context) reduce(r codegen.ReduceOp, x codegen.Value) codegen.Value {
	key := instrKey{op: codegen.OpReduce, n: int(r), bits: uint64(x)}
	if v, ok := c.memo.instr(key); ok {
		return v
	}
	if c.kernel.Body[x].Level == codegen.Row {
		x = c.raise(x)
	}
	return c.memo.keep(key, c.emit(codegen.Instr{Op: codegen.OpReduce, Reduce: r, Type: c.kernel.Body[x].Type, Level: codegen.Row, Args: []codegen.Value{x}}))
}

// reduced returns the elements of the operand of a reduction: the path of the
// output says where the kept axes lie, the reduced ones are the inner axes.
func (c *context) reduced() (codegen.Value, error) {
	t := c.op.Inputs[0].ID
	shape := c.g.shape(t)
	axes := c.op.Attrs.Axes
	if c.template != codegen.Rows || len(axes) != len(c.space)-c.outer {
		return 0, &Refusal{RuleAxes, fmt.Sprintf("%v over axes %v", c.op.Kind, axes)}
	}
	if !c.p.plain() {
		return 0, &Refusal{RuleLevel, fmt.Sprintf("the rows of %v are not the block's", c.op.Kind)}
	}
	walked := append([]int(nil), c.p.axes()...)
	for j, a := range axes {
		if walked[c.outer+j] >= 0 {
			return 0, &Refusal{RuleLevel, fmt.Sprintf("%v is used along the block's inner axes", c.op.Kind)}
		}
		if shape[a] != c.space[c.outer+j] {
			return 0, &Refusal{RuleAxes, fmt.Sprintf("%v over axes %v", c.op.Kind, axes)}
		}
		walked[c.outer+j] = a
	}
	return c.elementValue(t, walk(shape, c.space, walked))
}

// innerIs checks that the kernel's inner axes walk the given axes of the
// output, in order.
func (c *context) innerIs(axes []int) error {
	shape := c.g.shape(c.out)
	ok := c.p.plain() && len(axes) == len(c.space)-c.outer
	for j := 0; ok && j < len(axes); j++ {
		want := axes[j]
		if shape[want] == unit {
			want = -1
		}
		ok = c.p.axes()[c.outer+j] == want && shape[axes[j]] == c.space[c.outer+j]
	}
	if !ok {
		return &Refusal{RuleAxes, fmt.Sprintf("%v over axes %v", c.op.Kind, axes)}
	}
	return nil
}

// deviations returns d = x−m and e = Σd/n, with m = Σx/n. e is what rounding
// left of the mean.
func (c *context) deviations(x codegen.Value) (d, e codegen.Value) {
	d = c.apply(codegen.Element, ir.SSub, x, c.meanOf(x))
	return d, c.meanOf(d)
}

// variance is max((Σd² − (Σd)²/n)/divisor, 0); the maximum keeps NaN.
func (c *context) variance(d, divisor codegen.Value) codegen.Value {
	r := c.rowContext()
	sum := c.reduce(codegen.RSum, d)
	squares := c.reduce(codegen.RSum, c.apply(codegen.Element, ir.SMul, d, d))
	correction := r.fn(ir.SDiv, r.fn(ir.SMul, sum, sum), r.count())
	return r.fn(ir.SMaximum, r.fn(ir.SDiv, r.fn(ir.SSub, squares, correction), divisor), r.num(0))
}

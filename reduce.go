package sinter

import (
	"fmt"
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// over returns an operation over axes, all of them if there are none.
func over(kind ir.Kind, axes []int) ir.Operation {
	return ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: append([]int{}, axes...)}}
}

// Variance returns the variance over the axes, all of them if none is given,
// with divisor n − correction, by the corrected two-pass formula. Floats. The
// axes keep length 1; see [Tensor.Squeeze].
func (t *Tensor) Variance(correction int, axes ...int) *Tensor {
	op := over(ir.Var, axes)
	op.Attrs.N = correction
	return apply(op, t)
}

// Std returns the square root of [Tensor.Variance].
func (t *Tensor) Std(correction int, axes ...int) *Tensor {
	op := over(ir.Std, axes)
	op.Attrs.N = correction
	return apply(op, t)
}

// MaxWith returns the greatest element over the axes and its row-major position
// within them (i64): [Tensor.Max] and [Tensor.ArgMax], in one kernel.
func (t *Tensor) MaxWith(axes ...int) (value, position *Tensor) {
	c := compoundOf(t)
	return c.reduce(ir.Max, t, axes...), c.reduce(ir.ArgMax, t, axes...)
}

// MinWith returns the least element over the axes and its row-major position
// within them (i64): [Tensor.Min] and [Tensor.ArgMin], in one kernel.
func (t *Tensor) MinWith(axes ...int) (value, position *Tensor) {
	c := compoundOf(t)
	return c.reduce(ir.Min, t, axes...), c.reduce(ir.ArgMin, t, axes...)
}

// MaxAbs returns the greatest absolute value over the axes.
func (t *Tensor) MaxAbs(axes ...int) *Tensor { return compoundOf(t).ofAbs(ir.Max, t, axes) }

// ofAbs reduces the absolute values, which are exact.
func (c compound) ofAbs(kind ir.Kind, t *Tensor, axes []int) *Tensor {
	return c.reduce(kind, c.op(ir.Operation{Kind: ir.Abs}, t), axes...)
}

// SumAs is [Tensor.Sum] of the elements as another dtype, rounded once from it:
// 16-bit floats summed as f32, say, or bools counted as i64.
func (t *Tensor) SumAs(dtype DType, axes ...int) *Tensor {
	c := compoundOf(t)
	return c.reduce(ir.Sum, c.cast(t, dtype), axes...)
}

// ProdAs is [Tensor.Prod] of the elements as another dtype.
func (t *Tensor) ProdAs(dtype DType, axes ...int) *Tensor {
	c := compoundOf(t)
	return c.reduce(ir.Prod, c.cast(t, dtype), axes...)
}

// MeanAs is [Tensor.Mean] of the elements as another dtype, a float.
func (t *Tensor) MeanAs(dtype DType, axes ...int) *Tensor {
	c := compoundOf(t)
	return c.reduce(ir.Mean, c.cast(t, dtype), axes...)
}

// Norm returns the p-norm over the axes, (Σ|x|^p)^(1/p): for p = 0 the number
// of elements that are not 0, for p = ±inf the greatest or least absolute
// value. Floats.
func (t *Tensor) Norm(p float64, axes ...int) *Tensor {
	c, op := compoundOf(t), over(ir.Norm, axes)
	switch {
	case t.Err() == nil && !t.DType().IsFloat():
		return t.fail(op, &DTypeError{Msg: fmt.Sprintf("is not defined for %v, only for %v", t.DType(), ir.Floats)})
	case math.IsNaN(p):
		return t.fail(op, &ArgumentError{Msg: "there is no norm of order NaN"})
	case p == 0:
		return c.reduce(ir.Sum, c.cast(c.scalar(ir.NotEqual, t, 0), t.DType()), axes...)
	case p == 1:
		return c.ofAbs(ir.Sum, t, axes)
	case p == 2:
		return c.reduce(ir.L2Norm, t, axes...)
	case math.IsInf(p, 1):
		return c.ofAbs(ir.Max, t, axes)
	case math.IsInf(p, -1):
		return c.ofAbs(ir.Min, t, axes)
	}
	op.Scalars = []ir.Scalar{ir.FloatScalar(t.DType(), p)}
	return c.op(op, t)
}

// NormTensor is Norm with an order that a tensor of rank 0 and of t's dtype
// holds and that is neither 0 nor infinite.
func (t *Tensor) NormTensor(p *Tensor, axes ...int) *Tensor {
	return t.applyHeld(over(ir.Norm, axes), []*Tensor{t}, p)
}

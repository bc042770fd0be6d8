package sinter

import (
	"fmt"
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// reduction returns an operation that reduces axes, all of them if there are
// none.
func reduction(kind ir.Kind, pc uintptr, axes []int) ir.Operation {
	return ir.Operation{Kind: kind, PC: pc, Attrs: ir.Attrs{Axes: append([]int{}, axes...)}}
}

// Variance returns the variance over the axes, all of them if none is given,
// with divisor n − correction, by the corrected two-pass formula. Floats. The
// axes keep length 1; see [Tensor.Squeeze].
func (t *Tensor) Variance(correction int, axes ...int) *Tensor {
	op := reduction(ir.Var, caller(2), axes)
	op.Attrs.N = correction
	return record(op, []*Tensor{t})
}

// Std returns the square root of [Tensor.Variance].
func (t *Tensor) Std(correction int, axes ...int) *Tensor {
	op := reduction(ir.Std, caller(2), axes)
	op.Attrs.N = correction
	return record(op, []*Tensor{t})
}

// MaxWith returns the greatest element over the axes and its row-major position
// within them (i64): [Tensor.Max] and [Tensor.ArgMax], in one kernel.
func (t *Tensor) MaxWith(axes ...int) (value, position *Tensor) {
	pc, in := caller(2), []*Tensor{t}
	return record(reduction(ir.Max, pc, axes), in), record(reduction(ir.ArgMax, pc, axes), in)
}

// MinWith returns the least element over the axes and its row-major position
// within them (i64): [Tensor.Min] and [Tensor.ArgMin], in one kernel.
func (t *Tensor) MinWith(axes ...int) (value, position *Tensor) {
	pc, in := caller(2), []*Tensor{t}
	return record(reduction(ir.Min, pc, axes), in), record(reduction(ir.ArgMin, pc, axes), in)
}

// MaxAbs returns the greatest absolute value over the axes.
func (t *Tensor) MaxAbs(axes ...int) *Tensor { return t.ofAbs(ir.Max, caller(2), axes) }

// ofAbs reduces the absolute values, which are exact.
func (t *Tensor) ofAbs(kind ir.Kind, pc uintptr, axes []int) *Tensor {
	return record(reduction(kind, pc, axes), []*Tensor{record(ir.Operation{Kind: ir.Abs, PC: pc}, []*Tensor{t})})
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
	pc := caller(2)
	op := reduction(ir.Norm, pc, axes)
	switch {
	case t.Err() == nil && !t.DType().IsFloat():
		return t.fail(op, &DTypeError{Msg: fmt.Sprintf("is not defined for %v, only for %v", t.DType(), ir.Floats)})
	case math.IsNaN(p):
		return t.fail(op, &ArgumentError{Msg: "there is no norm of order NaN"})
	case p == 0:
		zero := ir.FloatScalar(t.DType(), 0)
		some := record(ir.Operation{Kind: ir.NotEqual, PC: pc, Scalars: []ir.Scalar{zero}}, []*Tensor{t})
		ones := record(ir.Operation{Kind: ir.Cast, PC: pc, Attrs: ir.Attrs{DType: t.DType()}}, []*Tensor{some})
		return record(reduction(ir.Sum, pc, axes), []*Tensor{ones})
	case p == 1:
		return t.ofAbs(ir.Sum, pc, axes)
	case p == 2:
		return record(reduction(ir.L2Norm, pc, axes), []*Tensor{t})
	case math.IsInf(p, 1):
		return t.ofAbs(ir.Max, pc, axes)
	case math.IsInf(p, -1):
		return t.ofAbs(ir.Min, pc, axes)
	}
	op.Scalars = []ir.Scalar{ir.FloatScalar(t.DType(), p)}
	return record(op, []*Tensor{t})
}

// NormTensor is Norm with an order that a tensor of rank 0 and of t's dtype
// holds and that is neither 0 nor infinite.
func (t *Tensor) NormTensor(p *Tensor, axes ...int) *Tensor {
	return t.applyHeld(reduction(ir.Norm, 0, axes), []*Tensor{t}, p)
}

package sinter

import (
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

// Norm returns the p-norm over the axes, (Σ|x|^p)^(1/p): for p = 0 the number
// of elements that are not 0, for p = ±inf the greatest or least absolute
// value. Floats.
func (t *Tensor) Norm(p float64, axes ...int) *Tensor {
	pc := caller(2)
	switch {
	case p == 0:
		zero, err := scalarOf(t.DType(), 0)
		if err != nil {
			return t.fail(ir.Operation{Kind: ir.Norm}, err)
		}
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
	op := reduction(ir.Norm, pc, axes)
	op.Scalars = []ir.Scalar{ir.FloatScalar(t.DType(), p)}
	return record(op, []*Tensor{t})
}

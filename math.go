package sinter

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// Cast converts to another dtype, rounding once. Floats to integers truncate
// and saturate, NaN becomes 0; to bool, NaN is true.
func (t *Tensor) Cast(dtype DType) *Tensor {
	return apply(ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: dtype}}, t)
}

// Clamp returns min(max(x, lo), hi); NaN stays. Floats and i64. The bounds are
// exact for i64 tensors up to ±2⁵³; beyond, use tensors made by [Scalar] and
// [Tensor.ClampTensor].
func (t *Tensor) Clamp(lo, hi float64) *Tensor {
	return t.applyScalars(ir.Operation{Kind: ir.Clamp}, lo, hi)
}

// ClampTensor is Clamp with bounds held by rank-0 tensors of t's dtype, so that
// they may change between replays.
func (t *Tensor) ClampTensor(lo, hi *Tensor) *Tensor {
	d := t.DType().Compute()
	return apply(ir.Operation{Kind: ir.Clamp, Scalars: []ir.Scalar{{DType: d, Input: 1}, {DType: d, Input: 2}}}, t, lo, hi)
}

// Where returns a where mask (bool) is true, else b; the three broadcast.
func Where(mask, a, b *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.Where}, mask, a, b)
}

// MulAdd returns t·b + c rounded once, a fused multiply-add; the three
// broadcast.
func (t *Tensor) MulAdd(b, c *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.MulAdd}, t, b, c)
}

// MatMul returns the matrix product of the last two axes, [..., m, k] with
// [..., k, n]; the axes before broadcast, and rank-1 operands are vectors as in
// NumPy. Products are added in a fixed order that depends on k alone.
func (t *Tensor) MatMul(u *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.MatMul}, t, u)
}

// Linear returns t·weight + bias for t [..., in], weight [in, out] and bias
// [out] or nil, rounded once at the end.
func (t *Tensor) Linear(weight, bias *Tensor) *Tensor {
	if bias == nil {
		return apply(ir.Operation{Kind: ir.Linear}, t, weight)
	}
	return apply(ir.Operation{Kind: ir.Linear}, t, weight, bias)
}

// Softmax returns e^x / Σe^x over the axes, all of them if none is given.
func (t *Tensor) Softmax(axes ...int) *Tensor {
	return apply(ir.Operation{Kind: ir.Softmax, Attrs: ir.Attrs{Axes: append([]int{}, axes...)}}, t)
}

// LogSoftmax returns the logarithm of Softmax.
func (t *Tensor) LogSoftmax(axes ...int) *Tensor {
	return apply(ir.Operation{Kind: ir.LogSoftmax, Attrs: ir.Attrs{Axes: append([]int{}, axes...)}}, t)
}

// LayerNorm normalises the last axis to mean 0 and variance 1 (ε is added to
// the variance), then scales by weight and adds bias; both are [n] or nil, and
// bias needs a weight.
func (t *Tensor) LayerNorm(weight, bias *Tensor, epsilon float64) *Tensor {
	op := ir.Operation{Kind: ir.LayerNorm, PC: caller(2), Scalars: []ir.Scalar{ir.FloatScalar(t.DType(), epsilon)}}
	if weight == nil && bias != nil {
		return t.fail(op, &ArgumentError{Msg: "a bias needs a weight"})
	}
	return record(op, present(t, weight, bias))
}

// RMSNorm divides the last axis by the root of its mean square (ε is added to
// the mean), then scales by weight, [n] or nil.
func (t *Tensor) RMSNorm(weight *Tensor, epsilon float64) *Tensor {
	op := ir.Operation{Kind: ir.RMSNorm, PC: caller(2), Scalars: []ir.Scalar{ir.FloatScalar(t.DType(), epsilon)}}
	return record(op, present(t, weight))
}

// present returns the operands up to the first that is missing.
func present(ts ...*Tensor) []*Tensor {
	for i, t := range ts {
		if i > 0 && t == nil {
			return ts[:i]
		}
	}
	return ts
}

// AttentionOptions are the optional parts of [Tensor.Attention].
type AttentionOptions struct {
	Mask   *Tensor // broadcasts to [b,h,m,n]; bool (false hides) or additive
	Scale  float64 // 0: 1/√d
	Causal bool    // key j is visible to query i if j ≤ i + Offset
	Offset int     // with Causal: how many keys come before query 0's own, such as a cache's; may be negative
}

// Attention returns softmax(scale·q·kᵀ + mask)·v for q [b,h,m,d], k [b,g,n,d]
// and v [b,g,n,e], h a multiple of g. A row with nothing visible is 0.
func (t *Tensor) Attention(k, v *Tensor, o AttentionOptions) *Tensor {
	op := ir.Operation{Kind: ir.Attention, PC: caller(2)}
	op.Attrs.Flag = o.Causal
	if o.Causal {
		op.Attrs.N = o.Offset
	}
	scale := o.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(t.Dim(-1)))
	}
	op.Scalars = []ir.Scalar{ir.FloatScalar(t.DType(), scale)}
	in := []*Tensor{t, k, v}
	if o.Mask != nil {
		in = append(in, o.Mask)
	}
	return record(op, in)
}

// CumSum returns running sums along an axis.
func (t *Tensor) CumSum(axis int) *Tensor {
	return apply(ir.Operation{Kind: ir.CumSum, Attrs: ir.Attrs{Axes: []int{axis}}}, t)
}

// CumSumOptions are the variants of a running sum.
type CumSumOptions struct{ Exclusive, Reverse bool }

// CumSumWith returns running sums along an axis, from the end or leaving out
// the element itself.
func (t *Tensor) CumSumWith(axis int, o CumSumOptions) *Tensor {
	return apply(ir.Operation{Kind: ir.CumSum, Attrs: ir.Attrs{Axes: []int{axis}, Flag: o.Exclusive, Reverse: o.Reverse}}, t)
}

// Variance returns the variance over the axes, all of them if none is given,
// with divisor n − correction, by the corrected two-pass formula. Floats. The
// axes keep length 1; see [Tensor.Squeeze].
func (t *Tensor) Variance(correction int, axes ...int) *Tensor {
	return apply(ir.Operation{Kind: ir.Var, Attrs: ir.Attrs{Axes: append([]int{}, axes...), N: correction}}, t)
}

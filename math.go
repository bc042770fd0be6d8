package sinter

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// Cast converts to another dtype, rounding once. Floats to integers truncate
// and saturate, NaN becomes 0; integers to integers keep the low bits; to bool,
// NaN is true. To 8-bit floats what is too large becomes the greatest value.
func (t *Tensor) Cast(dtype DType) *Tensor {
	return apply(ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: dtype}}, t)
}

// CastOverflow is Cast to an 8-bit float in which what is too large becomes NaN
// (F8E4M3) or infinite (F8E5M2).
func (t *Tensor) CastOverflow(dtype DType) *Tensor {
	return apply(ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: dtype, Flag: true}}, t)
}

// Bitcast returns the bits of each element as another dtype of the same size.
// Not bool.
func (t *Tensor) Bitcast(dtype DType) *Tensor {
	return apply(ir.Operation{Kind: ir.Bitcast, Attrs: ir.Attrs{DType: dtype}}, t)
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

// Lerp returns t + weight·(end − t), rounded after each of the three steps.
func (t *Tensor) Lerp(end *Tensor, weight float64) *Tensor {
	c := compoundOf(t, end)
	far := c.op(ir.Operation{Kind: ir.Sub}, end, t)
	return c.op(ir.Operation{Kind: ir.Add}, t, c.scalar(ir.Mul, far, weight))
}

// LerpTensor is Lerp with a weight for each element, which broadcasts.
func (t *Tensor) LerpTensor(end, weight *Tensor) *Tensor {
	c := compoundOf(t, end, weight)
	far := c.op(ir.Operation{Kind: ir.Sub}, end, t)
	return c.op(ir.Operation{Kind: ir.Add}, t, c.op(ir.Operation{Kind: ir.Mul}, weight, far))
}

// MatMul returns the matrix product of the last two axes, [..., m, k] with
// [..., k, n]; the axes before broadcast, and rank-1 operands are vectors as in
// NumPy. Products are added in a fixed order that depends on k alone.
func (t *Tensor) MatMul(u *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.MatMul}, t, u)
}

// IntMatMul is MatMul of i8 or u8 tensors, which may differ, exact in i32.
func (t *Tensor) IntMatMul(u *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.IntMatMul}, t, u)
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

// GroupNorm normalises the channels, axis 1 of t [n, c, ...], in equal groups,
// each together with all axes after, to mean 0 and variance 1 (ε is added to the
// variance), then scales by weight and adds bias; both are [c] or nil, and bias
// needs a weight.
func (t *Tensor) GroupNorm(groups int, weight, bias *Tensor, epsilon float64) *Tensor {
	op := ir.Operation{Kind: ir.GroupNorm, PC: caller(2), Attrs: ir.Attrs{N: groups}, Scalars: []ir.Scalar{ir.FloatScalar(t.DType(), epsilon)}}
	if weight == nil && bias != nil {
		return t.fail(op, &ArgumentError{Msg: "a bias needs a weight"})
	}
	return record(op, present(t, weight, bias))
}

// InstanceNorm is GroupNorm with a group for each channel.
func (t *Tensor) InstanceNorm(weight, bias *Tensor, epsilon float64) *Tensor {
	op := ir.Operation{Kind: ir.GroupNorm, PC: caller(2), Attrs: ir.Attrs{N: max(t.Dim(1), 1)}, Scalars: []ir.Scalar{ir.FloatScalar(t.DType(), epsilon)}}
	if weight == nil && bias != nil {
		return t.fail(op, &ArgumentError{Msg: "a bias needs a weight"})
	}
	return record(op, present(t, weight, bias))
}

// BatchNorm returns (t − mean)/√(variance + ε)·weight + bias for t [n, c, ...]
// and statistics of each channel, all [c]; weight and bias may be nil, and bias
// needs a weight.
func (t *Tensor) BatchNorm(mean, variance, weight, bias *Tensor, epsilon float64) *Tensor {
	op := ir.Operation{Kind: ir.BatchNorm, PC: caller(2), Scalars: []ir.Scalar{ir.FloatScalar(t.DType(), epsilon)}}
	if weight == nil && bias != nil {
		return t.fail(op, &ArgumentError{Msg: "a bias needs a weight"})
	}
	if mean == nil || variance == nil {
		return t.fail(op, errNil)
	}
	return record(op, present(t, mean, variance, weight, bias))
}

// SoftmaxBackward returns the gradient of Softmax over the axes, t being its
// output.
func (t *Tensor) SoftmaxBackward(gradient *Tensor, axes ...int) *Tensor {
	return apply(ir.Operation{Kind: ir.SoftmaxBackward, Attrs: ir.Attrs{Axes: append([]int{}, axes...)}}, t, gradient)
}

// LogSoftmaxBackward returns the gradient of LogSoftmax over the axes, t being
// its output.
func (t *Tensor) LogSoftmaxBackward(gradient *Tensor, axes ...int) *Tensor {
	return apply(ir.Operation{Kind: ir.LogSoftmaxBackward, Attrs: ir.Attrs{Axes: append([]int{}, axes...)}}, t, gradient)
}

// LayerNormBackward returns the gradient of LayerNorm with respect to t;
// weight is [n] or nil.
func (t *Tensor) LayerNormBackward(gradient, weight *Tensor, epsilon float64) *Tensor {
	return t.normBackward(ir.LayerNormBackward, caller(2), gradient, weight, epsilon)
}

// RMSNormBackward returns the gradient of RMSNorm with respect to t; weight is
// [n] or nil.
func (t *Tensor) RMSNormBackward(gradient, weight *Tensor, epsilon float64) *Tensor {
	return t.normBackward(ir.RMSNormBackward, caller(2), gradient, weight, epsilon)
}

func (t *Tensor) normBackward(kind ir.Kind, pc uintptr, gradient, weight *Tensor, epsilon float64) *Tensor {
	op := ir.Operation{Kind: kind, PC: pc, Scalars: []ir.Scalar{ir.FloatScalar(t.DType(), epsilon)}}
	if gradient == nil {
		return t.fail(op, errNil)
	}
	return record(op, present(t, gradient, weight))
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

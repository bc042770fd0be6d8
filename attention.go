package sinter

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// AttentionOptions are the optional parts of [Tensor.Attention].
type AttentionOptions struct {
	Mask        *Tensor // broadcasts to [b,h,m,n]; bool (false hides) or additive
	Scale       float64 // 0: 1/√d
	ScaleTensor *Tensor // in place of Scale: the scale as a tensor of rank 0 and of q's dtype
	Causal      bool    // key j is visible to query i if j ≤ i + Offset
	Offset      int     // with Causal: how many keys come before query 0's own, such as a cache's; may be negative
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
	in := append([]*Tensor{t, k, v}, given(o.Mask)...)
	if o.ScaleTensor != nil {
		return t.recordHeld(op, in, o.ScaleTensor)
	}
	op.Scalars = []ir.Scalar{ir.FloatScalar(t.DType(), scale)}
	return record(op, in)
}

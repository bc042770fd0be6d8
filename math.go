package sinter

import (
	"fmt"

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

// Clamp returns min(max(x, lo), hi); NaN stays. Floats and integers. The bounds
// of integers are exact up to ±2⁵³; beyond, use tensors made by [Scalar] and
// [Tensor.ClampTensor].
func (t *Tensor) Clamp(lo, hi float64) *Tensor {
	return t.applyScalars(ir.Operation{Kind: ir.Clamp}, lo, hi)
}

// ClampTensor is Clamp with bounds held by rank-0 tensors of t's dtype, so that
// they may change between replays.
func (t *Tensor) ClampTensor(lo, hi *Tensor) *Tensor {
	return t.applyHeld(ir.Operation{Kind: ir.Clamp}, []*Tensor{t}, lo, hi)
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

// Dot returns the sum of the products of two vectors of one length, as a tensor
// of rank 0.
func (t *Tensor) Dot(u *Tensor) *Tensor {
	c := compoundOf(t, u)
	if bad := c.vectors("Dot", t, u); bad != nil {
		return bad
	}
	return c.op(ir.Operation{Kind: ir.MatMul}, t, u)
}

// Outer returns the products of each element of a vector [m] with each of
// another [n], as [m, n].
func (t *Tensor) Outer(u *Tensor) *Tensor {
	c := compoundOf(t, u)
	if bad := c.vectors("Outer", t, u); bad != nil {
		return bad
	}
	return c.op(ir.Operation{Kind: ir.Mul}, c.reshape(t, Shape{t.Dim(0), 1}), u)
}

// vectors is refuse, of what is no vector too.
func (c compound) vectors(name string, ts ...*Tensor) *Tensor {
	if bad := c.refuse(name, ts...); bad != nil {
		return bad
	}
	for i, t := range ts {
		if t.Rank() != 1 {
			return c.fail(name, t, &ShapeError{Msg: fmt.Sprintf("operand %d has rank %d, want a vector", i, t.Rank())})
		}
	}
	return nil
}

// IntMatMul is MatMul of i8 or u8 tensors, which may differ, exact in i32.
func (t *Tensor) IntMatMul(u *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.IntMatMul}, t, u)
}

// Linear returns t·weight + bias for t [..., in], weight [in, out] and bias
// [out] or nil, rounded once at the end.
func (t *Tensor) Linear(weight, bias *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.Linear}, append([]*Tensor{t, weight}, given(bias)...)...)
}

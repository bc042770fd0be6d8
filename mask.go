package sinter

import "github.com/sinter-ml/sinter/ir"

// Where returns a where mask (bool) is true, else b; the three broadcast.
func Where(mask, a, b *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.Where}, mask, a, b)
}

// WhereScalar returns a where mask (bool) is true, else value; mask and a
// broadcast.
func WhereScalar(mask, a *Tensor, value float64) *Tensor {
	c := compoundOf(mask, a)
	return c.op(ir.Operation{Kind: ir.Where}, mask, a, c.like(a, value))
}

// MaskFill returns t with value where mask (bool, broadcasting) is true.
func (t *Tensor) MaskFill(mask *Tensor, value float64) *Tensor {
	c := compoundOf(t, mask)
	return c.op(ir.Operation{Kind: ir.Where}, mask, c.like(t, value), t)
}

// MaskFillTensor is MaskFill with values of t's dtype that broadcast, such as a
// rank-0 tensor that may change between replays.
func (t *Tensor) MaskFillTensor(mask, values *Tensor) *Tensor {
	return apply(ir.Operation{Kind: ir.Where}, mask, values, t)
}

// like is a value as a tensor of rank 0 and of t's dtype.
func (c compound) like(t *Tensor, value float64) *Tensor {
	if t.val() == nilValue || t.Err() != nil {
		return t
	}
	s, err := scalarOf(t.DType(), value)
	if err != nil {
		return c.fail(ir.Where.String(), t, err)
	}
	return c.make(ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{DType: t.DType()}, Scalars: []ir.Scalar{s}})
}

package sinter

import "github.com/sinter-ml/sinter/ir"

// MaskFill returns t with value where mask (bool, broadcasting) is true.
func (t *Tensor) MaskFill(mask *Tensor, value float64) *Tensor {
	op := ir.Operation{Kind: ir.Where, PC: caller(2)}
	c, err := scalarOf(t.DType(), value)
	if err != nil {
		return t.fail(op, err)
	}
	full := ir.Operation{Kind: ir.Full, PC: op.PC, Attrs: ir.Attrs{DType: t.DType()}, Scalars: []ir.Scalar{c}}
	s := streamOf([]*Tensor{t, mask})
	if s == nil {
		return orphan(op.Kind.String(), errNil)
	}
	fill := &Tensor{v: s.Record(full)}
	return record(op, []*Tensor{mask, fill, t})
}

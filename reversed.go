package sinter

import "github.com/sinter-ml/sinter/ir"

// RSubScalar returns c − x for each element x of t. Floats and integers.
func (t *Tensor) RSubScalar(c float64) *Tensor { return t.reversed(compoundOf(t), ir.Sub, c) }

// RDivScalar returns c / x for each element x of t, as [Tensor.Div] does. Floats
// and integers.
func (t *Tensor) RDivScalar(c float64) *Tensor { return t.reversed(compoundOf(t), ir.Div, c) }

// RFloorDivScalar returns c / x rounded down for each element x of t. Floats
// and integers.
func (t *Tensor) RFloorDivScalar(c float64) *Tensor { return t.reversed(compoundOf(t), ir.FloorDiv, c) }

// RRemainderScalar returns c − x·floor(c/x) for each element x of t. Floats and
// integers.
func (t *Tensor) RRemainderScalar(c float64) *Tensor {
	return t.reversed(compoundOf(t), ir.Remainder, c)
}

// RPowScalar returns c to the power x for each element x of t. Floats and
// integers.
func (t *Tensor) RPowScalar(c float64) *Tensor { return t.reversed(compoundOf(t), ir.Pow, c) }

// reversed is a binary kind with a scalar for its first operand. 16-bit floats
// take it in f32, as they do a scalar for the second, and are rounded once.
func (t *Tensor) reversed(c compound, kind ir.Kind, x float64) *Tensor {
	if bad := c.refuse(kind.String(), t); bad != nil {
		return bad
	}
	if !ir.Lookup(kind).DTypes.Has(t.DType()) {
		return c.op(ir.Operation{Kind: kind}, t, t) // which is refused
	}
	s, err := scalarOf(t.DType(), x)
	if err != nil {
		return c.fail(kind.String(), t, err)
	}
	wide := t.DType().Compute()
	first := c.make(ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{DType: wide}, Scalars: []ir.Scalar{s}})
	return c.cast(c.op(ir.Operation{Kind: kind}, first, c.cast(t, wide)), t.DType())
}

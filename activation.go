package sinter

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// HardTanh returns min(max(x, −1), 1); for other bounds see [Tensor.Clamp].
func (t *Tensor) HardTanh() *Tensor { return t.applyScalars(ir.Operation{Kind: ir.Clamp}, -1, 1) }

// Relu6 returns min(max(x, 0), 6).
func (t *Tensor) Relu6() *Tensor { return t.applyScalars(ir.Operation{Kind: ir.Clamp}, 0, 6) }

// Glu cuts an axis into equal halves a and b and returns a·Sigmoid(b), the
// gated linear unit.
func (t *Tensor) Glu(axis int) *Tensor {
	c := compoundOf(t)
	if bad := c.refuse("Glu", t); bad != nil {
		return bad
	}
	a, err := axisOf(axis, t.Rank())
	if err != nil {
		return c.fail("Glu", t, err)
	}
	n := t.Dim(a)
	if n%2 != 0 {
		return c.fail("Glu", t, &ShapeError{Msg: fmt.Sprintf("length %d of axis %d is odd", n, a)})
	}
	gate := c.op(ir.Operation{Kind: ir.Sigmoid}, c.part(t, a, n/2, n/2))
	return c.op(ir.Operation{Kind: ir.Mul}, c.part(t, a, 0, n/2), gate)
}

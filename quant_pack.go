package sinter

import "github.com/sinter-ml/sinter/ir"

// pack stores two integers of 4 bits in a byte, the first in the low half.
func (c compound) pack(data *Tensor) *Tensor {
	shape := data.val().Shape()
	last := len(shape) - 1
	if shape[last]%2 != 0 {
		pads := make([]int, 2*len(shape))
		pads[len(pads)-1] = 1
		data = c.op(ir.Operation{Kind: ir.Pad, Attrs: ir.Attrs{Ints: pads}, Scalars: []ir.Scalar{ir.IntScalar(I8, 0)}}, data)
	}
	n := data.Dim(last) / 2
	pairs := c.reshape(c.op(ir.Operation{Kind: ir.Bitcast, Attrs: ir.Attrs{DType: U8}}, data), append(shape[:last:last].Clone(), n, 2))
	to := append(shape[:last:last].Clone(), n)
	low := c.scalar(ir.BitwiseAnd, c.reshape(c.part(pairs, last+1, 0, 1), to), 15)
	high := c.scalar(ir.ShiftLeft, c.reshape(c.part(pairs, last+1, 1, 1), to), 4)
	return c.op(ir.Operation{Kind: ir.BitwiseOr}, low, high)
}

// integers returns the stored integers as i8 of the tensor's shape.
func (c compound) integers(q *QTensor) *Tensor {
	if q.Scheme.Bits == 8 {
		return q.Data
	}
	last := len(q.shape) - 1
	bytes := c.op(ir.Operation{Kind: ir.Bitcast, Attrs: ir.Attrs{DType: I8}}, q.Data)
	stored := bytes.val().Shape()
	pairs := c.expand(c.reshape(bytes, append(stored.Clone(), 1)), append(stored.Clone(), 2))
	// Each half is moved to the top and back with its sign.
	up := c.cast(c.scalar(ir.Mul, c.scalar(ir.Sub, c.count(2, 0, 1), 1), -4), I8)
	down := c.scalar(ir.ShiftRight, c.op(ir.Operation{Kind: ir.ShiftLeft}, pairs, up), 4)
	wide := append(stored[:last:last].Clone(), stored[last]*2)
	return c.part(c.reshape(down, wide), last, 0, q.shape[last])
}

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
	rank := len(q.shape)
	last := rank - 1
	n := q.shape[last]
	// Each half is moved to the top, the first by 4 and the second by 0 bits, and
	// back with its sign.
	second := c.scalar(ir.BitwiseAnd, c.count(n, last, rank), 1)
	up := c.cast(c.scalar(ir.Mul, c.scalar(ir.BitwiseXor, second, 1), 4), I8)
	pair := c.op(ir.Operation{Kind: ir.Select, Attrs: ir.Attrs{Axes: []int{last}}}, q.Data, c.scalar(ir.Div, c.count(n, 0, 1), 2))
	pair = c.op(ir.Operation{Kind: ir.Bitcast, Attrs: ir.Attrs{DType: I8}}, pair)
	return c.scalar(ir.ShiftRight, c.op(ir.Operation{Kind: ir.ShiftLeft}, pair, up), 4)
}

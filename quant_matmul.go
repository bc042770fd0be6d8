package sinter

import (
	"fmt"
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// MatMul returns the product of quantised matrices q [..., m, k] and w [k, n]
// in f32: products of integers are summed exactly in i32 for each block of k,
// zero points taken off, multiplied by the scales, first q's, and the blocks
// added by [Tensor.Sum]. Scales may be per tensor, per row of q, per column of
// w, or per block of k. For floats times a quantised matrix use
// x.MatMul(w.Dequantize(x.DType())), which reads the integers in the product's
// kernel.
func (q *QTensor) MatMul(w *QTensor) *Tensor {
	return compoundOf(append(q.parts(), w.parts()...)...).product("MatMul", q, w)
}

// Linear returns q·w + bias in f32 for q [..., in], w [in, out] and bias [out]
// (f32) or nil: [QTensor.MatMul], then a sum of its own.
func (q *QTensor) Linear(w *QTensor, bias *Tensor) *Tensor {
	c := compoundOf(append(q.parts(), append(w.parts(), given(bias)...)...)...)
	y := c.product("Linear", q, w)
	switch {
	case bias == nil || y.Err() != nil:
		return y
	case bias.Err() != nil:
		return c.refuse("Linear", bias)
	case bias.Rank() != 1 || bias.Dim(0) != w.shape[1]:
		return c.fail("Linear", y, &ShapeError{Msg: fmt.Sprintf("bias of shape %v is not a vector of length %d", bias.Shape(), w.shape[1])})
	}
	return c.op(ir.Operation{Kind: ir.Add}, y, bias)
}

func (c compound) product(name string, q, w *QTensor) *Tensor {
	if bad := c.refuse(name, append(q.parts(), w.parts()...)...); bad != nil {
		return bad
	}
	block, err := q.product(w)
	if err != nil {
		return c.fail(name, q.Data, err)
	}
	k := w.shape[0]
	if block == 0 {
		block = max(k, 1)
	}
	blocks := k / block
	m, n := q.shape[len(q.shape)-2], w.shape[1]
	batch := q.shape[:len(q.shape)-2]

	// Blocks become a batch axis before the rows.
	a := c.reshape(c.integers(q), append(batch.Clone(), m, blocks, block))
	axes := make([]int, len(batch)+3)
	for i := range axes {
		axes[i] = i
	}
	r := len(batch)
	axes[r], axes[r+1] = r+1, r
	a = c.permute(a, axes)
	b := c.reshape(c.integers(w), Shape{blocks, block, n})

	sum := c.op(ir.Operation{Kind: ir.IntMatMul}, a, b)
	za, zb := c.zero(q, r, blocks, false), c.zero(w, 0, blocks, true)
	if zb != nil {
		rows := c.reduce(ir.Sum, c.cast(a, I32), r+2)
		sum = c.op(ir.Operation{Kind: ir.Sub}, sum, c.op(ir.Operation{Kind: ir.Mul}, rows, zb))
	}
	if za != nil {
		columns := c.reduce(ir.Sum, c.cast(b, I32), 1)
		if zb != nil {
			columns = c.op(ir.Operation{Kind: ir.Sub}, columns, c.scalar(ir.Mul, zb, float64(block)))
		}
		sum = c.op(ir.Operation{Kind: ir.Sub}, sum, c.op(ir.Operation{Kind: ir.Mul}, columns, za))
	}
	v := c.op(ir.Operation{Kind: ir.Mul}, c.cast(sum, F32), c.perBlock(q, q.Scale, r, blocks, false))
	v = c.op(ir.Operation{Kind: ir.Mul}, v, c.perBlock(w, w.Scale, 0, blocks, true))
	return c.reshape(c.reduce(ir.Sum, v, r), append(batch.Clone(), m, n))
}

// longestSum returns how many products of a symmetric or an affine operand with
// another an i32 holds, whatever they are.
func longestSum(a, b QuantScheme) int {
	greatest := 1
	for _, s := range []QuantScheme{a, b} {
		span := 1 << (s.Bits - 1)
		if s.Affine {
			span = 1<<s.Bits - 1
		}
		greatest *= span
	}
	return math.MaxInt32 / greatest
}

// product checks that q and w multiply and returns the length of their blocks,
// 0 if there are none.
func (q *QTensor) product(w *QTensor) (block int, err error) {
	if len(q.shape) < 2 || len(w.shape) != 2 {
		return 0, &ShapeError{Msg: fmt.Sprintf("shapes %v and %v are not [..., m, k] and [k, n]", q.shape, w.shape)}
	}
	last := len(q.shape) - 1
	if q.shape[last] != w.shape[0] {
		return 0, &ShapeError{Msg: fmt.Sprintf("inner lengths %d and %d of %v and %v differ", q.shape[last], w.shape[0], q.shape, w.shape)}
	}
	for _, x := range []struct {
		s           QuantScheme
		inner, kept int
	}{{q.Scheme, last, last - 1}, {w.Scheme, 0, 1}} {
		switch {
		case x.s.Level == PerChannel && x.s.Axis != x.kept, x.s.Level == PerBlock && x.s.Axis != x.inner:
			return 0, &ArgumentError{Msg: fmt.Sprintf("scales along axis %d do not come out of the sum", x.s.Axis)}
		case x.s.Level != PerBlock:
		case block != 0 && block != x.s.Block:
			return 0, &ArgumentError{Msg: fmt.Sprintf("blocks of %d and %d differ", block, x.s.Block)}
		default:
			block = x.s.Block
		}
	}
	sum := block
	if sum == 0 {
		sum = w.shape[0]
	}
	if most := longestSum(q.Scheme, w.Scheme); sum > most {
		return 0, &ShapeError{Msg: fmt.Sprintf("a sum of %d products may not fit i32, the longest that does has %d: use blocks", sum, most)}
	}
	return block, nil
}

// perBlock lays scales or zero points out along [batch…, blocks, rows, columns]:
// right says that they are those of the right operand.
func (c compound) perBlock(q *QTensor, t *Tensor, batch, blocks int, right bool) *Tensor {
	switch q.Scheme.Level {
	case PerTensor:
		return c.reshape(t, Shape{})
	case PerChannel:
		if right {
			return t // [1, n]
		}
		shape := make(Shape, batch+3)
		for i := range shape {
			shape[i] = 1
		}
		shape[batch+1] = q.shape[q.Scheme.Axis]
		return c.reshape(t, shape)
	}
	if right {
		return t // [blocks, 1, n]
	}
	// [batch…, rows, blocks, 1] with blocks before rows.
	axes := make([]int, batch+3)
	for i := range axes {
		axes[i] = i
	}
	axes[batch], axes[batch+1] = batch+1, batch
	return c.permute(t, axes)
}

// zero returns the zero points as i32 laid out along the blocks, nil if there
// are none.
func (c compound) zero(q *QTensor, batch, blocks int, right bool) *Tensor {
	if q.Zero == nil {
		return nil
	}
	return c.cast(c.perBlock(q, q.Zero, batch, blocks, right), I32)
}

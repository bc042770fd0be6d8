package sinter

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// QuantLevel says which elements share a scale.
type QuantLevel uint8

// The levels.
const (
	PerTensor  QuantLevel = iota // all
	PerChannel                   // those of one place along an axis
	PerBlock                     // those of one stretch of Block places along an axis
)

// QuantScheme says how floats are stored as small integers: q = clamp(round(x /
// scale) + zero), rounding halves to even, with scales in f32.
type QuantScheme struct {
	Bits   int        // 8, or 4: two to a byte along the last axis
	Affine bool       // with a zero point; otherwise symmetric about 0
	Level  QuantLevel // which elements share a scale
	Axis   int        // PerChannel, PerBlock; negative axes count from the end
	Block  int        // PerBlock: must divide the axis
}

// limits returns the range of the stored integers.
func (s QuantScheme) limits() (least, greatest float64) {
	if s.Bits == 4 {
		return -8, 7
	}
	return -128, 127
}

// check returns the scheme with a normal axis.
func (s QuantScheme) check(shape Shape) (QuantScheme, error) {
	if s.Bits != 8 && s.Bits != 4 {
		return s, &ArgumentError{Msg: fmt.Sprintf("there is no quantisation to %d bits, only to 8 and 4", s.Bits)}
	}
	if s.Bits == 4 && len(shape) == 0 {
		return s, &ShapeError{Msg: "rank 0 has no last axis to store two to a byte along"}
	}
	switch s.Level {
	case PerTensor:
		return s, nil
	case PerChannel, PerBlock:
	default:
		return s, &ArgumentError{Msg: fmt.Sprintf("there is no quantisation level %d", s.Level)}
	}
	a, err := axisOf(s.Axis, len(shape))
	if err != nil {
		return s, err
	}
	s.Axis = a
	if s.Level == PerBlock && (s.Block < 1 || shape[a]%s.Block != 0) {
		return s, &ShapeError{Msg: fmt.Sprintf("length %d of axis %d is not made of blocks of %d", shape[a], a, s.Block)}
	}
	return s, nil
}

// grouped returns the shape of the elements with a blocked axis cut in two, and
// that of their scales.
func (s QuantScheme) grouped(shape Shape) (elements, scales Shape) {
	scales = make(Shape, len(shape))
	for i := range scales {
		scales[i] = 1
	}
	switch s.Level {
	case PerChannel:
		scales[s.Axis] = shape[s.Axis]
	case PerBlock:
		n := shape[s.Axis] / s.Block
		elements = append(append(append(elements, shape[:s.Axis]...), n, s.Block), shape[s.Axis+1:]...)
		own := make(Shape, len(elements))
		copy(own, elements)
		own[s.Axis+1] = 1
		return elements, own
	}
	return shape, scales
}

// QTensor is a quantised tensor: its integers, and the scale of each group of
// them. Its parts are ordinary tensors, so that it can be stored in Vars and
// files; its operations are ordinary too, and fuse.
type QTensor struct {
	Scheme QuantScheme
	shape  Shape
	Data   *Tensor // I8; of 4 bits U8, [..., ⌈n/2⌉], the first of two in the low half
	Scale  *Tensor // F32, see [QTensor.ScaleShape]
	Zero   *Tensor // I8 of the scale's shape, nil if symmetric
}

// Shape returns the length of each axis, as a copy.
func (q *QTensor) Shape() Shape {
	if q == nil {
		return nil
	}
	return q.shape.Clone()
}

// Err returns the error a part carries, if it is known yet.
func (q *QTensor) Err() error {
	if q == nil {
		return errNil
	}
	for _, t := range []*Tensor{q.Data, q.Scale, q.Zero} {
		if t != nil && t.Err() != nil {
			return t.Err()
		}
	}
	return nil
}

// NewQTensor puts a quantised tensor together from its parts, whose shapes and
// dtypes must be those the scheme asks for; zero is nil if it is symmetric.
func NewQTensor(scheme QuantScheme, data, scale, zero *Tensor, shape ...int) (*QTensor, error) {
	s, err := scheme.check(shape)
	if err != nil {
		return nil, err
	}
	want, dtype := Shape(shape).Clone(), I8
	if s.Bits == 4 {
		want[len(want)-1] = (want[len(want)-1] + 1) / 2
		dtype = U8
	}
	_, scales := s.grouped(shape)
	parts := []struct {
		name  string
		t     *Tensor
		dtype DType
		shape Shape
	}{{"data", data, dtype, want}, {"scale", scale, F32, scales}, {"zero", zero, I8, scales}}
	if !s.Affine {
		if zero != nil {
			return nil, &ArgumentError{Msg: "a symmetric scheme has no zero point"}
		}
		parts = parts[:2]
	}
	for _, p := range parts {
		switch {
		case p.t == nil:
			return nil, &ArgumentError{Msg: p.name + " is nil"}
		case p.t.Err() != nil:
			return nil, p.t.Err()
		case p.t.DType() != p.dtype:
			return nil, &DTypeError{Msg: fmt.Sprintf("%s is %v, want %v", p.name, p.t.DType(), p.dtype)}
		case !p.t.val().Shape().Equal(p.shape):
			return nil, &ShapeError{Msg: fmt.Sprintf("%s has shape %v, want %v", p.name, p.t.val().Shape(), p.shape)}
		}
	}
	return &QTensor{Scheme: s, shape: Shape(shape).Clone(), Data: data, Scale: scale, Zero: zero}, nil
}

// ScaleShape returns the shape of the scales: 1 along the axes that share them;
// of blocks, an axis of their number and one of length 1 in the place of theirs.
func (q *QTensor) ScaleShape() Shape {
	if q == nil {
		return nil
	}
	_, s := q.Scheme.grouped(q.shape)
	return s.Clone()
}

// Quantize returns t quantised, with scales taken from its values: of a
// symmetric scheme the greatest absolute value over the greatest integer, of an
// affine one the range from the least to the greatest value, 0 included, over
// the number of integers. A NaN becomes the zero point; a group with a NaN or
// infinity has that for a scale.
func (t *Tensor) Quantize(scheme QuantScheme) *QTensor {
	c := compoundOf(t)
	s, err := scheme.check(t.val().Shape())
	if err == nil && !t.DType().IsFloat() && t.Err() == nil {
		err = &DTypeError{Msg: fmt.Sprintf("quantisation is not defined for %v", t.DType())}
	}
	if err != nil {
		bad := c.fail("Quantize", t, err)
		return &QTensor{Scheme: scheme, Data: bad, Scale: bad}
	}
	q := &QTensor{Scheme: s, shape: t.val().Shape().Clone()}
	elements, scales := s.grouped(q.shape)
	x := c.reshape(c.cast(t, F32), elements)
	var axes []int
	for i, n := range scales {
		if n == 1 {
			axes = append(axes, i)
		}
	}
	least, greatest := s.limits()
	if !s.Affine {
		most := c.extreme(ir.Max, c.op(ir.Operation{Kind: ir.Abs}, x), axes)
		q.Scale = c.positive(c.scalar(ir.Div, most, greatest))
	} else {
		zero := c.full(F32, 0)
		low := c.op(ir.Operation{Kind: ir.Minimum}, c.extreme(ir.Min, x, axes), zero)
		high := c.op(ir.Operation{Kind: ir.Maximum}, c.extreme(ir.Max, x, axes), zero)
		q.Scale = c.positive(c.scalar(ir.Div, c.op(ir.Operation{Kind: ir.Sub}, high, low), greatest-least))
		place := c.op(ir.Operation{Kind: ir.Round}, c.op(ir.Operation{Kind: ir.Div}, low, q.Scale))
		q.Zero = c.cast(c.clamp(c.op(ir.Operation{Kind: ir.Sub}, c.full(F32, least), place), least, greatest), I8)
	}
	q.Data = c.quantized(x, q)
	return q
}

// extreme reduces axes; there is none of nothing.
func (c compound) extreme(kind ir.Kind, x *Tensor, axes []int) *Tensor {
	if len(axes) == 0 {
		return x
	}
	shape := x.val().Shape().Clone()
	if shape.NumElements() == 0 {
		for _, a := range axes {
			shape[a] = 1
		}
		return c.full(F32, 0, shape...)
	}
	return c.reduce(kind, x, axes...)
}

// positive is scale, 1 where it is 0.
func (c compound) positive(scale *Tensor) *Tensor {
	none := c.scalar(ir.Equal, scale, 0)
	return c.op(ir.Operation{Kind: ir.Where}, none, c.full(F32, 1), scale)
}

func (c compound) clamp(t *Tensor, lo, hi float64) *Tensor {
	return c.op(ir.Operation{Kind: ir.Clamp, Scalars: []ir.Scalar{ir.F32Scalar(float32(lo)), ir.F32Scalar(float32(hi))}}, t)
}

// quantized rounds the grouped values x to the integers of q.
func (c compound) quantized(x *Tensor, q *QTensor) *Tensor {
	least, greatest := q.Scheme.limits()
	v := c.op(ir.Operation{Kind: ir.Round}, c.op(ir.Operation{Kind: ir.Div}, x, q.Scale))
	if q.Zero != nil {
		zero := c.cast(q.Zero, F32)
		v = c.op(ir.Operation{Kind: ir.Add}, v, zero)
		v = c.op(ir.Operation{Kind: ir.Where}, c.op(ir.Operation{Kind: ir.IsNaN}, v), zero, v)
	}
	data := c.reshape(c.cast(c.clamp(v, least, greatest), I8), q.shape)
	if q.Scheme.Bits == 4 {
		return c.pack(data)
	}
	return data
}

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

// Dequantize returns (q − zero)·scale, computed in f32, as a float dtype.
func (q *QTensor) Dequantize(dtype DType) *Tensor {
	if q == nil {
		return orphan("Dequantize", errNil)
	}
	c := compoundOf(q.Data, q.Scale)
	if q.Err() == nil && !dtype.IsFloat() {
		return c.fail("Dequantize", q.Data, &DTypeError{Msg: fmt.Sprintf("dequantisation is not defined for %v", dtype)})
	}
	elements, _ := q.Scheme.grouped(q.shape)
	v := c.reshape(c.cast(c.integers(q), F32), elements)
	if q.Zero != nil {
		v = c.op(ir.Operation{Kind: ir.Sub}, v, c.cast(q.Zero, F32))
	}
	return c.cast(c.reshape(c.op(ir.Operation{Kind: ir.Mul}, v, q.Scale), q.shape), dtype)
}

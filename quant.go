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
	for _, t := range q.parts() {
		if err := t.Err(); err != nil {
			return err
		}
	}
	return nil
}

// parts returns the tensors q is made of, nil for those it lacks.
func (q *QTensor) parts() []*Tensor {
	if q == nil {
		return []*Tensor{nil}
	}
	return append([]*Tensor{q.Data, q.Scale}, given(q.Zero)...)
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
	q := &QTensor{Scheme: s, shape: Shape(shape).Clone(), Data: data, Scale: scale, Zero: zero}
	if err := checkPart("data", data, dtype, want); err != nil {
		return nil, err
	}
	if err := q.checkScales(); err != nil {
		return nil, err
	}
	for _, p := range q.parts() {
		if p.v.Runtime() != data.v.Runtime() {
			return nil, &ArgumentError{Msg: "parts are on different devices"}
		}
	}
	return q, nil
}

// checkScales checks the scales and zero points.
func (q *QTensor) checkScales() error {
	_, scales := q.Scheme.grouped(q.shape)
	if err := checkPart("scale", q.Scale, F32, scales); err != nil {
		return err
	}
	switch {
	case q.Scheme.Affine:
		return checkPart("zero", q.Zero, I8, scales)
	case q.Zero != nil:
		return &ArgumentError{Msg: "a symmetric scheme has no zero point"}
	}
	return nil
}

func checkPart(name string, t *Tensor, dtype DType, shape Shape) error {
	switch {
	case t.val() == nilValue:
		return &ArgumentError{Msg: name + " is nil"}
	case t.Err() != nil:
		return t.Err()
	case t.DType() != dtype:
		return &DTypeError{Msg: fmt.Sprintf("%s is %v, want %v", name, t.DType(), dtype)}
	case !t.val().Shape().Equal(shape):
		return &ShapeError{Msg: fmt.Sprintf("%s has shape %v, want %v", name, t.val().Shape(), shape)}
	}
	return nil
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
	q, bad := c.quantizing(t, scheme)
	if bad != nil {
		return &QTensor{Scheme: scheme, Data: bad, Scale: bad}
	}
	s := q.Scheme
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

// QuantizeWith returns t quantised with scales and zero points that are known,
// such as those of a calibration, of the shape [QTensor.ScaleShape] gives; zero
// is nil if the scheme is symmetric.
func (t *Tensor) QuantizeWith(scheme QuantScheme, scale, zero *Tensor) *QTensor {
	c := compoundOf(append([]*Tensor{t, scale}, given(zero)...)...)
	q, bad := c.quantizing(t, scheme)
	if bad == nil {
		bad = c.refuse("Quantize", append([]*Tensor{scale}, given(zero)...)...)
	}
	if bad == nil {
		q.Scale, q.Zero = scale, zero
		if err := q.checkScales(); err != nil {
			bad = c.fail("Quantize", t, err)
		}
	}
	if bad != nil {
		return &QTensor{Scheme: scheme, Data: bad, Scale: bad}
	}
	elements, _ := q.Scheme.grouped(q.shape)
	q.Data = c.quantized(c.reshape(c.cast(t, F32), elements), q)
	return q
}

// quantizing returns t's quantised tensor without parts, or why there is none.
func (c compound) quantizing(t *Tensor, scheme QuantScheme) (*QTensor, *Tensor) {
	const name = "Quantize"
	if bad := c.refuse(name, t); bad != nil {
		return nil, bad
	}
	s, err := scheme.check(t.val().Shape())
	if err == nil && !t.DType().IsFloat() {
		err = &DTypeError{Msg: fmt.Sprintf("is not defined for %v, only for %v", t.DType(), ir.Floats)}
	}
	if err != nil {
		return nil, c.fail(name, t, err)
	}
	return &QTensor{Scheme: s, shape: t.Shape()}, nil
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

// Dequantize returns (q − zero)·scale, computed in f32, as a float dtype.
func (q *QTensor) Dequantize(dtype DType) *Tensor {
	c := compoundOf(q.parts()...)
	if bad := c.refuse("Dequantize", q.parts()...); bad != nil {
		return bad
	}
	if !dtype.IsFloat() {
		return c.fail("Dequantize", q.Data, &DTypeError{Msg: fmt.Sprintf("is not defined to %v, only to %v", dtype, ir.Floats)})
	}
	// What is small goes before the elements and what is selected after them, as
	// blocks grow: nothing of their size is stored then.
	zero := q.Zero
	if zero != nil {
		zero = c.cast(zero, F32)
	}
	v := c.cast(c.integers(q), F32)
	if zero != nil {
		v = c.op(ir.Operation{Kind: ir.Sub}, v, c.spread(q, zero))
	}
	return c.cast(c.op(ir.Operation{Kind: ir.Mul}, v, c.spread(q, q.Scale)), dtype)
}

// spread lays scales or zero points out so that they broadcast to the elements.
// Those of blocks are selected, which products too do as they read: a copy of
// the elements grouped by blocks would have to be stored.
func (c compound) spread(q *QTensor, t *Tensor) *Tensor {
	if q.Scheme.Level != PerBlock {
		return t
	}
	axis := q.Scheme.Axis
	blocks := q.shape.Clone()
	blocks[axis] /= q.Scheme.Block
	of := c.scalar(ir.Div, c.count(q.shape[axis], 0, 1), float64(q.Scheme.Block))
	return c.op(ir.Operation{Kind: ir.Select, Attrs: ir.Attrs{Axes: []int{axis}}}, c.reshape(t, blocks), of)
}

package sinter

import (
	"fmt"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// place returns the stream of a placer, nil if there is none.
func place(at Placer) *fusion.Stream {
	if at == nil {
		return nil
	}
	return at.place()
}

var errNoPlace = &ArgumentError{Msg: "device, stream or scope is nil"}

// create records an operation without operands, with scalars of its dtype.
// Exported functions call it directly.
func create(at Placer, op ir.Operation, c ...float64) *Tensor {
	op.PC = caller(3)
	return createAt(at, op, op.Attrs.DType, c)
}

// createOf is create with scalars of another dtype.
func createOf(at Placer, op ir.Operation, scalars DType, c ...float64) *Tensor {
	op.PC = caller(3)
	return createAt(at, op, scalars, c)
}

func createAt(at Placer, op ir.Operation, scalars DType, c []float64) *Tensor {
	s := place(at)
	if s == nil {
		return orphan(op.Kind.String(), errNoPlace)
	}
	for _, x := range c {
		v, err := scalarOf(scalars, x)
		if err != nil {
			return &Tensor{v: s.Fail(op.Kind.String(), op.PC, op.Attrs.Shape, op.Attrs.DType, err)}
		}
		op.Scalars = append(op.Scalars, v)
	}
	return &Tensor{v: s.Record(op)}
}

// Full makes a tensor whose elements all are value, which is exact for i64 up
// to ±2⁵³; beyond, use a tensor made by [Scalar] and [Tensor.Expand].
func Full(at Placer, dtype DType, value float64, shape ...int) *Tensor {
	return create(at, ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: dtype}}, value)
}

// Zeros makes a tensor of zeros.
func Zeros(at Placer, dtype DType, shape ...int) *Tensor {
	return create(at, ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: dtype}}, 0)
}

// Ones makes a tensor of ones.
func Ones(at Placer, dtype DType, shape ...int) *Tensor {
	return create(at, ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: dtype}}, 1)
}

// Arange makes a rank-1 tensor start, start+step, … of n elements. Floats are
// computed as start + i·step in double precision and rounded once. For i64,
// start and step are exact up to ±2⁵³; beyond, add a tensor made by [Scalar].
func Arange(at Placer, dtype DType, start, step float64, n int) *Tensor {
	op := ir.Operation{Kind: ir.Arange, Attrs: ir.Attrs{Shape: Shape{n}, DType: dtype}}
	if dtype.IsInt() {
		return createOf(at, op, I64, start, step)
	}
	return createOf(at, op, F64, start, step)
}

// Eye makes a matrix with ones on the main diagonal and zeros elsewhere.
func Eye(at Placer, dtype DType, rows, columns int) *Tensor {
	c := compound{caller(2), place(at)}
	if c.s == nil {
		return orphan("Eye", errNoPlace)
	}
	equal := c.op(ir.Operation{Kind: ir.Equal}, c.count(rows, 0, 2), c.count(columns, 1, 2))
	return c.cast(equal, dtype)
}

// Linspace makes a rank-1 tensor of n numbers from start to end, both included:
// start + i·(end − start)/(n − 1) in double precision, rounded once; integers
// truncate.
func Linspace(at Placer, dtype DType, start, end float64, n int) *Tensor {
	c := compound{caller(2), place(at)}
	if c.s == nil {
		return orphan("Linspace", errNoPlace)
	}
	step := 0.0
	if n > 1 {
		step = (end - start) / float64(n-1)
	}
	made := dtype
	if dtype.IsInt() {
		made = F64
	}
	t := c.make(ir.Operation{Kind: ir.Arange, Attrs: ir.Attrs{Shape: Shape{n}, DType: made}, Scalars: []ir.Scalar{ir.F64Scalar(start), ir.F64Scalar(step)}})
	return c.cast(t, dtype)
}

// random records a draw: seed and position are taken now, so a draw nobody
// uses still advances the sequence.
func random(at Placer, op ir.Operation, extra ...ir.Scalar) *Tensor {
	op.PC = caller(3)
	s := place(at)
	if s == nil {
		return orphan(op.Kind.String(), errNoPlace)
	}
	seed, position := s.Draw()
	op.Scalars = append([]ir.Scalar{ir.I64Scalar(int64(seed)), ir.I64Scalar(int64(position))}, extra...)
	return &Tensor{v: s.Record(op)}
}

// Uniform makes a float tensor of numbers uniform in [low, high), from Philox
// 4x32-10.
func Uniform(at Placer, dtype DType, low, high float64, shape ...int) *Tensor {
	return random(at, ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: dtype}},
		ir.FloatScalar(dtype, low), ir.FloatScalar(dtype, high))
}

// Normal makes a float tensor of normal numbers.
func Normal(at Placer, dtype DType, mean, std float64, shape ...int) *Tensor {
	return random(at, ir.Operation{Kind: ir.Normal, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: dtype}},
		ir.FloatScalar(dtype, mean), ir.FloatScalar(dtype, std))
}

// Bernoulli makes a bool tensor whose elements are true with probability p.
func Bernoulli(at Placer, p float64, shape ...int) *Tensor {
	return random(at, ir.Operation{Kind: ir.Bernoulli, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: Bool}},
		ir.F32Scalar(float32(p)))
}

// RandInt makes an i64 tensor of numbers in [low, high), a range of at most 2³¹.
func RandInt(at Placer, low, high int64, shape ...int) *Tensor {
	return random(at, ir.Operation{Kind: ir.RandInt, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: I64}},
		ir.I64Scalar(low), ir.I64Scalar(high))
}

// RandIntOf is RandInt of any integer dtype, which must hold the range.
func RandIntOf(at Placer, dtype DType, low, high int64, shape ...int) *Tensor {
	return random(at, ir.Operation{Kind: ir.RandInt, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: dtype}},
		ir.I64Scalar(low), ir.I64Scalar(high))
}

// Dropout returns t with each element set to zero with probability p and the
// others divided by 1−p. p must lie in [0, 1).
func (t *Tensor) Dropout(p float64) *Tensor {
	op := ir.Operation{Kind: ir.Bernoulli, PC: caller(2)}
	if !(p >= 0 && p < 1) {
		return t.fail(op, &ArgumentError{Msg: fmt.Sprintf("probability %v is not in [0, 1)", p)})
	}
	if !t.DType().IsFloat() || t.Err() != nil {
		return t.fail(op, &DTypeError{Msg: fmt.Sprintf("dropout is not defined for %v", t.DType())})
	}
	s := streamOf([]*Tensor{t})
	seed, position := s.Draw()
	op.Attrs = ir.Attrs{Shape: t.v.Shape(), DType: Bool}
	op.Scalars = []ir.Scalar{ir.I64Scalar(int64(seed)), ir.I64Scalar(int64(position)), ir.F32Scalar(float32(1 - p))}
	mask := s.Record(op)
	scale := ir.Operation{Kind: ir.Mul, PC: op.PC, Scalars: []ir.Scalar{ir.FloatScalar(t.DType(), 1/(1-p))}}
	kept := s.Record(scale, t.v)
	zero := s.Record(ir.Operation{Kind: ir.Full, PC: op.PC, Attrs: ir.Attrs{DType: t.DType()}, Scalars: []ir.Scalar{ir.FloatScalar(t.DType(), 0)}})
	return &Tensor{v: s.Record(ir.Operation{Kind: ir.Where, PC: op.PC}, mask, kept, zero)}
}

package sinter

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

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
// others multiplied by 1/(1−p). p must lie in [0, 1). Floats.
func (t *Tensor) Dropout(p float64) *Tensor {
	c := compoundOf(t)
	if bad := c.refuse("Dropout", t); bad != nil {
		return bad
	}
	if !(p >= 0 && p < 1) {
		return c.fail("Dropout", t, &ArgumentError{Msg: fmt.Sprintf("probability %v is not in [0, 1)", p)})
	}
	if !t.DType().IsFloat() {
		return c.fail("Dropout", t, &DTypeError{Msg: fmt.Sprintf("is not defined for %v, only for floats", t.DType())})
	}
	if c.s == nil {
		c.s = c.rt.Default() // a draw has its place in the sequence now
	}
	seed, position := c.s.Draw()
	kept := c.make(ir.Operation{
		Kind: ir.Bernoulli, Attrs: ir.Attrs{Shape: t.Shape(), DType: Bool},
		Scalars: []ir.Scalar{ir.I64Scalar(int64(seed)), ir.I64Scalar(int64(position)), ir.F32Scalar(float32(1 - p))},
	})
	return c.op(ir.Operation{Kind: ir.Where}, kept, c.scalar(ir.Mul, t, 1/(1-p)), c.full(t.DType(), 0))
}

package sinter

import (
	"math"
	"reflect"

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

var errNoFunction = &ArgumentError{Msg: "function is nil"}

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

// Full makes a tensor whose elements all are value, which an integer dtype must
// hold and which is exact up to ±2⁵³; beyond, see [FullOf].
func Full(at Placer, dtype DType, value float64, shape ...int) *Tensor {
	return create(at, ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: dtype}}, value)
}

// FullOf makes a tensor whose elements all are value, exactly.
func FullOf[T Elem](at Placer, value T, shape ...int) *Tensor {
	c := compoundAt(at)
	if c.s == nil {
		return orphan(ir.Full.String(), errNoPlace)
	}
	op := ir.Operation{
		Kind: ir.Full, Attrs: ir.Attrs{Shape: append(Shape{}, shape...), DType: DTypeOf[T]()}, Scalars: []ir.Scalar{exactScalar(value)},
	}
	dtype := op.Attrs.DType
	if !dtype.IsFloat8() {
		return c.make(op)
	}
	// A scalar is a float32, and rounding it saturates: an infinity would be lost.
	op.Attrs.DType, op.Scalars = U8, []ir.Scalar{ir.IntScalar(U8, int64(bytesOf([]T{value})[0]))}
	return c.op(ir.Operation{Kind: ir.Bitcast, Attrs: ir.Attrs{DType: dtype}}, c.make(op))
}

// exactScalar returns v as a scalar of tensors of Ts.
func exactScalar[T Elem](v T) ir.Scalar {
	switch x := any(v).(type) {
	case float64:
		return ir.F64Scalar(x)
	case float32:
		return ir.F32Scalar(x)
	case interface{ Float32() float32 }: // 16 bits
		return ir.F32Scalar(x.Float32())
	case bool:
		return ir.BoolScalar(x)
	case uint64:
		return ir.Scalar{DType: U64, Bits: x}
	}
	r := reflect.ValueOf(v)
	if r.CanUint() {
		return ir.IntScalar(DTypeOf[T](), int64(r.Uint()))
	}
	return ir.IntScalar(DTypeOf[T](), r.Int())
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
// computed as start + i·step in double precision and rounded once, integers in
// 64 bits and wrapped. For integers start and step are exact up to ±2⁵³; beyond,
// add a tensor made by [Scalar].
func Arange(at Placer, dtype DType, start, step float64, n int) *Tensor {
	op := ir.Operation{Kind: ir.Arange, Attrs: ir.Attrs{Shape: Shape{n}, DType: dtype}}
	if dtype.IsInt() {
		return createOf(at, op, I64, start, step)
	}
	return createOf(at, op, F64, start, step)
}

// Eye makes a matrix with ones on the main diagonal and zeros elsewhere.
func Eye(at Placer, dtype DType, rows, columns int) *Tensor {
	c := compoundAt(at)
	if c.s == nil {
		return orphan("Eye", errNoPlace)
	}
	equal := c.op(ir.Operation{Kind: ir.Equal}, c.count(rows, 0, 2), c.count(columns, 1, 2))
	if dtype == Bool {
		return equal
	}
	return c.op(ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: dtype}}, equal)
}

// Linspace makes a rank-1 tensor of n numbers from start to end, both included:
// start + i·(end − start)/(n − 1) in double precision, rounded once; integers
// truncate, and their dtype must hold both ends.
func Linspace(at Placer, dtype DType, start, end float64, n int) *Tensor {
	c := compoundAt(at)
	if c.s == nil {
		return orphan("Linspace", errNoPlace)
	}
	step := 0.0
	if n > 1 {
		step = (end - start) / float64(n-1)
	}
	made := dtype
	switch {
	case dtype == Bool:
		return c.fail("Linspace", nil, &DTypeError{Msg: "is not defined for bool"})
	case dtype.IsInt():
		for _, end := range []float64{start, end} {
			if _, err := scalarOf(dtype, math.Trunc(end)); err != nil {
				return c.fail("Linspace", nil, err)
			}
		}
		made = F64 // and cast
	case dtype.IsFloat8():
		made = F64 // and cast
	}
	t := c.make(ir.Operation{Kind: ir.Arange, Attrs: ir.Attrs{Shape: Shape{n}, DType: made}, Scalars: []ir.Scalar{ir.F64Scalar(start), ir.F64Scalar(step)}})
	return c.cast(t, dtype)
}

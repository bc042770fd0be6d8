package sinter

import (
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// compound records the operations of a function made of several, each at the
// line of the function's caller. Where an operand carries an error, so does
// every result.
type compound struct {
	pc uintptr
	s  *fusion.Stream  // for operations without operands
	rt *fusion.Runtime // where s is nil because every operand is a leaf
}

// compoundOf starts a compound of exported functions, which call it directly.
func compoundOf(in ...*Tensor) compound { return compound{caller(3), homeOf(in), runtimeOf(in)} }

// compoundAt is compoundOf for functions that make tensors.
func compoundAt(at Placer) compound { return compound{pc: caller(3), s: place(at)} }

// refuse returns the result of a function whose operands lack a tensor or
// carry an error, nil if they do not.
func (c compound) refuse(name string, in ...*Tensor) *Tensor {
	missing := false
	for _, t := range in {
		switch {
		case t.val() == nilValue:
			missing = true
		case t.Err() != nil:
			return t.failed(name, nil)
		}
	}
	if missing {
		return c.fail(name, nil, errNil)
	}
	return nil
}

func (c compound) op(op ir.Operation, in ...*Tensor) *Tensor {
	op.PC = c.pc
	return record(op, in)
}

// scalar is a binary operation with a scalar of t's dtype.
func (c compound) scalar(kind ir.Kind, t *Tensor, x float64) *Tensor {
	s, err := scalarOf(t.DType(), x)
	if err != nil {
		return c.fail(kind.String(), t, err)
	}
	return c.op(ir.Operation{Kind: kind, Scalars: []ir.Scalar{s}}, t)
}

// fail returns the result of a function that cannot be recorded, whose first
// operand is t, if there is one.
func (c compound) fail(name string, t *Tensor, err error) *Tensor {
	if t.val() != nilValue {
		return t.failed(name, err)
	}
	switch s := c.s; {
	case s != nil:
		return &Tensor{v: s.Fail(name, c.pc, nil, ir.Invalid, err)}
	case c.rt != nil:
		return &Tensor{v: c.rt.Default().Fail(name, c.pc, nil, ir.Invalid, err)}
	}
	return orphan(name, err)
}

// make records an operation without operands: where the operands of the
// function are, and if those are leaves, where it is used.
func (c compound) make(op ir.Operation) *Tensor {
	op.PC = c.pc
	switch {
	case c.s != nil:
		return &Tensor{v: c.s.Record(op)}
	case c.rt != nil:
		return &Tensor{v: c.rt.Defer(op)}
	}
	return orphan(op.Kind.String(), errNoPlace)
}

// same is t under a handle of its own, so that releasing the one leaves the
// other.
func (c compound) same(t *Tensor) *Tensor { return c.reshape(t, t.val().Shape()) }

// full is one value of any shape, rank 0 if none is given.
func (c compound) full(dtype DType, x float64, shape ...int) *Tensor {
	s, err := scalarOf(dtype, x)
	if err != nil {
		return c.fail(ir.Full.String(), nil, err)
	}
	return c.make(ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{Shape: shape, DType: dtype}, Scalars: []ir.Scalar{s}})
}

// count is 0, 1, … n−1 as i64, along an axis of a tensor of so many axes.
func (c compound) count(n, axis, rank int) *Tensor {
	t := c.make(ir.Operation{Kind: ir.Arange, Attrs: ir.Attrs{Shape: Shape{n}, DType: I64}, Scalars: []ir.Scalar{ir.I64Scalar(0), ir.I64Scalar(1)}})
	if rank == 1 {
		return t
	}
	shape := make(Shape, rank)
	for i := range shape {
		shape[i] = 1
	}
	shape[axis] = n
	return c.reshape(t, shape)
}

func (c compound) reshape(t *Tensor, shape Shape) *Tensor {
	return c.op(ir.Operation{Kind: ir.Reshape, Attrs: ir.Attrs{Shape: shape}}, t)
}

func (c compound) expand(t *Tensor, shape Shape) *Tensor {
	return c.op(ir.Operation{Kind: ir.Expand, Attrs: ir.Attrs{Shape: shape}}, t)
}

func (c compound) cast(t *Tensor, dtype DType) *Tensor {
	if t.DType() == dtype {
		return t
	}
	return c.op(ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: dtype}}, t)
}

func (c compound) permute(t *Tensor, axes []int) *Tensor {
	for i, a := range axes {
		if i != a {
			return c.op(ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: axes}}, t)
		}
	}
	return t
}

// part is n elements from start along an axis.
func (c compound) part(t *Tensor, axis, start, n int) *Tensor {
	shape := t.val().Shape()
	op := ir.Operation{Kind: ir.Slice, Ranges: make([]ir.Range, len(shape))}
	if t.Err() != nil {
		return c.op(op, t)
	}
	for i, d := range shape {
		op.Ranges[i] = ir.Range{Len: d, Step: 1}
	}
	op.Ranges[axis] = ir.Range{Start: start, Len: n, Step: 1}
	if n == 0 {
		op.Ranges[axis].Start = 0
	}
	return c.op(op, t)
}

func (c compound) cat(axis int, ts ...*Tensor) *Tensor {
	return c.op(ir.Operation{Kind: ir.Cat, Attrs: ir.Attrs{Axes: []int{axis}}}, ts...)
}

func (c compound) flip(t *Tensor, axis int) *Tensor {
	return c.op(ir.Operation{Kind: ir.Flip, Attrs: ir.Attrs{Axes: []int{axis}}}, t)
}

func (c compound) reduce(kind ir.Kind, t *Tensor, axes ...int) *Tensor {
	return c.op(over(kind, axes), t)
}

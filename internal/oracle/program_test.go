package oracle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// builder records a program.
type builder struct {
	t    *testing.T
	p    ir.Program
	next ir.TensorID
}

func (b *builder) id() ir.TensorID { b.next++; return b.next }

func (b *builder) input(shape ...int) ir.TensorRef {
	ref := ir.TensorRef{ID: b.id(), Shape: shape, DType: ir.F32}
	b.p.Inputs = append(b.p.Inputs, ref)
	return ref
}

func (b *builder) variable(shape ...int) ir.TensorRef {
	ref := ir.TensorRef{ID: b.id(), Shape: shape, DType: ir.F32}
	b.p.Vars = append(b.p.Vars, ref)
	return ref
}

func (b *builder) op(kind ir.Kind, set func(*ir.Operation), in ...ir.TensorRef) ir.TensorRef {
	b.t.Helper()
	op := ir.Operation{Kind: kind, Inputs: in, Outputs: []ir.TensorRef{{ID: b.id()}}}
	if set != nil {
		set(&op)
	}
	require.NoError(b.t, op.Check())
	b.p.Ops = append(b.p.Ops, op)
	return op.Outputs[0]
}

func (b *builder) eval(inputs, vars []Tensor) *Result {
	b.t.Helper()
	require.NoError(b.t, b.p.Validate())
	r, err := Eval(&b.p, inputs, vars)
	require.NoError(b.t, err)
	return r
}

// A view and a result taken before an effect keep the old value.
func TestEvalKeepsOldVersions(t *testing.T) {
	b := &builder{t: t}
	base := b.variable(8)
	span := func(from, n int) func(*ir.Operation) { return ranges(ir.Range{Start: from, Len: n, Step: 1}) }
	x := b.op(ir.Slice, span(0, 4), base)
	y := b.op(ir.Slice, span(2, 4), base)
	twice := b.op(ir.Mul, f32Scalars(2), x)
	after := b.op(ir.SetSlice, span(0, 4), base, twice)
	newX := b.op(ir.Slice, span(0, 4), after)
	newY := b.op(ir.Slice, span(2, 4), after)
	first := b.op(ir.Add, nil, newX, y)
	second := b.op(ir.Add, nil, newX, newY)
	b.p.Outputs = []ir.TensorID{first.ID, second.ID, x.ID}
	r := b.eval(nil, []Tensor{vec(1, 1, 1, 1, 1, 1, 1, 1)})
	same(t, vec(3, 3, 3, 3), r.Outputs[0])
	same(t, vec(4, 4, 3, 3), r.Outputs[1])
	same(t, vec(1, 1, 1, 1), r.Outputs[2])
	require.Len(t, r.Vars, 1)
	same(t, vec(2, 2, 2, 2, 1, 1, 1, 1), r.Vars[0])
	same(t, vec(2, 2, 2, 2), r.Values[twice.ID])
}

func TestEvalConstantsAndErrors(t *testing.T) {
	b := &builder{t: t}
	x := b.input(3)
	list := ivec(0, 5)
	c := ir.Constant{TensorRef: ir.TensorRef{ID: b.id(), Shape: list.Shape, DType: ir.I64}, Data: list.Bytes()}
	b.p.Constants = []ir.Constant{c}
	out := b.op(ir.Select, axes(0), x, c.TensorRef)
	b.p.Outputs = []ir.TensorID{out.ID}
	require.NoError(t, b.p.Validate())

	_, err := Eval(&b.p, []Tensor{vec(1, 2, 3)}, nil)
	var wrong *ir.IndexError
	require.ErrorAs(t, err, &wrong)
	var op *ir.OpError
	require.ErrorAs(t, err, &op)
	assert.Equal(t, "Select", op.Op)

	b.p.Constants[0].Data = ivec(2, 1).Bytes()
	same(t, vec(3, 2), b.eval([]Tensor{vec(1, 2, 3)}, nil).Outputs[0])

	_, err = Eval(&b.p, nil, nil)
	assert.Error(t, err)
	_, err = Eval(&b.p, []Tensor{vec(1, 2)}, nil)
	assert.Error(t, err)
	_, err = Eval(&b.p, []Tensor{bvec(1, 2, 3)}, nil)
	assert.Error(t, err)
}

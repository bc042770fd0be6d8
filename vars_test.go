package sinter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// effectCase is an effect and the operation it must be, old version first.
type effectCase struct {
	name string
	op   ir.Operation
	in   []oracle.Tensor // of the operation: the old value, then the operands
	call func(v *sinter.Var, in tensors)
}

func effects(d data, t ir.DType) []effectCase {
	x := func(dims ...int) oracle.Tensor { return d.make(t, true, dims...) }
	part := []ir.Range{{Start: 1, Len: 2, Step: 1}, {Start: 3, Len: 2, Step: -2}}
	at := []ir.Range{{Len: 2, Step: 1, Input: 2}, {Len: 4, Step: 1}}
	out := []effectCase{
		{"Set", ir.Operation{Kind: ir.Set}, []oracle.Tensor{x(3, 4), x(3, 4)},
			func(v *sinter.Var, in tensors) { v.Set(in[0]) }},
		{"Set of rank 0", ir.Operation{Kind: ir.Set}, []oracle.Tensor{x(), x()},
			func(v *sinter.Var, in tensors) { v.Set(in[0]) }},
		{"Set of nothing", ir.Operation{Kind: ir.Set}, []oracle.Tensor{x(0, 2), x(0, 2)},
			func(v *sinter.Var, in tensors) { v.Set(in[0]) }},
		{"SetSlice", ir.Operation{Kind: ir.SetSlice, Ranges: part}, []oracle.Tensor{x(3, 4), x(2, 2)},
			func(v *sinter.Var, in tensors) { v.SetSlice(in[0], sinter.SpanFrom(1), sinter.SpanStep(1, 4, -2)) }},
		{"SetSlice at a tensor", ir.Operation{Kind: ir.SetSlice, Ranges: at}, []oracle.Tensor{x(3, 4), x(2, 4), oracle.Ints(shape{}, 1)},
			func(v *sinter.Var, in tensors) { v.SetSlice(in[0], sinter.SpanAt(in[1], 2)) }},
		{"SetSelect", ir.Operation{Kind: ir.SetSelect, Attrs: axes(1)}, []oracle.Tensor{x(3, 4), oracle.Ints(shape{3}, 2, 0, 2), x(3, 3)},
			func(v *sinter.Var, in tensors) { v.SetSelect(-1, in[0], in[1]) }},
	}
	if t.IsFloat() || t.IsInt() {
		plain := func(dims ...int) oracle.Tensor { return d.make(t, false, dims...) }
		out = append(out, effectCase{"ScatterAdd", ir.Operation{Kind: ir.ScatterAdd, Attrs: axes(0)},
			[]oracle.Tensor{plain(3, 2), oracle.Ints(shape{5}, 2, 0, 2, 2, 0), plain(5, 2)},
			func(v *sinter.Var, in tensors) { v.ScatterAdd(0, in[0], in[1]) }})
	}
	return out
}

func TestEffects(t *testing.T) {
	d := newData(7)
	for _, dtype := range ir.DTypes() {
		for _, c := range effects(d, dtype) {
			for _, dev := range both(t) {
				op := c.op
				for i, x := range c.in {
					op.Inputs = append(op.Inputs, ir.TensorRef{ID: ir.TensorID(i + 1), Shape: x.Shape, DType: x.DType})
				}
				require.NoError(t, op.Check())
				in := make(tensors, len(c.in)-1)
				for i := range in {
					in[i] = put(dev, c.in[i+1])
				}
				v := sinter.NewVar(put(dev, c.in[0]))
				before := v.Value()
				c.call(v, in)
				after := v.Value()
				c.call(v, in)
				require.NoError(t, oracle.CheckOp(&op, get(t, after), c.in...), "%s %v", c.name, dtype)
				require.NoError(t, oracle.Compare(get(t, before), c.in[0], oracle.Tol{}), "%s %v: a handle from before", c.name, dtype)
				second, err := oracle.EvalOp(&op, append([]oracle.Tensor{get(t, after)}, c.in[1:]...)...)
				require.NoError(t, err)
				require.NoError(t, oracle.Compare(get(t, v.Value()), second, oracle.Tol{}), "%s %v: a second time", c.name, dtype)
				require.NoError(t, dev.Flush(ctx))
			}
		}
	}
}

func TestWrite(t *testing.T) {
	dev := open(t)
	v := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2, 2)).Named("w")
	require.Equal(t, "w", v.Name())
	require.Equal(t, shape{2, 2}, v.Shape())
	require.Equal(t, sinter.F32, v.DType())
	old := v.Value()
	host := []float32{1, 2, 3, 4}
	sinter.Write(v, host)
	host[0] = 9
	got, err := sinter.ReadVar[float32](ctx, v)
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2, 3, 4}, got, "the data was copied")
	require.Equal(t, []float32{0, 0, 0, 0}, read[float32](t, old))
}

// A bad effect leaves the Var as it was and is reported once.
func TestBadEffects(t *testing.T) {
	for _, dev := range both(t) {
		v := sinter.NewVar(sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2))
		x := sinter.Zeros(dev, sinter.F32, 2, 3)
		i := sinter.From(dev, []int64{0, 1}, 2)
		far := sinter.Zeros(open(t), sinter.F32, 2, 2)
		fits := sinter.Zeros(dev, sinter.F32, 2, 2)
		cases := []struct {
			op    string
			check check
			call  func()
		}{
			{"Set", isShape, func() { v.Set(x) }},
			{"Set", isDType, func() { v.Set(fits.Cast(sinter.BF16)) }},
			{"Set", isArgument, func() { v.Set(nil) }},
			{"Set", isArgument, func() { v.Set(far) }},
			{"Add", isShape, func() { v.Set(x.Add(fits)) }},
			{"Set", isArgument, func() { v.Set(sinter.Cat(0)) }},
			{"SetSlice", isShape, func() { v.SetSlice(fits, sinter.Index(0)) }},
			{"SetSlice", isIndex, func() { v.SetSlice(fits, sinter.Span(1, 3)) }},
			{"SetSlice", isArgument, func() { v.SetSlice(fits, sinter.SpanStep(0, 2, 0)) }},
			{"SetSlice", isShape, func() { v.SetSlice(fits, sinter.All(), sinter.All(), sinter.All()) }},
			{"SetSlice", isArgument, func() { v.SetSlice(nil, sinter.All()) }},
			{"SetSelect", isShape, func() { v.SetSelect(2, i, fits) }},
			{"SetSelect", isDType, func() { v.SetSelect(0, fits, fits) }},
			{"SetSelect", isArgument, func() { v.SetSelect(0, nil, fits) }},
			{"ScatterAdd", isShape, func() { v.ScatterAdd(0, i, x) }},
			{"Set", isShape, func() { sinter.Write(v, []float32{1}) }},
			{"Set", isDType, func() { sinter.Write(v, []int64{1, 2, 3, 4}) }},
			{"Set", isArgument, func() { (*sinter.Var)(nil).Set(fits) }},
			{"SetSlice", isArgument, func() { sinter.NewVar(nil).SetSlice(fits) }},
		}
		for n, c := range cases {
			c.call()
			err := dev.Flush(ctx)
			require.Error(t, err, "%d %s", n, c.op)
			c.check(t, err, c.op)
			require.NoError(t, dev.Flush(ctx), "%d %s: reported once", n, c.op)
			got, err := sinter.ReadVar[float32](ctx, v)
			require.NoError(t, err, "%d %s", n, c.op)
			require.Equal(t, []float32{1, 2, 3, 4}, got, "%d %s: the Var stays as it was", n, c.op)
		}
		sinter.Write((*sinter.Var)(nil), []float32{1}) // nobody to tell
		// An index only the device sees: the launch may have begun to write, so
		// the Var carries the error until it is wholly written.
		for _, c := range []struct {
			op   string
			call func()
		}{
			{"SetSelect", func() { v.SetSelect(0, i.AddScalar(1), fits) }},
			{"ScatterAdd", func() { v.ScatterAdd(0, i.SubScalar(1), fits) }},
			{"SetSlice", func() { v.SetSlice(fits.Narrow(0, 0, 1), sinter.SpanAt(sinter.Scalar(dev, int64(2)), 1)) }},
		} {
			c.call()
			isIndex(t, dev.Flush(ctx), c.op)
			require.NoError(t, dev.Flush(ctx), "reported once")
			_, err := sinter.ReadVar[float32](ctx, v)
			isIndex(t, err, c.op)
			v.SetSlice(fits.Narrow(0, 0, 1), sinter.Index(0))
			_, err = sinter.ReadVar[float32](ctx, v)
			isIndex(t, err, c.op)
			sinter.Write(v, []float32{1, 2, 3, 4})
			got, err := sinter.ReadVar[float32](ctx, v)
			require.NoError(t, err)
			require.Equal(t, []float32{1, 2, 3, 4}, got)
		}
		v.Set(fits)
		got, err := sinter.ReadVar[float32](ctx, v)
		require.NoError(t, err)
		require.Equal(t, []float32{0, 0, 0, 0}, got)
	}
}

// A Var made from a tensor that carries an error does too, until written.
func TestVarOfError(t *testing.T) {
	dev := open(t)
	x := sinter.Zeros(dev, sinter.F32, 2)
	v := sinter.NewVar(x.Add(sinter.Zeros(dev, sinter.F32, 3)))
	_, err := sinter.ReadVar[float32](ctx, v)
	isShape(t, err, "Add")
	// One whose first value fails when it is computed.
	i := sinter.From(dev, []int64{5}, 1)
	require.NoError(t, dev.Flush(ctx))
	v.SetSlice(x, sinter.Index(7))
	v.SetSlice(x, sinter.Index(0), sinter.Index(0), sinter.Index(0))
	require.NoError(t, dev.Flush(ctx), "an effect on it is no second error")
	v = sinter.NewVar(x.Select(0, i))
	_, err = sinter.ReadVar[float32](ctx, v)
	isIndex(t, err, "Select")
	v.SetSlice(sinter.Ones(dev, sinter.F32, 1), sinter.Index(0))
	_, err = sinter.ReadVar[float32](ctx, v)
	isIndex(t, err, "Select")
	v.Set(sinter.Ones(dev, sinter.F32, 1))
	got, err := sinter.ReadVar[float32](ctx, v)
	require.NoError(t, err)
	require.Equal(t, []float32{1}, got)
}

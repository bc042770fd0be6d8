package sinter_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

var ctx = context.Background()

type (
	tensor  = sinter.Tensor
	tensors = []*sinter.Tensor
	shape   = ir.Shape
)

// open opens a device that fills memory it did not write with NaNs, and closes
// it at the end of the test.
func open(t testing.TB, opts ...sinter.Option) *sinter.Device {
	t.Helper()
	dev, err := sinter.Open("cpu", append([]sinter.Option{sinter.WithPoison(true)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

// put makes a tensor with the oracle's elements.
func put(at sinter.Placer, x oracle.Tensor) *tensor {
	return sinter.FromBytes(at, x.DType, x.Bytes(), x.Shape...)
}

// get reads a tensor for the oracle.
func get(t testing.TB, x *tensor) oracle.Tensor {
	t.Helper()
	b, err := sinter.ReadBytes(ctx, x)
	require.NoError(t, err)
	out, err := oracle.FromBytes(x.DType(), x.Shape(), b)
	require.NoError(t, err)
	return out
}

// read returns the elements of a tensor.
func read[T sinter.Elem](t testing.TB, x *tensor) []T {
	t.Helper()
	out, err := sinter.Read[T](ctx, x)
	require.NoError(t, err)
	return out
}

// specials are the float values that are most often got wrong.
var specials = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, 2.5, -1.5, 3, -7.25, 1e-8, 88.9, -104,
	math.Inf(1), math.Inf(-1), math.NaN(),
	1e-40, -1e-44, math.MaxFloat32, -math.MaxFloat32, 1e10, 8388609,
}

var intSpecials = []int64{0, 1, -1, 2, -3, 7, math.MaxInt64, math.MinInt64, 1 << 33, -8}

// data makes a tensor of n normal numbers for each call, with specials among
// them.
type data struct{ r *rand.Rand }

func newData(seed uint64) data { return data{rand.New(rand.NewPCG(seed, 1))} }

func (d data) make(dtype ir.DType, special bool, dims ...int) oracle.Tensor {
	out := oracle.New(dtype, append(shape{}, dims...))
	for i := range out.Len() {
		pick := special && d.r.IntN(3) == 0
		switch {
		case out.F != nil:
			out.F[i] = d.r.NormFloat64() * 2
			if pick {
				out.F[i] = specials[d.r.IntN(len(specials))]
			}
		case out.I != nil:
			out.I[i] = int64(d.r.IntN(19)) - 9
			if pick {
				out.I[i] = intSpecials[d.r.IntN(len(intSpecials))]
			}
		default:
			out.B[i] = d.r.IntN(2) == 0
		}
	}
	if dtype == ir.F8E4M3 { // which has no infinities
		for i, x := range out.F {
			out.F[i] = min(max(x, -448), 448)
		}
	}
	switch {
	case out.F != nil:
		return oracle.Floats(dtype, out.Shape, out.F...)
	case out.I != nil:
		return oracle.IntsOf(dtype, out.Shape, out.I...)
	}
	return out
}

// indices makes an i64 tensor of indices into an axis of length n.
func (d data) indices(n int, dims ...int) oracle.Tensor {
	out := oracle.New(ir.I64, append(shape{}, dims...))
	for i := range out.I {
		out.I[i] = int64(d.r.IntN(n))
	}
	return out
}

// opCase is a call of the API and the operation it must be.
type opCase struct {
	name string
	op   ir.Operation
	in   []oracle.Tensor
	call func(in tensors) *tensor
}

// check makes the call on each device and compares it with the oracle, and the
// devices with one another bit by bit.
func (c opCase) check(t *testing.T, devs ...*sinter.Device) {
	t.Helper()
	op := c.op
	op.Inputs = nil
	for i, x := range c.in {
		op.Inputs = append(op.Inputs, ir.TensorRef{ID: ir.TensorID(i + 1), Shape: x.Shape, DType: x.DType})
	}
	require.NoError(t, op.Check(), c.name)
	var first []byte
	for i, dev := range devs {
		in := make(tensors, len(c.in))
		for k, x := range c.in {
			in[k] = put(dev, x)
		}
		raw, err := sinter.ReadBytes(ctx, c.call(in))
		if err != nil {
			t.Errorf("%s%s: %v", c.name, describe(c.in), err)
			return
		}
		out := op.Outputs[0]
		got, err := oracle.FromBytes(out.DType, out.Shape, raw)
		require.NoError(t, err)
		if err := oracle.CheckOp(&op, got, c.in...); err != nil {
			t.Errorf("%s%s: %v", c.name, describe(c.in), err)
			return
		}
		if i == 0 {
			first = raw
		}
		if !slices.Equal(first, raw) {
			t.Errorf("%s%s: devices differ", c.name, describe(c.in))
		}
	}
}

func describe(in []oracle.Tensor) string {
	s := "("
	for i, x := range in {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(x.DType, x.Shape)
		if x.Len() <= 8 {
			s += fmt.Sprint(" ", x.F, x.I, x.B)
		}
	}
	return s + ")"
}

// scalars returns values as scalars of tensors of a dtype.
func scalars(d ir.DType, v ...float64) []ir.Scalar {
	var out []ir.Scalar
	for _, x := range v {
		switch c := d.Compute(); {
		case c.IsInt():
			out = append(out, ir.IntScalar(c, int64(x)))
		case c == ir.Bool:
			out = append(out, ir.BoolScalar(x != 0))
		default:
			out = append(out, ir.FloatScalar(c, x))
		}
	}
	return out
}

// fromOperands returns scalars that operands hold, from position on.
func fromOperands(d ir.DType, position, n int) []ir.Scalar {
	out := make([]ir.Scalar, n)
	for i := range out {
		out[i] = ir.Scalar{DType: d.Compute(), Input: uint8(position + i)}
	}
	return out
}

func axes(a ...int) ir.Attrs { return ir.Attrs{Axes: a} }

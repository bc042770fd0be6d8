package sinter_test

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// here returns "errors_test.go:line" of its caller, offset lines further on.
func here(offset int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line+offset)
}

// isOp checks that err is the failure of the named operation, caused by an
// error of type E, and that its message begins with a line of this file.
func isOp[E error](t *testing.T, err error, op string) {
	t.Helper()
	require.Error(t, err)
	var cause E
	require.ErrorAs(t, err, &cause, "%v", err)
	var oe *sinter.OpError
	require.ErrorAs(t, err, &oe, "%v", err)
	require.Equal(t, op, oe.Op, "%v", err)
	require.Regexp(t, `^.*[a-z]+_test\.go:\d+: `+op+`\(`, err.Error())
}

type check func(t *testing.T, err error, op string)

var (
	isShape    check = isOp[*sinter.ShapeError]
	isDType    check = isOp[*sinter.DTypeError]
	isIndex    check = isOp[*sinter.IndexError]
	isArgument check = isOp[*sinter.ArgumentError]
)

// bad is a wrong call and the error it must give.
type bad struct {
	op    string
	check check
	call  func() *tensor
}

// expect makes each call, and checks that its error is carried, is reported
// once, and leaves the device usable.
func expect(t *testing.T, dev *sinter.Device, cases []bad) {
	for i, c := range cases {
		t.Run(fmt.Sprintf("%d %s", i, c.op), func(t *testing.T) {
			y := c.call()
			require.NotNil(t, y)
			c.check(t, y.Err(), c.op)
			_, err := sinter.ReadBytes(ctx, y.AddScalar(1))
			require.Equal(t, y.Err(), err, "dependents carry the first cause")
			require.NoError(t, dev.Flush(ctx), "a read reported it")
			c.check(t, c.call().Err(), c.op)
			c.check(t, dev.Flush(ctx), c.op)
			require.NoError(t, dev.Flush(ctx), "an error is reported once")
			require.Equal(t, []float32{3}, read[float32](t, sinter.Full(dev, sinter.F32, 1, 1).AddScalar(2)))
		})
	}
}

func TestBadShapes(t *testing.T) {
	dev := open(t)
	x := sinter.Zeros(dev, sinter.F32, 2, 3)
	y := sinter.Zeros(dev, sinter.F32, 4)
	cube := sinter.Zeros(dev, sinter.F32, 1, 2, 3, 4)
	i := sinter.Zeros(dev, sinter.I64, 2)
	b := sinter.Zeros(dev, sinter.Bool, 3)
	expect(t, dev, []bad{
		{"Add", isShape, func() *tensor { return x.Add(y) }},
		{"Where", isShape, func() *tensor { return sinter.Where(b, x, y) }},
		{"MulAdd", isShape, func() *tensor { return x.MulAdd(x, y) }},
		{"Clamp", isShape, func() *tensor { return x.ClampTensor(y, y) }},
		{"MatMul", isShape, func() *tensor { return x.MatMul(x) }},
		{"MatMul", isShape, func() *tensor { return x.MatMul(sinter.Zeros(dev, sinter.F32)) }},
		{"Linear", isShape, func() *tensor { return x.Linear(x, nil) }},
		{"Linear", isShape, func() *tensor { return x.Linear(x.T(), y) }},
		{"LayerNorm", isShape, func() *tensor { return x.LayerNorm(y, nil, 1e-5) }},
		{"RMSNorm", isShape, func() *tensor { return sinter.Zeros(dev, sinter.F32).RMSNorm(nil, 1e-5) }},
		{"Attention", isShape, func() *tensor { return x.Attention(x, x, sinter.AttentionOptions{}) }},
		{"Attention", isShape, func() *tensor { return cube.Attention(cube, cube, sinter.AttentionOptions{Mask: y.Reshape(2, 2)}) }},
		{"Reshape", isShape, func() *tensor { return x.Reshape(4) }},
		{"Reshape", isShape, func() *tensor { return x.Reshape(4, -1) }},
		{"Reshape", isShape, func() *tensor { return x.Reshape(-1, -1) }},
		{"Reshape", isShape, func() *tensor { return x.Reshape(-2, -3) }},
		{"Reshape", isShape, func() *tensor { return x.Flatten(1, 0) }},
		{"Reshape", isShape, func() *tensor { return x.Flatten(0, 2) }},
		{"Reshape", isShape, func() *tensor { return x.Squeeze(0) }},
		{"Reshape", isShape, func() *tensor { return x.Squeeze(2) }},
		{"Reshape", isShape, func() *tensor { return x.Unsqueeze(4) }},
		{"Permute", isShape, func() *tensor { return y.T() }},
		{"Permute", isShape, func() *tensor { return x.Permute(0) }},
		{"Permute", isShape, func() *tensor { return x.Permute(0, 0) }},
		{"Permute", isShape, func() *tensor { return x.Transpose(0, 2) }},
		{"Expand", isShape, func() *tensor { return x.Expand(3, 3) }},
		{"Expand", isShape, func() *tensor { return x.Expand(3) }},
		{"Expand", isShape, func() *tensor { return x.Expand(-1, 2, 3) }},
		{"Flip", isShape, func() *tensor { return x.Flip(2) }},
		{"Flip", isShape, func() *tensor { return x.Flip(1, -1) }},
		{"Sum", isShape, func() *tensor { return x.Sum(-3) }},
		{"Var", isShape, func() *tensor { return x.Variance(0, 2) }},
		{"Softmax", isShape, func() *tensor { return x.Softmax(2) }},
		{"CumSum", isShape, func() *tensor { return x.CumSum(2) }},
		{"Cat", isShape, func() *tensor { return sinter.Cat(0, x, y) }},
		{"Cat", isShape, func() *tensor { return sinter.Cat(0, x, x.T()) }},
		{"Cat", isShape, func() *tensor { return sinter.Cat(2, x, x) }},
		{"Cat", isShape, func() *tensor { return sinter.Stack(3, x, x) }},
		{"Cat", isShape, func() *tensor { return sinter.Stack(0, x, y) }},
		{"Repeat", isShape, func() *tensor { return x.Repeat(2) }},
		{"Pad", isShape, func() *tensor { return x.Pad(0, 1) }},
		{"Slice", isShape, func() *tensor { return x.Slice(sinter.All(), sinter.All(), sinter.All()) }},
		{"Slice", isShape, func() *tensor { return x.Slice(sinter.SpanAt(i, 1)) }},
		{"Slice", isShape, func() *tensor { return x.Narrow(2, 0, 1) }},
		{"Select", isShape, func() *tensor { return x.Select(0, i.Reshape(2, 1)) }},
		{"Select", isShape, func() *tensor { return x.Select(2, i) }},
		{"Gather", isShape, func() *tensor { return x.Gather(0, i) }},
		{"Embedding", isShape, func() *tensor { return y.Embedding(i) }},
		{"Full", isShape, func() *tensor { return sinter.Zeros(dev, sinter.F32, -1) }},
		{"Full", isShape, func() *tensor { return sinter.Zeros(dev, sinter.F32, math.MaxInt, 2) }},
		{"Uniform", isShape, func() *tensor { return sinter.Uniform(dev, sinter.F32, 0, 1, 2, -3) }},
		{"Arange", isShape, func() *tensor { return sinter.Arange(dev, sinter.F32, 0, 1, -1) }},
		{"From", isShape, func() *tensor { return sinter.From(dev, []float32{1, 2}, 3) }},
		{"From", isShape, func() *tensor { return sinter.From(dev, []float32{1, 2}) }},
		{"From", isShape, func() *tensor { return sinter.From(dev, []float32{}, -1) }},
		{"From", isShape, func() *tensor { return sinter.From(dev, []float32{}, math.MaxInt, 0, math.MaxInt) }},
		{"From", isShape, func() *tensor { return sinter.FromBytes(dev, sinter.F32, make([]byte, 7), 1) }},
	})
}

func TestBadDTypesAndArguments(t *testing.T) {
	dev, other := open(t), open(t)
	x := sinter.Zeros(dev, sinter.F32, 2, 3)
	n := sinter.Zeros(dev, sinter.I64, 2, 3)
	b := sinter.Zeros(dev, sinter.Bool, 2, 3)
	far := sinter.Zeros(other, sinter.F32, 2, 3)
	cube := sinter.Zeros(dev, sinter.F32, 1, 1, 1, 1)
	expect(t, dev, []bad{
		{"Add", isDType, func() *tensor { return x.Add(n) }},
		{"Add", isDType, func() *tensor { return b.Add(b) }},
		{"Add", isDType, func() *tensor { return b.AddScalar(1) }},
		{"Less", isDType, func() *tensor { return b.Less(b) }},
		{"Exp", isDType, func() *tensor { return n.Exp() }},
		{"Not", isDType, func() *tensor { return x.Not() }},
		{"And", isDType, func() *tensor { return x.And(x) }},
		{"Relu", isDType, func() *tensor { return n.Relu() }},
		{"LeakyRelu", isDType, func() *tensor { return n.LeakyRelu(1) }},
		{"Mean", isDType, func() *tensor { return n.Mean() }},
		{"Var", isDType, func() *tensor { return n.Variance(0) }},
		{"Sum", isDType, func() *tensor { return b.Sum() }},
		{"Any", isDType, func() *tensor { return x.Any() }},
		{"Where", isDType, func() *tensor { return sinter.Where(x, x, x) }},
		{"Where", isDType, func() *tensor { return sinter.Where(b, x, n) }},
		{"Clamp", isDType, func() *tensor { return x.ClampTensor(sinter.Scalar(dev, int64(0)), sinter.Scalar(dev, int64(1))) }},
		{"Softmax", isDType, func() *tensor { return n.Softmax() }},
		{"LayerNorm", isDType, func() *tensor { return n.LayerNorm(nil, nil, 0) }},
		{"CumSum", isDType, func() *tensor { return b.CumSum(0) }},
		{"MatMul", isDType, func() *tensor { return x.MatMul(n.T()) }},
		{"Linear", isDType, func() *tensor { return n.Linear(n.T(), nil) }},
		{"Attention", isDType, func() *tensor {
			return cube.Attention(cube, cube, sinter.AttentionOptions{Mask: cube.Cast(sinter.I64)})
		}},
		{"Cat", isDType, func() *tensor { return sinter.Cat(0, x, n) }},
		{"Select", isDType, func() *tensor { return x.Select(0, x) }},
		{"Gather", isDType, func() *tensor { return x.Gather(0, x) }},
		{"Embedding", isDType, func() *tensor { return x.Embedding(x) }},
		{"Slice", isDType, func() *tensor { return x.Slice(sinter.SpanAt(sinter.Scalar(dev, float32(0)), 1)) }},
		{"Cast", isDType, func() *tensor { return x.Cast(99) }},
		{"Full", isDType, func() *tensor { return sinter.Zeros(dev, 0) }},
		{"Uniform", isDType, func() *tensor { return sinter.Uniform(dev, sinter.I64, 0, 1) }},
		{"Arange", isDType, func() *tensor { return sinter.Arange(dev, sinter.Bool, 0, 1, 2) }},
		{"From", isDType, func() *tensor { return sinter.FromBytes(dev, 99, []byte{1}, 1) }},
		{"Dropout", isDType, func() *tensor { return n.Dropout(0.5) }},

		{"Add", isArgument, func() *tensor { return n.AddScalar(0.5) }},
		{"Mul", isArgument, func() *tensor { return n.MulScalar(1e30) }},
		{"Mul", isArgument, func() *tensor { return n.MulScalar(math.NaN()) }},
		{"Clamp", isArgument, func() *tensor { return n.Clamp(0, 1.5) }},
		{"Pow", isArgument, func() *tensor { return n.PowScalar(-1) }},
		{"Equal", isArgument, func() *tensor { return b.EqualScalar(2) }},
		{"Pad", isArgument, func() *tensor { return b.Pad(0.5, 1, 1, 1, 1) }},
		{"Full", isArgument, func() *tensor { return sinter.Full(dev, sinter.I64, 0.5, 2) }},
		{"Arange", isArgument, func() *tensor { return sinter.Arange(dev, sinter.I64, 0, 0.5, 2) }},
		{"Uniform", isArgument, func() *tensor { return sinter.Uniform(dev, sinter.F32, 1, 0) }},
		{"Normal", isArgument, func() *tensor { return sinter.Normal(dev, sinter.F32, 0, -1) }},
		{"Bernoulli", isArgument, func() *tensor { return sinter.Bernoulli(dev, 1.5) }},
		{"RandInt", isArgument, func() *tensor { return sinter.RandInt(dev, 2, 2) }},
		{"Dropout", isArgument, func() *tensor { return x.Dropout(1) }},
		{"Slice", isArgument, func() *tensor { return x.Slice(sinter.SpanStep(0, 1, 0)) }},
		{"Repeat", isArgument, func() *tensor { return x.Repeat(-1, 1) }},
		{"On", isArgument, func() *tensor { return x.On(nil) }},
		{"Add", isArgument, func() *tensor { return x.Add(far) }},
		{"Add", isArgument, func() *tensor { return x.Add(nil) }},
		{"Where", isArgument, func() *tensor { return sinter.Where(nil, x, x) }},
		{"Cat", isArgument, func() *tensor { return sinter.Cat(0, x, nil) }},
		{"Cat", isArgument, func() *tensor { return sinter.Stack(0, x, nil) }},
		{"Slice", isArgument, func() *tensor { return x.Slice(sinter.SpanAt(nil, 1)) }},
		{"Linear", isArgument, func() *tensor { return x.Linear(nil, nil) }},
		{"Where", isArgument, func() *tensor { return x.MaskFill(nil, 0) }},

		{"Slice", isIndex, func() *tensor { return x.Slice(sinter.Span(1, 3)) }},
		{"Slice", isIndex, func() *tensor { return x.Slice(sinter.Span(1, 0)) }},
		{"Slice", isIndex, func() *tensor { return x.Slice(sinter.Span(-3, 1)) }},
		{"Slice", isIndex, func() *tensor { return x.Slice(sinter.Index(2)) }},
		{"Slice", isIndex, func() *tensor { return x.Slice(sinter.SpanFrom(3)) }},
		{"Slice", isIndex, func() *tensor { return x.Slice(sinter.Span(math.MinInt, math.MaxInt)) }},
		{"Slice", isIndex, func() *tensor { return x.Slice(sinter.Span(math.MaxInt, math.MaxInt)) }},
		{"Slice", isIndex, func() *tensor { return x.Narrow(0, 1, 2) }},
		{"Slice", isIndex, func() *tensor { return x.Narrow(0, -3, 3) }},
		{"Slice", isIndex, func() *tensor { return x.Narrow(1, 2, -3) }},
		{"Slice", isIndex, func() *tensor { return x.Narrow(1, 1, math.MaxInt) }},
	})
	require.NoError(t, other.Close(), "the other device was not told of anything")
}

// An index that only the device sees is an error at the read.
func TestBadIndices(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.From(dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
		for name, call := range map[string]func(i *tensor) *tensor{
			"Select":    func(i *tensor) *tensor { return x.Select(0, i) },
			"Gather":    func(i *tensor) *tensor { return x.Gather(0, i.Reshape(1, 1)) },
			"Embedding": func(i *tensor) *tensor { return x.Embedding(i) },
			"Slice":     func(i *tensor) *tensor { return x.Slice(sinter.SpanAt(i.Reshape(), 1)) },
		} {
			for _, i := range []int64{-1, 2, math.MinInt64, math.MaxInt64, 1 << 32} {
				y := call(sinter.From(dev, []int64{i}, 1))
				require.NoError(t, y.Err(), "not known yet")
				z := y.AddScalar(1).Sum()
				_, err := sinter.Read[float32](ctx, z)
				var index *sinter.IndexError
				require.ErrorAs(t, err, &index, "%s %d", name, i)
				isIndex(t, err, name)
				require.Contains(t, err.Error(), "[2,3]")
				require.Error(t, z.Err())
				require.NoError(t, dev.Flush(ctx))
				require.Equal(t, float32(21), read[float32](t, x.Sum())[0])
			}
			require.NoError(t, call(sinter.From(dev, []int64{0}, 1)).Err())
		}
	}
}

func TestBadReads(t *testing.T) {
	dev := open(t)
	x := sinter.Zeros(dev, sinter.F32, 2, 3)
	_, err := sinter.Read[int64](ctx, x)
	isDType(t, err, "Read")
	require.ErrorContains(t, err, here(-2))
	isShape(t, sinter.ReadInto(ctx, x, make([]float32, 5)), "Read")
	_, err = sinter.Item[float32](ctx, x)
	isShape(t, err, "Read")
	require.ErrorContains(t, err, here(-2)+": Read([2,3]): ")
	_, err = sinter.Read[float32](ctx, nil)
	isArgument(t, err, "Read")
	_, err = sinter.ReadBytes(ctx, nil)
	isArgument(t, err, "Read")
	require.NoError(t, dev.Flush(ctx), "what a read returned is not reported again")
}

// What has no device only carries its error.
func TestOrphans(t *testing.T) {
	dev := open(t)
	var none *tensor
	var nodev *sinter.Device
	x := sinter.Zeros(dev, sinter.F32, 2)
	for _, c := range []bad{
		{"Add", isArgument, func() *tensor { return none.Add(none) }},
		{"Add", isArgument, func() *tensor { return none.AddScalar(1) }},
		{"Cat", isArgument, func() *tensor { return sinter.Cat(0) }},
		{"Cat", isArgument, func() *tensor { return sinter.Stack(0) }},
		{"Cat", isArgument, func() *tensor { return sinter.Cat(0).Exp().Add(x) }},
		{"Cat", isArgument, func() *tensor { return x.Add(sinter.Cat(0)) }},
		{"From", isArgument, func() *tensor { return sinter.From(nodev, []float32{1}) }},
		{"From", isArgument, func() *tensor { return sinter.Scalar[int64](nil, 1) }},
		{"Full", isArgument, func() *tensor { return sinter.Ones((*sinter.Stream)(nil), sinter.F32) }},
		{"Uniform", isArgument, func() *tensor { return sinter.Uniform((*sinter.Scope)(nil), sinter.F32, 0, 1) }},
		{"Value", isArgument, func() *tensor { return (*sinter.Var)(nil).Value() }},
		{"NewVar", isArgument, func() *tensor { return sinter.NewVar(nil).Value() }},
		{"Cat", isArgument, func() *tensor { return sinter.NewVar(sinter.Cat(0)).Value() }},
	} {
		y := c.call()
		c.check(t, y.Err(), c.op)
		_, err := sinter.Read[float32](ctx, y)
		c.check(t, err, c.op)
		y.Release()
	}
	require.NoError(t, dev.Flush(ctx))
}

// Every method of a nil tensor gives an error, not a panic.
func TestNilTensor(t *testing.T) {
	dev := open(t)
	var none *tensor
	v := reflect.ValueOf(none)
	for i := range v.NumMethod() {
		m := v.Type().Method(i)
		typ := v.Method(i).Type()
		var args []reflect.Value
		for k := range typ.NumIn() {
			if typ.IsVariadic() && k == typ.NumIn()-1 {
				break
			}
			args = append(args, reflect.Zero(typ.In(k)))
		}
		out := v.Method(i).Call(args)
		if len(out) == 1 && out[0].Type() == v.Type() {
			if y := out[0].Interface().(*tensor); m.Name != "Named" {
				require.Error(t, y.Err(), m.Name)
			}
		}
	}
	isArgument(t, sinter.Where(none, none, none).Err(), "Where")
	require.Error(t, none.Err())
	require.NoError(t, dev.Flush(ctx))
}

// The message tells a scalar that i64 cannot hold from a fraction.
func TestScalarsOfIntegers(t *testing.T) {
	dev := open(t)
	n := sinter.Ones(dev, sinter.I64, 2)
	for c, want := range map[float64]string{
		0.5:          "scalar 0.5 is not an integer",
		math.NaN():   "scalar NaN is not an integer",
		1e30:         "scalar 1e+30 is outside i64",
		1 << 63:      "scalar 9.223372036854776e+18 is outside i64",
		math.Inf(-1): "scalar -Inf is outside i64",
	} {
		require.ErrorContains(t, n.MulScalar(c).Err(), want)
	}
	got := read[int64](t, n.MulScalar(-1<<63))
	require.Equal(t, []int64{math.MinInt64, math.MinInt64}, got)
}

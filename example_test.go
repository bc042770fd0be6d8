package sinter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sinter-ml/sinter"
)

// device opens the device the examples run on.
func device() *sinter.Device {
	dev, err := sinter.Open("cpu")
	if err != nil {
		panic(err)
	}
	return dev
}

// show prints the shape and the elements of tensors.
func show[T sinter.Elem](ts ...*sinter.Tensor) {
	for _, t := range ts {
		data, err := sinter.Read[T](context.Background(), t)
		if err != nil {
			panic(err)
		}
		fmt.Println(t.Shape(), data)
	}
}

func Example() {
	ctx := context.Background()
	dev, err := sinter.Open("auto")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
	y := x.MatMul(x).AddScalar(1).Relu() // recorded, not run
	data, err := sinter.Read[float32](ctx, y)
	fmt.Println(y.Shape(), data, err)
	// Output: [2,2] [8 11 16 23] <nil>
}

func ExampleFrom() {
	dev := device()
	defer dev.Close()
	show[float32](sinter.From(dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3))
	show[int64](sinter.From(dev, []int64{7, 8}, 2), sinter.Scalar(dev, int64(9)), sinter.Arange(dev, sinter.I64, 0, 5, 4))
	show[bool](sinter.From(dev, []bool{true, false}, 2))
	// Output:
	// [2,3] [1 2 3 4 5 6]
	// [2] [7 8]
	// [] [9]
	// [4] [0 5 10 15]
	// [2] [true false]
}

func ExampleReadInto() {
	ctx := context.Background()
	dev := device()
	defer dev.Close()
	dst := make([]float32, 2)
	for i := range 2 {
		x := sinter.Full(dev, sinter.F32, float64(i), 2)
		if err := sinter.ReadInto(ctx, x, dst); err != nil {
			panic(err)
		}
		fmt.Println(dst)
	}
	one, err := sinter.Item[float32](ctx, sinter.From(dev, dst, 2).Sum())
	fmt.Println(one, err)
	// Output:
	// [0 0]
	// [1 1]
	// 2 <nil>
}

// Element-wise operations broadcast as in NumPy: shapes align at the last
// axis, and a length of 1 stretches.
func ExampleTensor_Add() {
	dev := device()
	defer dev.Close()
	x := sinter.From(dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	row := sinter.From(dev, []float32{10, 20, 30}, 3)
	column := sinter.From(dev, []float32{100, 200}, 2, 1)
	show[float32](x.Add(row), x.Add(column), row.Add(column), x.MulScalar(2).SubScalar(1))
	show[bool](x.Greater(x.Mean()))
	// Output:
	// [2,3] [11 22 33 14 25 36]
	// [2,3] [101 102 103 204 205 206]
	// [2,3] [110 120 130 210 220 230]
	// [2,3] [1 3 5 7 9 11]
	// [2,3] [false false false true true true]
}

func ExampleTensor_MatMul() {
	dev := device()
	defer dev.Close()
	a := sinter.From(dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	v := sinter.From(dev, []float32{1, 0, -1}, 3)
	show[float32](a.MatMul(a.T()), a.MatMul(v))
	// Output:
	// [2,2] [14 32 32 77]
	// [2] [-2 -2]
}

func ExampleTensor_Linear() {
	dev := device()
	defer dev.Close()
	x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
	weight := sinter.From(dev, []float32{1, 0, 1, 0, 1, 1}, 2, 3)
	bias := sinter.From(dev, []float32{10, 20, 30}, 3)
	show[float32](x.Linear(weight, bias))
	// Output: [2,3] [11 22 33 13 24 37]
}

// Reduced axes keep length 1, so that the result broadcasts against what it
// was made from; Squeeze drops them.
func ExampleTensor_Sum() {
	dev := device()
	defer dev.Close()
	x := sinter.From(dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	show[float32](x.Sum(1), x.Sum(1).Squeeze(1), x.Sum(), x.Sub(x.Mean(-1)), x.Max(0))
	show[int64](x.ArgMax(1).Squeeze())
	// Output:
	// [2,1] [6 15]
	// [2] [6 15]
	// [1,1] [21]
	// [2,3] [-1 0 1 -1 0 1]
	// [1,3] [4 5 6]
	// [2] [2 2]
}

func ExampleTensor_Softmax() {
	dev := device()
	defer dev.Close()
	x := sinter.From(dev, []float32{1, 1, 0, 1000}, 2, 2)
	show[float32](x.Softmax(-1))
	// Output: [2,2] [0.5 0.5 0 1]
}

func ExampleTensor_LayerNorm() {
	dev := device()
	defer dev.Close()
	x := sinter.From(dev, []float32{-1, 1, 3, 7}, 2, 2)
	weight := sinter.From(dev, []float32{1, 2}, 2)
	show[float32](x.LayerNorm(weight, nil, 0))
	// Output: [2,2] [-1 2 -1 2]
}

// Views cost nothing where what reads them can read through them.
func ExampleTensor_Reshape() {
	dev := device()
	defer dev.Close()
	x := sinter.Arange(dev, sinter.I64, 0, 1, 6)
	m := x.Reshape(2, -1)
	show[int64](m, m.T(), m.Flip(1), m.Unsqueeze(0), m.Select(0, sinter.From(dev, []int64{1}, 1)).Expand(2, 3))
	// Output:
	// [2,3] [0 1 2 3 4 5]
	// [3,2] [0 3 1 4 2 5]
	// [2,3] [2 1 0 5 4 3]
	// [1,2,3] [0 1 2 3 4 5]
	// [2,3] [3 4 5 3 4 5]
}

func ExampleTensor_Slice() {
	dev := device()
	defer dev.Close()
	x := sinter.Arange(dev, sinter.I64, 0, 1, 12).Reshape(3, 4)
	show[int64](
		x.Slice(sinter.Span(1, 3)),                              // x[1:3]
		x.Slice(sinter.All(), sinter.Index(-1)),                 // x[:, -1:]
		x.Slice(sinter.Index(0), sinter.SpanFrom(2)),            // x[0:1, 2:]
		x.Slice(sinter.Index(2), sinter.SpanStep(0, 4, -2)),     // x[2:3, ::-2]
		x.Slice(sinter.SpanAt(sinter.Scalar(dev, int64(1)), 1)), // a start known when it runs
	)
	// Output:
	// [2,4] [4 5 6 7 8 9 10 11]
	// [3,1] [3 7 11]
	// [1,2] [2 3]
	// [1,2] [11 9]
	// [1,4] [4 5 6 7]
}

func ExampleTensor_Gather() {
	dev := device()
	defer dev.Close()
	x := sinter.From(dev, []float32{0, 1, 10, 11, 20, 21}, 3, 2)
	index := sinter.From(dev, []int64{2, 0}, 2)
	show[float32](
		x.Select(0, index), // whole rows
		x.Gather(1, sinter.From(dev, []int64{1, 0, 1}, 3, 1)),    // one element of each row
		x.Embedding(sinter.From(dev, []int64{1, 1, 0, 2}, 2, 2)), // rows, at indices of any shape
	)
	// Output:
	// [2,2] [20 21 0 1]
	// [3,1] [1 10 21]
	// [2,2,2] [10 11 10 11 0 1 20 21]
}

func ExampleWhere() {
	dev := device()
	defer dev.Close()
	x := sinter.From(dev, []float32{-2, -1, 0, 1, 2}, 5)
	show[float32](sinter.Where(x.LessScalar(0), x.MulScalar(10), x), x.Clamp(-1, 1), x.MaskFill(x.EqualScalar(0), 9))
	// Output:
	// [5] [-20 -10 0 1 2]
	// [5] [-1 -1 0 1 1]
	// [5] [-2 -1 9 1 2]
}

func ExampleCat() {
	dev := device()
	defer dev.Close()
	a, b := sinter.From(dev, []int64{1, 2}, 2), sinter.From(dev, []int64{3, 4}, 2)
	show[int64](sinter.Cat(0, a, b), sinter.Stack(0, a, b), sinter.Stack(1, a, b), a.Repeat(2), a.Pad(0, 1, 2))
	// Output:
	// [4] [1 2 3 4]
	// [2,2] [1 2 3 4]
	// [2,2] [1 3 2 4]
	// [4] [1 2 1 2]
	// [5] [0 1 2 0 0]
}

// The same seed gives the same numbers, on every device.
func ExampleUniform() {
	dev, err := sinter.Open("cpu", sinter.WithSeed(42))
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	a := sinter.Uniform(dev, sinter.F32, 0, 1, 3)
	b := sinter.Uniform(dev, sinter.F32, 0, 1, 3)
	dev.Seed(42)
	c := sinter.Uniform(dev, sinter.F32, 0, 1, 3)
	show[bool](a.Equal(b).All(), a.Equal(c).All())
	dev.Seed(1)
	show[int64](sinter.RandInt(dev, 0, 6, 5))
	// Output:
	// [1] [false]
	// [1] [true]
	// [5] [5 5 3 4 0]
}

// Attention with four query heads that share two key heads; key j is visible
// to query i if j ≤ i.
func ExampleTensor_Attention() {
	dev := device()
	defer dev.Close()
	q := sinter.Zeros(dev, sinter.F32, 1, 4, 2, 8)
	k := sinter.Zeros(dev, sinter.F32, 1, 2, 2, 8)
	v := sinter.From(dev, []float32{1, 3, 10, 30}, 1, 2, 2, 1)
	show[float32](q.Attention(k, v, sinter.AttentionOptions{Causal: true}))
	// Output: [1,4,2,1] [1 2 1 2 10 20 10 20]
}

// Operations on bf16 compute in float32 and round after each operation.
func ExampleBFloat16() {
	dev := device()
	defer dev.Close()
	x := sinter.From(dev, []sinter.BFloat16{sinter.ToBFloat16(1), sinter.ToBFloat16(256)}, 2)
	show[float32](x.AddScalar(1).Cast(sinter.F32), x.Cast(sinter.F32).AddScalar(1))
	// Output:
	// [2] [2 256]
	// [2] [2 257]
}

func ExampleVar() {
	dev := device()
	defer dev.Close()
	v := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 4))
	before := v.Value()
	v.Set(v.Value().AddScalar(1))
	v.SetSlice(sinter.From(dev, []float32{7, 8}, 2), sinter.Span(1, 3))
	v.SetSelect(0, sinter.From(dev, []int64{3}, 1), sinter.From(dev, []float32{9}, 1))
	v.ScatterAdd(0, sinter.From(dev, []int64{0, 0}, 2), sinter.From(dev, []float32{10, 20}, 2))
	show[float32](v.Value(), before) // a value taken before the effects stays
	sinter.Write(v, []float32{1, 2, 3, 4})
	show[float32](v.Value())
	// Output:
	// [4] [31 7 8 9]
	// [4] [0 0 0 0]
	// [4] [1 2 3 4]
}

// What a scope made is dead when it ends, unless kept: its memory is free at
// once, and what nothing needs is not computed.
func ExampleStream_Scope() {
	dev := device()
	defer dev.Close()
	weight := sinter.NewVar(sinter.Ones(dev, sinter.F32, 2))
	var loss *sinter.Tensor
	for range 3 {
		err := dev.Stream().Scope(func(sc *sinter.Scope) error {
			x := sinter.From(sc, []float32{1, 2}, 2)
			residual := x.Mul(weight.Value()).SubScalar(1)
			weight.Set(weight.Value().Sub(residual.Mul(x).MulScalar(0.25)))
			loss = sc.Keep(residual.Square().Sum())
			return nil
		})
		if err != nil {
			panic(err)
		}
	}
	show[float32](loss, weight.Value())
	// Output:
	// [1] [0]
	// [2] [1 0.5]
}

// Work on different streams runs side by side. A tensor used on another stream
// is waited for there.
func ExampleDevice_NewStream() {
	ctx := context.Background()
	dev := device()
	defer dev.Close()
	a, b := dev.NewStream(), dev.NewStream()
	x := sinter.Ones(a, sinter.F32, 2).AddScalar(1)
	y := sinter.Full(b, sinter.F32, 10, 2)
	sum := y.Add(x)                      // on b, the stream of the first operand
	if err := b.Flush(ctx); err != nil { // starts the work without waiting for it
		panic(err)
	}
	show[float32](sum, x.On(b).MulScalar(3))
	// Output:
	// [2] [12 12]
	// [2] [6 6]
}

// An operation never panics: the error travels in the tensor, names the line
// of the program, and comes out where something waits.
func ExampleOpError() {
	ctx := context.Background()
	dev := device()
	defer dev.Close()
	x := sinter.Zeros(dev, sinter.F32, 2, 3)
	y := x.MatMul(x).Exp().Sum()
	_, err := sinter.Read[float32](ctx, y)
	var op *sinter.OpError
	if errors.As(err, &op) {
		fmt.Println(filepath.Base(op.Position()), op.Op, op.Shapes)
	}
	var shape *sinter.ShapeError
	if errors.As(err, &shape) {
		fmt.Println(shape)
	}
	// Output:
	// example_test.go:340 MatMul [[2,3] [2,3]]
	// inner lengths 3 and 2 of [2,3] and [2,3] differ
}

// An index out of range is found when the operation runs.
func ExampleIndexError() {
	ctx := context.Background()
	dev := device()
	defer dev.Close()
	table := sinter.Zeros(dev, sinter.F32, 10, 4)
	row := table.Embedding(sinter.Scalar(dev, int64(10)))
	fmt.Println(row.Err())
	_, err := sinter.Read[float32](ctx, row)
	var index *sinter.IndexError
	fmt.Println(errors.As(err, &index), index)
	// Output:
	// <nil>
	// true index 10 out of range for an axis of length 10
}

// With fusion off every operation is a kernel of its own. The result has the
// same bits.
func ExampleWithFusion() {
	ctx := context.Background()
	var results [2][]byte
	var launches [2]int64
	for i, fuse := range []bool{true, false} {
		dev, err := sinter.Open("cpu", sinter.WithFusion(fuse))
		if err != nil {
			panic(err)
		}
		x := sinter.Arange(dev, sinter.F32, -4, 0.01, 800).Reshape(8, 100)
		before := dev.Stats().Device.Launches
		y := x.Exp().AddScalar(1).Log().Softmax(-1).Mul(x.Tanh())
		results[i], err = sinter.ReadBytes(ctx, y)
		if err != nil {
			panic(err)
		}
		launches[i] = dev.Stats().Device.Launches - before
		dev.Close()
	}
	fmt.Println("fewer launches:", launches[0] < launches[1])
	fmt.Println("same bits:", bytes.Equal(results[0], results[1]))
	// Output:
	// fewer launches: true
	// same bits: true
}

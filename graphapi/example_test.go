package graphapi_test

import (
	"context"
	"fmt"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

func ExampleCaptureOf() {
	dev, err := sinter.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	ctx := context.Background()
	type batch struct{ X, Mask *sinter.Tensor }
	type result struct{ Sum, Largest *sinter.Tensor }
	g, err := graphapi.CaptureOf(ctx, dev.Stream(), func(_ *sinter.Stream, b batch) (result, error) {
		y := b.X.Mul(b.Mask)
		return result{Sum: y.Sum(), Largest: y.Max()}, nil
	}, batch{sinter.From(dev, []float32{1, 2, 3}, 3), sinter.From(dev, []float32{1, 1, 1}, 3)})
	if err != nil {
		panic(err)
	}
	r, err := g.Replay(batch{sinter.From(dev, []float32{4, 5, 6}, 3), sinter.From(dev, []float32{1, 1, 0}, 3)})
	if err != nil {
		panic(err)
	}
	sum, _ := sinter.Item[float32](ctx, r.Sum)
	largest, _ := sinter.Item[float32](ctx, r.Largest)
	fmt.Println(sum, largest)
	// Output: 9 5
}

func ExampleBegin() {
	dev, err := sinter.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	ctx := context.Background()
	x := sinter.NewVar(sinter.From(dev, []float32{1, 2}, 2))
	c, err := graphapi.Begin(ctx, dev.Stream())
	if err != nil {
		panic(err)
	}
	for c.Next() { // three times to warm up, once to be recorded
		c.Return(x.Value().MulScalar(10))
	}
	g, err := c.End()
	if err != nil {
		panic(err)
	}
	sinter.Write(x, []float32{3, 4})
	if err := g.Replay(); err != nil {
		panic(err)
	}
	fmt.Println(sinter.Read[float32](ctx, g.Out(0)))
	// Output: [30 40] <nil>
}

func ExampleWhile() {
	dev, err := sinter.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	ctx := context.Background()
	// Newton's method for the square root, until it no longer moves much.
	root := func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		x := in[0]
		return graphapi.While(s,
			func(y []*sinter.Tensor) (*sinter.Tensor, error) {
				return y[0].Square().Sub(x).Abs().GreaterScalar(1e-3), nil
			},
			func(y []*sinter.Tensor) ([]*sinter.Tensor, error) {
				return []*sinter.Tensor{y[0].Add(x.Div(y[0])).MulScalar(0.5)}, nil
			},
			[]*sinter.Tensor{x}, graphapi.MaxIterations(50))
	}
	g, err := graphapi.Capture(ctx, dev.Stream(), root, []*sinter.Tensor{sinter.Scalar(dev, float32(2))})
	if err != nil {
		panic(err)
	}
	for _, x := range []float32{9, 144} {
		if err := g.Replay(sinter.Scalar(dev, x)); err != nil {
			panic(err)
		}
		y, _ := sinter.Item[float32](ctx, g.Out(0))
		fmt.Printf("%.3f\n", y)
	}
	// Output:
	// 3.000
	// 12.000
}

package graphapi_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

type layer struct {
	K, V *sinter.Tensor
	Bias *sinter.Tensor // may be absent
}

type request struct {
	X      *sinter.Tensor
	Layers []layer
	Pair   [2]*sinter.Tensor
	Extra  map[string]*sinter.Tensor
	Opt    *layer
	Scale  float64
	Name   string
}

type answer struct {
	Sum    *sinter.Tensor
	Parts  map[string][]*sinter.Tensor
	Nested *layer
	Layers int
}

func answerOf(_ *sinter.Stream, r request) (answer, error) {
	sum := r.X.MulScalar(r.Scale)
	a := answer{Parts: map[string][]*sinter.Tensor{}, Layers: len(r.Layers)}
	for _, l := range r.Layers {
		y := l.K.Sub(l.V)
		if l.Bias != nil {
			y = y.Add(l.Bias)
		}
		a.Parts["layers"] = append(a.Parts["layers"], y)
		sum = sum.Add(y)
	}
	for _, k := range []string{"b", "a"} {
		sum = sum.Add(r.Extra[k].MulScalar(0.5))
	}
	a.Sum = sum.Add(r.Pair[0].Sub(r.Pair[1]))
	if r.Opt != nil {
		a.Nested = &layer{K: r.Opt.K.Neg()}
	}
	return a, nil
}

func newRequest(dev *sinter.Device, by float32) request {
	x := func(v float32) *sinter.Tensor { return sinter.From(dev, []float32{v * by, v + by}, 2) }
	return request{
		X: x(1), Layers: []layer{{K: x(2), V: x(3)}, {K: x(4), V: x(5), Bias: x(6)}},
		Pair: [2]*sinter.Tensor{x(7), x(8)}, Extra: map[string]*sinter.Tensor{"a": x(9), "b": x(10)},
		Opt: &layer{K: x(11), V: x(12)}, Scale: 3, Name: "r",
	}
}

func TestCaptureOf(t *testing.T) {
	for _, graphs := range []bool{true, false} {
		dev := open(t, sinter.WithGraphs(graphs))
		ctx := context.Background()
		g, err := graphapi.CaptureOf(ctx, dev.Stream(), answerOf, newRequest(dev, 1))
		require.NoError(t, err)
		require.Equal(t, graphs, g.Graph().IsHardware())
		require.Equal(t, 12, g.Graph().Inputs())
		for _, by := range []float32{2, -1, 1} {
			r := newRequest(dev, by)
			want, err := answerOf(nil, r)
			require.NoError(t, err)
			got, err := g.Replay(r)
			require.NoError(t, err)
			require.Equal(t, read(t, want.Sum), read(t, got.Sum))
			require.Len(t, got.Parts["layers"], 2)
			for i, p := range want.Parts["layers"] {
				require.Equal(t, read(t, p), read(t, got.Parts["layers"][i]))
			}
			require.Equal(t, read(t, want.Nested.K), read(t, got.Nested.K))
			require.Nil(t, got.Nested.V)
			require.Equal(t, 2, got.Layers)
		}
		require.NoError(t, g.Close())
		var closed *sinter.ClosedError
		_, err = g.Replay(newRequest(dev, 1))
		require.ErrorAs(t, err, &closed)
	}
}

// What is not a tensor is part of the structure: a replay that differs there is
// refused with the path.
func TestCaptureOfStructure(t *testing.T) {
	dev := open(t)
	g, err := graphapi.CaptureOf(context.Background(), dev.Stream(), answerOf, newRequest(dev, 1))
	require.NoError(t, err)
	x := newRequest(dev, 1).X
	for path, change := range map[string]func(r *request){
		"In.X":               func(r *request) { r.X = nil },
		"In.Layers":          func(r *request) { r.Layers = r.Layers[:1] },
		"In.Layers[0].Bias":  func(r *request) { r.Layers[0].Bias = x },
		"In.Layers[1].Bias":  func(r *request) { r.Layers[1].Bias = nil },
		"In.Extra":           func(r *request) { r.Extra["c"] = x },
		"In.Opt":             func(r *request) { r.Opt = nil },
		"In.Scale":           func(r *request) { r.Scale = 4 },
		"In.Name":            func(r *request) { r.Name = "s" },
		`In.Extra["a"]`:      func(r *request) { r.Extra["a"] = nil },
		"In.Pair[1]":         func(r *request) { r.Pair[1] = nil },
		"In.Opt.Bias":        func(r *request) { r.Opt.Bias = x },
		"another key":        func(r *request) { delete(r.Extra, "a"); r.Extra["z"] = x },
		"another shape of X": func(r *request) { r.X = sinter.Zeros(dev, sinter.F32, 3) },
	} {
		r := newRequest(dev, 1)
		change(&r)
		_, err := g.Replay(r)
		var tree *graphapi.TreeError
		var shape *sinter.ShapeError
		var op *sinter.OpError
		require.ErrorAs(t, err, &op, path)
		switch path {
		case "another shape of X":
			require.ErrorAs(t, err, &shape)
		case "another key":
			require.ErrorAs(t, err, &tree)
			require.Equal(t, "In.Extra", tree.Path)
		default:
			require.ErrorAs(t, err, &tree)
			require.Equal(t, path, tree.Path)
		}
	}
	_, err = g.Replay(newRequest(dev, 2))
	require.NoError(t, err)
}

type secret struct{ x *sinter.Tensor }
type ring struct {
	X    *sinter.Tensor
	Next *ring
}

// refused captures a function of an input that cannot be flattened.
func refused[In any](t *testing.T, dev *sinter.Device, path string, in In) {
	t.Helper()
	_, err := graphapi.CaptureOf(context.Background(), dev.Stream(), func(*sinter.Stream, In) (*sinter.Tensor, error) { return nil, nil }, in)
	var tree *graphapi.TreeError
	require.ErrorAs(t, err, &tree)
	require.Equal(t, path, tree.Path)
	_, err = graphapi.CaptureOf(context.Background(), dev.Stream(), func(*sinter.Stream, struct{}) (In, error) { return in, nil }, struct{}{})
	require.ErrorAs(t, err, &tree)
	require.Equal(t, "Out"+path[2:], tree.Path)
	usable(t, dev)
}

func TestCaptureOfRefuses(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1}, 1)
	refused(t, dev, "In.x", secret{x})
	refused(t, dev, "In.A.F", struct{ A struct{ F func() } }{})
	refused(t, dev, "In[0]", []any{x})
	refused(t, dev, "In", map[int]*sinter.Tensor{1: x})
	refused(t, dev, "In", make(chan int))
	refused(t, dev, "In.C", struct{ C complex128 }{})
	refused(t, dev, "In.V", struct{ V *sinter.Var }{sinter.NewVar(x)})
}

// The results' structure is that of every run, and a captured type may be a
// bare tensor.
func TestCaptureOfResults(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	x := sinter.From(dev, []float32{1, 2}, 2)
	g, err := graphapi.CaptureOf(ctx, dev.Stream(), func(_ *sinter.Stream, x *sinter.Tensor) (*sinter.Tensor, error) { return x.MulScalar(2), nil }, x)
	require.NoError(t, err)
	y, err := g.Replay(sinter.From(dev, []float32{3, 4}, 2))
	require.NoError(t, err)
	require.Equal(t, []float32{6, 8}, read(t, y))
	calls := 0
	var tree *graphapi.TreeError
	_, err = graphapi.CaptureOf(ctx, dev.Stream(), func(_ *sinter.Stream, x *sinter.Tensor) (struct{ Calls int }, error) {
		calls++
		return struct{ Calls int }{calls}, nil
	}, x)
	require.ErrorAs(t, err, &tree)
	require.Equal(t, "Out.Calls", tree.Path)
	var capture *sinter.CaptureError
	_, err = graphapi.CaptureOf[int, int](ctx, dev.Stream(), nil, 1)
	require.ErrorAs(t, err, &capture)
	loop := &ring{X: x}
	loop.Next = loop
	_, err = graphapi.CaptureOf(ctx, dev.Stream(), func(_ *sinter.Stream, r *ring) (int, error) { return 1, nil }, loop)
	require.ErrorAs(t, err, &tree)
	require.Equal(t, "In.Next", tree.Path)
	list, err := graphapi.CaptureOf(ctx, dev.Stream(), func(_ *sinter.Stream, r *ring) (*sinter.Tensor, error) { return r.X.Add(r.Next.X), nil }, &ring{x, &ring{x, nil}})
	require.NoError(t, err)
	y, err = list.Replay(&ring{x, &ring{y, nil}})
	require.NoError(t, err)
	require.Equal(t, []float32{7, 10}, read(t, y))
}

package bench

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	_ "github.com/sinter-ml/sinter/backend/null" // for what the library itself costs
)

var ctx = context.Background()

type tensor = sinter.Tensor

// open opens a device for a test or benchmark.
func open(t testing.TB, name string, opts ...sinter.Option) *sinter.Device {
	t.Helper()
	dev, err := sinter.Open(name, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

// program is a computation on one input, with its parameters made beforehand.
type program struct {
	name  string
	shape []int // of the input
	make  func(dev *sinter.Device) func(x *tensor) *tensor
}

var programs = []program{
	{"Chain", []int{16 << 20}, plain(chain)},
	{"Softmax", []int{4096, 1024}, plain(softmax)},
	{"LayerNorm", []int{4096, 1024}, plain(layerNorm)},
	{"MLP", []int{64, 256}, mlp},
	{"Encoder", []int{2, 64, 128}, func(dev *sinter.Device) func(x *tensor) *tensor { return encoder(dev, 128, 4) }},
}

func plain(f func(x *tensor) *tensor) func(*sinter.Device) func(x *tensor) *tensor {
	return func(*sinter.Device) func(x *tensor) *tensor { return f }
}

// chain is eight element-wise operations.
func chain(x *tensor) *tensor {
	return x.AddScalar(1).MulScalar(0.5).Abs().Square().SubScalar(2).Relu().MaximumScalar(0.1).Neg()
}

// softmax over the last axis, from primitives.
func softmax(x *tensor) *tensor {
	e := x.Sub(x.Max(-1)).Exp()
	return e.Div(e.Sum(-1))
}

// layerNorm over the last axis, from primitives.
func layerNorm(x *tensor) *tensor {
	d := x.Sub(x.Mean(-1))
	return d.Div(d.Square().Mean(-1).AddScalar(1e-5).Sqrt())
}

// weight is a parameter with small values.
func weight(dev *sinter.Device, shape ...int) *sinter.Var {
	bound := 1 / math.Sqrt(float64(shape[0]))
	return sinter.NewVar(sinter.Uniform(dev, sinter.F32, -bound, bound, shape...))
}

// linear is a product and a bias, as two operations.
func linear(dev *sinter.Device, in, out int) func(x *tensor) *tensor {
	w, b := weight(dev, in, out), weight(dev, out)
	return func(x *tensor) *tensor { return x.MatMul(w.Value()).Add(b.Value()) }
}

func mlp(dev *sinter.Device) func(x *tensor) *tensor {
	up, down := linear(dev, 256, 512), linear(dev, 512, 256)
	return func(x *tensor) *tensor { return down(up(x).Gelu()).Add(x) }
}

// encoder is a layer of a transformer encoder, normalised before each part:
// x + attention(norm(x)), then h + MLP(norm(h)).
func encoder(dev *sinter.Device, width, heads int) func(x *tensor) *tensor {
	q, k, v, o := linear(dev, width, width), linear(dev, width, width), linear(dev, width, width), linear(dev, width, width)
	up, down := linear(dev, width, 4*width), linear(dev, 4*width, width)
	scale := 1 / math.Sqrt(float64(width/heads))
	return func(x *tensor) *tensor {
		split := func(y *tensor) *tensor {
			return y.Reshape(y.Dim(0), y.Dim(1), heads, width/heads).Permute(0, 2, 1, 3)
		}
		n := x.LayerNorm(nil, nil, 1e-5)
		scores := split(q(n)).MatMul(split(k(n)).Transpose(2, 3)).MulScalar(scale).Softmax(-1)
		attended := scores.MatMul(split(v(n))).Permute(0, 2, 1, 3).Reshape(x.Shape()...)
		h := x.Add(o(attended))
		return h.Add(down(up(h.LayerNorm(nil, nil, 1e-5)).Gelu()))
	}
}

// runner runs a program on a device again and again.
type runner struct {
	dev *sinter.Device
	x   *tensor
	f   func(x *tensor) *tensor
}

func newRunner(t testing.TB, p program, fuse bool) *runner {
	dev := open(t, "cpu", sinter.WithFusion(fuse), sinter.WithSeed(1))
	x := sinter.Normal(dev, sinter.F32, 0, 1, p.shape...)
	r := &runner{dev, x, p.make(dev)}
	require.NoError(t, dev.Flush(ctx))
	for range 3 { // until the plan is settled
		r.run(t)
	}
	return r
}

// run computes the program once. Its result is dead afterwards, and so is what
// it makes on the way when the scope ends.
func (r *runner) run(t testing.TB) {
	var result *tensor
	err := r.dev.Stream().Scope(func(sc *sinter.Scope) error {
		result = sc.Keep(r.f(r.x))
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, r.dev.Stream().Sync(ctx))
	result.Release()
}

// cost is what runs of a program took.
type cost struct{ launches, bytes int64 }

func (r *runner) cost() cost {
	s := r.dev.Stats()
	return cost{s.Device.Launches, s.BytesRead + s.BytesWritten}
}

func (c cost) sub(d cost) cost { return cost{c.launches - d.launches, c.bytes - d.bytes} }

package nn_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
)

// projection is the data of a Linear of equal widths.
type projection struct{ w, b []float32 }

func project(seed uint64, width int) projection {
	return projection{numbers(seed, width*width), numbers(seed+100, width)}
}

func (p projection) linear(dev *sinter.Device, width int) *nn.Linear {
	return &nn.Linear{Weight: variable(dev, p.w, width, width), Bias: variable(dev, p.b, width)}
}

// attention is the reference: x [b, m, width] attends to [b, n, width];
// score changes the score of query i and key j of batch b and head h.
func attention(x, to []float32, b, m, n, width, heads int, scale float64, p [4]projection, score func(b, h, i, j int, s float64) float64) []float64 {
	q := affine(x, p[0].w, p[0].b, b*m, width, width)
	k := affine(to, p[1].w, p[1].b, b*n, width, width)
	v := affine(to, p[2].w, p[2].b, b*n, width, width)
	d := width / heads
	context := make([]float32, b*m*width)
	for bi := range b {
		for h := range heads {
			for i := range m {
				weights, total := make([]float64, n), 0.0
				for j := range n {
					var s float64
					for c := range d {
						s += q[(bi*m+i)*width+h*d+c] * k[(bi*n+j)*width+h*d+c]
					}
					weights[j] = math.Exp(score(bi, h, i, j, s*scale))
					total += weights[j]
				}
				for c := range d {
					var sum float64
					for j := range n {
						if weights[j] > 0 {
							sum += weights[j] / total * v[(bi*n+j)*width+h*d+c]
						}
					}
					context[(bi*m+i)*width+h*d+c] = float32(sum)
				}
			}
		}
	}
	return affine(context, p[3].w, p[3].b, b*m, width, width)
}

func TestMultiHeadAttention(t *testing.T) {
	const b, m, n, width, heads = 2, 3, 5, 8, 2
	dev := open(t)
	p := [4]projection{project(1, width), project(2, width), project(3, width), project(4, width)}
	layer := &nn.MultiHeadAttention{
		Query: p[0].linear(dev, width), Key: p[1].linear(dev, width),
		Value: p[2].linear(dev, width), Output: p[3].linear(dev, width), Heads: heads,
	}
	x, to := numbers(5, b*m*width), numbers(6, b*n*width)
	in, keys := sinter.From(dev, x, b, m, width), sinter.From(dev, to, b, n, width)
	plain := func(_, _, _, _ int, s float64) float64 { return s }
	scale := 1 / math.Sqrt(width/heads)

	t.Run("self", func(t *testing.T) {
		y := layer.Forward(in)
		require.Equal(t, in.Shape(), y.Shape())
		near(t, attention(x, x, b, m, m, width, heads, scale, p, plain), read[float32](t, y), 1e-5)
	})
	t.Run("cross", func(t *testing.T) {
		y := layer.Attend(in, keys, nil)
		near(t, attention(x, to, b, m, n, width, heads, scale, p, plain), read[float32](t, y), 1e-5)
	})
	t.Run("scale", func(t *testing.T) {
		scaled := *layer
		scaled.Scale = 2
		near(t, attention(x, x, b, m, m, width, heads, 2, p, plain), read[float32](t, scaled.Forward(in)), 1e-5)
	})
	visible := []bool{true, true, false, true, false, false, true, true, true, true}
	t.Run("bool mask", func(t *testing.T) {
		mask := sinter.From(dev, visible, b, 1, 1, n)
		y := layer.Attend(in, keys, mask)
		near(t, attention(x, to, b, m, n, width, heads, scale, p, func(b, _, _, j int, s float64) float64 {
			if !visible[b*n+j] {
				return math.Inf(-1)
			}
			return s
		}), read[float32](t, y), 1e-5)
	})
	t.Run("float mask", func(t *testing.T) {
		add := numbers(7, heads*m*n)
		y := layer.Attend(in, keys, sinter.From(dev, add, heads, m, n))
		near(t, attention(x, to, b, m, n, width, heads, scale, p, func(_, h, i, j int, s float64) float64 {
			return s + float64(add[(h*m+i)*n+j])
		}), read[float32](t, y), 1e-5)
	})
	t.Run("nothing visible", func(t *testing.T) {
		y := read[float32](t, layer.Forward(in))
		hidden := read[float32](t, layer.Attend(in, in, sinter.Zeros(dev, sinter.Bool, b, 1, 1, m)))
		for i := range y {
			require.False(t, math.IsNaN(float64(y[i])))
			require.True(t, math.IsNaN(float64(hidden[i])))
		}
	})
	t.Run("a masked key has no effect", func(t *testing.T) {
		mask := sinter.From(dev, visible, b, 1, 1, n)
		changed := append([]float32{}, to...)
		for j, on := range visible {
			if !on {
				copy(changed[j*width:], numbers(uint64(20+j), width))
			}
		}
		require.NotEqual(t, to, changed)
		require.Equal(t, read[float32](t, layer.Attend(in, keys, mask)),
			read[float32](t, layer.Attend(in, sinter.From(dev, changed, b, n, width), mask)))
	})
	t.Run("no sentences", func(t *testing.T) {
		require.Empty(t, read[float32](t, layer.Forward(sinter.Ones(dev, sinter.F32, 0, m, width))))
	})
}

func TestMultiHeadAttentionErrors(t *testing.T) {
	const name = "nn.MultiHeadAttention"
	dev := open(t)
	a := nn.NewMultiHeadAttention(dev, 6, 2)
	x := sinter.Ones(dev, sinter.F32, 2, 3, 6)
	fails[*sinter.ArgumentError](t, (*nn.MultiHeadAttention)(nil).Forward(x), name, "layer is nil")
	fails[*sinter.ArgumentError](t, a.Attend(x, nil, nil), name, "operand is nil")
	fails[*sinter.ShapeError](t, a.Forward(x.Flatten(0, 1)), name, "are not [b, m, width]")
	fails[*sinter.ShapeError](t, a.Attend(x, sinter.Ones(dev, sinter.F32, 1, 3, 6), nil), name, "are not [b, m, width]")
	fails[*sinter.ShapeError](t, a.Forward(sinter.Ones(dev, sinter.F32, 2, 3, 7)), "nn.Linear", "length 6")
	fails[*sinter.ArgumentError](t, (&nn.MultiHeadAttention{Heads: 1}).Forward(x), "nn.Linear", "no weight")
	fails[*sinter.ArgumentError](t, nn.NewMultiHeadAttention(dev, 6, 4).Forward(x), name, "not a multiple of 4 heads")
	fails[*sinter.ArgumentError](t, nn.NewMultiHeadAttention(dev, 6, 0).Forward(x), name, "not a multiple of 0 heads")
	require.Nil(t, a.Forward(nil))
}

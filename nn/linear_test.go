package nn_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
)

// affine is x·w + b for x [rows, in], in float64; b may be nil.
func affine(x, w, b []float32, rows, in, out int) []float64 {
	y := make([]float64, rows*out)
	for r := range rows {
		for o := range out {
			for i := range in {
				y[r*out+o] += float64(x[r*in+i]) * float64(w[i*out+o])
			}
			if b != nil {
				y[r*out+o] += float64(b[o])
			}
		}
	}
	return y
}

func TestLinear(t *testing.T) {
	dev := open(t)
	for _, c := range []struct {
		shape   []int // of x
		out     int
		noBias  bool
		rows    int
		outside []int
	}{
		{shape: []int{5, 7}, out: 3, rows: 5, outside: []int{5, 3}},
		{shape: []int{5, 7}, out: 3, noBias: true, rows: 5, outside: []int{5, 3}},
		{shape: []int{2, 3, 4}, out: 9, rows: 6, outside: []int{2, 3, 9}},
		{shape: []int{4}, out: 1, rows: 1, outside: []int{1}},
		{shape: []int{0, 4}, out: 2, rows: 0, outside: []int{0, 2}},
		{shape: []int{3, 0}, out: 2, rows: 3, outside: []int{3, 2}},
	} {
		t.Run(fmt.Sprint(c.shape, c.out, c.noBias), func(t *testing.T) {
			in := c.shape[len(c.shape)-1]
			x, w, b := numbers(1, c.rows*in), numbers(2, in*c.out), numbers(3, c.out)
			l := &nn.Linear{Weight: variable(dev, w, in, c.out)}
			if c.noBias {
				b = nil
			} else {
				l.Bias = variable(dev, b, c.out)
			}
			y := l.Forward(sinter.From(dev, x, c.shape...))
			require.Equal(t, sinter.Shape(c.outside), y.Shape())
			near(t, affine(x, w, b, c.rows, in, c.out), read[float32](t, y), 1e-6)
		})
	}
}

func TestLinearRoundsOnce(t *testing.T) {
	dev := open(t)
	half := func(f []float32) []sinter.BFloat16 {
		out := make([]sinter.BFloat16, len(f))
		for i, x := range f {
			out[i] = sinter.ToBFloat16(x)
		}
		return out
	}
	// The product 1 + 2⁻⁹ alone rounds to 1, and 1 plus the bias 2⁻⁸ is a tie that
	// rounds to 1; the sum of all three rounds to 1 + 2⁻⁷.
	l := &nn.Linear{
		Weight: sinter.NewVar(sinter.From(dev, half([]float32{1, 1.0 / 512}), 2, 1)),
		Bias:   sinter.NewVar(sinter.From(dev, half([]float32{1.0 / 256}), 1)),
	}
	y := l.Forward(sinter.From(dev, half([]float32{1, 1}), 1, 2))
	require.Equal(t, half([]float32{1 + 1.0/128}), read[sinter.BFloat16](t, y))
}

func TestNewLinear(t *testing.T) {
	dev := open(t, sinter.WithSeed(7))
	l := nn.NewLinear(dev, 16, 5)
	require.Equal(t, sinter.Shape{16, 5}, l.Weight.Shape())
	require.Equal(t, sinter.Shape{5}, l.Bias.Shape())
	w, err := sinter.ReadVar[float32](context.Background(), l.Weight)
	require.NoError(t, err)
	distinct := make(map[float32]bool)
	for _, x := range w {
		require.LessOrEqual(t, x, float32(0.25)) // 1/√16
		require.GreaterOrEqual(t, x, float32(-0.25))
		distinct[x] = true
	}
	require.Greater(t, len(distinct), 70)

	l = nn.NewLinear(dev, 2, 3, nn.WithoutBias(), nn.WithInit(nn.ZeroInit), nn.WithDType(sinter.BF16))
	require.Nil(t, l.Bias)
	b, err := sinter.ReadVar[sinter.BFloat16](context.Background(), l.Weight)
	require.NoError(t, err)
	require.Equal(t, make([]sinter.BFloat16, 6), b)

	x := nn.NewLinear(dev, 3, -1).Forward(sinter.Ones(dev, sinter.F32, 2, 3))
	var shape *sinter.ShapeError
	require.ErrorAs(t, x.Err(), &shape)
}

func TestLinearErrors(t *testing.T) {
	dev := open(t)
	x := sinter.Ones(dev, sinter.F32, 2, 3)
	l := nn.NewLinear(dev, 4, 5)
	fails[*sinter.ShapeError](t, l.Forward(x), "nn.Linear", "takes a last axis of length 4")
	fails[*sinter.ShapeError](t, l.Forward(sinter.Scalar(dev, float32(1))), "nn.Linear", "takes a last axis of length 4")
	fails[*sinter.ArgumentError](t, (*nn.Linear)(nil).Forward(x), "nn.Linear", "no weight")
	fails[*sinter.ArgumentError](t, new(nn.Linear).Forward(x), "nn.Linear", "no weight")
	require.Nil(t, new(nn.Linear).Forward(nil))
	var missing *sinter.ArgumentError
	require.ErrorAs(t, l.Forward(nil).Err(), &missing)

	// The first cause stays.
	bad := x.MatMul(x)
	require.Equal(t, bad.Err(), new(nn.Linear).Forward(bad).Err())

	var dtype *sinter.DTypeError
	require.ErrorAs(t, l.Forward(sinter.Ones(dev, sinter.I64, 2, 4)).Err(), &dtype)
}

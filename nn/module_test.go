package nn_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
)

func TestActivations(t *testing.T) {
	dev := open(t)
	x := []float32{-3, -0.5, 0, 0.25, 2}
	softmax := func(x float64) float64 {
		var total float64
		for _, v := range []float64{-3, -0.5, 0, 0.25, 2} {
			total += math.Exp(v)
		}
		return math.Exp(x) / total
	}
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for name, c := range map[string]struct {
		m nn.Module
		f func(float64) float64
	}{
		"relu":       {nn.Relu{}, func(x float64) float64 { return max(x, 0) }},
		"leaky":      {nn.LeakyRelu{Slope: 0.1}, func(x float64) float64 { return max(x, 0.1*x) }},
		"sigmoid":    {nn.Sigmoid{}, sigmoid},
		"tanh":       {nn.Tanh{}, math.Tanh},
		"silu":       {nn.Silu{}, func(x float64) float64 { return x * sigmoid(x) }},
		"gelu":       {nn.Gelu{}, func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) }},
		"gelu tanh":  {nn.GeluTanh{}, func(x float64) float64 { return x * sigmoid(2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)) }},
		"softplus":   {nn.Softplus{}, func(x float64) float64 { return math.Log1p(math.Exp(x)) }},
		"softmax":    {nn.Softmax{Axis: -1}, softmax},
		"logsoftmax": {nn.LogSoftmax{Axis: -1}, func(x float64) float64 { return math.Log(softmax(x)) }},
		"elu":        {nn.Elu{Alpha: 0.5}, func(x float64) float64 { return max(x, 0) + min(0.5*math.Expm1(x), 0) }},
		"celu":       {nn.Celu{Alpha: 2}, func(x float64) float64 { return max(x, 0) + min(2*math.Expm1(x/2), 0) }},
		"selu": {nn.Selu{}, func(x float64) float64 {
			return 1.0507009873554805 * (max(x, 0) + min(1.6732632423543772*math.Expm1(x), 0))
		}},
		"mish":         {nn.Mish{}, func(x float64) float64 { return x * math.Tanh(math.Log1p(math.Exp(x))) }},
		"hard sigmoid": {nn.HardSigmoid{}, func(x float64) float64 { return min(max(x+3, 0), 6) / 6 }},
		"hard swish":   {nn.HardSwish{}, func(x float64) float64 { return x * min(max(x+3, 0), 6) / 6 }},
		"hard tanh":    {nn.HardTanh{}, func(x float64) float64 { return min(max(x, -1), 1) }},
		"relu6":        {nn.Relu6{}, func(x float64) float64 { return min(max(x, 0), 6) }},
		"log sigmoid":  {nn.LogSigmoid{}, func(x float64) float64 { return -math.Log1p(math.Exp(-x)) }},
		"softsign":     {nn.Softsign{}, func(x float64) float64 { return x / (1 + math.Abs(x)) }},
		"prelu":        {nn.PRelu{Weight: variable(dev, []float32{0.25}, 1)}, func(x float64) float64 { return max(x, 0.25*x) }},
		"func":         {nn.Func((*sinter.Tensor).Square), func(x float64) float64 { return x * x }},
	} {
		t.Run(name, func(t *testing.T) {
			want := make([]float64, len(x))
			for i, v := range x {
				want[i] = c.f(float64(v))
			}
			near(t, want, read[float32](t, c.m.Forward(sinter.From(dev, x, 5))), 1e-6)
			if name != "func" {
				require.Nil(t, c.m.Forward(nil))
			}
		})
	}
}

func TestGlu(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, -2, 0, 100}, 1, 4)
	near(t, []float64{0.5, -2}, read[float32](t, nn.Glu{Axis: -1}.Forward(x)), 1e-6)
	require.Nil(t, nn.Glu{}.Forward(nil))
	fails[*sinter.ArgumentError](t, nn.PRelu{}.Forward(x), "nn.PRelu", "no weight")
}

func TestSequential(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, numbers(1, 6), 2, 3)
	w0, w2 := numbers(2, 12), numbers(3, 4)
	seq := nn.Sequential{
		&nn.Linear{Weight: variable(dev, w0, 3, 4)},
		nn.Relu{},
		&nn.Linear{Weight: variable(dev, w2, 4, 1)},
	}
	hidden := affine(numbers(1, 6), w0, nil, 2, 3, 4)
	relu := make([]float32, len(hidden))
	for i, v := range hidden {
		relu[i] = float32(max(v, 0))
	}
	near(t, affine(relu, w2, nil, 2, 4, 1), read[float32](t, seq.Forward(x)), 1e-6)

	require.Same(t, x, nn.Sequential{}.Forward(x))
	fails[*sinter.ArgumentError](t, nn.Sequential{nn.Relu{}, nil}.Forward(x), "nn.Sequential", "module 1 is nil")
	fails[*sinter.ArgumentError](t, nn.Func(nil).Forward(x), "nn.Func", "function is nil")
	// An error on the way comes out at the end.
	fails[*sinter.ShapeError](t, nn.Sequential{nn.NewLinear(dev, 5, 5), seq}.Forward(x), "nn.Linear", "length 5")
}

// Layers record and do nothing else: nothing runs, and what they made lives on.
func TestLayersOpenNoScope(t *testing.T) {
	dev := open(t)
	s := dev.NewStream()
	x := sinter.From(s, numbers(1, 12), 1, 2, 6)
	layer := nn.Sequential{nn.NewMultiHeadAttention(dev, 6, 2), nn.NewLayerNorm(dev, 6), nn.NewLinear(dev, 6, 3), nn.Gelu{}}
	segments, launches := dev.Stats().Segments, dev.Stats().Device.Launches
	y := layer.Forward(x)
	require.Equal(t, segments, dev.Stats().Segments)
	require.Equal(t, launches, dev.Stats().Device.Launches)
	require.Same(t, s.Runtime(), sinter.ValueOf(y).Home())
	require.Positive(t, s.Runtime().Recorded())
	require.Len(t, read[float32](t, y), 6)
}

package nn_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
)

// normalised is what a norm makes of rows of n, in float64; LayerNorm if
// centred, else RMSNorm.
func normalised(x, weight, bias []float32, n int, epsilon float64, centred bool) []float64 {
	out := make([]float64, len(x))
	for r := 0; r < len(x); r += n {
		var mean, squares float64
		if centred {
			for _, v := range x[r : r+n] {
				mean += float64(v) / float64(n)
			}
		}
		for _, v := range x[r : r+n] {
			squares += (float64(v) - mean) * (float64(v) - mean) / float64(n)
		}
		for i, v := range x[r : r+n] {
			y := (float64(v) - mean) / math.Sqrt(squares+epsilon)
			if weight != nil {
				y *= float64(weight[i])
			}
			if bias != nil {
				y += float64(bias[i])
			}
			out[r+i] = y
		}
	}
	return out
}

func TestNorms(t *testing.T) {
	dev := open(t)
	x, w, b := numbers(1, 6*11), numbers(2, 11), numbers(3, 11)
	in := sinter.From(dev, x, 2, 3, 11)
	weight, bias := variable(dev, w, 11), variable(dev, b, 11)
	for name, c := range map[string]struct {
		m    nn.Module
		want []float64
	}{
		"layer":        {&nn.LayerNorm{Weight: weight, Bias: bias, Epsilon: 1e-12}, normalised(x, w, b, 11, 1e-12, true)},
		"layer scale":  {&nn.LayerNorm{Weight: weight, Epsilon: 0.5}, normalised(x, w, nil, 11, 0.5, true)},
		"layer plain":  {&nn.LayerNorm{Epsilon: 1e-5}, normalised(x, nil, nil, 11, 1e-5, true)},
		"layer new":    {nn.NewLayerNorm(dev, 11), normalised(x, nil, nil, 11, 1e-5, true)},
		"layer nobias": {nn.NewLayerNorm(dev, 11, nn.WithoutBias()), normalised(x, nil, nil, 11, 1e-5, true)},
		"rms":          {&nn.RMSNorm{Weight: weight, Epsilon: 1e-3}, normalised(x, w, nil, 11, 1e-3, false)},
		"rms plain":    {&nn.RMSNorm{Epsilon: 1e-3}, normalised(x, nil, nil, 11, 1e-3, false)},
		"rms new":      {nn.NewRMSNorm(dev, 11), normalised(x, nil, nil, 11, 1e-6, false)},
	} {
		t.Run(name, func(t *testing.T) {
			y := c.m.Forward(in)
			require.Equal(t, in.Shape(), y.Shape())
			near(t, c.want, read[float32](t, y), 2e-6)
		})
	}
	require.Empty(t, read[float32](t, nn.NewLayerNorm(dev, 4).Forward(sinter.Ones(dev, sinter.F32, 0, 4))))
}

func TestNormErrors(t *testing.T) {
	dev := open(t)
	x := sinter.Ones(dev, sinter.F32, 2, 3)
	fails[*sinter.ArgumentError](t, (*nn.LayerNorm)(nil).Forward(x), "nn.LayerNorm", "layer is nil")
	fails[*sinter.ArgumentError](t, (*nn.RMSNorm)(nil).Forward(x), "nn.RMSNorm", "layer is nil")
	fails[*sinter.ArgumentError](t, (&nn.LayerNorm{Bias: variable(dev, []float32{1}, 1)}).Forward(x), "nn.LayerNorm", "no weight")
	fails[*sinter.ShapeError](t, nn.NewLayerNorm(dev, 4).Forward(x), "nn.LayerNorm", "length 4")
	fails[*sinter.ShapeError](t, nn.NewRMSNorm(dev, 4).Forward(x), "nn.RMSNorm", "length 4")
	for _, m := range []nn.Module{new(nn.LayerNorm), new(nn.RMSNorm), (*nn.LayerNorm)(nil), (*nn.RMSNorm)(nil)} {
		require.Nil(t, m.Forward(nil))
	}
	for _, m := range []nn.Module{nn.NewLayerNorm(dev, 4), nn.NewRMSNorm(dev, 4)} {
		require.Error(t, m.Forward(nil).Err())
	}
}

package nn_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
)

// perChannel applies f to the values of each of c channels of x [n, c, ...],
// which are inner elements apart.
func perChannel(x []float64, c, inner int, f func(channel int, values []float64)) []float64 {
	out := make([]float64, len(x))
	for ch := range c {
		var at []int
		var values []float64
		for i := range x {
			if i/inner%c == ch {
				at, values = append(at, i), append(values, x[i])
			}
		}
		f(ch, values)
		for k, i := range at {
			out[i] = values[k]
		}
	}
	return out
}

func moments(v []float64) (mean, variance float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		variance += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, variance
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func TestGroupNorm(t *testing.T) {
	const n, c, inner, groups = 2, 6, 5, 3
	dev := open(t)
	x, w, b := numbers(1, n*c*inner), numbers(2, c), numbers(3, c)
	var want []float64
	for g := 0; g < len(x); g += c / groups * inner {
		part := wide(x[g : g+c/groups*inner])
		mean, variance := moments(part)
		for i, v := range part {
			ch := (g + i) / inner % c
			want = append(want, (v-mean)/math.Sqrt(variance+1e-5)*float64(w[ch])+float64(b[ch]))
		}
	}
	l := &nn.GroupNorm{Groups: groups, Weight: variable(dev, w, c), Bias: variable(dev, b, c), Epsilon: 1e-5}
	near(t, want, read[float32](t, l.Forward(sinter.From(dev, x, n, c, inner))), 1e-5)

	plain := nn.NewGroupNorm(dev, groups, c)
	require.Equal(t, sinter.Shape{c}, plain.Weight.Shape())
	near(t, read64(t, (&nn.GroupNorm{Groups: groups, Epsilon: 1e-5}).Forward(sinter.From(dev, x, n, c, inner))),
		read[float32](t, plain.Forward(sinter.From(dev, x, n, c, inner))), 0)

	in := sinter.Ones(dev, sinter.F32, 2, 4)
	fails[*sinter.ShapeError](t, plain.Forward(in), "nn.GroupNorm", "takes 6 channels")
	fails[*sinter.ArgumentError](t, (*nn.GroupNorm)(nil).Forward(in), "nn.GroupNorm", "layer is nil")
	fails[*sinter.ArgumentError](t, (&nn.GroupNorm{Bias: plain.Bias}).Forward(in), "nn.GroupNorm", "no weight")
	require.Error(t, (&nn.GroupNorm{Groups: 3}).Forward(in).Err())
	require.Nil(t, plain.Forward(nil))
}

func read64(t *testing.T, x *sinter.Tensor) []float64 { return read[float64](t, x.Cast(sinter.F64)) }

func TestBatchNorm(t *testing.T) {
	const n, c, inner = 4, 3, 5
	for _, dtype := range []sinter.DType{sinter.F64, sinter.F32, sinter.F16, sinter.BF16} {
		tolerance := map[sinter.DType]float64{sinter.F64: 1e-12, sinter.F32: 1e-5, sinter.F16: 4e-3, sinter.BF16: 3e-2}[dtype]
		dev := open(t)
		l := nn.NewBatchNorm(dev, c, nn.WithDType(dtype))
		l.Weight.Set(sinter.From(dev, numbers(2, c), c).Cast(dtype))
		l.Bias.Set(sinter.From(dev, numbers(3, c), c).Cast(dtype))
		w, b := read64(t, l.Weight.Value()), read64(t, l.Bias.Value())
		mean, variance := make([]float64, c), []float64{1, 1, 1}
		x := sinter.From(dev, numbers(1, n*c*inner), n, c, inner).Cast(dtype)
		values := read64(t, x)

		l.Training = true
		for range 2 { // the running statistics follow
			y := l.Forward(x)
			require.Equal(t, dtype, y.DType())
			want := perChannel(values, c, inner, func(ch int, v []float64) {
				m, s := moments(v)
				for i := range v {
					v[i] = (v[i]-m)/math.Sqrt(s+1e-5)*w[ch] + b[ch]
				}
				mean[ch] = 0.9*mean[ch] + 0.1*m
				variance[ch] = 0.9*variance[ch] + 0.1*s*n*inner/(n*inner-1)
			})
			require.InDeltaSlice(t, want, read64(t, y), tolerance, dtype)
		}
		require.InDeltaSlice(t, mean, read64(t, l.Mean.Value()), 1e-5, dtype)
		require.InDeltaSlice(t, variance, read64(t, l.Variance.Value()), 1e-5, dtype)

		l.Training = false
		y := l.Forward(x)
		require.Equal(t, dtype, y.DType())
		want := perChannel(values, c, inner, func(ch int, v []float64) {
			for i := range v {
				v[i] = (v[i]-mean[ch])/math.Sqrt(variance[ch]+1e-5)*w[ch] + b[ch]
			}
		})
		require.InDeltaSlice(t, want, read64(t, y), tolerance, dtype)
		require.InDeltaSlice(t, mean, read64(t, l.Mean.Value()), 1e-5, "they stay")
	}
}

func TestBatchNormErrors(t *testing.T) {
	const name = "nn.BatchNorm"
	dev := open(t)
	l := nn.NewBatchNorm(dev, 3)
	x := sinter.Ones(dev, sinter.F32, 2, 3)
	paths := []string{}
	for path := range nn.Params(l) {
		paths = append(paths, path)
	}
	require.Equal(t, []string{"weight", "bias", "running_mean", "running_var"}, paths)
	fails[*sinter.ArgumentError](t, (*nn.BatchNorm)(nil).Forward(x), name, "layer is nil")
	fails[*sinter.ArgumentError](t, new(nn.BatchNorm).Forward(x), name, "no running statistics")
	fails[*sinter.ArgumentError](t, (&nn.BatchNorm{Mean: l.Mean, Variance: l.Variance, Bias: l.Bias}).Forward(x), name, "no weight")
	fails[*sinter.ShapeError](t, l.Forward(x.T()), name, "takes 3 channels")
	l.Training = true
	fails[*sinter.ShapeError](t, l.Forward(sinter.Ones(dev, sinter.F32, 1, 3)), name, "1 values for each channel")
	require.Nil(t, l.Forward(nil))
	bad := x.MatMul(x)
	require.Equal(t, bad.Err(), l.Forward(bad).Err())
	require.Equal(t, []float32{0, 0, 0}, read[float32](t, l.Mean.Value()), "what failed changes nothing")
}

// Layers are of any float dtype.
func TestLayersOfEveryFloat(t *testing.T) {
	dev := open(t)
	for _, dtype := range []sinter.DType{sinter.F64, sinter.F32, sinter.F16, sinter.BF16} {
		o := nn.WithDType(dtype)
		x := sinter.From(dev, numbers(1, 2*3*8), 2, 3, 8).Cast(dtype)
		for name, m := range map[string]nn.Module{
			"Linear": nn.NewLinear(dev, 8, 4, o), "LayerNorm": nn.NewLayerNorm(dev, 8, o), "RMSNorm": nn.NewRMSNorm(dev, 8, o),
			"Attention": nn.NewMultiHeadAttention(dev, 8, 2, o), "GroupNorm": nn.NewGroupNorm(dev, 3, 3, o), "BatchNorm": nn.NewBatchNorm(dev, 3, o),
			"PRelu": nn.PRelu{Weight: sinter.NewVar(sinter.Full(dev, dtype, 0.25, 1))}, "Gelu": nn.Gelu{}, "Softmax": nn.Softmax{Axis: -1},
		} {
			y := m.Forward(x)
			require.NoError(t, y.Err(), "%s %v", name, dtype)
			require.Equal(t, dtype, y.DType(), name)
			for _, v := range read64(t, y) {
				require.False(t, math.IsNaN(v) || math.IsInf(v, 0), "%s %v", name, dtype)
			}
		}
		e := nn.NewEmbedding(dev, 5, 3, o)
		require.Equal(t, dtype, e.Forward(sinter.From(dev, []int64{4, 0}, 2)).DType())
	}
}

func TestDropout(t *testing.T) {
	dev := open(t)
	x := sinter.Ones(dev, sinter.F32, 1000)
	require.Same(t, x, nn.Dropout{P: 0.5}.Forward(x))
	kept := 0
	for _, v := range read[float32](t, nn.Dropout{P: 0.5, Training: true}.Forward(x)) {
		if v != 0 {
			require.Equal(t, float32(2), v)
			kept++
		}
	}
	require.InDelta(t, 500, kept, 100)
}

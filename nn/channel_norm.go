package nn

import "github.com/sinter-ml/sinter"

// GroupNorm normalises the channels, axis 1 of x [n, c, ...], in equal groups,
// each together with all axes after, then scales and shifts each channel.
type GroupNorm struct {
	Groups  int
	Weight  *sinter.Var // [c], nil: neither scale nor shift
	Bias    *sinter.Var // [c], nil: no shift; needs Weight
	Epsilon float64     // added to the variance
}

// NewGroupNorm makes a layer for c channels: weight ones, bias zeros, epsilon
// 1e-5. With c groups it normalises each channel alone, as InstanceNorm of
// PyTorch does.
func NewGroupNorm(at sinter.Placer, groups, c int, opts ...Option) *GroupNorm {
	l := NewLayerNorm(at, c, opts...)
	return &GroupNorm{Groups: groups, Weight: l.Weight, Bias: l.Bias, Epsilon: l.Epsilon}
}

// Forward maps x [n, c, ...] to the same shape.
func (l *GroupNorm) Forward(x *sinter.Tensor) *sinter.Tensor {
	const name = "nn.GroupNorm"
	switch {
	case l == nil:
		return fail(x, name, argumentErrorf("layer is nil"))
	case l.Weight == nil && l.Bias != nil:
		return fail(x, name, argumentErrorf("layer has a bias but no weight"))
	case x == nil:
		return nil
	}
	if err := channels(x, l.Weight); err != nil {
		return fail(x, name, err)
	}
	return x.GroupNorm(l.Groups, valueOf(l.Weight), valueOf(l.Bias), l.Epsilon)
}

// BatchNorm normalises each channel, axis 1 of x [n, c, ...]: with the running
// statistics, or while training with those of the batch, which the running
// ones then follow.
type BatchNorm struct {
	Weight   *sinter.Var // [c], nil: neither scale nor shift
	Bias     *sinter.Var // [c], nil: no shift; needs Weight
	Mean     *sinter.Var `nn:"running_mean"` // [c]
	Variance *sinter.Var `nn:"running_var"`  // [c]
	Epsilon  float64     // added to the variance
	Momentum float64     // how much of the running statistics a batch replaces
	Training bool
}

// NewBatchNorm makes a layer for c channels: weight ones, bias zeros, epsilon
// 1e-5, momentum 0.1, running mean zeros and variance ones, in f32 for 16-bit
// floats.
func NewBatchNorm(at sinter.Placer, c int, opts ...Option) *BatchNorm {
	l := NewLayerNorm(at, c, opts...)
	wide := configure(opts, nil).dtype.Compute()
	return &BatchNorm{
		Weight: l.Weight, Bias: l.Bias, Epsilon: l.Epsilon, Momentum: 0.1,
		Mean: newVar(sinter.Zeros(at, wide, c)), Variance: newVar(sinter.Ones(at, wide, c)),
	}
}

// Forward maps x [n, c, ...] to the same shape. While training it records the
// change of the running statistics, whose variance is divided by n − 1.
func (l *BatchNorm) Forward(x *sinter.Tensor) *sinter.Tensor {
	const name = "nn.BatchNorm"
	switch {
	case l == nil:
		return fail(x, name, argumentErrorf("layer is nil"))
	case l.Mean == nil || l.Variance == nil:
		return fail(x, name, argumentErrorf("layer has no running statistics"))
	case l.Weight == nil && l.Bias != nil:
		return fail(x, name, argumentErrorf("layer has a bias but no weight"))
	case x == nil:
		return nil
	}
	for _, v := range []*sinter.Var{l.Mean, l.Variance, l.Weight, l.Bias} {
		if err := channels(x, v); err != nil {
			return fail(x, name, err)
		}
	}
	if l.Training {
		return l.train(x)
	}
	// Statistics of a wider type are used in it.
	wide := l.Mean.DType()
	y := to(x, wide).BatchNorm(l.Mean.Value(), l.Variance.Value(), to(valueOf(l.Weight), wide), to(valueOf(l.Bias), wide), l.Epsilon)
	return to(y, x.DType())
}

func (l *BatchNorm) train(x *sinter.Tensor) *sinter.Tensor {
	n := 1
	for axis, d := range x.Shape() {
		if axis != 1 {
			n *= d
		}
	}
	if n < 2 && x.Err() == nil {
		return fail(x, "nn.BatchNorm", shapeErrorf("%d values for each channel of %v have no variance", n, x.Shape()))
	}
	y, mean, variance := x.BatchNormTrain(valueOf(l.Weight), valueOf(l.Bias), l.Epsilon)
	if y.Err() == nil {
		follow(l.Mean, mean, l.Momentum)
		follow(l.Variance, variance.MulScalar(float64(n)/float64(n-1)), l.Momentum)
	}
	return y
}

// follow moves a running statistic by a part of the way to that of a batch.
func follow(v *sinter.Var, batch *sinter.Tensor, momentum float64) {
	v.Set(v.Value().Lerp(to(batch, v.DType()), momentum))
}

// to is x, or nothing, in a dtype.
func to(x *sinter.Tensor, dtype sinter.DType) *sinter.Tensor {
	if x == nil || x.DType() == dtype {
		return x
	}
	return x.Cast(dtype)
}

// channels reports a parameter that has not one element for each channel of x.
func channels(x *sinter.Tensor, v *sinter.Var) error {
	if v == nil || x.Err() != nil {
		return nil
	}
	if s := v.Shape(); len(s) == 1 && (x.Rank() < 2 || x.Dim(1) != s[0]) {
		return shapeErrorf("parameter %v takes %d channels at axis 1", s, s[0])
	}
	return nil
}

package nn

import "github.com/sinter-ml/sinter"

// LayerNorm normalises the last axis to mean 0 and variance 1, then scales and
// shifts.
type LayerNorm struct {
	Weight  *sinter.Var // [n], nil: neither scale nor shift
	Bias    *sinter.Var // [n], nil: no shift; needs Weight
	Epsilon float64     // added to the variance
}

// NewLayerNorm makes a layer for a last axis of length n: weight ones, bias
// zeros, epsilon 1e-5.
func NewLayerNorm(at sinter.Placer, n int, opts ...Option) *LayerNorm {
	c := configure(opts, nil)
	l := &LayerNorm{Weight: newVar(sinter.Ones(at, c.dtype, n)), Epsilon: 1e-5}
	if !c.noBias {
		l.Bias = newVar(sinter.Zeros(at, c.dtype, n))
	}
	return l
}

// Forward maps x [..., n] to the same shape.
func (l *LayerNorm) Forward(x *sinter.Tensor) *sinter.Tensor {
	const name = "nn.LayerNorm"
	switch {
	case l == nil:
		return fail(x, name, argumentErrorf("layer is nil"))
	case l.Weight == nil && l.Bias != nil:
		return fail(x, name, argumentErrorf("layer has a bias but no weight"))
	case l.Weight == nil && x == nil:
		return nil
	}
	if err := lastAxis(x, l.Weight); err != nil {
		return fail(x, name, err)
	}
	return x.LayerNorm(valueOf(l.Weight), valueOf(l.Bias), l.Epsilon)
}

// RMSNorm divides the last axis by the root of its mean square, then scales.
type RMSNorm struct {
	Weight  *sinter.Var // [n], nil: no scale
	Epsilon float64     // added to the mean square
}

// NewRMSNorm makes a layer for a last axis of length n: weight ones, epsilon
// 1e-6.
func NewRMSNorm(at sinter.Placer, n int, opts ...Option) *RMSNorm {
	c := configure(opts, nil)
	return &RMSNorm{Weight: newVar(sinter.Ones(at, c.dtype, n)), Epsilon: 1e-6}
}

// Forward maps x [..., n] to the same shape.
func (l *RMSNorm) Forward(x *sinter.Tensor) *sinter.Tensor {
	const name = "nn.RMSNorm"
	switch {
	case l == nil:
		return fail(x, name, argumentErrorf("layer is nil"))
	case l.Weight == nil && x == nil:
		return nil
	}
	if err := lastAxis(x, l.Weight); err != nil {
		return fail(x, name, err)
	}
	return x.RMSNorm(valueOf(l.Weight), l.Epsilon)
}

// lastAxis reports a weight that is not as long as the last axis of x.
func lastAxis(x *sinter.Tensor, weight *sinter.Var) error {
	if x == nil || weight == nil {
		return nil
	}
	if w := weight.Shape(); len(w) == 1 && x.Dim(-1) != w[0] {
		return shapeErrorf("weight %v takes a last axis of length %d", w, w[0])
	}
	return nil
}

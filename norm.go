package sinter

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// Softmax returns e^x / Σe^x over the axes, all of them if none is given.
func (t *Tensor) Softmax(axes ...int) *Tensor {
	return apply(over(ir.Softmax, axes), t)
}

// LogSoftmax returns the logarithm of Softmax.
func (t *Tensor) LogSoftmax(axes ...int) *Tensor {
	return apply(over(ir.LogSoftmax, axes), t)
}

// LayerNorm normalises the last axis to mean 0 and variance 1 (ε is added to
// the variance), then scales by weight and adds bias; both are [n] or nil, and
// bias needs a weight. 16-bit floats are f32 inside and rounded once, as in all
// norms.
func (t *Tensor) LayerNorm(weight, bias *Tensor, epsilon float64) *Tensor {
	return t.norm(ir.Operation{Kind: ir.LayerNorm}, []*Tensor{t}, weight, bias, epsilon)
}

// LayerNormTensor is LayerNorm with an ε of t's dtype and rank 0.
func (t *Tensor) LayerNormTensor(weight, bias, epsilon *Tensor) *Tensor {
	return t.normHeld(ir.Operation{Kind: ir.LayerNorm}, []*Tensor{t}, weight, bias, epsilon)
}

// RMSNorm divides the last axis by the root of its mean square (ε is added to
// the mean), then scales by weight, [n] or nil.
func (t *Tensor) RMSNorm(weight *Tensor, epsilon float64) *Tensor {
	return t.norm(ir.Operation{Kind: ir.RMSNorm}, []*Tensor{t}, weight, nil, epsilon)
}

// RMSNormTensor is RMSNorm with an ε of t's dtype and rank 0.
func (t *Tensor) RMSNormTensor(weight, epsilon *Tensor) *Tensor {
	return t.normHeld(ir.Operation{Kind: ir.RMSNorm}, []*Tensor{t}, weight, nil, epsilon)
}

// GroupNorm normalises the channels, axis 1 of t [n, c, ...], in equal groups,
// each together with all axes after, to mean 0 and variance 1 (ε is added to the
// variance), then scales by weight and adds bias; both are [c] or nil, and bias
// needs a weight.
func (t *Tensor) GroupNorm(groups int, weight, bias *Tensor, epsilon float64) *Tensor {
	return t.norm(ir.Operation{Kind: ir.GroupNorm, Attrs: ir.Attrs{N: groups}}, []*Tensor{t}, weight, bias, epsilon)
}

// GroupNormTensor is GroupNorm with an ε of t's dtype and rank 0.
func (t *Tensor) GroupNormTensor(groups int, weight, bias, epsilon *Tensor) *Tensor {
	return t.normHeld(ir.Operation{Kind: ir.GroupNorm, Attrs: ir.Attrs{N: groups}}, []*Tensor{t}, weight, bias, epsilon)
}

// InstanceNorm is GroupNorm with a group for each channel.
func (t *Tensor) InstanceNorm(weight, bias *Tensor, epsilon float64) *Tensor {
	return t.norm(ir.Operation{Kind: ir.GroupNorm, Attrs: ir.Attrs{N: max(t.Dim(1), 1)}}, []*Tensor{t}, weight, bias, epsilon)
}

// BatchNorm returns (t − mean)/√(variance + ε)·weight + bias for t [n, c, ...]
// and statistics of each channel, all [c]; weight and bias may be nil, and bias
// needs a weight. For statistics of the batch see [Tensor.BatchNormTrain].
func (t *Tensor) BatchNorm(mean, variance, weight, bias *Tensor, epsilon float64) *Tensor {
	return t.norm(ir.Operation{Kind: ir.BatchNorm}, []*Tensor{t, mean, variance}, weight, bias, epsilon)
}

// BatchNormTensor is BatchNorm with an ε of t's dtype and rank 0.
func (t *Tensor) BatchNormTensor(mean, variance, weight, bias, epsilon *Tensor) *Tensor {
	return t.normHeld(ir.Operation{Kind: ir.BatchNorm}, []*Tensor{t, mean, variance}, weight, bias, epsilon)
}

// BatchNormTrain is BatchNorm with the mean and variance (divided by n) of each
// channel of t itself, which it returns too, as [c] in t's compute dtype: f32
// for 16-bit floats, for which everything is computed in f32 and rounded once.
func (t *Tensor) BatchNormTrain(weight, bias *Tensor, epsilon float64) (normalised, mean, variance *Tensor) {
	c := compoundOf(t, weight, bias)
	name := ir.BatchNorm.String()
	bad := c.refuse(name, append([]*Tensor{t}, given(weight, bias)...)...)
	switch rank := t.Rank(); {
	case bad != nil:
	case !t.DType().IsFloat():
		bad = c.fail(name, t, &DTypeError{Msg: fmt.Sprintf("is not defined for %v, only for %v", t.DType(), ir.Floats)})
	case rank < 2:
		bad = c.fail(name, t, &ShapeError{Msg: fmt.Sprintf("rank %d has no batch axis and channel axis", rank)})
	case weight == nil && bias != nil:
		bad = c.fail(name, t, errBiasAlone)
	}
	if bad != nil {
		return bad, bad, bad
	}
	wide := t.DType().Compute()
	axes := []int{0}
	for a := 2; a < t.Rank(); a++ {
		axes = append(axes, a)
	}
	channels := Shape{t.Dim(1)}
	x := c.cast(t, wide)
	mean = c.reshape(c.reduce(ir.Mean, x, axes...), channels)
	variance = c.reshape(c.reduce(ir.Var, x, axes...), channels)
	in := []*Tensor{x, mean, variance}
	for _, p := range given(weight, bias) {
		in = append(in, c.cast(p, wide))
	}
	y := c.op(ir.Operation{Kind: ir.BatchNorm, Scalars: []ir.Scalar{ir.FloatScalar(wide, epsilon)}}, in...)
	return c.cast(y, t.DType()), mean, variance
}

// SoftmaxBackward returns the gradient of Softmax over the axes, t being its
// output.
func (t *Tensor) SoftmaxBackward(gradient *Tensor, axes ...int) *Tensor {
	return apply(over(ir.SoftmaxBackward, axes), t, gradient)
}

// LogSoftmaxBackward returns the gradient of LogSoftmax over the axes, t being
// its output.
func (t *Tensor) LogSoftmaxBackward(gradient *Tensor, axes ...int) *Tensor {
	return apply(over(ir.LogSoftmaxBackward, axes), t, gradient)
}

// LayerNormBackward returns the gradient of LayerNorm with respect to t;
// weight is [n] or nil.
func (t *Tensor) LayerNormBackward(gradient, weight *Tensor, epsilon float64) *Tensor {
	return t.norm(ir.Operation{Kind: ir.LayerNormBackward}, []*Tensor{t, gradient}, weight, nil, epsilon)
}

// LayerNormBackwardTensor is LayerNormBackward with an ε of t's dtype and rank
// 0.
func (t *Tensor) LayerNormBackwardTensor(gradient, weight, epsilon *Tensor) *Tensor {
	return t.normHeld(ir.Operation{Kind: ir.LayerNormBackward}, []*Tensor{t, gradient}, weight, nil, epsilon)
}

// RMSNormBackward returns the gradient of RMSNorm with respect to t; weight is
// [n] or nil.
func (t *Tensor) RMSNormBackward(gradient, weight *Tensor, epsilon float64) *Tensor {
	return t.norm(ir.Operation{Kind: ir.RMSNormBackward}, []*Tensor{t, gradient}, weight, nil, epsilon)
}

// RMSNormBackwardTensor is RMSNormBackward with an ε of t's dtype and rank 0.
func (t *Tensor) RMSNormBackwardTensor(gradient, weight, epsilon *Tensor) *Tensor {
	return t.normHeld(ir.Operation{Kind: ir.RMSNormBackward}, []*Tensor{t, gradient}, weight, nil, epsilon)
}

var errBiasAlone = &ArgumentError{Msg: "a bias needs a weight"}

// norm records a norm of operands, a weight and a bias that may be missing,
// and ε. Exported methods call it directly.
func (t *Tensor) norm(op ir.Operation, in []*Tensor, weight, bias *Tensor, epsilon float64) *Tensor {
	op.PC = caller(3)
	if weight == nil && bias != nil {
		return t.fail(op, errBiasAlone)
	}
	op.Scalars = []ir.Scalar{ir.FloatScalar(t.DType(), epsilon)}
	return record(op, append(in, given(weight, bias)...))
}

// normHeld is norm with an ε that a tensor holds.
func (t *Tensor) normHeld(op ir.Operation, in []*Tensor, weight, bias, epsilon *Tensor) *Tensor {
	op.PC = caller(3)
	if weight == nil && bias != nil {
		return t.fail(op, errBiasAlone)
	}
	return t.recordHeld(op, append(in, given(weight, bias)...), epsilon)
}

// given returns the tensors that are not nil.
func given(ts ...*Tensor) []*Tensor {
	return slices.DeleteFunc(ts, func(t *Tensor) bool { return t == nil })
}

package nn

import "github.com/sinter-ml/sinter"

// Linear returns x·weight + bias, rounded once.
type Linear struct {
	Weight *sinter.Var // [in, out]
	Bias   *sinter.Var // [out], nil: none
}

// NewLinear makes a layer from in to out features. Weight and bias start as
// [UniformInit] unless an option says otherwise.
func NewLinear(at sinter.Placer, in, out int, opts ...Option) *Linear {
	c := configure(opts, UniformInit)
	l := &Linear{Weight: newVar(c.init(at, c.dtype, in, in, out))}
	if !c.noBias {
		l.Bias = newVar(c.init(at, c.dtype, in, out))
	}
	return l
}

// Forward maps x [..., in] to [..., out].
func (l *Linear) Forward(x *sinter.Tensor) *sinter.Tensor {
	const name = "nn.Linear"
	if l == nil || l.Weight == nil {
		return fail(x, name, argumentErrorf("layer has no weight"))
	}
	if w := l.Weight.Shape(); x != nil && len(w) == 2 && x.Dim(-1) != w[0] {
		return fail(x, name, shapeErrorf("weight %v takes a last axis of length %d", w, w[0]))
	}
	return x.Linear(l.Weight.Value(), valueOf(l.Bias))
}

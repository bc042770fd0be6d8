package nn

import "github.com/sinter-ml/sinter"

// The activations as modules, element by element but for Softmax; each is the
// tensor method of its name, of any float dtype.
type (
	// Relu returns max(x, 0).
	Relu struct{}
	// LeakyRelu returns x where x ≥ 0, else Slope·x.
	LeakyRelu struct{ Slope float64 }
	// Sigmoid returns 1/(1+e^−x).
	Sigmoid struct{}
	// Tanh returns the hyperbolic tangent.
	Tanh struct{}
	// Silu returns x·Sigmoid(x).
	Silu struct{}
	// Gelu returns x·½(1+erf(x/√2)).
	Gelu struct{}
	// GeluTanh returns the tanh approximation of Gelu.
	GeluTanh struct{}
	// Softplus returns log(1+e^x).
	Softplus struct{}
	// Softmax returns e^x / Σe^x over an axis.
	Softmax struct{ Axis int }
)

// activate returns f(x), and nil for a nil x.
func activate(x *sinter.Tensor, f func(*sinter.Tensor) *sinter.Tensor) *sinter.Tensor {
	if x == nil {
		return nil
	}
	return f(x)
}

// Forward returns x.Relu().
func (Relu) Forward(x *sinter.Tensor) *sinter.Tensor { return activate(x, (*sinter.Tensor).Relu) }

// Forward returns x.LeakyRelu(a.Slope).
func (a LeakyRelu) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, func(x *sinter.Tensor) *sinter.Tensor { return x.LeakyRelu(a.Slope) })
}

// Forward returns x.Sigmoid().
func (Sigmoid) Forward(x *sinter.Tensor) *sinter.Tensor { return activate(x, (*sinter.Tensor).Sigmoid) }

// Forward returns x.Tanh().
func (Tanh) Forward(x *sinter.Tensor) *sinter.Tensor { return activate(x, (*sinter.Tensor).Tanh) }

// Forward returns x.Silu().
func (Silu) Forward(x *sinter.Tensor) *sinter.Tensor { return activate(x, (*sinter.Tensor).Silu) }

// Forward returns x.Gelu().
func (Gelu) Forward(x *sinter.Tensor) *sinter.Tensor { return activate(x, (*sinter.Tensor).Gelu) }

// Forward returns x.GeluTanh().
func (GeluTanh) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, (*sinter.Tensor).GeluTanh)
}

// Forward returns x.Softplus().
func (Softplus) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, (*sinter.Tensor).Softplus)
}

// Forward returns x.Softmax(a.Axis).
func (a Softmax) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, func(x *sinter.Tensor) *sinter.Tensor { return x.Softmax(a.Axis) })
}

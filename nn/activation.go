package nn

import "github.com/sinter-ml/sinter"

// The activations as modules, element by element but for Softmax, LogSoftmax
// and Glu; each is the tensor method of its name, of any float dtype.
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
	// LogSoftmax returns the logarithm of Softmax over an axis.
	LogSoftmax struct{ Axis int }
	// Elu returns x where x > 0, else Alpha·(e^x − 1).
	Elu struct{ Alpha float64 }
	// Celu returns max(x, 0) + min(Alpha·(e^(x/Alpha) − 1), 0).
	Celu struct{ Alpha float64 }
	// Selu returns the scaled exponential linear unit.
	Selu struct{}
	// Mish returns x·tanh(log(1+e^x)).
	Mish struct{}
	// HardSigmoid returns min(max(x+3, 0), 6)/6.
	HardSigmoid struct{}
	// HardSwish returns x·HardSigmoid(x).
	HardSwish struct{}
	// HardTanh returns min(max(x, −1), 1).
	HardTanh struct{}
	// Relu6 returns min(max(x, 0), 6).
	Relu6 struct{}
	// LogSigmoid returns log(1/(1+e^−x)).
	LogSigmoid struct{}
	// Softsign returns x/(1+|x|).
	Softsign struct{}
	// Glu halves an axis into a and b and returns a·Sigmoid(b).
	Glu struct{ Axis int }
	// PRelu returns x where x ≥ 0, else Weight·x; the weight broadcasts.
	PRelu struct{ Weight *sinter.Var }
	// Dropout sets elements to zero with probability P and scales the others by
	// 1/(1−P) while Training; otherwise it returns x.
	Dropout struct {
		P        float64
		Training bool
	}
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

// Forward returns x.LogSoftmax(a.Axis).
func (a LogSoftmax) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, func(x *sinter.Tensor) *sinter.Tensor { return x.LogSoftmax(a.Axis) })
}

// Forward returns x.Elu(a.Alpha).
func (a Elu) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, func(x *sinter.Tensor) *sinter.Tensor { return x.Elu(a.Alpha) })
}

// Forward returns x.Celu(a.Alpha).
func (a Celu) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, func(x *sinter.Tensor) *sinter.Tensor { return x.Celu(a.Alpha) })
}

// Forward returns x.Selu().
func (Selu) Forward(x *sinter.Tensor) *sinter.Tensor { return activate(x, (*sinter.Tensor).Selu) }

// Forward returns x.Mish().
func (Mish) Forward(x *sinter.Tensor) *sinter.Tensor { return activate(x, (*sinter.Tensor).Mish) }

// Forward returns x.HardSigmoid().
func (HardSigmoid) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, (*sinter.Tensor).HardSigmoid)
}

// Forward returns x.HardSwish().
func (HardSwish) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, (*sinter.Tensor).HardSwish)
}

// Forward returns x.HardTanh().
func (HardTanh) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, (*sinter.Tensor).HardTanh)
}

// Forward returns x.Relu6().
func (Relu6) Forward(x *sinter.Tensor) *sinter.Tensor { return activate(x, (*sinter.Tensor).Relu6) }

// Forward returns x.LogSigmoid().
func (LogSigmoid) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, (*sinter.Tensor).LogSigmoid)
}

// Forward returns x.Softsign().
func (Softsign) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, (*sinter.Tensor).Softsign)
}

// Forward returns x.Glu(a.Axis).
func (a Glu) Forward(x *sinter.Tensor) *sinter.Tensor {
	return activate(x, func(x *sinter.Tensor) *sinter.Tensor { return x.Glu(a.Axis) })
}

// Forward returns x.PRelu of the weight.
func (a PRelu) Forward(x *sinter.Tensor) *sinter.Tensor {
	if a.Weight == nil {
		return fail(x, "nn.PRelu", argumentErrorf("layer has no weight"))
	}
	return activate(x, func(x *sinter.Tensor) *sinter.Tensor { return x.PRelu(a.Weight.Value()) })
}

// Forward returns x.Dropout(a.P) while training, else x.
func (a Dropout) Forward(x *sinter.Tensor) *sinter.Tensor {
	if !a.Training {
		return x
	}
	return activate(x, func(x *sinter.Tensor) *sinter.Tensor { return x.Dropout(a.P) })
}

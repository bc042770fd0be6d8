package nn

import (
	"math"

	"github.com/sinter-ml/sinter"
)

// Option changes how a layer is made.
type Option func(*config)

type config struct {
	dtype  sinter.DType
	init   Init
	noBias bool
}

func configure(opts []Option, init Init) config {
	c := config{dtype: sinter.F32, init: init}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// WithDType makes parameters of a float dtype other than f32.
func WithDType(d sinter.DType) Option { return func(c *config) { c.dtype = d } }

// WithInit sets what weights start as. Biases of norms and the weights of norms
// start as zeros and ones whatever it is. A nil f changes nothing.
func WithInit(f Init) Option {
	return func(c *config) {
		if f != nil {
			c.init = f
		}
	}
}

// WithoutBias leaves the bias out.
func WithoutBias() Option { return func(c *config) { c.noBias = true } }

// Init makes the starting value of a parameter of a layer that adds up fanIn
// products for each output.
type Init func(at sinter.Placer, dtype sinter.DType, fanIn int, shape ...int) *sinter.Tensor

// ZeroInit starts parameters as zeros. It is the cheapest, for models whose
// weights are loaded.
func ZeroInit(at sinter.Placer, dtype sinter.DType, _ int, shape ...int) *sinter.Tensor {
	return sinter.Zeros(at, dtype, shape...)
}

// UniformInit draws from the uniform distribution on ±1/√fanIn, which keeps
// outputs of the size of inputs; it is PyTorch's default for linear layers.
func UniformInit(at sinter.Placer, dtype sinter.DType, fanIn int, shape ...int) *sinter.Tensor {
	bound := 1 / math.Sqrt(float64(max(fanIn, 1)))
	return sinter.Uniform(at, dtype, -bound, bound, shape...)
}

// NormalInit draws from the normal distribution with mean 0 and deviation 1,
// PyTorch's default for embeddings.
func NormalInit(at sinter.Placer, dtype sinter.DType, _ int, shape ...int) *sinter.Tensor {
	return sinter.Normal(at, dtype, 0, 1, shape...)
}

// newVar makes a parameter that is the only one to hold its memory.
func newVar(init *sinter.Tensor) *sinter.Var {
	defer init.Release()
	return sinter.NewVar(init)
}

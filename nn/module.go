package nn

import "github.com/sinter-ml/sinter"

// Module maps a tensor to a tensor. Layers are Modules; a model that takes
// more than one tensor need not be one.
type Module interface {
	Forward(x *sinter.Tensor) *sinter.Tensor
}

// Func is a Module that has no parameters: any function of a tensor.
type Func func(x *sinter.Tensor) *sinter.Tensor

// Forward returns f(x).
func (f Func) Forward(x *sinter.Tensor) *sinter.Tensor {
	if f == nil {
		return fail(x, "nn.Func", argumentErrorf("function is nil"))
	}
	return f(x)
}

// Sequential applies modules one after the other. Its parameters' paths begin
// with the module's number, from 0, counting those without parameters.
type Sequential []Module

// Forward returns what the last module makes of what the one before made of x,
// and x itself if there is none.
func (s Sequential) Forward(x *sinter.Tensor) *sinter.Tensor {
	for i, m := range s {
		if m == nil {
			return fail(x, "nn.Sequential", argumentErrorf("module %d is nil", i))
		}
		x = m.Forward(x)
	}
	return x
}

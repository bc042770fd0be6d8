package sinter_test

import (
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// rows are the norms and the gradients of what works on rows.
func rows(d data, t ir.DType, add adder) {
	x := func(dims ...int) oracle.Tensor { return d.make(t, false, dims...) }
	positive := func(n int) oracle.Tensor {
		out := oracle.New(t, shape{n})
		for i := range out.F {
			out.F[i] = float64(i%3) + 0.5
		}
		return out
	}
	eps := oracle.Floats(t, shape{}, 1e-3)
	// norm is a call with ε as a number, and with ε in a tensor.
	norm := func(name string, kind ir.Kind, attrs ir.Attrs, in []oracle.Tensor, number, tensor func(in tensors) *tensor) {
		add(name, ir.Operation{Kind: kind, Attrs: attrs, Scalars: scalars(t, 1e-3)}, number, in...)
		if tensor != nil {
			add(name+"Tensor", ir.Operation{Kind: kind, Attrs: attrs, Scalars: fromOperands(t, len(in), 1)}, tensor, append(in[:len(in):len(in)], eps)...)
		}
	}
	for _, s := range []shape{{3, 17}, {2, 3, 4}, {5}, {0, 4}} {
		n := s[len(s)-1]
		norm("LayerNorm", ir.LayerNorm, ir.Attrs{}, []oracle.Tensor{x(s...), x(n), x(n)},
			func(in tensors) *tensor { return in[0].LayerNorm(in[1], in[2], 1e-3) },
			func(in tensors) *tensor { return in[0].LayerNormTensor(in[1], in[2], in[3]) })
		norm("LayerNorm", ir.LayerNorm, ir.Attrs{}, []oracle.Tensor{x(s...), x(n)},
			func(in tensors) *tensor { return in[0].LayerNorm(in[1], nil, 1e-3) },
			func(in tensors) *tensor { return in[0].LayerNormTensor(in[1], nil, in[2]) })
		norm("LayerNorm", ir.LayerNorm, ir.Attrs{}, []oracle.Tensor{x(s...)},
			func(in tensors) *tensor { return in[0].LayerNorm(nil, nil, 1e-3) },
			func(in tensors) *tensor { return in[0].LayerNormTensor(nil, nil, in[1]) })
		norm("RMSNorm", ir.RMSNorm, ir.Attrs{}, []oracle.Tensor{x(s...), x(n)},
			func(in tensors) *tensor { return in[0].RMSNorm(in[1], 1e-3) },
			func(in tensors) *tensor { return in[0].RMSNormTensor(in[1], in[2]) })
		norm("RMSNorm", ir.RMSNorm, ir.Attrs{}, []oracle.Tensor{x(s...)},
			func(in tensors) *tensor { return in[0].RMSNorm(nil, 1e-3) },
			func(in tensors) *tensor { return in[0].RMSNormTensor(nil, in[1]) })
		norm("LayerNormBackward", ir.LayerNormBackward, ir.Attrs{}, []oracle.Tensor{x(s...), x(s...), x(n)},
			func(in tensors) *tensor { return in[0].LayerNormBackward(in[1], in[2], 1e-3) },
			func(in tensors) *tensor { return in[0].LayerNormBackwardTensor(in[1], in[2], in[3]) })
		norm("RMSNormBackward", ir.RMSNormBackward, ir.Attrs{}, []oracle.Tensor{x(s...), x(s...)},
			func(in tensors) *tensor { return in[0].RMSNormBackward(in[1], nil, 1e-3) },
			func(in tensors) *tensor { return in[0].RMSNormBackwardTensor(in[1], nil, in[2]) })
	}
	for _, s := range []shape{{2, 6, 5}, {3, 6}, {2, 6, 2, 3}} {
		norm("GroupNorm", ir.GroupNorm, ir.Attrs{N: 2}, []oracle.Tensor{x(s...), x(6), x(6)},
			func(in tensors) *tensor { return in[0].GroupNorm(2, in[1], in[2], 1e-3) },
			func(in tensors) *tensor { return in[0].GroupNormTensor(2, in[1], in[2], in[3]) })
		norm("InstanceNorm", ir.GroupNorm, ir.Attrs{N: 6}, []oracle.Tensor{x(s...), x(6)},
			func(in tensors) *tensor { return in[0].InstanceNorm(in[1], nil, 1e-3) }, nil)
		norm("BatchNorm", ir.BatchNorm, ir.Attrs{}, []oracle.Tensor{x(s...), x(6), positive(6), x(6), x(6)},
			func(in tensors) *tensor { return in[0].BatchNorm(in[1], in[2], in[3], in[4], 1e-3) },
			func(in tensors) *tensor { return in[0].BatchNormTensor(in[1], in[2], in[3], in[4], in[5]) })
		norm("BatchNorm", ir.BatchNorm, ir.Attrs{}, []oracle.Tensor{x(s...), x(6), positive(6)},
			func(in tensors) *tensor { return in[0].BatchNorm(in[1], in[2], nil, nil, 1e-3) },
			func(in tensors) *tensor { return in[0].BatchNormTensor(in[1], in[2], nil, nil, in[3]) })
	}
	for _, kind := range []ir.Kind{ir.SoftmaxBackward, ir.LogSoftmaxBackward} {
		name := kind.String()
		add(name, ir.Operation{Kind: kind, Attrs: axes(1)}, func(in tensors) *tensor { return method(name, -1)(in) }, x(5, 33), x(5, 33))
		add(name, ir.Operation{Kind: kind}, method(name), x(3, 4), x(3, 4))
	}
}

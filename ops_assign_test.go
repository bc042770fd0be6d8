package sinter_test

import (
	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// assignments are the calls that give a tensor with parts replaced.
func assignments(d data, t ir.DType, add adder) {
	x := func(dims ...int) oracle.Tensor { return d.make(t, true, dims...) }
	ranges := []ir.Range{{Start: 1, Len: 3, Step: 1}, {Start: 6, Len: 4, Step: -2}}
	add("SliceAssign", ir.Operation{Kind: ir.SliceAssign, Ranges: ranges}, func(in tensors) *tensor {
		return in[0].SliceAssign(in[1], sinter.Span(1, -1), sinter.SpanStep(0, 7, -2))
	}, x(5, 7), x(3, 4))
	ranges = []ir.Range{{Len: 2, Step: 1, Input: 2}, {Len: 7, Step: 1}}
	add("SliceAssign", ir.Operation{Kind: ir.SliceAssign, Ranges: ranges}, func(in tensors) *tensor {
		return in[0].SliceAssign(in[1], sinter.SpanAt(in[2], 2))
	}, x(5, 7), x(2, 7), oracle.Ints(shape{}, 3))

	modes := []sinter.ScatterMode{sinter.Assign}
	if t.IsFloat() || t.IsInt() {
		modes = []sinter.ScatterMode{sinter.Assign, sinter.ScatterSum, sinter.ScatterMul, sinter.ScatterMin, sinter.ScatterMax}
	}
	for _, mode := range modes {
		on := func(kind ir.Kind, axes ...int) ir.Operation {
			return ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: axes, Mode: mode}}
		}
		call := func(name string, axis int) func(in tensors) *tensor {
			return func(in tensors) *tensor {
				if name == "SelectAssign" {
					return in[0].SelectAssign(axis, in[1], in[2], mode)
				}
				return in[0].Scatter(axis, in[1], in[2], mode)
			}
		}
		add("SelectAssign", on(ir.SelectAssign, 1), call("SelectAssign", -1), x(3, 5), d.indices(5, 9), x(3, 9))
		add("SelectAssign", on(ir.SelectAssign, 0), call("SelectAssign", 0), x(3, 5), d.indices(3, 0), x(0, 5))
		add("Scatter", on(ir.Scatter, 0), call("Scatter", 0), x(3, 5), d.indices(3, 8, 4), x(8, 4))
		add("Scatter", on(ir.Scatter, 1), call("Scatter", -1), x(3, 5), d.indices(5, 2, 0), x(2, 0))
		nd := func(in tensors) *tensor { return in[0].ScatterND(in[1], in[2], mode) }
		add("ScatterND", on(ir.ScatterND), nd, x(3, 5), d.indices(3, 2, 4, 2), x(2, 4))
		add("ScatterND", on(ir.ScatterND), nd, x(3, 5), d.indices(3, 4, 1), x(4, 5))
	}
}

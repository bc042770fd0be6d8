package torchcases

import (
	"slices"

	"github.com/sinter-ml/sinter"
)

// indexOps are the operations that read or write where indices say.
var indexOps = map[string]adapter{
	"gather": one(func(c *Call) *tensor {
		return atLeast1(c.x()).Gather(c.integer(1, "dim", 0), atLeast1(c.tensor(2, "index"))).Reshape(c.outShape()...)
	}, exact),
	"index_select": one(func(c *Call) *tensor {
		return atLeast1(c.x()).Select(c.integer(1, "dim", 0), atLeast1(c.tensor(2, "index"))).Reshape(c.outShape()...)
	}, exact),
	"take": one(func(c *Call) *tensor {
		return c.x().Reshape(-1).Select(0, c.y().Reshape(-1)).Reshape(c.outShape()...)
	}, exact),
	"take_along_dim": one(func(c *Call) *tensor {
		x, index := c.x(), c.y()
		if !c.has(2, "dim") {
			return x.Reshape(-1).Gather(0, index.Reshape(-1))
		}
		at := axis(c.integer(2, "dim", 0), x.Rank())
		xs, is := slices.Clone([]int(x.Shape())), slices.Clone([]int(index.Shape()))
		for i := range xs {
			if i != at {
				xs[i] = max(xs[i], is[i])
				is[i] = xs[i]
			}
		}
		return x.Expand(xs...).Gather(at, index.Expand(is...))
	}, exact),
	"nn.functional.embedding": one(func(c *Call) *tensor { return c.x().Embedding(c.tensor(1, "indices")) }, exact),

	"index_copy": one(func(c *Call) *tensor {
		return effect(c, func(v *sinter.Var, axis int, index, value *tensor) { v.SetSelect(axis, index, value) })
	}, exact),
	"index_add": one(func(c *Call) *tensor {
		return effect(c, func(v *sinter.Var, axis int, index, value *tensor) {
			v.ScatterAdd(axis, index, scale(value, c.number(-1, "alpha", 1)))
		})
	}, rounds(2, total)),
	"index_fill": one(func(c *Call) *tensor {
		x, index := atLeast1(c.x()), atLeast1(c.tensor(2, "index"))
		at := axis(c.integer(1, "dim", 0), x.Rank())
		shape := slices.Clone([]int(x.Shape()))
		shape[at] = index.Dim(0)
		v := sinter.NewVar(x)
		if a, ok := c.Args[3].(TensorArg); ok {
			v.SetSelect(at, index, c.put("value", a).Expand(shape...))
		} else {
			v.SetSelect(at, index, c.filled(c.number(3, "value", 0), shape...))
		}
		return v.Value().Reshape(c.outShape()...)
	}, exact),
	"index_put": one(func(c *Call) *tensor {
		x, index, value := c.x(), c.put("indices", c.Args[1].([]any)[0]), c.tensor(2, "values")
		if index.DType() == sinter.Bool {
			return sinter.Where(index.Unsqueeze(-1), value, x)
		}
		v := sinter.NewVar(x)
		value = value.Expand(append([]int{index.Dim(0)}, x.Shape()[1:]...)...)
		if c.flag(-1, "accumulate", false) {
			v.ScatterAdd(0, index, value)
		} else {
			v.SetSelect(0, index, value)
		}
		return v.Value()
	}, rounds(2, total)),
	"masked_scatter": one(func(c *Call) *tensor {
		// The n-th element where mask is true is the n-th of source.
		x, mask, source := c.x(), c.tensor(1, "mask"), c.tensor(2, "source")
		shape := []int(sinter.Where(mask, x, x).Shape())
		which := mask.Expand(shape...).Reshape(-1).Cast(sinter.I64).CumSum(0).SubScalar(1).MaximumScalar(0)
		return sinter.Where(mask, source.Reshape(-1).Select(0, which).Reshape(shape...), x)
	}, exact),
	"select_scatter": one(func(c *Call) *tensor {
		x, at, index := c.x(), c.integer(2, "dim", 0), c.integer(3, "index", 0)
		at = axis(at, x.Rank())
		return setSlice(x, c.tensor(1, "src").Unsqueeze(at), at, sinter.Index(index))
	}, exact),
	"slice_scatter": one(func(c *Call) *tensor {
		x := c.x()
		at := axis(c.integer(2, "dim", 0), x.Rank())
		return setSlice(x, c.tensor(1, "src"), at, span(x.Dim(at), c.integer(3, "start", 0), c.integer(4, "end", x.Dim(at)), c.integer(5, "step", 1)))
	}, exact),
}

// outShape returns the shape PyTorch's first output has.
func (c *Call) outShape() []int { return c.Out(0).Shape }

// atLeast1 is x, with one axis if it has none, as PyTorch lets a rank-0 tensor
// be indexed.
func atLeast1(x *tensor) *tensor {
	if x.Rank() == 0 {
		return x.Unsqueeze(0)
	}
	return x
}

// effect makes the call of an operation that writes (x, dim, index, source) by
// an effect on a Var.
func effect(c *Call, f func(v *sinter.Var, axis int, index, value *tensor)) *tensor {
	x, index, value := atLeast1(c.x()), atLeast1(c.tensor(2, "index")), c.tensor(3, "source")
	v := sinter.NewVar(x)
	at := axis(c.integer(1, "dim", 0), x.Rank())
	shape := slices.Clone([]int(x.Shape()))
	shape[at] = index.Dim(0)
	f(v, at, index, value.Reshape(shape...))
	return v.Value().Reshape(c.outShape()...)
}

// setSlice is x with part of an axis replaced.
func setSlice(x, value *tensor, axis int, part sinter.Range) *tensor {
	v := sinter.NewVar(x)
	ranges := make([]sinter.Range, axis+1)
	for i := range ranges {
		ranges[i] = sinter.All()
	}
	ranges[axis] = part
	v.SetSlice(value, ranges...)
	return v.Value()
}

// span is Python's slice of an axis of length n: positions beyond the ends are
// the ends.
func span(n, start, end, step int) sinter.Range {
	clip := func(i int) int {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	start, end = clip(start), clip(end)
	return sinter.SpanStep(start, max(start, end), step)
}

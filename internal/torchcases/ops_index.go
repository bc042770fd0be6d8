package torchcases

import (
	"math"
	"slices"

	"github.com/sinter-ml/sinter"
)

// indexOps are the operations that read or write where indices say.
var indexOps = map[string]adapter{
	"gather": one(func(c *Call) *tensor {
		return atLeast1(c.x()).Gather(c.integer(1, "dim", 0), atLeast1(c.index(2))).Reshape(c.outShape()...)
	}, exact),
	"index_select": one(func(c *Call) *tensor {
		return atLeast1(c.x()).Select(c.integer(1, "dim", 0), atLeast1(c.index(2))).Reshape(c.outShape()...)
	}, exact),
	"take": one(func(c *Call) *tensor {
		return c.x().Reshape(-1).Select(0, c.index(1).Reshape(-1)).Reshape(c.outShape()...)
	}, exact),
	"take_along_dim": one(func(c *Call) *tensor {
		x, index := c.x(), c.index(1)
		if !c.has(2, "dim") {
			return x.Reshape(-1).TakeAlongAxis(0, index.Reshape(-1))
		}
		return x.TakeAlongAxis(c.integer(2, "dim", 0), index)
	}, exact),
	"masked_select": one(func(c *Call) *tensor {
		x, mask := c.x(), c.tensor(1, "mask")
		// More places than are needed: those beyond are not compared.
		y, _ := x.MaskedSelect(mask, c.outShape()[0]+3, 0)
		return y.Narrow(0, 0, c.outShape()[0])
	}, exact),
	"nonzero": {make: func(c *Call) tensors {
		x, n := c.x(), c.outShape()[0]
		list, _ := x.Nonzero(n + 3)
		list = list.Narrow(0, 0, n)
		if !c.flag(1, "as_tuple", false) {
			return tensors{list}
		}
		if x.Rank() == 0 { // PyTorch sees one axis
			return tensors{sinter.Full(c.at, sinter.I64, 0, n)}
		}
		var out tensors
		for i := range x.Rank() {
			out = append(out, list.Narrow(1, i, 1).Squeeze(1))
		}
		return out
	}, tol: exact},
	"unique": one(func(c *Call) *tensor {
		y, _ := c.x().Unique(c.outShape()[0]+3, 0)
		return y.Narrow(0, 0, c.outShape()[0])
	}, exact),
	"nn.functional.embedding": one(func(c *Call) *tensor { return c.x().Embedding(c.index(1)) }, exact),

	"nn.functional.one_hot": one(func(c *Call) *tensor {
		return c.x().OneHot(c.outShape()[len(c.outShape())-1], sinter.I64)
	}, exact),

	"scatter":        one(scattered(reduceMode), within(16)),
	"scatter_add":    one(scattered(func(*Call) sinter.ScatterMode { return sinter.ScatterSum }), sums(total)),
	"scatter_reduce": one(scattered(reduceMode), tolerance{ulps: 16, magnitude: total, anyZero: true}),
	"index_reduce": one(func(c *Call) *tensor {
		x, index, source := atLeast1(c.x()), atLeast1(c.index(2)), atLeast1(c.tensor(3, "source"))
		at, mode := c.integer(1, "dim", 0), reduceMode(c)
		if !c.flag(-1, "include_self", true) {
			x = x.SelectAssign(at, index, c.nothing(mode).Expand(source.Shape()...), sinter.Assign)
		}
		return x.SelectAssign(at, index, source, mode).Reshape(c.outShape()...)
	}, tolerance{ulps: 16, anyZero: true}),
	"index_copy": one(func(c *Call) *tensor {
		return effect(c, func(v *sinter.Var, axis int, index, value *tensor) { v.SetSelect(axis, index, value) })
	}, exact),
	"index_add": one(func(c *Call) *tensor {
		return effect(c, func(v *sinter.Var, axis int, index, value *tensor) {
			v.ScatterAdd(axis, index, scale(value, c.number(-1, "alpha", 1)))
		})
	}, sums(total)),
	"index_fill": one(func(c *Call) *tensor {
		x, index := atLeast1(c.x()), atLeast1(c.index(2))
		at := axis(c.integer(1, "dim", 0), x.Rank())
		shape := slices.Clone([]int(x.Shape()))
		shape[at] = index.Dim(0)
		var value *tensor
		if a, ok := c.Args[3].(TensorArg); ok {
			value = c.put("value", a).Expand(shape...)
		} else {
			value = c.filled(c.number(3, "value", 0), shape...)
		}
		return x.SelectAssign(at, index, value, sinter.Assign).Reshape(c.outShape()...)
	}, exact),
	"index_put": one(func(c *Call) *tensor {
		x, index, value := c.x(), c.put("indices", c.Args[1].([]any)[0]), c.tensor(2, "values")
		if index.DType() == sinter.Bool {
			return sinter.Where(index.Unsqueeze(-1), value, x)
		}
		mode := sinter.Assign
		if c.flag(-1, "accumulate", false) {
			mode = sinter.ScatterSum
		}
		return x.SelectAssign(0, index, value.Expand(append([]int{index.Dim(0)}, x.Shape()[1:]...)...), mode)
	}, sums(total)),
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
		return x.SliceAssign(c.tensor(1, "src").Unsqueeze(at), part(at, sinter.Index(index))...)
	}, exact),
	"slice_scatter": one(func(c *Call) *tensor {
		x := c.x()
		at := axis(c.integer(2, "dim", 0), x.Rank())
		v := sinter.NewVar(x)
		v.SetSlice(c.tensor(1, "src"), part(at, span(x.Dim(at), c.integer(3, "start", 0), c.integer(4, "end", x.Dim(at)), c.integer(5, "step", 1)))...)
		return v.Value()
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
	x, index, value := atLeast1(c.x()), atLeast1(c.index(2)), c.tensor(3, "source")
	v := sinter.NewVar(x)
	at := axis(c.integer(1, "dim", 0), x.Rank())
	shape := slices.Clone([]int(x.Shape()))
	shape[at] = index.Dim(0)
	f(v, at, index, value.Reshape(shape...))
	return v.Value().Reshape(c.outShape()...)
}

// part is the ranges of part of an axis.
func part(axis int, r sinter.Range) []sinter.Range {
	ranges := slices.Repeat([]sinter.Range{sinter.All()}, axis+1)
	ranges[axis] = r
	return ranges
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

// indexed is x[...] with lists of indices, slices of a whole axis and an
// ellipsis at the end.
func indexed(c *Call) *tensor {
	x := c.x()
	items, ok := c.Args[1].([]any)
	if !ok {
		items = []any{c.Args[1]}
	}
	if !slices.ContainsFunc(items, func(v any) bool { _, ok := v.(int); return !ok }) {
		items = []any{items} // one list
	}
	// The axes with indices go first, and their indices last in a list.
	var axes []int
	var lists tensors
	for i, item := range items {
		switch item := item.(type) {
		case TensorArg:
			axes, lists = append(axes, i), append(lists, c.put("index", item).Cast(sinter.I64))
		case []any:
			index := make([]int64, len(item))
			for k, v := range item {
				index[k] = int64(v.(int))
			}
			axes, lists = append(axes, i), append(lists, sinter.From(c.at, index, len(index)))
		}
	}
	shape := []int(lists[0].Shape())
	for _, l := range lists {
		if l.Rank() > 0 {
			shape = l.Shape()
		}
	}
	for i, l := range lists {
		lists[i] = l.Expand(shape...)
	}
	y := x.Permute(append(slices.Clone(axes), others(axes, x.Rank())...)...).GatherND(sinter.Stack(-1, lists...))
	// Adjacent axes with indices are replaced in place, others in front.
	if last := axes[len(axes)-1]; last-axes[0] == len(axes)-1 && axes[0] > 0 {
		perm := slices.Repeat([]int{-1}, y.Rank())
		for i := range shape {
			perm[axes[0]+i] = i
		}
		y = y.Permute(filledUp(perm)...)
	}
	return y
}

// scattered makes the call of an operation (x, dim, index, source) that joins
// elements of source, or a number, with those of x.
func scattered(mode func(c *Call) sinter.ScatterMode) func(c *Call) *tensor {
	return func(c *Call) *tensor {
		x, index := atLeast1(c.x()), atLeast1(c.index(2))
		var source *tensor
		if a, ok := c.Args[3].(TensorArg); ok {
			source = atLeast1(c.put("src", a))
			for i, n := range index.Shape() { // PyTorch takes what it needs
				source = source.Narrow(i, 0, n)
			}
		} else {
			source = c.filled(c.number(3, "value", 0), index.Shape()...)
		}
		at := c.integer(1, "dim", 0)
		if !c.flag(-1, "include_self", true) { // what is written to counts as nothing
			x = x.Scatter(at, index, c.nothing(mode(c)).Expand(index.Shape()...), sinter.Assign)
		}
		return x.Scatter(at, index, source, mode(c)).Reshape(c.outShape()...)
	}
}

// nothing is the number of the case's dtype that a mode leaves others as they
// are with.
func (c *Call) nothing(mode sinter.ScatterMode) *tensor {
	dtype := dtypeOf(c.DType)
	switch mode {
	case sinter.ScatterMul:
		return c.filled(1)
	case sinter.ScatterMax, sinter.ScatterMin:
		low, invert := math.Inf(-1), (*tensor).Neg
		if !dtype.IsFloat() {
			least, _ := dtype.Limits()
			low, invert = float64(least), (*tensor).BitwiseNot
		}
		if mode == sinter.ScatterMax {
			return c.filled(low)
		}
		return invert(c.filled(low))
	}
	return c.filled(0)
}

// modes are PyTorch's names.
var modes = map[string]sinter.ScatterMode{
	"": sinter.Assign, "add": sinter.ScatterSum, "sum": sinter.ScatterSum, "multiply": sinter.ScatterMul,
	"prod": sinter.ScatterMul, "amax": sinter.ScatterMax, "amin": sinter.ScatterMin,
}

// reduceMode is the mode in an argument of a call.
func reduceMode(c *Call) sinter.ScatterMode {
	mode, ok := modes[c.text(4, "reduce", c.text(-1, "reduce", ""))]
	if !ok {
		c.wrong("reduce", c.Args)
	}
	return mode
}

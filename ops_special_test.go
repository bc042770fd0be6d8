package sinter_test

import (
	"math"
	"testing"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// special lists the calls that are not written by the generator, each with the
// operation it stands for.
func special(d data) []opCase {
	var out []opCase
	add := func(name string, op ir.Operation, call func(in tensors) *tensor, in ...oracle.Tensor) {
		out = append(out, opCase{name, op, in, call})
	}
	for _, t := range ir.DTypes() {
		moves(d, t, add)
		indexing(d, t, add)
		for _, to := range ir.DTypes() {
			if t == to && t.IsFloat8() {
				continue // a cast that changes nothing
			}
			add("Cast", ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: to}}, method("Cast", to), d.make(t, true, 3, 11))
			if to.IsFloat8() {
				add("CastOverflow", ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: to, Flag: true}}, method("CastOverflow", to), d.make(t, true, 3, 11))
			}
			if t.Size() == to.Size() && t != ir.Bool && to != ir.Bool {
				add("Bitcast", ir.Operation{Kind: ir.Bitcast, Attrs: ir.Attrs{DType: to}}, method("Bitcast", to), d.make(t, true, 3, 11))
			}
		}
		masks(d, t, add)
		assignments(d, t, add)
		if t.IsFloat() || t.IsInt() {
			numbers(d, t, add)
		}
		if t.IsFloat() {
			floats(d, t, add)
			rows(d, t, add)
		}
		if !t.IsFloat8() {
			orders(d, t, add)
		}
	}
	for _, a := range []ir.DType{ir.I8, ir.U8} {
		for _, b := range []ir.DType{ir.I8, ir.U8} {
			add("IntMatMul", ir.Operation{Kind: ir.IntMatMul}, method("IntMatMul"), d.make(a, true, 2, 3, 37), d.make(b, true, 37, 5))
		}
	}
	return out
}

type adder func(name string, op ir.Operation, call func(in tensors) *tensor, in ...oracle.Tensor)

// reshape is the operation behind everything that only renames axes.
func reshape(to ...int) ir.Operation {
	return ir.Operation{Kind: ir.Reshape, Attrs: ir.Attrs{Shape: append(shape{}, to...)}}
}

func permute(a ...int) ir.Operation { return ir.Operation{Kind: ir.Permute, Attrs: axes(a...)} }

func moves(d data, t ir.DType, add adder) {
	x := func(dims ...int) oracle.Tensor { return d.make(t, true, dims...) }
	add("Reshape", reshape(4, 3), method("Reshape", 4, -1), x(2, 3, 2))
	add("Reshape", reshape(), method("Reshape"), x(1, 1))
	add("Reshape", reshape(0, 5), method("Reshape", -1, 5), x(0, 3))
	add("Flatten", reshape(2, 12), method("Flatten", 1, -1), x(2, 3, 4))
	add("Unsqueeze", reshape(2, 3, 1), method("Unsqueeze", -1), x(2, 3))
	add("Unsqueeze", reshape(1), method("Unsqueeze", 0), x())
	add("Squeeze", reshape(2, 3), method("Squeeze"), x(1, 2, 1, 3))
	add("Squeeze", reshape(1, 2, 3), method("Squeeze", -2), x(1, 2, 1, 3))
	add("Permute", permute(2, 0, 1), method("Permute", 2, 0, -2), x(2, 3, 4))
	add("Permute", permute(), method("Permute"), x())
	add("Transpose", permute(2, 1, 0), method("Transpose", 0, -1), x(2, 3, 4))
	add("T", permute(0, 2, 1), method("T"), x(2, 3, 4))
	add("T", permute(1, 0), method("T"), x(0, 3))
	add("Expand", ir.Operation{Kind: ir.Expand, Attrs: ir.Attrs{Shape: shape{4, 2, 3}}}, method("Expand", 4, -1, 3), x(2, 1))
	add("Flip", ir.Operation{Kind: ir.Flip, Attrs: axes(1)}, method("Flip", -1), x(3, 5))
	add("Flip", ir.Operation{Kind: ir.Flip, Attrs: axes(0, 1)}, method("Flip", 0, 1), x(3, 5))
	cat := func(axis int) func(in tensors) *tensor {
		return func(in tensors) *tensor { return sinter.Cat(axis, in...) }
	}
	add("Cat", ir.Operation{Kind: ir.Cat, Attrs: axes(1)}, cat(-1), x(2, 3), x(2, 0), x(2, 4), x(2, 1))
	add("Cat", ir.Operation{Kind: ir.Cat, Attrs: axes(0)}, cat(0), x(3))
	stack := func(in tensors) *tensor { // stacked along a new last axis and read as one
		return sinter.Stack(-1, in...).Permute(2, 0, 1).Reshape(4, 3)
	}
	add("Stack", ir.Operation{Kind: ir.Cat, Attrs: axes(0)}, stack, x(2, 3), x(2, 3))
	add("Repeat", ir.Operation{Kind: ir.Repeat, Attrs: ir.Attrs{Ints: []int{2, 3}}}, method("Repeat", 2, 3), x(2, 3))
	add("Repeat", ir.Operation{Kind: ir.Repeat, Attrs: ir.Attrs{Ints: []int{0}}}, method("Repeat", 0), x(2))
	pad := ir.Operation{Kind: ir.Pad, Attrs: ir.Attrs{Ints: []int{1, 0, -1, 2}}, Scalars: scalars(t, 1)}
	add("Pad", pad, method("Pad", 1.0, 1, 0, -1, 2), x(2, 3))
	pad.Scalars = fromOperands(t, 1, 1)
	add("PadTensor", pad, method("PadTensor", 1, 0, -1, 2), x(2, 3), x())
	unfold := func(axis, size, step int) ir.Operation {
		return ir.Operation{Kind: ir.Unfold, Attrs: ir.Attrs{Axes: []int{axis}, Ints: []int{size, step}}}
	}
	add("Unfold", unfold(0, 3, 2), method("Unfold", 0, 3, 2), x(8, 2))
	add("Unfold", unfold(1, 1, 3), method("Unfold", -1, 1, 3), x(2, 7))
	diagonal := func(offset, a, b int) ir.Operation {
		return ir.Operation{Kind: ir.Diagonal, Attrs: ir.Attrs{Axes: []int{a, b}, N: offset}}
	}
	add("Diagonal", diagonal(0, 0, 1), method("Diagonal", 0, 0, -1), x(3, 4))
	add("Diagonal", diagonal(-1, 2, 0), method("Diagonal", -1, 2, 0), x(3, 2, 4))
	add("Diagonal", diagonal(9, 0, 1), method("Diagonal", 9, 0, 1), x(3, 4))
}

func masks(d data, t ir.DType, add adder) {
	if t.IsFloat8() {
		return // storage: nothing chooses between them
	}
	mask := func() oracle.Tensor { return d.make(ir.Bool, false, 4, 1) }
	x := func(dims ...int) oracle.Tensor { return d.make(t, true, dims...) }
	one := oracle.Tensor{Shape: shape{}, DType: t, F: []float64{1}, I: []int64{1}, B: []bool{true}}
	where := ir.Operation{Kind: ir.Where}
	add("Where", where, func(in tensors) *tensor { return sinter.Where(in[0], in[1], in[2]) }, mask(), x(5), x())
	add("WhereScalar", where, func(in tensors) *tensor { return sinter.WhereScalar(in[0], in[1], 1) }, mask(), x(5), one)
	add("MaskFill", where, func(in tensors) *tensor { return in[2].MaskFill(in[0], 1) }, mask(), one, x(5))
	add("MaskFillTensor", where, func(in tensors) *tensor { return in[2].MaskFillTensor(in[0], in[1]) }, mask(), x(5), x())
}

func indexing(d data, t ir.DType, add adder) {
	slice := func(r ...ir.Range) ir.Operation { return ir.Operation{Kind: ir.Slice, Ranges: r} }
	call := func(r ...sinter.Range) func(in tensors) *tensor {
		return func(in tensors) *tensor { return in[0].Slice(r...) }
	}
	whole := func(n int) ir.Range { return ir.Range{Len: n, Step: 1} }
	x := d.make(t, true, 5, 7)
	add("Slice", slice(ir.Range{Start: 1, Len: 3, Step: 1}, whole(7)), call(sinter.Span(1, -1)), x)
	add("Slice", slice(ir.Range{Start: 3, Len: 2, Step: 1}, whole(7)), call(sinter.SpanFrom(-2), sinter.All()), x)
	add("Slice", slice(ir.Range{Start: 4, Len: 1, Step: 1}, ir.Range{Start: 6, Len: 4, Step: -2}), call(sinter.Index(-1), sinter.SpanStep(0, 7, -2)), x)
	add("Slice", slice(ir.Range{Start: 1, Len: 2, Step: 3}, ir.Range{Step: 1}), call(sinter.SpanStep(1, 5, 3), sinter.Span(3, 3)), x)
	add("Slice", slice(whole(5), ir.Range{Start: 2, Len: 1, Step: 1}), call(sinter.All(), sinter.SpanStep(2, 5, math.MaxInt)), x)
	add("Slice", slice(whole(5), ir.Range{Start: 4, Len: 1, Step: 1}), call(sinter.All(), sinter.SpanStep(2, 5, math.MinInt)), x)
	add("Slice", slice(whole(5), ir.Range{Len: 4, Step: 1, Input: 1}), func(in tensors) *tensor {
		return in[0].Slice(sinter.All(), sinter.SpanAt(in[1], 4))
	}, x, oracle.Ints(shape{}, 3))
	add("Slice", slice(whole(5), ir.Range{Len: 4, Step: 1, Input: 1}), func(in tensors) *tensor {
		return in[0].Slice(sinter.All(), sinter.SpanAt(in[1].Reshape(1, 1).Reshape(), 4))
	}, x, oracle.Ints(shape{}, 2))
	add("Narrow", slice(whole(5), ir.Range{Start: 4, Len: 2, Step: 1}), method("Narrow", -1, -3, 2), x)
	add("Narrow", slice(ir.Range{Step: 1}, whole(7)), method("Narrow", 0, 5, 0), x)
	add("Select", ir.Operation{Kind: ir.Select, Attrs: axes(1)}, func(in tensors) *tensor { return in[0].Select(-1, in[1]) }, x, d.indices(7, 9))
	add("Select", ir.Operation{Kind: ir.Select, Attrs: axes(0)}, func(in tensors) *tensor { return in[0].Select(0, in[1]) }, x, d.indices(5, 0))
	add("Gather", ir.Operation{Kind: ir.Gather, Attrs: axes(0)}, func(in tensors) *tensor { return in[0].Gather(0, in[1]) }, x, d.indices(5, 8, 4))
	add("Embedding", ir.Operation{Kind: ir.Embedding}, method("Embedding"), x, d.indices(5, 2, 3))
	add("Embedding", ir.Operation{Kind: ir.Embedding}, method("Embedding"), x, d.indices(5))
	add("GatherND", ir.Operation{Kind: ir.GatherND}, method("GatherND"), x, d.indices(5, 2, 3, 2))
	add("GatherND", ir.Operation{Kind: ir.GatherND}, method("GatherND"), x, d.indices(5, 3, 1))
	add("GatherND", ir.Operation{Kind: ir.GatherND}, method("GatherND"), x, d.indices(5, 2, 0))
}

func numbers(d data, t ir.DType, add adder) {
	x := func(dims ...int) oracle.Tensor { return d.make(t, true, dims...) }
	plain := func(dims ...int) oracle.Tensor { return d.make(t, false, dims...) }
	lo, hi := -1.0, 2.0
	if t.IsUnsigned() {
		lo = 1
	}
	add("Clamp", ir.Operation{Kind: ir.Clamp, Scalars: scalars(t, lo, hi)}, method("Clamp", lo, hi), x(41))
	add("Clamp", ir.Operation{Kind: ir.Clamp, Scalars: scalars(t, hi, lo)}, method("Clamp", hi, lo), x(4))
	add("ClampTensor", ir.Operation{Kind: ir.Clamp, Scalars: fromOperands(t, 1, 2)}, method("ClampTensor"), x(3, 7), plain(), plain())
	add("MulAdd", ir.Operation{Kind: ir.MulAdd}, method("MulAdd"), x(3, 4), x(1), x(3, 1))
	for _, s := range [][2]shape{
		{{3, 4}, {4, 5}}, {{4}, {4}}, {{4}, {4, 2}}, {{3, 4}, {4}}, {{2, 1, 3, 4}, {5, 4, 2}}, {{3, 0}, {0, 2}}, {{0, 3}, {3, 2}}, {{1, 37}, {37, 19}},
	} {
		add("MatMul", ir.Operation{Kind: ir.MatMul}, method("MatMul"), plain(s[0]...), plain(s[1]...))
	}
	for _, kind := range []ir.Kind{ir.CumSum, ir.CumProd, ir.CumMax, ir.CumMin} {
		name := kind.String()
		in := plain
		if kind == ir.CumMax || kind == ir.CumMin {
			in = x
		}
		add(name, ir.Operation{Kind: kind, Attrs: axes(1)}, method(name, -1), in(3, 40))
		add(name, ir.Operation{Kind: kind, Attrs: axes(0)}, method(name, 0), in(0, 2))
		for _, o := range []sinter.ScanOptions{{Exclusive: true}, {Reverse: true}, {Exclusive: true, Reverse: true}} {
			add(name+"With", ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: []int{0}, Flag: o.Exclusive, Reverse: o.Reverse}},
				method(name+"With", 0, o), in(5, 2))
		}
	}
}

func orders(d data, t ir.DType, add adder) {
	x := func(dims ...int) oracle.Tensor { return d.make(t, true, dims...) }
	for _, o := range []sinter.Order{sinter.Ascending, sinter.Descending} {
		for _, kind := range []ir.Kind{ir.Sort, ir.ArgSort} {
			name := kind.String()
			add(name, ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: []int{1}, Reverse: bool(o)}}, method(name, -1, o), x(3, 17))
			add(name, ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: []int{0}, Reverse: bool(o)}}, method(name, 0, o), x(9, 2))
			add(name, ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: []int{0}, Reverse: bool(o)}}, method(name, 0, o), x(0, 2))
		}
		for _, kind := range []ir.Kind{ir.TopK, ir.ArgTopK} {
			name := kind.String()
			for _, k := range []int{0, 1, 4, 9} {
				add(name, ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: []int{0}, N: k, Reverse: bool(o)}}, method(name, 0, k, o), x(9, 2))
			}
		}
	}
}

func floats(d data, t ir.DType, add adder) {
	x := func(dims ...int) oracle.Tensor { return d.make(t, false, dims...) }
	linear := ir.Operation{Kind: ir.Linear}
	add("Linear", linear, method("Linear"), x(2, 3, 4), x(4, 5), x(5))
	add("Linear", linear, func(in tensors) *tensor { return in[0].Linear(in[1], nil) }, x(4), x(4, 5))
	add("Linear", linear, method("Linear"), x(3, 0), x(0, 2), x(2))
	for _, kind := range []ir.Kind{ir.Softmax, ir.LogSoftmax} {
		name := kind.String()
		add(name, ir.Operation{Kind: kind, Attrs: axes(1)}, method(name, -1), x(5, 33))
		add(name, ir.Operation{Kind: kind, Attrs: axes(0, 2)}, method(name, 0, 2), x(3, 2, 5))
		add(name, ir.Operation{Kind: kind}, method(name), x(7))
		add(name, ir.Operation{Kind: kind, Attrs: axes(1)}, method(name, 1), x(2, 0))
	}
	for _, name := range []string{"Variance", "Std"} {
		kind := map[string]ir.Kind{"Variance": ir.Var, "Std": ir.Std}[name]
		add(name, ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: []int{1}, N: 1}}, method(name, 1, -1), x(3, 9))
		add(name, ir.Operation{Kind: kind}, method(name, 0), x(4, 5))
		add(name, ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: []int{0}, N: 1}}, method(name, 1, 0), x(1, 2))
	}
	for _, p := range []float64{1.5, 3, -2} {
		add("Norm", ir.Operation{Kind: ir.Norm, Attrs: axes(1), Scalars: scalars(t, p)}, method("Norm", p, 1), x(3, 9))
		add("NormTensor", ir.Operation{Kind: ir.Norm, Attrs: axes(1), Scalars: fromOperands(t, 1, 1)}, method("NormTensor", 1), x(3, 9), oracle.Floats(t, shape{}, p))
	}
	add("Norm", ir.Operation{Kind: ir.L2Norm}, method("Norm", 2.0), x(3, 9))
	attend := func(o sinter.AttentionOptions) func(in tensors) *tensor {
		return func(in tensors) *tensor {
			if len(in) == 4 {
				o.Mask = in[3]
			}
			return in[0].Attention(in[1], in[2], o)
		}
	}
	half := scalars(t, 0.5) // 1/√4
	add("Attention", ir.Operation{Kind: ir.Attention, Scalars: half}, attend(sinter.AttentionOptions{}), x(2, 4, 5, 4), x(2, 2, 6, 4), x(2, 2, 6, 3))
	add("Attention", ir.Operation{Kind: ir.Attention, Scalars: scalars(t, 0.3), Attrs: ir.Attrs{Flag: true, N: -1}},
		attend(sinter.AttentionOptions{Scale: 0.3, Causal: true, Offset: -1}), x(1, 2, 5, 4), x(1, 2, 5, 4), x(1, 2, 5, 4))
	add("Attention", ir.Operation{Kind: ir.Attention, Scalars: half}, attend(sinter.AttentionOptions{}), x(1, 2, 3, 4), x(1, 1, 6, 4), x(1, 1, 6, 4), d.make(ir.Bool, false, 3, 6))
	add("Attention", ir.Operation{Kind: ir.Attention, Scalars: half}, attend(sinter.AttentionOptions{}), x(1, 2, 3, 4), x(1, 1, 6, 4), x(1, 1, 6, 4), x(1, 2, 1, 6))
	flipped := func(in tensors) *tensor { // views of nothing, whose strides are 0
		return in[0].Attention(in[1].Flip(), in[2].Flip(), sinter.AttentionOptions{})
	}
	add("Attention", ir.Operation{Kind: ir.Attention, Scalars: half}, flipped, x(1, 2, 3, 4), x(1, 1, 0, 4), x(1, 1, 0, 4))
}

func TestSpecial(t *testing.T) {
	devs := both(t)
	for _, c := range special(newData(6)) {
		c.check(t, devs...)
	}
}

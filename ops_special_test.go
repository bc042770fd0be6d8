package sinter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

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
			add("Cast", ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: to}}, method("Cast", to), d.make(t, true, 3, 11))
		}
		add("Where", ir.Operation{Kind: ir.Where}, func(in tensors) *tensor { return sinter.Where(in[0], in[1], in[2]) },
			d.make(ir.Bool, false, 4, 1), d.make(t, true, 5), d.make(t, true))
		one := oracle.Tensor{Shape: shape{}, DType: t, F: []float64{1}, I: []int64{1}, B: []bool{true}}
		add("MaskFill", ir.Operation{Kind: ir.Where}, func(in tensors) *tensor { return in[2].MaskFill(in[0], 1) },
			d.make(ir.Bool, false, 4, 1), one, d.make(t, true, 5))
	}
	for _, t := range []ir.DType{ir.F32, ir.BF16, ir.I64} {
		numbers(d, t, add)
	}
	for _, t := range []ir.DType{ir.F32, ir.BF16} {
		floats(d, t, add)
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
	one := ir.F32Scalar(1)
	if t == ir.I64 {
		one = ir.I64Scalar(1)
	} else if t == ir.Bool {
		one = ir.BoolScalar(true)
	}
	pad := ir.Operation{Kind: ir.Pad, Attrs: ir.Attrs{Ints: []int{1, 0, -1, 2}}, Scalars: []ir.Scalar{one}}
	add("Pad", pad, method("Pad", 1.0, 1, 0, -1, 2), x(2, 3))
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
}

func numbers(d data, t ir.DType, add adder) {
	x := func(dims ...int) oracle.Tensor { return d.make(t, true, dims...) }
	plain := func(dims ...int) oracle.Tensor { return d.make(t, false, dims...) }
	bounds := f32(-1, 2)
	if t == ir.I64 {
		bounds = []ir.Scalar{ir.I64Scalar(-1), ir.I64Scalar(2)}
	}
	clamp := ir.Operation{Kind: ir.Clamp, Scalars: bounds}
	add("Clamp", clamp, method("Clamp", -1.0, 2.0), x(41))
	clamp.Scalars = []ir.Scalar{bounds[1], bounds[0]}
	add("Clamp", clamp, method("Clamp", 2.0, -1.0), x(4))
	clamp.Scalars = []ir.Scalar{{DType: t.Compute(), Input: 1}, {DType: t.Compute(), Input: 2}}
	add("ClampTensor", clamp, method("ClampTensor"), x(3, 7), plain(), plain())
	add("MulAdd", ir.Operation{Kind: ir.MulAdd}, method("MulAdd"), x(3, 4), x(1), x(3, 1))
	for _, s := range [][2]shape{
		{{3, 4}, {4, 5}}, {{4}, {4}}, {{4}, {4, 2}}, {{3, 4}, {4}}, {{2, 1, 3, 4}, {5, 4, 2}}, {{3, 0}, {0, 2}}, {{0, 3}, {3, 2}}, {{1, 37}, {37, 19}},
	} {
		add("MatMul", ir.Operation{Kind: ir.MatMul}, method("MatMul"), plain(s[0]...), plain(s[1]...))
	}
	add("CumSum", ir.Operation{Kind: ir.CumSum, Attrs: axes(1)}, method("CumSum", -1), plain(3, 40))
	for _, o := range []sinter.ScanOptions{{Exclusive: true}, {Reverse: true}, {Exclusive: true, Reverse: true}} {
		add("CumSumWith", ir.Operation{Kind: ir.CumSum, Attrs: ir.Attrs{Axes: []int{0}, Flag: o.Exclusive, Reverse: o.Reverse}},
			method("CumSumWith", 0, o), plain(5, 2))
	}
}

func floats(d data, t ir.DType, add adder) {
	x := func(dims ...int) oracle.Tensor { return d.make(t, false, dims...) }
	add("LeakyRelu", ir.Operation{Kind: ir.LeakyRelu, Scalars: f32(0.1)}, method("LeakyRelu", 0.1), d.make(t, true, 33))
	linear := ir.Operation{Kind: ir.Linear}
	add("Linear", linear, method("Linear"), x(2, 3, 4), x(4, 5), x(5))
	add("Linear", linear, func(in tensors) *tensor { return in[0].Linear(in[1], nil) }, x(4), x(4, 5))
	add("Linear", linear, method("Linear"), x(3, 0), x(0, 2), x(2))
	for name, kind := range map[string]ir.Kind{"Softmax": ir.Softmax, "LogSoftmax": ir.LogSoftmax} {
		add(name, ir.Operation{Kind: kind, Attrs: axes(1)}, method(name, -1), x(5, 33))
		add(name, ir.Operation{Kind: kind, Attrs: axes(0, 2)}, method(name, 0, 2), x(3, 2, 5))
		add(name, ir.Operation{Kind: kind}, method(name), x(7))
		add(name, ir.Operation{Kind: kind, Attrs: axes(1)}, method(name, 1), x(2, 0))
	}
	norm := ir.Operation{Kind: ir.LayerNorm, Scalars: f32(1e-5)}
	add("LayerNorm", norm, method("LayerNorm", 1e-5), x(3, 17), x(17), x(17))
	add("LayerNorm", norm, func(in tensors) *tensor { return in[0].LayerNorm(in[1], nil, 1e-5) }, x(2, 3, 4), x(4))
	add("LayerNorm", norm, func(in tensors) *tensor { return in[0].LayerNorm(nil, nil, 1e-5) }, x(5))
	norm.Kind = ir.RMSNorm
	add("RMSNorm", norm, method("RMSNorm", 1e-5), x(3, 17), x(17))
	add("RMSNorm", norm, func(in tensors) *tensor { return in[0].RMSNorm(nil, 1e-5) }, x(1, 6))
	add("Variance", ir.Operation{Kind: ir.Var, Attrs: ir.Attrs{Axes: []int{1}, N: 1}}, method("Variance", 1, -1), x(3, 9))
	add("Variance", ir.Operation{Kind: ir.Var}, method("Variance", 0), x(4, 5))
	attend := func(o sinter.AttentionOptions) func(in tensors) *tensor {
		return func(in tensors) *tensor {
			if len(in) == 4 {
				o.Mask = in[3]
			}
			return in[0].Attention(in[1], in[2], o)
		}
	}
	half := f32(0.5) // 1/√4
	add("Attention", ir.Operation{Kind: ir.Attention, Scalars: half}, attend(sinter.AttentionOptions{}), x(2, 4, 5, 4), x(2, 2, 6, 4), x(2, 2, 6, 3))
	add("Attention", ir.Operation{Kind: ir.Attention, Scalars: f32(0.3), Attrs: ir.Attrs{Flag: true, N: -1}},
		attend(sinter.AttentionOptions{Scale: 0.3, Causal: true, Offset: -1}), x(1, 2, 5, 4), x(1, 2, 5, 4), x(1, 2, 5, 4))
	add("Attention", ir.Operation{Kind: ir.Attention, Scalars: half}, attend(sinter.AttentionOptions{}), x(1, 2, 3, 4), x(1, 1, 6, 4), x(1, 1, 6, 4), d.make(ir.Bool, false, 3, 6))
	add("Attention", ir.Operation{Kind: ir.Attention, Scalars: half}, attend(sinter.AttentionOptions{}), x(1, 2, 3, 4), x(1, 1, 6, 4), x(1, 1, 6, 4), x(1, 2, 1, 6))
}

func TestSpecial(t *testing.T) {
	devs := both(t)
	for _, c := range special(newData(6)) {
		c.check(t, devs...)
	}
}

func TestCreate(t *testing.T) {
	for _, dev := range both(t) {
		require.Equal(t, []float32{2.5, 2.5}, read[float32](t, sinter.Full(dev, sinter.F32, 2.5, 2)))
		require.Equal(t, []sinter.BFloat16{sinter.ToBFloat16(0.1)}, read[sinter.BFloat16](t, sinter.Full(dev, sinter.BF16, 0.1)))
		require.Equal(t, []int64{0, 0, 0, 0}, read[int64](t, sinter.Zeros(dev, sinter.I64, 2, 2)))
		require.Equal(t, []bool{true}, read[bool](t, sinter.Ones(dev, sinter.Bool, 1)))
		require.Empty(t, read[float32](t, sinter.Ones(dev, sinter.F32, 3, 0)))
		require.Equal(t, []float32{-1, -0.5, 0, 0.5}, read[float32](t, sinter.Arange(dev, sinter.F32, -1, 0.5, 4)))
		require.Equal(t, []int64{3, 1, -1}, read[int64](t, sinter.Arange(dev, sinter.I64, 3, -2, 3)))
		require.Empty(t, read[int64](t, sinter.Arange(dev, sinter.I64, 3, -2, 0)))
		require.Equal(t, []int64{7}, read[int64](t, sinter.Scalar(dev, int64(7))))
		require.Equal(t, shape{}, append(shape{}, sinter.Scalar(dev, true).Shape()...))
		require.Equal(t, []bool{true, false}, read[bool](t, sinter.FromBytes(dev, sinter.Bool, []byte{1, 0}, 2)))
		one, err := sinter.Item[float32](ctx, sinter.Ones(dev, sinter.F32, 1, 1))
		require.NoError(t, err)
		require.Equal(t, float32(1), one)
		raw, err := sinter.ReadBytes(ctx, sinter.Scalar(dev, int64(258)))
		require.NoError(t, err)
		require.Equal(t, []byte{2, 1, 0, 0, 0, 0, 0, 0}, raw)
	}
}

// randomTested names the methods TestRandom covers.
var randomTested = []string{"Dropout"}

// Random numbers are those of the operation rules for the device's seed and
// the number of the draw.
func TestRandom(t *testing.T) {
	const seed = 42
	for _, dev := range both(t) {
		dev.Seed(seed)
		draws := []struct {
			op   ir.Operation
			make func() *tensor
		}{
			{ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: shape{3, 5}, DType: ir.F32}, Scalars: f32(-1, 3)},
				func() *tensor { return sinter.Uniform(dev, sinter.F32, -1, 3, 3, 5) }},
			{ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: shape{7}, DType: ir.BF16}, Scalars: f32(0, 1)},
				func() *tensor { return sinter.Uniform(dev, sinter.BF16, 0, 1, 7) }},
			{ir.Operation{Kind: ir.Normal, Attrs: ir.Attrs{Shape: shape{33}, DType: ir.F32}, Scalars: f32(1, 2)},
				func() *tensor { return sinter.Normal(dev, sinter.F32, 1, 2, 33) }},
			{ir.Operation{Kind: ir.Bernoulli, Attrs: ir.Attrs{Shape: shape{64}, DType: ir.Bool}, Scalars: f32(0.25)},
				func() *tensor { return sinter.Bernoulli(dev, 0.25, 64) }},
			{ir.Operation{Kind: ir.RandInt, Attrs: ir.Attrs{Shape: shape{0}, DType: ir.I64}, Scalars: []ir.Scalar{ir.I64Scalar(-3), ir.I64Scalar(9)}},
				func() *tensor { return sinter.RandInt(dev, -3, 9, 0) }},
			{ir.Operation{Kind: ir.RandInt, Attrs: ir.Attrs{Shape: shape{}, DType: ir.I64}, Scalars: []ir.Scalar{ir.I64Scalar(-3), ir.I64Scalar(9)}},
				func() *tensor { return sinter.RandInt(dev, -3, 9) }},
		}
		for i, d := range draws {
			d.op.Scalars = append([]ir.Scalar{ir.I64Scalar(seed), ir.I64Scalar(int64(i))}, d.op.Scalars...)
			opCase{d.op.Kind.String(), d.op, nil, func(tensors) *tensor { return d.make() }}.check(t, dev)
		}
	}
}

func TestDropout(t *testing.T) {
	const p, n = 0.25, 1000
	var first []float32
	for _, dev := range both(t) {
		dev.Seed(3)
		x := sinter.Full(dev, sinter.F32, 3, n)
		got := read[float32](t, x.Dropout(p))
		kept := 0
		for _, v := range got {
			if v != 0 {
				require.Equal(t, float32(4), v)
				kept++
			}
		}
		require.InDelta(t, n*(1-p), kept, 5*math.Sqrt(n*p*(1-p)))
		again := read[float32](t, x.Dropout(p))
		require.NotEqual(t, got, again, "each draw is another")
		dev.Seed(3)
		require.Equal(t, got, read[float32](t, x.Dropout(p)), "the same seed gives the same draws")
		if first == nil {
			first = got
		}
		require.Equal(t, first, got)
		require.Equal(t, []float32{3, 3}, read[float32](t, sinter.Full(dev, sinter.F32, 3, 2).Dropout(0)))
	}
}

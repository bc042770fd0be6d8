package sinter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// What is made of several operations tells the caller's line and its own name,
// or that of the operation that does not fit.
func TestBadCompositions(t *testing.T) {
	dev, other := open(t), open(t)
	x := sinter.Zeros(dev, sinter.F32, 2, 3)
	v := sinter.Zeros(dev, sinter.F32, 4)
	n := sinter.Zeros(dev, sinter.I64, 2, 3)
	b := sinter.Zeros(dev, sinter.Bool, 2, 3)
	f8 := x.Cast(sinter.F8E4M3)
	far := sinter.Zeros(other, sinter.F32, 2, 3)
	first := func(ts ...*tensor) *tensor { return ts[0] }
	expect(t, dev, []bad{
		{"Split", isShape, func() *tensor { return x.Split(1, 1, 1)[0] }},
		{"Split", isShape, func() *tensor { return x.Split(1, 4, -1)[1] }},
		{"Split", isShape, func() *tensor { return x.Split(1, math.MaxInt, math.MaxInt)[1] }},
		{"Split", isShape, func() *tensor { return x.Split(2, 1)[0] }},
		{"Split", isShape, func() *tensor { return x.Split(0)[0] }},
		{"Chunk", isArgument, func() *tensor { return x.Chunk(0, 0)[0] }},
		{"Chunk", isShape, func() *tensor { return x.Chunk(-3, 1)[0] }},
		{"Roll", isShape, func() *tensor { return x.Roll(2, 1) }},
		{"Tril", isShape, func() *tensor { return v.Tril(0) }},
		{"Triu", isShape, func() *tensor { return v.Triu(0) }},
		{"Pad", isShape, func() *tensor { return x.PadWith(sinter.PadReflect, 1, 0) }},
		{"Pad", isShape, func() *tensor { return x.PadWith(sinter.PadReflect, 2, 0, 0, 0) }},
		{"Pad", isShape, func() *tensor { return x.PadWith(sinter.PadCircular, 3, 0, 0, 0) }},
		{"Pad", isShape, func() *tensor { return x.PadWith(sinter.PadReplicate, -1, -2, 0, 0) }},
		{"Pad", isShape, func() *tensor { return x.PadWith(sinter.PadReplicate, -2, 1, 0, 0) }},
		{"Pad", isShape, func() *tensor { return x.PadWith(sinter.PadReplicate, math.MinInt, math.MinInt, 0, 0) }},
		{"Expand", isShape, func() *tensor { return x.PadWith(sinter.PadReplicate, math.MaxInt, 0, 0, 0) }},
		{"Pad", isArgument, func() *tensor { return x.PadWith(9, 0, 0, 0, 0) }},
		{"TakeAlongAxis", isShape, func() *tensor { return x.TakeAlongAxis(0, n.Reshape(6)) }},
		{"TakeAlongAxis", isShape, func() *tensor { return x.TakeAlongAxis(5, n) }},
		{"TakeAlongAxis", isShape, func() *tensor { return x.TakeAlongAxis(0, n.Reshape(3, 2)) }},
		{"Gather", isDType, func() *tensor { return x.TakeAlongAxis(0, x) }},
		{"MaskedSelect", isArgument, func() *tensor { return first(x.MaskedSelect(b, -1, 0)) }},
		{"MaskedSelect", isArgument, func() *tensor { return first(x.MaskedSelect(b, math.MaxInt, 0)) }},
		{"MaskedSelect", isDType, func() *tensor { return first(x.MaskedSelect(n, 2, 0)) }},
		{"MaskedSelect", isShape, func() *tensor { return first(v.MaskedSelect(b, 2, 0)) }},
		{"MaskedSelect", isArgument, func() *tensor { return first(x.MaskedSelect(nil, 2, 0)) }},
		{"Full", isArgument, func() *tensor { return first(n.MaskedSelect(b, 2, 0.5)) }},
		{"Nonzero", isArgument, func() *tensor { return first(x.Nonzero(-1)) }},
		{"Unique", isArgument, func() *tensor { return first(x.Unique(-1, 0)) }},
		{"Sort", isDType, func() *tensor { return first(f8.Unique(3, 0)) }},
		{"OneHot", isArgument, func() *tensor { return n.OneHot(-1, sinter.F32) }},
		{"Scatter", isDType, func() *tensor { return x.OneHot(3, sinter.F32) }},
		{"Einsum", isArgument, func() *tensor { return sinter.Einsum("ij,jk", x) }},
		{"Einsum", isArgument, func() *tensor { return sinter.Einsum("ij,jk", x, nil) }},
		{"MatMul", isDType, func() *tensor { return sinter.Einsum("ij,ij->", x, n) }},
		{"MatMul", isArgument, func() *tensor { return sinter.Einsum("ij,kj->ik", x, far) }},
		{"Dot", isShape, func() *tensor { return v.Dot(x) }},
		{"MatMul", isShape, func() *tensor { return v.Dot(v.Narrow(0, 0, 3)) }},
		{"Outer", isShape, func() *tensor { return x.Outer(v) }},
		{"Glu", isShape, func() *tensor { return x.Glu(1) }},
		{"Glu", isShape, func() *tensor { return x.Glu(2) }},
		{"Sigmoid", isDType, func() *tensor { return n.Glu(0) }},
		{"BatchNorm", isShape, func() *tensor { y, _, _ := v.BatchNormTrain(nil, nil, 0); return y }},
		{"BatchNorm", isDType, func() *tensor { y, _, _ := n.BatchNormTrain(nil, nil, 0); return y }},
		{"BatchNorm", isArgument, func() *tensor { y, _, _ := x.BatchNormTrain(nil, v, 0); return y }},
		{"BatchNorm", isShape, func() *tensor { y, _, _ := x.BatchNormTrain(v, nil, 0); return y }},
		{"LayerNorm", isArgument, func() *tensor { return x.LayerNorm(nil, v, 0) }},
		{"LayerNorm", isDType, func() *tensor { return x.LayerNormTensor(nil, nil, sinter.Scalar(dev, 1.0)) }},
		{"GroupNorm", isArgument, func() *tensor { return x.GroupNorm(2, nil, nil, 0) }},
		{"Sum", isDType, func() *tensor { return x.SumAs(sinter.Bool) }},
		{"Mean", isDType, func() *tensor { return x.MeanAs(sinter.I32) }},
		{"CumSum", isShape, func() *tensor { return x.CumSumAs(sinter.F64, 2, sinter.ScanOptions{}) }},
		{"Sub", isArgument, func() *tensor { return n.RSubScalar(0.5) }},
		{"Pow", isDType, func() *tensor { return b.RPowScalar(2) }},
		{"Sub", isDType, func() *tensor { return x.Lerp(n, 0.5) }},
		{"Linspace", isDType, func() *tensor { return sinter.Linspace(dev, sinter.Bool, 0, 1, 2) }},
		{"Arange", isShape, func() *tensor { return sinter.Eye(dev, sinter.F32, -1, 2) }},
		{"Cast", isDType, func() *tensor { return sinter.Eye(dev, 99, 1, 2) }},
		{"Where", isArgument, func() *tensor { return n.MaskFill(b, 0.5) }},
		{"Where", isDType, func() *tensor { return sinter.WhereScalar(x, x, 1) }},

		{"Sort", isShape, func() *tensor { return x.Sort(2, sinter.Ascending) }},
		{"TopK", isArgument, func() *tensor { return x.TopK(1, 4, sinter.Descending) }},
		{"ArgTopK", isArgument, func() *tensor { y, _ := x.TopKWith(1, -1, sinter.Descending); return y }},
		{"Unfold", isArgument, func() *tensor { return x.Unfold(1, 2, 0) }},
		{"Unfold", isShape, func() *tensor { return x.Unfold(1, 4, 1) }},
		{"Diagonal", isShape, func() *tensor { return x.Diagonal(0, 1, 1) }},
		{"Bitcast", isDType, func() *tensor { return x.Bitcast(sinter.F64) }},
		{"Bitcast", isDType, func() *tensor { return b.Bitcast(sinter.U8) }},
		{"Cast", isArgument, func() *tensor { return x.CastOverflow(sinter.F16) }},
		{"Add", isDType, func() *tensor { return f8.Add(f8) }},
		{"Scatter", isDType, func() *tensor { return b.Scatter(0, n, b, sinter.ScatterSum) }},
		{"ScatterND", isArgument, func() *tensor { return x.ScatterND(n, x, 9) }},
		{"GatherND", isShape, func() *tensor { return x.GatherND(n) }},
		{"SliceAssign", isShape, func() *tensor { return x.SliceAssign(v) }},
		{"SelectAssign", isShape, func() *tensor { return x.SelectAssign(0, n, x, sinter.Assign) }},
		{"ShiftLeft", isArgument, func() *tensor { return n.ShiftLeftScalar(-1) }},
	})
	require.NoError(t, other.Close())
}

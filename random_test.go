package sinter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

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
			{ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: shape{3, 5}, DType: ir.F32}, Scalars: scalars(ir.F32, -1, 3)},
				func() *tensor { return sinter.Uniform(dev, sinter.F32, -1, 3, 3, 5) }},
			{ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: shape{7}, DType: ir.BF16}, Scalars: scalars(ir.F32, 0, 1)},
				func() *tensor { return sinter.Uniform(dev, sinter.BF16, 0, 1, 7) }},
			{ir.Operation{Kind: ir.Normal, Attrs: ir.Attrs{Shape: shape{33}, DType: ir.F32}, Scalars: scalars(ir.F32, 1, 2)},
				func() *tensor { return sinter.Normal(dev, sinter.F32, 1, 2, 33) }},
			{ir.Operation{Kind: ir.Bernoulli, Attrs: ir.Attrs{Shape: shape{64}, DType: ir.Bool}, Scalars: scalars(ir.F32, 0.25)},
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

package progen

import "github.com/sinter-ml/sinter/ir"

// dtypesMade are the element types programs are made of, the common ones more
// often: half of all programs still are what fuses most.
var dtypesMade = []struct {
	dtype  ir.DType
	weight int
}{
	{ir.F32, 24}, {ir.BF16, 10}, {ir.F16, 6}, {ir.F64, 4},
	{ir.I64, 8}, {ir.I32, 3}, {ir.I16, 1}, {ir.I8, 2}, {ir.U64, 1}, {ir.U32, 1}, {ir.U16, 1}, {ir.U8, 2},
	{ir.Bool, 4}, {ir.F8E4M3, 1}, {ir.F8E5M2, 1},
}

// dtype returns one of the element types made that are in a set, which must
// have one.
func (g *generator) dtype(set ir.DTypeSet) ir.DType {
	total := 0
	for _, d := range dtypesMade {
		if set.Has(d.dtype) {
			total += d.weight
		}
	}
	at := g.src.intn(total)
	for _, d := range dtypesMade {
		if !set.Has(d.dtype) {
			continue
		}
		if at -= d.weight; at < 0 {
			return d.dtype
		}
	}
	panic("progen: no dtype")
}

func (g *generator) float() ir.DType  { return g.dtype(ir.Floats) }
func (g *generator) number() ir.DType { return g.dtype(ir.Numbers) }

// scalar returns a scalar for operands of dtype.
func (g *generator) scalar(dtype ir.DType) ir.Scalar {
	switch d := dtype.Compute(); {
	case d == ir.F64:
		return ir.F64Scalar(randomDouble(g.src, g.options.Special))
	case d == ir.F32:
		return ir.F32Scalar(randomFloat(g.src, g.options.Special))
	case d == ir.Bool:
		return ir.BoolScalar(g.src.intn(2) == 1)
	default:
		return ir.IntScalar(d, d.Wrap(randomInt(g.src, g.options.Special)))
	}
}

// floatScalars gives an operation scalars of the compute dtype of a float type.
func floatScalars(dtype ir.DType, values ...float64) func(*ir.Operation) {
	return func(o *ir.Operation) {
		for _, v := range values {
			o.Scalars = append(o.Scalars, ir.FloatScalar(dtype, v))
		}
	}
}

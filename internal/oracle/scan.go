package oracle

import (
	"math"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// evalScan evaluates the running results along an axis, the element itself
// left out if Flag asks for it. Sums and products of floats are evaluated in
// wide numbers and each output is rounded once; integers wrap.
func evalScan(c *call) (Tensor, error) {
	x, kind := c.x[0], c.op.Kind
	out := New(x.DType, x.Shape)
	if isFloat(x.DType) && (kind == ir.CumSum || kind == ir.CumProd) {
		c.abs = make([]float64, x.Len())
	}
	_, lines := groups(x.Shape, c.op.Attrs.Axes)
	for _, line := range lines {
		if c.op.Attrs.Reverse {
			slices.Reverse(line)
		}
		for i, p := range line {
			seen := line[:i+1]
			if c.op.Attrs.Flag {
				seen = line[:i]
			}
			switch {
			case x.DType.IsInt():
				out.I[p] = reduceInt(kind, x, seen)
			case kind == ir.CumSum:
				sum := c.newDot()
				for _, q := range seen {
					sum.addTerm(exact(x.F[q]))
				}
				out.F[p], c.abs[p] = roundWide(x.DType, sum.sum), sum.bound()
			case kind == ir.CumProd:
				out.F[p], c.abs[p] = c.product(x.pick(seen))
			case kind == ir.CumMax:
				out.F[p] = fold(x.pick(seen), math.Inf(-1), maximum)
			default:
				out.F[p] = fold(x.pick(seen), math.Inf(1), minimum)
			}
		}
	}
	return out, nil
}

// product multiplies and bounds what the product in any order may be off: one
// unit for each factor, anything if some part of the factors over- or
// underflows, which the whole need not do.
func (c *call) product(xs []float64) (y, bound float64) {
	f := formats[c.compute()]
	mantissa, exponent := exact(1), 0
	low, high, at := 0.0, 0.0, 0.0 // of the partial products' exponents
	special := false
	for _, x := range xs {
		mantissa = mantissa.times(x)
		if x-x != 0 || x == 0 {
			special = true
			continue
		}
		at += math.Log2(math.Abs(x))
		low, high = math.Min(low, at), math.Max(high, at)
		if !special {
			_, e := math.Frexp(mantissa.hi)
			mantissa, exponent = mantissa.scale(-e), exponent+e
		}
	}
	r := mantissa
	if !special {
		r = mantissa.scale(max(min(exponent, 4000), -4000))
	}
	y = roundWide(c.op.Outputs[0].DType, r)
	if high-low > float64(-f.minExp)-1 {
		return y, math.Inf(1)
	}
	if r.isFinite() {
		bound = math.Abs(r.hi)*math.Expm1(float64(len(xs)+1)*f.unit()) + f.least()
	}
	return y, bound
}

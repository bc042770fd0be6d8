package oracle

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// evalSoftmax evaluates Softmax and LogSoftmax: e^(x−max) over its sum along
// the axes, and the logarithm of that. A row of −∞ gives NaN, as does one with
// +∞ or NaN in it.
func evalSoftmax(c *call) (Tensor, error) {
	x := c.x[0]
	out := New(x.DType, x.Shape)
	c.abs = make([]float64, x.Len())
	f := formats[c.compute()]
	_, rows := groups(x.Shape, c.op.Attrs.Axes)
	for _, row := range rows {
		top := math.Inf(-1)
		for _, p := range row {
			top = maximum(top, x.F[p])
		}
		sum := exact(0)
		for _, p := range row {
			sum = sum.add(wideExp(exact(x.F[p]).plus(-top)))
		}
		for _, p := range row {
			d := exact(x.F[p]).plus(-top)
			// In the compute dtype x−max errs by |d|·u and so, relatively, does
			// its exponential; sums of positive terms in the fixed order err by
			// few units.
			away := (math.Abs(d.hi) + sumUnits(len(row))) * f.unit()
			y := wideExp(d).div(sum)
			switch {
			case c.op.Kind == ir.LogSoftmax:
				y = d.sub(wideLog(sum))
				// The sum's error is absolute in its logarithm; d itself and
				// the difference round in proportion to their sizes.
				away = (math.Abs(d.hi) + sumUnits(len(row)) + math.Abs(y.hi)) * f.unit()
				if math.IsInf(d.hi, 0) {
					away = 0
				}
				if d.hi < -f.max { // x−max overflows
					away = math.Inf(1)
				}
			case y.hi == 0:
				away = f.least()
			default:
				away = y.hi*math.Expm1(away) + f.least()
			}
			out.F[p] = roundWide(x.DType, y)
			c.abs[p] = away
		}
	}
	return out, nil
}

// sumUnits is a bound, in units of roundoff, of what a softmax of n elements
// loses outside the exponent: the exponential's and the division's own errors,
// and a sum in the fixed order, through which an element passes at most 32
// additions in a lane, 5 between lanes and one for each doubling of the number
// of blocks.
func sumUnits(n int) float64 {
	depth := min((n+lanes-1)/lanes, lanes) + 5
	for blocks := (n + blockElems - 1) / blockElems; blocks > 1; blocks = (blocks + 1) / 2 {
		depth++
	}
	return float64(depth + 8)
}

// evalSoftmaxBackward is y·(g − Σg·y) and, of LogSoftmax, g − e^y·Σg, y being
// the output and g its gradient.
func evalSoftmaxBackward(c *call) (Tensor, error) {
	y, g := c.x[0], c.x[1]
	out := New(y.DType, y.Shape)
	c.abs = make([]float64, y.Len())
	f := formats[c.compute()]
	log := c.op.Kind == ir.LogSoftmaxBackward
	_, rows := groups(y.Shape, c.op.Attrs.Axes)
	for _, row := range rows {
		sum, size := exact(0), 0.0
		for _, p := range row {
			term := exact(g.F[p])
			if !log {
				term = term.times(y.F[p])
			}
			sum, size = sum.add(term), size+math.Abs(term.hi)
		}
		for _, p := range row {
			factor, r := exact(y.F[p]), exact(g.F[p]).sub(sum)
			r = factor.mul(r)
			errors := math.Abs(factor.hi) * (math.Abs(g.F[p]) + size*sumUnits(len(row)))
			if log {
				factor = wideExp(factor)
				r = exact(g.F[p]).sub(factor.mul(sum))
				errors = math.Abs(g.F[p]) + factor.hi*size*sumUnits(len(row))
			}
			out.F[p] = roundWide(y.DType, r)
			// Terms of the sum may be subnormal before they meet the factor.
			c.abs[p] = composite(f, 4*errors, r.hi) + 2*f.least()*float64(len(row))*math.Abs(factor.hi)
			if size+math.Abs(g.F[p]) > f.max/2 || errors > f.max/2 || log && factor.hi > f.max {
				c.abs[p] = math.Inf(1)
			}
		}
	}
	return out, nil
}

// composite is a bound for a result whose steps err by so many units of
// roundoff in all.
func composite(f format, errors, result float64) float64 {
	switch {
	case errors != errors && result != result:
		return 0
	case errors-errors != 0:
		// Infinite or NaN; which of them may depend on how it comes about.
		return math.Inf(1)
	}
	return errors*f.unit() + math.Abs(result)*f.unit() + 4*f.least()
}

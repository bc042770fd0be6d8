package oracle

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// evalAttention is softmax(scale·q·kᵀ + mask)·v for q [b,h,m,d], k [b,g,n,d],
// v [b,g,n,e]; head j of q reads head j/(h/g) of k and v. A key that a bool
// mask or the causal rule (key j is visible to query i if j ≤ i + offset)
// hides has no part in anything; an additive mask is arithmetic. A query whose
// scores are all −∞ gives zeros.
func evalAttention(c *call) (Tensor, error) {
	q, k, v := c.x[0], c.x[1], c.x[2]
	shape := ir.Shape{q.Shape[0], q.Shape[1], q.Shape[2], v.Shape[3]}
	out := New(q.DType, shape)
	c.abs = make([]float64, out.Len())
	var mask Tensor
	if len(c.x) > 3 {
		mask = c.x[3].expand(ir.Shape{q.Shape[0], q.Shape[1], q.Shape[2], k.Shape[2]})
	}
	a := arith{c.compute()}
	f := formats[a.d]
	each(shape[:3], func(_ int, at []int) {
		b, h, i := at[0], at[1], at[2]
		g := h / (q.Shape[1] / k.Shape[1])
		var keys []int
		var scores []float64
		doubt := 0.0 // how far a score in the compute dtype may be from the exact one
		for j := range k.Shape[2] {
			if c.hidden(mask, b, h, i, j) {
				continue
			}
			d := c.newDot()
			for l := range q.Shape[3] {
				d.add(q.F[offset(q.Shape, []int{b, h, i, l})], k.F[offset(k.Shape, []int{b, g, j, l})])
			}
			scale := c.float(0)
			score := roundWide(a.d, d.sum.times(scale))
			err := d.bound()*math.Abs(scale) + math.Abs(score)*f.unit()
			if mask.F != nil {
				// Rounded, so that a mask like −3.4e38 swallows the score.
				score = a.add(score, mask.F[offset(mask.Shape, []int{b, h, i, j})])
				err += math.Abs(score) * f.unit()
			}
			switch {
			case math.IsInf(d.bound(), 1):
				// Partial sums may overflow in the compute dtype where the exact
				// ones do not, and meet as NaN.
				doubt = math.Inf(1)
			case !math.IsInf(score, 0):
				doubt = math.Max(doubt, err)
			}
			keys, scores = append(keys, j), append(scores, score)
		}
		for e := range v.Shape[3] {
			values := make([]float64, len(keys))
			for n, j := range keys {
				values[n] = v.F[offset(v.Shape, []int{b, g, j, e})]
			}
			pos := offset(shape, []int{b, h, i, e})
			y, bound := weigh(f, scores, values, doubt)
			if math.IsInf(doubt, 1) {
				bound = doubt
			}
			out.F[pos], c.abs[pos] = roundWide(out.DType, y), bound
		}
	})
	return out, nil
}

// hidden reports whether query i cannot see key j.
func (c *call) hidden(mask Tensor, b, h, i, j int) bool {
	if c.op.Attrs.Flag && j > i+c.op.Attrs.N {
		return true
	}
	return mask.B != nil && !mask.B[offset(mask.Shape, []int{b, h, i, j})]
}

// weigh returns Σ softmax(scores)·values and a bound of the distance from it of
// a result in a format when the scores are in doubt by the given amount.
func weigh(f format, scores, values []float64, doubt float64) (y wide, bound float64) {
	top := math.Inf(-1)
	for _, s := range scores {
		top = maximum(top, s)
	}
	if math.IsInf(top, -1) {
		return exact(0), 0
	}
	sum, weighted := exact(0), exact(0)
	var magnitude, depth float64
	low, high := math.Inf(1), math.Inf(-1)
	for n, s := range scores {
		p := wideExp(exact(s).plus(-top))
		sum = sum.add(p)
		weighted = weighted.add(p.times(values[n]))
		magnitude += p.hi * math.Abs(values[n])
		if !math.IsInf(s, 0) {
			depth = math.Max(depth, top-s)
			low, high = math.Min(low, values[n]), math.Max(high, values[n])
		}
	}
	y = weighted.div(sum)
	overflows := magnitude > f.max/2 // before the division by the sum
	magnitude /= sum.hi
	if math.IsInf(magnitude, 0) && depth < -0.6*float64(f.minExp) || y.isNaN() {
		return y, 0 // infinite or NaN in the format as well
	}
	// Each weight errs by twice the doubt and by the rounding of s−max; both
	// sums, rescaled as the running maximum grows, by a few units a key.
	few := (3*float64(len(scores)) + 8) * f.unit()
	deepest := -float64(f.minExp-f.precision) * math.Ln2 // an exponential is nothing below
	relative := 2*doubt + math.Min(depth, deepest)*f.unit() + few
	switch {
	case math.IsInf(doubt, 0) || math.IsInf(magnitude, 0) || overflows:
		return y, math.Inf(1)
	case relative < 1:
		bound = magnitude*math.Expm1(relative) + float64(len(scores)+1)*f.least()
	default:
		// Whatever the weights, the result lies between the values.
		bound = high - low + few*math.Max(math.Abs(low), math.Abs(high))
	}
	return y, bound
}

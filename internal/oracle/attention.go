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
	each(shape[:3], func(_ int, at []int) {
		b, h, i := at[0], at[1], at[2]
		g := h / (q.Shape[1] / k.Shape[1])
		var keys []int
		var scores []float64
		doubt := 0.0 // how far a float32 score may be from the exact one
		for j := range k.Shape[2] {
			if c.hidden(mask, b, h, i, j) {
				continue
			}
			var d dot
			for l := range q.Shape[3] {
				d.add(q.F[offset(q.Shape, []int{b, h, i, l})], k.F[offset(k.Shape, []int{b, g, j, l})])
			}
			scale := float64(c.f32(0))
			score := float64(float32(d.sum * scale))
			err := d.bound()*math.Abs(scale) + math.Abs(score)*u
			if mask.F != nil {
				// Rounded, so that a mask like −3.4e38 swallows the score.
				score = float64(float32(score + float64(mask.F[offset(mask.Shape, []int{b, h, i, j})])))
				err += math.Abs(score) * u
			}
			// The partial sums of an infinite score may overflow in float32 where
			// the exact ones do not, and meet as NaN.
			if !math.IsInf(score, 0) || math.IsInf(d.bound(), 1) {
				doubt = math.Max(doubt, err)
			}
			keys, scores = append(keys, j), append(scores, score)
		}
		for e := range v.Shape[3] {
			values := make([]float64, len(keys))
			for n, j := range keys {
				values[n] = float64(v.F[offset(v.Shape, []int{b, g, j, e})])
			}
			pos := offset(shape, []int{b, h, i, e})
			y, bound := weigh(scores, values, doubt)
			if math.IsInf(doubt, 1) {
				bound = doubt
			}
			out.F[pos] = round64(out.DType, y)
			c.abs[pos] = bound
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

// weigh returns Σ softmax(scores)·values and a bound of a float32 result's
// distance from it when the scores are in doubt by the given amount.
func weigh(scores, values []float64, doubt float64) (y, bound float64) {
	top := math.Inf(-1)
	for _, s := range scores {
		top = math.Max(top, s)
	}
	if math.IsInf(top, -1) {
		return 0, 0
	}
	var sum, weighted, magnitude, depth float64
	low, high := math.Inf(1), math.Inf(-1)
	for n, s := range scores {
		p := math.Exp(s - top)
		sum += p
		weighted += p * values[n]
		magnitude += p * math.Abs(values[n])
		if !math.IsInf(s, 0) {
			depth = math.Max(depth, top-s)
			low, high = math.Min(low, values[n]), math.Max(high, values[n])
		}
	}
	y = weighted / sum
	magnitude /= sum
	if math.IsInf(magnitude, 0) && depth < 80 || y != y {
		return y, 0 // infinite or NaN in float32 as well
	}
	// Each weight errs by twice the doubt and by the rounding of s−max; both
	// sums, rescaled as the running maximum grows, by a few units a key.
	few := (3*float64(len(scores)) + 8) * u
	relative := 2*doubt + math.Min(depth, 104)*u + few
	switch {
	case math.IsInf(doubt, 0) || math.IsInf(magnitude, 0) || magnitude > math.MaxFloat32/2:
		return y, math.Inf(1)
	case relative < 1:
		bound = magnitude*math.Expm1(relative) + float64(len(scores)+1)*0x1p-149
	default:
		// Whatever the weights, the result lies between the values.
		bound = high - low + few*math.Max(math.Abs(low), math.Abs(high))
	}
	return y, bound
}

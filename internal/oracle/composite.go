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
	_, rows := groups(x.Shape, c.op.Attrs.Axes)
	for _, row := range rows {
		top := math.Inf(-1)
		for _, p := range row {
			top = math.Max(top, float64(x.F[p])) // NaN propagates
		}
		sum := 0.0
		for _, p := range row {
			sum += math.Exp(float64(x.F[p]) - top)
		}
		for _, p := range row {
			d := float64(x.F[p]) - top
			// In float32 x−max errs by |d|·u and so, relatively, does its
			// exponential; sums of positive terms in the fixed order err by
			// few units.
			away := (math.Abs(d) + sumUnits(len(row))) * u
			y := math.Exp(d) / sum
			switch {
			case c.op.Kind == ir.LogSoftmax:
				y = d - math.Log(sum)
				// The sum's error is absolute in its logarithm; d itself and
				// the difference round in proportion to their sizes.
				away = (math.Abs(d) + sumUnits(len(row)) + math.Abs(y)) * u
				if math.IsInf(d, 0) {
					away = 0
				}
			case y == 0:
				away = 0x1p-149
			default:
				away = y*math.Expm1(away) + 0x1p-149
			}
			out.F[p] = round64(x.DType, y)
			c.abs[p] = away
		}
	}
	return out, nil
}

// sumUnits is a bound, in units of roundoff, of what a float32 softmax of n
// elements loses outside the exponent: the exponential's and the division's
// own errors, and a sum in the fixed order, through which an element passes at
// most 32 additions in a lane, 5 between lanes and one for each doubling of
// the number of blocks.
func sumUnits(n int) float64 {
	depth := min((n+lanes-1)/lanes, lanes) + 5
	for blocks := (n + blockElems - 1) / blockElems; blocks > 1; blocks = (blocks + 1) / 2 {
		depth++
	}
	return float64(depth + 8)
}

// The norms take their sums in float32 and in the fixed order, as Var does, so
// that overflow and rounding of the moments are those of the rules; what
// follows is evaluated in float64 and rounded once.

// evalLayerNorm is (d−e)/√(var+ε)·weight + bias over the last axis.
func evalLayerNorm(c *call) (Tensor, error) {
	return c.norm(func(row []float32) (deviation []float32, square float32) {
		m := momentsOf(row)
		return m.deviation, m.variance(0)
	})
}

// evalRMSNorm is x/√(mean(x²)+ε)·weight over the last axis.
func evalRMSNorm(c *call) (Tensor, error) {
	return c.norm(func(row []float32) (deviation []float32, square float32) {
		squares := make([]float32, len(row))
		for i, v := range row {
			squares[i] = float32(v * v)
		}
		return row, sum32(squares) / float32(len(row))
	})
}

func (c *call) norm(moments func(row []float32) (deviation []float32, square float32)) (Tensor, error) {
	x := c.x[0]
	epsilon := c.f32(0)
	out := New(x.DType, x.Shape)
	c.abs = make([]float64, x.Len())
	_, rows := groups(x.Shape, []int{len(x.Shape) - 1})
	for _, row := range rows {
		deviation, square := moments(x.pick(row))
		scale := 1 / math.Sqrt(float64(square+epsilon))
		for i, p := range row {
			y := float64(deviation[i]) * scale
			if len(c.x) > 1 {
				y *= float64(c.x[1].F[i])
			}
			size := math.Abs(y)
			if len(c.x) > 2 {
				y += float64(c.x[2].F[i])
			}
			out.F[p] = round64(x.DType, y)
			c.abs[p] = normBound(size, y)
		}
	}
	return out, nil
}

// normBound allows the roundings after the moments: a reciprocal square root
// within 2 ulps (4 units), two products and a sum, with an intermediate that
// may be subnormal.
func normBound(product, result float64) float64 {
	if math.IsInf(product, 0) || product != product {
		return 0
	}
	if product > math.MaxFloat32/2 {
		return math.Inf(1)
	}
	return 8*u*product + u*math.Abs(result) + 0x1p-148
}

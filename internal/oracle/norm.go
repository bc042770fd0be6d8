package oracle

import "math"

// The norms take their sums in the compute dtype and in the fixed order, as Var
// does, so that overflow and rounding of the moments are those of the rules;
// what follows is evaluated in wide numbers and rounded once.

// spread is what a norm divides: deviations from the mean, or the elements
// themselves, and the mean of their squares.
type spread func(a arith, row []float64) (deviation []float64, square float64)

func centred(a arith, row []float64) (deviation []float64, square float64) {
	m := a.momentsOf(row)
	return m.deviation, m.variance(0)
}

func uncentred(a arith, row []float64) (deviation []float64, square float64) {
	return row, a.mean(a.squares(row))
}

// evalLayerNorm is (d−e)/√(var+ε)·weight + bias over the last axis.
func evalLayerNorm(c *call) (Tensor, error) {
	last := len(c.x[0].Shape) - 1
	return c.norm(centred, c.rowsOfLast(), func(at []int) int { return at[last] })
}

// evalRMSNorm is x/√(mean(x²)+ε)·weight over the last axis.
func evalRMSNorm(c *call) (Tensor, error) {
	last := len(c.x[0].Shape) - 1
	return c.norm(uncentred, c.rowsOfLast(), func(at []int) int { return at[last] })
}

// evalGroupNorm is LayerNorm over groups of channels, axis 1, and all axes
// after; weight and bias are one for each channel.
func evalGroupNorm(c *call) (Tensor, error) {
	shape := c.x[0].Shape
	var rows [][]int
	inGroup := 1
	for _, d := range shape[1:] {
		inGroup *= d
	}
	inGroup /= c.op.Attrs.N
	for from := 0; from < shape.NumElements(); from += inGroup {
		row := make([]int, inGroup)
		for i := range row {
			row[i] = from + i
		}
		rows = append(rows, row)
	}
	return c.norm(centred, rows, func(at []int) int { return at[1] })
}

func (c *call) rowsOfLast() [][]int {
	shape := c.x[0].Shape
	_, rows := groups(shape, []int{len(shape) - 1})
	return rows
}

// norm normalises rows, given by the positions of their elements; weight and
// bias are chosen by the index that channel makes of an element's.
func (c *call) norm(f spread, rows [][]int, channel func(at []int) int) (Tensor, error) {
	x := c.x[0]
	a := arith{c.compute()}
	out := New(x.DType, x.Shape)
	c.abs, c.any = make([]float64, x.Len()), make([]bool, x.Len())
	channels := make([]int, x.Len())
	each(x.Shape, func(pos int, at []int) { channels[pos] = channel(at) })
	for _, row := range rows {
		deviation, square := f(a, x.pick(row))
		root := exact(a.add(square, c.float(0))).sqrt()
		for i, p := range row {
			y := exact(deviation[i]).div(root)
			out.F[p], c.abs[p], c.any[p] = c.affine(y, channels[p], c.x[1:])
		}
	}
	return out, nil
}

// evalBatchNorm is (x−mean)/√(variance+ε)·weight + bias for each channel.
func evalBatchNorm(c *call) (Tensor, error) {
	x := c.x[0]
	a := arith{c.compute()}
	out := New(x.DType, x.Shape)
	c.abs, c.any = make([]float64, x.Len()), make([]bool, x.Len())
	each(x.Shape, func(pos int, at []int) {
		k := at[1]
		deviation := exact(a.sub(x.F[pos], c.x[1].F[k]))
		y := deviation.div(exact(a.add(c.x[2].F[k], c.float(0))).sqrt())
		out.F[pos], c.abs[pos], c.any[pos] = c.affine(y, k, c.x[3:])
	})
	return out, nil
}

// affine is y·weight + bias, as far as these are given, for element k of them,
// with a bound for the roundings after the moments: a root and a quotient or a
// reciprocal root within 2 ulps (4 units), two products and a sum, with an
// intermediate that may be subnormal or overflow. Where it may be 0 and the
// weight is infinite, the result is open: NaN, or infinite.
func (c *call) affine(y wide, k int, weightAndBias []Tensor) (result, bound float64, open bool) {
	f := formats[c.compute()]
	size, least := math.Abs(y.hi), 2*f.least()
	overflows := size > f.max/2 && y.isFinite()
	if len(weightAndBias) > 0 {
		w := weightAndBias[0].F[k]
		open = math.IsInf(w, 0) && y.hi != 0 && size < least
		y = y.times(w)
		size, least = math.Abs(y.hi), least*math.Max(1, math.Abs(w))
		overflows = overflows || size > f.max/2 && y.isFinite()
	}
	if len(weightAndBias) > 1 {
		y = y.plus(weightAndBias[1].F[k])
	}
	result = roundWide(c.op.Outputs[0].DType, y)
	switch {
	case overflows:
		return result, math.Inf(1), open
	case size-size != 0:
		return result, 0, open
	}
	return result, 8*f.unit()*size + f.unit()*math.Abs(y.hi) + least, open
}

// evalNormBackward is the gradient of LayerNorm or RMSNorm with respect to x:
// with h = g·weight, n = (x−mean)/root (or x/root) and root = √(var+ε),
// (h − mean(h) − n·mean(h·n))/root, of RMSNorm without mean(h).
func evalNormBackward(f spread, isCentred bool) func(c *call) (Tensor, error) {
	return func(c *call) (Tensor, error) {
		x, g := c.x[0], c.x[1]
		a := arith{c.compute()}
		form := formats[a.d]
		out := New(x.DType, x.Shape)
		c.abs = make([]float64, x.Len())
		for _, row := range c.rowsOfLast() {
			deviation, square := f(a, x.pick(row))
			root := exact(a.add(square, c.float(0))).sqrt()
			count := exact(float64(len(row)))
			h, n := make([]wide, len(row)), make([]wide, len(row))
			mean, inner := exact(0), exact(0)
			var meanSize, innerSize float64
			for i, p := range row {
				h[i], n[i] = exact(g.F[p]), exact(deviation[i]).div(root)
				if len(c.x) > 2 {
					h[i] = h[i].times(c.x[2].F[i])
				}
				product := h[i].mul(n[i])
				mean, inner = mean.add(h[i]), inner.add(product)
				meanSize += math.Abs(h[i].hi)
				innerSize += math.Abs(product.hi)
			}
			mean, inner = mean.div(count), inner.div(count)
			units := sumUnits(len(row))
			for i, p := range row {
				y := h[i]
				size := math.Abs(h[i].hi) + math.Abs(n[i].hi)*innerSize/count.hi*units
				if isCentred {
					y = y.sub(mean)
					size += meanSize / count.hi * units
				}
				y = y.sub(n[i].mul(inner)).div(root)
				out.F[p] = roundWide(x.DType, y)
				// Products may be subnormal before they meet what is large.
				large := 1 + math.Abs(inner.hi) + math.Abs(n[i].hi)
				c.abs[p] = composite(form, 8*size/root.hi, y.hi) + 8*form.least()*large/root.hi
				if meanSize > form.max/4 || innerSize > form.max/4 || size > form.max/4 {
					c.abs[p] = math.Inf(1)
				}
			}
		}
		return out, nil
	}
}

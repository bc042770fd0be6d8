package oracle

import (
	"math"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// u is the unit roundoff of float32.
const u = 0x1p-24

// A dot is a sum of products in float64, with what bounds the error of the
// same sum in float32.
type dot struct {
	sum       float64
	magnitude float64 // Σ|a·b| over the finite products
	terms     int
}

func (d *dot) add(a, b float32) { d.addTerm(float64(a) * float64(b)) }

func (d *dot) addTerm(p float64) {
	d.sum += p
	if !math.IsInf(p, 0) && p == p {
		d.magnitude += math.Abs(p)
	}
	d.terms++
}

// bound is how far a float32 sum of the terms in any order, each product and
// each partial sum rounded at most once, may be from the exact one: γₖ·Σ|a·b|
// with γₖ = k·u/(1−k·u) (Higham, Accuracy and Stability of Numerical
// Algorithms, section 3.1), and half the least subnormal a product. Partial
// sums that may overflow are not bounded.
func (d *dot) bound() float64 {
	if d.magnitude > math.MaxFloat32/2 {
		return math.Inf(1)
	}
	k := float64(d.terms+1) * u
	return k/(1-k)*d.magnitude + float64(d.terms)*0x1p-150
}

// evalMatMul multiplies matrices with broadcast batch axes; a vector is one
// row on the left, one column on the right, and its axis is dropped.
func evalMatMul(c *call) (Tensor, error) {
	a, b := c.x[0], c.x[1]
	rowVector, columnVector := len(a.Shape) == 1, len(b.Shape) == 1
	if rowVector {
		a.Shape = ir.Shape{1, a.Shape[0]}
	}
	if columnVector {
		b.Shape = ir.Shape{b.Shape[0], 1}
	}
	ra, rb := len(a.Shape), len(b.Shape)
	m, k, n := a.Shape[ra-2], a.Shape[ra-1], b.Shape[rb-1]
	batch, err := broadcast([]Tensor{New(ir.Bool, a.Shape[:ra-2]), New(ir.Bool, b.Shape[:rb-2])})
	if err != nil || b.Shape[rb-2] != k {
		return Tensor{}, &ir.ShapeError{Msg: "operands do not fit"}
	}
	lead := batch[0].Shape
	a = a.expand(append(lead.Clone(), m, k))
	b = b.expand(append(lead.Clone(), k, n))
	shape := append(lead.Clone(), m, n)

	out := New(a.DType, shape)
	c.abs = make([]float64, out.Len())
	each(shape, func(pos int, at []int) {
		r := len(at)
		var d dot
		for i := range k {
			left, right := slices.Clone(at), slices.Clone(at)
			left[r-1], right[r-2] = i, i
			p, q := offset(a.Shape, left), offset(b.Shape, right)
			if a.DType.IsInt() {
				out.I[pos] += a.I[p] * b.I[q]
			} else {
				d.add(a.F[p], b.F[q])
			}
		}
		if a.DType.IsFloat() {
			out.F[pos] = round64(out.DType, d.sum)
			c.abs[pos] = d.bound()
		}
	})

	if columnVector {
		shape = shape[:len(shape)-1]
	}
	if rowVector {
		shape = slices.Delete(shape, len(lead), len(lead)+1)
	}
	out.Shape = shape
	return out, nil
}

// evalLinear is x·weight + bias along the last axis of x, rounded once.
func evalLinear(c *call) (Tensor, error) {
	x, w := c.x[0], c.x[1]
	last := len(x.Shape) - 1
	shape := x.Shape.Clone()
	shape[last] = w.Shape[1]
	out := New(x.DType, shape)
	c.abs = make([]float64, out.Len())
	each(shape, func(pos int, at []int) {
		var d dot
		src, column := slices.Clone(at), at[last]
		for i := range w.Shape[0] {
			src[last] = i
			d.add(x.F[offset(x.Shape, src)], w.F[offset(w.Shape, []int{i, column})])
		}
		if len(c.x) > 2 {
			d.addTerm(float64(c.x[2].F[column]))
		}
		out.F[pos] = round64(out.DType, d.sum)
		c.abs[pos] = d.bound()
	})
	return out, nil
}

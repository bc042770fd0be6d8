package oracle

import (
	"math"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// A dot is a sum of products in wide numbers, with what bounds the error of the
// same sum in a compute dtype.
type dot struct {
	format
	sum       wide
	magnitude float64 // Σ|a·b| over the finite terms
	terms     int
}

func (c *call) newDot() *dot { return &dot{format: formats[c.compute()]} }

func (d *dot) add(a, b float64) {
	p := exact(a).times(b)
	if !p.isFinite() && a-a == 0 && b-b == 0 {
		d.magnitude = math.Inf(1) // it overflows
	}
	d.addTerm(p)
}

func (d *dot) addTerm(p wide) {
	d.sum = d.sum.add(p)
	if p.isFinite() {
		d.magnitude += math.Abs(p.hi)
	}
	d.terms++
}

// bound is how far a sum of the terms in any order, each product and each
// partial sum rounded at most once, may be from the exact one: γₖ·Σ|a·b| with
// γₖ = k·u/(1−k·u) (Higham, Accuracy and Stability of Numerical Algorithms,
// section 3.1), and half the least subnormal a product. Partial sums that may
// overflow are not bounded.
func (d *dot) bound() float64 {
	if d.magnitude > d.max/2 {
		return math.Inf(1)
	}
	k := float64(d.terms+1) * d.unit()
	return k/(1-k)*d.magnitude + float64(d.terms)*d.least()/2
}

// evalMatMul multiplies matrices with broadcast batch axes; a vector is one
// row on the left, one column on the right, and its axis is dropped. Products
// of bytes are summed in i32, all other integers in their own type.
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

	dtype := a.DType
	if c.op.Kind == ir.IntMatMul {
		dtype = ir.I32
	}
	out := New(dtype, shape)
	c.abs = make([]float64, out.Len())
	each(shape, func(pos int, at []int) {
		r := len(at)
		d := c.newDot()
		for i := range k {
			left, right := slices.Clone(at), slices.Clone(at)
			left[r-1], right[r-2] = i, i
			p, q := offset(a.Shape, left), offset(b.Shape, right)
			if dtype.IsInt() {
				out.I[pos] = dtype.Wrap(out.I[pos] + a.I[p]*b.I[q])
			} else {
				d.add(a.F[p], b.F[q])
			}
		}
		if isFloat(dtype) {
			out.F[pos], c.abs[pos] = roundWide(dtype, d.sum), d.bound()
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
		d := c.newDot()
		src, column := slices.Clone(at), at[last]
		for i := range w.Shape[0] {
			src[last] = i
			d.add(x.F[offset(x.Shape, src)], w.F[offset(w.Shape, []int{i, column})])
		}
		if len(c.x) > 2 {
			d.addTerm(exact(c.x[2].F[column]))
		}
		out.F[pos], c.abs[pos] = roundWide(x.DType, d.sum), d.bound()
	})
	return out, nil
}

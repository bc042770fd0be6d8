package oracle

import (
	"math"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// The documented order of float sums and products: 32 lanes in blocks of
// 1,024 elements.
const (
	lanes      = 32
	blockElems = 1024
)

func add32(a, b float32) float32 { return a + b }
func mul32(a, b float32) float32 { return a * b }

// fold joins the elements in the fixed order: element i goes to block i/1024
// and there to lane i mod 32; a lane starts from the identity and takes its
// elements one after another; lanes join by a binary tree (j with j+16, then
// 8, 4, 2, 1); blocks join pairwise, neighbours first, an odd last block
// moving up.
func fold(xs []float32, identity float32, join func(a, b float32) float32) float32 {
	var blocks []float32
	for from := 0; from < len(xs); from += blockElems {
		block := xs[from:min(from+blockElems, len(xs))]
		var lane [lanes]float32
		for j := range lane {
			lane[j] = identity
		}
		for i, x := range block {
			lane[i%lanes] = join(lane[i%lanes], x)
		}
		for step := lanes / 2; step > 0; step /= 2 {
			for j := range step {
				lane[j] = join(lane[j], lane[j+step])
			}
		}
		blocks = append(blocks, lane[0])
	}
	if len(blocks) == 0 {
		return identity
	}
	for len(blocks) > 1 {
		var next []float32
		for i := 0; i+1 < len(blocks); i += 2 {
			next = append(next, join(blocks[i], blocks[i+1]))
		}
		if len(blocks)%2 == 1 {
			next = append(next, blocks[len(blocks)-1])
		}
		blocks = next
	}
	return blocks[0]
}

func sum32(xs []float32) float32 { return fold(xs, 0, add32) }

// moments are the float32 steps of the corrected two-pass variance.
type moments struct {
	deviation []float32 // d−e: x−m less the mean of x−m
	squares   float32   // Σd² − (Σd)²/n
}

// momentsOf evaluates m = Σx/n, d = x−m, e = Σd/n and Σd² − (Σd)²/n with every
// step rounded to float32 and every sum in the fixed order.
func momentsOf(xs []float32) moments {
	n := float32(len(xs))
	mean := sum32(xs) / n
	d := make([]float32, len(xs))
	square := make([]float32, len(xs))
	for i, x := range xs {
		d[i] = x - mean
		square[i] = float32(d[i] * d[i])
	}
	sum := sum32(d)
	correction := float32(sum*sum) / n
	m := moments{deviation: make([]float32, len(xs)), squares: sum32(square) - correction}
	e := sum / n
	for i := range d {
		m.deviation[i] = d[i] - e
	}
	return m
}

// variance is max((Σd²−(Σd)²/n)/max(n−c, 0), 0), NaN kept.
func (m moments) variance(correction int) float32 {
	divisor := float32(max(len(m.deviation)-correction, 0))
	return maximum(m.squares/divisor, 0)
}

// reduceFloat are the reductions of the float32 values of one group.
var reduceFloat = map[ir.Kind]func(op *ir.Operation, xs []float32) float32{
	ir.Sum:  func(_ *ir.Operation, xs []float32) float32 { return sum32(xs) },
	ir.Mean: func(_ *ir.Operation, xs []float32) float32 { return sum32(xs) / float32(len(xs)) },
	ir.Prod: func(_ *ir.Operation, xs []float32) float32 { return fold(xs, 1, mul32) },
	ir.Max:  func(_ *ir.Operation, xs []float32) float32 { return fold(xs, float32(math.Inf(-1)), maximum) },
	ir.Min:  func(_ *ir.Operation, xs []float32) float32 { return fold(xs, float32(math.Inf(1)), minimum) },
	ir.Var:  func(op *ir.Operation, xs []float32) float32 { return momentsOf(xs).variance(op.Attrs.N) },
}

// reduceInt are the reductions of integers; sums and products wrap.
var reduceInt = map[ir.Kind]struct {
	identity int64
	join     func(a, b int64) int64
}{
	ir.Sum:  {0, func(a, b int64) int64 { return a + b }},
	ir.Prod: {1, func(a, b int64) int64 { return a * b }},
	ir.Max:  {math.MinInt64, func(a, b int64) int64 { return max(a, b) }},
	ir.Min:  {math.MaxInt64, func(a, b int64) int64 { return min(a, b) }},
}

// evalReduce evaluates the reductions to a value.
func evalReduce(c *call) (Tensor, error) {
	x := c.x[0]
	shape, members := groups(x.Shape, c.op.Attrs.Axes)
	out := New(x.DType, shape)
	for i, at := range members {
		switch {
		case x.DType.IsFloat():
			out.F[i] = round32(x.DType, reduceFloat[c.op.Kind](c.op, x.pick(at)))
		case x.DType.IsInt():
			r := reduceInt[c.op.Kind]
			out.I[i] = r.identity
			for _, p := range at {
				out.I[i] = r.join(out.I[i], x.I[p])
			}
		default:
			all := c.op.Kind == ir.All
			out.B[i] = all
			for _, p := range at {
				if x.B[p] != all {
					out.B[i] = !all
				}
			}
		}
	}
	return out, nil
}

// evalArg is the row-major position, within the reduced axes, of the first
// greatest (ArgMax) or least (ArgMin) element; the first NaN wins over all.
func evalArg(c *call) (Tensor, error) {
	x := c.x[0]
	shape, members := groups(x.Shape, c.op.Attrs.Axes)
	out := New(ir.I64, shape)
	for i, at := range members {
		if len(at) == 0 {
			return Tensor{}, &ir.ShapeError{Msg: "no element to choose from"}
		}
		best := 0
		for j, p := range at {
			if beats(c.op.Kind, x, p, at[best]) {
				best = j
			}
		}
		out.I[i] = int64(best)
	}
	return out, nil
}

// beats reports whether element p is to replace the earlier element q.
func beats(kind ir.Kind, x Tensor, p, q int) bool {
	if x.DType.IsFloat() {
		a, b := x.F[p], x.F[q]
		if a != a || b != b {
			return b == b // the first NaN stays
		}
	}
	if kind == ir.ArgMin {
		p, q = q, p
	}
	switch {
	case x.DType.IsFloat():
		return x.F[p] > x.F[q]
	case x.DType.IsInt():
		return x.I[p] > x.I[q]
	}
	return x.B[p] && !x.B[q]
}

// evalCumSum is the running sum along an axis, the element itself left out if
// Flag asks for it. A float sum is evaluated in float64 and each output is
// rounded once; integers wrap.
func evalCumSum(c *call) (Tensor, error) {
	x := c.x[0]
	out := New(x.DType, x.Shape)
	c.abs = make([]float64, x.Len())
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
			var sum dot
			for _, q := range seen {
				if x.DType.IsInt() {
					out.I[p] += x.I[q]
				} else {
					sum.addTerm(float64(x.F[q]))
				}
			}
			if x.DType.IsFloat() {
				out.F[p] = round64(x.DType, sum.sum)
				c.abs[p] = sum.bound()
			}
		}
	}
	return out, nil
}

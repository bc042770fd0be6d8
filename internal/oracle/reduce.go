package oracle

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// The documented order of float sums and products: 32 lanes in blocks of
// 1,024 elements.
const (
	lanes      = 32
	blockElems = 1024
)

// arith is arithmetic in a compute dtype: every step is rounded to it.
type arith struct{ d ir.DType }

func (a arith) add(x, y float64) float64 { return round(a.d, x+y) }
func (a arith) sub(x, y float64) float64 { return round(a.d, x-y) }
func (a arith) mul(x, y float64) float64 { return round(a.d, float64(x*y)) }
func (a arith) div(x, y float64) float64 { return round(a.d, x/y) }

// fold joins the elements in the fixed order: element i goes to block i/1024
// and there to lane i mod 32; a lane starts from the identity and takes its
// elements one after another; lanes join by a binary tree (j with j+16, then
// 8, 4, 2, 1); blocks join pairwise, neighbours first, an odd last block
// moving up.
func fold(xs []float64, identity float64, join func(a, b float64) float64) float64 {
	var blocks []float64
	for from := 0; from < len(xs); from += blockElems {
		block := xs[from:min(from+blockElems, len(xs))]
		var lane [lanes]float64
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
		var next []float64
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

func (a arith) sum(xs []float64) float64 { return fold(xs, 0, a.add) }

func (a arith) mean(xs []float64) float64 {
	return a.div(a.sum(xs), round(a.d, float64(len(xs))))
}

func (a arith) squares(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = a.mul(x, x)
	}
	return out
}

// moments are the steps of the corrected two-pass variance.
type moments struct {
	arith
	deviation []float64 // d−e: x−m less the mean of x−m
	rest      float64   // Σd² − (Σd)²/n
}

// momentsOf evaluates m = Σx/n, d = x−m, e = Σd/n and Σd² − (Σd)²/n with every
// step rounded and every sum in the fixed order.
func (a arith) momentsOf(xs []float64) moments {
	n := round(a.d, float64(len(xs)))
	mean := a.mean(xs)
	d := make([]float64, len(xs))
	for i, x := range xs {
		d[i] = a.sub(x, mean)
	}
	sum := a.sum(d)
	m := moments{a, make([]float64, len(xs)), a.sub(a.sum(a.squares(d)), a.div(a.mul(sum, sum), n))}
	e := a.div(sum, n)
	for i := range d {
		m.deviation[i] = a.sub(d[i], e)
	}
	return m
}

// variance is max((Σd²−(Σd)²/n)/max(n−c, 0), 0), NaN kept.
func (m moments) variance(correction int) float64 {
	divisor := round(m.d, float64(max(len(m.deviation)-correction, 0)))
	return maximum(m.div(m.rest, divisor), 0)
}

// reduceFloat are the reductions of the values of one group in the compute
// dtype.
var reduceFloat = map[ir.Kind]func(a arith, op *ir.Operation, xs []float64) float64{
	ir.Sum:  func(a arith, _ *ir.Operation, xs []float64) float64 { return a.sum(xs) },
	ir.Mean: func(a arith, _ *ir.Operation, xs []float64) float64 { return a.mean(xs) },
	ir.Prod: func(a arith, _ *ir.Operation, xs []float64) float64 { return fold(xs, 1, a.mul) },
	ir.Max:  func(_ arith, _ *ir.Operation, xs []float64) float64 { return fold(xs, math.Inf(-1), maximum) },
	ir.Min:  func(_ arith, _ *ir.Operation, xs []float64) float64 { return fold(xs, math.Inf(1), minimum) },
	ir.Var:  func(a arith, op *ir.Operation, xs []float64) float64 { return a.momentsOf(xs).variance(op.Attrs.N) },
	ir.L2Norm: func(a arith, _ *ir.Operation, xs []float64) float64 {
		return round(a.d, math.Sqrt(a.sum(a.squares(xs))))
	},
	ir.Std: func(a arith, op *ir.Operation, xs []float64) float64 {
		return round(a.d, math.Sqrt(a.momentsOf(xs).variance(op.Attrs.N)))
	},
}

// evalReduce evaluates the reductions to a value with an exact order.
func evalReduce(c *call) (Tensor, error) {
	x := c.x[0]
	shape, members := groups(x.Shape, c.op.Attrs.Axes)
	out := New(x.DType, shape)
	for i, at := range members {
		switch {
		case isFloat(x.DType):
			out.F[i] = round(x.DType, reduceFloat[c.op.Kind](arith{c.compute()}, c.op, x.pick(at)))
		case x.DType.IsInt():
			out.I[i] = reduceInt(c.op.Kind, x, at)
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

// identityInt is what a reduction of no integers gives.
func identityInt(kind ir.Kind, d ir.DType) int64 {
	least, greatest := d.Limits()
	switch kind {
	case ir.Prod, ir.CumProd:
		return 1
	case ir.Max, ir.CumMax:
		return least
	case ir.Min, ir.CumMin:
		return int64(greatest)
	}
	return 0
}

// joinInt joins two integers; sums and products wrap.
func joinInt(kind ir.Kind, d ir.DType, a, b int64) int64 {
	switch kind {
	case ir.Prod, ir.CumProd:
		return d.Wrap(a * b)
	case ir.Max, ir.CumMax:
		return binaryInt[ir.Maximum](d, a, b)
	case ir.Min, ir.CumMin:
		return binaryInt[ir.Minimum](d, a, b)
	}
	return d.Wrap(a + b)
}

func reduceInt(kind ir.Kind, x Tensor, at []int) int64 {
	r := identityInt(kind, x.DType)
	for _, p := range at {
		r = joinInt(kind, x.DType, r, x.I[p])
	}
	return r
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
	if isFloat(x.DType) {
		a, b := x.F[p], x.F[q]
		if a != a || b != b {
			return b == b // the first NaN stays
		}
	}
	if kind == ir.ArgMin {
		p, q = q, p
	}
	return x.below(q, p)
}

// below reports whether element p is less than element q: false below true.
func (t Tensor) below(p, q int) bool {
	switch {
	case isFloat(t.DType):
		return t.F[p] < t.F[q]
	case t.DType.IsInt():
		return lessInt(t.DType, t.I[p], t.I[q])
	}
	return !t.B[p] && t.B[q]
}

// evalLogSumExp is log Σe^(x−max) + max; an infinite maximum is the result.
func evalLogSumExp(c *call) (Tensor, error) {
	x := c.x[0]
	shape, members := groups(x.Shape, c.op.Attrs.Axes)
	out := New(x.DType, shape)
	c.abs = make([]float64, len(members))
	unit := formats[c.compute()].unit()
	for i, at := range members {
		top := math.Inf(-1)
		for _, p := range at {
			top = maximum(top, x.F[p])
		}
		if top-top != 0 {
			out.F[i] = top
			continue
		}
		sum, depth := exact(0), 0.0
		for _, p := range at {
			d := exact(x.F[p]).plus(-top)
			e := wideExp(d)
			sum = sum.add(e)
			if e.hi != 0 {
				depth = math.Max(depth, math.Abs(d.hi)*e.hi)
			}
		}
		log := wideLog(sum)
		y := log.plus(top)
		out.F[i] = roundWide(x.DType, y)
		// The sum's relative error is absolute in its logarithm, the rest
		// rounds in proportion.
		c.abs[i] = (sumUnits(len(at)) + float64(len(at))*depth/sum.hi + 2*math.Abs(log.hi) + math.Abs(y.hi)) * unit
	}
	return out, nil
}

// evalNorm is (Σ|x|^p)^(1/p).
func evalNorm(c *call) (Tensor, error) {
	x := c.x[0]
	p := c.float(0)
	shape, members := groups(x.Shape, c.op.Attrs.Axes)
	out := New(x.DType, shape)
	c.abs = make([]float64, len(members))
	f := formats[c.compute()]
	inverse := round(c.compute(), 1/p)
	for i, at := range members {
		sum, greatest := exact(0), 0.0
		for _, q := range at {
			term := pow(math.Abs(x.F[q]), p)
			if term.isFinite() {
				greatest = math.Max(greatest, term.hi)
				if term.hi > f.max/2 {
					greatest = math.Inf(1)
				}
			}
			sum = sum.add(term)
		}
		if sum.hi > f.max/2 && sum.isFinite() || sum.hi > 0 && greatest < 2*math.Ldexp(1, f.minExp) {
			greatest = math.Inf(1) // sums over- or underflow
		}
		y := pow(sum.hi, inverse)
		if sum.isFinite() && sum.hi > 0 && inverse-inverse == 0 {
			y = widePow(sum, exact(1).div(exact(p)))
		}
		out.F[i] = roundWide(x.DType, y)
		if y.isFinite() && y.hi != 0 {
			// Powers within 4 units and their sum, to the power 1/p; 1/p
			// rounded, which counts as often as the logarithm says.
			log := math.Abs(math.Log(math.Abs(sum.hi)))
			relative := ((sumUnits(len(at))+8)*math.Abs(inverse) + log*math.Abs(inverse) + 8) * f.unit()
			c.abs[i] = math.Abs(y.hi)*math.Expm1(relative) + f.least()
		}
		if math.IsInf(greatest, 1) {
			c.abs[i] = greatest
		}
	}
	return out, nil
}

package kerneltest

import (
	"math"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// side evaluates a value of a prologue at a point.
func (n *evaluator) side(a codegen.Value, at []int) Value {
	return n.eval(&n.k.Body[a], at, func(b codegen.Value) Value { return n.side(b, at) })
}

// contract adds products in blocks of KBlock at an outer point.
func (n *evaluator) contract(in *codegen.Instr, at []int) Value {
	axis := len(at) - 1
	var total, block Value
	points := [2][]int{slices.Clone(at), slices.Clone(at)} // of the operands, without the other's axis
	if len(in.Args) > 0 {
		points[0][axis-1], points[1][axis-2] = 0, 0
	}
	read := func(i, k int) Value {
		points[i][axis] = k
		if len(in.Args) > 0 {
			return n.side(in.Args[i], points[i])
		}
		access := [2]int{in.Access, in.Access2}[i]
		return n.read(n.k.Accesses[access].Buffer, n.place(access, points[i]))
	}
	length := n.l.Dims[axis]
	size, carried := 0.0, 0.0 // Σ|a·b|, and the errors of the operands
	for k := range length {
		a, b := read(0, k), read(1, k)
		block.I += a.I * b.I
		if in.Type == ir.F64 {
			block.F = math.FMA(a.F, b.F, block.F)
		} else {
			block.F = float64(float32(block.F) + float32(float32(a.F)*float32(b.F)))
		}
		if p := math.Abs(a.F * b.F); p < open {
			size += p
		}
		carried += productError(a, b)
		if k%codegen.KBlock == codegen.KBlock-1 || k == length-1 {
			total = Apply(ir.SAdd, in.Type, []Value{total, {F: block.F, I: in.Type.Wrap(block.I)}})
			block = Value{}
		}
	}
	if in.Type.IsFloat() && length > 0 {
		total.Err = contractError(in.Type, total.F, size, carried, length)
	}
	return total
}

// contractError bounds a sum of products in any order, with each product rounded
// or not, to the nearest or cut off.
func contractError(t ir.DType, total, size, carried float64, length int) float64 {
	f := floatFormats[t]
	switch {
	case !(size < f.max/2) || carried != carried || carried == open:
		return open // in another order, parts may overflow
	case total != total || math.IsInf(total, 0):
		if carried == 0 {
			return 0 // on account of an operand that is infinite or NaN
		}
		return open
	}
	own := 2 * float64(length+1) * math.Ldexp(size, -f.prec)
	return settle(t, total, own+2*carried+math.Ldexp(float64(length), f.last))
}

// scores are those of one query.
type scores struct {
	at     []int     // the outer point they belong to, without the value dim
	score  []float64 // by key, −inf for a hidden one
	hidden []bool
	most   float64 // the greatest
	widest float64 // the greatest Σ|scale·q·k|
	finite float64 // the greatest Σ|q·k| of products that are finite, scaled or not
}

// attention computes one result by the definition, in float64: hidden keys are
// left out, a row whose scores are all −inf gives 0.
func (n *evaluator) attention(in *codegen.Instr, at []int) Value {
	outer := n.k.Outer
	point := slices.Clone(at)
	if n.last.at == nil || !slices.Equal(n.last.at, at[:outer-1]) {
		n.last = n.scores(in, point)
	}
	if math.IsInf(n.last.most, -1) {
		if !(n.last.finite < floatFormats[in.Type].max/4) {
			return Value{Err: open} // in the type, a product may be infinite and meet one of the other sign
		}
		return Value{}
	}
	sum, out, size := 0.0, 0.0, 0.0
	for j, s := range n.last.score {
		if n.last.hidden[j] {
			continue
		}
		point[outer] = j
		v, p := n.number(2, point), math.Exp(s-n.last.most)
		sum += p
		out += p * v
		size += p * math.Abs(v)
	}
	r := Cast(ir.F64, in.Type, false, Value{F: out / sum})
	if r.F == r.F {
		r.Err = attentionError(in.Type, r.F, size/sum, n.last.widest, n.l.Dims[outer], n.l.Dims[outer+1])
	}
	return r
}

// number reads what an access reaches at a point, a bool as 0 or 1.
func (n *evaluator) number(access int, at []int) float64 {
	v := n.read(n.k.Accesses[access].Buffer, n.place(access, at))
	if v.B {
		return 1
	}
	return v.F
}

// scores computes those of the query at an outer point. They do not depend on the
// value dim.
func (n *evaluator) scores(in *codegen.Instr, at []int) scores {
	spec, outer := &n.k.Attention, n.k.Outer
	point := slices.Clone(at)
	point[outer-1] = 0
	out := scores{at: slices.Clone(at[:outer-1]), most: math.Inf(-1)}
	scale, next := FromScalar(in.Type, n.l.Params[0]).F, 3
	if spec.HasMask {
		next++
	}
	if spec.ScaleRead {
		scale = n.number(next, point)
	}
	for j := range n.l.Dims[outer] {
		s, size, finite := 0.0, 0.0, 0.0
		point[outer] = j
		for d := range n.l.Dims[outer+1] {
			point[outer+1] = d
			p := n.number(0, point) * n.number(1, point)
			s, size = s+p, size+math.Abs(p)
			if !math.IsInf(p, 0) {
				finite += math.Abs(p)
			}
		}
		point[outer+1] = 0
		s, size, finite = s*scale, size*math.Abs(scale), finite*math.Max(1, math.Abs(scale))
		hidden := spec.Causal && int64(j-at[outer-2]) > int64(n.l.Params[1])
		if spec.BoolMask {
			hidden = hidden || n.number(3, point) == 0
		} else if spec.HasMask {
			m := n.number(3, point)
			s += m
			if !math.IsInf(m, 0) {
				size += math.Abs(m)
			}
		}
		if hidden {
			s, size, finite = math.Inf(-1), 0, 0
		}
		out.score, out.hidden = append(out.score, s), append(out.hidden, hidden)
		out.most, out.widest = math.Max(out.most, s), max(out.widest, size)
		out.finite = max(out.finite, finite)
	}
	return out
}

// attentionError bounds a result whose weights' values have size Σp|v|/Σp, for
// scores that are sums of absolute size at most widest: a score is off by
// (d+4)·u·widest, its weight by twice that relative to the greatest's, and the
// sums by one rounding for each key, some more where the greatest changes.
func attentionError(t ir.DType, r, size, widest float64, keys, dims int) float64 {
	f := floatFormats[t]
	if !(widest < f.max/4) || !(size < f.max/4) {
		return open
	}
	u := math.Ldexp(1, -f.prec)
	off := 4*float64(dims+4)*u*widest + 8*float64(keys+8)*u
	return settle(t, r, size*math.Expm1(off)+math.Ldexp(float64(keys), f.last))
}

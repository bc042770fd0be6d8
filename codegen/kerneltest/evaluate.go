package kerneltest

import (
	"math"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// evaluator runs one kernel that has a space: every instruction at every point
// by its definition, with index arithmetic written out.
type evaluator struct {
	k   *codegen.Kernel
	l   *codegen.Launch
	mem [][]byte
	bad bool // an index was out of range
	// wide holds the values of half buffers that are joined to: rounded at the
	// end.
	wide map[int][]Value
	errs [][]float64 // by buffer and element, see Value.Err; nil: all are 0
	last scores      // of the query that attention was at
}

// Evaluate executes a launch, writing to mem, and reports whether all indices
// were in range; if not, what it wrote means nothing. Results are those of the
// documented orders of sums; a contraction rounds each product and each sum,
// functions that are not exact are computed in float64 and rounded once, and
// attention is its definition in float64. It knows every template but Custom.
func Evaluate(k *codegen.Kernel, l *codegen.Launch, mem [][]byte) (ok bool) {
	_, ok = evaluate(k, l, mem)
	return ok
}

// EvaluateWithin is Evaluate that also says how far from the result each element
// of an engine's may be: not at all unless the numeric rules leave a choice.
//
// Errors come from functions (Ulps), normal random numbers, attention and
// contractions of floats; the bound of a contraction of K products is
// 2·(K+1)·u·Σ|a·b|, u half a unit in the last place of 1, which holds for any
// order of sums, with fused multiplications or without. From there they are
// carried through all that is computed of them; where a small error may change
// a result by much, an element is open (see Tolerance).
func EvaluateWithin(k *codegen.Kernel, l *codegen.Launch, mem [][]byte) (tol Tolerance, ok bool) {
	tol.Each, ok = evaluate(k, l, mem)
	return tol, ok
}

func evaluate(k *codegen.Kernel, l *codegen.Launch, mem [][]byte) (errs [][]float64, ok bool) {
	errs = make([][]float64, len(k.Buffers))
	if k.Template != codegen.Parts {
		n := &evaluator{k: k, l: l, mem: mem, wide: map[int][]Value{}, errs: errs}
		n.run()
		return errs, !n.bad
	}
	ok = true
	for i, p := range k.Parts {
		each, inRange := evaluate(p.Kernel, &l.Parts[i], p.Bytes(nil, mem))
		for b, whole := range p.Buffers {
			if each[b] != nil {
				errs[whole] = each[b]
			}
		}
		ok = ok && inRange
	}
	return errs, ok
}

func (n *evaluator) run() {
	old := map[int][]Value{}
	for _, s := range n.k.Stores {
		b := n.k.Accesses[s.Access].Buffer
		if dt := n.k.Buffers[b].DType; s.Mode != ir.Assign && dt.IsHalf() {
			all := make([]Value, len(n.mem[b])/dt.Size())
			for i := range all {
				all[i] = ReadElem(n.mem[b], dt, i)
			}
			n.wide[b], old[b] = all, slices.Clone(all)
		}
	}
	for _, outer := range Points(n.l.Dims[:n.k.Outer]) {
		n.row(outer)
	}
	for b, all := range n.wide {
		for i, v := range all {
			if math.Float64bits(v.F) != math.Float64bits(old[b][i].F) || v.Err > 0 {
				n.write(b, i, v)
			}
		}
	}
}

// outerOnly reports whether an instruction is evaluated once for each outer
// point, because of its level or because the template has no elements.
func (n *evaluator) outerOnly(in *codegen.Instr) bool {
	return in.Level == codegen.Row || n.k.Template == codegen.Contraction || n.k.Template == codegen.Attention
}

// row evaluates the body at one outer point and all inner points.
func (n *evaluator) row(outer []int) {
	inner := Points(n.l.Dims[n.k.Outer:])
	first := slices.Concat(outer, make([]int, n.k.Inner))
	vals := make([][]Value, len(n.k.Body))
	for v := range n.k.Body {
		in := &n.k.Body[v]
		switch {
		case in.Op == codegen.OpReduce:
			vals[v] = []Value{reduce(in.Reduce, n.k.Body[in.Args[0]].Type, vals[in.Args[0]])}
		case in.Op == codegen.OpScan:
			vals[v] = scan(in, vals[in.Args[0]])
		case in.Op == codegen.OpSort:
			vals[v] = sortRow(in, n.k.Body[in.Args[0]].Type, vals[in.Args[0]])
		case in.Level >= codegen.Left: // evaluated where the contraction reads it
		case in.Op == codegen.OpContract:
			vals[v] = []Value{n.contract(in, first)}
		case in.Op == codegen.OpAttention:
			vals[v] = []Value{n.attention(in, first)}
		case n.outerOnly(in):
			vals[v] = []Value{n.eval(in, first, func(a codegen.Value) Value { return vals[a][0] })}
		default:
			for j, p := range inner {
				vals[v] = append(vals[v], n.eval(in, slices.Concat(outer, p), func(a codegen.Value) Value {
					if n.k.Body[a].Level == codegen.Row {
						return vals[a][0]
					}
					return vals[a][j]
				}))
			}
		}
	}
	for _, s := range n.k.Stores {
		if n.outerOnly(&n.k.Body[s.Value]) {
			n.store(s, first, vals[s.Value][0], nil)
			continue
		}
		for j, p := range inner {
			n.store(s, slices.Concat(outer, p), vals[s.Value][j], func(a codegen.Value) Value { return vals[a][j] })
		}
	}
}

func (n *evaluator) place(access int, at []int) int { return Place(&n.l.Access[access], at) }

// Place returns the element of its buffer that an access reaches at a point of
// the space, indexed axes being 0.
func Place(a *codegen.AccessArgs, at []int) int {
	off := a.Offset
	for k, c := range at {
		off += c * a.Strides[k]
	}
	return off
}

// outside reports whether a window excludes a point.
func (n *evaluator) outside(access int, at []int) bool {
	for _, w := range n.l.Access[access].Window {
		if at[w.Axis] < w.Lo || at[w.Axis] >= w.Hi {
			return true
		}
	}
	return false
}

// indexed adds the indexed axes to a place, and reports whether all indices are
// in range.
func (n *evaluator) indexed(access, off int, index []Value) (int, bool) {
	for k, x := range index {
		arg := n.l.Access[access].Index[k]
		if x.I < 0 || x.I >= int64(arg.Extent) {
			n.bad = true
			return 0, false
		}
		off += int(x.I) * arg.Stride
	}
	return off, true
}

func (n *evaluator) read(buffer, i int) Value {
	v := ReadElem(n.mem[buffer], n.k.Buffers[buffer].DType, i)
	if n.errs[buffer] != nil {
		v.Err = n.errs[buffer][i]
	}
	return v
}

// write stores a register, rounded to the buffer's dtype, and its error.
func (n *evaluator) write(buffer, i int, v Value) {
	dt := n.k.Buffers[buffer].DType
	WriteElem(n.mem[buffer], dt, i, v)
	if v.Err > 0 && dt.Compute() == ir.F32 {
		v.Err = castError(ir.F32, dt, true, v, ReadElem(n.mem[buffer], dt, i))
	}
	if v.Err > 0 && n.errs[buffer] == nil {
		n.errs[buffer] = make([]float64, len(n.mem[buffer])/dt.Size())
	}
	if n.errs[buffer] != nil {
		n.errs[buffer][i] = v.Err
	}
}

func (n *evaluator) store(s codegen.Store, at []int, v Value, arg func(codegen.Value) Value) {
	if n.outside(s.Access, at) {
		return
	}
	index := make([]Value, len(s.Index))
	for i, x := range s.Index {
		index[i] = arg(x)
	}
	off, ok := n.indexed(s.Access, n.place(s.Access, at), index)
	if !ok {
		return
	}
	b := n.k.Accesses[s.Access].Buffer
	dt := n.k.Buffers[b].DType
	if wide := n.wide[b]; wide != nil {
		wide[off] = join(s.Mode, dt, wide[off], v)
		return
	}
	n.write(b, off, join(s.Mode, dt, n.read(b, off), v))
}

// join puts a value where old is; what is assigned is rounded.
func join(mode ir.ScatterMode, dt ir.DType, old, v Value) Value {
	if mode == ir.Assign {
		if dt.Compute() == ir.F32 && dt != ir.F32 {
			r := Cast(ir.F32, dt, true, v)
			r.Err = castError(ir.F32, dt, true, v, r)
			return r
		}
		return v
	}
	return apply(joinFns[mode], dt.Compute(), old, v)
}

var joinFns = [...]ir.ScalarOp{ir.ScatterSum: ir.SAdd, ir.ScatterMul: ir.SMul, ir.ScatterMin: ir.SMinimum, ir.ScatterMax: ir.SMaximum}

// apply is Apply with the error of the result.
func apply(fn ir.ScalarOp, t ir.DType, a ...Value) Value {
	r := Apply(fn, t, a)
	r.Err = applyError(fn, t, a, r)
	return r
}

package optimize

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// work is a segment while passes rewrite it. Positions stay what they are in
// the segment: an operation is dropped by marking it, and an operand is
// replaced in a copy of the operation.
type work struct {
	seg  *Segment
	opts Options
	log  *Log

	ops      []ir.Operation
	producer []int // by tensor: the position that makes it, -1: an input
	// state of each operation
	unneeded []bool // its outputs are dead and nobody needs them
	merged   []bool // its output equals another tensor, see same
	idle     []bool // nothing reads it after rewriting; its output is recomputed when asked
	// same is, by tensor, the tensor that stands for it.
	same []ir.TensorID
	// dead is, by tensor, whether nobody can ask for it; a tensor that stands
	// for others is dead when all are.
	dead      []bool
	consumers [][]int // by tensor: the operations that are computed and read it, set by settle
	used      []bool  // by tensor: an operation that is not unneeded read it as recorded, set by settle
	wanted    []bool  // by tensor: in memory however blocks turn out, set by settle
	guards    []Guard
}

func newWork(seg *Segment, opts Options) (*work, error) {
	n, m := len(seg.Ops), len(seg.Tensors)
	w := &work{
		seg: seg, opts: opts, log: newLog(opts.LogLimit, n),
		ops: slices.Clone(seg.Ops), producer: make([]int, m),
		unneeded: make([]bool, n), merged: make([]bool, n), idle: make([]bool, n),
		same: make([]ir.TensorID, m), dead: make([]bool, m),
	}
	for i := range seg.Tensors {
		w.producer[i] = -1
		w.same[i] = ir.TensorID(i)
		w.dead[i] = seg.Tensors[i].Dead && !seg.Tensors[i].Asked
	}
	for i := range seg.Ops {
		for _, in := range seg.Ops[i].Inputs {
			if int(in.ID) >= m || !seg.Tensors[in.ID].Input && w.producer[in.ID] < 0 {
				return nil, fmt.Errorf("optimize: operation %s reads t%d before it is made", opName(seg, i), in.ID)
			}
		}
		for _, out := range seg.Ops[i].Outputs {
			if int(out.ID) >= m || seg.Tensors[out.ID].Input || w.producer[out.ID] >= 0 {
				return nil, fmt.Errorf("optimize: operation %s makes t%d, which exists already", opName(seg, i), out.ID)
			}
			w.producer[out.ID] = i
		}
	}
	return w, nil
}

// skips reports whether a rewrite is to be left out.
func (w *work) skips(pass string, op int) bool {
	return w.opts.Skip != nil && w.opts.Skip(pass, &w.ops[op])
}

func (w *work) class(op int) ir.Class { return ir.Lookup(w.ops[op].Kind).Class }

func (w *work) isView(op int) bool { return isView(&w.ops[op]) }

// isView reports whether an operation only places its operand anew. A slice
// whose start is a tensor is no view: where it lies is not known before it
// runs, so it copies.
func isView(op *ir.Operation) bool {
	return ir.Lookup(op.Kind).Class == ir.ClassView && len(op.Inputs) == 1
}

// isVar reports whether a tensor is a version of a Var.
func (w *work) isVar(t ir.TensorID) bool {
	if p := w.producer[t]; p >= 0 {
		return w.class(p) == ir.ClassEffect
	}
	return w.seg.Tensors[t].Var > 0
}

// bytes returns what a tensor takes in memory.
func (w *work) bytes(t ir.TensorID) int64 {
	return int64(w.seg.Tensors[t].Shape.NumElements()) * int64(w.seg.Tensors[t].DType.Size())
}

// computed reports whether the operation takes part in the search for blocks.
func (w *work) computed(op int) bool { return !w.unneeded[op] && !w.merged[op] && !w.idle[op] }

// resolve replaces the operands of an operation by the tensors that stand for
// them.
func (w *work) resolve(op int) {
	for i, in := range w.ops[op].Inputs {
		if s := w.standsFor(in.ID); s != in.ID {
			w.replace(op, i, s)
		}
	}
}

// standsFor returns the tensor that stands for t: of passes that merged one
// after the other, the last one's.
func (w *work) standsFor(t ir.TensorID) ir.TensorID {
	for w.same[t] != t {
		t = w.same[t]
	}
	return t
}

// replace makes operand i of an operation another tensor.
func (w *work) replace(op, i int, t ir.TensorID) {
	w.ops[op].Inputs = slices.Clone(w.ops[op].Inputs)
	in := &w.ops[op].Inputs[i]
	in.ID, in.Shape = t, w.seg.Tensors[t].Shape
}

// merge records that the output of an operation equals the tensor of, which
// stands for it from now on. Only tensors of the same shape and dtype merge.
func (w *work) merge(pass string, op int, of ir.TensorID) {
	if w.skips(pass, op) {
		return
	}
	out := w.ops[op].Outputs[0].ID
	w.merged[op] = true
	w.same[out] = of
	w.dead[of] = w.dead[of] && w.dead[out]
	w.log.add(Decision{Event: EventRewrite, Rule: pass, Op: op, Detail: fmt.Sprintf("%s is %s", tensorName(out), tensorName(of))})
}

// settle finds out, after the passes, who reads what, and which operations
// nothing reads any more.
func (w *work) settle() {
	n := len(w.ops)
	for t := range w.same {
		w.same[t] = w.standsFor(w.same[t])
	}
	w.used = make([]bool, len(w.seg.Tensors))
	for i := range w.seg.Ops {
		if w.unneeded[i] {
			continue
		}
		for _, in := range w.seg.Ops[i].Inputs {
			w.used[in.ID] = true
		}
	}
	w.want()
	w.consumers = make([][]int, len(w.seg.Tensors))
	read := make([]bool, len(w.seg.Tensors))
	for i := n - 1; i >= 0; i-- {
		if w.unneeded[i] || w.merged[i] {
			continue
		}
		w.idle[i] = w.class(i) != ir.ClassEffect
		for _, out := range w.ops[i].Outputs {
			t := out.ID
			if w.wanted[t] || read[t] || !w.used[t] {
				w.idle[i] = false
			}
		}
		if w.idle[i] {
			continue
		}
		for _, in := range w.ops[i].Inputs {
			read[in.ID] = true
			if c := w.consumers[in.ID]; len(c) == 0 || c[len(c)-1] != i {
				w.consumers[in.ID] = append(c, i)
			}
		}
	}
	for _, c := range w.consumers {
		slices.Reverse(c)
	}
}

// want finds the tensors that exist in memory however blocks turn out: what
// is asked for, results of effects and reductions, and what nothing consumes.
// A tensor that stands for others is wanted when one of them is.
func (w *work) want() {
	w.wanted = make([]bool, len(w.seg.Tensors))
	for i := range w.ops {
		if w.unneeded[i] {
			continue
		}
		for _, out := range w.ops[i].Outputs {
			t := out.ID
			keep := w.seg.Tensors[t].Asked || !w.used[t]
			switch w.class(i) {
			case ir.ClassEffect:
				keep = true
			case ir.ClassReduce:
				keep = keep || !w.dead[t]
			}
			if keep {
				w.wanted[t] = true
				w.wanted[w.same[t]] = w.producer[w.same[t]] >= 0
			}
		}
	}
}

func tensorName(t ir.TensorID) string { return fmt.Sprintf("t%d", t) }

// opName prints an operation as its position and kind.
func opName(seg *Segment, op int) string { return fmt.Sprintf("%d:%s", op, seg.Ops[op].Kind) }

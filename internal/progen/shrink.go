package progen

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// Shrink returns a smaller program for which fails still holds. It cuts the
// program off behind an operation, leaves out results and what nothing needs,
// and puts an operand of the same shape and dtype, or else a new input, in the
// place of an operation's result, until none of these steps keeps the failure.
// fails is called with valid programs only and must answer the same for the
// same program; Shrink then is deterministic. p itself must fail and is not
// changed. The result prints in the text form with its String method.
func Shrink(p *ir.Program, fails func(*ir.Program) bool) *ir.Program {
	best := clone(p)
	try := func(candidate *ir.Program) bool {
		dropUnread(candidate)
		if size(candidate) >= size(best) || candidate.Validate() != nil || !fails(candidate) {
			return false
		}
		best = candidate
		return true
	}
	for shrunk := true; shrunk; {
		shrunk = false
		for i := range len(best.Ops) {
			if try(prefix(best, i)) {
				shrunk = true
				break
			}
		}
		shrunk = try(pruned(best)) || shrunk
		for i := len(best.Outputs) - 1; i >= 0 && len(best.Outputs) > 1; i-- {
			candidate := clone(best)
			candidate.Outputs = slices.Delete(candidate.Outputs, i, i+1)
			shrunk = try(candidate) || shrunk
		}
		for i := len(best.Ops) - 1; i >= 0; i-- {
			for _, candidate := range without(best, i) {
				if try(candidate) {
					shrunk = true
					break
				}
			}
		}
	}
	return best
}

// prefix returns the operations up to i with the result of i as the only one,
// less what it does not need.
func prefix(p *ir.Program, i int) *ir.Program {
	out := clone(p)
	out.Ops = out.Ops[:i+1]
	out.Outputs = []ir.TensorID{out.Ops[i].Outputs[0].ID}
	return pruned(out)
}

// size orders programs: fewer operations first, then fewer results, then fewer
// tensors to start from.
func size(p *ir.Program) int64 {
	sources := len(p.Inputs) + len(p.Vars) + len(p.Constants)
	return int64(len(p.Ops))<<40 + int64(len(p.Outputs))<<20 + int64(sources)
}

// clone returns a copy of p with lists and operands of its own. Positions and
// names are left out: they would name what is no longer there.
func clone(p *ir.Program) *ir.Program {
	out := &ir.Program{
		Inputs:    slices.Clone(p.Inputs),
		Vars:      slices.Clone(p.Vars),
		Constants: slices.Clone(p.Constants),
		Ops:       slices.Clone(p.Ops),
		Outputs:   slices.Clone(p.Outputs),
	}
	for i := range out.Ops {
		op := &out.Ops[i]
		op.Inputs = slices.Clone(op.Inputs)
		op.Outputs = slices.Clone(op.Outputs)
	}
	return out
}

// without returns the programs without operation i and with something simpler
// in place of its result: an operand like it, which for an effect is the Var's
// version before, or else a new input; nothing if nothing reads it.
func without(p *ir.Program, i int) []*ir.Program {
	out := p.Ops[i].Outputs[0]
	if !readers(p)[out.ID] {
		return []*ir.Program{replaced(p, i, out)}
	}
	var candidates []*ir.Program
	for _, in := range p.Ops[i].Inputs {
		if in.DType == out.DType && in.Shape.Equal(out.Shape) {
			candidates = append(candidates, replaced(p, i, in))
		}
		if ir.Lookup(p.Ops[i].Kind).Class == ir.ClassEffect {
			return candidates
		}
	}
	fresh := ir.TensorRef{ID: nextID(p), Shape: out.Shape, DType: out.DType}
	withInput := replaced(p, i, fresh)
	withInput.Inputs = append(withInput.Inputs, fresh)
	return append(candidates, withInput)
}

// replaced returns p without operation i and with another tensor in place of
// its result.
func replaced(p *ir.Program, i int, by ir.TensorRef) *ir.Program {
	out := clone(p)
	old := out.Ops[i].Outputs[0].ID
	out.Ops = slices.Delete(out.Ops, i, i+1)
	for k := range out.Ops {
		for j := range out.Ops[k].Inputs {
			if in := &out.Ops[k].Inputs[j]; in.ID == old {
				in.ID = by.ID
			}
		}
	}
	for k, id := range out.Outputs {
		if id == old {
			out.Outputs[k] = by.ID
		}
	}
	return out
}

func nextID(p *ir.Program) ir.TensorID {
	last := ir.TensorID(0)
	for id := range p.Definitions() {
		last = max(last, id)
	}
	return last + 1
}

// readers returns the tensors that an operation or the caller reads.
func readers(p *ir.Program) map[ir.TensorID]bool {
	read := make(map[ir.TensorID]bool)
	for _, id := range p.Outputs {
		read[id] = true
	}
	for _, op := range p.Ops {
		for _, in := range op.Inputs {
			read[in.ID] = true
		}
	}
	return read
}

// pruned returns p without the operations whose results nothing needs, effects
// aside.
func pruned(p *ir.Program) *ir.Program {
	out := clone(p)
	needed := make(map[ir.TensorID]bool)
	for _, id := range p.Outputs {
		needed[id] = true
	}
	out.Ops = nil
	for _, op := range slices.Backward(p.Ops) {
		if !needed[op.Outputs[0].ID] && ir.Lookup(op.Kind).Class != ir.ClassEffect {
			continue
		}
		for _, in := range op.Inputs {
			needed[in.ID] = true
		}
		out.Ops = append(out.Ops, op)
	}
	slices.Reverse(out.Ops)
	return out
}

// dropUnread removes the inputs, Vars and constants nothing reads.
func dropUnread(p *ir.Program) {
	read := readers(p)
	unread := func(t ir.TensorRef) bool { return !read[t.ID] }
	p.Inputs = slices.DeleteFunc(p.Inputs, unread)
	p.Vars = slices.DeleteFunc(p.Vars, unread)
	p.Constants = slices.DeleteFunc(p.Constants, func(c ir.Constant) bool { return unread(c.TensorRef) })
}

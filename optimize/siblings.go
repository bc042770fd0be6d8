package optimize

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// siblings returns the blocks of reductions before op that read an operand of
// op, which is one as well: one pass over the operand serves them all.
func (s *search) siblings(op int) []*block {
	if s.class(op) != ir.ClassReduce {
		return nil
	}
	_, base := s.d.chain(s.ops[op].Inputs[0].ID, s.owned)
	var out []*block
	for _, c := range s.consumers[base] {
		if c >= op {
			break
		}
		if s.class(c) == ir.ClassReduce && s.o.of[c] != nil {
			out = append(out, s.o.of[c])
		}
	}
	return out
}

// maxFeeders bounds how many blocks a contraction looks through.
const maxFeeders = 8

// feeders returns the blocks that compute operands of op and, of a contraction,
// what is computed element by element for them: it may be computed as the
// contraction reads its operands, which no block can be before that is offered.
func (s *search) feeders(op int) []*block {
	out := s.makers(nil, op)
	if s.class(op) != ir.ClassContraction {
		return out
	}
	for i := 0; i < len(out) && len(out) < maxFeeders; i++ {
		if slices.ContainsFunc(out[i].ops, s.joinsElements) {
			continue
		}
		for _, feeder := range out[i].ops {
			out = s.makers(out, feeder)
		}
	}
	return out
}

// makers adds the blocks that compute operands of op to a list.
func (s *search) makers(list []*block, op int) []*block {
	for _, in := range s.ops[op].Inputs {
		_, base := s.d.chain(in.ID, s.owned)
		if p := s.producer[base]; p >= 0 && s.o.of[p] != nil && !slices.Contains(list, s.o.of[p]) {
			list = append(list, s.o.of[p])
		}
	}
	return list
}

// joinsElements reports whether an operation is more than a way of computing
// each element on its own.
func (s *search) joinsElements(op int) bool {
	switch s.class(op) {
	case ir.ClassMap, ir.ClassCreate, ir.ClassView, ir.ClassMove, ir.ClassGather:
		return false
	}
	return true
}

package optimize

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// Churn says why one recorded sequence keeps being planned anew.
type Churn struct {
	Plans int // made so far for the sequence
	// Cause is the guard that failed, or what is known of a tensor that
	// differed from the plan before.
	Cause string
	// Op is the operation that makes the tensor or the guard's operations, and
	// Position the "file:line" that recorded it, if known.
	Op, Position string
	// Mend says what to do about it.
	Mend string
}

func (c Churn) String() string {
	s := fmt.Sprintf("plan %d of one sequence of operations: %s", c.Plans, c.Cause)
	if c.Op != "" {
		s += " (" + c.Op
		if c.Position != "" {
			s += " at " + c.Position
		}
		s += ")"
	}
	return s + "; " + c.Mend
}

// churn counts the plans of each recorded sequence and remembers the last.
type churn struct{ seen *lru[sequence] }

type sequence struct {
	plans  int
	tokens []uint64
	flags  []uint8 // by tensor
	plan   *Plan
}

func newChurn(limit int) *churn { return &churn{seen: newLRU[sequence](limit)} }

// add counts a plan and returns a report if it is the third of its sequence.
func (c *churn) add(k Key, seg *Segment, p *Plan) *Churn {
	last, ok := c.seen.find(k.Sequence, func(*sequence) bool { return true })
	if !ok {
		c.seen.add(k.Sequence, sequence{plans: 1, tokens: slices.Clone(k.Tokens), flags: tensorFlags(seg), plan: p})
		return nil
	}
	last.plans++
	var out *Churn
	if last.plans == 3 {
		out = last.explain(k, seg)
	}
	last.tokens, last.flags, last.plan = slices.Clone(k.Tokens), tensorFlags(seg), p
	return out
}

func (s *sequence) explain(k Key, seg *Segment) *Churn {
	out := &Churn{Plans: s.plans}
	if slices.Equal(s.tokens, k.Tokens) {
		f := seg.Facts()
		out.Cause = "lengths or layouts differ"
		out.Mend = "keep lengths, layouts and scalars alike from run to run"
		if g := s.plan.failed(&f); g != nil {
			out.Cause, out.Op = "guard "+g.Name+" failed", g.Detail
		}
		return out
	}
	out.Cause = "effects or lengths differ"
	out.Mend = "keep the same tensors and release the same ones from run to run"
	now := tensorFlags(seg)
	for t := range min(len(now), len(s.flags)) {
		diff := now[t] ^ s.flags[t]
		for bit, name := range flagNames {
			if diff&(1<<bit) == 0 {
				continue
			}
			out.Cause = fmt.Sprintf("t%d is %s%s now", t, map[bool]string{false: "not "}[now[t]&(1<<bit) != 0], name)
			if op := maker(seg, ir.TensorID(t)); op >= 0 {
				out.Op, out.Position = opName(seg, op), ir.Position(seg.Ops[op].PC)
			}
			return out
		}
	}
	return out
}

var flagNames = [...]string{"asked for", "dead", "free to take"}

func tensorFlags(seg *Segment) []uint8 {
	out := make([]uint8, len(seg.Tensors))
	for i := range seg.Tensors {
		t := &seg.Tensors[i]
		for bit, set := range [...]bool{t.Asked, t.Dead, t.Takeable} {
			if set {
				out[i] |= 1 << bit
			}
		}
	}
	return out
}

// maker returns the operation that makes a tensor, -1 for an input.
func maker(seg *Segment, t ir.TensorID) int {
	return slices.IndexFunc(seg.Ops, func(op ir.Operation) bool {
		return slices.ContainsFunc(op.Outputs, func(o ir.TensorRef) bool { return o.ID == t })
	})
}

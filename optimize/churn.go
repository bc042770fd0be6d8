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
	seg    *Segment
	plan   *Plan
}

func newChurn(limit int) *churn { return &churn{seen: newLRU[sequence](limit)} }

// add counts a plan and returns a report if it is the third of its sequence.
// The segment must not change any more.
func (c *churn) add(k Key, seg *Segment, p *Plan) *Churn {
	last, ok := c.seen.find(k.Sequence, func(*sequence) bool { return true })
	if !ok {
		c.seen.add(k.Sequence, sequence{plans: 1, tokens: slices.Clone(k.Tokens), seg: seg, plan: p})
		return nil
	}
	last.plans++
	var out *Churn
	if last.plans == 3 {
		out = last.explain(k, seg)
	}
	last.tokens, last.seg, last.plan = slices.Clone(k.Tokens), seg, p
	return out
}

// explain finds what the third plan does not share with the second.
func (s *sequence) explain(k Key, seg *Segment) *Churn {
	out := &Churn{Plans: s.plans}
	if slices.Equal(s.tokens, k.Tokens) {
		s.explainGuard(out, seg)
		return out
	}
	for t := range min(len(seg.Tensors), len(s.seg.Tensors)) {
		for _, d := range differences {
			was, is := d.holds(s.seg, t), d.holds(seg, t)
			if was == is {
				continue
			}
			out.Cause = fmt.Sprintf("t%d is %s%s now", t, map[bool]string{false: "not "}[is], d.name)
			out.Mend = d.mend
			out.name(seg, ir.TensorID(t))
			return out
		}
	}
	out.Cause = "which tensors share memory differs"
	out.Mend = "let the same tensors share memory in every run"
	return out
}

// explainGuard finds the guard of the plan before that no longer holds.
func (s *sequence) explainGuard(out *Churn, seg *Segment) {
	f := seg.Facts()
	g := s.plan.failed(&f)
	if g == nil {
		out.Cause = "earlier plans were forgotten"
		out.Mend = "keep more plans, or record fewer different sequences"
		return
	}
	out.Cause, out.Op, out.Mend = "guard "+g.Name+" failed", g.Detail, guardMends[g.Name]
	if out.Mend == "" {
		out.Mend = "keep lengths, layouts and scalars alike from run to run"
	}
	if g.Op >= 0 && g.Op < len(seg.Ops) {
		out.Position = ir.Position(seg.Ops[g.Op].PC)
	}
}

// guardMends says what keeps a guard true, by its name.
var guardMends = map[string]string{
	GuardScalarEqual:    "operations were shared because their scalars and slice starts were equal: keep them equal or different in every run, or hold them in rank-0 tensors",
	GuardRangeFull:      "a slice was dropped because it took everything: take everything in every run or in none, or hold the start in a rank-0 tensor",
	GuardReshapeStrided: "a reshape was read in place because strides could express it: keep lengths and layouts alike from run to run",
	GuardRowFits:        "fusers were chosen by whether a reduced row fits on chip: keep its length on one side from run to run",
	GuardReplaced:       "an extra pass answered something else: keep the lengths and scalars it looks at alike from run to run",
}

// name says which operation makes a tensor, or reads it first if it is an
// input.
func (c *Churn) name(seg *Segment, t ir.TensorID) {
	op, of := maker(seg, t), "result of "
	if op < 0 {
		of = "input of "
		op = slices.IndexFunc(seg.Ops, func(op ir.Operation) bool {
			return slices.ContainsFunc(op.Inputs, func(in ir.TensorRef) bool { return in.ID == t })
		})
	}
	if op >= 0 {
		c.Op, c.Position = of+opName(seg, op), ir.Position(seg.Ops[op].PC)
	}
}

// differences are what can differ of a tensor between two segments of one
// recorded form, the most telling first.
var differences = []struct {
	name  string
	holds func(seg *Segment, t int) bool
	mend  string
}{
	{"asked for", func(seg *Segment, t int) bool { return seg.Tensors[t].Asked },
		"read it, keep it or hold on to it in every run or in none"},
	{"dead", func(seg *Segment, t int) bool { return seg.Tensors[t].Dead },
		"release it, or let its scope end, at the same place in every run"},
	{"free to take", func(seg *Segment, t int) bool { return seg.Tensors[t].Takeable },
		"release it, or keep what shares its memory, at the same place in every run"},
	{"written over the old version", overOld,
		"take values of the Var, and release them, at the same places in every run"},
	{"dense in memory", func(seg *Segment, t int) bool { return !seg.Tensors[t].Input || seg.Tensors[t].Layout.IsContiguous() },
		"pass it dense in every run or in none"},
	{"a version of a Var", func(seg *Segment, t int) bool { return seg.Tensors[t].Var > 0 },
		"use a Var, or a tensor, in every run"},
}

// overOld reports whether a tensor is the version of a Var that an effect writes
// over the old one.
func overOld(seg *Segment, t int) bool {
	if seg.Tensors[t].Input || seg.Tensors[t].Var == 0 {
		return false
	}
	return seg.inPlace(maker(seg, ir.TensorID(t)))
}

// maker returns the operation that makes a tensor, -1 for an input.
func maker(seg *Segment, t ir.TensorID) int {
	return slices.IndexFunc(seg.Ops, func(op ir.Operation) bool {
		return slices.ContainsFunc(op.Outputs, func(o ir.TensorRef) bool { return o.ID == t })
	})
}

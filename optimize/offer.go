package optimize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/fuser"
)

// Rule names why the planner, not a fuser, kept operations apart.
type Rule string

// The planner's rules.
const (
	RuleCycle      Rule = "cycle"       // a path would leave the block and re-enter it
	RuleFar        Rule = "far"         // more blocks lie between than the search for paths looks at
	RuleOldVersion Rule = "old-version" // it reads a version the block writes over
	RuleMaxOps     Rule = "max-ops"     // the device's limit of operations in one block
	RuleMerge      Rule = "merge"       // no fuser accepts the operations of both blocks
	RuleNoGain     Rule = "no-gain"     // fused it is not faster
	RuleNotReady   Rule = "not-ready"   // no fuser could finish any more
	RuleClosed     Rule = "closed"      // the fuser takes no more operations
	RuleView       Rule = "view"        // a view between the block and the operation was refused
)

// offer offers an operation to clones of the fusers that hold the operations
// in, and returns those that accepted it. Views of tensors of no block that it
// reads through are offered first; a fuser that refuses them reads their result
// instead.
func (s *search) offer(alive []entry, op int, in []int, block int) []entry {
	var out []entry
	for _, e := range alive {
		d := Decision{Event: EventOffer, Op: op, Block: block, Fuser: s.p.factories[e.factory].Name}
		next, v := s.offerTo(e, op, in)
		if v.Accepted {
			p := next.fuser.Properties()
			d.Accepted, d.Score, d.Ready = true, p.Score, p.Ready
			out = append(out, next)
		} else {
			d.Rule, d.Detail = string(v.Rule), v.Detail
		}
		s.log.add(d)
	}
	return out
}

func (s *search) offerTo(e entry, op int, in []int) (entry, fuser.Verdict) {
	if e.fuser.Status() == fuser.Closed {
		return e, fuser.Verdict{Rule: fuser.Rule(RuleClosed)}
	}
	next := entry{fuser: e.fuser.Clone(), factory: e.factory, views: e.views}
	for _, operand := range s.ops[op].Inputs {
		chain, base := s.d.chain(operand.ID, s.owned)
		if len(chain) == 0 {
			continue
		}
		inside := s.producer[base] >= 0 && contains(in, s.producer[base])
		var v fuser.Verdict
		if next, v = s.offerViews(next, chain, inside); inside && !v.Accepted {
			return e, fuser.Verdict{Rule: fuser.Rule(RuleView), Detail: fmt.Sprintf("%s: %s %s", opName(s.seg, chain[0]), v.Rule, v.Detail)}
		}
	}
	if v := s.fuse(next.fuser, op); v.Accepted || len(next.views) == len(e.views) {
		return next, v
	}
	// Perhaps it takes the operation when the views' results are read.
	for _, operand := range s.ops[op].Inputs {
		if _, base := s.d.chain(operand.ID, s.owned); base != operand.ID && s.producer[base] >= 0 && contains(in, s.producer[base]) {
			return e, fuser.Verdict{Rule: fuser.Rule(RuleView), Detail: "refused behind its views"}
		}
	}
	next = entry{fuser: e.fuser.Clone(), factory: e.factory, views: e.views}
	return next, s.fuse(next.fuser, op)
}

// offerViews offers a chain of views. If one is refused it starts again behind
// it, unless the base is computed within the block.
func (s *search) offerViews(e entry, chain []int, inside bool) (entry, fuser.Verdict) {
	for start := 0; start < len(chain); start++ {
		next := entry{fuser: e.fuser.Clone(), factory: e.factory, views: slices.Clone(e.views)}
		refused := -1
		var v fuser.Verdict
		for k := start; k < len(chain) && refused < 0; k++ {
			if slices.Contains(next.views, chain[k]) {
				continue
			}
			if v = s.fuse(next.fuser, chain[k]); v.Accepted {
				next.views = append(next.views, chain[k])
			} else {
				refused = k
			}
		}
		if refused < 0 {
			slices.Sort(next.views)
			return next, fuser.Verdict{Accepted: true}
		}
		if inside {
			return e, v
		}
		start = refused
	}
	return e, fuser.Verdict{Accepted: true}
}

func (s *search) fuse(f fuser.Fuser, op int) fuser.Verdict {
	s.offers++
	return f.Fuse(op)
}

func describe(set []*block) string {
	var b strings.Builder
	for i, x := range set {
		if i > 0 {
			b.WriteString(" + ")
		}
		fmt.Fprintf(&b, "block of %d", x.ops[0])
	}
	return b.String()
}

func scores(t *trial) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.6g ns together, apart", t.value.score)
	for _, x := range t.set {
		fmt.Fprintf(&b, " %.6g", x.value.score)
	}
	return b.String()
}

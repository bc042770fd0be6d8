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
// in, and returns those that accepted it. Views of no block that it reads
// through are offered first; a fuser that refuses them reads their result
// instead, unless it would have to leave the block for it.
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

// offerTo offers op, behind the views it reads through, to a clone of the
// fuser, or to a new one that takes everything again when a view comes before
// what the fuser already has: fusers are offered operations in recorded order.
func (s *search) offerTo(e entry, op int, in []int) (entry, fuser.Verdict) {
	if e.fuser.Status() == fuser.Closed {
		return e, fuser.Verdict{Rule: fuser.Rule(RuleClosed)}
	}
	views, inside := s.viewsFor(op, in, e.views)
	last := -1
	if len(in) > 0 {
		last = in[len(in)-1]
	}
	if len(e.views) > 0 {
		last = max(last, e.views[len(e.views)-1])
	}
	var next entry
	var v fuser.Verdict
	if len(views) > 0 && views[0] < last {
		next, v = s.replay(e.factory, union(in, []int{op}), union(e.views, views))
	} else {
		next, v = s.extend(e, append(views, op))
	}
	if v.Accepted || len(views) == 0 {
		return next, v
	}
	if inside {
		return e, fuser.Verdict{Rule: fuser.Rule(RuleView), Detail: fmt.Sprintf("behind %s: %s %s", opName(s.seg, views[0]), v.Rule, v.Detail)}
	}
	return s.extend(e, []int{op}) // reading the views' results
}

// viewsFor returns the views of no block that op reads through and have does
// not hold, ascending, and whether one leads to a tensor computed among in.
func (s *search) viewsFor(op int, in, have []int) (views []int, inside bool) {
	for _, operand := range s.ops[op].Inputs {
		chain, base := s.d.chain(operand.ID, s.owned)
		for _, v := range chain {
			if !contains(have, v) && !slices.Contains(views, v) {
				views = append(views, v)
			}
		}
		inside = inside || len(chain) > 0 && s.producer[base] >= 0 && contains(in, s.producer[base])
	}
	slices.Sort(views)
	return views, inside
}

// extend offers operations, of which all but the last are views, to a clone.
func (s *search) extend(e entry, ops []int) (entry, fuser.Verdict) {
	next := entry{fuser: e.fuser.Clone(), factory: e.factory, views: e.views}
	for _, op := range ops {
		if v := s.fuse(next.fuser, op); !v.Accepted {
			return e, v
		}
	}
	if n := len(ops) - 1; n > 0 {
		next.views = union(e.views, ops[:n])
	}
	return next, accepted
}

var accepted = fuser.Verdict{Accepted: true}

// replay offers operations and the views between them to a new fuser.
func (s *search) replay(factory int, ops, views []int) (entry, fuser.Verdict) {
	for _, op := range ops {
		if more, inside := s.viewsFor(op, ops, views); inside {
			views = union(views, more)
		}
	}
	e := entry{fuser: s.p.factories[factory].New(s.g, &s.p.profile), factory: factory, views: views}
	for _, op := range union(ops, views) {
		if v := s.fuse(e.fuser, op); !v.Accepted {
			return e, v
		}
	}
	return e, accepted
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

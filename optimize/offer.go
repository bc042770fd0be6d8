package optimize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/fuser"
)

// offer offers an operation to clones of the fusers that hold the operations
// in, and returns those that accepted it. Views of no block that it reads
// through, and created tensors it reads, are offered first; a fuser that
// refuses them reads their result instead, unless it would have to leave the
// block for it.
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

// offerTo offers op, with all it could take along, with the views alone, or by
// itself.
func (s *search) offerTo(e entry, op int, in []int) (entry, fuser.Verdict) {
	if e.fuser.Status() == fuser.Closed {
		return e, fuser.Verdict{Rule: fuser.RuleClosed}
	}
	along, inside := s.along(op, in, e.views)
	next, v := s.offerWith(e, op, in, along)
	if v.Accepted || len(along) == 0 {
		return next, v
	}
	views := slices.DeleteFunc(slices.Clone(along), s.g.Remade)
	if len(views) < len(along) {
		if next, v = s.offerWith(e, op, in, views); v.Accepted || len(views) == 0 {
			return next, v
		}
	}
	if inside {
		return e, fuser.Verdict{Rule: fuser.Rule(RuleView), Detail: fmt.Sprintf("behind %s: %s %s", opName(s.seg, views[0]), v.Rule, v.Detail)}
	}
	return s.extend(e, []int{op}) // reading the views' results
}

// offerWith offers op behind what it takes along to a clone of the fuser, or to
// a new one that takes everything again when that comes before what the fuser
// already has: fusers are offered operations in recorded order.
func (s *search) offerWith(e entry, op int, in, along []int) (entry, fuser.Verdict) {
	last := -1
	if len(in) > 0 {
		last = in[len(in)-1]
	}
	if len(e.views) > 0 {
		last = max(last, e.views[len(e.views)-1])
	}
	if len(along) > 0 && along[0] < last {
		return s.replay(e, in, union(in, []int{op}), union(e.views, along))
	}
	return s.extend(e, append(along, op))
}

// along returns what op could take along and have does not hold, ascending:
// the views of no block that it reads through and the created tensors that it
// reads. It tells whether one of the views leads to a tensor computed among in.
func (s *search) along(op int, in, have []int) (out []int, inside bool) {
	add := func(i int) {
		if !contains(have, i) && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	for _, operand := range s.ops[op].Inputs {
		chain, base := s.d.chain(operand.ID, s.owned)
		for _, v := range chain {
			add(v)
		}
		p := s.producer[base]
		if p >= 0 && s.g.Remade(p) {
			add(p)
		}
		inside = inside || len(chain) > 0 && p >= 0 && contains(in, p)
	}
	slices.Sort(out)
	return out, inside
}

// extend offers operations, of which all but the last are taken along, to a
// clone.
func (s *search) extend(e entry, ops []int) (entry, fuser.Verdict) {
	s.log.Clones++
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

// replay offers operations, what they take along, and the views between them to
// a new fuser, or to a clone of e if what e holds, in and its views, comes
// first.
func (s *search) replay(e entry, in, ops, views []int) (entry, fuser.Verdict) {
	for _, op := range ops {
		if more, inside := s.along(op, ops, views); inside {
			views = union(views, more)
		}
	}
	next := entry{factory: e.factory, views: views}
	all, have := union(ops, views), union(in, e.views)
	if len(have) > 0 && len(have) <= len(all) && slices.Equal(have, all[:len(have)]) {
		s.log.Clones++
		next.fuser, all = e.fuser.Clone(), all[len(have):]
	} else {
		next.fuser = s.p.factories[e.factory].New(s.g, &s.p.profile)
	}
	for _, op := range all {
		if v := s.fuse(next.fuser, op); !v.Accepted {
			return next, v
		}
	}
	return next, accepted
}

func (s *search) fuse(f fuser.Fuser, op int) fuser.Verdict {
	s.log.Offers++
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

func scores(t *trial, alone float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.6g ns together, apart", t.value.score)
	for _, x := range t.set {
		fmt.Fprintf(&b, " %.6g", x.value.score)
	}
	if alone != 0 {
		fmt.Fprintf(&b, " and %.6g", alone)
	}
	return b.String()
}

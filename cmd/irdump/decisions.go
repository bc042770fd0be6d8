package main

import (
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/internal/trace"
	"github.com/sinter-ml/sinter/optimize"
)

// decisions is a segment's log sorted by what it is about.
type decisions struct {
	seg *trace.Segment
	// found is, by position, the block of the search an operation ended in, 0
	// for none. Those blocks have numbers of their own.
	found    []int
	refusals [][]refusal // by position of the operation that was refused
	rewrites []rewrite
	competed [][]competitor // by block of the plan
	failed   []failure
}

// refusal is an operation that a fuser or the planner kept out of a block.
type refusal struct {
	Op     int    `json:"position"`
	With   []int  `json:"with"`  // the block's operations at the time, none: it would have been the first
	Fuser  string `json:"fuser"` // "" for the planner
	Rule   string `json:"rule"`
	Detail string `json:"detail,omitempty"`
}

// rewrite is an operation that a pass dropped or replaced.
type rewrite struct {
	Op     int    `json:"position"`
	Pass   string `json:"pass"`
	Detail string `json:"detail,omitempty"`
}

// competitor is a fuser that could have finished a block.
type competitor struct {
	Fuser  string  `json:"fuser"`
	Score  float64 `json:"score_ns"`
	Ready  bool    `json:"ready"`
	Chosen bool    `json:"chosen"`
}

// failure is a block that its fuser could not finish.
type failure struct {
	Op     int    `json:"position"` // the block's first
	Fuser  string `json:"fuser"`
	Detail string `json:"detail"`
}

// digest reads the log of a segment in order, following how blocks grew.
func digest(s *trace.Segment) *decisions {
	n := len(s.Program.Ops)
	d := &decisions{seg: s, found: make([]int, n), refusals: make([][]refusal, n), competed: make([][]competitor, len(s.Blocks))}
	members := map[int][]int{} // of the search's blocks
	beaten := map[int][]competitor{}
	for _, e := range s.Log.Decisions {
		switch e.Event {
		case optimize.EventRewrite:
			d.rewrites = append(d.rewrites, rewrite{e.Op, e.Rule, detail(e.Detail)})
		case optimize.EventOffer, optimize.EventRefuse:
			if !e.Accepted {
				with := append([]int{}, members[e.Block]...)
				slices.Sort(with)
				d.refusals[e.Op] = append(d.refusals[e.Op], refusal{e.Op, with, e.Fuser, e.Rule, detail(e.Detail)})
			}
		case optimize.EventMerge:
			members[e.Block] = append(members[e.Block], members[e.From]...)
			delete(members, e.From)
		case optimize.EventJoin:
			members[e.Block] = append(members[e.Block], e.Op)
		case optimize.EventBeaten:
			beaten[e.Block] = append(beaten[e.Block], competitor{e.Fuser, e.Score, e.Ready, false})
		case optimize.EventChosen:
			all := append([]competitor{{e.Fuser, e.Score, true, true}}, beaten[e.Block]...)
			if b := d.block(e.Op, e.Fuser); b >= 0 {
				d.competed[b] = all
			}
		case optimize.EventFailed:
			d.failed = append(d.failed, failure{e.Op, e.Fuser, detail(e.Detail)})
		}
	}
	for id, ops := range members {
		for _, op := range ops {
			d.found[op] = id
		}
	}
	return d
}

// block returns the block of the plan that a fuser finished with an operation
// in it, -1 if there is none.
func (d *decisions) block(op int, fuser string) int {
	return slices.IndexFunc(d.seg.Blocks, func(b trace.Block) bool {
		return b.Fuser == fuser && slices.Contains(b.Ops, op)
	})
}

// blocksOf returns the blocks of the plan with an operation in them: a view
// may be in several.
func blocksOf(s *trace.Segment, op int) []int {
	var out []int
	for i := range s.Blocks {
		if slices.Contains(s.Blocks[i].Ops, op) {
			out = append(out, i)
		}
	}
	return out
}

// text prints by whom and by which rule.
func (r refusal) text() string {
	by := r.Fuser
	if by == "" {
		by = "planner"
	}
	out := by + " " + r.Rule
	if r.Detail != "" {
		out += " (" + r.Detail + ")"
	}
	return out
}

// group is the refusals of one operation by one block.
type group struct {
	with []int
	all  []refusal
}

// groups puts refusals by the same operations together.
func groups(all []refusal) []group {
	var out []group
	for _, r := range all {
		n := len(out)
		if n > 0 && out[n-1].all[0].Op == r.Op && slices.Equal(out[n-1].with, r.With) {
			out[n-1].all = append(out[n-1].all, r)
		} else {
			out = append(out, group{r.With, []refusal{r}})
		}
	}
	return out
}

func (g group) text() string {
	words := make([]string, len(g.all))
	for i, r := range g.all {
		words[i] = r.text()
	}
	return strings.Join(words, ", ")
}

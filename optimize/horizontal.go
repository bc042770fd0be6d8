package optimize

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/sinter-ml/sinter/fuser"
)

// joiner puts finished blocks that do not depend on one another into one
// launch.
//
// Every unit has a distance from the end: the most launches on a way from it to
// a unit nothing waits for. A way between two units makes their distances
// differ, so units of one distance are independent, and since a unit never
// waits for one that is nearer to the end, joining them closes no circle,
// whatever else is joined. Counted from the end and not from the start, the
// updates of an optimiser meet although their gradients are ready one after
// another.
type joiner struct {
	*fates
	order  []*unit
	blocks []Block
	at     map[*unit]int // place in the order
	// block is, by place, the number of the search's block a unit came from, of
	// those it is joined to the first.
	block   []int
	refused []refusedPair
}

// refusedPair is two units, by place, that do not share a launch.
type refusedPair struct {
	with, i      int
	rule, detail string
}

// join returns the order and blocks with what can share launches joined.
func (f *fates) join(order []*unit, blocks []Block) ([]*unit, []Block, error) {
	p := &f.p.profile
	if len(f.p.factories) == 0 || f.p.off[fuser.HorizontalName] || p.LaunchCost <= 0 && !f.p.off[string(RuleNoGain)] {
		return order, blocks, nil
	}
	j := &joiner{fates: f, order: order, blocks: blocks, at: make(map[*unit]int, len(order))}
	for i, u := range order {
		j.at[u] = i
		j.block = append(j.block, f.o.of[u.core[0]].id)
	}
	defer j.explain()
	var groups [][]int
	for _, list := range j.candidates() {
		groups = append(groups, j.split(j.near(list))...)
	}
	if len(groups) == 0 {
		return order, blocks, nil
	}
	return j.apply(groups)
}

// candidates returns, by distance from the end, the places of the units that
// could share a launch, ascending. Of neighbours that cannot, though neither
// reads what the other makes, the log tells why.
func (j *joiner) candidates() [][]int {
	distance := make([]int, len(j.order))
	for i, u := range slices.Backward(j.order) {
		step := min(1, len(j.blocks[i].Calls))
		for _, v := range j.waits(u) {
			k := j.at[v]
			distance[k] = max(distance[k], distance[i]+step)
		}
	}
	by := map[int][]int{}
	last := -1
	for i := range j.order {
		if len(j.blocks[i].Calls) == 0 {
			continue
		}
		apart := last >= 0 && !slices.Contains(j.waits(j.order[i]), j.order[last])
		if v := fuser.Joinable(j.blocks[i].Optimization); !v.Accepted {
			if apart && v.Rule != fuser.RuleNotAMap {
				j.refuse(last, i, string(v.Rule), v.Detail)
			}
			continue
		}
		if apart && distance[last] != distance[i] {
			j.refuse(last, i, string(RuleDistance), "")
		}
		by[distance[i]] = append(by[distance[i]], i)
		last = i
	}
	var out [][]int
	for _, d := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[d])
	}
	return out
}

// refuse notes that a unit does not share the launch of another.
func (j *joiner) refuse(with, i int, rule, detail string) {
	j.refused = append(j.refused, refusedPair{with, i, rule, detail})
}

// explain logs what was refused, once it is known which blocks became one.
func (j *joiner) explain() {
	for _, r := range j.refused {
		j.log.add(Decision{Event: EventRefuse, Op: j.order[r.i].core[0], Block: j.block[r.with], From: j.block[r.i], Fuser: fuser.HorizontalName, Rule: r.rule, Detail: r.detail})
	}
}

// near leaves out the units that would run later than they could and keep
// temporaries in memory until then, of more bytes than a launch is worth.
func (j *joiner) near(list []int) []int {
	p := &j.p.profile
	worth := int64(p.LaunchCost * p.Bandwidth)
	if len(list) < 2 || j.p.off[string(RuleKeepsMemory)] {
		return list
	}
	kept := []int{list[len(list)-1]}
	moved := false
	for _, i := range slices.Backward(list[:len(list)-1]) {
		for k := i + 1; k < kept[len(kept)-1] && !moved; k++ {
			moved = len(j.blocks[k].Calls) > 0
		}
		if n := j.temporaries(i); moved && n > worth {
			j.refuse(kept[0], i, string(RuleKeepsMemory), fmt.Sprintf("%d bytes", n))
			continue
		}
		kept = append(kept, i)
	}
	slices.Reverse(kept)
	return kept
}

// temporaries returns the bytes of what a unit reads and nothing needs after
// the segment.
func (j *joiner) temporaries(i int) int64 {
	n := int64(0)
	for _, t := range j.external(j.order[i]) {
		if j.producer[t] >= 0 && j.fate[t] == Temporary {
			n += j.bytes(t)
		}
	}
	return n
}

// split cuts units of one distance into launches: as many as fit, in order.
func (j *joiner) split(list []int) [][]int {
	limit := cmp.Or(j.p.profile.MaxArguments, j.p.profile.MaxBuffers)
	var out [][]int
	var group []int
	var members []*fuser.Optimization
	var ops []int
	flush := func() {
		if len(group) > 1 {
			out = append(out, group)
		}
		group, members, ops = nil, nil, nil
	}
	for _, i := range list {
		o := j.blocks[i].Optimization
		if len(group) > 0 {
			rule, detail := "", ""
			if n := fuser.Arguments(append(slices.Clip(members), o)); limit > 0 && n > limit {
				rule, detail = string(fuser.RuleMaxArguments), fmt.Sprintf("%d buffers of at most %d", n, limit)
			} else if j.overwrites(ops, o.Ops) {
				rule = string(RuleOldVersion)
			}
			if rule != "" {
				j.refuse(group[0], i, rule, detail)
				flush()
			}
		}
		group, members, ops = append(group, i), append(members, o), union(ops, o.Ops)
	}
	flush()
	return out
}

// overwrites reports whether operations of one list read a version of a Var
// that an effect of the other has written over.
func (j *joiner) overwrites(a, b []int) bool {
	apart := func(from, in []int) bool {
		return slices.ContainsFunc(from, func(op int) bool {
			return slices.ContainsFunc(j.d.apart[op], func(effect int) bool { return contains(in, effect) })
		})
	}
	return apart(a, b) || apart(b, a)
}

// apply makes a unit and a block of each group, and sorts anew.
func (j *joiner) apply(groups [][]int) ([]*unit, []Block, error) {
	made := make(map[*unit]Block, len(j.order))
	joined := make([]bool, len(j.order))
	var units []*unit
	for _, group := range groups {
		u := &unit{block: j.block[group[0]]}
		var members []*fuser.Optimization
		for n, i := range group {
			joined[i] = true
			members = append(members, j.blocks[i].Optimization)
			u.parts = append(u.parts, j.order[i])
			u.core, u.ops = union(u.core, j.order[i].core), union(u.ops, j.order[i].ops)
			if n > 0 {
				j.log.add(Decision{Event: EventMerge, Op: j.order[i].core[0], Block: u.block, From: j.block[i], Fuser: fuser.HorizontalName, Score: j.p.profile.LaunchCost})
				j.block[i] = u.block
			}
		}
		o := fuser.Horizontal(members, &j.p.profile)
		j.log.add(Decision{Event: EventChosen, Op: u.core[0], Block: u.block, Fuser: o.Fuser, Score: o.Score, Ready: true, Detail: fmt.Sprintf("%d blocks", len(group))})
		made[u] = j.p.fallback(j.g, o)
		units = append(units, u)
	}
	for i, u := range j.order {
		if !joined[i] {
			made[u] = j.blocks[i]
			units = append(units, u)
		}
	}
	j.units = units
	for _, u := range units {
		for _, op := range u.core {
			j.unitOf[op] = u
		}
	}
	order, err := j.sort()
	blocks := make([]Block, len(order))
	for i, u := range order {
		blocks[i] = made[u]
	}
	return order, blocks, err
}

// waits returns the units that run before u, each once.
func (f *fates) waits(u *unit) []*unit {
	var out []*unit
	seen := map[*unit]bool{u: true}
	follow := func(p int) {
		if p >= 0 && f.unitOf[p] != nil && !seen[f.unitOf[p]] {
			seen[f.unitOf[p]] = true
			out = append(out, f.unitOf[p])
		}
	}
	for part := range u.each {
		for _, op := range part.ops {
			if part.alias {
				follow(f.producer[f.same[f.ops[op].Outputs[0].ID]])
				continue
			}
			for _, in := range f.ops[op].Inputs {
				if p := f.producer[in.ID]; p >= 0 && !contains(part.ops, p) {
					follow(p)
				}
			}
			for _, r := range f.d.before[op] {
				follow(r)
			}
		}
	}
	return out
}

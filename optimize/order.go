package optimize

import "slices"

// order keeps the blocks in an order they can run in, while blocks merge. It
// answers whether a merge would let a path leave a block and re-enter it by a
// search that stays between the first and the last of the merged blocks, so
// that its cost does not grow with the segment.
type order struct {
	list   []*block // a valid running order; nil where a block was merged away
	of     []*block // by position: the block the operation is in, nil: in none
	window int
	epoch  int
	steps  int // edges followed, all searches together
}

// append adds a block of one operation at the end.
func (o *order) append(b *block) {
	b.at = len(o.list)
	o.list = append(o.list, b)
	for _, op := range b.ops {
		o.of[op] = b
	}
}

// span returns the first and the last place of the blocks.
func span(set []*block) (lo, hi int) {
	lo, hi = set[0].at, set[0].at
	for _, b := range set[1:] {
		lo, hi = min(lo, b.at), max(hi, b.at)
	}
	return lo, hi
}

// between returns the blocks outside the set, from its first place on, that
// must run before a block of the set or before an operation with the given
// predecessors. It returns the refusing rule if one of them must run after a
// block of the set, or if they lie too far apart.
func (o *order) between(set []*block, preds []int) (before []*block, rule Rule) {
	lo, hi := span(set)
	if len(preds) > 0 {
		hi = len(o.list) - 1
	}
	if hi-lo > o.window {
		return nil, RuleFar
	}
	o.epoch++
	for _, b := range set {
		b.member, b.mark = o.epoch, 0
	}
	var todo []*block
	// visit returns false when a path from the set comes back to it.
	visit := func(preds []int, inside bool) bool {
		for _, p := range preds {
			o.steps++
			b := o.of[p]
			switch {
			case b == nil || b.at < lo:
			case b.member == o.epoch:
				if !inside {
					return false
				}
			case b.mark != o.epoch:
				b.mark = o.epoch
				todo = append(todo, b)
			}
		}
		return true
	}
	for _, b := range set {
		visit(b.preds, true)
	}
	visit(preds, true)
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before = append(before, b)
		if !visit(b.preds, false) {
			return nil, RuleCycle
		}
	}
	return before, ""
}

// merge replaces the blocks of the set by b, given what between returned.
func (o *order) merge(set, before []*block, b *block) {
	lo, hi := span(set)
	o.epoch++
	for _, x := range set {
		x.mark = o.epoch
	}
	for _, x := range before {
		x.mark = o.epoch
		hi = max(hi, x.at)
	}
	slices.SortFunc(before, func(x, y *block) int { return x.at - y.at })
	region := slices.Clone(o.list[lo : hi+1])
	at := lo
	put := func(x *block) {
		o.list[at], x.at = x, at
		at++
	}
	for _, x := range before {
		put(x)
	}
	put(b)
	for _, x := range region {
		if x != nil && x.mark != o.epoch {
			put(x)
		}
	}
	clear(o.list[at : hi+1])
	for len(o.list) > 0 && o.list[len(o.list)-1] == nil {
		o.list = o.list[:len(o.list)-1]
	}
	for _, op := range b.ops {
		o.of[op] = b
	}
}

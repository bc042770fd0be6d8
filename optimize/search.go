package optimize

import (
	"cmp"
	"slices"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// block is a group of operations being grown, and the fusers that accepted all
// of them.
type block struct {
	id    int
	ops   []int // ascending; what the fusers took along is in the entries
	alive []entry
	preds []int // operations, some within the block, that its operations follow
	value value // of the best fuser
	alias bool  // a view, merged operation or created tensor that no block computes

	at           int // place in the running order
	mark, member int // epochs of searches
}

// entry is a fuser that holds a block.
type entry struct {
	fuser   fuser.Fuser
	factory int
	views   []int // views of tensors outside the block that it reads through, and created tensors it makes anew
}

// value is what a block gains with its best fuser.
type value struct {
	score float64
	ready bool
}

// search grows the blocks of a segment.
type search struct {
	*work
	d   *dag
	p   *Planner
	g   *fuser.Graph
	o   order
	ids int
	// unstorable is, by tensor, what a fuser could not store when only the size
	// of the recipe asked for it.
	unstorable []bool
}

func newSearch(w *work, d *dag, p *Planner) *search {
	return &search{work: w, d: d, p: p, g: p.graph(w), unstorable: make([]bool, len(w.seg.Tensors)), o: order{of: make([]*block, len(w.ops)), window: p.opts.Window}}
}

// run offers every operation, in recorded order, to the blocks it could join.
func (s *search) run() {
	for i := range s.ops {
		switch {
		case s.merged[i]:
			// Computed by another operation; at most an alias.
			s.place(&block{ops: []int{i}, alias: true, preds: s.mergedPreds(i)})
		case !s.computed(i):
		case s.isView(i), s.g.Remade(i):
			if !s.isView(i) || !s.growThrough(i) {
				s.place(&block{ops: []int{i}, alias: true, preds: s.preds(i)})
			}
		default:
			s.grow(i)
		}
	}
	s.log.Steps = s.o.steps
}

func (s *search) place(b *block) *block {
	s.ids++
	b.id = s.ids
	s.o.append(b)
	return b
}

// owned reports whether a view belongs to the block of its producer.
func (s *search) owned(op int) bool { return s.o.of[op] != nil && !s.o.of[op].alias }

// preds returns the operations that run before op: the producers of its
// operands, looked at through views of no block, and readers of what it
// overwrites. Created tensors wait for nothing and are not among them.
func (s *search) preds(op int) []int {
	out := slices.Clone(s.d.before[op])
	for _, in := range s.ops[op].Inputs {
		if _, base := s.d.chain(in.ID, s.owned); s.producer[base] >= 0 && !s.g.Remade(s.producer[base]) {
			out = append(out, s.producer[base])
		}
	}
	return out
}

func (s *search) mergedPreds(op int) []int {
	if _, base := s.d.chain(s.same[s.ops[op].Outputs[0].ID], s.owned); s.producer[base] >= 0 {
		return []int{s.producer[base]}
	}
	return nil
}

// grow puts an operation into the best block of its producers, merging more of
// them when that gains more, or into a block of its own.
func (s *search) grow(op int) {
	preds := s.preds(op)
	around := s.producers(op)
	alone := 0.0
	if len(around) > 0 {
		alone = s.alone(op)
	}
	var best *trial
	for _, b := range around {
		if t := s.try([]*block{b}, op, preds, alone); t != nil && t.better(best) {
			best = t
		}
	}
	if best != nil {
		for _, b := range around {
			if slices.Contains(best.set, b) {
				continue
			}
			if t := s.try(append(slices.Clip(best.set), b), op, preds, alone); t != nil && (t.better(best) || s.p.off[string(RuleNoGain)]) {
				best = t
			}
		}
		s.join(best, op)
		return
	}
	b := s.place(&block{ops: []int{op}, preds: preds})
	b.alive = s.offer(s.fresh(), op, nil, b.id)
	b.value = s.best(b.alive)
	s.log.add(Decision{Event: EventJoin, Op: op, Block: b.id})
}

// alone returns what an operation saves by itself: the launches of created
// tensors that it makes anew.
func (s *search) alone(op int) float64 {
	if along, _ := s.along(op, nil, nil); !slices.ContainsFunc(along, s.g.Remade) {
		return 0
	}
	score := 0.0
	for _, e := range s.fresh() {
		if next, v := s.offerTo(e, op, nil); v.Accepted {
			if p := next.fuser.Properties(); p.Ready {
				score = max(score, p.Score)
			}
		}
	}
	return score
}

// growThrough offers a view that can be undone to the block that computes its
// input, so that the block stores through it. That pays only if the input
// itself need not be stored.
func (s *search) growThrough(op int) bool {
	switch s.ops[op].Kind {
	case ir.Permute, ir.Reshape, ir.Flip:
	default:
		return false
	}
	t := s.ops[op].Inputs[0].ID
	p := s.producer[t]
	if p < 0 || s.o.of[p] == nil || s.o.of[p].alias || s.wanted[t] || len(s.consumers[t]) != 1 {
		return false
	}
	b := s.o.of[p]
	trial := s.try([]*block{b}, op, s.preds(op), 0)
	if trial == nil {
		return false
	}
	s.join(trial, op)
	return true
}

// producers returns the blocks that op could join and that have a fuser, by
// position: those that compute its operands or, as feeders and siblings do, read
// for it or with it.
func (s *search) producers(op int) []*block {
	var out []*block
	for _, b := range append(s.feeders(op), s.siblings(op)...) {
		if len(b.alive) > 0 && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b *block) int { return cmp.Compare(a.ops[0], b.ops[0]) })
	return out
}

// fresh returns an empty fuser of each factory.
func (s *search) fresh() []entry {
	out := make([]entry, len(s.p.factories))
	for i, f := range s.p.factories {
		out[i] = entry{fuser: f.New(s.g, &s.p.profile), factory: i}
	}
	return out
}

// best returns the value of the best of the fusers: a ready one if there is.
func (s *search) best(alive []entry) value {
	var out value
	for i, e := range alive {
		p := e.fuser.Properties()
		if v := (value{p.Score, p.Ready}); i == 0 || v.better(out) {
			out = v
		}
	}
	return out
}

func (v value) better(than value) bool {
	if v.ready != than.ready {
		return v.ready
	}
	return v.score > than.score
}

// trial is a merge of blocks with one more operation that all took part of
// accepted.
type trial struct {
	set    []*block
	before []*block // see order.between
	alive  []entry
	value  value
	gain   float64 // against leaving the blocks and the operation apart
}

func (t *trial) better(than *trial) bool { return than == nil || t.gain > than.gain }

// try merges the blocks of the set and offers op, which saves so much alone, to
// the result. It returns nil when that is not legal, accepted by no fuser, or
// gains nothing.
func (s *search) try(set []*block, op int, preds []int, alone float64) *trial {
	d := Decision{Event: EventRefuse, Op: op, Block: set[0].id}
	if len(set) > 1 {
		d.From = set[len(set)-1].id
	}
	refuse := func(rule Rule, detail string) *trial {
		d.Rule, d.Detail = string(rule), detail
		s.log.add(d)
		return nil
	}
	if limit := s.p.profile.MaxOps; limit > 0 && size(set)+1 > limit && !s.p.off[string(RuleTooLong)] {
		return refuse(RuleTooLong, "")
	}
	before, rule := s.o.between(set, preds)
	if rule == "" {
		rule = s.effectsFit(set, op)
	}
	if rule != "" {
		return refuse(rule, describe(set))
	}
	t := &trial{set: set, before: before, alive: set[0].alive}
	ops := set[0].ops
	for _, b := range set[1:] {
		if t.alive = s.combine(set[0].id, ops, t.alive, b); len(t.alive) == 0 {
			return refuse(RuleMerge, "no fuser accepts the operations of both blocks")
		}
		ops = union(ops, b.ops)
	}
	if t.alive = s.offer(t.alive, op, ops, set[0].id); len(t.alive) == 0 {
		return nil
	}
	t.value = s.best(t.alive)
	t.gain = t.value.score - alone
	for _, b := range set {
		t.gain -= b.value.score
		if b.value.ready && b.value.score > 0 && !t.value.ready && !s.p.off[string(RuleNotReady)] {
			return refuse(RuleNotReady, "")
		}
	}
	if s.p.off[string(RuleNoGain)] || t.gain > 0 || t.gain == 0 && s.isView(op) {
		return t
	}
	return refuse(RuleNoGain, scores(t, alone))
}

// combine offers the operations of two blocks, in recorded order, to fusers of
// every kind that holds both: alive holds ops.
func (s *search) combine(into int, ops []int, alive []entry, b *block) []entry {
	var out []entry
	all := union(ops, b.ops)
	for _, x := range alive {
		i := slices.IndexFunc(b.alive, func(y entry) bool { return x.factory == y.factory })
		if i < 0 {
			continue
		}
		y, from, in := b.alive[i], x, ops
		if b.ops[0] < ops[0] {
			from, in = y, b.ops
		}
		e, v := s.replay(from, in, all, union(x.views, y.views))
		if v.Accepted {
			out = append(out, e)
		} else {
			s.log.add(Decision{Event: EventRefuse, Op: b.ops[0], Block: into, From: b.id, Fuser: s.p.factories[x.factory].Name, Rule: string(v.Rule), Detail: v.Detail})
		}
	}
	return out
}

// effectsFit refuses a block with an in-place effect and an operation that
// reads a version it has written over. Whether a block may read what it then
// writes over is for fusers to say: they know in which order.
func (s *search) effectsFit(set []*block, op int) Rule {
	in := func(i int) bool { return i == op || slices.Contains(set, s.o.of[i]) }
	for _, b := range set {
		for _, i := range b.ops {
			if slices.ContainsFunc(s.d.apart[i], in) {
				return RuleOldVersion
			}
		}
	}
	if slices.ContainsFunc(s.d.apart[op], in) {
		return RuleOldVersion
	}
	return ""
}

// join makes a trial final.
func (s *search) join(t *trial, op int) {
	b := &block{id: t.set[0].id, ops: []int{op}, alive: t.alive, value: t.value, preds: s.preds(op)}
	for i, x := range t.set {
		b.ops = union(b.ops, x.ops)
		b.preds = append(b.preds, x.preds...)
		if i > 0 {
			s.log.add(Decision{Event: EventMerge, Op: op, Block: b.id, From: x.id})
		}
	}
	slices.Sort(b.preds)
	b.preds = slices.DeleteFunc(slices.Compact(b.preds), func(p int) bool { return contains(b.ops, p) })
	s.o.merge(t.set, t.before, b)
	s.log.add(Decision{Event: EventJoin, Op: op, Block: b.id, Score: t.value.score})
}

func size(set []*block) int {
	n := 0
	for _, b := range set {
		n += len(b.ops)
	}
	return n
}

// union joins two ascending lists; what is in both is in the result once.
func union(a, b []int) []int {
	out := make([]int, 0, len(a)+len(b))
	out = append(append(out, a...), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

func contains(ascending []int, op int) bool {
	_, ok := slices.BinarySearch(ascending, op)
	return ok
}

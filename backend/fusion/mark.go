package fusion

import "github.com/sinter-ml/sinter/ir"

// flags is what is known of a segment's outputs before planning, by position.
type flags struct {
	asked   []bool // to be stored: read, kept, saved, asked for late before, or used by the rest of the queue
	dead    []bool // nobody can ask for it afterwards
	inPlace []bool // effects: written over the old version's memory
	forced  []bool // effects: nothing can still ask for the old version, so nothing of it is kept
}

func (f *flags) resize(n int) {
	f.asked, f.dead = grow(f.asked, n), grow(f.dead, n)
	f.inPlace, f.forced = grow(f.inPlace, n), grow(f.forced, n)
}

// grow returns s with length n, all zero, keeping its memory.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	s = s[:n]
	clear(s)
	return s
}

// mark fills the flags of the first n operations of the queue.
func (s *Stream) mark(f *flags, n int) {
	q := &s.queue
	effects := false
	for i, nd := range q.nodes[:n] {
		v := nd.out
		f.dead[i] = v.over()
		f.asked[i] = v.asked || !f.dead[i] && (v.kept || s.rt.late.has(v.hash))
		effects = effects || nd.v != nil
	}
	if n < len(q.nodes) {
		made := make([]int32, len(q.tensors)) // by relative id: 1 + the position before the cut that makes it
		for i, nd := range q.nodes[:n] {
			made[nd.out.rel] = int32(i + 1)
		}
		for i := n; i < len(q.nodes); i++ {
			for _, r := range q.operands(i) {
				if at := made[r]; at > 0 && q.nodes[at-1].v == nil { // versions are stored anyway
					f.asked[at-1], f.dead[at-1] = true, false
				}
			}
		}
	}
	if effects {
		s.markEffects(f, n)
	}
}

// readers is what the queue says about who can ask for a version of a Var, by
// relative id.
type readers struct {
	of     []int32 // 1 + the version a tensor is, or is a view of; 0: none
	last   []int32 // versions: 1 + the last position that reads it, itself or through views
	living []bool  // versions: a living result was computed from it, itself or through views
	feeds  []bool  // a recipe may start from it: of a living value, reached through dead ones, that need not be stored
	older  []bool  // versions made in the queue: an older one that can be asked for is rebuilt from it
}

// markEffects decides which effects nothing can still ask for the old version
// of: neither a handle, nor a queued reader after the effect, nor a living
// value made from it, nor a recipe of an earlier segment, nor an older version
// that is rebuilt from it. Such a Set is written in place; such a SetSlice,
// SetSelect or ScatterAdd keeps nothing of what it overwrites.
func (s *Stream) markEffects(f *flags, n int) {
	q := &s.queue
	r := &s.readers
	m := len(q.tensors)
	r.of, r.last, r.older = grow(r.of, m), grow(r.last, m), grow(r.older, m)
	r.living, r.feeds = grow(r.living, m), grow(r.feeds, m)
	for t, v := range q.tensors {
		if v.version != nil {
			r.of[t] = int32(t + 1)
		}
	}
	for i, nd := range q.nodes {
		in := q.operands(i)
		if nd.v != nil {
			in = in[1:]
		}
		for _, t := range in {
			if of := r.of[t]; of > 0 {
				r.last[of-1] = int32(i + 1)
				if i < n && nd.v == nil && !f.dead[i] {
					r.living[of-1] = true
				}
			}
		}
		if ir.Lookup(nd.op.Kind).Class == ir.ClassView {
			r.of[nd.out.rel] = r.of[in[0]]
		}
	}
	for i := n - 1; i >= 0; i-- {
		out := q.nodes[i].out.rel
		if q.nodes[i].v != nil || f.dead[i] && !r.feeds[out] || !f.dead[i] && f.asked[i] {
			continue
		}
		for _, t := range q.operands(i) {
			r.feeds[t] = true
		}
	}
	for i, nd := range q.nodes[:n] {
		if nd.v == nil {
			continue
		}
		old := q.operands(i)[0]
		ver := nd.in[0].version
		asks := ver.asks()
		if q.reads[old] {
			asks-- // this segment itself
		}
		kept := asks > 0 || int(r.last[old]) > i+1 || r.living[old] || r.feeds[old] || r.older[old]
		f.forced[i] = !kept
		f.inPlace[i] = (!kept || nd.op.Kind != ir.Set) && !nd.in[0].is(Failed)
		r.older[nd.out.rel] = kept && nd.op.Kind != ir.Set && (asks > 0 || r.last[old] > 0 || r.older[old])
	}
}

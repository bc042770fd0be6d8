package fusion

import (
	"context"

	"github.com/sinter-ml/sinter/ir"
)

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

// drain executes the first upto operations of the queue. Failures stay with
// the values and the stream's unreported errors. The lock is held.
func (s *Stream) drain(ctx context.Context, upto int) {
	if upto == 0 {
		return
	}
	e := s.executor()
	defer s.release(e)
	all := s.queue.nodes
	e.flags.resize(upto)
	s.mark(&e.flags, all, upto)

	if upto == len(all) {
		s.queue, e.seg = e.seg, s.queue
		s.seg++
		e.run(ctx)
		e.seg.reset()
		return
	}
	// A cut: both parts are numbered anew.
	nodes := append([]*node(nil), all...)
	old := s.queue
	s.queue = e.seg
	e.seg = segment{}
	e.seg.init()
	s.seg++
	for _, n := range nodes[:upto] {
		e.seg.add(n, s.seg)
	}
	e.run(ctx)
	e.seg.reset()
	s.seg++
	for _, n := range nodes[upto:] {
		n.out.hash = structuralHash(n, s)
		s.queue.add(n, s.seg)
		n.out.seg = s.seg
	}
	old.reset()
}

// mark fills the flags of the first n operations of the queue.
func (s *Stream) mark(f *flags, q []*node, n int) {
	effects := false
	for i, nd := range q[:n] {
		v := nd.out
		f.dead[i] = v.dead()
		f.asked[i] = v.asked || s.rt.late.has(v.hash)
		effects = effects || nd.v != nil
	}
	if n < len(q) {
		at := make(map[*Value]int, n)
		for i, nd := range q[:n] {
			at[nd.out] = i
		}
		for _, nd := range q[n:] {
			for _, in := range nd.in {
				if i, ok := at[in]; ok {
					f.asked[i], f.dead[i] = true, false
				}
			}
		}
	}
	if effects {
		s.markEffects(f, q, n)
	}
}

// markEffects decides which effects nothing can still ask for the old version
// of. Such a Set is written in place; such a SetSlice, SetSelect or ScatterAdd
// keeps nothing of what it overwrites.
func (s *Stream) markEffects(f *flags, q []*node, n int) {
	type reader struct {
		last   int  // position of the last operation that reads the version
		living bool // an output of one of them can still be asked for
	}
	readers := make(map[*Value]reader)
	for i, nd := range q {
		in := nd.in
		if nd.v != nil {
			in = in[1:]
		}
		for _, v := range in {
			if v.version == nil {
				continue
			}
			r := readers[v]
			r.last = i
			if nd.v == nil && (i >= n || !nd.out.dead()) {
				r.living = true
			}
			readers[v] = r
		}
	}
	for i, nd := range q[:n] {
		if nd.v == nil {
			continue
		}
		old := nd.in[0]
		ver := old.version
		others := ver.readers.Load()
		if _, input := s.queue.inputs[old]; input {
			others-- // this segment itself
		}
		r, read := readers[old]
		f.forced[i] = ver.handles.Load() == 0 && ver.recipes.Load() == 0 && others == 0 &&
			!ver.keeps && !(read && (r.living || r.last > i))
		f.inPlace[i] = f.forced[i] || nd.op.Kind != ir.Set
		if old.is(Failed) {
			f.inPlace[i] = false
		}
	}
}

// materialise makes v, pending or virtual on s, stored. No lock is held.
func (s *Stream) materialise(v *Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ask(context.Background(), v)
}

// ask makes v stored or failed and returns its failure. The lock is held.
func (s *Stream) ask(ctx context.Context, v *Value) *failure {
	if v.is(Pending) {
		v.asked = true
		s.drain(ctx, len(s.queue.nodes))
	}
	if v.is(Virtual) {
		s.late(v)
	}
	if v.is(Failed) {
		return v.fail
	}
	return nil
}

package fusion

import (
	"context"
)

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
	s.mark(&e.flags, upto)

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
	e.seg.init(s)
	s.seg++
	for _, n := range nodes[:upto] {
		e.seg.add(n, s.seg)
	}
	e.run(ctx)
	e.seg.reset()
	s.seg++
	for _, n := range nodes[upto:] {
		for _, v := range n.in {
			if v.is(Virtual) && v.home == s {
				_ = s.late(v) // held views: what fails stays with the value
			}
		}
		n.out.hash = structuralHash(n, s)
		s.queue.add(n, s.seg)
		n.out.seg = s.seg
	}
	old.reset()
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
	v.used()
	if v.is(Failed) {
		return v.fail
	}
	return nil
}

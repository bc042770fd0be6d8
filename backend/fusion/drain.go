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
	s.stats.drains.Add(1)
	if s.profiles != nil {
		defer s.drained()
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
		s.recycle(e.seg.nodes)
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

// maxSpare bounds the nodes a stream keeps for reuse.
const maxSpare = 4096

// recycle keeps the nodes of an executed segment for later operations. A
// virtual output's recipe leads along nodes; then all of them stay. Versions of
// Vars belong to whoever locks the content: settle took their nodes from them.
func (s *Stream) recycle(nodes []*node) {
	for _, n := range nodes {
		if n.out.is(Virtual) {
			return
		}
	}
	for _, n := range nodes {
		if n.v == nil {
			n.out.node = nil
		}
		if len(s.spare) == maxSpare {
			return
		}
		*n = node{}
		s.spare = append(s.spare, n)
	}
}

// node returns an empty node.
func (s *Stream) node() *node {
	last := len(s.spare) - 1
	if last < 0 {
		return new(node)
	}
	n := s.spare[last]
	s.spare[last] = nil // nothing else may keep what it names
	s.spare = s.spare[:last]
	return n
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

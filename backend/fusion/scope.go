package fusion

import (
	"context"
	"slices"
)

// Scope bounds the life of what is recorded in it: when it ends, everything
// made in it that was not kept is dead, exactly, whatever the collector does.
type Scope struct {
	s       *Stream
	born    uint64
	made    []*Value
	handles []*Value // Value() handles taken in it
	keep    map[*Value]struct{}
	first   uint64 // number of the stream's next failure when it began
	ended   bool
}

// Stream returns the stream of the scope.
func (sc *Scope) Stream() *Stream { return sc.s }

func (s *Stream) innermost() *Scope {
	if n := len(s.scopes); n > 0 {
		return s.scopes[n-1]
	}
	return nil
}

// Begin opens a scope on the stream, inside the one that is open.
func (s *Stream) Begin() *Scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc := &Scope{s: s, born: nextBirth.Add(1), first: s.failures}
	s.scopes = append(s.scopes, sc)
	return sc
}

func (sc *Scope) add(v *Value) {
	v.scope = sc
	sc.made = append(sc.made, v)
}

// Keep makes v, which was made in this scope or in one open inside it, survive
// into the scope around this one, or for good.
func (sc *Scope) Keep(v *Value) {
	s := sc.s
	if v.is(Unplaced) {
		s.lockWith([]*Value{v})
	} else {
		s.mu.Lock()
	}
	defer s.unlock()
	if sc.ended || v.dead() {
		return
	}
	var made *Scope
	switch {
	case v.handle != nil:
		s.claim(v)
		made = v.handle.scope.Load()
	case v.home == s:
		made = v.scope
	}
	from, to := slices.Index(s.scopes, sc), slices.Index(s.scopes, made)
	if made == nil || to < from {
		return // it does not end with this scope
	}
	for _, x := range s.scopes[from : to+1] {
		if x.keep == nil {
			x.keep = make(map[*Value]struct{})
		}
		x.keep[v] = struct{}{}
	}
	v.kept = true
}

// End ends the scope: what was made in it and not kept is dead. The end of the
// outermost scope executes what is queued. It returns the first error nobody
// was told of. Scopes opened inside and still open end with it.
func (sc *Scope) End(ctx context.Context) error {
	ctx = given(ctx)
	pc := callSite(0)
	s := sc.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if sc.ended {
		return nil
	}
	var made []*Value
	for !sc.ended {
		made = append(made, s.endInnermost(pc)...)
	}
	freeDead(made) // before the drain, which may take their memory
	if len(s.scopes) == 0 {
		s.drain(ctx, len(s.queue.nodes))
	}
	freeDead(made)
	return s.takeErrorSince(sc.first)
}

func freeDead(made []*Value) {
	for _, v := range made {
		if v.dead() && !v.is(Pending) {
			v.letGo()
		}
	}
}

// endInnermost marks deaths and returns what the scope made.
func (s *Stream) endInnermost(pc uintptr) []*Value {
	n := len(s.scopes) - 1
	sc := s.scopes[n]
	s.scopes[n] = nil // it holds what was made in it
	s.scopes = s.scopes[:n]
	sc.ended = true
	outer := s.innermost()
	d := &death{pc: pc, scope: true}
	for _, v := range sc.made {
		if _, ok := sc.keep[v]; !ok {
			v.death.CompareAndSwap(nil, d)
			continue
		}
		v.scope = outer
		if outer != nil {
			outer.made = append(outer.made, v)
		}
	}
	for _, h := range sc.handles {
		if _, ok := sc.keep[h]; !ok {
			if h.death.CompareAndSwap(nil, d) {
				h.handle.of.version.unask()
			}
		} else if outer != nil {
			h.handle.scope.Store(outer)
			outer.handles = append(outer.handles, h)
		}
	}
	return sc.made
}

// Release ends v at once: it can no longer be used, and what only it needed is
// not computed or is freed. Releasing twice is harmless.
func (v *Value) Release(pc uintptr) { v.end(&death{pc: pc}) }

// Outdate is Release of a graph's output that the next replay replaces.
func (v *Value) Outdate() { v.end(replayed) }

func (v *Value) end(d *death) {
	if v.handle != nil {
		if v.death.CompareAndSwap(nil, d) {
			v.handle.of.version.unask()
		}
		return
	}
	if v.is(Unplaced) && v.drop(d) {
		return
	}
	if v.home != nil {
		v.home.mu.Lock()
		defer v.home.mu.Unlock()
	}
	if !v.death.CompareAndSwap(nil, d) {
		return
	}
	if !v.is(Pending) && !v.is(Failed) {
		v.letGo()
	}
}

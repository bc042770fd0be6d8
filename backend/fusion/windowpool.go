package fusion

import "github.com/sinter-ml/sinter/backend"

// A pass allocates from the window's pool. What outlives it must not lie there:
// replays of other graphs, captured before, write where the pool has memory to
// give now.

// outlives makes allocations on s those of outside, until the function it
// returns is called, if a pass runs and they are for v, from before the window,
// or for a Var if v is nil. In a recording none is left to do: addresses are fixed
// and nobody outside holds a version.
func (s *Stream) outlives(v *Value) (back func()) {
	w := s.window
	if w == nil || !w.running.Load() || w.recording || v != nil && v.id > w.born {
		return func() {}
	}
	return s.usePool(w)
}

// persists does so for what replays find as the last left it, outputs and host
// data. A pool of one graph's own has room for them.
func (s *Stream) persists() (back func()) {
	w := s.window
	if w == nil || !w.running.Load() || w.pool.private {
		return func() {}
	}
	return s.usePool(w)
}

func (s *Stream) usePool(w *Window) (back func()) {
	outside := w.outer
	if s.rt.persistent.Load() > 0 {
		outside = backend.Persistent
	}
	pool := s.rt.dev.UsePool(s.id, outside)
	return func() { s.rt.dev.UsePool(s.id, pool) }
}

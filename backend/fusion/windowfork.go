package fusion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/ir"
)

// member is a stream that takes part in a pass because it waited for one that
// does.
type member struct {
	s     *Stream
	scope *Scope
	outer backend.Pool // the pool in use outside the pass
	born  ir.TensorID  // tensors with greater ids were made since it joined
	pc    uintptr      // of the call that made it wait
}

// Wait makes work recorded on s from now on wait for what is recorded on other,
// which is submitted. If other takes part in a capture, s does from now on, until
// the pass ends; the captured stream must wait for it before.
func (s *Stream) Wait(ctx context.Context, other *Stream) error {
	ctx = given(ctx)
	if other == nil || other.rt != s.rt {
		return s.OpError("Wait", nil, &ir.ArgumentError{Msg: "the stream to wait for is nil or of another device"})
	}
	if other == s {
		return nil
	}
	pc := callSite(0)
	other.mu.Lock()
	other.drain(ctx, len(other.queue.nodes))
	w, closed := other.window, other.closed
	other.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.waitFor(ctx, other, w, pc)
	if closed || s.closed || s.rt.closed.Load() {
		err = &ClosedError{"stream"}
	}
	if err != nil {
		return s.OpError("Wait", nil, err)
	}
	return nil
}

func (s *Stream) waitFor(ctx context.Context, other *Stream, w *Window, pc uintptr) error {
	switch {
	case w == nil && s.window == nil || w != nil && s.window == w:
	case s.window == nil:
		s.drain(ctx, len(s.queue.nodes)) // what is queued is not of the capture
	case w == nil:
		return &backend.CaptureError{Reason: backend.CaptureIsolation, Op: streamName(other)}
	default:
		return &backend.CaptureError{Reason: backend.CaptureMerge, Op: streamName(other)}
	}
	if w != nil && !w.running.Load() {
		return &backend.CaptureError{Reason: "a capture is open on " + streamName(other) + ", between passes"}
	}
	if w != nil {
		return w.join(s, other, pc)
	}
	return s.rt.dev.Wait(s.id, other.id)
}

// join lets s, locked, wait for other in the window.
func (w *Window) join(s, other *Stream, pc uintptr) error {
	if err := w.follow(s, other); err != nil || s.window == w {
		return err
	}
	m := member{s: s, scope: &Scope{s: s, born: nextBirth.Add(1), first: s.failures}, outer: s.rt.dev.UsePool(s.id, w.pool.id),
		born: ir.TensorID(nextID.Load()), pc: pc}
	s.scopes = append(s.scopes, m.scope)
	s.window = w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.members = append(w.members, m)
	return nil
}

// follow makes work on s wait for that on other, both of the pass.
func (w *Window) follow(s, other *Stream) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.forks.Join(s.id, other.id); err != nil {
		return w.named(err)
	}
	if err := s.rt.dev.Wait(s.id, other.id); err != nil {
		return err
	}
	if w.recording && w.drawing != nil {
		w.drawing.follow(s.id, other.id)
	}
	return nil
}

// has reports whether a value was recorded on a stream that took part then.
func (w *Window) has(v *Value) bool {
	if v.home == w.s {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.members, func(m member) bool { return m.s == v.home && v.id > m.born })
}

// named says of which stream an error about forks speaks, and where it joined.
func (w *Window) named(err error) error {
	var c *backend.CaptureError
	if !errors.As(err, &c) || c.Stream == 0 {
		return err
	}
	for _, m := range w.members {
		if m.s.id == c.Stream {
			c.Op = streamName(m.s)
			if at := ir.Position(m.pc); at != "" {
				c.Op += ", joined at " + at
			}
		}
	}
	return err
}

func streamName(s *Stream) string { return fmt.Sprintf("stream %d", s.id) }

// others returns the streams that take part beside the window's own.
func (w *Window) others() []member {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.members)
}

// settleMembers ends the pass on the streams that joined it.
func (w *Window) settleMembers(ctx context.Context) (err error) {
	for _, m := range w.others() {
		m.s.mu.Lock()
		for !m.scope.ended {
			m.s.endInnermost(0)
		}
		m.s.drain(ctx, len(m.s.queue.nodes))
		if e := m.s.takeErrorSince(m.scope.first); err == nil {
			err = e
		}
		m.s.mu.Unlock()
	}
	return err
}

// releaseMembers lets the streams that joined the pass go, which is over. What
// others recorded on them since is executed.
func (w *Window) releaseMembers(ctx context.Context) {
	for _, m := range w.others() {
		m.s.mu.Lock()
		m.s.drain(ctx, len(m.s.queue.nodes))
		w.release(m)
		m.s.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.members = nil
}

// abandonMembers lets the streams go that joined a pass which is abandoned.
func (w *Window) abandonMembers(unrun bool) {
	for _, m := range w.others() {
		m.s.mu.Lock()
		for !m.scope.ended {
			m.s.endInnermost(0)
		}
		m.s.giveUp(unrun)
		_ = m.s.takeErrorSince(m.scope.first)
		w.release(m)
		m.s.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.members = nil
}

// release lets a member, locked, go.
func (w *Window) release(m member) {
	freeDead(m.scope.made)
	m.s.rt.dev.UsePool(m.s.id, m.outer)
	m.s.window = nil
}

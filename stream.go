package sinter

import (
	"context"

	"github.com/sinter-ml/sinter/backend/fusion"
)

// Placer says where a tensor is made: on a device's default stream, on a
// stream, or in a scope.
type Placer interface{ place() *fusion.Stream }

// Stream is an ordered sequence of operations. Operations record on the stream
// of their operands. A stream may be used from several goroutines; work on
// different streams runs side by side. Scopes belong to the stream, not to a
// goroutine: goroutines that open scopes need a stream each, such as
// [Device.Scope] gives them.
type Stream struct{ s *fusion.Stream }

func (s *Stream) place() *fusion.Stream { return s.Runtime() }

// Runtime returns the stream below, nil of no stream; for extenders.
func (s *Stream) Runtime() *fusion.Stream {
	if s == nil {
		return nil
	}
	return s.s
}

// StreamOf wraps a stream of the runtime; for extenders.
func StreamOf(s *fusion.Stream) *Stream { return &Stream{s: s} }

// Flush submits what is queued and returns the first error nobody was told of.
// Cancelling ctx skips what was not yet sent to the device; tensors that needed
// it carry the context's error.
func (s *Stream) Flush(ctx context.Context) error {
	if s.Runtime() == nil {
		return errNoPlace
	}
	return s.s.Flush(ctx)
}

// Sync submits what is queued, waits until it has run, and returns the first
// error nobody was told of.
func (s *Stream) Sync(ctx context.Context) error {
	if s.Runtime() == nil {
		return errNoPlace
	}
	return s.s.Sync(ctx)
}

// Close runs what is queued and closes the stream. Its tensors stay readable.
func (s *Stream) Close() error {
	if s.Runtime() == nil {
		return errNoPlace
	}
	return s.s.Close()
}

// Scope bounds the life of the tensors made in it; see [Stream.Scope].
type Scope struct {
	sc *fusion.Scope
}

func (sc *Scope) place() *fusion.Stream {
	if sc == nil || sc.sc == nil {
		return nil
	}
	return sc.sc.Stream()
}

// Stream returns the stream of the scope.
func (sc *Scope) Stream() *Stream {
	s := sc.place()
	if s == nil {
		return nil
	}
	return &Stream{s: s}
}

// Keep makes t survive the scope, into the scope around it or for good, and
// returns t.
func (sc *Scope) Keep(t *Tensor) *Tensor {
	if v := t.val(); v.Runtime() != nil && sc.place() != nil {
		sc.sc.Keep(v)
	}
	return t
}

// Scope runs f. When it returns, every tensor made on the stream since, and
// every Var handle taken, is dead unless kept: it is not computed if nothing
// needs it, and its memory is free at once. The end of an outermost scope runs
// what is queued. Scope returns f's error, else the first error of an
// operation inside. If f panics, what it made is freed and the panic goes on.
func (s *Stream) Scope(f func(*Scope) error) (err error) {
	switch {
	case s.Runtime() == nil:
		return errNoPlace
	case f == nil:
		return errNoFunction
	}
	sc := &Scope{sc: s.s.Begin()}
	ctx := context.Background()
	done := false
	defer func() {
		if !done { // f panicked: free what it made, and let the panic go on
			_ = sc.sc.End(ctx)
		}
	}()
	err = f(sc)
	done = true
	if end := sc.sc.End(ctx); err == nil {
		err = end
	}
	return err
}

package sinter

import "context"

// Wait makes work recorded on s from now on wait for what is recorded on other,
// which is submitted: an order between streams that no tensor expresses.
//
// In a capture of package graphapi it forks and joins: a stream that waits for
// one that takes part in the capture takes part from then on, until the captured
// function returns. Before it does, the stream it was called with must wait for
// every stream that took part, or the capture fails with a *CaptureError that
// names the stream. A capture and work outside it cannot wait for each other.
func (s *Stream) Wait(ctx context.Context, other *Stream) error {
	if s.Runtime() == nil {
		return errNoPlace
	}
	return s.s.Wait(ctx, other.place())
}

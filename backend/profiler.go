package backend

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Span is when a launch or a replay ran.
type Span struct {
	Start, End time.Time
	// Parts are the launches of a replay in the order they ran, nil if the
	// device cannot tell them apart.
	Parts []Part
}

// Part is when a launch of a replay ran. The body of a condition may run never
// or many times.
type Part struct {
	Launch     int // which of the launches recorded, from 0
	Start, End time.Time
}

// Profiler is a device that can tell when its launches ran.
type Profiler interface {
	// StartTiming notes when each later launch on s runs. Several timings may
	// be open on one stream. Without one, launching costs nothing more.
	StartTiming(s Stream) (Timing, error)
}

// Timing notes when work on a stream ran, in the order it was sent: a span for
// each Launch and each Replay that gave no error. A launch that a capture
// records has not run. The methods may be called from several goroutines, also
// after the device was closed.
type Timing interface {
	// Stop ends it: launches sent later are not noted. It does not wait, and
	// may be called again.
	Stop()
	// Spans waits for the work noted so far and returns when they ran.
	Spans(ctx context.Context) ([]Span, error)
}

// Timings are the timings open on a stream of a device whose work is done when
// a call returns. The zero value has none.
type Timings struct {
	mu   sync.Mutex
	open []*timing
	on   atomic.Bool
}

type timing struct {
	of    *Timings
	spans []Span
}

// Start opens a timing.
func (t *Timings) Start() Timing {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := &timing{of: t}
	t.open = append(t.open, x)
	t.on.Store(true)
	return x
}

// On reports whether a timing is open, so that launches have to be noted.
func (t *Timings) On() bool { return t.on.Load() }

// Note tells the open timings of work that ran.
func (t *Timings) Note(s Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.open {
		x.spans = append(x.spans, s)
	}
}

func (x *timing) Stop() {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	x.of.open = slices.DeleteFunc(x.of.open, func(o *timing) bool { return o == x })
	x.of.on.Store(len(x.of.open) > 0)
}

func (x *timing) Spans(context.Context) ([]Span, error) {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	return slices.Clone(x.spans), nil
}

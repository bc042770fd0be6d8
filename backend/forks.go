package backend

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Forks keeps book of a recording for a device: which streams take part, what
// each waits for, and which body is being recorded. Its methods may be called
// from several goroutines.
type Forks struct {
	mu     sync.Mutex
	origin Stream
	bodies []int // open bodies by number, outermost first; 0 is the recording itself
	last   int
	in     map[Stream]int            // the body in which a stream takes part
	seen   map[Stream]map[Stream]int // how much of each stream's work a stream waits for; of itself: how much there is
	ended  bool
}

// NewForks begins the book of a recording on origin.
func NewForks(origin Stream) *Forks {
	return &Forks{
		origin: origin, bodies: []int{0},
		in: map[Stream]int{origin: 0}, seen: map[Stream]map[Stream]int{origin: {}},
	}
}

// Active reports whether the recording has not ended.
func (f *Forks) Active() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.ended
}

// Origin reports whether the recording began on s.
func (f *Forks) Origin(s Stream) bool { return f.origin == s }

// Work counts a piece of work on s.
func (f *Forks) Work(s Stream) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.in[s] != f.body() {
		return &CaptureError{Reason: CaptureBody, Op: streamName(s), Err: errOtherBody}
	}
	f.seen[s][s]++
	return nil
}

var errUnjoined = errors.New("nothing waits for its work; let the stream of the capture, or of the body, wait for it before the end")

var errOtherBody = fmt.Errorf("it takes no part in the body being recorded; let it wait for the body's stream")

// Join lets s wait for what other, which takes part, has recorded so far; s
// takes part from now on. In a body that is refused if either has work outside
// it that the other does not wait for.
func (f *Forks) Join(s, other Stream) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.in[other] != f.body() && f.seen[other][other] > f.seen[s][other]:
		return &CaptureError{Reason: CaptureBody, Op: streamName(other), Err: errOtherBody}
	case f.in[other] == f.body() && f.in[s] != f.body() && f.seen[s][s] > f.seen[other][s]:
		return f.late(s)
	}
	if f.seen[s] == nil {
		f.seen[s] = map[Stream]int{}
	}
	for x, n := range f.seen[other] {
		f.seen[s][x] = max(f.seen[s][x], n)
	}
	if f.in[other] == f.body() {
		f.in[s] = f.body()
	}
	return nil
}

// Enter begins a body on s.
func (f *Forks) Enter(s Stream) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.in[s] != f.body() {
		return &CaptureError{Reason: CaptureBody, Op: streamName(s), Err: errOtherBody}
	}
	f.last++
	f.bodies = append(f.bodies, f.last)
	f.in[s] = f.last
	return nil
}

// Leave ends the body that s is in, which must wait for all work of the body.
func (f *Forks) Leave(s Stream) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.bodies) == 1 || f.in[s] != f.body() {
		return &CaptureError{Reason: CaptureBody, Op: streamName(s)}
	}
	if err := f.joined(s, func(x Stream) bool { return f.in[x] == f.body() }); err != nil {
		return err
	}
	f.bodies = f.bodies[:len(f.bodies)-1]
	f.in[s] = f.body()
	return nil
}

// End ends the recording. It returns why it is not whole: a body is open, or
// there is work that the origin does not wait for.
func (f *Forks) End() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	if len(f.bodies) > 1 {
		return &CaptureError{Reason: CaptureBody, Op: streamName(f.origin)}
	}
	return f.joined(f.origin, func(Stream) bool { return true })
}

func (f *Forks) body() int { return f.bodies[len(f.bodies)-1] }

// joined names the first of some streams with work that s does not wait for.
func (f *Forks) joined(s Stream, of func(Stream) bool) error {
	var late []Stream
	for x, seen := range f.seen {
		if of(x) && seen[x] > f.seen[s][x] {
			late = append(late, x)
		}
	}
	if len(late) == 0 {
		return nil
	}
	return f.late(slices.Min(late))
}

func (f *Forks) late(s Stream) error {
	return &CaptureError{Reason: CaptureUnjoined, Op: streamName(s), Stream: s, Err: errUnjoined}
}

func streamName(s Stream) string { return fmt.Sprintf("stream %d", s) }

// WaitRecording answers a Wait of s for other of which at least one takes part
// in a recording: a and b are what they take part in, nil if in none.
func WaitRecording(s, other Stream, a, b *Forks) (join bool, err error) {
	switch {
	case b == nil && a == nil:
		return false, nil
	case b == nil:
		return false, &CaptureError{Reason: CaptureIsolation, Op: streamName(other)}
	case a != nil && a != b:
		return false, &CaptureError{Reason: CaptureMerge, Op: streamName(s)}
	}
	err = b.Join(s, other)
	return err == nil, err
}

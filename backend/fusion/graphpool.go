package fusion

import (
	"fmt"
	"sync"

	"github.com/sinter-ml/sinter/backend"
)

// Pool is memory that recordings share: what one uses while it runs the others
// use, too, so they never run at once. What must outlive a replay, outputs and
// what bodies and Vars keep, is each recording's own.
type Pool struct {
	rt      *Runtime
	id      backend.Pool
	private bool // of one recording: closed with it

	mu     sync.Mutex // held by a replay
	window bool       // a capture is open
	uses   int        // recordings
	closed bool
	last   backend.Stream // of the last replay, 0: none
}

// NewPool returns a pool for several recordings.
func (rt *Runtime) NewPool() *Pool {
	return &Pool{rt: rt, id: rt.dev.NewPool()}
}

// Report returns the memory of the pool, and how many recordings use it.
func (p *Pool) Report() (memory backend.PoolReport, recordings int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rt.dev.MemoryReport().Of(p.id), p.uses
}

// open begins a capture in the pool: none of its recordings may run meanwhile.
func (p *Pool) open(rt *Runtime) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.rt != rt:
		return &backend.CaptureError{Reason: "the pool is of another device"}
	case p.closed:
		return &ClosedError{"pool"}
	case p.window:
		return &backend.CaptureError{Reason: "a capture is open in the pool already"}
	}
	p.window = true
	return nil
}

// shut ends a capture, which may have become a recording.
func (p *Pool) shut(recorded bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.window = false
	if recorded {
		p.uses++
	} else if p.private && p.uses == 0 {
		p.end()
	}
}

// run lets a replay run on s, after the one before.
func (p *Pool) run(s *Stream, f func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.window {
		return &backend.CaptureError{Reason: "a capture is open in the graph's pool"}
	}
	if p.last != 0 && p.last != s.id {
		if err := p.rt.dev.Wait(s.id, p.last); err != nil {
			return err
		}
	}
	p.last = s.id
	return f()
}

// release ends a recording's use of the pool.
func (p *Pool) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.uses--
	if p.private {
		p.end()
	}
}

// Close gives the memory back. While recordings use the pool, or a capture is
// open in it, that is a *backend.CaptureError.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil
	case p.window:
		return &backend.CaptureError{Reason: "a capture is open in the pool"}
	case p.uses > 0:
		return &backend.CaptureError{Reason: fmt.Sprintf("the pool is used by %d graphs; close them first", p.uses)}
	}
	p.end()
	return nil
}

// end closes the pool on the device, which takes back buffers that somebody
// still holds when they are freed.
func (p *Pool) end() {
	p.closed = true
	_ = p.rt.dev.ClosePool(p.id)
}

package fusion

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/sinter-ml/sinter/backend"
)

// Storage is a device buffer and a count of those who may still read it: the
// value it was made for, aliases, recipes, pending operations and graphs. When
// the last lets go, the buffer returns to its pool at once; if they were
// merely collected, a cleanup returns it.
type Storage struct {
	rt      *Runtime
	buf     *backend.Buffer
	stream  backend.Stream
	refs    atomic.Int32
	cleanup runtime.Cleanup
	fixed   bool // a graph pins the address
}

// freeing is what a cleanup needs of a Storage; it must not keep it alive.
type freeing struct {
	dev    backend.Device
	stream backend.Stream
	buf    *backend.Buffer
}

func (f freeing) run() { f.dev.Free(f.stream, f.buf) }

// alloc returns storage with one holder.
func (s *Stream) alloc(bytes int) (*Storage, error) {
	buf, err := s.allocBuffer(bytes)
	if err != nil {
		return nil, err
	}
	s.stats.allocations.Add(1)
	st := &Storage{rt: s.rt, buf: buf, stream: s.id}
	st.refs.Store(1)
	if s.window != nil {
		s.window.allocated(st)
	}
	st.cleanup = runtime.AddCleanup(st, freeing.run, freeing{s.rt.dev, s.id, buf})
	return st, nil
}

func (st *Storage) hold() { st.refs.Add(1) }

// tryHold is hold for who may come too late, such as a stream that records an
// operation on a tensor another goroutine releases.
func (st *Storage) tryHold() bool {
	for {
		n := st.refs.Load()
		if n == 0 {
			return false
		}
		if st.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// letGo drops one holder and frees the buffer after the last.
func (st *Storage) letGo() {
	if st.refs.Add(-1) == 0 {
		st.cleanup.Stop()
		st.rt.dev.Free(st.stream, st.buf)
	}
}

// Buffer returns the device buffer.
func (st *Storage) Buffer() *backend.Buffer { return st.buf }

// reclaimWait bounds how long an allocation waits for cleanups to free what a
// collection found.
const reclaimWait = 20 * time.Millisecond

// reclaim gives the cleanups of the collection just made time to run: those of
// an object found by a second collection come after them.
func reclaim() {
	done := make(chan struct{})
	func() {
		last := new(*int)
		runtime.AddCleanup(last, func(c chan struct{}) { close(c) }, done)
	}()
	runtime.GC()
	select {
	case <-done:
	case <-time.After(reclaimWait):
	}
}

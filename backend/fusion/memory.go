package fusion

import (
	"context"
	"errors"
	"runtime"

	"github.com/sinter-ml/sinter/backend"
)

// drainAll executes what is queued on the streams no capture is open on: to
// execute a part of a pass would change its plan. With tell it returns the
// first error nobody was told of; without, failures stay with the values and
// the streams.
func (rt *Runtime) drainAll(ctx context.Context, tell bool) (first error) {
	for _, s := range rt.open() {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.mu.Lock()
		if s.window == nil {
			s.drain(ctx, len(s.queue.nodes))
			if tell && first == nil {
				first = s.takeError()
			}
		}
		s.mu.Unlock()
	}
	return first
}

// MemoryUsage executes what is queued and returns the memory in use.
func (rt *Runtime) MemoryUsage(ctx context.Context) (backend.MemoryUsage, error) {
	r, err := rt.MemoryReport(ctx)
	return r.Usage, err
}

// MemoryReport executes what is queued and returns the memory in use, pool by
// pool.
func (rt *Runtime) MemoryReport(ctx context.Context) (backend.MemoryReport, error) {
	ctx = given(ctx)
	if rt.closed.Load() {
		return backend.MemoryReport{}, &ClosedError{"device " + rt.dev.Name()}
	}
	if err := rt.drainAll(ctx, false); err != nil {
		return backend.MemoryReport{}, err
	}
	return rt.dev.MemoryReport(), nil
}

// Trim executes what is queued, frees what the collector finds unused, and
// gives pooled memory back to the system. It returns how many bytes. While a
// capture is open it is a *backend.CaptureError.
func (rt *Runtime) Trim(ctx context.Context) (int64, error) {
	ctx = given(ctx)
	if rt.closed.Load() {
		return 0, &ClosedError{"device " + rt.dev.Name()}
	}
	for _, s := range rt.open() {
		s.mu.Lock()
		open := s.window != nil
		s.mu.Unlock()
		if open {
			return 0, &backend.CaptureError{Reason: backend.CaptureTrim}
		}
	}
	if err := rt.drainAll(ctx, false); err != nil {
		return 0, err
	}
	runtime.GC()
	reclaim()
	return rt.dev.Trim()
}

// PersistentAllocations runs f. What the device's streams allocate meanwhile,
// and for what f recorded, takes exactly its bytes, from the persistent pool;
// captures keep to their own pools. It returns f's error, else the first error
// nobody was told of.
func (rt *Runtime) PersistentAllocations(f func() error) error {
	if rt.closed.Load() {
		return &ClosedError{"device " + rt.dev.Name()}
	}
	ctx := context.Background()
	_ = rt.drainAll(ctx, false) // what was recorded before is none of it
	rt.persistent.Add(1)
	defer rt.persistent.Add(-1)
	err := f()
	if end := rt.drainAll(ctx, true); err == nil {
		err = end
	}
	return err
}

// allocBuffer allocates on the stream, whose lock is held.
func (s *Stream) allocBuffer(bytes int) (*backend.Buffer, error) {
	dev := s.rt.dev
	if s.rt.persistent.Load() > 0 && s.window == nil {
		pool := dev.UsePool(s.id, backend.Persistent)
		defer dev.UsePool(s.id, pool)
	}
	return dev.Alloc(s.id, bytes)
}

// allocDraining is alloc outside a drain: when memory is short, what is queued
// runs first, which frees what only it holds.
func (s *Stream) allocDraining(bytes int) (*Storage, error) {
	st, err := s.alloc(bytes)
	var short *backend.OutOfMemoryError
	if len(s.queue.nodes) == 0 || s.window != nil || !errors.As(err, &short) {
		return st, err
	}
	s.drain(context.Background(), len(s.queue.nodes))
	return s.alloc(bytes)
}

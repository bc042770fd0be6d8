package cpu

import (
	"errors"
	"fmt"

	"github.com/sinter-ml/sinter/backend"
)

// SetReclaim sets the function that Alloc calls for memory; see
// backend.Reclaimer.
func (d *Device) SetReclaim(f func()) {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	d.mem.reclaim = f
}

// Alloc returns a buffer, aligned to 64 bytes, from the pool s uses.
func (d *Device) Alloc(id backend.Stream, n int) (*backend.Buffer, error) {
	s, err := d.enter(id)
	if err != nil {
		return nil, err
	}
	pool := s.pool
	// The hook frees buffers, perhaps on this stream: nothing may be held.
	d.leave(s)
	b, grew, err := d.mem.alloc(id, pool, n)
	if grew {
		d.markWindow(s)
	}
	return b, d.allocError(err)
}

// AllocHost returns memory like any other: copies here are done when they
// return.
func (d *Device) AllocHost(n int) (*backend.Buffer, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	b, _, err := d.mem.alloc(0, backend.Staging, n)
	return b, d.allocError(err)
}

// allocError names the device in errors that do not stand for themselves.
func (d *Device) allocError(err error) error {
	var oom *backend.OutOfMemoryError
	if err != nil && !errors.As(err, &oom) {
		return d.fail(err)
	}
	return err
}

// markWindow notes that a recording took memory from the system.
func (d *Device) markWindow(s *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.recording(); w != nil {
		w.mu.Lock()
		w.allocated++
		w.mu.Unlock()
	}
}

// Free returns b to its pool. Freeing a buffer twice is reported by the next
// Sync of s. After Close it does nothing.
func (d *Device) Free(id backend.Stream, b *backend.Buffer) {
	if d.open() != nil {
		return
	}
	err := d.mem.free(id, b)
	if err == nil {
		return
	}
	s, unknown := d.stream(id)
	if unknown != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = errors.Join(s.fault, fmt.Errorf("free: %w", err))
}

// NewPool makes a pool of its own.
func (d *Device) NewPool() backend.Pool { return d.mem.newPool() }

// UsePool makes later Allocs on s come from p; an unknown stream or a pool that
// is closed or Staging changes nothing, and the latter is reported by the next
// Sync of s.
func (d *Device) UsePool(id backend.Stream, p backend.Pool) backend.Pool {
	s, err := d.enter(id)
	if err != nil {
		return 0
	}
	defer d.leave(s)
	old := s.pool
	if d.mem.usable(p) {
		s.pool = p
	} else {
		s.fault = errors.Join(s.fault, fmt.Errorf("use of %v, which is closed or for the host", p))
	}
	return old
}

// ClosePool ends a pool that no stream uses.
func (d *Device) ClosePool(p backend.Pool) error {
	if err := d.open(); err != nil {
		return err
	}
	d.mu.Lock()
	streams := make([]*stream, 0, len(d.streams))
	for _, s := range d.streams {
		streams = append(streams, s)
	}
	d.mu.Unlock()
	for _, s := range streams {
		s.mu.Lock()
		used := s.pool == p
		s.mu.Unlock()
		if used && p != 0 {
			return d.fail(fmt.Errorf("%v is used by stream %d", p, s.id))
		}
	}
	if err := d.mem.closePool(p); err != nil {
		return d.fail(err)
	}
	return nil
}

// Trim gives pooled memory back to the system. It is refused while a stream
// records.
func (d *Device) Trim() (int64, error) {
	if err := d.open(); err != nil {
		return 0, err
	}
	if d.windows.Load() > 0 {
		return 0, &backend.CaptureError{Reason: backend.CaptureTrim}
	}
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	return d.mem.trim(), nil
}

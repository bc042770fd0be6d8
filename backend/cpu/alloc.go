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
	var oom *backend.OutOfMemoryError
	if err != nil && !errors.As(err, &oom) {
		return nil, d.fail(err)
	}
	return b, err
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

// UsePool makes later Allocs on s come from p; an unknown pool or stream
// changes nothing, and the first is reported by the next Sync of s.
func (d *Device) UsePool(id backend.Stream, p backend.Pool) backend.Pool {
	s, err := d.enter(id)
	if err != nil {
		return 0
	}
	defer d.leave(s)
	old := s.pool
	if d.mem.hasPool(p) {
		s.pool = p
	} else {
		s.fault = errors.Join(s.fault, fmt.Errorf("use of pool %d, which is closed", p))
	}
	return old
}

// ClosePool gives back the memory of a pool none of whose buffers is in use
// and that no stream uses.
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
			return d.fail(fmt.Errorf("pool %d is used by stream %d", p, s.id))
		}
	}
	if err := d.mem.closePool(p); err != nil {
		return d.fail(err)
	}
	return nil
}

// Memory returns the memory in use now.
func (d *Device) Memory() backend.MemoryUsage { return d.mem.report() }

// Trim gives pooled memory back to the system. It is refused while a stream
// records.
func (d *Device) Trim() error {
	if err := d.open(); err != nil {
		return err
	}
	if d.windows.Load() > 0 {
		return &backend.CaptureError{Reason: backend.CaptureTrim}
	}
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	d.mem.trim()
	return nil
}

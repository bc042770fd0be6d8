package null

import (
	"errors"
	"fmt"

	"github.com/sinter-ml/sinter/backend"
)

// Alloc returns a buffer without memory: Host is nil.
func (d *Device) Alloc(id backend.Stream, n int) (*backend.Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.enter(id)
	var b *backend.Buffer
	switch {
	case err != nil:
	case d.Next(backend.CallAlloc):
		err = &backend.OutOfMemoryError{Bytes: n, Usage: d.mem.usage}
	default:
		var grew bool
		b, grew, err = d.mem.alloc(s.pool, n)
		if w := s.recording(); grew && w != nil {
			w.allocated++
		}
	}
	e := Entry{Call: backend.CallAlloc, Stream: id, Bytes: n, Failed: err != nil}
	if b != nil {
		d.count.Allocations++
		e.Buffers = ids(b)
	}
	d.log = append(d.log, e)
	return b, err
}

// Free returns b to its pool. Freeing a buffer twice is reported by the next
// Sync of s. After Close it does nothing.
func (d *Device) Free(id backend.Stream, b *backend.Buffer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	err := d.mem.free(b)
	if s := d.streams[id]; err != nil && s != nil {
		s.fault = errors.Join(s.fault, fmt.Errorf("free: %w", err))
	}
	d.log = append(d.log, Entry{Call: CallFree, Stream: id, Buffers: ids(b), Failed: err != nil})
}

// NewPool makes a pool of its own.
func (d *Device) NewPool() backend.Pool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mem.nextPool++
	p := d.mem.nextPool
	d.mem.pools[p] = newPool()
	d.log = append(d.log, Entry{Call: CallNewPool, Pool: p})
	return p
}

// UsePool makes later Allocs on s come from p; an unknown pool or stream
// changes nothing, and the first is reported by the next Sync of s.
func (d *Device) UsePool(id backend.Stream, p backend.Pool) (old backend.Pool) {
	// The error is a missing stream or a closed device.
	_ = d.do(Entry{Call: CallUsePool, Stream: id, Pool: p}, func(s *stream) error {
		old = s.pool
		if d.mem.pools[p] == nil {
			s.fault = errors.Join(s.fault, fmt.Errorf("use of pool %d, which is closed", p))
			return s.fault
		}
		s.pool = p
		return nil
	})
	return old
}

// ClosePool gives back the memory of a pool none of whose buffers is in use
// and that no stream uses.
func (d *Device) ClosePool(p backend.Pool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.closePool(p)
	d.log = append(d.log, Entry{Call: CallClosePool, Pool: p, Failed: err != nil})
	return err
}

func (d *Device) closePool(p backend.Pool) error {
	if d.closed {
		return d.fail(errors.New("closed"))
	}
	for id, s := range d.streams {
		if s.pool == p && p != 0 {
			return d.fail(fmt.Errorf("pool %d is used by stream %d", p, id))
		}
	}
	if err := d.mem.closePool(p); err != nil {
		return d.fail(err)
	}
	return nil
}

// Memory returns the memory that would be in use.
func (d *Device) Memory() backend.MemoryUsage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mem.usage
}

// Trim gives back what the general pool keeps. It is refused while a stream
// records.
func (d *Device) Trim() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return d.fail(errors.New("closed"))
	}
	for _, s := range d.streams {
		if s.window != nil {
			return &backend.CaptureError{Reason: backend.CaptureTrim}
		}
	}
	d.mem.trim()
	d.log = append(d.log, Entry{Call: CallTrim})
	return nil
}

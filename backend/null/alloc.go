package null

import (
	"errors"
	"fmt"
	"unsafe"

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
		err = d.mem.full(n)
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

// AllocHost returns memory there is: the program fills it.
func (d *Device) AllocHost(n int) (*backend.Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, err := d.allocHost(n)
	e := Entry{Call: backend.CallAllocHost, Bytes: n, Failed: err != nil}
	if b != nil {
		d.count.Allocations++
		e.Buffers = ids(b)
	}
	d.log = append(d.log, e)
	return b, err
}

func (d *Device) allocHost(n int) (*backend.Buffer, error) {
	if d.closed {
		return nil, d.fail(errors.New("closed"))
	}
	if d.Next(backend.CallAllocHost) {
		return nil, d.mem.full(n)
	}
	b, _, err := d.mem.alloc(backend.Staging, n)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, n+class)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(raw))) & (class - 1)
	b.Host = raw[skip : int(skip)+n]
	return b, nil
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
	p := d.mem.nextPool
	d.mem.nextPool++
	d.mem.pools[p] = newPool(p)
	d.log = append(d.log, Entry{Call: CallNewPool, Pool: p})
	return p
}

// UsePool makes later Allocs on s come from p; an unknown stream or a pool that
// is closed or Staging changes nothing, and the latter is reported by the next
// Sync of s.
func (d *Device) UsePool(id backend.Stream, p backend.Pool) (old backend.Pool) {
	// The error is a missing stream or a closed device.
	_ = d.do(Entry{Call: CallUsePool, Stream: id, Pool: p}, func(s *stream) error {
		old = s.pool
		if x := d.mem.pools[p]; x == nil || x.closing || p == backend.Staging {
			s.fault = errors.Join(s.fault, fmt.Errorf("use of %v, which is closed or for the host", p))
			return s.fault
		}
		s.pool = p
		return nil
	})
	return old
}

// ClosePool ends a pool that no stream uses.
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
			return d.fail(fmt.Errorf("%v is used by stream %d", p, id))
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

// MemoryReport returns the memory that would be in use, a row for each pool.
func (d *Device) MemoryReport() backend.MemoryReport {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mem.report()
}

// Trim gives back what pools keep. It is refused while a stream records.
func (d *Device) Trim() (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, d.fail(errors.New("closed"))
	}
	for _, s := range d.streams {
		if s.recording() != nil {
			return 0, &backend.CaptureError{Reason: backend.CaptureTrim}
		}
	}
	given := d.mem.trim()
	d.log = append(d.log, Entry{Call: CallTrim})
	return given, nil
}

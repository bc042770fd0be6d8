package null

import (
	"fmt"

	"github.com/sinter-ml/sinter/backend"
)

// class is the unit memory is counted in: a buffer takes a multiple of it.
const class = 64

// pool counts the buffers of a pool by size: in use, and free for the next
// one of the same size.
type pool struct {
	inUse int
	free  map[int]int // by bytes reserved
	kept  int64       // bytes of free
}

func newPool() *pool { return &pool{free: map[int]int{}} }

// memory counts what a device with exact-fit pools would hold.
type memory struct {
	limit    int64
	pools    map[backend.Pool]*pool
	nextPool backend.Pool
	live     map[uint64]*backend.Buffer
	nextID   uint64
	usage    backend.MemoryUsage
	reserves int64
}

func rounded(n int) int { return max((n+class-1)/class, 1) * class }

// alloc returns a buffer and whether it was not to be had from the pool.
func (m *memory) alloc(id backend.Pool, n int) (*backend.Buffer, bool, error) {
	p := m.pools[id]
	if n < 0 || m.limit > 0 && int64(n) > m.limit {
		return nil, false, &backend.OutOfMemoryError{Bytes: n, Usage: m.usage}
	}
	size := rounded(n)
	grew := p.free[size] == 0
	if grew {
		if m.limit > 0 && m.usage.Reserved+int64(size) > m.limit {
			m.trim()
		}
		if m.limit > 0 && m.usage.Reserved+int64(size) > m.limit {
			return nil, false, &backend.OutOfMemoryError{Bytes: n, Usage: m.usage}
		}
		m.usage.Reserved += int64(size)
		m.reserves++
	} else {
		p.free[size]--
		p.kept -= int64(size)
	}
	p.inUse++
	m.nextID++
	b := &backend.Buffer{ID: m.nextID, Bytes: n, Pool: id, Class: size / class}
	m.live[b.ID] = b
	m.usage.Allocations++
	m.usage.InUse += int64(n)
	m.usage.Padding += int64(size - n)
	m.usage.Peak = max(m.usage.Peak, m.usage.InUse)
	return b, grew, nil
}

func (m *memory) lookup(b *backend.Buffer) error {
	if b == nil || m.live[b.ID] != b {
		return fmt.Errorf("not a live buffer of this device: freed before, or of another device")
	}
	return nil
}

func (m *memory) free(b *backend.Buffer) error {
	if err := m.lookup(b); err != nil {
		return err
	}
	size := rounded(b.Bytes)
	delete(m.live, b.ID)
	p := m.pools[b.Pool]
	p.inUse--
	p.free[size]++
	p.kept += int64(size)
	m.usage.Allocations--
	m.usage.InUse -= int64(b.Bytes)
	m.usage.Padding -= int64(size - b.Bytes)
	return nil
}

// within checks that n bytes from an offset on are in a live buffer.
func (m *memory) within(b *backend.Buffer, offset, n int) error {
	if err := m.lookup(b); err != nil {
		return err
	}
	if offset < 0 || n < 0 || offset > b.Bytes-n {
		return fmt.Errorf("bytes %d to %d of a buffer of %d", offset, offset+n, b.Bytes)
	}
	return nil
}

// drop gives back what a pool keeps.
func (m *memory) drop(p *pool) {
	m.usage.Reserved -= p.kept
	p.kept = 0
	clear(p.free)
}

func (m *memory) trim() { m.drop(m.pools[0]) }

func (m *memory) closePool(id backend.Pool) error {
	p := m.pools[id]
	switch {
	case id == 0:
		return fmt.Errorf("the general pool cannot be closed")
	case p == nil:
		return fmt.Errorf("pool %d is closed", id)
	case p.inUse > 0:
		return fmt.Errorf("%d buffers of pool %d are in use", p.inUse, id)
	}
	m.drop(p)
	delete(m.pools, id)
	return nil
}

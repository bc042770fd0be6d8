package null

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sinter-ml/sinter/backend"
)

// class is the unit memory is counted in: a buffer takes a multiple of it,
// unless its pool fits exactly.
const class = 64

// pool counts the buffers of a pool by size: in use, and free for the next
// one of the same size.
type pool struct {
	row     backend.PoolReport
	free    map[int]int // by bytes reserved
	kept    int64       // bytes of free
	closing bool        // no longer used; it ends with its last buffer
}

func newPool(id backend.Pool) *pool {
	return &pool{row: backend.PoolReport{Pool: id}, free: map[int]int{}}
}

// memory counts what a device whose buffers have a page each would hold.
type memory struct {
	limit    int64
	pools    map[backend.Pool]*pool
	nextPool backend.Pool
	live     map[uint64]*backend.Buffer
	nextID   uint64
	usage    backend.MemoryUsage
	reserves int64
}

func (m *memory) init(limit int64) {
	m.limit = limit
	m.nextPool = backend.FirstPool
	m.pools = map[backend.Pool]*pool{}
	for id := range backend.FirstPool {
		m.pools[id] = newPool(id)
	}
	m.live = map[uint64]*backend.Buffer{}
}

// block returns the bytes a buffer of n bytes takes.
func block(id backend.Pool, n int) int {
	if id.Exact() {
		return n
	}
	return max((n+class-1)/class, 1) * class
}

// alloc returns a buffer and whether it was not to be had from the pool.
func (m *memory) alloc(id backend.Pool, n int) (*backend.Buffer, bool, error) {
	p := m.pools[id]
	if n < 0 || m.limit > 0 && int64(n) > m.limit {
		return nil, false, m.full(n)
	}
	size := block(id, n)
	grew := p.free[size] == 0
	if grew {
		if m.limit > 0 && m.usage.Reserved+int64(size) > m.limit {
			m.trim()
		}
		if m.limit > 0 && m.usage.Reserved+int64(size) > m.limit {
			return nil, false, m.full(n)
		}
		m.usage.Reserved += int64(size)
		m.reserves++
		p.row.Pages++
		p.row.Reserved += int64(size)
	} else {
		p.free[size]--
		p.kept -= int64(size)
	}
	m.nextID++
	b := &backend.Buffer{ID: m.nextID, Bytes: n, Pool: id}
	m.live[b.ID] = b
	m.count(p, 1, b)
	m.usage.Peak = max(m.usage.Peak, m.usage.InUse)
	p.row.Peak = max(p.row.Peak, p.row.InUse)
	p.row.Largest = max(p.row.Largest, int64(n))
	return b, grew, nil
}

// count adds a buffer to what is in use, or with sign -1 takes it off.
func (m *memory) count(p *pool, sign int, b *backend.Buffer) {
	n, padding := int64(sign*b.Bytes), int64(sign*(block(b.Pool, b.Bytes)-b.Bytes))
	m.usage.Allocations += sign
	m.usage.InUse += n
	m.usage.Padding += padding
	p.row.Allocations += sign
	p.row.InUse += n
	p.row.Padding += padding
}

func (m *memory) full(n int) error {
	return &backend.OutOfMemoryError{Bytes: n, Limit: m.limit, Report: m.report()}
}

// report returns what is held of each pool that ever held something.
func (m *memory) report() backend.MemoryReport {
	r := backend.MemoryReport{Usage: m.usage}
	for _, id := range slices.Sorted(maps.Keys(m.pools)) {
		if row := m.pools[id].row; row.Pages > 0 || row.Peak > 0 {
			r.Pools = append(r.Pools, row)
		}
	}
	return r
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
	size := block(b.Pool, b.Bytes)
	delete(m.live, b.ID)
	p := m.pools[b.Pool]
	m.count(p, -1, b)
	p.free[size]++
	p.kept += int64(size)
	if p.closing {
		m.endPool(p)
	}
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

// drop gives back what a pool keeps, and returns the bytes.
func (m *memory) drop(p *pool) int64 {
	given := p.kept
	m.usage.Reserved -= given
	p.row.Reserved -= given
	for _, n := range p.free {
		p.row.Pages -= n
	}
	p.kept = 0
	clear(p.free)
	return given
}

// trim gives back what the pools every device has keep.
func (m *memory) trim() (given int64) {
	for id := range backend.FirstPool {
		given += m.drop(m.pools[id])
	}
	return given
}

func (m *memory) closePool(id backend.Pool) error {
	if id < backend.FirstPool {
		return fmt.Errorf("the %v pool cannot be closed", id)
	}
	p := m.pools[id]
	if p == nil || p.closing {
		return fmt.Errorf("%v is closed", id)
	}
	p.closing = true
	m.endPool(p)
	return nil
}

// endPool gives back what a closed pool keeps, and forgets the pool with its
// last buffer.
func (m *memory) endPool(p *pool) {
	m.drop(p)
	if p.row.Allocations == 0 {
		delete(m.pools, p.row.Pool)
	}
}

package cpu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"

	"github.com/sinter-ml/sinter/backend"
)

// firstMark is how much may be reserved before the first collection.
const firstMark = 64 << 20

// memory is the device's pools. Its lock is never held while a collection or
// the reclaim hook runs.
type memory struct {
	mu       sync.Mutex
	limit    int64
	poison   bool
	reclaim  func()
	pools    map[backend.Pool]*pool
	nextPool backend.Pool
	streams  map[backend.Stream]struct{} // those open
	live     map[uint64]liveBuffer
	nextID   uint64
	mark     int64 // reserved bytes beyond which growing collects first
	usage    backend.MemoryUsage
	reserves int64
	handed   int64
}

type liveBuffer struct {
	buf   *backend.Buffer
	block *block
}

func (m *memory) init(o *backend.Options) {
	m.limit = o.MemoryLimit
	if m.limit <= 0 {
		m.limit = machineMemory()
	}
	m.poison = o.Poison
	m.mark = firstMark
	m.nextPool = backend.FirstPool
	m.pools = fixedPools()
	m.streams = map[backend.Stream]struct{}{}
	m.live = map[uint64]liveBuffer{}
}

// fixedPools returns the pools every device has.
func fixedPools() map[backend.Pool]*pool {
	pools := map[backend.Pool]*pool{}
	for p := range backend.FirstPool {
		pools[p] = newPool(p)
	}
	return pools
}

// alloc returns a buffer and whether memory was taken from the system for it.
//
// Memory that is free but not yet known to be (tensors the collector has not
// found dead) is asked for before a pool grows past the mark, which then moves
// half beyond, and again at the limit.
func (m *memory) alloc(s backend.Stream, id backend.Pool, n int) (b *backend.Buffer, grew bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n < 0 || n > maxBytes {
		return nil, false, m.full(n)
	}
	for collected := false; ; {
		p := m.pools[id]
		if p == nil || p.closing {
			return nil, grew, fmt.Errorf("%v is closed", id)
		}
		key := p.key(n)
		if blk := p.take(s, key); blk != nil {
			return m.hand(p, blk, n), grew, nil
		}
		need := p.page(key)
		after := m.usage.Reserved + need
		if !collected && (after > m.mark || after > m.limit) {
			collected = true
			m.collect()
			continue
		}
		if after > m.limit {
			m.trim()
			need = m.fit(p, key)
			if after = m.usage.Reserved + need; after > m.limit {
				return nil, grew, m.full(n)
			}
		}
		if after > m.mark {
			m.mark = after + after/2
		}
		p.grow(key, need, m.poison)
		m.usage.Reserved += need
		m.reserves++
		grew = true
	}
}

// fit returns how much to take near the limit: a slab may be shorter there.
func (m *memory) fit(p *pool, key int) int64 {
	need, room := p.page(key), (m.limit-m.usage.Reserved)&^(align-1)
	if !p.direct(key) && int64(p.size(key)) <= room {
		return min(need, room)
	}
	return need
}

func (m *memory) full(n int) error {
	return &backend.OutOfMemoryError{Bytes: n, Limit: m.limit, Report: m.report()}
}

// hand makes a buffer of a block.
func (m *memory) hand(p *pool, blk *block, n int) *backend.Buffer {
	m.nextID++
	m.handed++
	b := &backend.Buffer{ID: m.nextID, Bytes: n, Host: blk.mem[:n:n], Pool: p.id}
	if !p.id.Exact() {
		b.Class = blk.key
	}
	m.live[b.ID] = liveBuffer{b, blk}
	blk.slab.row.hand(n, len(blk.mem))
	m.usage.Allocations++
	m.usage.InUse += int64(n)
	m.usage.Padding += int64(len(blk.mem) - n)
	m.usage.Peak = max(m.usage.Peak, m.usage.InUse)
	return b
}

// collect lets the collector and the runtime find buffers nobody uses. It
// gives up the lock meanwhile.
func (m *memory) collect() {
	hook := m.reclaim
	m.mu.Unlock()
	defer m.mu.Lock()
	runtime.GC()
	if hook != nil {
		hook()
	}
}

var errNotLive = errors.New("not a live buffer of this device: freed before, or of another device")

// free returns a buffer to its pool.
func (m *memory) free(s backend.Stream, b *backend.Buffer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, err := m.lookup(b)
	if err != nil {
		return err
	}
	delete(m.live, b.ID)
	m.usage.Allocations--
	m.usage.InUse -= int64(b.Bytes)
	m.usage.Padding -= int64(len(l.block.mem) - b.Bytes)
	l.block.slab.row.take(b.Bytes, len(l.block.mem))
	if m.poison {
		fill(l.block.mem)
	}
	p := m.pools[b.Pool]
	_, open := m.streams[s]
	p.put(s, l.block, open)
	if p.closing {
		m.endPool(p)
	}
	return nil
}

func (m *memory) lookup(b *backend.Buffer) (liveBuffer, error) {
	if b == nil {
		return liveBuffer{}, errNotLive
	}
	l, ok := m.live[b.ID]
	if !ok || l.buf != b {
		return liveBuffer{}, fmt.Errorf("buffer %d: %w", b.ID, errNotLive)
	}
	return l, nil
}

var errHostMemory = errors.New("kernels do not take staging memory")

// resolve appends the memory of buffers for a kernel to dst.
func (m *memory) resolve(dst [][]byte, bufs []*backend.Buffer) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range bufs {
		l, err := m.lookup(b)
		if err != nil {
			return dst, err
		}
		if b.Pool == backend.Staging {
			return dst, errHostMemory
		}
		dst = append(dst, l.block.mem[:b.Bytes:b.Bytes])
	}
	return dst, nil
}

// slice returns n bytes of a buffer from an offset on.
func (m *memory) slice(b *backend.Buffer, offset, n int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, err := m.lookup(b)
	if err != nil {
		return nil, err
	}
	if offset < 0 || n < 0 || offset > b.Bytes-n {
		return nil, fmt.Errorf("bytes %d to %d of a buffer of %d", offset, offset+n, b.Bytes)
	}
	return l.block.mem[offset : offset+n : offset+n], nil
}

func (m *memory) newPool() backend.Pool {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := m.nextPool
	m.nextPool++
	m.pools[id] = newPool(id)
	return id
}

// usable reports whether streams may allocate from a pool.
func (m *memory) usable(id backend.Pool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pools[id]
	return p != nil && !p.closing && id != backend.Staging
}

func (m *memory) closePool(id backend.Pool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
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

// endPool gives back what a closed pool does not use, and forgets the pool with
// its last buffer.
func (m *memory) endPool(p *pool) {
	m.usage.Reserved -= p.trim()
	if p.inUse == 0 {
		delete(m.pools, p.id)
	}
}

// join makes what a new stream frees its own to use again first.
func (m *memory) join(s backend.Stream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams[s] = struct{}{}
}

// leave hands what a closed stream kept to all.
func (m *memory) leave(s backend.Stream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.streams, s)
	for _, p := range m.pools {
		p.leave(s)
	}
}

// trim gives back unused memory of the pools every device has. The memory of
// other pools belongs to graphs that still write to it.
func (m *memory) trim() (given int64) {
	for id := range backend.FirstPool {
		given += m.pools[id].trim()
	}
	m.usage.Reserved -= given
	return given
}

// close forgets all memory; buffers still held keep theirs until collected.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.live)
	m.pools = fixedPools()
	m.usage = backend.MemoryUsage{Peak: m.usage.Peak}
}

// machineMemory returns the machine's memory, where the system says so: Go
// cannot recover from an allocation the system refuses, so there is always a
// limit.
func machineMemory() int64 {
	const unknown = math.MaxInt / 4
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return unknown
	}
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) >= 2 && string(f[0]) == "MemTotal:" {
			if kib, err := strconv.ParseInt(string(f[1]), 10, 50); err == nil {
				return min(kib<<10, unknown)
			}
		}
	}
	return unknown
}

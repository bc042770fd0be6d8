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
	m.pools = map[backend.Pool]*pool{0: newPool(0)}
	m.live = map[uint64]liveBuffer{}
}

// alloc returns a buffer and whether memory was taken from the system for it.
//
// Memory that is free but not yet known to be (tensors the collector has not
// found dead) is asked for before a pool grows past the mark, which then moves
// half beyond, and again at the limit.
func (m *memory) alloc(s backend.Stream, id backend.Pool, n int) (b *backend.Buffer, grew bool, err error) {
	if n < 0 || n > maxBytes {
		return nil, false, &backend.OutOfMemoryError{Bytes: n, Usage: m.report()}
	}
	class := classOf(n)
	need := growth(class)
	m.mu.Lock()
	defer m.mu.Unlock()
	for collected := false; ; {
		p := m.pools[id]
		if p == nil {
			return nil, grew, fmt.Errorf("pool %d is closed", id)
		}
		if blk := p.take(s, class); blk != nil {
			return m.hand(p, blk, n), grew, nil
		}
		after := m.usage.Reserved + need
		if !collected && (after > m.mark || after > m.limit) {
			collected = true
			m.collect()
			continue
		}
		if after > m.limit {
			m.trim()
			need = m.fit(class)
			if after = m.usage.Reserved + need; after > m.limit {
				return nil, grew, &backend.OutOfMemoryError{Bytes: n, Usage: m.usage}
			}
		}
		if after > m.mark {
			m.mark = after + after/2
		}
		p.grow(class, need, m.poison)
		m.usage.Reserved += need
		m.reserves++
		grew = true
	}
}

// fit returns how much to take near the limit: a slab may be shorter there.
func (m *memory) fit(class int) int64 {
	need, room := growth(class), (m.limit-m.usage.Reserved)&^(align-1)
	if size := classSize(class); size < directSize && int64(size) <= room {
		return min(need, room)
	}
	return need
}

// hand makes a buffer of a block.
func (m *memory) hand(p *pool, blk *block, n int) *backend.Buffer {
	m.nextID++
	m.handed++
	b := &backend.Buffer{ID: m.nextID, Bytes: n, Host: blk.mem[:n:n], Pool: p.id, Class: blk.class}
	m.live[b.ID] = liveBuffer{b, blk}
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
	if m.poison {
		fill(l.block.mem)
	}
	m.pools[b.Pool].put(s, l.block)
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

// resolve appends the memory of buffers to dst.
func (m *memory) resolve(dst [][]byte, bufs []*backend.Buffer) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range bufs {
		l, err := m.lookup(b)
		if err != nil {
			return dst, err
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
	m.nextPool++
	m.pools[m.nextPool] = newPool(m.nextPool)
	return m.nextPool
}

func (m *memory) hasPool(id backend.Pool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pools[id] != nil
}

func (m *memory) closePool(id backend.Pool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pools[id]
	switch {
	case id == 0:
		return errors.New("the general pool cannot be closed")
	case p == nil:
		return fmt.Errorf("pool %d is closed", id)
	case p.inUse > 0:
		return fmt.Errorf("%d buffers of pool %d are in use", p.inUse, id)
	}
	m.usage.Reserved -= p.reserved
	delete(m.pools, id)
	return nil
}

// leave hands what a closed stream kept to all.
func (m *memory) leave(s backend.Stream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pools {
		p.leave(s)
	}
}

// trim gives back unused memory of the general pool. The memory of other
// pools belongs to graphs that still write to it.
func (m *memory) trim() { m.usage.Reserved -= m.pools[0].trim() }

func (m *memory) report() backend.MemoryUsage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage
}

// close forgets all memory; buffers still held keep theirs until collected.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.live)
	m.pools = map[backend.Pool]*pool{0: newPool(0)}
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

package cpu

import (
	"unsafe"

	"github.com/sinter-ml/sinter/backend"
)

const (
	slabSize = 1 << 20
	// directSize is the least size that is taken from the system by itself;
	// smaller blocks are carved from slabs.
	directSize = slabSize / 8
)

// slab is memory taken from the system at once, a page of the report. Its
// blocks are carved one after another; when none is in use it can be given back.
type slab struct {
	mem    []byte
	carved int // bytes handed out so far
	inUse  int // blocks in use
	row    *row
}

// block is a piece of a slab.
type block struct {
	slab *slab
	mem  []byte
	key  int
}

// freeLists holds free blocks by key, the last freed on top.
type freeLists map[int][]*block

func (f freeLists) put(b *block) { f[b.key] = append(f[b.key], b) }

func (f freeLists) take(key int) *block {
	l := f[key]
	if len(l) == 0 {
		return nil
	}
	b := l[len(l)-1]
	l[len(l)-1] = nil
	f[key] = l[:len(l)-1]
	return b
}

// streamKeep is how many free blocks of a key a stream keeps to itself.
const streamKeep = 32

// pool is one allocation pool. Blocks that can stand for each other have the
// same key: their size class, or in a pool that fits exactly their size. Its
// methods need the lock of the device's memory.
type pool struct {
	id       backend.Pool
	streams  map[backend.Stream]freeLists
	shared   freeLists
	slabs    map[*slab]struct{}
	current  *slab // where blocks are carved
	inUse    int   // blocks in use
	reserved int64
	rows     map[int64]*row // by page size
	closing  bool           // no longer used; it ends with its last buffer
}

func newPool(id backend.Pool) *pool {
	return &pool{id: id, streams: map[backend.Stream]freeLists{}, shared: freeLists{}, slabs: map[*slab]struct{}{}, rows: map[int64]*row{}}
}

// key returns the key of blocks for n bytes.
func (p *pool) key(n int) int {
	if p.id.Exact() {
		return n
	}
	return classOf(n)
}

// size returns the bytes of a block.
func (p *pool) size(key int) int {
	if p.id.Exact() {
		return key
	}
	return classSize(key)
}

// direct reports whether blocks are taken from the system one by one.
func (p *pool) direct(key int) bool { return p.id.Exact() || classSize(key) >= directSize }

// page returns how many bytes are taken at once for a block.
func (p *pool) page(key int) int64 {
	if p.direct(key) {
		return int64(p.size(key))
	}
	return slabSize
}

// take returns a block without taking memory from the system: one that s
// freed, one that nobody keeps, one of another stream (work here is done when
// Launch returns, so every stream has passed the point of its Free), or one
// carved from the current slab.
func (p *pool) take(s backend.Stream, key int) *block {
	b := p.takeFree(s, key)
	if b == nil {
		b = p.carve(key)
	}
	if b != nil {
		b.slab.inUse++
		p.inUse++
	}
	return b
}

func (p *pool) takeFree(s backend.Stream, key int) *block {
	if b := p.streams[s].take(key); b != nil {
		return b
	}
	if b := p.shared.take(key); b != nil {
		return b
	}
	for _, f := range p.streams {
		if b := f.take(key); b != nil {
			return b
		}
	}
	return nil
}

func (p *pool) carve(key int) *block {
	size := p.size(key)
	if p.current == nil || p.direct(key) || len(p.current.mem)-p.current.carved < size {
		return nil
	}
	at := p.current.carved
	p.current.carved += size
	return &block{slab: p.current, mem: p.current.mem[at : at+size : at+size], key: key}
}

// put returns a block that s freed, which may keep it if it is open.
func (p *pool) put(s backend.Stream, b *block, open bool) {
	b.slab.inUse--
	p.inUse--
	if !open || p.id.Exact() {
		p.shared.put(b)
		return
	}
	f := p.streams[s]
	if f == nil {
		f = freeLists{}
		p.streams[s] = f
	}
	if len(f[b.key]) >= streamKeep {
		f = p.shared
	}
	f.put(b)
}

// grow takes n bytes from the system, enough for a block.
func (p *pool) grow(key int, n int64, poison bool) {
	s := &slab{mem: alignedBytes(int(n)), row: p.row(key)}
	if poison {
		fill(s.mem)
	}
	p.slabs[s] = struct{}{}
	p.reserved += n
	s.row.Pages++
	s.row.Reserved += n
	if p.direct(key) {
		s.carved = len(s.mem)
		p.shared.put(&block{slab: s, mem: s.mem, key: key})
		return
	}
	p.current = s
}

// leave hands the blocks kept by a closed stream to all.
func (p *pool) leave(s backend.Stream) {
	for _, l := range p.streams[s] {
		for _, b := range l {
			p.shared.put(b)
		}
	}
	delete(p.streams, s)
}

// trim gives back the slabs that have no block in use, and returns the bytes.
func (p *pool) trim() int64 {
	before, slabs := p.reserved, len(p.slabs)
	for s := range p.slabs {
		if s.inUse == 0 {
			p.drop(s)
		}
	}
	if len(p.slabs) != slabs {
		p.prune(p.shared)
		for _, f := range p.streams {
			p.prune(f)
		}
	}
	return before - p.reserved
}

// drop forgets a slab. Its free blocks are left to prune.
func (p *pool) drop(s *slab) {
	n := int64(len(s.mem))
	delete(p.slabs, s)
	p.reserved -= n
	s.row.Pages--
	s.row.Reserved -= n
	if s == p.current {
		p.current = nil
	}
}

// prune drops free blocks whose slab is gone.
func (p *pool) prune(f freeLists) {
	for key, l := range f {
		kept := l[:0]
		for _, b := range l {
			if _, ok := p.slabs[b.slab]; ok {
				kept = append(kept, b)
			}
		}
		clear(l[len(kept):])
		f[key] = kept
		if len(kept) == 0 {
			delete(f, key)
		}
	}
}

// alignedBytes returns n zero bytes that start at a multiple of the alignment,
// also if n is 0.
func alignedBytes(n int) []byte {
	raw := make([]byte, n+align)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(raw))) & (align - 1)
	return raw[skip : int(skip)+n]
}

// fill writes the poison pattern: every float of it is a NaN.
func fill(b []byte) {
	for i := range b {
		b[i] = 0xFF
	}
}

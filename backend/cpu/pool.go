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

// slab is memory taken from the system at once. Its blocks are carved one
// after another; when none is in use it can be given back.
type slab struct {
	mem    []byte
	carved int // bytes handed out so far
	inUse  int // blocks in use
}

// block is a piece of a slab, of one size class.
type block struct {
	slab  *slab
	mem   []byte
	class int
}

// freeLists holds free blocks by size class, the last freed on top.
type freeLists [][]*block

func (f *freeLists) put(b *block) {
	for len(*f) <= b.class {
		*f = append(*f, nil)
	}
	(*f)[b.class] = append((*f)[b.class], b)
}

func (f *freeLists) take(class int) *block {
	if class >= len(*f) {
		return nil
	}
	l := (*f)[class]
	if len(l) == 0 {
		return nil
	}
	b := l[len(l)-1]
	l[len(l)-1] = nil
	(*f)[class] = l[:len(l)-1]
	return b
}

// streamKeep is how many free blocks of a class a stream keeps to itself.
const streamKeep = 32

// pool is one allocation pool. Its methods need the lock of the device's
// memory.
type pool struct {
	id       backend.Pool
	streams  map[backend.Stream]*freeLists
	shared   freeLists
	slabs    map[*slab]struct{}
	current  *slab // where blocks are carved
	inUse    int   // blocks in use
	reserved int64
}

func newPool(id backend.Pool) *pool {
	return &pool{id: id, streams: map[backend.Stream]*freeLists{}, slabs: map[*slab]struct{}{}}
}

// take returns a block without taking memory from the system: one that s
// freed, one that nobody keeps, one of another stream (work here is done when
// Launch returns, so every stream has passed the point of its Free), or one
// carved from the current slab.
func (p *pool) take(s backend.Stream, class int) *block {
	b := p.takeFree(s, class)
	if b == nil {
		b = p.carve(class)
	}
	if b != nil {
		b.slab.inUse++
		p.inUse++
	}
	return b
}

func (p *pool) takeFree(s backend.Stream, class int) *block {
	if own := p.streams[s]; own != nil {
		if b := own.take(class); b != nil {
			return b
		}
	}
	if b := p.shared.take(class); b != nil {
		return b
	}
	for _, f := range p.streams {
		if b := f.take(class); b != nil {
			return b
		}
	}
	return nil
}

func (p *pool) carve(class int) *block {
	size := classSize(class)
	if p.current == nil || size >= directSize || len(p.current.mem)-p.current.carved < size {
		return nil
	}
	at := p.current.carved
	p.current.carved += size
	return &block{slab: p.current, mem: p.current.mem[at : at+size : at+size], class: class}
}

// put returns a block that s freed.
func (p *pool) put(s backend.Stream, b *block) {
	b.slab.inUse--
	p.inUse--
	f := p.streams[s]
	if f == nil {
		f = &freeLists{}
		p.streams[s] = f
	}
	if b.class < len(*f) && len((*f)[b.class]) >= streamKeep {
		f = &p.shared
	}
	f.put(b)
}

// growth returns how many bytes are taken at once for a class.
func growth(class int) int64 {
	if size := classSize(class); size >= directSize {
		return int64(size)
	}
	return slabSize
}

// grow takes n bytes from the system, enough for a block of the class.
func (p *pool) grow(class int, n int64, poison bool) {
	s := &slab{mem: alignedBytes(int(n))}
	if poison {
		fill(s.mem)
	}
	p.slabs[s] = struct{}{}
	p.reserved += int64(len(s.mem))
	if classSize(class) >= directSize {
		s.carved = len(s.mem)
		p.shared.put(&block{slab: s, mem: s.mem, class: class})
		return
	}
	p.current = s
}

// leave hands the blocks kept by a closed stream to all.
func (p *pool) leave(s backend.Stream) {
	if f := p.streams[s]; f != nil {
		for _, l := range *f {
			for _, b := range l {
				p.shared.put(b)
			}
		}
		delete(p.streams, s)
	}
}

// trim gives back the slabs that have no block in use, and returns the bytes.
func (p *pool) trim() int64 {
	before := p.reserved
	for s := range p.slabs {
		if s.inUse == 0 {
			delete(p.slabs, s)
			p.reserved -= int64(len(s.mem))
			if s == p.current {
				p.current = nil
			}
		}
	}
	if p.reserved != before {
		p.prune(&p.shared)
		for _, f := range p.streams {
			p.prune(f)
		}
	}
	return before - p.reserved
}

// prune drops free blocks whose slab is gone.
func (p *pool) prune(f *freeLists) {
	for c, l := range *f {
		kept := l[:0]
		for _, b := range l {
			if _, ok := p.slabs[b.slab]; ok {
				kept = append(kept, b)
			}
		}
		clear(l[len(kept):])
		(*f)[c] = kept
	}
}

// alignedBytes returns n zero bytes that start at a multiple of the alignment.
func alignedBytes(n int) []byte {
	raw := make([]byte, n+align-1)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(raw))) & (align - 1)
	return raw[skip : int(skip)+n : int(skip)+n]
}

// fill writes the poison pattern: every float of it is a NaN.
func fill(b []byte) {
	for i := range b {
		b[i] = 0xFF
	}
}

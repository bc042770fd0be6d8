package exec

import (
	"fmt"
	"math/bits"
	"sort"
	"unsafe"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// lookup returns the allocation that an address lies in and its number; nil if
// there is none. The last one found is tried first.
func (wk *worker) lookup(addr uint64) (*allocation, int) {
	if a := wk.last; a != nil && addr-a.base < a.size {
		return a, wk.lastAt
	}
	allocs := wk.l.allocs
	lo, hi := 0, len(allocs)
	for lo < hi {
		if mid := (lo + hi) / 2; allocs[mid].base > addr {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == 0 || addr-allocs[lo-1].base >= allocs[lo-1].size {
		return nil, 0
	}
	wk.last, wk.lastAt = allocs[lo-1], lo-1
	return wk.last, wk.lastAt
}

// globalPart checks the addresses of lanes m up to the first of them that lies in
// another allocation than the lowest lane's, counts them, and returns the
// allocation and the lanes that lie in it.
func (w *warp) globalPart(in *inst, m uint32, write bool) (*allocation, uint32) {
	lane := bits.TrailingZeros32(m)
	n := uint64(in.mem.bytes)
	wk := w.blk.wk
	a, at := wk.lookup(w.addr[lane])
	w.globalFault(in, lane, a, n, write)
	part := uint32(0)
	for rest := m; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		if off := w.addr[i] - a.base; off < a.size && off+n <= a.size {
			part |= 1 << i
		}
	}
	w.countGlobal(a, at, part, n, write)
	if a.undef != nil {
		w.defined(in, a, part, write)
	}
	return a, part
}

// globalFault ends the launch if a lane's address is not one of the allocation a,
// which may be nil.
func (w *warp) globalFault(in *inst, lane int, a *allocation, n uint64, write bool) {
	addr := w.addr[lane]
	switch {
	case a == nil:
		w.faultAt(OutOfBounds, in, lane, ptx.Global, addr, "%s", near(w.blk.wk.l.allocs, addr))
	case a.freed:
		w.faultAt(UseAfterFree, in, lane, ptx.Global, addr, "%s", a)
	case addr-a.base+n > a.size:
		w.faultAt(OutOfBounds, in, lane, ptx.Global, addr, "over the end of the %s", a)
	case a.readOnly && write:
		w.faultAt(ReadOnly, in, lane, ptx.Global, addr, "%s", a)
	}
}

// near tells which allocation an address misses.
func near(allocs []*allocation, addr uint64) string {
	next := sort.Search(len(allocs), func(i int) bool { return allocs[i].base > addr })
	if next > 0 {
		a := allocs[next-1]
		if beyond := addr - a.base - a.size; beyond < gap {
			return fmt.Sprintf("%d bytes behind the end of the %s", beyond, a)
		}
	}
	if next < len(allocs) && allocs[next].base-addr <= gap {
		return fmt.Sprintf("%d bytes before the %s", allocs[next].base-addr, allocs[next])
	}
	return "no allocation is there"
}

// countGlobal counts the sectors of a part of a request.
func (w *warp) countGlobal(a *allocation, at int, m uint32, n uint64, write bool) {
	wk := w.blk.wk
	st := &wk.stats[w.pc]
	st.bytes += n * uint64(bits.OnesCount32(m))
	t := &wk.touched[at]
	set := &t.read
	if write {
		set = &t.written
	}
	seen := &wk.distinct
	seen.reset()
	last := ^uint64(0)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		first := (w.addr[i] - a.base) >> sectorBits
		if first == last {
			continue
		}
		last = first
		if seen.add(first, uint8(first&31), i) {
			t.mark(set, a.size, first, first)
		}
	}
	st.sectors += uint64(seen.n)
}

// defined notes what a store defines, or ends the launch if a load reads bytes
// that nothing wrote.
func (w *warp) defined(in *inst, a *allocation, m uint32, write bool) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		u := a.undef[w.addr[i]-a.base:][:in.mem.bytes]
		if write {
			clear(u)
			continue
		}
		if !w.blk.wk.l.o.CheckUndefined {
			return
		}
		for j, x := range u {
			if x != 0 {
				w.faultAt(Uninitialised, in, i, ptx.Global, w.addr[i]+uint64(j), "nothing wrote it since the %s was poisoned", a)
			}
		}
	}
}

// straight handles the common case of a whole warp that accesses one allocation
// without gaps: it checks and counts, and returns the place in memory of the
// lowest lane's data, its address in w.addr; nil if the case is another.
func (w *warp) straight(in *inst, write bool) unsafe.Pointer {
	n := uint64(in.mem.bytes)
	if in.mem.wide {
		first := w.d[in.mem.reg][0]
		for i, v := range &w.d[in.mem.reg] {
			if v != first+uint64(i)*n {
				return nil
			}
		}
		w.addr[0] = first + in.mem.off
	} else if w.addresses(in.mem); !w.contiguous(n) {
		return nil
	}
	addr := w.addr[0]
	wk := w.blk.wk
	a, at := wk.lookup(addr)
	if a == nil || a.freed || a.undef != nil || write && a.readOnly || addr-a.base+32*n > a.size || addr&(n-1) != 0 {
		return nil
	}
	off := addr - a.base
	first, last := off>>sectorBits, (off+32*n-1)>>sectorBits
	st := &wk.stats[w.pc]
	st.requests++
	st.sectors += last - first + 1
	st.bytes += 32 * n
	t := &wk.touched[at]
	if write {
		t.mark(&t.written, a.size, first, last)
	} else {
		t.mark(&t.read, a.size, first, last)
	}
	return unsafe.Pointer(&a.data[off])
}

func loadGlobal(w *warp, in *inst, m uint32) {
	acc := in.mem
	if m == full {
		if p := w.straight(in, false); p != nil {
			switch {
			case acc.size == 4 && len(acc.data) == 1 && acc.file == 'r':
				w.r[acc.data[0]] = *(*[32]uint32)(p)
			case acc.size == 8 && len(acc.data) == 1:
				w.d[acc.data[0]] = *(*[32]uint64)(p)
			default:
				w.addresses(acc)
				acc.load(w, m, p, w.addr[0])
			}
			return
		}
	}
	w.addresses(acc)
	w.accessGlobal(in, m, false)
}

func storeGlobal(w *warp, in *inst, m uint32) {
	acc := in.mem
	if m == full {
		if p := w.straight(in, true); p != nil {
			switch {
			case acc.size == 4 && len(acc.data) == 1 && acc.file == 'r':
				*(*[32]uint32)(p) = w.r[acc.data[0]]
			case acc.size == 8 && len(acc.data) == 1:
				*(*[32]uint64)(p) = w.d[acc.data[0]]
			default:
				w.addresses(acc)
				acc.store(w, m, p, w.addr[0])
			}
			return
		}
	}
	w.addresses(acc)
	w.accessGlobal(in, m, true)
}

// accessGlobal loads or stores for addresses in w.addr.
func (w *warp) accessGlobal(in *inst, m uint32, write bool) {
	w.aligned(in, ptx.Global, m)
	w.blk.wk.stats[w.pc].requests++
	for m != 0 {
		a, part := w.globalPart(in, m, write)
		p := unsafe.Pointer(unsafe.SliceData(a.data))
		if write {
			in.mem.store(w, part, p, a.base)
		} else {
			in.mem.load(w, part, p, a.base)
		}
		m &^= part
	}
}

// distinct finds equal numbers among those of the lanes of a warp.
type distinct struct {
	head [32]uint8 // of the chain of a slot, 0 if empty; counts from 1
	next [64]uint8 // 33 are used; the size lets indices go unchecked
	key  [64]uint64
	lane [64]uint8
	many [64]bool // more than one lane has the key
	n    int
}

func (d *distinct) reset() {
	d.head = [32]uint8{}
	d.n = 0
}

// add enters a key in the chain of a slot and reports whether it is new.
func (d *distinct) add(key uint64, slot uint8, lane int) bool {
	for i := d.head[slot&31]; i != 0; i = d.next[i&63] {
		if d.key[i&63] == key {
			d.many[i&63] = true
			return false
		}
	}
	d.n++
	i := uint8(d.n) & 63
	d.key[i], d.lane[i], d.many[i] = key, uint8(lane), false
	d.next[i], d.head[slot&31] = d.head[slot&31], i
	return true
}

package exec

import (
	"bytes"
	"math/bits"
	"unsafe"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// checkShared checks the addresses of lanes m, in w.addr, against the block's
// shared memory.
func (w *warp) checkShared(in *inst, m uint32) {
	n := uint64(in.mem.bytes)
	size := uint64(len(w.blk.mem))
	var all, last uint64
	if m == full {
		for _, a := range &w.addr {
			all |= a
			last = max(last, a)
		}
	} else {
		for rest := m; rest != 0; rest &= rest - 1 {
			a := w.addr[bits.TrailingZeros32(rest)&31]
			all |= a
			last = max(last, a)
		}
	}
	if all&(n-1) == 0 && last < size && last+n <= size {
		return
	}
	w.aligned(in, ptx.Shared, m)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if a := w.addr[i]; a >= size || a+n > size {
			w.faultAt(OutOfBounds, in, i, ptx.Shared, a, "the block has %d bytes of shared memory", size)
		}
	}
}

// countBanks counts the wavefronts of an access of n bytes a lane. With note, each
// distinct place is noted as read.
func (w *warp) countBanks(in *inst, m uint32, n uint64, note bool) {
	shift := uint(bits.TrailingZeros64(max(n, 4))) // of a unit, which one lane gets at once
	lanes := min(128>>shift, 32)                   // of one phase
	seen := &w.blk.wk.distinct
	st := &w.blk.wk.stats[w.pc]
	phase := uint32(uint64(1)<<lanes - 1)
	for range 32 / lanes {
		if active := m & phase; active != 0 {
			most := seen.banks(w, active, shift, uint64(lanes-1))
			st.wavefronts += most
			st.extra += most - 1
			if note {
				for k := 1; k <= seen.n; k++ {
					w.sharedRead(in, seen.key[k]<<shift, n, int(seen.lane[k]), seen.many[k])
				}
			}
		}
		phase <<= lanes & 31
	}
}

// banks finds the distinct units among the addresses of some lanes, and the
// largest number of them that one slot of banks holds.
func (d *distinct) banks(w *warp, m uint32, shift uint, slots uint64) (most uint64) {
	d.reset()
	var count [32]uint8
	last, lastAt := ^uint64(0), uint8(0)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		key := w.addr[i] >> shift
		if key == last {
			d.many[lastAt&63] = true
			continue
		}
		slot := uint8(key&slots) & 31
		if at := d.head[slot]; at != 0 && d.key[at&63] == key { // what others read too
			d.many[at&63] = true
			continue
		}
		if d.add(key, slot, i) {
			count[slot]++
			most = max(most, uint64(count[slot]))
			last, lastAt = key, uint8(d.n)
		}
	}
	return most
}

func loadShared(w *warp, in *inst, m uint32) {
	w.addresses(in.mem)
	w.accessShared(in, m, false)
}

func storeShared(w *warp, in *inst, m uint32) {
	w.addresses(in.mem)
	w.accessShared(in, m, true)
}

// accessShared loads or stores for addresses in w.addr.
func (w *warp) accessShared(in *inst, m uint32, write bool) {
	acc := in.mem
	n := uint64(acc.bytes)
	w.checkShared(in, m)
	w.blk.wk.stats[w.pc].requests++
	p := unsafe.Pointer(unsafe.SliceData(w.blk.mem))
	checked := w.blk.shadow.writes != nil
	switch {
	case m == full && n >= 4 && n <= 16 && w.contiguous(n):
		w.blk.wk.stats[w.pc].wavefronts += n / 4
		if checked {
			w.shadowLanes(in, m, write)
		}
	case checked && !write && n >= 4:
		w.countBanks(in, m, n, true)
	default:
		w.countBanks(in, m, n, false)
		if checked {
			w.shadowLanes(in, m, write)
		}
	}
	if write {
		acc.store(w, m, p, 0)
	} else {
		acc.load(w, m, p, 0)
	}
}

// shadowLanes notes the accesses of lanes one by one.
func (w *warp) shadowLanes(in *inst, m uint32, write bool) {
	n := uint64(in.mem.bytes)
	var flags cell
	if in.mem.strong {
		flags = cellAtomic
	}
	for rest := m; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		if !write {
			w.sharedRead(in, w.addr[i], n, i, false)
			continue
		}
		w.sharedWrite(in, w.addr[i], n, i, flags)
		if w.blk.shadow.races {
			// The next lane that writes here must see what this one wrote.
			in.mem.put(w, i, unsafe.Pointer(&w.blk.mem[w.addr[i]]))
		}
	}
}

// unchanged reports whether a lane writes what stands in shared memory already,
// which spoils nothing for others.
func (w *warp) unchanged(in *inst, addr uint64, lane int) bool {
	if in.mem.data == nil {
		return false
	}
	var b [32]byte
	in.mem.put(w, lane, unsafe.Pointer(&b))
	return bytes.Equal(b[:in.mem.bytes], w.blk.mem[addr:][:in.mem.bytes])
}

// rowBytes is the size of a row of an 8 by 8 matrix of ldmatrix and stmatrix.
const rowBytes = 16

// rows prepares an access to matrices of which the lanes of mask m give the rows'
// addresses: it checks and counts them, eight rows a wavefront, and notes the
// access for all lanes. Row i is then w.blk.mem[a:][:rowBytes] with a the i-th
// element of the result.
func (w *warp) rows(in *inst, m uint32, write bool) *[32]uint64 {
	w.addresses(in.mem)
	w.checkShared(in, m)
	w.blk.wk.stats[w.pc].requests++
	w.countBanks(in, m, rowBytes, false)
	if w.blk.shadow.writes == nil {
		return &w.addr
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if write {
			w.sharedWrite(in, w.addr[i], rowBytes, i, 0)
		} else {
			w.sharedRead(in, w.addr[i], rowBytes, i, true)
		}
	}
	return &w.addr
}

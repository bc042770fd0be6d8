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
	w.aligned(in, ptx.Shared, m)
	n := uint64(in.mem.bytes)
	size := uint64(len(w.blk.mem))
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if a := w.addr[i]; a >= size || a+n > size {
			w.faultAt(OutOfBounds, in, i, ptx.Shared, a, "the block has %d bytes of shared memory", size)
		}
	}
}

// countBanks counts the wavefronts of an access of n bytes a lane; visit, if not
// nil, is called for each distinct place with a lane that accesses it and whether
// it is one of several.
func (w *warp) countBanks(m uint32, n uint64, visit func(addr uint64, lane int, many bool)) {
	unit := max(n, 4)
	lanes := min(128/unit, 32) // of one phase
	slots := uint8(lanes)
	seen := &w.blk.wk.distinct
	st := &w.blk.wk.stats[w.pc]
	phase := uint32(1)<<lanes - 1
	if lanes == 32 {
		phase = full
	}
	for ; phase != 0; phase <<= lanes & 31 {
		active := m & phase
		if active != 0 {
			seen.reset()
			most := uint64(0)
			var count [32]uint8
			for ; active != 0; active &= active - 1 {
				i := bits.TrailingZeros32(active) & 31
				key := w.addr[i] / unit
				slot := uint8(key) & (slots - 1)
				if seen.add(key, slot, i) {
					count[slot&31]++
					most = max(most, uint64(count[slot&31]))
				}
			}
			st.wavefronts += most
			st.extra += most - 1
			if visit != nil {
				for k := 1; k <= seen.n; k++ {
					visit(seen.key[k]*unit, int(seen.lane[k]), seen.many[k])
				}
			}
		}
		if lanes == 32 {
			break
		}
	}
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
		w.countBanks(m, n, func(addr uint64, lane int, many bool) { w.sharedRead(in, addr, n, lane, many) })
	default:
		w.countBanks(m, n, nil)
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
	w.countBanks(m, rowBytes, nil)
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

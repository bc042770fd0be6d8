package exec

import (
	"math/bits"
	"unsafe"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

func loadLocal(w *warp, in *inst, m uint32) {
	w.addresses(in.mem)
	w.accessLocal(in, m, false)
}

func storeLocal(w *warp, in *inst, m uint32) {
	w.addresses(in.mem)
	w.accessLocal(in, m, true)
}

// accessLocal loads or stores for addresses in w.addr, which it turns into places
// in the memory of all lanes.
func (w *warp) accessLocal(in *inst, m uint32, write bool) {
	acc := in.mem
	w.aligned(in, ptx.Local, m)
	size, n := uint64(w.blk.k.local), uint64(acc.bytes)
	for rest := m; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		a := w.addr[i]
		if a >= size || a+n > size {
			w.faultAt(OutOfBounds, in, i, ptx.Local, a, "a thread has %d bytes of local memory", size)
		}
		at := uint64(i)*size + a
		w.addr[i] = at
		if w.undef == nil {
			continue
		}
		for j, x := range w.undef[at:][:n] {
			if write {
				w.undef[at+uint64(j)] = 0
			} else if x != 0 {
				w.faultAt(Uninitialised, in, i, ptx.Local, a+uint64(j), "this thread has not written it")
			}
		}
	}
	p := unsafe.Pointer(unsafe.SliceData(w.local))
	if write {
		acc.store(w, m, p, 0)
	} else {
		acc.load(w, m, p, 0)
	}
}

// loadParam reads the entry's parameters.
func loadParam(w *warp, in *inst, m uint32) {
	w.addresses(in.mem)
	w.accessParam(in, m)
}

func (w *warp) accessParam(in *inst, m uint32) {
	w.aligned(in, ptx.Param, m)
	params := w.blk.wk.l.params
	n := uint64(in.mem.bytes)
	for rest := m; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		if a := w.addr[i]; a >= uint64(len(params)) || a+n > uint64(len(params)) {
			w.faultAt(OutOfBounds, in, i, ptx.Param, a, "the parameters have %d bytes", len(params))
		}
	}
	in.mem.load(w, m, unsafe.Pointer(unsafe.SliceData(params)), 0)
}

// loadFrame and storeFrame access .param variables of functions, of which each
// lane has its own.

func loadFrame(w *warp, in *inst, m uint32) {
	w.frameAddresses(in, m)
	in.mem.load(w, m, unsafe.Pointer(unsafe.SliceData(w.params)), 0)
}

func storeFrame(w *warp, in *inst, m uint32) {
	w.frameAddresses(in, m)
	in.mem.store(w, m, unsafe.Pointer(unsafe.SliceData(w.params)), 0)
}

func (w *warp) frameAddresses(in *inst, m uint32) {
	w.addresses(in.mem)
	size, n := uint64(w.blk.k.frame), uint64(in.mem.bytes)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if a := w.addr[i]; a >= size || a+n > size {
			w.faultAt(OutOfBounds, in, i, ptx.Param, a, "outside of the function's parameters")
		}
		w.addr[i] += uint64(i) * size
	}
}

func loadGeneric(w *warp, in *inst, m uint32)  { w.accessGeneric(in, m, false) }
func storeGeneric(w *warp, in *inst, m uint32) { w.accessGeneric(in, m, true) }

// accessGeneric sorts the lanes by the window that their addresses lie in.
func (w *warp) accessGeneric(in *inst, m uint32, write bool) {
	w.addresses(in.mem)
	for m != 0 {
		lane := bits.TrailingZeros32(m)
		window := w.addr[lane] & windowMask
		part := equalLanes(m, func(i int) bool { return w.addr[i]&windowMask == window })
		m &^= part
		if window != 0 {
			for rest := part; rest != 0; rest &= rest - 1 {
				w.addr[bits.TrailingZeros32(rest)&31] &^= windowMask
			}
		}
		switch {
		case window == 0:
			w.accessGlobal(in, part, write)
		case window == sharedBase:
			w.accessShared(in, part, write)
		case window == localBase:
			w.accessLocal(in, part, write)
		case window == paramBase && !write:
			w.accessParam(in, part)
		case window == paramBase:
			w.faultAt(ReadOnly, in, lane, ptx.Param, w.addr[lane], "parameters are constant")
		default:
			w.faultAt(BadAddressSpace, in, lane, ptx.Generic, w.addr[lane]|window, "no memory has such addresses")
		}
	}
}

// windowOf returns the tag that a generic address of a space carries.
func windowOf(s ptx.Space) uint64 {
	return map[ptx.Space]uint64{ptx.Shared: sharedBase, ptx.Local: localBase, ptx.Param: paramBase}[s]
}

// decodeConvertAddress reads cvta: to generic, or from it with .to.
func (dec *decoder) decodeConvertAddress(out *inst) bool {
	dec.dests(out, 'd', 0)
	o := dec.source(0, 1)
	out.a = dec.src(o, 'd')
	delta := windowOf(dec.in.Space)
	if dec.in.Has(ptx.ModTo) {
		delta = -delta
	}
	out.b = dec.constant(delta, 'd')
	out.run = movB64
	if delta != 0 {
		out.run = convertAddress
	}
	return true
}

func convertAddress(w *warp, in *inst, m uint32) {
	d, a, b := &w.d[in.dst], &w.d[in.a], &w.d[in.b]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] + b[i]
	}
}

func (dec *decoder) decodeIsSpace(out *inst) bool {
	dec.dests(out, 'p', 0)
	out.a = dec.src(dec.source(0, 1), 'd')
	space := dec.in.Space
	window := windowOf(space)
	out.run = func(w *warp, in *inst, m uint32) {
		var yes uint32
		for rest := m; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros32(rest) & 31
			a := w.d[in.a][i]
			in := a&windowMask == window
			if window == 0 {
				in = in && (a >= constBase) == (space == ptx.Const)
			}
			if in {
				yes |= 1 << i
			}
		}
		w.p[in.dst] = w.p[in.dst]&^m | yes
	}
	return true
}

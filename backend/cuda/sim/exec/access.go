package exec

import (
	"math/bits"
	"unsafe"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// access is what an instruction does to memory: where its addresses come from and
// which registers its data goes to or comes from.
type access struct {
	space  ptx.Space
	wide   bool   // the address register is in d, else in r
	reg    int32  // of the address
	off    uint64 // added to it
	size   int    // bytes of an element
	bytes  int    // of all elements of a lane
	data   []int32
	file   byte // of data
	signed bool // a narrow element is extended with its sign
	strong bool // volatile, atomic or ordered: does not race with its like
	frame  bool // param space of a function, not of the entry
}

// address resolves a memory operand; the form fills in what is moved.
func (dec *decoder) address(o *ptx.Operand) *access { return dec.addressIn(o, dec.in.Space) }

func (dec *decoder) addressIn(o *ptx.Operand, space ptx.Space) *access {
	if o.Kind != ptx.Addr || o.Elems != nil {
		refuse("want an address in brackets")
	}
	acc := &access{space: space, off: uint64(o.Off), wide: true}
	switch o.Base {
	case ptx.Reg:
		if acc.wide = fileOf(dec.fn.fn.RegType(o.Reg)) == 'd'; !acc.wide && fileOf(dec.fn.fn.RegType(o.Reg)) != 'r' {
			refuse("want no predicate as address")
		}
		acc.reg = dec.fn.regs[o.Reg]
	case ptx.Sym:
		sym := *o
		sym.Off = 0
		v := o.Var
		switch {
		case v != nil && v.Space == ptx.Param && !dec.entryParam(v):
			acc.frame = true
			acc.reg = dec.constant(dec.frameVar(v), 'd')
		case v == nil || v.Space != acc.space && !(acc.space == ptx.Generic && (v.Space == ptx.Global || v.Space == ptx.Const)):
			refuse("want a variable of the space that the opcode names")
		default:
			acc.reg = dec.constant(dec.symbol(&sym), 'd')
		}
	default:
		acc.reg = dec.constant(0, 'd')
	}
	return acc
}

func (dec *decoder) entryParam(d *ptx.Decl) bool {
	_, ok := dec.k.entryParams[d]
	return ok
}

// moved fills in the data of a load or store: registers for one element or a
// vector of them.
func (dec *decoder) moved(acc *access, o *ptx.Operand, load bool) {
	t := dec.in.Type()
	acc.size, acc.signed = t.Bytes(), t.Signed()
	elems := []ptx.Operand{*o}
	if o.Kind == ptx.Vec {
		elems = o.Elems
	}
	if len(elems) != dec.in.Vec || acc.size > 8 || acc.size == 0 || t == ptx.Pred {
		refuse("want as many registers of up to 64 bits as the vector has elements")
	}
	acc.bytes = acc.size * len(elems)
	if acc.bytes > 32 || acc.bytes&(acc.bytes-1) != 0 {
		refuse("want at most 32 bytes")
	}
	acc.file = 'r'
	if acc.size == 8 {
		acc.file = 'd'
	}
	for i := range elems {
		if elems[i].Kind == ptx.Reg {
			acc.file = fileOf(dec.fn.fn.RegType(elems[i].Reg))
		}
	}
	if acc.file == 'p' || acc.file == 'r' && acc.size == 8 {
		refuse("want registers at least as wide as the type")
	}
	for i := range elems {
		if load {
			acc.data = append(acc.data, dec.dst(&elems[i], acc.file))
		} else {
			acc.data = append(acc.data, dec.src(&elems[i], acc.file))
		}
	}
	if len(dec.after) > 0 || len(dec.before) > 0 {
		refuse("want registers of one width")
	}
	for _, m := range []ptx.Mod{ptx.ModVolatile, ptx.ModRelaxed, ptx.ModAcquire, ptx.ModRelease, ptx.ModMmio} {
		acc.strong = acc.strong || dec.in.Has(m)
	}
	if acc.space == ptx.Shared || acc.space == ptx.Generic {
		dec.k.granule = min(dec.k.granule, acc.bytes)
	}
}

func (dec *decoder) decodeLoad(out *inst) bool {
	if len(dec.in.Dst) != 1 || len(dec.in.Src) < 1 {
		refuse("want a destination and an address")
	}
	acc := dec.address(&dec.in.Src[0])
	dec.moved(acc, &dec.in.Dst[0], true)
	out.mem = acc
	switch {
	case acc.space == ptx.Param && acc.frame:
		out.run = loadFrame
	case acc.space == ptx.Global || acc.space == ptx.Const:
		out.run = loadGlobal
	default:
		out.run = map[ptx.Space]step{ptx.Generic: loadGeneric, ptx.Shared: loadShared, ptx.Local: loadLocal, ptx.Param: loadParam}[acc.space]
	}
	return true
}

func (dec *decoder) decodeStore(out *inst) bool {
	if len(dec.in.Src) < 2 {
		refuse("want an address and a source")
	}
	acc := dec.address(&dec.in.Src[0])
	dec.moved(acc, &dec.in.Src[1], false)
	out.mem = acc
	switch {
	case acc.space == ptx.Param && acc.frame:
		out.run = storeFrame
	case acc.space == ptx.Param || acc.space == ptx.Const:
		refuse("want a writable space")
	default:
		out.run = map[ptx.Space]step{ptx.Generic: storeGeneric, ptx.Global: storeGlobal, ptx.Shared: storeShared, ptx.Local: storeLocal}[acc.space]
	}
	return true
}

// addresses writes the address of each lane to w.addr. Lanes outside of the mask
// get what their registers hold.
func (w *warp) addresses(acc *access) {
	if acc.wide {
		for i, v := range &w.d[acc.reg] {
			w.addr[i] = v + acc.off
		}
		return
	}
	off := uint32(acc.off)
	for i, v := range &w.r[acc.reg] {
		w.addr[i] = uint64(v + off)
	}
}

// contiguous reports whether the lanes' addresses follow each other without gaps.
func (w *warp) contiguous(step uint64) bool {
	a := w.addr[0]
	for i := range w.addr {
		if w.addr[i] != a {
			return false
		}
		a += step
	}
	return true
}

// aligned ends the launch if an address of the lanes m is not a multiple of the
// access's size.
func (w *warp) aligned(in *inst, space ptx.Space, m uint32) {
	mask := uint64(in.mem.bytes - 1)
	for rest := m; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros32(rest) & 31; w.addr[i]&mask != 0 {
			w.faultAt(Misaligned, in, i, space, w.addr[i], "want a multiple of %d", in.mem.bytes)
		}
	}
}

// load moves data from memory to registers: lane i's from p plus w.addr[i]-base.
// The addresses have been checked.
func (acc *access) load(w *warp, m uint32, p unsafe.Pointer, base uint64) {
	if acc.size == 4 && acc.file == 'r' {
		if len(acc.data) == 1 {
			d := &w.r[acc.data[0]]
			if m == full {
				for i := range d {
					d[i] = *(*uint32)(unsafe.Add(p, w.addr[i]-base))
				}
				return
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				d[i] = *(*uint32)(unsafe.Add(p, w.addr[i]-base))
			}
			return
		}
		for j, reg := range acc.data {
			d := &w.r[reg]
			q := unsafe.Add(p, 4*j)
			if m == full {
				for i := range d {
					d[i] = *(*uint32)(unsafe.Add(q, w.addr[i]-base))
				}
				continue
			}
			for r := m; r != 0; r &= r - 1 {
				i := bits.TrailingZeros32(r) & 31
				d[i] = *(*uint32)(unsafe.Add(q, w.addr[i]-base))
			}
		}
		return
	}
	for j, reg := range acc.data {
		q := unsafe.Add(p, j*acc.size)
		if acc.file == 'd' {
			d := &w.d[reg]
			for r := m; r != 0; r &= r - 1 {
				i := bits.TrailingZeros32(r) & 31
				d[i] = acc.read(unsafe.Add(q, w.addr[i]-base))
			}
			continue
		}
		d := &w.r[reg]
		for r := m; r != 0; r &= r - 1 {
			i := bits.TrailingZeros32(r) & 31
			d[i] = uint32(acc.read(unsafe.Add(q, w.addr[i]-base)))
		}
	}
}

// read returns one element, extended to 64 bits.
func (acc *access) read(p unsafe.Pointer) uint64 {
	switch acc.size {
	case 1:
		if acc.signed {
			return uint64(*(*int8)(p))
		}
		return uint64(*(*uint8)(p))
	case 2:
		if acc.signed {
			return uint64(*(*int16)(p))
		}
		return uint64(*(*uint16)(p))
	case 4:
		if acc.signed {
			return uint64(*(*int32)(p))
		}
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// store moves data from registers to memory, as load does the other way.
func (acc *access) store(w *warp, m uint32, p unsafe.Pointer, base uint64) {
	if acc.size == 4 && acc.file == 'r' {
		// Lane after lane: of several that write one place, the last one stays.
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			q := unsafe.Add(p, w.addr[i]-base)
			for j, reg := range acc.data {
				*(*uint32)(unsafe.Add(q, 4*j)) = w.r[reg][i]
			}
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		acc.put(w, i, unsafe.Add(p, w.addr[i]-base))
	}
}

// put writes the data of one lane.
func (acc *access) put(w *warp, lane int, p unsafe.Pointer) {
	for j, reg := range acc.data {
		var v uint64
		if acc.file == 'd' {
			v = w.d[reg][lane]
		} else {
			v = uint64(w.r[reg][lane])
		}
		q := unsafe.Add(p, j*acc.size)
		switch acc.size {
		case 1:
			*(*uint8)(q) = uint8(v)
		case 2:
			*(*uint16)(q) = uint16(v)
		case 4:
			*(*uint32)(q) = uint32(v)
		default:
			*(*uint64)(q) = v
		}
	}
}

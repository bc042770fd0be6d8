package exec

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// lock guards the places of global memory whose addresses share a slot, so that
// atomics of blocks that run at once are indivisible.
type lock struct {
	sync.Mutex
	_ [56]byte // a cache line for each
}

// combine returns what an atomic stores, from what stood there and its operands.
type combine func(old, b, c uint64) uint64

// combineOf returns the operation of atom or red, nil if there is none.
func combineOf(op *ptx.Opcode) combine {
	t := op.Type()
	for _, m := range op.Mods {
		switch m {
		case ptx.ModExch:
			return func(_, b, _ uint64) uint64 { return b }
		case ptx.ModCas:
			return func(old, b, c uint64) uint64 {
				if old == b {
					return c
				}
				return old
			}
		case ptx.ModAnd:
			return func(old, b, _ uint64) uint64 { return old & b }
		case ptx.ModOr:
			return func(old, b, _ uint64) uint64 { return old | b }
		case ptx.ModXor:
			return func(old, b, _ uint64) uint64 { return old ^ b }
		case ptx.ModInc:
			return func(old, b, _ uint64) uint64 {
				if old >= b {
					return 0
				}
				return old + 1
			}
		case ptx.ModDec:
			return func(old, b, _ uint64) uint64 {
				if old == 0 || old > b {
					return b
				}
				return old - 1
			}
		case ptx.ModAdd:
			return addOf(op)
		case ptx.ModMin, ptx.ModMax:
			return extremeOf(t, m == ptx.ModMin)
		}
	}
	return nil
}

func addOf(o *ptx.Opcode) combine {
	switch o.Type() {
	case ptx.U32, ptx.S32, ptx.U64, ptx.S64:
		return func(old, b, _ uint64) uint64 { return old + b }
	}
	return addFloats(o)
}

func extremeOf(t ptx.Type, least bool) combine {
	var less func(a, b uint64) bool
	switch t {
	case ptx.U32, ptx.U64:
		less = func(a, b uint64) bool { return a < b }
	case ptx.S32:
		less = func(a, b uint64) bool { return int32(a) < int32(b) }
	case ptx.S64:
		less = func(a, b uint64) bool { return int64(a) < int64(b) }
	default:
		return nil
	}
	return func(old, b, _ uint64) uint64 {
		if less(b, old) == least {
			return b
		}
		return old
	}
}

// decodeAtomic reads atom and red.
func (dec *decoder) decodeAtomic(out *inst) bool {
	in := dec.in
	atom := in.Op == ptx.OpAtom
	if len(in.Src) < 2 || len(in.Src) > 3 || in.Vec > 1 || (len(in.Src) == 3) != in.Has(ptx.ModCas) || atom != (len(in.Dst) == 1) {
		refuse("want an address and the operands of the operation")
	}
	op := combineOf(in.Opcode)
	if op == nil {
		refuse("no such operation on this type")
	}
	acc := dec.address(&in.Src[0])
	acc.size = in.Type().Bytes()
	acc.bytes, acc.strong, acc.file = acc.size, true, fileOf(in.Type())
	if acc.space == ptx.Local || acc.space == ptx.Param || acc.space == ptx.Const {
		refuse("want global or shared memory")
	}
	out.mem = acc
	out.dst = dec.nobody(acc.file)
	if atom {
		out.dst = dec.dst(&in.Dst[0], acc.file)
	}
	out.a = dec.src(&in.Src[1], acc.file)
	out.b = out.a
	if len(in.Src) == 3 {
		out.b = dec.src(&in.Src[2], acc.file)
	}
	if acc.space != ptx.Global {
		dec.k.granule = min(dec.k.granule, acc.bytes)
	}
	out.run = func(w *warp, in *inst, m uint32) { w.atomic(in, m, op) }
	return true
}

// atomic executes an atomic for the lanes m, the lowest first.
func (w *warp) atomic(in *inst, m uint32, op combine) {
	w.addresses(in.mem)
	var shared, global uint32
	for rest := m; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		switch a := w.addr[i]; {
		case in.mem.space == ptx.Shared, in.mem.space == ptx.Generic && a&windowMask == sharedBase:
			w.addr[i] = a &^ windowMask
			shared |= 1 << i
		case a&windowMask != 0:
			w.faultAt(BadAddressSpace, in, i, ptx.Generic, a, "want global or shared memory")
		default:
			global |= 1 << i
		}
	}
	if shared != 0 {
		w.checkShared(in, shared)
		w.blk.wk.stats[w.pc].requests++
		w.countBanks(in, shared, uint64(in.mem.bytes), false)
		if w.blk.shadow.undef {
			w.definedShared(in, shared)
		}
		if w.blk.shadow.writes != nil {
			for rest := shared; rest != 0; rest &= rest - 1 {
				i := bits.TrailingZeros32(rest) & 31
				w.sharedWrite(in, w.addr[i], uint64(in.mem.bytes), i, cellAtomic)
			}
		}
		for rest := shared; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros32(rest) & 31
			w.exchange(in, i, unsafe.Pointer(&w.blk.mem[w.addr[i]]), op)
		}
	}
	w.aligned(in, ptx.Global, global)
	if global != 0 {
		w.blk.wk.stats[w.pc].requests++
	}
	for global != 0 {
		a, part := w.globalPart(in, global, true)
		global &^= part
		for ; part != 0; part &= part - 1 {
			i := bits.TrailingZeros32(part) & 31
			l := &w.blk.wk.l.locks[w.addr[i]>>3&63]
			l.Lock()
			w.exchange(in, i, unsafe.Pointer(&a.data[w.addr[i]-a.base]), op)
			l.Unlock()
		}
	}
}

// definedShared ends the launch if an atomic changes bytes that nothing wrote.
func (w *warp) definedShared(in *inst, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := &w.blk.shadow
		for g := w.addr[i] / s.granule; g < (w.addr[i]+uint64(in.mem.bytes))/s.granule; g++ {
			if c := s.writes[g]; c == 0 || c&cellPending != 0 {
				w.undefinedShared(in, w.addr[i], i, c)
			}
		}
	}
}

// exchange changes one place for one lane.
func (w *warp) exchange(in *inst, lane int, p unsafe.Pointer, op combine) {
	switch in.mem.size {
	case 8:
		q := (*uint64)(p)
		old := *q
		*q = op(old, w.d[in.a][lane], w.d[in.b][lane])
		w.d[in.dst][lane] = old
	case 4:
		q := (*uint32)(p)
		old := *q
		*q = uint32(op(uint64(old), uint64(w.r[in.a][lane]), uint64(w.r[in.b][lane])))
		w.r[in.dst][lane] = old
	default:
		q := (*uint16)(p)
		old := *q
		*q = uint16(op(uint64(old), uint64(w.r[in.a][lane]&0xffff), uint64(w.r[in.b][lane]&0xffff)))
		w.r[in.dst][lane] = uint32(old)
	}
}

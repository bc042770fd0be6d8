package exec

import (
	"encoding/binary"
	"math/bits"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// mbarrier is the contents of a barrier object of 8 bytes in shared memory. PTX
// leaves the layout open; here it is, from the lowest bit: pending arrivals (20),
// expected arrivals (20), bytes still to come plus 1<<20 (22), valid (1), phase
// (1).
type mbarrier uint64

const (
	mbMax   = 1<<20 - 1
	mbBias  = 1 << 20
	mbValid = 1 << 62
)

func newMBarrier(count uint32) mbarrier { return pack(count, count, 0, 0) }

func pack(pending, expected uint32, tx int, phase uint64) mbarrier {
	return mbarrier(uint64(pending) | uint64(expected)<<20 | uint64(tx+mbBias)<<40 | mbValid | phase<<63)
}

func (b mbarrier) pending() uint32  { return uint32(b & mbMax) }
func (b mbarrier) expected() uint32 { return uint32(b >> 20 & mbMax) }
func (b mbarrier) tx() int          { return int(b>>40&(1<<22-1)) - mbBias }
func (b mbarrier) phase() uint64    { return uint64(b >> 63) }

// decodeMBarrier reads mbarrier.*; of the forms with a state only those of one
// thread block are executed.
func (dec *decoder) decodeMBarrier(out *inst) bool {
	in := dec.in
	if in.Has(ptx.ModSharedCluster) {
		refuse("clusters of blocks are not executed")
	}
	if in.Has(ptx.ModPendingCount) {
		dec.dests(out, 'r', 0)
		out.a = dec.src(dec.source(0, 1), 'd')
		out.run = func(w *warp, in *inst, m uint32) {
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				w.r[in.dst][i] = mbarrier(w.d[in.a][i]).pending()
			}
		}
		return true
	}
	if len(in.Src) == 0 {
		refuse("want an address")
	}
	acc := dec.address(&in.Src[0])
	acc.size, acc.bytes, acc.strong, acc.file = 8, 8, true, 'd'
	if acc.space != ptx.Shared && acc.space != ptx.Generic {
		refuse("want an address of shared memory")
	}
	out.mem = acc
	var change func(w *warp, in *inst, lane int, b mbarrier) mbarrier
	switch {
	case in.Has(ptx.ModInit):
		out.a = dec.src(dec.source(1, 2), 'r')
		change = mbInit
	case in.Has(ptx.ModInval):
		change = func(*warp, *inst, int, mbarrier) mbarrier { return 0 }
	case in.Has(ptx.ModTestWait) || in.Has(ptx.ModTryWait):
		dec.waitForMBarrier(out)
		return true
	case in.Has(ptx.ModArrive) || in.Has(ptx.ModArriveDrop):
		change = dec.arriveAtMBarrier(out)
	case in.Has(ptx.ModExpectTx):
		out.a = dec.src(dec.source(1, 2), 'r')
		change = func(w *warp, in *inst, lane int, b mbarrier) mbarrier {
			return w.transfer(lane, b, int(w.r[in.a][lane]))
		}
	case in.Has(ptx.ModCompleteTx):
		out.a = dec.src(dec.source(1, 2), 'r')
		change = func(w *warp, in *inst, lane int, b mbarrier) mbarrier {
			return w.transfer(lane, b, -int(w.r[in.a][lane]))
		}
	default:
		refuse("no such operation on an mbarrier")
	}
	out.run = func(w *warp, in *inst, m uint32) { w.mbarrier(in, m, change) }
	return true
}

// arriveAtMBarrier reads the operands of arrive and arrive_drop.
func (dec *decoder) arriveAtMBarrier(out *inst) func(w *warp, in *inst, lane int, b mbarrier) mbarrier {
	in := dec.in
	out.dst = dec.nobody('d')
	if len(in.Dst) == 1 {
		out.dst = dec.dst(&in.Dst[0], 'd')
	}
	drop, expect := in.Has(ptx.ModArriveDrop), in.Has(ptx.ModExpectTx)
	out.a = dec.constant(1, 'r')
	if len(in.Src) == 2 {
		out.a = dec.src(&in.Src[1], 'r')
	} else if len(in.Src) != 1 || expect {
		refuse("want an address and a count")
	}
	return func(w *warp, in *inst, lane int, b mbarrier) mbarrier {
		w.d[in.dst][lane] = uint64(b)
		n := w.r[in.a][lane]
		if expect {
			b = w.transfer(lane, b, int(n))
			n = 1
		}
		if n == 0 || n > b.pending() {
			w.fault(BarrierMisuse, lane, "%d arrivals, %d are pending", n, b.pending())
		}
		expected := b.expected()
		if drop {
			expected -= n
		}
		w.release(w.addr[lane])
		return w.turn(pack(b.pending()-n, expected, b.tx(), b.phase()))
	}
}

// transfer changes the bytes that a barrier waits for.
func (w *warp) transfer(lane int, b mbarrier, n int) mbarrier {
	tx := b.tx() + n
	if tx < -mbMax || tx > mbMax {
		w.fault(BarrierMisuse, lane, "%d bytes expected, want at most %d", tx, mbMax)
	}
	return w.turn(pack(b.pending(), b.expected(), tx, b.phase()))
}

// turn begins the next phase when nothing is pending.
func (w *warp) turn(b mbarrier) mbarrier {
	w.blk.spins = 0
	if b.pending() == 0 && b.tx() == 0 {
		return pack(b.expected(), b.expected(), 0, b.phase()^1)
	}
	return b
}

func mbInit(w *warp, in *inst, lane int, _ mbarrier) mbarrier {
	n := w.r[in.a][lane]
	if n == 0 || n > mbMax {
		w.fault(BarrierMisuse, lane, "a count of %d, want from 1 to %d", n, mbMax)
	}
	return newMBarrier(n)
}

// mbarrierAt turns the addresses of lanes m into places in shared memory and
// checks them.
func (w *warp) mbarrierAt(in *inst, m uint32) {
	w.addresses(in.mem)
	if in.mem.space == ptx.Generic {
		for rest := m; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros32(rest) & 31
			if w.addr[i]&windowMask != sharedBase {
				w.faultAt(BadAddressSpace, in, i, ptx.Generic, w.addr[i], "want shared memory")
			}
			w.addr[i] &^= windowMask
		}
	}
	w.checkShared(in, m)
}

// mbarrier changes a barrier object for each lane in turn.
func (w *warp) mbarrier(in *inst, m uint32, change func(*warp, *inst, int, mbarrier) mbarrier) {
	w.mbarrierAt(in, m)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		p := w.blk.mem[w.addr[i]:][:8]
		b := mbarrier(binary.LittleEndian.Uint64(p))
		if b&mbValid == 0 && !in.src.Has(ptx.ModInit) {
			w.faultAt(Uninitialised, in, i, ptx.Shared, w.addr[i], "no mbarrier was initialised here")
		}
		if w.blk.shadow.writes != nil {
			w.sharedWrite(in, w.addr[i], 8, i, cellAtomic)
		}
		binary.LittleEndian.PutUint64(p, uint64(change(w, in, i, b)))
	}
}

// waitForMBarrier reads test_wait and try_wait. A try that fails lets the other
// warps run first.
func (dec *decoder) waitForMBarrier(out *inst) {
	in := dec.in
	dec.dests(out, 'p', 0)
	parity := in.Has(ptx.ModParity)
	if len(in.Src) < 2 {
		refuse("want an address and a phase")
	}
	file := byte('d')
	if parity {
		file = 'r'
	}
	out.a = dec.src(&in.Src[1], file)
	out.kind = yielding
	out.run = func(w *warp, in *inst, m uint32) {
		w.mbarrierAt(in, m)
		var done uint32
		for rest := m; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros32(rest) & 31
			b := mbarrier(binary.LittleEndian.Uint64(w.blk.mem[w.addr[i]:]))
			if b&mbValid == 0 {
				w.faultAt(Uninitialised, in, i, ptx.Shared, w.addr[i], "no mbarrier was initialised here")
			}
			var phase uint64
			if parity {
				phase = uint64(w.r[in.a][i] & 1)
			} else {
				phase = mbarrier(w.d[in.a][i]).phase()
			}
			if b.phase() != phase {
				done |= 1 << i
				w.acquire(w.blk.mbar[w.addr[i]])
			}
		}
		w.p[in.dst] = w.p[in.dst]&^m | done
		if done != m {
			w.yield = true
			if w.blk.spins++; w.blk.spins > maxSpins {
				w.fault(Deadlock, bits.TrailingZeros32(m&^done), "nobody completes the phase of the mbarrier")
			}
		}
	}
}

// maxSpins is how many waits for mbarriers may fail in a block without any of
// them changing.
const maxSpins = 1 << 16

// release hands the warp's clocks to those that wait for an mbarrier.
func (w *warp) release(addr uint64) {
	if w.clock == nil {
		return
	}
	if w.blk.mbar == nil {
		w.blk.mbar = map[uint64][]uint32{}
	}
	clocks := w.blk.mbar[addr]
	w.join32(&clocks)
	w.blk.mbar[addr] = clocks
	w.advance()
}

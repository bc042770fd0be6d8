package exec

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// copyOp is an asynchronous copy of one lane that has been issued. Its bytes were
// read, but shared memory gets them only when the lane waits for their group.
type copyOp struct {
	lane  int
	group uint32 // of the lane
	addr  uint64
	n     int
	data  [16]byte
	begun cell // the moment of issue
}

// copyQueue holds the copies of a warp in the order of issue.
type copyQueue struct {
	ops       []copyOp
	committed [32]uint32 // groups that a lane has committed
}

func (q *copyQueue) reset() {
	q.ops = q.ops[:0]
	q.committed = [32]uint32{}
}

// copySource is the other end of a copy.
type copySource struct {
	in   inst  // an instruction that only reads it
	size int32 // register with the bytes to read, -1 for all
}

// decodeCopy reads cp.async and what commits and waits.
func (dec *decoder) decodeCopy(out *inst) bool {
	in := dec.in
	switch {
	case !in.Has(ptx.ModAsync) || in.Has(ptx.ModBulk) || in.Has(ptx.ModMbarrier):
		refuse("of the asynchronous copies only cp.async is executed")
	case in.Has(ptx.ModCommitGroup):
		out.run = commitCopies
		return true
	case in.Has(ptx.ModWaitAll):
		out.run = func(w *warp, in *inst, m uint32) { w.finishCopies(in, m, ^uint32(0)) }
		out.mem = &access{}
		return true
	case in.Has(ptx.ModWaitGroup):
		o := dec.source(0, 1)
		if o.Kind != ptx.Imm {
			refuse("want a constant number of groups")
		}
		keep := uint32(o.Bits)
		out.mem = &access{}
		out.run = func(w *warp, in *inst, m uint32) { w.finishCopies(in, m, keep) }
		return true
	}
	n := len(in.Src)
	if in.Has(ptx.ModL2CacheHint) {
		n-- // the policy changes nothing here
	}
	if n < 3 || n > 4 || in.Src[2].Kind != ptx.Imm {
		refuse("want two addresses and a size")
	}
	size := int(in.Src[2].Bits)
	if size != 4 && size != 8 && size != 16 || in.Has(ptx.ModCg) && size != 16 {
		refuse("want a size of 4, 8 or 16 bytes, with .cg of 16")
	}
	src := &copySource{size: -1}
	if n == 4 {
		if in.Src[3].Kind == ptx.Reg && dec.fn.fn.RegType(in.Src[3].Reg) == ptx.Pred {
			refuse("copies with a predicate are not executed")
		}
		src.size = dec.src(&in.Src[3], 'r')
	}
	out.mem = dec.address(&in.Src[0])
	out.mem.space, out.mem.size, out.mem.bytes = ptx.Shared, size, size
	src.in = inst{guard: -1, src: out.src, fn: out.fn, mem: dec.addressIn(&in.Src[1], ptx.Global)}
	src.in.mem.size, src.in.mem.bytes = size, size
	out.ctl = &control{copy: src}
	out.run = copyAsync
	return true
}

// copyAsync issues a copy for each lane.
func copyAsync(w *warp, in *inst, m uint32) {
	src := in.ctl.copy
	first := len(w.copies.ops)
	w.addresses(in.mem)
	w.checkShared(in, m)
	w.countBanks(in, m, uint64(in.mem.bytes), false)
	for rest := m; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		w.copies.ops = append(w.copies.ops, copyOp{lane: i, group: w.copies.committed[i], addr: w.addr[i], n: in.mem.bytes, begun: w.moment(i)})
		if w.blk.shadow.writes != nil {
			w.sharedWrite(in, w.addr[i], uint64(in.mem.bytes), i, cellPending)
		}
	}
	w.addresses(src.in.mem)
	w.aligned(&src.in, ptx.Global, m)
	w.blk.wk.stats[w.pc].requests++
	ops := w.copies.ops[first:]
	whole := m
	if src.size >= 0 {
		whole = w.copyPartly(src, m, ops)
	}
	for whole != 0 {
		a, part := w.globalPart(&src.in, whole, false)
		whole &^= part
		for j := range ops {
			if i := ops[j].lane; part>>i&1 != 0 {
				copy(ops[j].data[:ops[j].n], a.data[w.addr[i]-a.base:])
			}
		}
	}
}

// copyPartly reads for the lanes that copy fewer bytes than they write, the rest
// being zeros, and returns the other lanes.
func (w *warp) copyPartly(src *copySource, m uint32, ops []copyOp) (whole uint32) {
	for j := range ops {
		i := ops[j].lane
		n := int(w.r[src.size][i])
		if n >= ops[j].n {
			whole |= 1 << i
			continue
		}
		if n == 0 {
			continue
		}
		some := src.in
		acc := *src.in.mem
		acc.bytes = n
		some.mem = &acc
		a, _ := w.globalPart(&some, 1<<i, false)
		copy(ops[j].data[:n], a.data[w.addr[i]-a.base:])
	}
	return whole
}

func commitCopies(w *warp, _ *inst, m uint32) {
	for ; m != 0; m &= m - 1 {
		w.copies.committed[bits.TrailingZeros32(m)&31]++
	}
}

// finishCopies completes the copies of lanes m but for their last keep groups;
// ^0 means none, those not committed included.
func (w *warp) finishCopies(in *inst, m, keep uint32) {
	q := &w.copies
	s := &w.blk.shadow
	q.ops = slices.DeleteFunc(q.ops, func(op copyOp) bool {
		done := m>>op.lane&1 != 0 && (keep == ^uint32(0) || op.group+keep < q.committed[op.lane])
		if !done {
			return false
		}
		copy(w.blk.mem[op.addr:], unsafe.Slice(&op.data[0], op.n))
		if s.writes != nil {
			// The write happens now, but is told of by the line of the copy.
			now := cell(w.clock[w.id])<<32 | op.begun&0xfffffffc
			for g := op.addr / s.granule; g < (op.addr+uint64(op.n)+s.granule-1)/s.granule; g++ {
				if c := s.writes[g]; c == op.begun|cellPending {
					s.writes[g] = now
				}
				if s.races && s.plain[g] == op.begun|cellPending {
					s.plain[g] = now
				}
			}
		}
		return true
	})
}

package exec

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// barrierOp is a decoded bar or barrier.
type barrierOp struct {
	op      uint8
	aligned bool
	id      int32   // register
	count   int32   // register with the number of threads; -1: all of the block
	combine ptx.Mod // of a reduction
}

const (
	barSync = iota
	barArrive
	barRed
)

// blockBarrier is one of the sixteen barriers of a block.
type blockBarrier struct {
	count   int // threads expected, -1 for all of the block, 0 if nobody is here
	arrived int
	waiting []waiter
	clocks  []uint32 // joined clocks of those that arrived
	popc    int      // of the predicates of a reduction
	threads int
}

// waiter is a group that waits at a barrier.
type waiter struct {
	w    *warp
	in   *inst
	mask uint32
}

// arrive brings lanes mm of a group to a barrier of the block. It reports whether
// they go on at once, which they do after bar.arrive.
func (w *warp) arrive(gi int, in *inst, pc int32, mm uint32) bool {
	op := &in.ctl.barrier
	lane := bits.TrailingZeros32(mm)
	id := w.r[op.id][lane]
	if id >= 16 {
		w.fault(BarrierMisuse, lane, "barrier %d of 16", id)
	}
	count := -1
	if op.count >= 0 {
		count = int(w.r[op.count][lane])
		if count == 0 || count%32 != 0 || count > len(w.blk.warps)*32 {
			w.fault(BarrierMisuse, lane, "a count of %d threads, want a multiple of 32 up to the %d of the block", count, len(w.blk.warps)*32)
		}
	}
	b := &w.blk.barriers[id]
	if b.count != 0 && b.count != count {
		w.fault(BarrierMisuse, lane, "others came to barrier %d with another count of threads", id)
	}
	b.count = count
	b.arrived += w.arriving(mm)
	w.join32(&b.clocks)
	w.blk.wk.barriers++
	if op.op == barArrive {
		w.blk.full(w, b)
		w.tick(mm)
		return true
	}
	if op.op == barRed {
		b.popc += bits.OnesCount32(w.p[in.a] & mm)
		b.threads += bits.OnesCount32(mm)
	}
	b.waiting = append(b.waiting, waiter{w, in, mm})
	w.split(gi, group{pc: pc + 1, mask: mm, state: parked, frame: w.groups[gi].frame}, pc+1)
	w.blk.full(w, b)
	return false
}

// full lets those go that wait at a barrier with a count, as soon as the count is
// reached: the barrier is then free for the next round.
func (b *block) full(w *warp, bar *blockBarrier) {
	if bar.count > 0 && bar.arrived > bar.count {
		w.fault(BarrierMisuse, 0, "%d threads came to a barrier of %d", bar.arrived, bar.count)
	}
	if bar.arrived == bar.count {
		bar.open()
	}
}

// arriving counts threads as a barrier does: lanes that the block does not have
// come with the last of a warp.
func (w *warp) arriving(mm uint32) int {
	if mm == w.live {
		return 32
	}
	return bits.OnesCount32(mm)
}

// release lets those go that wait at a barrier for the whole block, if every
// thread that has not exited does, and reports whether there were any.
func (b *block) release() (any bool) {
	alive := 0
	for _, w := range b.warps {
		alive += bits.OnesCount32(w.live)
	}
	for id := range b.barriers {
		bar := &b.barriers[id]
		if bar.count != -1 {
			continue
		}
		waiting := 0
		for _, x := range bar.waiting {
			waiting += bits.OnesCount32(x.mask)
		}
		if waiting == alive {
			bar.open()
			any = true
		}
	}
	return any
}

// open lets those go that wait at a barrier.
func (bar *blockBarrier) open() {
	for _, x := range bar.waiting {
		x.w.acquire(bar.clocks)
		x.w.unpark(x.mask)
		if x.in.ctl.barrier.op == barRed {
			x.w.reduced(x.in, x.mask, bar)
		}
	}
	*bar = blockBarrier{waiting: bar.waiting[:0], clocks: bar.clocks[:0]}
}

// reduced writes the result of a bar.red.
func (w *warp) reduced(in *inst, m uint32, bar *blockBarrier) {
	yes := bar.popc == bar.threads
	switch in.ctl.barrier.combine {
	case ptx.ModPopc:
		w.fill(in.dst, m, uint32(bar.popc))
		return
	case ptx.ModOr:
		yes = bar.popc > 0
	}
	w.p[in.dst] &^= m
	if yes {
		w.p[in.dst] |= m
	}
}

// unpark lets lanes run that waited at a barrier.
func (w *warp) unpark(m uint32) {
	for i := range w.groups {
		if g := &w.groups[i]; g.state == parked && g.mask&m != 0 {
			if rest := g.mask &^ m; rest != 0 { // merged with lanes at another barrier
				w.groups = append(w.groups, group{pc: g.pc, mask: rest, state: parked, frame: g.frame})
				g = &w.groups[i]
			}
			g.mask &= m
			g.state = running
		}
	}
}

// deadlock reports that no warp of the block can go on.
func (b *block) deadlock() {
	var first *warp
	var at *group
	var all []string
	for _, w := range b.warps {
		for i := range w.groups {
			g := &w.groups[i]
			if first == nil || at.state == parked && g.state == gathering {
				first, at = w, g
			}
			pc := g.pc
			if g.state == parked {
				pc--
			}
			if in := &b.k.code[pc]; len(all) < 8 && in.src != nil {
				all = append(all, fmt.Sprintf("warp %d lanes %#08x at line %d (%s)", w.id, g.mask, in.src.Line, in.src.Name))
			}
		}
	}
	pc, lane := at.pc, bits.TrailingZeros32(at.mask)
	where := "waiting: " + strings.Join(all, ", ")
	if at.state == parked {
		panic(first.newFault(Deadlock, lane, pc-1, where))
	}
	in := &b.k.code[pc]
	if in.kind == barrier {
		panic(first.newFault(DivergentBarrier, lane, pc, fmt.Sprintf("only lanes %#08x of %#08x reach it; %s", at.mask, first.live, where)))
	}
	panic(first.newFault(DivergentSync, lane, pc, fmt.Sprintf("lanes %#08x are named but only %#08x are here; %s", at.want, at.mask, where)))
}

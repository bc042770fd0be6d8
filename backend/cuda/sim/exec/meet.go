package exec

import "math/bits"

// meet brings the lanes mm of group gi to a warp-wide instruction or a barrier of
// the block. It reports whether the group may go on at once; otherwise the lanes
// that must wait are a group of their own in a state of waiting.
func (w *warp) meet(gi int, in *inst, pc int32, m, mm uint32) bool {
	want := w.live
	if in.kind == barrier && !in.ctl.barrier.aligned {
		want = mm
	}
	named := uint32(full)
	switch {
	case in.ctl.members >= 0:
		// Lanes may name different sets; each set meets on its own.
		members := &w.r[in.ctl.members]
		named = members[bits.TrailingZeros32(mm)&31]
		same := equalLanes(mm, func(i int) bool { return members[i] == named })
		w.checkMembers(same, named)
		if same != mm {
			f := w.groups[gi].frame
			w.split(gi, group{pc: pc, mask: same, state: gathering, want: named, frame: f}, pc)
			if out := m &^ mm; out != 0 {
				w.split(gi, group{pc: pc + 1, mask: out, frame: f}, pc)
			}
			return false
		}
		want = named & w.live
	case in.kind == converge && w.exist != full:
		w.fault(DivergentSync, bits.TrailingZeros32(mm), "the instruction takes all 32 lanes, the warp has %d", bits.OnesCount32(w.exist))
	case in.kind == converge && w.live != full:
		w.fault(DivergentSync, bits.TrailingZeros32(mm), "the instruction takes all 32 lanes, of which lane %d has exited", bits.TrailingZeros32(^w.live))
	}
	if want&^mm != 0 {
		w.split(gi, group{pc: pc, mask: mm, state: gathering, want: named, frame: w.groups[gi].frame}, pc+1)
		return false
	}
	if in.kind == converge {
		in.run(w, in, mm)
		return true
	}
	return w.arrive(gi, in, pc, mm)
}

func (w *warp) checkMembers(lanes, set uint32) {
	if out := lanes &^ set; out != 0 {
		lane := bits.TrailingZeros32(out)
		w.fault(BadMask, lane, "membermask %#08x does not name lane %d, which executes", set, lane)
	}
}

// gather looks whether the lanes that a gathering group waits for have come, and
// if so executes its instruction.
func (w *warp) gather(gi int) {
	g := &w.groups[gi]
	in := &w.blk.k.code[g.pc]
	here := g.mask
	if in.ctl.anywhere {
		for i := range w.groups {
			if h := &w.groups[i]; h.state == gathering && h.want == g.want && w.blk.k.code[h.pc].ctl.anywhere {
				here |= h.mask
			}
		}
	}
	if g.want&w.live&^here != 0 {
		return
	}
	w.pc = g.pc
	w.blk.wk.executed++ // so that the block sees that something happened
	if in.kind == barrier {
		g.state, g.want = running, 0
		if w.arrive(gi, in, g.pc, g.mask) {
			w.groups[gi].pc++
		}
		return
	}
	if !in.ctl.anywhere {
		in.run(w, in, g.mask)
		g.state, g.want = running, 0
		g.pc++
		return
	}
	want := g.want
	for i := range w.groups {
		if h := &w.groups[i]; h.state == gathering && h.want == want && w.blk.k.code[h.pc].ctl.anywhere {
			h.state, h.want = running, 0
			h.pc++
		}
	}
	w.tick(want)
}

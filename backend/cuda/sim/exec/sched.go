package exec

import "math/bits"

// group is some lanes of a warp that are at one instruction. Of a warp's groups
// the one with the lowest program counter runs, until it meets the next one:
// lanes that a branch parted come together where their paths join, because a
// compiler places the join behind both.
type group struct {
	pc      int32
	mask    uint32
	state   waiting
	yielded bool   // others go first
	ran     uint64 // instructions since it last let others go
	want    uint32 // of a gathering group: the lanes that must meet
	frame   *frame
}

// waiting tells why a group does not run.
type waiting uint8

const (
	running   waiting = iota
	gathering         // at a warp-wide instruction, until the other lanes come
	parked            // at a barrier of the block
)

// frame is an activation of a device function.
type frame struct {
	ret  int32 // where the caller goes on
	site *callSite
	f    *function
	up   *frame
}

// same reports whether two groups return to the same places.
func (f *frame) same(g *frame) bool {
	for ; f != g; f, g = f.up, g.up {
		if f == nil || g == nil || f.ret != g.ret || f.f != g.f {
			return false
		}
	}
	return true
}

// slice is how many instructions a group executes before the others of its warp,
// and the other warps, get a turn; it matters only for code that waits in a loop.
const slice = 1 << 16

// run executes the warp until every group waits or has ended, or until one asks
// to let other warps run.
func (w *warp) run() {
	b := w.blk
	for {
		gi := w.pick()
		if gi < 0 {
			return
		}
		w.runGroup(gi, w.limit(gi))
		if w.yield {
			w.yield = false
			return
		}
		if b.wk.executed >= b.wk.check {
			b.wk.checkLimits(w)
		}
	}
}

// pick joins groups that met, lets those go whose lanes are all there, and
// returns the group to run, -1 if none can.
func (w *warp) pick() int {
	if len(w.groups) == 1 && w.groups[0].state == running {
		w.groups[0].yielded = false
		return 0
	}
	w.join()
	for i := range w.groups {
		if w.groups[i].state == gathering {
			w.gather(i)
		}
	}
	w.join()
	best, yielded := -1, false
	for i := range w.groups {
		g := &w.groups[i]
		if g.state != running {
			continue
		}
		if g.yielded {
			yielded = true
			continue
		}
		if best < 0 || g.pc < w.groups[best].pc {
			best = i
		}
	}
	if best < 0 && yielded {
		for i := range w.groups {
			w.groups[i].yielded = false
		}
		return w.pick()
	}
	return best
}

// join merges groups at the same place.
func (w *warp) join() {
	for i := 0; i < len(w.groups); i++ {
		for j := i + 1; j < len(w.groups); j++ {
			g, h := &w.groups[i], &w.groups[j]
			if g.pc == h.pc && g.state == h.state && g.want == h.want && g.frame.same(h.frame) {
				g.mask |= h.mask
				g.yielded = g.yielded && h.yielded
				w.groups = append(w.groups[:j], w.groups[j+1:]...)
				j--
			}
		}
	}
}

// limit is where a group must stop because another one waits there.
func (w *warp) limit(gi int) int32 {
	limit := int32(len(w.blk.k.code))
	pc := w.groups[gi].pc
	for i := range w.groups {
		if g := &w.groups[i]; i != gi && g.pc > pc && g.pc < limit {
			limit = g.pc
		}
	}
	return limit
}

// runGroup executes a group up to the limit or to whatever ends its turn.
func (w *warp) runGroup(gi int, limit int32) {
	b := w.blk
	wk := b.wk
	code, stats := b.k.code, wk.stats
	pc, m := w.groups[gi].pc, w.groups[gi].mask
	lanes := uint64(bits.OnesCount32(m))
	begin := wk.executed
	executed := begin
	for pc < limit {
		in := &code[pc]
		st := &stats[pc]
		st.warps++
		executed++
		mm := m
		if in.guard >= 0 {
			mm &= w.p[in.guard] ^ in.negated
			st.lanes += uint64(bits.OnesCount32(mm))
		} else {
			st.lanes += lanes
		}
		if in.kind == plain {
			if mm != 0 {
				w.pc = pc
				in.run(w, in, mm)
			}
			pc++
			continue
		}
		w.pc = pc
		wk.executed = executed
		next, again := w.control(gi, in, pc, m, mm)
		if !again {
			return
		}
		if next <= pc && executed >= wk.check {
			wk.checkLimits(w)
		}
		if next <= pc && w.groups[gi].ran+executed-begin >= slice {
			g := &w.groups[gi]
			g.pc, g.yielded, g.ran = next, true, 0
			w.yield = true
			return
		}
		if next != pc+1 && len(w.groups) > 1 {
			g := &w.groups[gi]
			g.pc = next
			g.ran += executed - begin
			return
		}
		pc = next
		if next := w.groups[gi].mask; next != m {
			m = next
			lanes = uint64(bits.OnesCount32(m))
		}
	}
	wk.executed = executed
	w.groups[gi].pc = pc
}

// control executes an instruction that is not plain, for the lanes mm of the
// group gi with lanes m. It returns where the group goes on; again is false if
// the group's turn has ended, with its state set.
func (w *warp) control(gi int, in *inst, pc int32, m, mm uint32) (next int32, again bool) {
	g := &w.groups[gi]
	switch in.kind {
	case branch:
		switch mm {
		case m:
			return in.target, true
		case 0:
			return pc + 1, true
		}
		w.split(gi, group{pc: in.target, mask: mm, frame: g.frame}, pc+1)
		return 0, false
	case indexed, call:
		w.jump(gi, in, pc, mm)
		return 0, false
	case ret:
		if mm != 0 && g.frame != nil {
			f := g.frame
			f.site.results(w, f.f, mm)
			w.split(gi, group{pc: f.ret, mask: mm, frame: f.up}, pc+1)
			return 0, false
		}
		return w.leave(gi, pc, mm)
	case exit:
		return w.leave(gi, pc, mm)
	case trapped:
		if mm != 0 {
			w.fault(Trap, bits.TrailingZeros32(mm), "the kernel gave up")
		}
	case yielding:
		if mm != 0 {
			in.run(w, in, mm)
			if w.yield {
				g.pc, g.yielded = pc+1, true
				return 0, false
			}
		}
	case converge, barrier:
		if mm != 0 && !w.meet(gi, in, pc, m, mm) {
			return 0, false
		}
	}
	return pc + 1, true
}

// split parts the lanes of a new group from group gi; those that remain, if any,
// go on at next.
func (w *warp) split(gi int, part group, next int32) {
	g := &w.groups[gi]
	if g.mask == part.mask {
		*g = part
		return
	}
	g.mask &^= part.mask
	g.pc = next
	w.groups = append(w.groups, part)
}

// leave ends the lanes mm of a group.
func (w *warp) leave(gi int, pc int32, mm uint32) (int32, bool) {
	w.live &^= mm
	g := &w.groups[gi]
	if g.mask &^= mm; g.mask == 0 {
		w.groups = append(w.groups[:gi], w.groups[gi+1:]...)
		return 0, false
	}
	g.pc = pc + 1
	return pc + 1, true
}

// jump executes brx.idx and call. Lanes may go to different places.
func (w *warp) jump(gi int, in *inst, pc int32, mm uint32) {
	g := w.groups[gi]
	if mm == 0 {
		w.groups[gi].pc = pc + 1
		return
	}
	for rest := mm; rest != 0; {
		lane := bits.TrailingZeros32(rest)
		part := group{mask: rest, frame: g.frame}
		switch {
		case in.kind == indexed:
			index := &w.r[in.a]
			part.mask = equalLanes(rest, func(i int) bool { return index[i] == index[lane] })
			if int(index[lane]) >= len(in.ctl.targets) {
				w.fault(BadAddressSpace, lane, "index %d of %d targets", index[lane], len(in.ctl.targets))
			}
			part.pc = in.ctl.targets[index[lane]]
		default:
			site := in.ctl.call
			f := site.direct
			if f == nil {
				addr := &w.d[in.a]
				part.mask = equalLanes(rest, func(i int) bool { return addr[i] == addr[lane] })
				f = w.callee(site, lane, addr[lane])
			}
			site.arguments(w, f, part.mask)
			part.pc, part.frame = f.start, &frame{ret: pc + 1, site: site, f: f, up: g.frame}
		}
		rest &^= part.mask
		w.split(gi, part, pc+1)
		if w.groups[gi].mask == part.mask {
			break // the group itself was the last part
		}
	}
}

func equalLanes(m uint32, equal func(i int) bool) (same uint32) {
	for ; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m); equal(i) {
			same |= 1 << i
		}
	}
	return same
}

// callee finds the function of an indirect call.
func (w *warp) callee(site *callSite, lane int, addr uint64) *function {
	i := addr - funcBase
	if i >= uint64(len(w.blk.k.funcs)) {
		w.fault(BadAddressSpace, lane, "call of %#x, which is no function", addr)
	}
	f := w.blk.k.funcs[i]
	if !site.fits(f) {
		w.fault(BadAddressSpace, lane, "call of %s with other arguments than it declares", f.fn.Name)
	}
	return f
}

// arguments copies what a call passes into the parameters of the function.
func (s *callSite) arguments(w *warp, f *function, m uint32) {
	for i, n := range s.argN {
		w.copyFrame(m, f.params[i], s.args[i], n)
	}
}

// results copies what a function returns into the caller's variables.
func (s *callSite) results(w *warp, f *function, m uint32) {
	for i, n := range s.retsN {
		w.copyFrame(m, s.rets[i], f.rets[i], n)
	}
}

func (w *warp) copyFrame(m uint32, to, from uint64, n int) {
	size := uint64(w.blk.k.frame)
	for ; m != 0; m &= m - 1 {
		lane := w.params[uint64(bits.TrailingZeros32(m))*size:][:size]
		copy(lane[to:][:n], lane[from:][:n])
	}
}

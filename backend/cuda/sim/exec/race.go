package exec

import (
	"fmt"
	"math/bits"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// Races are found with vector clocks of warps. A warp's own clock advances at
// every point where its lanes, or it and other warps, are ordered: a warp-wide
// instruction, a barrier. Clock v of warp w is the last moment of warp v that w
// is ordered behind. For each granule of shared memory the last write is kept
// (clock, thread and instruction), the last that was not atomic, and, for each
// warp, the last read. Two accesses of different threads of which one writes race
// unless the later one's clock of the earlier one's warp has reached the moment of
// the earlier. A warp-wide instruction may order some lanes of a warp alone: of
// each other lane, too, a lane has a clock.
//
// After FastTrack (Flanagan and Freund, PLDI 2009), with warps for threads.

// cell packs a moment: clock 32 bits, instruction 20, warp 5, lane 5 and two
// flags. 0 is never.
type cell uint64

const (
	cellPending cell = 1 // of a write: an asynchronous copy under way
	cellMany    cell = 1 // of a read: by more lanes than the one named
	cellAtomic  cell = 2 // of a write: races with no other atomic access
)

func (c cell) clock() uint32 { return uint32(c >> 32) }
func (c cell) pc() int32     { return int32(c >> 12 & 0xfffff) }
func (c cell) lane() int     { return int(c >> 2 & 31) }
func (c cell) warp() int     { return int(c >> 7 & 31) }

// moment returns the cell of an access of a lane now.
func (w *warp) moment(lane int) cell {
	if w.clock == nil {
		return 0
	}
	return cell(w.clock[w.id])<<32 | cell(w.pc&0xfffff)<<12 | cell(w.id)<<7 | cell(lane)<<2
}

// shadow is what is known about the shared memory of a block.
type shadow struct {
	granule uint64
	warps   int
	writes  []cell
	plain   []cell // writes that are not atomic: all that an atomic access races with
	reads   []cell // [granule][warp]
	races   bool   // else only what is undefined is looked for
	undef   bool
}

// tick marks a moment at which the warp's lanes of mask m are ordered.
func (w *warp) tick(m uint32) {
	switch {
	case w.clock == nil:
	case w.live&^m == 0:
		w.advance()
	default:
		w.met.meet(m, w.clock[w.id])
		w.clock[w.id]++
	}
}

// advance marks a moment at which all lanes of the warp are ordered.
func (w *warp) advance() {
	w.together = w.clock[w.id]
	w.clock[w.id]++
	w.setFloor()
}

// lanesMet holds, as [i][j], the last moment of lane j that lane i is ordered
// behind. What lies before the last moment of all lanes does not matter.
type lanesMet [32][32]uint32

// meet orders the lanes of mask m behind what each of them did up to a moment.
func (l *lanesMet) meet(m, moment uint32) {
	var past [32]uint32
	for rest := m; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		for j, c := range l[i] {
			past[j] = max(past[j], c)
		}
	}
	for rest := m; rest != 0; rest &= rest - 1 {
		past[bits.TrailingZeros32(rest)&31] = moment
	}
	for rest := m; rest != 0; rest &= rest - 1 {
		l[bits.TrailingZeros32(rest)&31] = past
	}
}

// setFloor finds the clock up to which every moment of any warp is ordered before
// what this warp does now.
func (w *warp) setFloor() {
	floor := w.together
	for i, c := range w.clock {
		if i != w.id {
			floor = min(floor, c)
		}
	}
	w.epoch = floor
}

// join32 adds the warp's clocks to those of a barrier.
func (w *warp) join32(clocks *[]uint32) {
	if w.clock == nil {
		return
	}
	if len(*clocks) == 0 {
		*clocks = append(*clocks, w.clock...)
		return
	}
	for i, c := range w.clock {
		(*clocks)[i] = max((*clocks)[i], c)
	}
}

// acquire orders the warp behind those that arrived at a barrier.
func (w *warp) acquire(clocks []uint32) {
	if w.clock == nil || len(clocks) == 0 {
		return
	}
	for i, c := range clocks {
		w.clock[i] = max(w.clock[i], c)
	}
	w.advance()
}

// ordered reports whether a moment of another thread lies before now.
func (w *warp) ordered(c cell, lane int) bool {
	if c.clock() <= w.epoch {
		return true
	}
	if v := c.warp(); v != w.id {
		return c.clock() <= w.clock[v]
	}
	return c.lane() == lane || c.clock() <= max(w.together, w.met[lane&31][c.lane()])
}

// sharedRead notes that a lane, or several, read n bytes, and looks for a write
// that is not ordered before and for bytes that nothing wrote.
func (w *warp) sharedRead(in *inst, addr, n uint64, lane int, many bool) {
	s := &w.blk.shadow
	now := w.moment(lane)
	if many {
		now |= cellMany
	}
	for g := addr / s.granule; g < (addr+n+s.granule-1)/s.granule; g++ {
		c := s.writes[g]
		if c == 0 || c&cellPending != 0 {
			if s.undef || c != 0 {
				w.undefinedShared(in, addr, lane, c)
			}
		}
		if !s.races {
			continue
		}
		if in.mem.strong {
			c = s.plain[g]
		}
		if c.clock() > w.epoch && (!w.ordered(c, lane) || many && c.warp() == w.id && c.clock() == w.clock[w.id]) {
			w.race(in, addr, lane, "reads what thread %v wrote at line %d", c)
		}
		if !in.mem.strong {
			r := &s.reads[int(g)*s.warps+w.id]
			if !w.ordered(*r, lane) || r.clock() == now.clock() && *r&cellMany != 0 {
				*r = now | cellMany
			} else {
				*r = now
			}
		}
	}
}

func (w *warp) undefinedShared(in *inst, addr uint64, lane int, c cell) {
	if c == 0 {
		w.faultAt(Uninitialised, in, lane, ptx.Shared, addr, "nothing wrote it in this block")
	}
	w.faultAt(Uninitialised, in, lane, ptx.Shared, addr, "the asynchronous copy of line %d is not waited for", w.lineOf(c))
}

// sharedWrite notes that a lane writes n bytes, and looks for accesses that are
// not ordered before. Writing what stands there already is no race.
func (w *warp) sharedWrite(in *inst, addr, n uint64, lane int, flags cell) {
	s := &w.blk.shadow
	now := w.moment(lane) | flags
	for g := addr / s.granule; g < (addr+n+s.granule-1)/s.granule; g++ {
		if s.races {
			c := s.writes[g]
			if in.mem.strong {
				c = s.plain[g]
			}
			if c.clock() > w.epoch && !w.ordered(c, lane) && !w.unchanged(in, addr, lane) {
				w.race(in, addr, lane, "overwrites what thread %v wrote at line %d", c)
			}
			for v, r := range s.reads[int(g)*s.warps:][:s.warps] {
				if r.clock() <= w.epoch {
					continue
				}
				late := !w.ordered(r, lane) || r&cellMany != 0 && v == w.id && r.clock() == w.clock[v]
				if late && !w.unchanged(in, addr, lane) {
					w.race(in, addr, lane, "overwrites what thread %v reads at line %d", r)
				}
			}
			if flags&cellAtomic == 0 {
				s.plain[g] = now
			}
		}
		s.writes[g] = now
	}
}

func (w *warp) lineOf(c cell) int {
	if src := w.blk.k.code[c.pc()].src; src != nil {
		return src.Line
	}
	return 0
}

func (w *warp) race(in *inst, addr uint64, lane int, what string, other cell) {
	thread := w.blk.thread(other.warp()*32 + other.lane())
	w.faultAt(SharedRace, in, lane, ptx.Shared, addr, "%s", fmt.Sprintf(what, thread, w.lineOf(other))+", with no barrier between")
}

package exec

import (
	"math/bits"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// The steps here run with the lanes that a membermask names, less those that
// have exited.

// shuffle moves values between lanes: a lane reads the one that the mode and its
// operand name, if that lies within its segment, else itself. Rules: PTX ISA,
// shfl.sync.
func shuffle(w *warp, in *inst, m uint32, mode ptx.Mod) {
	src := w.r[in.a]
	dst, lanes, clamp := &w.r[in.dst], &w.r[in.b], &w.r[in.c]
	var within uint32
	for rest := m; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		b, c := int(lanes[i]&31), clamp[i]
		seg := int(c >> 8 & 31)
		low := i & seg
		high := low | int(c&31)&^seg
		j, ok := i^b, false
		switch mode {
		case ptx.ModUp: // whose clamp is the lowest lane of the segment
			j = i - b
			ok = j >= high
		case ptx.ModDown:
			j = i + b
			ok = j <= high
		case ptx.ModBfly:
			ok = j <= high
		case ptx.ModIdx:
			j = low | b&^seg
			ok = j <= high
		}
		if !ok {
			j = i
		} else {
			within |= 1 << i
		}
		if m>>(j&31)&1 == 0 {
			w.fault(AbsentLane, i, "lane %d reads lane %d, which does not take part", i, j)
		}
		dst[i] = src[j&31]
	}
	w.p[in.dst2] = w.p[in.dst2]&^m | within
	w.tick(m)
}

func shuffleUp(w *warp, in *inst, m uint32)   { shuffle(w, in, m, ptx.ModUp) }
func shuffleDown(w *warp, in *inst, m uint32) { shuffle(w, in, m, ptx.ModDown) }
func shuffleXor(w *warp, in *inst, m uint32)  { shuffle(w, in, m, ptx.ModBfly) }
func shuffleIdx(w *warp, in *inst, m uint32)  { shuffle(w, in, m, ptx.ModIdx) }

func voteAll(w *warp, in *inst, m uint32) { vote(w, in, m, w.p[in.a]&m == m) }

func voteAny(w *warp, in *inst, m uint32) { vote(w, in, m, w.p[in.a]&m != 0) }

func voteUni(w *warp, in *inst, m uint32) {
	v := w.p[in.a] & m
	vote(w, in, m, v == 0 || v == m)
}

func vote(w *warp, in *inst, m uint32, yes bool) {
	w.p[in.dst] &^= m
	if yes {
		w.p[in.dst] |= m
	}
	w.tick(m)
}

func voteBallot(w *warp, in *inst, m uint32) {
	w.fill(in.dst, m, w.p[in.a]&m)
	w.tick(m)
}

// fill writes one value to a register of some lanes.
func (w *warp) fill(reg int32, m, v uint32) {
	d := &w.r[reg]
	for ; m != 0; m &= m - 1 {
		d[bits.TrailingZeros32(m)&31] = v
	}
}

func matchAny32(w *warp, in *inst, m uint32) { matchAny(w, in, m, &w.r[in.a]) }
func matchAny64(w *warp, in *inst, m uint32) { matchAny(w, in, m, &w.d[in.a]) }
func matchAll32(w *warp, in *inst, m uint32) { matchAll(w, in, m, &w.r[in.a]) }
func matchAll64(w *warp, in *inst, m uint32) { matchAll(w, in, m, &w.d[in.a]) }

func matchAny[T uint32 | uint64](w *warp, in *inst, m uint32, src *[32]T) {
	a := *src
	for rest := m; rest != 0; {
		first := bits.TrailingZeros32(rest)
		var same uint32
		for r := rest; r != 0; r &= r - 1 {
			if i := bits.TrailingZeros32(r); a[i] == a[first] {
				same |= 1 << i
			}
		}
		w.fill(in.dst, same, same)
		rest &^= same
	}
	w.tick(m)
}

func matchAll[T uint32 | uint64](w *warp, in *inst, m uint32, src *[32]T) {
	first := src[bits.TrailingZeros32(m)]
	same := true
	for r := m; r != 0; r &= r - 1 {
		same = same && src[bits.TrailingZeros32(r)] == first
	}
	w.p[in.dst2] &^= m
	if same {
		w.p[in.dst2] |= m
		w.fill(in.dst, m, m)
	} else {
		w.fill(in.dst, m, 0)
	}
	w.tick(m)
}

// reduxOf returns the step of a redux.sync, nil if there is none.
func reduxOf(op *ptx.Opcode) step {
	signed := op.Type() == ptx.S32
	var combine func(a, b uint32) uint32
	switch {
	case op.Has(ptx.ModAdd):
		combine = func(a, b uint32) uint32 { return a + b }
	case op.Has(ptx.ModMin) && signed:
		combine = func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) }
	case op.Has(ptx.ModMax) && signed:
		combine = func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }
	case op.Has(ptx.ModMin) && op.Type() == ptx.U32:
		combine = func(a, b uint32) uint32 { return min(a, b) }
	case op.Has(ptx.ModMax) && op.Type() == ptx.U32:
		combine = func(a, b uint32) uint32 { return max(a, b) }
	case op.Has(ptx.ModAnd):
		combine = func(a, b uint32) uint32 { return a & b }
	case op.Has(ptx.ModOr):
		combine = func(a, b uint32) uint32 { return a | b }
	case op.Has(ptx.ModXor):
		combine = func(a, b uint32) uint32 { return a ^ b }
	default:
		return nil
	}
	return func(w *warp, in *inst, m uint32) {
		a := &w.r[in.a]
		v := a[bits.TrailingZeros32(m)&31]
		for r := m & (m - 1); r != 0; r &= r - 1 {
			v = combine(v, a[bits.TrailingZeros32(r)&31])
		}
		w.fill(in.dst, m, v)
		w.tick(m)
	}
}

// elect chooses the lowest lane.
func elect(w *warp, in *inst, m uint32) {
	leader := bits.TrailingZeros32(m)
	w.fill(in.dst, m, uint32(leader))
	w.p[in.dst2] = w.p[in.dst2]&^m | 1<<leader
	w.tick(m)
}

func activeMask(w *warp, in *inst, m uint32) { w.fill(in.dst, m, m) }

// The clocks count the instructions that the worker has executed.

func clock32(w *warp, in *inst, m uint32) { w.fill(in.dst, m, uint32(w.blk.wk.executed)) }

func clockHi(w *warp, in *inst, m uint32) { w.fill(in.dst, m, uint32(w.blk.wk.executed>>32)) }

func clock64(w *warp, in *inst, m uint32) {
	for ; m != 0; m &= m - 1 {
		w.d[in.dst][bits.TrailingZeros32(m)&31] = w.blk.wk.executed
	}
}

package exec

import "github.com/sinter-ml/sinter/backend/cuda/ptx"

// handlers decode the opcodes that touch control flow, other lanes or memory. A
// handler that answers false leaves the instruction to the table of forms.
var handlers = [1 << 8]func(dec *decoder, out *inst) bool{
	ptx.OpBra:            (*decoder).decodeBranch,
	ptx.OpBrx:            (*decoder).decodeIndexed,
	ptx.OpRet:            func(_ *decoder, out *inst) bool { out.kind = ret; return true },
	ptx.OpExit:           func(_ *decoder, out *inst) bool { out.kind = exit; return true },
	ptx.OpTrap:           func(_ *decoder, out *inst) bool { out.kind = trapped; return true },
	ptx.OpBrkpt:          func(_ *decoder, out *inst) bool { out.kind = trapped; return true },
	ptx.OpCall:           (*decoder).decodeCall,
	ptx.OpBar:            (*decoder).decodeBarrier,
	ptx.OpBarrier:        (*decoder).decodeBarrier,
	ptx.OpShfl:           (*decoder).decodeShuffle,
	ptx.OpVote:           (*decoder).decodeVote,
	ptx.OpMatch:          (*decoder).decodeMatch,
	ptx.OpRedux:          (*decoder).decodeRedux,
	ptx.OpElect:          (*decoder).decodeElect,
	ptx.OpActivemask:     (*decoder).decodeActiveMask,
	ptx.OpNanosleep:      func(_ *decoder, out *inst) bool { out.kind, out.run = yielding, letOthers; return true },
	ptx.OpFence:          (*decoder).decodeNothing,
	ptx.OpMembar:         (*decoder).decodeNothing,
	ptx.OpPrefetch:       (*decoder).decodeNothing,
	ptx.OpPrefetchu:      (*decoder).decodeNothing,
	ptx.OpPmevent:        (*decoder).decodeNothing,
	ptx.OpGriddepcontrol: (*decoder).decodeNothing, // launches follow each other here
	ptx.OpMov:            (*decoder).decodeClock,
	ptx.OpLd:             (*decoder).decodeLoad,
	ptx.OpLdu:            (*decoder).decodeLoad,
	ptx.OpSt:             (*decoder).decodeStore,
	ptx.OpAtom:           (*decoder).decodeAtomic,
	ptx.OpRed:            (*decoder).decodeAtomic,
	ptx.OpCvta:           (*decoder).decodeConvertAddress,
	ptx.OpIsspacep:       (*decoder).decodeIsSpace,
	ptx.OpCp:             (*decoder).decodeCopy,
	ptx.OpMbarrier:       (*decoder).decodeMBarrier,
	ptx.OpSetmaxnreg:     (*decoder).decodeNothing,
	ptx.OpDiscard:        (*decoder).decodeNothing,
	ptx.OpApplypriority:  (*decoder).decodeNothing,
}

// decodeNothing is for instructions that only order memory or hint at what comes.
// Memory is sequentially consistent here: the lanes of a block take turns.
func (dec *decoder) decodeNothing(out *inst) bool {
	out.run = func(*warp, *inst, uint32) {}
	return true
}

func letOthers(w *warp, _ *inst, _ uint32) { w.yield = true }

func (dec *decoder) decodeBranch(out *inst) bool {
	if len(dec.in.Src) != 1 || dec.in.Src[0].Kind != ptx.LabelRef {
		refuse("want a label")
	}
	out.kind = branch
	return true
}

func (dec *decoder) decodeIndexed(out *inst) bool {
	if len(dec.in.Src) != 2 || dec.in.Src[1].Kind != ptx.TableRef {
		refuse("want an index and a list of targets")
	}
	out.kind, out.ctl = indexed, &control{}
	out.a = dec.src(&dec.in.Src[0], 'r')
	return true
}

// callSite is what a call needs beside its target: where the arguments and the
// returned values lie in the frame memory.
type callSite struct {
	direct      *function // nil for an indirect call
	args, rets  []uint64
	argN, retsN []int
}

func (dec *decoder) decodeCall(out *inst) bool {
	c := dec.in.Call
	s := &callSite{}
	for _, d := range c.Args {
		s.args, s.argN = append(s.args, dec.frameVar(d)), append(s.argN, d.Size)
	}
	for _, d := range c.Returns {
		s.rets, s.retsN = append(s.rets, dec.frameVar(d)), append(s.retsN, d.Size)
	}
	out.kind, out.ctl = call, &control{call: s}
	if c.Target.Kind == ptx.Reg {
		out.a = dec.src(&c.Target, 'd')
		return true
	}
	for _, f := range dec.k.funcs {
		if f.fn.Name == c.Target.Sym {
			s.direct = f
		}
	}
	if !s.fits(s.direct) {
		refuse("want the arguments and results that the function declares")
	}
	return true
}

func (dec *decoder) frameVar(d *ptx.Decl) uint64 {
	off, ok := dec.k.frameVars[d]
	if !ok {
		refuse("want a .param variable of a function: %s", d.Name)
	}
	return off
}

// fits reports whether a function takes what a call passes.
func (s *callSite) fits(f *function) bool {
	if f == nil || len(s.args) != len(f.params) || len(s.rets) != len(f.rets) {
		return false
	}
	for i, n := range s.argN {
		if n != f.paramN[i] {
			return false
		}
	}
	for i, n := range s.retsN {
		if n != f.retsN[i] {
			return false
		}
	}
	return true
}

// decodeBarrier reads bar, barrier and bar.warp.
func (dec *decoder) decodeBarrier(out *inst) bool {
	in := dec.in
	if in.Has(ptx.ModWarp) {
		out.kind, out.ctl = converge, &control{members: dec.src(dec.source(0, 1), 'r'), anywhere: true}
		out.run = func(w *warp, _ *inst, m uint32) { w.tick(m) }
		return true
	}
	b := barrierOp{count: -1, aligned: in.Op == ptx.OpBar || in.Has(ptx.ModAligned)}
	n := len(in.Src)
	switch {
	case in.Has(ptx.ModCluster) || in.Has(ptx.ModWait):
		refuse("clusters of blocks are not executed")
	case in.Has(ptx.ModRed):
		b.op = barRed
		switch {
		case in.Has(ptx.ModPopc):
			b.combine = ptx.ModPopc
		case in.Has(ptx.ModAnd):
			b.combine = ptx.ModAnd
		case in.Has(ptx.ModOr):
			b.combine = ptx.ModOr
		}
		if n--; n < 1 || len(in.Dst) != 1 {
			refuse("want a barrier, perhaps a count, and a predicate")
		}
		out.a = dec.src(&in.Src[n], 'p')
		file := byte('p')
		if b.combine == ptx.ModPopc {
			file = 'r'
		}
		out.dst = dec.dst(&in.Dst[0], file)
	case in.Has(ptx.ModArrive):
		b.op = barArrive
	}
	if n < 1 || n > 2 || b.op == barArrive && n != 2 {
		refuse("want a barrier and perhaps a count")
	}
	b.id = dec.src(&in.Src[0], 'r')
	if n == 2 {
		b.count = dec.src(&in.Src[1], 'r')
	}
	out.kind, out.ctl = barrier, &control{members: -1, barrier: b}
	return true
}

// source returns an operand of an instruction with exactly n sources.
func (dec *decoder) source(i, n int) *ptx.Operand {
	if len(dec.in.Src) != n {
		refuse("want %d source operands", n)
	}
	return &dec.in.Src[i]
}

// dests resolves one or two destinations of the given files; a missing second
// one is a register nobody reads.
func (dec *decoder) dests(out *inst, first, second byte) {
	if len(dec.in.Dst) == 0 || len(dec.in.Dst) == 2 && second == 0 {
		refuse("want a destination")
	}
	out.dst = dec.dst(&dec.in.Dst[0], first)
	switch {
	case len(dec.in.Dst) == 2:
		out.dst2 = dec.dst(&dec.in.Dst[1], second)
	case second != 0:
		out.dst2 = dec.nobody(second)
	}
}

func (dec *decoder) decodeShuffle(out *inst) bool {
	dec.dests(out, 'r', 'p')
	out.a, out.b, out.c = dec.src(dec.source(0, 4), 'r'), dec.src(&dec.in.Src[1], 'r'), dec.src(&dec.in.Src[2], 'r')
	for mod, run := range map[ptx.Mod]step{ptx.ModUp: shuffleUp, ptx.ModDown: shuffleDown, ptx.ModBfly: shuffleXor, ptx.ModIdx: shuffleIdx} {
		if dec.in.Has(mod) {
			out.run = run
		}
	}
	dec.warpWide(out, &dec.in.Src[3])
	return true
}

// warpWide makes out an instruction for the lanes that a membermask names.
func (dec *decoder) warpWide(out *inst, members *ptx.Operand) {
	if out.run == nil || !dec.in.Has(ptx.ModSync) {
		refuse("want a known form with .sync")
	}
	out.kind, out.ctl = converge, &control{members: dec.src(members, 'r')}
}

func (dec *decoder) decodeVote(out *inst) bool {
	file := byte('p')
	switch {
	case dec.in.Has(ptx.ModAll):
		out.run = voteAll
	case dec.in.Has(ptx.ModAny):
		out.run = voteAny
	case dec.in.Has(ptx.ModUni):
		out.run = voteUni
	case dec.in.Has(ptx.ModBallot):
		out.run, file = voteBallot, 'r'
	}
	dec.dests(out, file, 0)
	out.a = dec.src(dec.source(0, 2), 'p')
	dec.warpWide(out, &dec.in.Src[1])
	return true
}

func (dec *decoder) decodeMatch(out *inst) bool {
	dec.dests(out, 'r', 'p')
	file := fileOf(dec.in.Type())
	out.a = dec.src(dec.source(0, 2), file)
	all := dec.in.Has(ptx.ModAll)
	switch {
	case file == 'r' && all:
		out.run = matchAll32
	case file == 'r':
		out.run = matchAny32
	case file == 'd' && all:
		out.run = matchAll64
	case file == 'd':
		out.run = matchAny64
	}
	dec.warpWide(out, &dec.in.Src[1])
	return true
}

func (dec *decoder) decodeRedux(out *inst) bool {
	dec.dests(out, 'r', 0)
	out.a = dec.src(dec.source(0, 2), 'r')
	out.run = reduxOf(dec.in.Opcode)
	dec.warpWide(out, &dec.in.Src[1])
	return true
}

func (dec *decoder) decodeElect(out *inst) bool {
	dec.dests(out, 'r', 'p')
	out.run = elect
	dec.warpWide(out, dec.source(0, 1))
	return true
}

func (dec *decoder) decodeActiveMask(out *inst) bool {
	dec.dests(out, 'r', 0)
	out.run = activeMask
	return true
}

// decodeClock reads the special registers that change while a kernel runs.
func (dec *decoder) decodeClock(out *inst) bool {
	if len(dec.in.Src) != 1 || dec.in.Src[0].Kind != ptx.Special {
		return false
	}
	switch s := dec.in.Src[0].Special; s {
	case ptx.Clock, ptx.GlobalTimerLo:
		dec.dests(out, 'r', 0)
		out.run = clock32
	case ptx.ClockHi, ptx.GlobalTimerHi:
		dec.dests(out, 'r', 0)
		out.run = clockHi
	case ptx.Clock64, ptx.GlobalTimer:
		dec.dests(out, 'd', 0)
		out.run = clock64
	default:
		return false
	}
	return true
}

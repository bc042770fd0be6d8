package exec

import (
	"math/bits"
	"slices"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// Counts is what a launch did, exactly, apart from what the text says is a model.
type Counts struct {
	// WarpInstructions counts instructions issued to warps, LaneInstructions
	// those executed by lanes whose guard is true.
	WarpInstructions, LaneInstructions uint64
	Classes                            [ClassCount]Issued

	// Atomics count as stores, for DRAMWritten too.
	GlobalLoads, GlobalStores Traffic
	// DRAMRead and DRAMWritten are the bytes of the distinct 32-byte sectors of
	// global memory that the whole launch read and wrote: what a cache that holds
	// everything would still move.
	DRAMRead, DRAMWritten uint64

	SharedLoads, SharedStores SharedTraffic
	LocalAccesses             uint64 // warp instructions that access local memory
	Barriers                  uint64 // arrivals of warps at barriers of a block
	Atomics                   uint64 // lanes that executed atom or red

	Lines []LineCounts // under Options.Lines, by line, without those not executed
}

// Issued counts instructions of a class.
type Issued struct{ Warps, Lanes uint64 }

// Traffic counts accesses to global memory.
type Traffic struct {
	Requests uint64 // warp instructions
	Sectors  uint64 // distinct 32-byte sectors of each request
	Bytes    uint64 // that lanes asked for
}

// SharedTraffic counts accesses to shared memory. An access of 4 bytes a lane or
// less is served in one wavefront of 32 banks of 4 bytes, one of 8 bytes in two
// (half a warp each), one of 16 in four (a quarter each), if no bank is asked for
// two different words in one of them. Extra counts the wavefronts beyond these.
type SharedTraffic struct{ Requests, Wavefronts, Extra uint64 }

// LineCounts is what one line of the PTX text did.
type LineCounts struct {
	Line              int
	Warps, Lanes      uint64
	Sectors           uint64
	Wavefronts, Extra uint64 // of shared memory
}

// Class is a group of opcodes.
type Class uint8

// The classes of opcodes.
const (
	ClassOther     Class = iota
	ClassFloatMath       // add, mul, fma, … of floats
	ClassSpecial         // ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt
	ClassInteger         // integer and bit arithmetic
	ClassConvert         // cvt
	ClassMove            // mov, selp, cvta
	ClassCompare         // setp, set, and operations on predicates
	ClassControl         // bra, call, ret
	ClassSync            // barriers, shuffles, votes, fences
	ClassLoad            // ld, ldmatrix
	ClassStore           // st, stmatrix
	ClassAtomic          // atom, red
	ClassAsyncCopy       // cp.async and what waits for it
	ClassMatrix          // mma, wgmma
	ClassCount
)

// String returns the class in a word.
func (c Class) String() string {
	return [...]string{"other", "float", "special", "integer", "convert", "move", "compare", "control", "sync", "load", "store", "atomic", "copy", "matrix"}[c]
}

var classOf = func() (t [1 << 8]Class) {
	for class, ops := range map[Class][]ptx.Op{
		ClassSpecial:   {ptx.OpEx2, ptx.OpLg2, ptx.OpSin, ptx.OpCos, ptx.OpTanh, ptx.OpRcp, ptx.OpRsqrt, ptx.OpSqrt},
		ClassConvert:   {ptx.OpCvt, ptx.OpSzext},
		ClassMove:      {ptx.OpMov, ptx.OpSelp, ptx.OpSlct, ptx.OpCvta, ptx.OpMapa, ptx.OpMovmatrix},
		ClassCompare:   {ptx.OpSetp, ptx.OpSet, ptx.OpTestp, ptx.OpIsspacep},
		ClassControl:   {ptx.OpBra, ptx.OpBrx, ptx.OpCall, ptx.OpRet, ptx.OpExit, ptx.OpTrap, ptx.OpBrkpt},
		ClassSync:      {ptx.OpBar, ptx.OpBarrier, ptx.OpShfl, ptx.OpVote, ptx.OpMatch, ptx.OpRedux, ptx.OpElect, ptx.OpActivemask, ptx.OpFence, ptx.OpMembar, ptx.OpMbarrier, ptx.OpNanosleep},
		ClassLoad:      {ptx.OpLd, ptx.OpLdu, ptx.OpLdmatrix},
		ClassStore:     {ptx.OpSt, ptx.OpStmatrix},
		ClassAtomic:    {ptx.OpAtom, ptx.OpRed},
		ClassAsyncCopy: {ptx.OpCp},
		ClassMatrix:    {ptx.OpMma, ptx.OpWgmma, ptx.OpWmma},
		ClassInteger: {ptx.OpBfe, ptx.OpBfi, ptx.OpBfind, ptx.OpBmsk, ptx.OpBrev, ptx.OpClz, ptx.OpDp2a, ptx.OpDp4a, ptx.OpFns, ptx.OpLop3,
			ptx.OpMad, ptx.OpMad24, ptx.OpMadc, ptx.OpMul24, ptx.OpAddc, ptx.OpSubc, ptx.OpPopc, ptx.OpPrmt, ptx.OpRem, ptx.OpSad, ptx.OpShf, ptx.OpShl, ptx.OpShr},
	} {
		for _, op := range ops {
			t[op] = class
		}
	}
	return t
}()

// ClassOf returns the class of an opcode.
func ClassOf(op *ptx.Opcode) Class {
	if c := classOf[op.Op]; c != ClassOther {
		return c
	}
	switch t := op.Type(); {
	case t == ptx.Pred:
		return ClassCompare
	case t >= ptx.F16 && t <= ptx.F64:
		return ClassFloatMath
	case t != ptx.NoType:
		return ClassInteger
	}
	return ClassOther
}

// instrStats is what a worker counts for each instruction.
type instrStats struct {
	warps, lanes      uint64
	requests, sectors uint64
	bytes             uint64
	wavefronts, extra uint64
}

// touched is what a worker noted of an allocation: a bit for each sector.
type touched struct{ read, written []uint64 }

const sectorBits = 5

func (t *touched) mark(set *[]uint64, size, first, last uint64) {
	if *set == nil {
		*set = make([]uint64, size>>(sectorBits+6)+2)
	}
	s := *set
	if first>>6 == last>>6 {
		s[first>>6] |= (2<<(last-first) - 1) << (first & 63)
		return
	}
	for i := first; i <= last; i++ {
		s[i>>6] |= 1 << (i & 63)
	}
}

// counts sums what the workers did.
func (l *launch) counts(workers []*worker) *Counts {
	c := &Counts{}
	stats := make([]instrStats, len(l.k.code))
	for _, wk := range workers {
		c.Barriers += wk.barriers
		for i := range wk.stats {
			s, t := &stats[i], &wk.stats[i]
			s.warps += t.warps
			s.lanes += t.lanes
			s.requests += t.requests
			s.sectors += t.sectors
			s.bytes += t.bytes
			s.wavefronts += t.wavefronts
			s.extra += t.extra
		}
	}
	for i := range stats {
		c.add(&l.k.code[i], &stats[i])
	}
	for i := range l.allocs {
		c.DRAMRead += sectorsOf(workers, func(wk *worker) []uint64 { return wk.touched[i].read }) << sectorBits
		c.DRAMWritten += sectorsOf(workers, func(wk *worker) []uint64 { return wk.touched[i].written }) << sectorBits
	}
	if l.o.Lines {
		c.lines(l.k.code, stats)
	}
	return c
}

func (c *Counts) add(in *inst, s *instrStats) {
	if in.src == nil || in.fitting {
		return
	}
	c.WarpInstructions += s.warps
	c.LaneInstructions += s.lanes
	class := &c.Classes[ClassOf(in.src.Opcode)]
	class.Warps += s.warps
	class.Lanes += s.lanes
	if s.requests == 0 && in.mem == nil {
		return
	}
	op := in.src.Op
	if op == ptx.OpAtom || op == ptx.OpRed {
		c.Atomics += s.lanes
	}
	if in.mem.space == ptx.Local {
		c.LocalAccesses += s.warps
	}
	global, shared := &c.GlobalLoads, &c.SharedLoads
	switch op {
	case ptx.OpSt, ptx.OpStmatrix, ptx.OpRed, ptx.OpAtom:
		global, shared = &c.GlobalStores, &c.SharedStores
	}
	if s.sectors > 0 {
		global.Requests += s.requests
		global.Sectors += s.sectors
		global.Bytes += s.bytes
	}
	if s.wavefronts > 0 {
		if op == ptx.OpCp {
			shared = &c.SharedStores
		}
		shared.Requests += s.warps
		shared.Wavefronts += s.wavefronts
		shared.Extra += s.extra
	}
}

func sectorsOf(workers []*worker, set func(*worker) []uint64) (n uint64) {
	var all []uint64
	for _, wk := range workers {
		s := set(wk)
		if all == nil {
			all = slices.Clone(s)
			continue
		}
		for i, x := range s {
			all[i] |= x
		}
	}
	for _, x := range all {
		n += uint64(bits.OnesCount64(x))
	}
	return n
}

func (c *Counts) lines(code []inst, stats []instrStats) {
	at := map[int]*LineCounts{}
	for i := range stats {
		s, in := &stats[i], &code[i]
		if in.src == nil || in.fitting || s.warps == 0 {
			continue
		}
		x := at[in.src.Line]
		if x == nil {
			x = &LineCounts{Line: in.src.Line}
			at[in.src.Line] = x
		}
		x.Warps += s.warps
		x.Lanes += s.lanes
		x.Sectors += s.sectors
		x.Wavefronts += s.wavefronts
		x.Extra += s.extra
	}
	for _, x := range at {
		c.Lines = append(c.Lines, *x)
	}
	slices.SortFunc(c.Lines, func(a, b LineCounts) int { return a.Line - b.Line })
}

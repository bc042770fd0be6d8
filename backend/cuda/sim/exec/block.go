package exec

import (
	"context"
	"sync/atomic"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// launch is one grid on its way.
type launch struct {
	k        *kernel
	grid     Dim
	block    Dim
	shared   int // bytes in all
	dynamic  int
	params   []byte
	allocs   []*allocation
	o        Options
	ctx      context.Context
	executed atomic.Uint64 // instructions of all workers, in steps of checkEvery
	stop     atomic.Bool
	locks    [64]lock // of atomics on global memory
}

// worker executes blocks one after another.
type worker struct {
	l        *launch
	stats    []instrStats
	executed uint64 // instructions of this worker
	check    uint64 // when to look at the limits
	checked  uint64 // how many are in launch.executed
	barriers uint64
	blk      block
	touched  []touched // of each allocation
	last     *allocation
	lastAt   int
	distinct distinct
}

// checkEvery is how many instructions a worker executes between looks at the
// limits and the context.
const checkEvery = 1 << 14

// block is the state of the block that a worker executes.
type block struct {
	k        *kernel
	wk       *worker
	index    Dim
	warps    []*warp
	mem      []byte // shared memory
	barriers [16]blockBarrier
	shadow   shadow
	mbar     map[uint64][]uint32 // clocks of those that arrived at an mbarrier, by address
	spins    int                 // waits for mbarriers that failed since one changed
}

func (l *launch) newWorker() *worker {
	k := l.k
	wk := &worker{l: l, stats: make([]instrStats, len(k.code)), check: min(checkEvery, l.o.MaxInstructions), touched: make([]touched, len(l.allocs))}
	b := &wk.blk
	b.k, b.wk = k, wk
	b.mem = make([]byte, l.shared)
	threads := l.block.X * l.block.Y * l.block.Z
	n := (threads + 31) / 32
	if l.o.CheckRaces || l.o.CheckUndefined {
		b.shadow = shadow{granule: uint64(k.granule), warps: n, races: l.o.CheckRaces, undef: l.o.CheckUndefined}
		granules := (l.shared + k.granule - 1) / k.granule
		b.shadow.writes = make([]cell, granules)
		if l.o.CheckRaces {
			b.shadow.reads = make([]cell, granules*n)
			b.shadow.plain = make([]cell, granules)
		}
	}
	for i := range n {
		w := &warp{
			r: make([][32]uint32, k.nr), d: make([][32]uint64, k.nd), p: make([]uint32, k.np),
			blk: b, id: i, exist: full,
			local: make([]byte, 32*k.local), params: make([]byte, 32*k.frame),
		}
		if l.o.CheckUndefined {
			w.undef = make([]byte, 32*k.local)
		}
		if b.shadow.writes != nil {
			w.clock, w.met = make([]uint32, n), new(lanesMet)
		}
		if rest := threads - i*32; rest < 32 {
			w.exist = 1<<rest - 1
		}
		w.prepare(l)
		b.warps = append(b.warps, w)
	}
	return wk
}

// prepare fills the registers that no instruction writes.
func (w *warp) prepare(l *launch) {
	k := w.blk.k
	for _, f := range k.fill32 {
		for i := range w.r[f.reg] {
			w.r[f.reg][i] = f.value
		}
	}
	for _, f := range k.fill64 {
		for i := range w.d[f.reg] {
			w.d[f.reg][i] = f.value
		}
	}
	for _, f := range k.fillPred {
		w.p[f.reg] = f.value
	}
	for _, s := range k.specials {
		if s.special == ptx.IsExplicitCluster {
			continue // no: the predicate stays false
		}
		for i := range 32 {
			v := w.special(l, s.special, i)
			if s.special.Type() == ptx.U64 {
				w.d[s.reg][i] = v
			} else {
				w.r[s.reg][i] = uint32(v)
			}
		}
	}
}

// special returns the value of a special register that does not depend on the
// block; those that do are zero. A block is a cluster of its own.
func (w *warp) special(l *launch, s ptx.SpecialReg, lane int) uint64 {
	t := w.blk.thread(w.id*32 + lane)
	bit := uint64(1) << lane
	switch s {
	case ptx.TidX:
		return uint64(t.X)
	case ptx.TidY:
		return uint64(t.Y)
	case ptx.TidZ:
		return uint64(t.Z)
	case ptx.NTidX:
		return uint64(l.block.X)
	case ptx.NTidY:
		return uint64(l.block.Y)
	case ptx.NTidZ:
		return uint64(l.block.Z)
	case ptx.NCTAIDX, ptx.NClusterIDX:
		return uint64(l.grid.X)
	case ptx.NCTAIDY, ptx.NClusterIDY:
		return uint64(l.grid.Y)
	case ptx.NCTAIDZ, ptx.NClusterIDZ:
		return uint64(l.grid.Z)
	case ptx.LaneID:
		return uint64(lane)
	case ptx.WarpID:
		return uint64(w.id)
	case ptx.NWarpID:
		return uint64((l.block.X*l.block.Y*l.block.Z + 31) / 32)
	case ptx.NSMID, ptx.ClusterNCTAIDX, ptx.ClusterNCTAIDY, ptx.ClusterNCTAIDZ, ptx.ClusterNCTARank:
		return 1
	case ptx.LaneMaskEq:
		return bit
	case ptx.LaneMaskLt:
		return bit - 1
	case ptx.LaneMaskLe:
		return bit | (bit - 1)
	case ptx.LaneMaskGt:
		return full &^ (bit | (bit - 1))
	case ptx.LaneMaskGe:
		return full &^ (bit - 1)
	case ptx.DynamicSmemSize:
		return uint64(l.dynamic)
	case ptx.TotalSmemSize, ptx.AggrSmemSize:
		return uint64(l.shared)
	}
	return 0
}

// thread returns the index of a thread in its block.
func (b *block) thread(n int) Dim {
	d := b.wk.l.block
	return Dim{n % d.X, n / d.X % d.Y, n / (d.X * d.Y)}
}

// begin makes the worker's block ready for the block of an index.
func (b *block) begin(index Dim) {
	k := b.k
	b.index = index
	clear(b.mem)
	clear(b.shadow.writes)
	clear(b.shadow.plain)
	b.mbar, b.spins = nil, 0
	for i := range b.barriers {
		b.barriers[i] = blockBarrier{}
	}
	var latest uint32
	for _, w := range b.warps {
		for _, c := range w.clock {
			latest = max(latest, c)
		}
	}
	if latest > 1<<31 {
		latest = 0
		clear(b.shadow.reads)
		for _, w := range b.warps {
			*w.met = lanesMet{}
		}
	}
	for _, w := range b.warps {
		clear(w.r[:k.textR])
		clear(w.d[:k.textD])
		clear(w.p[:k.textP])
		for i := range w.undef {
			w.undef[i] = 1
		}
		w.copies.reset()
		w.live = w.exist
		w.groups = append(w.groups[:0], group{pc: k.start, mask: w.exist})
		for i := range w.clock {
			w.clock[i] = latest
		}
		if w.clock != nil {
			w.advance()
		}
		for _, s := range k.specials {
			var v int
			switch s.special {
			case ptx.CTAIDX, ptx.ClusterIDX:
				v = index.X
			case ptx.CTAIDY, ptx.ClusterIDY:
				v = index.Y
			case ptx.CTAIDZ, ptx.ClusterIDZ:
				v = index.Z
			default:
				continue
			}
			for i := range w.r[s.reg] {
				w.r[s.reg][i] = uint32(v)
			}
		}
	}
}

// run executes the block to its end.
func (b *block) run(index Dim) {
	b.begin(index)
	for {
		progress, alive := false, false
		for _, w := range b.warps {
			if len(w.groups) == 0 {
				continue
			}
			alive = true
			if before := b.wk.executed; w.ready() {
				w.run()
				progress = progress || b.wk.executed != before
			}
		}
		if b.release() {
			progress = true
		}
		if !alive {
			return
		}
		if !progress {
			b.deadlock()
		}
	}
}

// ready reports whether the warp has a group that can run or whose gathering may
// be over.
func (w *warp) ready() bool {
	for i := range w.groups {
		if w.groups[i].state != parked {
			return true
		}
	}
	return len(w.groups) == 0
}

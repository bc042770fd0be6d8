package graphapi

import (
	"fmt"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
)

// Pool is memory that graphs share: what one uses in the middle of a replay the
// others use, too. Replays of its graphs run one after another, whatever their
// streams, in any order; outputs and Vars are each graph's own. Graphs that are
// never wanted at once, such as those of several batch sizes, then take as much
// as the largest.
type Pool struct{ p *fusion.Pool }

// NewPool makes a pool for graphs of a device; see [InPool].
func NewPool(dev *sinter.Device) *Pool {
	rt := dev.Runtime()
	if rt == nil {
		return new(Pool)
	}
	return &Pool{rt.NewPool()}
}

var errNoPool = &sinter.ArgumentError{Msg: "the pool is nil or of no device"}

// made reports whether p is a pool of a device.
func (p *Pool) made() bool { return p != nil && p.p != nil }

// PoolReport says what a pool holds.
type PoolReport struct {
	Graphs int
	Memory backend.PoolReport
}

// String formats the report on one line.
func (r PoolReport) String() string {
	return fmt.Sprintf("%d graphs, %d bytes in use by %d buffers, %d reserved",
		r.Graphs, r.Memory.InUse, r.Memory.Allocations, r.Memory.Reserved)
}

// Report returns the graphs that use the pool, and its memory.
func (p *Pool) Report() PoolReport {
	if !p.made() {
		return PoolReport{}
	}
	memory, n := p.p.Report()
	return PoolReport{Graphs: n, Memory: memory}
}

// Close gives the memory back. It is a *CaptureError while graphs use the pool
// or a capture is open in it. It may be called again.
func (p *Pool) Close() error {
	if !p.made() {
		return errNoPool
	}
	return p.p.Close()
}

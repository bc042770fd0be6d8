package backend

import (
	"fmt"
	"strings"
)

// Pool names an allocation pool of a device.
type Pool uint32

// The pools every device has. NewPool returns others.
const (
	// General is a caching pool by size classes, for what comes and goes.
	General Pool = iota
	// Persistent fits exactly: a buffer takes the bytes it was asked for, and
	// freed memory serves only buffers of the same size. It is for what stays,
	// such as weights.
	Persistent
	// Staging is host memory that copies to and from the device can use while
	// the host goes on (pinned memory, where there is such a thing). It fits
	// exactly.
	Staging
	// FirstPool is the first number NewPool may return.
	FirstPool
)

// String returns the pool's name in reports.
func (p Pool) String() string {
	switch p {
	case General:
		return "general"
	case Persistent:
		return "persistent"
	case Staging:
		return "staging"
	}
	return fmt.Sprintf("pool %d", uint32(p))
}

// Exact reports whether the pool fits exactly instead of by size classes.
func (p Pool) Exact() bool { return p == Persistent || p == Staging }

// MemoryUsage is a device's memory at one moment.
type MemoryUsage struct {
	Allocations int   // buffers in use
	InUse       int64 // bytes asked for by buffers in use
	Padding     int64 // bytes lost to size classes by buffers in use
	Reserved    int64 // bytes held from the system, in use or pooled
	Peak        int64 // most bytes in use since Open
}

// String formats u as "3 buffers, 12.0 KiB in use, 512 B padding, 1.0 MiB
// reserved, 20.0 KiB at most".
func (u MemoryUsage) String() string {
	return fmt.Sprintf("%d buffers, %s in use, %s padding, %s reserved, %s at most",
		u.Allocations, formatBytes(u.InUse), formatBytes(u.Padding), formatBytes(u.Reserved), formatBytes(u.Peak))
}

// PoolReport is the memory of a pool in pages of one size. A page is what the
// device takes from the system at once: a slab that small buffers share, or
// the memory of one large buffer.
type PoolReport struct {
	Pool        Pool
	PageSize    int64 // bytes of a page; 0 in a pool that fits exactly, where each buffer has a page of its own
	Pages       int   // pages held, in use or not
	Reserved    int64 // bytes of them; a page near the memory limit may be smaller than PageSize
	Allocations int   // buffers in use
	InUse       int64 // bytes asked for by them
	Padding     int64 // bytes lost to size classes by them
	Peak        int64 // most bytes in use since the pool was made
	Largest     int64 // bytes of the largest buffer since the pool was made
}

// MemoryReport is a device's memory at one moment, pool by pool: in order of
// pools and, within one, of page sizes.
type MemoryReport struct {
	Usage MemoryUsage
	Pools []PoolReport
}

// Of returns the sum of the rows of one pool: Peak is an upper bound, PageSize
// is 0.
func (r MemoryReport) Of(p Pool) PoolReport {
	sum := PoolReport{Pool: p}
	for _, x := range r.Pools {
		if x.Pool == p {
			sum.Pages += x.Pages
			sum.Reserved += x.Reserved
			sum.Allocations += x.Allocations
			sum.InUse += x.InUse
			sum.Padding += x.Padding
			sum.Peak += x.Peak
			sum.Largest = max(sum.Largest, x.Largest)
		}
	}
	return sum
}

// String formats the report as a table, the usage first.
func (r MemoryReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", r.Usage)
	const row = "%-12s %10s %6v %10s %8v %10s %10s %10s %10s\n"
	fmt.Fprintf(&b, row, "pool", "page", "pages", "reserved", "buffers", "in use", "padding", "peak", "largest")
	for _, p := range r.Pools {
		page := "exact"
		if p.PageSize > 0 {
			page = formatBytes(p.PageSize)
		}
		fmt.Fprintf(&b, row, p.Pool, page, p.Pages, formatBytes(p.Reserved), p.Allocations,
			formatBytes(p.InUse), formatBytes(p.Padding), formatBytes(p.Peak), formatBytes(p.Largest))
	}
	return b.String()
}

// formatBytes formats a number of bytes in the largest unit it has one of.
func formatBytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n)/(1<<10), 0
	for ; x >= 1<<10 && unit < len(byteUnits)-1; unit++ {
		x /= 1 << 10
	}
	return fmt.Sprintf("%.1f %s", x, byteUnits[unit])
}

var byteUnits = [...]string{"KiB", "MiB", "GiB", "TiB"}

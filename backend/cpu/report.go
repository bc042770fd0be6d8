package cpu

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sinter-ml/sinter/backend"
)

// row counts the pages of one size of a pool, under the lock of the memory.
type row struct{ backend.PoolReport }

// hand counts a buffer of n bytes handed out in a block of size bytes.
func (r *row) hand(n, size int) {
	r.Allocations++
	r.InUse += int64(n)
	r.Padding += int64(size - n)
	r.Peak = max(r.Peak, r.InUse)
	r.Largest = max(r.Largest, int64(n))
}

// take counts a buffer freed.
func (r *row) take(n, size int) {
	r.Allocations--
	r.InUse -= int64(n)
	r.Padding -= int64(size - n)
}

// row returns the counts for the pages blocks of a key lie in.
func (p *pool) row(key int) *row {
	size := p.page(key)
	if p.id.Exact() {
		size = 0
	}
	r := p.rows[size]
	if r == nil {
		r = &row{backend.PoolReport{Pool: p.id, PageSize: size}}
		p.rows[size] = r
	}
	return r
}

// report needs the lock.
func (m *memory) report() backend.MemoryReport {
	r := backend.MemoryReport{Usage: m.usage}
	for _, id := range slices.Sorted(maps.Keys(m.pools)) {
		for x := range maps.Values(m.pools[id].rows) {
			r.Pools = append(r.Pools, x.PoolReport)
		}
	}
	slices.SortFunc(r.Pools, func(a, b backend.PoolReport) int {
		return cmp.Or(cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.PageSize, b.PageSize))
	})
	return r
}

// Memory returns the memory in use now.
func (d *Device) Memory() backend.MemoryUsage {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	return d.mem.usage
}

// MemoryReport returns the memory in use now, pool by pool.
func (d *Device) MemoryReport() backend.MemoryReport {
	d.mem.mu.Lock()
	defer d.mem.mu.Unlock()
	return d.mem.report()
}

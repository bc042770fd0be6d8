package backendtest

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/ir"
)

// reports checks that the report's rows are in order, possible, and add up to
// what is in use, and returns it.
func (b *bench) reports() backend.MemoryReport {
	b.Helper()
	r := b.dev.MemoryReport()
	var sum backend.MemoryUsage
	for _, p := range r.Pools {
		sum.Allocations += p.Allocations
		sum.InUse += p.InUse
		sum.Padding += p.Padding
		sum.Reserved += p.Reserved
		require.GreaterOrEqual(b, p.Reserved, p.InUse+p.Padding, "%+v", p)
		require.GreaterOrEqual(b, p.Peak, p.InUse, "%+v", p)
		require.GreaterOrEqual(b, p.Peak, p.Largest, "%+v", p)
		if p.PageSize > 0 {
			require.LessOrEqual(b, p.Reserved, p.PageSize*int64(p.Pages), "%+v", p)
		}
		if p.Pages == 0 {
			require.Zero(b, p.Reserved, "%+v", p)
		}
		if p.Pool.Exact() {
			require.Zero(b, p.PageSize, "%+v", p)
			require.Zero(b, p.Padding, "%+v", p)
			require.GreaterOrEqual(b, p.Pages, p.Allocations, "%+v", p)
		}
	}
	sum.Peak = r.Usage.Peak
	require.Equal(b, r.Usage, sum)
	require.Equal(b, b.dev.Memory(), r.Usage)
	require.True(b, slices.IsSortedFunc(r.Pools, func(x, y backend.PoolReport) int {
		return cmp.Or(cmp.Compare(x.Pool, y.Pool), cmp.Compare(x.PageSize, y.PageSize))
	}), "%v", r)
	return r
}

func (s suite) report(t *testing.T) {
	b := s.bench(t, backend.Options{})
	assert.Zero(t, b.reports().Usage)
	var bufs []*backend.Buffer
	for _, n := range []int{100, 5000, 300_000, 3 << 20} {
		bufs = append(bufs, b.alloc(n))
		b.reports()
	}
	const total = 100 + 5000 + 300_000 + 3<<20
	r := b.reports()
	general := r.Of(backend.General)
	assert.Equal(t, 4, general.Allocations)
	assert.Equal(t, int64(total), general.InUse)
	assert.Equal(t, int64(3<<20), general.Largest)
	assert.Equal(t, int64(total), general.Peak)

	p := b.dev.NewPool()
	b.dev.UsePool(b.stream, p)
	mine := b.alloc(70)
	r = b.reports()
	assert.Equal(t, general, r.Of(backend.General), "a pool's memory is its own")
	assert.Equal(t, int64(70), r.Of(p).InUse)

	b.free(mine)
	b.free(bufs...)
	r = b.reports()
	assert.Zero(t, r.Of(backend.General).InUse)
	assert.Equal(t, general.Reserved, r.Of(backend.General).Reserved, "it is pooled")
	b.trim()
	r = b.reports()
	assert.Zero(t, r.Of(backend.General).Pages)
	assert.Equal(t, int64(3<<20), r.Of(backend.General).Largest, "what once was is told")
	assert.Positive(t, r.Of(p).Pages, "graphs' memory stays")
	b.dev.UsePool(b.stream, backend.General)
	require.NoError(t, b.dev.ClosePool(p))
	assert.Equal(t, backend.PoolReport{Pool: p}, b.reports().Of(p))
}

// persistent checks that what stays takes exactly its bytes.
func (s suite) persistent(t *testing.T) {
	b := s.bench(t, backend.Options{})
	assert.Equal(t, backend.General, b.dev.UsePool(b.stream, backend.Persistent))
	var bufs []*backend.Buffer
	var total int64
	for _, n := range sizes {
		buf := b.upload(make([]byte, n))
		assert.Equal(t, backend.Persistent, buf.Pool)
		bufs = append(bufs, buf)
		total += int64(n)
	}
	r := b.reports()
	assert.Equal(t, backend.PoolReport{
		Pool: backend.Persistent, Pages: len(sizes), Reserved: total, Allocations: len(sizes), InUse: total, Peak: total, Largest: 3<<20 + 1,
	}, r.Of(backend.Persistent))
	assert.Equal(t, total, r.Usage.Reserved)

	// Freed memory serves the same size again, and no other.
	reserves := b.dev.Counters().Reserves
	b.free(bufs...)
	for i, n := range sizes {
		bufs[i] = b.alloc(n)
	}
	assert.Equal(t, reserves, b.dev.Counters().Reserves)
	b.free(bufs...)
	odd := b.alloc(999)
	assert.Equal(t, reserves+1, b.dev.Counters().Reserves)
	assert.Equal(t, total+999, b.reports().Of(backend.Persistent).Reserved)
	assert.Equal(t, total, b.trim())
	assert.Equal(t, int64(999), b.reports().Usage.Reserved, "what is in use stays")

	b.dev.UsePool(b.stream, backend.General)
	assert.Equal(t, backend.General, b.alloc(999).Pool)
	b.free(odd)
	require.NoError(t, b.dev.Sync(ctx, b.stream))
}

// outlive closes streams and pools whose memory is in use.
func (s suite) outlive(t *testing.T) {
	b := s.bench(t, backend.Options{})
	const n = 50_000
	data := make([]byte, n)
	data[n-1] = 7
	side := b.newStream()
	var held []*backend.Buffer
	for range 4 {
		buf, err := b.dev.Alloc(side, n)
		require.NoError(t, err)
		require.NoError(t, b.dev.Write(ctx, side, buf, 0, data))
		held = append(held, buf)
	}
	require.NoError(t, b.dev.CloseStream(side))
	reserves := b.dev.Counters().Reserves
	for _, buf := range held {
		b.holds(data, buf)
		b.dev.Free(side, buf) // on the stream that is closed
	}
	for i := range held {
		held[i] = b.alloc(n)
	}
	assert.Equal(t, reserves, b.dev.Counters().Reserves, "handed on to another stream")
	b.free(held...)
	b.trim()
	assert.Zero(t, b.dev.Memory().Reserved)

	p := b.dev.NewPool()
	b.dev.UsePool(b.stream, p)
	big, tiny := b.upload(make([]byte, 4<<20)), b.upload(data)
	b.dev.UsePool(b.stream, backend.General)
	b.free(big)
	before := b.dev.Memory().Reserved
	require.NoError(t, b.dev.ClosePool(p))
	assert.LessOrEqual(t, b.dev.Memory().Reserved, before-4<<20, "what is not in use goes at once")
	fails[*backend.DeviceError](b, b.dev.ClosePool(p), "closed already")
	b.reports()
	b.holds(data, tiny, "what is in use stays")
	b.free(tiny)
	assert.Zero(t, b.reports().Usage.Reserved, "the rest goes with the last buffer")
	require.NoError(t, b.dev.Sync(ctx, b.stream))
}

// dtypes checks that what a device says of dtypes can be true.
func (s suite) dtypes(t *testing.T) {
	b := s.bench(t, backend.Options{})
	for _, d := range ir.DTypes() {
		u := b.dev.SupportsDType(d)
		assert.True(t, u.Has(backend.Storage), "%v: %v", d, u)
		if u.Has(backend.Accelerated) {
			assert.True(t, u.Has(backend.Arithmetic), "%v: %v", d, u)
		}
	}
	assert.True(t, b.dev.SupportsDType(ir.F32).Has(backend.Storage|backend.Arithmetic))
	assert.Equal(t, 1, ir.Bool.Size(), "a bool is stored as a u8")
	assert.Zero(t, b.dev.SupportsDType(ir.Invalid))
	assert.Zero(t, b.dev.SupportsDType(ir.DType(250)))
}

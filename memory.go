package sinter

import (
	"context"

	"github.com/sinter-ml/sinter/backend"
)

// What a device's memory is used for; both print themselves.
type (
	// MemoryUsage is a device's memory at one moment: buffers and bytes in use,
	// lost to padding, and held from the system.
	MemoryUsage = backend.MemoryUsage
	// MemoryReport is the same pool by pool.
	MemoryReport = backend.MemoryReport
	// PoolReport is one row of it: the pages of one size of a pool.
	PoolReport = backend.PoolReport
)

// The pools every device has; graphs have their own. MemoryReport.Of sums one.
const (
	GeneralPool    = backend.General    // size classes, for what comes and goes
	PersistentPool = backend.Persistent // exact fit, see Device.PersistentAllocations
	StagingPool    = backend.Staging    // host memory, see Staging
)

// MemoryUsage runs what is queued and returns the memory in use. Failures of
// what is queued stay with its tensors.
func (d *Device) MemoryUsage(ctx context.Context) (MemoryUsage, error) {
	rt := d.Runtime()
	if rt == nil {
		return MemoryUsage{}, errNoPlace
	}
	return rt.MemoryUsage(ctx)
}

// MemoryReport runs what is queued and returns the memory in use, pool by
// pool.
func (d *Device) MemoryReport(ctx context.Context) (MemoryReport, error) {
	rt := d.Runtime()
	if rt == nil {
		return MemoryReport{}, errNoPlace
	}
	return rt.MemoryReport(ctx)
}

// Trim runs what is queued, frees what the collector finds unused, gives pooled
// memory back to the system and returns how many bytes. While a capture is open
// it is a *CaptureError.
func (d *Device) Trim(ctx context.Context) (int64, error) {
	rt := d.Runtime()
	if rt == nil {
		return 0, errNoPlace
	}
	return rt.Trim(ctx)
}

// PersistentAllocations runs f, such as the loading of a model. Memory that the
// device's streams allocate meanwhile, on any goroutine, fits exactly instead of
// being padded to a size class, and once freed serves only buffers of the same
// size. What was queued before runs first, and what f recorded runs before
// PersistentAllocations returns: with f's error, else the first error nobody was
// told of. Graphs being captured keep to their own pools.
func (d *Device) PersistentAllocations(f func() error) error {
	rt := d.Runtime()
	switch {
	case rt == nil:
		return errNoPlace
	case f == nil:
		return errNoFunction
	}
	return rt.PersistentAllocations(f)
}

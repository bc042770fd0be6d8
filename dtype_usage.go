package sinter

import "github.com/sinter-ml/sinter/backend"

// DTypeUsage says what a device can do with a dtype. A bool is stored as a u8
// of 0 or 1.
type DTypeUsage = backend.DTypeUsage

// The uses of a dtype, joined by or.
const (
	// DTypeStorage: tensors can be made, moved, read and cast from and to it.
	DTypeStorage = backend.Storage
	// DTypeArithmetic: operations compute with it.
	DTypeArithmetic = backend.Arithmetic
	// DTypeAccelerated: there is hardware for its contractions.
	DTypeAccelerated = backend.Accelerated
)

// DTypeUsage returns what the device can do with a dtype.
func (d *Device) DTypeUsage(dtype DType) DTypeUsage {
	rt := d.Runtime()
	if rt == nil {
		return 0
	}
	return rt.Device().SupportsDType(dtype)
}

// SupportsDType reports whether the device stores a dtype and computes with it.
func (d *Device) SupportsDType(dtype DType) bool {
	return d.DTypeUsage(dtype).Has(DTypeStorage | DTypeArithmetic)
}

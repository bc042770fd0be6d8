package sinter

import "github.com/sinter-ml/sinter/ir"

// ScanOptions are the variants of a scan.
type ScanOptions struct {
	Exclusive bool // leave out the element itself: the first result is that of nothing
	Reverse   bool // from the end
}

func scan(kind ir.Kind, axis int, o ScanOptions) ir.Operation {
	return ir.Operation{Kind: kind, Attrs: ir.Attrs{Axes: []int{axis}, Flag: o.Exclusive, Reverse: o.Reverse}}
}

// CumSum returns running sums along an axis. 16-bit floats accumulate in f32,
// each sum being rounded once; integers wrap.
func (t *Tensor) CumSum(axis int) *Tensor { return apply(scan(ir.CumSum, axis, ScanOptions{}), t) }

// CumSumWith is CumSum with options.
func (t *Tensor) CumSumWith(axis int, o ScanOptions) *Tensor {
	return apply(scan(ir.CumSum, axis, o), t)
}

// CumSumAs is CumSum of the elements as another dtype.
func (t *Tensor) CumSumAs(dtype DType, axis int, o ScanOptions) *Tensor {
	c := compoundOf(t)
	return c.op(scan(ir.CumSum, axis, o), c.cast(t, dtype))
}

// CumProd returns running products along an axis.
func (t *Tensor) CumProd(axis int) *Tensor { return apply(scan(ir.CumProd, axis, ScanOptions{}), t) }

// CumProdWith is CumProd with options.
func (t *Tensor) CumProdWith(axis int, o ScanOptions) *Tensor {
	return apply(scan(ir.CumProd, axis, o), t)
}

// CumProdAs is CumProd of the elements as another dtype.
func (t *Tensor) CumProdAs(dtype DType, axis int, o ScanOptions) *Tensor {
	c := compoundOf(t)
	return c.op(scan(ir.CumProd, axis, o), c.cast(t, dtype))
}

// CumMax returns the greatest element so far along an axis; NaN stays.
func (t *Tensor) CumMax(axis int) *Tensor { return apply(scan(ir.CumMax, axis, ScanOptions{}), t) }

// CumMaxWith is CumMax with options; the greatest of nothing is the dtype's
// least value, −inf for floats.
func (t *Tensor) CumMaxWith(axis int, o ScanOptions) *Tensor {
	return apply(scan(ir.CumMax, axis, o), t)
}

// CumMin returns the least element so far along an axis; NaN stays.
func (t *Tensor) CumMin(axis int) *Tensor { return apply(scan(ir.CumMin, axis, ScanOptions{}), t) }

// CumMinWith is CumMin with options; the least of nothing is the dtype's
// greatest value, +inf for floats.
func (t *Tensor) CumMinWith(axis int, o ScanOptions) *Tensor {
	return apply(scan(ir.CumMin, axis, o), t)
}

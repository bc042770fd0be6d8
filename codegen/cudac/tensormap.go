package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// TensorMap describes a matrix, or several, from which an entry copies boxes to
// shared memory: what cuTensorMapEncodeTiled is given to write the 128 bytes of
// an argument (CUDA Driver API, "Tensor Map Object Management"), beside the
// address of the buffer. Elements lie one by one (an element stride of 1 along
// every dimension, no interleaving), and those of a box beyond the ends are zero.
//
// The driver's rules, which TensorMaps of calls follow: the address is a multiple
// of 16, so a buffer begins at one and Offset is one; lengths are from 1 to 2^32;
// strides are multiples of 16 below 2^40, each a multiple of the one before, and
// dimensions do not overlap; a box has from 1 to 256 elements along each
// dimension, and along the first one a multiple of 16 bytes, no more than
// Swizzle where that is not 0.
type TensorMap struct {
	Buffer  int      // of the kernel
	Offset  int      // of the first element, in bytes
	DType   ir.DType // f16 or bf16
	Dims    []uint64 // lengths, the innermost first
	Strides []uint64 // in bytes, of all dimensions but the first, whose elements are neighbours
	Box     []uint32
	// Swizzle is how many bytes the rows of a box have whose pieces of 16 bytes
	// change places in shared memory: 128, piece p of row r lying at p xor r mod 8,
	// where the memory begins at a multiple of 1,024.
	Swizzle int
}

// Limits of the driver.
const (
	mapAlign     = 16
	maxMapLength = 1 << 32
	maxMapStride = 1 << 40
	mapBytes     = 128 // of an encoded map
)

// rule returns the driver's rule that a map of a launch breaks, "" if it breaks
// none. Boxes follow the rules as they are written.
func (m *TensorMap) rule() string {
	if m.Offset%mapAlign != 0 {
		return fmt.Sprintf("an offset of %d bytes is no multiple of %d", m.Offset, mapAlign)
	}
	for d, n := range m.Dims {
		if n < 1 || n > maxMapLength {
			return fmt.Sprintf("a tensor map has no length %d", n)
		}
		if d == len(m.Strides) {
			break
		}
		before := uint64(m.DType.Size())
		if d > 0 {
			before = m.Strides[d-1]
		}
		switch stride := m.Strides[d]; {
		case stride >= maxMapStride || stride%mapAlign != 0:
			return fmt.Sprintf("a stride of %d bytes is no multiple of %d below 2^40", stride, mapAlign)
		case stride%before != 0 || stride/before < n:
			return fmt.Sprintf("a stride of %d bytes is no multiple, from %d on, of the one of %d before", stride, n, before)
		}
	}
	return ""
}

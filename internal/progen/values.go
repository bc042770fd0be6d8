package progen

import (
	"encoding/binary"
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// fillValues returns n little-endian elements.
func fillValues(src source, dtype ir.DType, n int, special float64) []byte {
	b := make([]byte, 0, n*dtype.Size())
	for range n {
		b = append(b, binary.LittleEndian.AppendUint64(nil, randomBits(src, dtype, special))[:dtype.Size()]...)
	}
	return b
}

// randomBits returns the bits of an element.
func randomBits(src source, dtype ir.DType, special float64) uint64 {
	switch dtype {
	case ir.F64:
		return math.Float64bits(randomDouble(src, special))
	case ir.F32:
		return uint64(math.Float32bits(randomFloat(src, special)))
	case ir.F16:
		return uint64(ir.Float16FromFloat32(randomFloat(src, special)))
	case ir.BF16:
		return uint64(ir.BFloat16FromFloat32(randomFloat(src, special)))
	case ir.F8E4M3:
		return uint64(ir.Float8E4M3FromFloat32(randomFloat(src, special), false))
	case ir.F8E5M2:
		return uint64(ir.Float8E5M2FromFloat32(randomFloat(src, special), false))
	case ir.Bool:
		return uint64(src.intn(2))
	}
	return uint64(randomInt(src, special))
}

var specialFloats = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
	math.SmallestNonzeroFloat32, -0x1p-130, 0x1p-126, math.MaxFloat32, -math.MaxFloat32, 3e20, -1e10, 88.5, -104, 0x1p24 + 2, 1e-20,
	65504, 65520, 6e-8, 448, 465,
}

// isSpecial is true at a rate.
func isSpecial(src source, rate float64) bool { return src.intn(1000) < int(rate*1000) }

// randomFloat returns mostly a number between −4 and 4, exact halves among
// them.
func randomFloat(src source, special float64) float32 {
	if isSpecial(src, special) {
		return specialFloats[src.intn(len(specialFloats))]
	}
	if src.intn(4) == 0 {
		return float32(src.intn(17)-8) / 2
	}
	return float32(src.intn(1<<16)-1<<15) / (1 << 13)
}

var specialDoubles = []float64{math.MaxFloat64, -1e300, math.SmallestNonzeroFloat64, 0x1p-1030, 709.5, -745, 1e-300, 0x1p53 + 2}

// randomDouble is randomFloat with more digits and more that is special.
func randomDouble(src source, special float64) float64 {
	if isSpecial(src, special/2) {
		return specialDoubles[src.intn(len(specialDoubles))]
	}
	v := float64(randomFloat(src, special/2))
	if src.intn(4) > 0 {
		v += v * float64(src.intn(1<<16)) * 0x1p-48
	}
	return v
}

var specialInts = []int64{
	math.MinInt64, math.MaxInt64, math.MinInt64 + 1, 0, -1, 1<<31 - 1, -1 << 31, 1 << 53, 1<<24 + 1,
	127, -128, 128, 255, 1<<15 - 1, -1 << 15, 1<<16 - 1, 1<<32 - 1, 64,
}

// randomInt returns mostly a small number; a narrow type takes its low bits.
func randomInt(src source, special float64) int64 {
	if isSpecial(src, special) {
		return specialInts[src.intn(len(specialInts))]
	}
	return int64(src.intn(21) - 8)
}

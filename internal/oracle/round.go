package oracle

import (
	"math"
	"math/big"

	"github.com/sinter-ml/sinter/ir"
)

// A binary floating-point format: bits of significand, the hidden one
// included, the exponent of the least normal number, and the largest finite.
type format struct {
	precision int
	minExp    int
	max       float64
}

var (
	formatF32  = format{24, -126, math.MaxFloat32}
	formatBF16 = format{8, -126, 0x1.fep127}
)

// round returns the value of the format nearest to x, ties to even; what
// exceeds the largest by half a unit or more becomes infinite.
func (f format) round(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	quantum := f.ulp(x)
	// x/quantum is exact and below 2^53 units away from its rounding.
	r := math.Copysign(math.RoundToEven(x/quantum)*quantum, x)
	if math.Abs(r) > f.max {
		return math.Inf(int(math.Copysign(1, x)))
	}
	return r
}

// ulp returns the distance of the values of the format around x.
func (f format) ulp(x float64) float64 {
	e := f.minExp
	if x != 0 {
		e = max(e, math.Ilogb(x))
	}
	return math.Ldexp(1, e-f.precision+1)
}

// formatOf returns the format of a float dtype.
func formatOf(d ir.DType) format {
	if d == ir.BF16 {
		return formatBF16
	}
	return formatF32
}

// round64 rounds x once to a float dtype.
func round64(d ir.DType, x float64) float32 { return float32(formatOf(d).round(x)) }

// round32 rounds a float32 once to a float dtype: nothing for F32.
func round32(d ir.DType, x float32) float32 { return round64(d, float64(x)) }

// roundInt rounds i once to a float dtype.
func roundInt(d ir.DType, i int64) float32 {
	f := new(big.Float).SetMode(big.ToNearestEven).SetPrec(uint(formatOf(d).precision))
	v, _ := f.SetInt64(i).Float32() // exact: the precision fits
	return v
}

// fma32 returns a·b + c rounded once to float32.
func fma32(a, b, c float32) float32 {
	// In float64 the product is exact; only the sum may round.
	r := math.FMA(float64(a), float64(b), float64(c))
	if math.IsNaN(r) || math.IsInf(r, 0) || r == 0 {
		return float32(r)
	}
	const exact = 1000 // bits: more than any product and addend span
	x := new(big.Float).SetPrec(exact).SetFloat64(float64(a))
	x.Mul(x, big.NewFloat(float64(b)))
	x.Add(x, new(big.Float).SetPrec(exact).SetFloat64(float64(c)))
	v, _ := x.Float32()
	return v
}

// float32ToInt64 truncates and saturates; a NaN gives 0.
func float32ToInt64(x float32) int64 {
	const two63 = 1 << 63
	switch v := math.Trunc(float64(x)); {
	case v != v:
		return 0
	case v >= two63:
		return math.MaxInt64
	case v < -two63:
		return math.MinInt64
	default:
		return int64(v)
	}
}

// cast converts every element to dtype, rounding once from the source.
func cast(t Tensor, dtype ir.DType) Tensor {
	out := New(dtype, t.Shape)
	for i := range t.Len() {
		switch {
		case dtype.IsFloat() && t.DType.IsFloat():
			out.F[i] = round32(dtype, t.F[i])
		case dtype.IsFloat() && t.DType.IsInt():
			out.F[i] = roundInt(dtype, t.I[i])
		case dtype.IsFloat():
			out.F[i] = float32(zeroOne(t.B[i]))
		case dtype.IsInt() && t.DType.IsFloat():
			out.I[i] = float32ToInt64(t.F[i])
		case dtype.IsInt() && t.DType.IsInt():
			out.I[i] = t.I[i]
		case dtype.IsInt():
			out.I[i] = zeroOne(t.B[i])
		case t.DType.IsFloat():
			out.B[i] = t.F[i] != 0 // true for a NaN, false for −0
		case t.DType.IsInt():
			out.B[i] = t.I[i] != 0
		default:
			out.B[i] = t.B[i]
		}
	}
	return out
}

func zeroOne(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

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

var formats = map[ir.DType]format{
	ir.F64:    {53, -1022, math.MaxFloat64},
	ir.F32:    {24, -126, math.MaxFloat32},
	ir.F16:    {11, -14, 65504},
	ir.BF16:   {8, -126, 0x1.fep127},
	ir.F8E4M3: {4, -6, 448},
	ir.F8E5M2: {3, -14, 57344},
}

// round returns the value of the format nearest to x, ties to even; what
// exceeds the largest by half a unit or more becomes infinite.
func (f format) round(x float64) float64 {
	if f.precision == 53 || x == 0 || x-x != 0 {
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

// unit is the unit roundoff of the format.
func (f format) unit() float64 { return math.Ldexp(1, -f.precision) }

// least is the least positive number of the format.
func (f format) least() float64 { return math.Ldexp(1, f.minExp-f.precision+1) }

// round rounds x once to a float dtype.
func round(d ir.DType, x float64) float64 {
	if d == ir.F32 {
		return float64(float32(x))
	}
	return formats[d].round(x)
}

// step rounds x as an operation on dtype d does that computes one exact
// result: to the compute dtype and from there to d.
func step(d ir.DType, x float64) float64 {
	c := round(d.Compute(), x)
	if d == d.Compute() {
		return c
	}
	return round(d, c)
}

// roundWide rounds a wide number once to a float dtype.
func roundWide(d ir.DType, x wide) float64 {
	hi := x.hi
	if d != ir.F64 && x.lo != 0 && math.Float64bits(hi)&1 == 0 {
		// Rounded to odd: hi alone could look like a tie.
		towards := math.Inf(1)
		if x.lo < 0 {
			towards = math.Inf(-1)
		}
		hi = math.Nextafter(hi, towards)
	}
	return round(d, hi)
}

// stepWide is step for a wide number.
func stepWide(d ir.DType, x wide) float64 {
	return round(d, roundWide(d.Compute(), x))
}

// roundInt rounds an integer of dtype from once to a float dtype.
func roundInt(d, from ir.DType, i int64) float64 {
	x := new(big.Float).SetPrec(64)
	if from.IsUnsigned() {
		x.SetUint64(uint64(i))
	} else {
		x.SetInt64(i)
	}
	return roundWide(d, fromBig(x))
}

// fma returns a·b + c rounded once to a compute dtype.
func fma(d ir.DType, a, b, c float64) float64 {
	if d == ir.F64 {
		return math.FMA(a, b, c)
	}
	// The product of two float32 is exact, the sum of it and a third as a pair.
	p := float64(a * b)
	s, e := twoSum(p, c)
	if s-s != 0 || e == 0 {
		return round(d, s)
	}
	return roundWide(d, wide{s, e})
}

package oracle

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// evalCast is [cast]; to the dtype there is already it changes nothing.
func evalCast(c *call) (Tensor, error) {
	if c.x[0].DType == c.op.Attrs.DType {
		return c.x[0], nil
	}
	return cast(c.x[0], c.op.Attrs.DType, !c.op.Attrs.Flag), nil
}

// cast converts every element to dtype, rounding once from the source, also where
// an element is more precise than its dtype. What is too large for an 8-bit float
// becomes the greatest value if it is to saturate, else infinite or, in F8E4M3, a
// NaN.
func cast(t Tensor, dtype ir.DType, saturate bool) Tensor {
	out := New(dtype, t.Shape)
	for i := range t.Len() {
		switch {
		case isFloat(dtype):
			var x float64
			switch {
			case isFloat(t.DType):
				x = round(dtype, t.F[i])
			case t.DType.IsInt():
				x = roundInt(dtype, t.DType, t.I[i])
			default:
				x = float64(zeroOne(t.B[i]))
			}
			out.F[i] = overflow(dtype, x, saturate)
		case dtype.IsInt():
			switch {
			case isFloat(t.DType):
				out.I[i] = truncate(dtype, t.F[i])
			case t.DType.IsInt():
				out.I[i] = dtype.Wrap(t.I[i])
			default:
				out.I[i] = zeroOne(t.B[i])
			}
		case isFloat(t.DType):
			out.B[i] = t.F[i] != 0 // true for a NaN, false for −0
		case t.DType.IsInt():
			out.B[i] = t.I[i] != 0
		default:
			out.B[i] = t.B[i]
		}
	}
	return out
}

// overflow is what an infinite result becomes in an 8-bit float.
func overflow(dtype ir.DType, x float64, saturate bool) float64 {
	switch {
	case !dtype.IsFloat8() || !math.IsInf(x, 0):
		return x
	case saturate:
		return math.Copysign(formats[dtype].max, x)
	case dtype == ir.F8E4M3:
		return math.NaN()
	}
	return x
}

// truncate drops the fraction and saturates; a NaN gives 0.
func truncate(dtype ir.DType, x float64) int64 {
	least, greatest := dtype.Limits()
	switch x = math.Trunc(x); {
	case x != x:
		return 0
	case x <= float64(least):
		return least
	case x >= float64(greatest): // for 64 bits that is the power of two above
		return int64(greatest)
	case x >= 0x1p63:
		return int64(uint64(x))
	}
	return int64(x)
}

// evalBitcast keeps the bits of each element. Which bits a NaN has is not
// determined.
func evalBitcast(c *call) (Tensor, error) {
	x, dtype := c.x[0], c.op.Attrs.DType
	out, err := FromBytes(dtype, x.Shape, x.Bytes())
	c.any = make([]bool, x.Len())
	for i, v := range x.F {
		c.any[i] = v != v
	}
	return out, err
}

func isFloat(d ir.DType) bool { return d.IsFloat() || d.IsFloat8() }

func zeroOne(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

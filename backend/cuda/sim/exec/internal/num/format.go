package num

import (
	"math"
	"math/bits"
)

// Value returns the value of a bit pattern, exactly.
func (f *Format) Value(v uint64) float64 {
	switch f {
	case F64:
		return f64(v)
	case F32:
		return float64(f32(uint32(v)))
	case TF32:
		return float64(f32(uint32(v) << 13))
	}
	sign, m := v&f.sign, v&(f.sign-1)
	switch {
	case f.IsNaN(m):
		return math.NaN()
	case m == f.over && sign != 0:
		return math.Inf(-1)
	case m == f.over:
		return math.Inf(1)
	}
	// At the place of a float64's fraction, whose bias is greater.
	x := f64(m<<(52-f.frac)) * f64(uint64(2*1023-f.bias)<<52)
	if sign != 0 {
		return -x
	}
	return x
}

// IsNaN reports whether a bit pattern is NaN.
func (f *Format) IsNaN(v uint64) bool {
	v &= f.sign - 1
	return v > f.over || v == f.over && f.over == f.quiet
}

// Sat clamps to [+0, 1]; NaN gives +0 (.sat).
func (f *Format) Sat(v uint64) uint64 {
	one := uint64(f.bias) << f.frac
	switch {
	case v >= f.sign || f.IsNaN(v):
		return 0
	case v > one:
		return one
	}
	return v
}

// Relu clamps negative values to +0 (.relu); NaN gives NaN.
func (f *Format) Relu(v uint64) uint64 {
	switch {
	case f.IsNaN(v):
		return f.quiet
	case v >= f.sign:
		return 0
	}
	return v
}

// Ftz replaces a subnormal by zero of the same sign (.ftz).
func (f *Format) Ftz(v uint64) uint64 {
	if v&(f.sign-1)>>f.frac == 0 {
		return v & f.sign
	}
	return v
}

// Bits returns the number of bits of the format.
func (f *Format) Bits() int { return bits.Len64(f.sign) }

// Holds reports whether every value of g is one of f.
func (f *Format) Holds(g *Format) bool {
	return f.frac >= g.frac && f.bias >= g.bias
}

// Clamped replaces what lies beyond the greatest finite value, in a format
// without infinities the NaN that stands for it, by that value (.satfinite). v
// comes from a number.
func (f *Format) Clamped(v uint64) uint64 {
	if v&(f.sign-1) > f.max {
		return v&f.sign | f.max
	}
	return v
}

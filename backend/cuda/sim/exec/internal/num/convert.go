package num

import "math"

// F32ToF64 widens, exactly.
func F32ToF64(a uint32) uint64 { return bits64(float64(f32(a))) }

// F64ToF32 rounds to the nearest.
func F64ToF32(a uint64) uint32 { return bits32(float32(f64(a))) }

// U64ToF32 converts to the nearest value, ties to even. Go's own conversion cuts
// off instead when it compiles for GOARCH=386 (Go 1.26), its conversions by way of
// float64 do not; the bits that this one has no room for are kept in its lowest.
func U64ToF32(x uint64) uint32 {
	if x < 1<<53 {
		return bits32(float32(float64(x)))
	}
	odd := x >> 11
	if x<<53 != 0 {
		odd |= 1
	}
	return bits32(float32(float64(odd) * (1 << 11)))
}

// S64ToF32 converts as U64ToF32 does.
func S64ToF32(x uint64) uint32 {
	if int64(x) < 0 {
		return U64ToF32(-x) | 1<<31
	}
	return U64ToF32(x)
}

// RoundF32 rounds an f32 to an integral value (cvt.rni.f32.f32 and its like).
func RoundF32(a uint32, r Round) uint32 { return bits32(float32(Integral(float64(f32(a)), r))) }

// Integral rounds to an integral value; zeros and negative values that round to
// zero keep the sign.
func Integral(x float64, r Round) float64 {
	switch r {
	case RZ:
		return math.Trunc(x)
	case RM:
		return math.Floor(x)
	case RP:
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}

// Int says to or from which integer type a conversion goes.
type Int struct {
	Width  uint8 // 8, 16, 32 or 64
	Signed bool
}

// limits are the least and the greatest value, as patterns of 64 bits.
func (t Int) limits() (least, greatest uint64) {
	if t.Signed {
		return -(uint64(1) << (t.Width - 1)), 1<<(t.Width-1) - 1
	}
	return 0, 1<<(t.Width-1)<<1 - 1
}

// FromF32 rounds an f32 to an integer and clamps it to the type's range. NaN
// gives 0, and for 64 bits only the highest bit. The result is extended to 64
// bits by the type's signedness.
func (t Int) FromF32(a uint32, r Round) uint64 {
	if IsNaN32(a) {
		if t.Width == 64 {
			return 1 << 63
		}
		return 0
	}
	return t.from(Integral(float64(f32(a)), r))
}

// FromF64 is FromF32 of an f64, whose NaN gives the type's highest bit only, of
// any width.
func (t Int) FromF64(a uint64, r Round) uint64 {
	if IsNaN64(a) {
		return t.Extend(1 << (t.Width - 1))
	}
	return t.from(Integral(f64(a), r))
}

// from converts an integral value that is not NaN.
func (t Int) from(x float64) uint64 {
	least, greatest := t.limits()
	over := math.Ldexp(1, int(t.Width)) // the first value that is too great
	if t.Signed {
		over /= 2
	}
	switch {
	case x >= over:
		return greatest
	case t.Signed && x < -over, !t.Signed && x <= 0:
		return least
	case t.Signed:
		return uint64(int64(x))
	}
	return uint64(x)
}

// S32FromF32 is Int{32, true}.FromF32 with the common case first.
func S32FromF32(a uint32, r Round) uint32 {
	if x := Integral(float64(f32(a)), r); x >= math.MinInt32 && x <= math.MaxInt32 {
		return uint32(int32(x))
	}
	return uint32(Int{32, true}.FromF32(a, r))
}

// Extend takes the type's bits of v and extends them to 64 bits by its signedness.
func (t Int) Extend(v uint64) uint64 {
	n := 64 - t.Width
	if t.Signed {
		return uint64(int64(v<<n) >> n)
	}
	return v << n >> n
}

// Sat clamps v, an integer extended to 64 bits from a type that is signed or not,
// to the type's range (cvt.sat).
func (t Int) Sat(v uint64, signed bool) uint64 {
	least, greatest := t.limits()
	if signed {
		switch {
		case int64(v) < 0 && !t.Signed, t.Signed && int64(v) < int64(least):
			return least
		case int64(v) < 0:
			return v
		}
	}
	return min(v, greatest)
}

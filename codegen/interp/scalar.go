package interp

import "math"

// bit returns 1 for true and 0 for false.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func not(x uint8) uint8 { return x ^ 1 }

func isNaN[T float32 | float64](x T) uint8 { return bit(x != x) }

func isInf[T float32 | float64](x T) uint8 { return bit(math.IsInf(float64(x), 0)) }

// isFinite uses that x − x is 0 for finite x alone.
func isFinite[T float32 | float64](x T) uint8 { return bit(x-x == 0) }

func absF32(x float32) float32 {
	return math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
}

func absI64(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

func itself(x uint64) uint64 { return x }

// sign returns −1, 0 or 1; zeros of floats and NaN stay what they are.
func sign[T float32 | float64 | int64 | uint64](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return T(0) - 1
	}
	return x
}

// divInt truncates; x/0 is 0. The least integer divided by −1 wraps, as Go
// defines.
func divInt[T int64 | uint64](x, y T) T {
	if y == 0 {
		return 0
	}
	return x / y
}

// fmodInt is the remainder of divInt, with the sign of x; x%0 is 0.
func fmodInt[T int64 | uint64](x, y T) T {
	if y == 0 {
		return 0
	}
	return x % y
}

// floorDivI64 rounds down; x/0 is 0.
func floorDivI64(x, y int64) int64 {
	q := divInt(x, y)
	if fmodInt(x, y) != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

// remainderI64 has the sign of y; x%0 is 0.
func remainderI64(x, y int64) int64 {
	m := fmodInt(x, y)
	if m != 0 && (x < 0) != (y < 0) {
		m += y
	}
	return m
}

// shl gives 0 for a count that is negative or not below the width; the bits
// that leave a narrower type are cut off by wrapping.
func shl[T int64 | uint64](x, y T) T {
	if uint64(y) >= 64 {
		return 0
	}
	return x << uint64(y)
}

// shrI64 shifts by the sign; a count that is negative or not below the width
// leaves nothing but signs.
func shrI64(x, y int64) int64 { return x >> min(uint64(y), 63) }

func shrU64(x, y uint64) uint64 {
	if y >= 64 {
		return 0
	}
	return x >> y
}

// powI64 is repeated multiplication, wrapping. A negative exponent gives 1 for
// base 1, ±1 for base −1, and 0 otherwise.
func powI64(x, y int64) int64 {
	if y < 0 {
		switch {
		case x == 1 || x == -1 && y&1 == 0:
			return 1
		case x == -1:
			return -1
		}
		return 0
	}
	return int64(powU64(uint64(x), uint64(y)))
}

func powU64(x, y uint64) uint64 {
	p := uint64(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}

// fmod is x − y·trunc(x/y), exactly, with the sign of x.
func fmod[T float32 | float64](x, y T) T { return T(math.Mod(float64(x), float64(y))) }

// remainder is x − y·floor(x/y) with one rounding; it has the sign of y, a zero
// too.
func remainder[T float32 | float64](x, y T) T {
	m := fmod(x, y)
	switch {
	case m == 0:
		return T(math.Copysign(0, float64(y)))
	case (m < 0) != (y < 0):
		return m + y
	}
	return m
}

// floorDiv is floor(x/y): one less than that of the rounded quotient where the
// exact remainder says that rounding went up to an integer. Division by zero is
// that of x/y; from 2⁵³ on it is the quotient, all of which are integers there.
func floorDiv(x, y float64) float64 {
	c := x / y
	switch {
	case c != c || y == 0:
		return c
	case math.IsInf(x, 0):
		return math.NaN()
	case math.IsInf(y, 0):
		if x != 0 && (x < 0) != (y < 0) {
			return -1
		}
		return c
	case !(math.Abs(c) < 1<<53):
		return c
	}
	q := math.Floor(c)
	if r := math.FMA(-q, y, x); r != 0 && (r < 0) != (y < 0) {
		q--
	}
	return q
}

func floorDivF32(x, y float32) float32 { return float32(floorDiv(float64(x), float64(y))) }

// atan2 is math.Atan2, which takes the sign of −0 where y/x of a negative y is too
// small for a float64, with that of y.
func atan2(y, x float64) float64 { return math.Copysign(math.Atan2(math.Abs(y), x), y) }

func atan2F32(x, y float32) float32 { return float32(atan2(float64(x), float64(y))) }
func hypotF32(x, y float32) float32 { return float32(math.Hypot(float64(x), float64(y))) }
func copySignF32(x, y float32) float32 {
	return math.Float32frombits(math.Float32bits(x)&^(1<<31) | math.Float32bits(y)&(1<<31))
}

func powF32(x, y float32) float32 { return float32(pow(float64(x), float64(y))) }

func sqrt(x float32) float32           { return float32(math.Sqrt(float64(x))) }
func recip[T float32 | float64](x T) T { return 1 / x }

// mulAdd returns x·y + z with a single rounding. The product is exact in
// float64; the sum is rounded to odd, so that the rounding to float32 is the
// only one that counts (Boldo and Melquiond, "When double rounding is odd").
func mulAdd(x, y, z float32) float32 {
	p, c := float64(float64(x)*float64(y)), float64(z)
	s := p + c
	b := math.Float64bits(s)
	if b&1 != 0 || b>>52&0x7ff == 0x7ff {
		return float32(s) // odd already, infinite or NaN
	}
	// The rounding error of the sum, exactly (Knuth's two-sum).
	t := s - p
	e := (p - (s - t)) + (c - t)
	if e != 0 {
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
	}
	return float32(math.Float64frombits(b))
}

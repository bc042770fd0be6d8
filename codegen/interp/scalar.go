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

func isNaN(x float32) uint8 { return bit(x != x) }

func absF32(x float32) float32 {
	return math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
}

func absI64(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// signF32 returns −1 or 1; zeros and NaN stay what they are.
func signF32(x float32) float32 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

func signI64(x int64) int64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// divI64 truncates; x/0 is 0. The least integer divided by −1 wraps, as Go
// defines.
func divI64(x, y int64) int64 {
	if y == 0 {
		return 0
	}
	return x / y
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
	p := int64(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}

func powF32(x, y float32) float32 { return float32(math.Pow(float64(x), float64(y))) }

func sqrt(x float32) float32  { return float32(math.Sqrt(float64(x))) }
func recip(x float32) float32 { return 1 / x }

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

package oracle

import (
	"math"
	"math/big"
)

// quotient returns trunc(a/b) and a − b·trunc(a/b), both exact, of finite
// numbers with b not 0.
func quotient(a, b float64) (q *big.Int, rest float64) {
	ma, ea := mantissa(a)
	mb, eb := mantissa(b)
	e := min(ea, eb)
	ma.Lsh(ma, uint(ea-e))
	mb.Lsh(mb, uint(eb-e))
	q, r := new(big.Int).QuoRem(ma, mb, new(big.Int))
	x, _ := new(big.Float).SetInt(r).Float64() // exact: b's precision is enough
	return q, math.Ldexp(x, e)
}

// mantissa returns x as an integer times a power of two.
func mantissa(x float64) (*big.Int, int) {
	m, e := math.Frexp(x)
	return big.NewInt(int64(m * (1 << 53))), e - 53
}

// fmod is the exact a − b·trunc(a/b); a zero has the sign of a.
func fmod(a, b float64) float64 {
	switch {
	case a != a || b != b || math.IsInf(a, 0) || b == 0:
		return math.NaN()
	case math.IsInf(b, 0):
		return a
	}
	_, r := quotient(a, b)
	if r == 0 {
		return math.Copysign(0, a)
	}
	return r
}

// remainder is a − b·floor(a/b) from the exact fmod; a zero has the sign of b.
func remainder(a, b float64) float64 {
	r := fmod(a, b)
	switch {
	case r == 0:
		return math.Copysign(0, b)
	case r < 0 != (b < 0) && r == r:
		return r + b
	}
	return r
}

// floorDiv is floor(a/b) as a wide number, from the exact quotient. x//0 is
// x/0, and an infinite a gives NaN; a zero has the sign of a/b.
func floorDiv(a, b float64) wide {
	switch {
	case b == 0 || a != a || b != b:
		return exact(a / b)
	case math.IsInf(a, 0):
		return exact(math.NaN())
	case math.IsInf(b, 0):
		if a != 0 && a < 0 != (b < 0) {
			return exact(-1)
		}
		return exact(math.Copysign(0, a) * math.Copysign(1, b))
	}
	q, r := quotient(a, b)
	if r != 0 && r < 0 != (b < 0) {
		q.Sub(q, big.NewInt(1))
	}
	if q.Sign() == 0 {
		return exact(math.Copysign(0, a) * math.Copysign(1, b))
	}
	return fromBig(new(big.Float).SetPrec(300).SetInt(q))
}

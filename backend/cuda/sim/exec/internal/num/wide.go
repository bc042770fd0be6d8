package num

import "math/bits"

// wide is a value of 128 bits that is not zero: ±(hi·2⁶⁴+lo)·2^exp with the
// highest bit of hi set. The lowest bit of lo may stand for anything smaller.
// It holds what the directed roundings of f64 round.
type wide struct {
	hi, lo uint64
	exp    int
	neg    bool
}

// widen is an f64 that is finite and not zero.
func widen(a uint64) wide {
	m, e := a&(1<<52-1), int(a>>52&0x7ff)
	if e == 0 {
		e = 1
	} else {
		m |= 1 << 52
	}
	n := bits.LeadingZeros64(m)
	return wide{hi: m << n, exp: e - 1075 - n - 64, neg: a>>63 != 0}
}

// product is the exact product of two f64 that are finite and not zero.
func product(a, b uint64) wide {
	x, y := widen(a), widen(b)
	hi, lo := bits.Mul64(x.hi, y.hi)
	return wide{hi: hi, lo: lo, exp: x.exp + y.exp + 128, neg: x.neg != y.neg}.normal()
}

// normal shifts the highest bit into its place; not both words are zero.
func (w wide) normal() wide {
	if w.hi == 0 {
		w.hi, w.lo, w.exp = w.lo, 0, w.exp-64
	}
	n := uint(bits.LeadingZeros64(w.hi))
	w.hi = w.hi<<n | w.lo>>(64-n)
	w.lo <<= n
	w.exp -= int(n)
	return w
}

// right shifts by n bits; what falls out stays in the lowest bit.
func (w wide) right(n uint) wide {
	w.exp += int(n)
	var out uint64
	if n >= 128 {
		w.hi, w.lo, out = 0, 0, 1
	} else {
		if n >= 64 {
			out = w.lo
			w.hi, w.lo, n = 0, w.hi, n-64
		}
		out |= w.lo & (1<<n - 1)
		w.lo = w.lo>>n | w.hi<<(64-n)
		w.hi >>= n
	}
	if out != 0 {
		w.lo |= 1
	}
	return w
}

// plus adds; zero says that nothing is left. Of the 128 bits an operand uses at
// most 106, so that a bit is lost only where no more than one bit can cancel.
func (w wide) plus(x wide) (sum wide, zero bool) {
	if w.exp < x.exp || w.exp == x.exp && (w.hi < x.hi || w.hi == x.hi && w.lo < x.lo) {
		w, x = x, w
	}
	w = w.right(1) // room for the carry
	x = x.right(uint(w.exp - x.exp))
	var c uint64
	if w.neg == x.neg {
		w.lo, c = bits.Add64(w.lo, x.lo, 0)
		w.hi += x.hi + c
	} else {
		w.lo, c = bits.Sub64(w.lo, x.lo, 0)
		w.hi -= x.hi + c
	}
	if w.hi|w.lo == 0 {
		return w, true
	}
	return w.normal(), false
}

// pack rounds to an f64.
func (w wide) pack(r Round) uint64 {
	m := w.hi
	if w.lo != 0 {
		m |= 1
	}
	return F64.pack(w.neg, m, w.exp+127, r)
}

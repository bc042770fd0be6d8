package interp

import (
	"math"
	"math/bits"
)

// twoOverPi is 2/π in words of 64 bits, after one that is zero.
var twoOverPi = [...]uint64{0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
}

// quadrant returns n mod 4 and y with x = n·π/2 + y, |y| little above π/4.
//
// Below 2⁴⁰ the multiple of π/2, in three parts, is subtracted (Cody and
// Waite); the first subtraction is exact.
func quadrant(x float64) (int, double) {
	const third = -0x1.f1976b7ed8fbcp-110 // of π/2, after halfPi
	if math.Abs(x) <= math.Pi/4 {
		return 0, double{x, 0}
	}
	if math.Abs(x) >= 1<<40 {
		if x < 0 {
			n, y := farQuadrant(-x)
			return -n & 3, y.negate()
		}
		return farQuadrant(x)
	}
	n := math.RoundToEven(x * (2 / math.Pi))
	r := twoProduct(n, halfPi.lo)
	y := twoSum(math.FMA(-n, halfPi.hi, x), -r.hi)
	return int(int64(n)) & 3, fastSum(y.hi, y.lo-r.lo-float64(n*third))
}

// farQuadrant is quadrant for large x (Payne and Hanek, "Radian reduction for
// trigonometric functions", 1983). Of M·2^e·2/π, only the bits that count
// modulo 4 are computed: the product of M with 256 bits of 2/π that start
// where that of the bit before is a multiple of 4.
func farQuadrant(x float64) (int, double) {
	b := math.Float64bits(x)
	m := b&(1<<52-1) | 1<<52
	at := int(b>>52) - 1075 - 2 + 64
	var w [4]uint64 // most significant first
	for i := range w {
		word, shift := at/64+i, at%64
		w[i] = twoOverPi[word]<<shift | twoOverPi[word+1]>>(64-shift)
	}
	h3, p3 := bits.Mul64(w[3], m)
	h2, l2 := bits.Mul64(w[2], m)
	h1, l1 := bits.Mul64(w[1], m)
	p2, c := bits.Add64(l2, h3, 0)
	p1, c := bits.Add64(l1, h2, c)
	p0 := w[0]*m + h1 + c
	n := int(p0 >> 62)
	// The fraction of a right angle, in [−½, ½).
	f := [3]uint64{p0<<2 | p1>>62, p1<<2 | p2>>62, p2<<2 | p3>>62}
	sign := 1.0
	if f[0]>>63 != 0 {
		n++
		sign = -1
		f = [3]uint64{^f[0], ^f[1], ^f[2]}
	}
	if f[0] == 0 { // not more than about 62 bits cancel
		f = [3]uint64{f[1], f[2], 0}
		sign *= 0x1p-64
	}
	z := bits.LeadingZeros64(f[0])
	f[0] = f[0]<<z | f[1]>>(64-z)
	f[1] = f[1]<<z | f[2]>>(64-z)
	sign = math.Ldexp(sign, -z)
	hi, lo := float64(f[0]>>11)*0x1p-53, float64(f[0]<<53>>11|f[1]>>22)*0x1p-106
	return n & 3, fastSum(float64(sign*hi), float64(sign*lo)).times(halfPi)
}

// sinNear and cosNear are the Taylor polynomials of the sine and cosine of y
// up to about π/4, whose first neglected terms are y¹⁹/19! and y¹⁸/18!.
func sinNear(y double) float64 {
	s := float64(y.hi * y.hi)
	p := -1.0/6 + float64(s*(1.0/120+float64(s*(-1.0/5040+float64(s*(1.0/362880+float64(s*(-1.0/39916800+float64(s*(1.0/6227020800+float64(s*(-1.0/1307674368000+float64(s*(1.0/355687428096000))))))))))))))
	return y.hi + (float64(y.hi*float64(s*p)) + float64(y.lo*(1-float64(0.5*s))))
}

func cosNear(y double) float64 {
	s := float64(y.hi * y.hi)
	p := 1.0/24 + float64(s*(-1.0/720+float64(s*(1.0/40320+float64(s*(-1.0/3628800+float64(s*(1.0/479001600+float64(s*(-1.0/87178291200+float64(s*(1.0/20922789888000))))))))))))
	half := float64(0.5 * s)
	w := 1 - half
	return w + (((1 - w) - half) + (float64(float64(s*s)*p) - float64(y.hi*y.lo)))
}

func sin(x float64) float64 {
	if x == 0 || x-x != 0 {
		return x * (x - x + 1) // a zero keeps its sign, infinity gives NaN
	}
	n, y := quadrant(x)
	return sinAt(n, y)
}

func cos(x float64) float64 {
	if x-x != 0 {
		return x - x
	}
	n, y := quadrant(x)
	return sinAt(n+1, y)
}

func sinAt(n int, y double) float64 {
	r := 0.0
	if n&1 == 0 {
		r = sinNear(y)
	} else {
		r = cosNear(y)
	}
	if n&2 != 0 {
		return -r
	}
	return r
}

func tan(x float64) float64 {
	if x == 0 || x-x != 0 {
		return x * (x - x + 1)
	}
	n, y := quadrant(x)
	if n&1 == 0 {
		return sinNear(y) / cosNear(y)
	}
	return -cosNear(y) / sinNear(y)
}

// asin is the angle whose tangent is x/√(1−x²).
func asin(x float64) float64 {
	if x == 0 || !(math.Abs(x) < 1) {
		return math.Asin(x) // keeps the sign of 0
	}
	return atanOf(double{x, 0}, oneMinusSquare(x).root())
}

// acos is the angle whose tangent is √(1−x²)/x.
func acos(x float64) float64 {
	switch {
	case !(math.Abs(x) < 1):
		return math.Acos(x)
	case math.Abs(x) < 0.5:
		return halfPi.hi - (asin(x) - halfPi.lo)
	case x < 0:
		return 2*halfPi.hi - (acos(-x) - 2*halfPi.lo)
	}
	return atanOf(oneMinusSquare(x).root(), double{x, 0})
}

func oneMinusSquare(x float64) double {
	p := twoProduct(x, x)
	return double{1, 0}.plus(p.negate())
}

// atanOf is the arc tangent of a quotient.
func atanOf(x, y double) float64 {
	q := x.over(y)
	return math.Atan(q.hi) + q.lo/(1+float64(q.hi*q.hi))
}

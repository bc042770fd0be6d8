package interp

import "math"

// double is an unevaluated sum of two float64, the second below half a unit in
// the last place of the first: about 106 bits (Dekker, "A floating-point
// technique for extending the available precision", 1971).
type double struct{ hi, lo float64 }

// twoSum returns x + y exactly (Knuth).
func twoSum(x, y float64) double {
	s := x + y
	t := s - x
	return double{s, (x - (s - t)) + (y - t)}
}

// fastSum is twoSum for |x| ≥ |y|.
func fastSum(x, y float64) double {
	s := x + y
	return double{s, y - (s - x)}
}

// twoProduct returns x·y exactly.
func twoProduct(x, y float64) double {
	p := float64(x * y)
	return double{p, math.FMA(x, y, -p)}
}

func (x double) value() float64 { return x.hi + x.lo }

func (x double) negate() double { return double{-x.hi, -x.lo} }

func (x double) plus(y double) double {
	s := twoSum(x.hi, y.hi)
	return fastSum(s.hi, s.lo+(x.lo+y.lo))
}

func (x double) scale(y float64) double {
	p := twoProduct(x.hi, y)
	return fastSum(p.hi, math.FMA(x.lo, y, p.lo))
}

func (x double) times(y double) double {
	p := twoProduct(x.hi, y.hi)
	return fastSum(p.hi, p.lo+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

func (x double) over(y double) double {
	q := x.hi / y.hi
	r := math.FMA(-q, y.hi, x.hi) + (x.lo - float64(q*y.lo))
	return fastSum(q, r/y.hi)
}

func (x double) root() double {
	s := math.Sqrt(x.hi)
	return fastSum(s, (math.FMA(-s, s, x.hi)+x.lo)/(2*s))
}

// Constants in the precision of double.
var (
	invLn2  = double{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}
	invLn10 = double{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}
	invSqr2 = double{0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55}
	halfPi  = double{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}
	logOf2  = double{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}
)

// exp2Table holds 2^(j/32) for j = 0 … 31, made from the root by products.
var exp2Table = func() (t [32]double) {
	root := double{2, 0}
	for range 5 {
		root = root.root()
	}
	t[0] = double{1, 0}
	for j := 1; j < len(t); j++ {
		t[j] = t[j-1].times(root)
	}
	return t
}()

// expDouble returns e^x, correctly rounded but for one case in some hundred.
//
// x is split into k·ln2/32 + r with |r| ≤ ln2/64; e^x is then 2^(k/32), from
// the table and the exponent, times the Taylor polynomial of e^r, whose first
// neglected term is r⁷/5040 < 2⁻⁵⁸.
func expDouble(x double) float64 {
	switch {
	case x.hi != x.hi:
		return x.hi
	case x.hi > 710:
		return math.Inf(1)
	case x.hi < -746:
		return 0
	}
	const stepHi, stepLo = 0x1.62e42fefap-6, 0x1.cf79abc9e3b3ap-45 // ln2/32; k·stepHi is exact
	k := math.RoundToEven(x.hi * (32 / math.Ln2))
	r := (x.hi - float64(k*stepHi)) + (x.lo - float64(k*stepLo))
	p := r + float64(float64(r*r)*(0.5+float64(r*(1.0/6+float64(r*(1.0/24+float64(r*(1.0/120+float64(r*(1.0/720))))))))))
	t := exp2Table[int(k)&31]
	return math.Ldexp(t.hi+(t.lo+float64(t.hi*p)), int(k)>>5)
}

// expF64 returns e^x.
func expF64(x float64) float64 { return expDouble(double{x, 0}) }

// exp2 returns 2^x.
func exp2(x float64) float64 {
	if !(math.Abs(x) < 1100) {
		return math.Exp2(x)
	}
	whole := math.RoundToEven(x)
	return math.Ldexp(expDouble(logOf2.scale(x-whole)), int(whole))
}

// halfExp returns e^x/2, which is finite where e^x no longer is.
func halfExp(x float64) float64 { return expDouble(double{x, 0}.plus(logOf2.negate())) }

// sinh and cosh are half of e^|x| where e^−|x| is below its last place. Below 1,
// where the difference of the two cancels, sinh is Taylor's series to x¹⁷/17!.
func sinh(x float64) float64 {
	switch a := math.Abs(x); {
	case a < 1:
		s, p := float64(x*x), 1.0
		for n := 16.0; n > 2; n -= 2 {
			p = 1 + float64(s*p)/(n*(n+1))
		}
		return x + float64(x*(float64(s*p)/6))
	case a > 40 && a < 711:
		return math.Copysign(halfExp(a), x)
	}
	return math.Sinh(x)
}

func cosh(x float64) float64 {
	if a := math.Abs(x); a > 40 && a < 711 {
		return halfExp(a)
	}
	return math.Cosh(x)
}

// logDouble returns log x for finite x > 0 within a relative error of 2⁻⁶⁴.
//
// x = 2^e·m with m near 1, and log m = 2·atanh s with s = (m−1)/(m+1): the
// terms s + s³/3 are taken in double precision, the rest is below s⁵/5 with
// s² < 0.03.
func logDouble(x float64) double {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	s := double{m - 1, 0}.over(twoSum(m, 1))
	s2 := s.times(s)
	tail := 0.0
	for n := 27; n >= 5; n -= 2 {
		tail = 1/float64(n) + float64(tail*s2.hi)
	}
	third := double{1.0 / 3, 0x1.5555555555555p-56}
	poly := third.plus(double{tail, 0}.times(s2)).times(s2) // s²/3 + s⁴/5 + …
	l := s.plus(s.times(poly)).scale(2)
	const ln2Hi, ln2Lo = 0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45 // e·ln2Hi is exact
	return double{float64(float64(e) * ln2Hi), 0}.plus(twoProduct(float64(e), ln2Lo)).plus(l)
}

// logOf returns log x divided by the logarithm of a base, given inverted.
func logOf(x float64, inverse double) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	return logDouble(x).times(inverse).value()
}

func logF64(x float64) float64 { return logOf(x, double{1, 0}) }
func log2(x float64) float64   { return logOf(x, invLn2) }
func log10(x float64) float64  { return logOf(x, invLn10) }

// pow returns x^y as e^(y·log|x|); what is special is as IEEE 754 says.
func pow(x, y float64) float64 {
	if x == 0 || y == 0 || x-x != 0 || y-y != 0 || x < 0 && y != math.Trunc(y) || x == 1 {
		return math.Pow(x, y)
	}
	l := logDouble(math.Abs(x))
	p := float64(l.hi * y)
	r := 0.0
	switch {
	case p > 710:
		r = math.Inf(1)
	case p > -746:
		r = expDouble(l.scale(y))
	}
	if x < 0 && math.Mod(y, 2) != 0 {
		return -r
	}
	return r
}

// Package precise evaluates scalar functions in arbitrary precision, by their
// series, for tests of engines: what their errors are measured against.
//
// It must not know engines or kernels.
package precise

import (
	"math"
	"math/big"
	"sync"
)

// Of returns x with enough precision for its exponential, or for what is
// near a constant for small x.
func Of(x float64) *big.Float {
	_, e := math.Frexp(x)
	prec := 200 + 2*max(e, -e) + int(min(3*math.Abs(x), 3000))
	return new(big.Float).SetPrec(uint(prec)).SetFloat64(x)
}

func zero(x *big.Float) *big.Float { return new(big.Float).SetPrec(x.Prec()) }

func add(x, y *big.Float) *big.Float { return zero(x).Add(x, y) }
func sub(x, y *big.Float) *big.Float { return zero(x).Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return zero(x).Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return zero(x).Quo(x, y) }
func neg(x *big.Float) *big.Float    { return zero(x).Neg(x) }
func root(x *big.Float) *big.Float   { return zero(x).Sqrt(x) }

// scaled returns x·2^e.
func scaled(x *big.Float, e int) *big.Float { return zero(x).SetMantExp(x, e) }

// number returns n with the precision of x.
func number(x *big.Float, n int) *big.Float { return zero(x).SetInt64(int64(n)) }

// series adds first, first·step(1), first·step(1)·step(2), … until nothing
// changes.
func series(first *big.Float, step func(term *big.Float, n int) *big.Float) *big.Float {
	sum, term := first, first
	for n := 1; ; n++ {
		term = step(term, n)
		next := add(sum, term)
		if next.Cmp(sum) == 0 {
			return sum
		}
		sum = next
	}
}

func bigExp(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return number(x, 1)
	}
	k := max(0, x.MantExp(nil)+8)
	x = zero(x).SetPrec(x.Prec()+uint(k)+16).SetMantExp(x, -k)
	y := series(number(x, 1), func(t *big.Float, n int) *big.Float { return quo(mul(t, x), number(x, n)) })
	for range k {
		y = mul(y, y)
	}
	return y
}

// bigLog takes log(m·2^e) from a float64 start by Halley's iteration.
func bigLog(x *big.Float) *big.Float {
	m := zero(x)
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := zero(x).SetFloat64(math.Log(f))
	for range 5 {
		ey := bigExp(y)
		y = add(y, scaled(quo(sub(m, ey), add(m, ey)), 1))
	}
	return add(y, mul(number(x, e), ln2(x.Prec())))
}

// cached computes a constant once for each precision.
func cached(f func(prec uint) *big.Float) func(prec uint) *big.Float {
	var m sync.Map
	return func(prec uint) *big.Float {
		if v, ok := m.Load(prec); ok {
			return v.(*big.Float)
		}
		v := f(prec)
		m.Store(prec, v)
		return v
	}
}

// ln2 is Σ 1/(n·2ⁿ).
var ln2 = cached(func(prec uint) *big.Float {
	half := new(big.Float).SetPrec(prec + 32).SetFloat64(0.5)
	p := half
	return new(big.Float).SetPrec(prec).Set(series(half, func(_ *big.Float, n int) *big.Float {
		p = scaled(p, -1)
		return quo(p, number(p, n+1))
	}))
})

// pi is Machin's 16·atan 1/5 − 4·atan 1/239.
var pi = cached(func(prec uint) *big.Float {
	one := new(big.Float).SetPrec(prec + 32).SetInt64(1)
	return new(big.Float).SetPrec(prec).Sub(scaled(atanSeries(quo(one, number(one, 5))), 4), scaled(atanSeries(quo(one, number(one, 239))), 2))
})

func atanSeries(x *big.Float) *big.Float {
	s, p := mul(x, x), x
	return series(x, func(_ *big.Float, n int) *big.Float {
		p = neg(mul(p, s))
		return quo(p, number(x, 2*n+1))
	})
}

func bigAtan(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return x
	}
	one := number(x, 1)
	if zero(x).Abs(x).Cmp(one) > 0 { // from the other side of a right angle
		y := scaled(pi(x.Prec()), -1)
		if x.Sign() < 0 {
			y = neg(y)
		}
		return sub(y, bigAtan(quo(one, x)))
	}
	k := 8
	for range k {
		x = quo(x, add(one, root(add(one, mul(x, x)))))
	}
	return scaled(atanSeries(x), k)
}

// bigSinCos reduces by a whole number of turns first.
func bigSinCos(x *big.Float) (*big.Float, *big.Float) {
	prec := x.Prec()
	if e := x.MantExp(nil); e > 0 {
		prec += uint(e)
	}
	x = new(big.Float).SetPrec(prec).Set(x)
	turn := scaled(pi(prec), 1)
	n, _ := add(quo(x, turn), zero(x).SetFloat64(math.Copysign(0.5, float64(x.Sign())))).Int(nil)
	x = sub(x, mul(zero(x).SetInt(n), turn))
	s := neg(mul(x, x))
	step := func(odd int) func(t *big.Float, n int) *big.Float {
		return func(t *big.Float, n int) *big.Float { return quo(mul(t, s), number(x, 2*n*(2*n+odd))) }
	}
	return series(x, step(1)), series(number(x, 1), step(-1))
}

// bigErf is 2/√π·Σ (−1)ⁿx²ⁿ⁺¹/(n!(2n+1)); its terms grow to e^x² first.
func bigErf(x *big.Float) *big.Float {
	f, _ := x.Float64()
	x = new(big.Float).SetPrec(x.Prec() + uint(3*f*f)).Set(x)
	s, p := neg(mul(x, x)), x
	y := series(x, func(_ *big.Float, n int) *big.Float {
		p = quo(mul(p, s), number(x, n))
		return quo(p, number(x, 2*n+1))
	})
	return quo(scaled(y, 1), root(pi(x.Prec())))
}

// bernoulli holds B₂, B₄, …
var bernoulli = func() []*big.Rat {
	var all []*big.Rat // B₀, B₁, …
	for n := range 101 {
		sum := new(big.Rat)
		for k, b := range all {
			c := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n+1), int64(k)))
			sum.Add(sum, c.Mul(c, b))
		}
		if n == 0 {
			all = append(all, big.NewRat(1, 1))
			continue
		}
		all = append(all, sum.Mul(sum, big.NewRat(-1, int64(n+1))))
	}
	var even []*big.Rat
	for n := 2; n < len(all); n += 2 {
		even = append(even, all[n])
	}
	return even
}()

// stirling returns Σ B₂ₙ/(d(n)·x^p(n)) for a large x.
func stirling(x *big.Float, denominator func(n int) int64, power func(n int) int) *big.Float {
	sum := zero(x)
	for i, b := range bernoulli {
		n := i + 1
		p := number(x, 1)
		for range power(n) {
			p = mul(p, x)
		}
		t := quo(zero(x).SetRat(b), mul(p, zero(x).SetInt64(denominator(n))))
		sum = add(sum, t)
	}
	return sum
}

const farX = 100 // from where Stirling's series is good to hundreds of bits

// bigLgamma is log|Γ(x)|: Γ(x) = Γ(x+n)/(x·(x+1)…), and for negative x the
// reflection π/(sin πx·Γ(1−x)).
func bigLgamma(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		s, _ := bigSinCos(mul(pi(x.Prec()), x))
		return sub(bigLog(zero(x).Abs(quo(pi(x.Prec()), s))), bigLgamma(sub(number(x, 1), x)))
	}
	p := number(x, 1)
	for x.Cmp(number(x, farX)) < 0 {
		p = mul(p, x)
		x = add(x, number(x, 1))
	}
	y := sub(mul(sub(x, zero(x).SetFloat64(0.5)), bigLog(x)), x)
	y = add(y, scaled(bigLog(scaled(pi(x.Prec()), 1)), -1))
	y = add(y, stirling(x, func(n int) int64 { return int64(2 * n * (2*n - 1)) }, func(n int) int { return 2*n - 1 }))
	return sub(y, bigLog(p))
}

func bigDigamma(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		s, c := bigSinCos(mul(pi(x.Prec()), x))
		return sub(bigDigamma(sub(number(x, 1), x)), quo(mul(pi(x.Prec()), c), s))
	}
	y := zero(x)
	for x.Cmp(number(x, farX)) < 0 {
		y = sub(y, quo(number(x, 1), x))
		x = add(x, number(x, 1))
	}
	y = add(y, sub(bigLog(x), quo(zero(x).SetFloat64(0.5), x)))
	return sub(y, stirling(x, func(n int) int64 { return int64(2 * n) }, func(n int) int { return 2 * n }))
}

package oracle

import "math"

// squarings is how often wideExpm1 halves its argument.
const squarings = 9

// tiny is below what a square shows next to 1.
const tiny = 0x1p-200

// expm1Small is e^r − 1 for |r| ≤ ½: Taylor's series of r/2⁹ and 9 times
// (1+s)² − 1 = 2s + s², none of which cancels much.
func expm1Small(r wide) wide {
	r = r.scale(-squarings)
	s, term := r, r
	for n := 2.0; n <= 12; n++ {
		term = term.mul(r).div(exact(n))
		s = s.add(term)
	}
	for range squarings {
		s = s.scale(1).add(s.mul(s))
	}
	return s
}

func wideExp(x wide) wide {
	switch {
	case x.isNaN():
		return x
	case x.hi > 800:
		return exact(math.Inf(1))
	case x.hi < -800:
		return exact(0)
	}
	k := math.RoundToEven(x.hi / wideLn2.hi)
	return expm1Small(x.sub(wideLn2.times(k))).plus(1).scale(int(k))
}

func wideExpm1(x wide) wide {
	switch {
	case math.Abs(x.hi) < tiny:
		return x
	case math.Abs(x.hi) < 0.5:
		return expm1Small(x)
	}
	return wideExp(x).plus(-1)
}

func wideExp2(x wide) wide {
	if k := math.RoundToEven(x.hi); math.Abs(k) < 1100 {
		return expm1Small(x.plus(-k).mul(wideLn2)).plus(1).scale(int(k))
	}
	return wideExp(x.mul(wideLn2))
}

// wideLog1p is log(1+x): near 0 by 2·atanh(z) = 2·(z + z³/3 + z⁵/5 + …) with
// z = x/(2+x).
func wideLog1p(x wide) wide {
	if math.Abs(x.hi) > 0.1 || x.isNaN() {
		return wideLog(x.plus(1))
	}
	if math.Abs(x.hi) < tiny {
		return x
	}
	z := x.div(x.plus(2))
	square, power, sum := z.mul(z), z, z
	for n := 3.0; n < 33; n += 2 {
		power = power.mul(square)
		sum = sum.add(power.div(exact(n)))
	}
	return sum.scale(1)
}

func wideLog(x wide) wide {
	switch {
	case x.hi == 0:
		return exact(math.Inf(-1))
	case x.hi < 0 || x.isNaN():
		return exact(math.NaN())
	case math.IsInf(x.hi, 1):
		return x
	case math.Abs(x.hi-1) < 0.1:
		return wideLog1p(x.plus(-1))
	}
	_, e := math.Frexp(x.hi)
	m := x.scale(-e)
	// One step of Newton's method for e^y = m.
	y := exact(math.Log(m.hi))
	y = y.add(m.mul(wideExp(y.neg())).plus(-1))
	return y.add(wideLn2.times(float64(e)))
}

func wideLog2(x wide) wide {
	if f, e := math.Frexp(x.hi); f == 0.5 && x.lo == 0 {
		return exact(float64(e - 1))
	}
	return wideLog(x).div(wideLn2)
}

func wideLog10(x wide) wide { return wideLog(x).div(wideLn10) }

// widePow is x^y for x > 0 and finite operands. The logarithm's error counts
// y times, which 106 bits allow for all y with a finite result.
func widePow(x, y wide) wide { return wideExp(y.mul(wideLog(x))) }

func wideSinh(x wide) wide {
	if math.Abs(x.hi) < 0.3 {
		e := wideExpm1(x)
		return e.add(e.div(e.plus(1))).scale(-1)
	}
	a := x.abs()
	half := wideExp(a.sub(wideLn2))
	r := half.sub(exact(0.25).div(half))
	if x.hi < 0 {
		return r.neg()
	}
	return r
}

func wideCosh(x wide) wide {
	half := wideExp(x.abs().sub(wideLn2))
	return half.add(exact(0.25).div(half))
}

func wideTanh(x wide) wide {
	if math.Abs(x.hi) > 50 {
		return exact(math.Copysign(1, x.hi))
	}
	e := wideExpm1(x.scale(1))
	return e.div(e.plus(2))
}

func wideAsinh(x wide) wide {
	a := x.abs()
	var r wide
	switch {
	case x.hi == 0 || !x.isFinite():
		return x
	case a.hi > 0x1p200:
		r = wideLog(a).add(wideLn2)
	default:
		square := a.mul(a)
		r = wideLog1p(a.add(square.div(square.plus(1).sqrt().plus(1))))
	}
	if x.hi < 0 {
		return r.neg()
	}
	return r
}

func wideAcosh(x wide) wide {
	switch {
	case x.hi < 1 || x.isNaN():
		return exact(math.NaN())
	case x.hi > 0x1p200:
		return wideLog(x).add(wideLn2)
	}
	t := x.plus(-1)
	return wideLog1p(t.add(t.scale(1).add(t.mul(t)).sqrt()))
}

func wideAtanh(x wide) wide {
	switch {
	case math.Abs(x.hi) > 1 || x.isNaN():
		return exact(math.NaN())
	case math.Abs(x.hi) == 1:
		return exact(math.Inf(int(x.hi)))
	case x.hi == 0:
		return x
	}
	return wideLog1p(x.scale(1).div(exact(1).sub(x))).scale(-1)
}

// wideSigmoid is 1/(1+e^−x), through e^x for negative x to keep its relative
// accuracy.
func wideSigmoid(x wide) wide {
	if x.hi < 0 {
		e := wideExp(x)
		return e.div(e.plus(1))
	}
	return exact(1).div(wideExp(x.neg()).plus(1))
}

// wideSoftplus is log(1+e^x) = max(x, 0) + log1p(e^−|x|).
func wideSoftplus(x wide) wide {
	if x.isNaN() {
		return x
	}
	tail := wideLog1p(wideExp(x.abs().neg()))
	if x.hi > 0 {
		return x.add(tail)
	}
	return tail
}

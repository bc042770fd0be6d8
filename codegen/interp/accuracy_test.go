package interp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sinter-ml/sinter/ir"
)

// accuracy holds, for functions of one float, their exact values, the range
// of operands and the error allowed in units of the last place of a float64.
var accuracy = []struct {
	op     ir.ScalarOp
	f      func(x *big.Float) *big.Float
	lo, hi float64
	ulps   float64
	near   float64 // absolute error allowed where results are small, near roots
}{
	{ir.SExp, bigExp, -745, 709.7, 1, 0},
	{ir.SExpm1, func(x *big.Float) *big.Float { return sub(bigExp(x), number(x, 1)) }, -40, 709, 2, 0},
	{ir.SExp2, func(x *big.Float) *big.Float { return bigExp(mul(x, ln2(x.Prec()))) }, -1074, 1023.9, 1, 0},
	{ir.SLog, bigLog, 0, math.MaxFloat64, 1, 0},
	{ir.SLog2, func(x *big.Float) *big.Float { return quo(bigLog(x), ln2(x.Prec())) }, 0, math.MaxFloat64, 1, 0},
	{ir.SLog10, func(x *big.Float) *big.Float { return quo(bigLog(x), bigLog(number(x, 10))) }, 0, math.MaxFloat64, 1, 0},
	{ir.SLog1p, func(x *big.Float) *big.Float { return bigLog(add(number(x, 1), x)) }, -1, 1e300, 2, 0},
	{ir.SRsqrt, func(x *big.Float) *big.Float { return quo(number(x, 1), root(x)) }, 0, math.MaxFloat64, 2, 0},
	{ir.SSin, func(x *big.Float) *big.Float { s, _ := bigSinCos(x); return s }, -1e300, 1e300, 2, 0},
	{ir.SCos, func(x *big.Float) *big.Float { _, c := bigSinCos(x); return c }, -1e300, 1e300, 2, 0},
	{ir.STan, func(x *big.Float) *big.Float { s, c := bigSinCos(x); return quo(s, c) }, -1e300, 1e300, 2, 0},
	{ir.SAsin, func(x *big.Float) *big.Float { return bigAtan(quo(x, root(sub(number(x, 1), mul(x, x))))) }, -0.999999, 0.999999, 2, 0},
	{ir.SAcos, func(x *big.Float) *big.Float {
		y := bigAtan(quo(root(sub(number(x, 1), mul(x, x))), x))
		if x.Sign() < 0 {
			y = add(y, pi(x.Prec()))
		}
		return y
	}, -1, 1, 2, 0},
	{ir.SAtan, bigAtan, -1e300, 1e300, 2, 0},
	{ir.SSinh, func(x *big.Float) *big.Float { return scaled(sub(bigExp(x), bigExp(neg(x))), -1) }, -710, 710, 2, 0},
	{ir.SCosh, func(x *big.Float) *big.Float { return scaled(add(bigExp(x), bigExp(neg(x))), -1) }, -710, 710, 2, 0},
	{ir.STanh, func(x *big.Float) *big.Float {
		a, b := bigExp(x), bigExp(neg(x))
		return quo(sub(a, b), add(a, b))
	}, -30, 30, 2, 0},
	{ir.SAsinh, func(x *big.Float) *big.Float { return bigAsinh(x) }, -1e150, 1e150, 4, 0},
	{ir.SAcosh, func(x *big.Float) *big.Float { return bigLog(add(x, root(sub(mul(x, x), number(x, 1))))) }, 1, 1e150, 4, 0},
	{ir.SAtanh, func(x *big.Float) *big.Float {
		one := number(x, 1)
		return scaled(bigLog(quo(add(one, x), sub(one, x))), -1)
	}, -1, 1, 4, 0},
	{ir.SErf, bigErf, -6, 6, 2, 0},
	{ir.SErfc, func(x *big.Float) *big.Float { e := bigErf(x); return sub(number(e, 1), e) }, -6, 26, 4, 0},
	{ir.SLgamma, bigLgamma, -60, 1e6, 4, 1e-13},
	{ir.SDigamma, bigDigamma, -60, 1e6, 4, 1e-13},
	{ir.SSigmoid, func(x *big.Float) *big.Float { return quo(number(x, 1), add(number(x, 1), bigExp(neg(x)))) }, -700, 700, 4, 0},
	{ir.SSilu, func(x *big.Float) *big.Float { return quo(x, add(number(x, 1), bigExp(neg(x)))) }, -700, 700, 4, 0},
	{ir.SGelu, func(x *big.Float) *big.Float {
		e := bigErf(neg(quo(x, root(number(x, 2)))))
		return scaled(mul(x, sub(number(e, 1), e)), -1)
	}, -36, 36, 4, 0},
	{ir.SGeluTanh, func(x *big.Float) *big.Float {
		u := mul(root(quo(scaled(number(x, 1), 3), pi(x.Prec()))), add(x, mul(zero(x).SetFloat64(0.044715), mul(x, mul(x, x)))))
		return quo(x, add(number(x, 1), bigExp(neg(u))))
	}, -21, 21, 4, 0},
	{ir.SSoftplus, func(x *big.Float) *big.Float { return bigLog(add(number(x, 1), bigExp(x))) }, -700, 700, 4, 0},
}

func bigAsinh(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return neg(bigAsinh(neg(x)))
	}
	return bigLog(add(x, root(add(mul(x, x), number(x, 1)))))
}

// operands spreads numbers over a range: evenly, by their logarithm, and near
// its ends and the places where functions are hard.
func operands(r *rand.Rand, lo, hi float64, n int) []float64 {
	var x []float64
	add := func(v float64) {
		if v > lo && v < hi && v != 0 && v != 1 {
			x = append(x, v)
		}
	}
	for range n {
		add(lo/2 + (hi/2-lo/2)*r.Float64()*2 + lo/2)
		add(math.Ldexp(1+r.Float64(), r.IntN(80)-60))
		add(-math.Ldexp(1+r.Float64(), r.IntN(80)-60))
		add(1 + (r.Float64()-0.5)*math.Ldexp(1, -r.IntN(50)))
		add(r.NormFloat64() * 4)
		add(float64(r.IntN(1<<20)) * math.Pi / 4 * (1 + float64(r.IntN(3)-1)*0x1p-52))
		add(math.Ldexp(1+r.Float64(), r.IntN(2000)-1000))
	}
	return x
}

// distance returns the error of got in ulps of a float64 near want.
func distance(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	unit := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	if math.Abs(w) == math.MaxFloat64 || math.IsInf(w, 0) {
		unit = 0x1p971
	}
	d := sub(new(big.Float).SetPrec(want.Prec()).SetFloat64(got), want)
	e, _ := quo(d, new(big.Float).SetPrec(want.Prec()).SetFloat64(unit)).Float64()
	return math.Abs(e)
}

func TestAccuracyF64(t *testing.T) {
	for _, c := range accuracy {
		t.Run(c.op.String(), func(t *testing.T) {
			t.Parallel()
			x := operands(rand.New(rand.NewPCG(1, uint64(c.op))), c.lo, c.hi, kernels(8, 60))
			got := make([]float64, len(x))
			unaryF64ToF64[c.op](got, x)
			worst, at := 0.0, 0.0
			for i, v := range x {
				want := c.f(exactly(v))
				d := distance(got[i], want)
				if w, _ := want.Float64(); math.Abs(w) < 8 && math.Abs(got[i]-w) <= c.near {
					continue
				}
				if d > worst || d != d {
					worst, at = d, v
				}
			}
			t.Logf("worst error %.3g ulp at %v", worst, at)
			if !(worst <= c.ulps) {
				t.Errorf("%v(%v) is %.3g ulp off", c.op, at, worst)
			}
		})
	}
}

// Functions of two floats, within 4 ulps.
func TestAccuracyBinaryF64(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, c := range []struct {
		op    ir.ScalarOp
		f     func(x, y *big.Float) *big.Float
		spans func() (x, y float64)
	}{
		{ir.SPow, func(x, y *big.Float) *big.Float { return bigExp(mul(y, bigLog(x))) }, func() (float64, float64) {
			x := math.Ldexp(1+r.Float64(), r.IntN(40)-20)
			if r.IntN(3) == 0 {
				x = 1 + (r.Float64()-0.5)*0x1p-20
			}
			return x, (r.Float64()*2 - 1) * 700 / math.Abs(math.Log(x))
		}},
		{ir.SAtan2, func(y, x *big.Float) *big.Float {
			a := bigAtan(quo(y, x))
			if x.Sign() < 0 {
				if y.Sign() < 0 {
					return sub(a, pi(a.Prec()))
				}
				return add(a, pi(a.Prec()))
			}
			return a
		}, func() (float64, float64) {
			return r.NormFloat64() * math.Ldexp(1, r.IntN(60)-30), r.NormFloat64() * math.Ldexp(1, r.IntN(60)-30)
		}},
		{ir.SHypot, func(x, y *big.Float) *big.Float { return root(add(mul(x, x), mul(y, y))) }, func() (float64, float64) {
			e := r.IntN(2000) - 1000
			return math.Ldexp(r.NormFloat64(), e), math.Ldexp(r.NormFloat64(), e+r.IntN(40)-20)
		}},
	} {
		worst := 0.0
		for range kernels(100, 1500) {
			x, y := c.spans()
			var d [1]float64
			binaryF64ToF64[c.op].vv(d[:], []float64{x}, []float64{y})
			prec := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
			if e := distance(d[0], c.f(prec(x), prec(y))); e > 4 {
				t.Errorf("%v(%v, %v) is %.3g ulp off", c.op, x, y, e)
			} else {
				worst = max(worst, e)
			}
		}
		t.Logf("%v: worst error %.3g ulp", c.op, worst)
	}
}

// The error of Erfinv is that of its erf divided by the slope there.
func TestErfinv(t *testing.T) {
	worst := 0.0
	for _, x := range operands(rand.New(rand.NewPCG(8, 8)), -1, 1, kernels(30, 300)) {
		var d [1]float64
		unaryF64ToF64[ir.SErfinv](d[:], []float64{x})
		y := exactly(d[0])
		e := sub(bigErf(y), exactly(x))
		slope := quo(scaled(bigExp(neg(mul(y, y))), 1), root(pi(y.Prec())))
		off, _ := quo(e, slope).Float64()
		ulps := math.Abs(off) / (math.Nextafter(math.Abs(d[0]), 9) - math.Abs(d[0]))
		if ulps > 4 {
			t.Errorf("erfinv(%v) is %.3g ulp off", x, ulps)
		}
		worst = max(worst, ulps)
	}
	t.Logf("worst error %.3g ulp", worst)
}

// The last operands before the result overflows.
func TestNearOverflow(t *testing.T) {
	for op, f := range map[ir.ScalarOp]func(x *big.Float) *big.Float{
		ir.SExp:  bigExp,
		ir.SSinh: func(x *big.Float) *big.Float { return scaled(sub(bigExp(x), bigExp(neg(x))), -1) },
		ir.SCosh: func(x *big.Float) *big.Float { return scaled(add(bigExp(x), bigExp(neg(x))), -1) },
	} {
		last := 709.78 // of exp; half of it overflows log 2 later
		if op != ir.SExp {
			last = 710.47
		}
		for _, x := range []float64{709, 709.5, 709.7, last} {
			var d [1]float64
			unaryF64ToF64[op](d[:], []float64{x})
			if e := distance(d[0], f(exactly(x))); !(e <= 2) {
				t.Errorf("%v(%v) = %v is %.3g ulp off", op, x, d[0], e)
			}
		}
		var d [1]float64
		unaryF64ToF64[op](d[:], []float64{711})
		if !math.IsInf(d[0], 1) {
			t.Errorf("%v(711) = %v", op, d[0])
		}
	}
}

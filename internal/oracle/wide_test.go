package oracle

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func (a wide) big() *big.Float {
	return new(big.Float).SetPrec(500).Add(new(big.Float).SetPrec(500).SetFloat64(a.hi), new(big.Float).SetFloat64(a.lo))
}

// apart returns the relative distance of a wide number from an exact one.
func apart(a wide, want *big.Float) float64 {
	d := new(big.Float).SetPrec(500).Sub(a.big(), want)
	if want.Sign() != 0 {
		d.Quo(d, want)
	}
	x, _ := d.Float64()
	return math.Abs(x)
}

// Arithmetic against exact numbers.
func TestWideArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	random := func() wide {
		hi := math.Ldexp(r.Float64()-0.5, r.IntN(80)-40)
		return normal(hi, hi*(r.Float64()-0.5)*0x1p-53)
	}
	for range 5000 {
		a, b := random(), random()
		if r.IntN(3) == 0 {
			b = a.plus(math.Ldexp(a.hi, -r.IntN(100))).neg() // what cancels
		}
		x, y := a.big(), b.big()
		exactly := func(f func(z, x, y *big.Float) *big.Float) *big.Float { return f(new(big.Float).SetPrec(500), x, y) }
		const close = 0x1p-100
		assert.Less(t, apart(a.add(b), exactly((*big.Float).Add)), close)
		assert.Less(t, apart(a.sub(b), exactly((*big.Float).Sub)), close)
		assert.Less(t, apart(a.mul(b), exactly((*big.Float).Mul)), close)
		if b.hi != 0 {
			assert.Less(t, apart(a.div(b), exactly((*big.Float).Quo)), close)
		}
		assert.Less(t, apart(a.abs().sqrt(), new(big.Float).SetPrec(500).Sqrt(a.abs().big())), close)
		s := a.mul(b)
		assert.LessOrEqual(t, math.Abs(s.lo), math.Abs(s.hi)*0x1p-53, "hi is the nearest float64")
	}
}

func TestWideSpecials(t *testing.T) {
	inf := math.Inf(1)
	assert.Equal(t, math.MaxFloat64*0.55, exact(math.MaxFloat64).add(exact(-math.MaxFloat64*0.45)).hi)
	for _, x := range []float64{math.MaxFloat64, 1.7e308, 1.2345e308, 5e-324, 1e-310, 3e-300} {
		assert.InEpsilon(t, math.Sqrt(x), exact(x).sqrt().hi, 1e-15)
		for _, y := range []float64{1, 3, 0.75, -1.5, 1e10, 1e-5, 1.3e154, math.MaxFloat64} {
			if q := x / y; math.Abs(q) > 1e-300 {
				assert.Equal(t, q, exact(x).div(exact(y)).hi, "%v / %v", x, y)
			}
		}
	}
	for x := 709.5; x < 900; x += 0.37 {
		for name, got := range map[string]wide{"exp": wideExp(exact(x)), "cosh": wideCosh(exact(x + 1)), "sinh": wideSinh(exact(x + 1)), "pow": pow(2, 2*x)} {
			assert.Equal(t, x > 709.782712893384 || name == "pow" || name != "exp" && x+1 > 710.4758600739439, math.IsInf(got.hi, 1), "%s %v", name, x)
		}
	}
	for _, x := range []float64{inf, -inf, 0, math.Copysign(0, -1), math.NaN(), math.MaxFloat64, 5e-324, 1} {
		for _, y := range []float64{inf, -inf, 0, math.Copysign(0, -1), math.NaN(), math.MaxFloat64, 1, -2} {
			a, b := exact(x), exact(y)
			for _, c := range [][2]float64{{x + y, a.add(b).hi}, {x - y, a.sub(b).hi}, {x * y, a.mul(b).hi}, {x / y, a.div(b).hi}} {
				assert.Equal(t, math.Float64bits(c[0]+0*c[0]) == math.Float64bits(c[1]+0*c[1]) || c[0] != c[0] && c[1] != c[1] || c[0] == c[1] && math.Signbit(c[0]) == math.Signbit(c[1]), true, "%v %v: %v", x, y, c)
			}
		}
	}
}

// Values to 30 digits, from published tables (Abramowitz and Stegun; OEIS).
func TestWideFunctions(t *testing.T) {
	tests := []struct {
		name string
		got  wide
		want string
	}{
		{"e", wideExp(exact(1)), "2.718281828459045235360287471352662498"},
		{"e⁻¹⁰", wideExp(exact(-10)), "4.53999297624848515355915155605506e-5"},
		{"expm1(½)", wideExpm1(exact(0.5)), "0.648721270700128146848650787814163572"},
		{"expm1(2⁻³⁰)", wideExpm1(exact(0x1p-30)), "9.3132257504915938475383403479204698e-10"},
		{"√2", wideExp2(exact(0.5)), "1.414213562373095048801688724209698079"},
		{"log 3", wideLog(exact(3)), "1.098612288668109691395245236922525705"},
		{"log 1.0625", wideLog(exact(1.0625)), "0.0606246218164348425806061320404202633"},
		{"log2 10", wideLog2(exact(10)), "3.321928094887362347870319429489390176"},
		{"log10 2", wideLog10(exact(2)), "0.301029995663981195213738894724493027"},
		{"sin 1", wideSin(exact(1)), "0.841470984807896506652502321630298999"},
		{"cos 1", wideCos(exact(1)), "0.540302305868139717400936607442976604"},
		{"tan 1", wideTan(exact(1)), "1.557407724654902230506974807458360173"},
		{"sin 10²²", wideSin(exact(1e22)), "-0.852200849767188801772705893753029368"},
		{"sin π (in float64)", wideSin(exact(math.Pi)), "1.22464679914735317722606593227500e-16"},
		{"atan ½", wideAtan(exact(0.5)), "0.463647609000806116214256231461214402"},
		{"atan 3", wideAtan(exact(3)), "1.249045772398254425829917077281090123"},
		{"asin ½", wideAsin(exact(0.5)), "0.523598775598298873077107230546583814"},
		{"acos ¾", wideAcos(exact(0.75)), "0.722734247813415611178377352641333362"},
		{"sinh 1", wideSinh(exact(1)), "1.175201193643801456882381850595600815"},
		{"cosh 1", wideCosh(exact(1)), "1.543080634815243778477905620757061682"},
		{"tanh ½", wideTanh(exact(0.5)), "0.462117157260009758502318483643672549"},
		{"asinh 1", wideAsinh(exact(1)), "0.881373587019543025232609324979792309"},
		{"acosh 2", wideAcosh(exact(2)), "1.316957896924816708625046347307968444"},
		{"atanh ½", wideAtanh(exact(0.5)), "0.549306144334054845697622618461261853"},
		{"erf ½", wideErf(exact(0.5)), "0.520499877813046537682746653891964528"},
		{"erf 1", wideErf(exact(1)), "0.842700792949714869341220635082609259"},
		{"erfc 1", wideErfc(exact(1)), "0.157299207050285130658779364917390741"},
		{"erfc 4", wideErfc(exact(4)), "1.54172579002800188521596734868e-8"},
		{"erfc 10", wideErfc(exact(10)), "2.08848758376254475700078629496e-45"},
		{"erfinv ½", wideErfinv(exact(0.5)), "0.476936276204469873381418353643130560"},
		{"lgamma 2⁻¹⁰⁷⁴", wideLgamma(exact(0x1p-1074)), "744.440071921381262314107298446081634113"},
		{"lgamma −2⁻¹⁰³⁰", wideLgamma(exact(-0x1p-1030)), "713.941595976743668699749085101921865118"},
		{"lgamma ½", wideLgamma(exact(0.5)), "0.572364942924700087071713675676529356"},
		{"lgamma 10", wideLgamma(exact(10)), "12.80182748008146961120771787456670616"},
		{"lgamma −½", wideLgamma(exact(-0.5)), "1.265512123484645396488945797134705924"},
		{"lgamma 100", wideLgamma(exact(100)), "359.134205369575398776044010460"},
		{"digamma −2⁻¹⁰²⁰", wideDigamma(exact(-0x1p-1020)), "11235582092889474423308157442431404585112356118389416079589380072358292237843810195794279832650471001320007117491962084853674360550901038905802964414967132773610493339054092829768888725077880882465817684505312860552384417646403930092119569408801702322709406917786643639996702871154982269052209770601514008576"},
		{"digamma 1", wideDigamma(exact(1)), "-0.577215664901532860606512090082402431"},
		{"digamma ½", wideDigamma(exact(0.5)), "-1.963510026021423479440976332998755567"},
		{"digamma 10", wideDigamma(exact(10)), "2.251752589066721107647456163885851537"},
		{"digamma −½", wideDigamma(exact(-0.5)), "0.036489973978576520559023667001244433"},
		{"hypot", wideHypot(1, 1), "1.414213562373095048801688724209698079"},
		{"atan2", wideAtan2(1, -1), "2.356194490192344928846982537459627163"},
		{"pow", pow(3, 0.5), "1.732050807568877293527446341505872367"},
		{"sigmoid", wideSigmoid(exact(1)), "0.731058578630004879251159241821836274"},
		{"softplus", wideSoftplus(exact(0)), "0.693147180559945309417232121458176568"},
	}
	for _, tt := range tests {
		want, _, err := big.ParseFloat(tt.want, 10, 500, big.ToNearestEven)
		assert.NoError(t, err)
		assert.Less(t, apart(tt.got, want), 1e-27, "%s: %v", tt.name, tt.got)
	}
}

// All functions agree with Go's where these are good, over their ranges.
func TestWideFunctionsOverRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	lgamma := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	tests := []struct {
		name      string
		f         func(wide) wide
		std       func(float64) float64
		low, high float64
		units     float64 // of 2⁻⁵³, relative
	}{
		{"exp", wideExp, math.Exp, -700, 700, 4}, {"expm1", wideExpm1, math.Expm1, -40, 40, 4}, {"exp2", wideExp2, math.Exp2, -1000, 1000, 4},
		{"log", wideLog, math.Log, 1e-300, 3, 4}, {"log1p", wideLog1p, math.Log1p, -1, 1, 4}, {"log2", wideLog2, math.Log2, 3, 1e10, 8}, {"log10", wideLog10, math.Log10, 3, 1e10, 8},
		{"sin", wideSin, math.Sin, -3, 3, 4}, {"cos", wideCos, math.Cos, -1.5, 1.5, 4}, {"tan", wideTan, math.Tan, -1.5, 1.5, 8},
		{"sin", wideSin, math.Sin, -1e4, 1e4, 1e5}, {"cos", wideCos, math.Cos, 1e15, 1e17, 1e5},
		{"asin", wideAsin, math.Asin, -1, 1, 8}, {"acos", wideAcos, math.Acos, -1, 0.9, 100}, {"atan", wideAtan, math.Atan, -50, 50, 4},
		{"sinh", wideSinh, math.Sinh, -20, 20, 8}, {"cosh", wideCosh, math.Cosh, -700, 700, 8}, {"tanh", wideTanh, math.Tanh, -30, 30, 8},
		{"asinh", wideAsinh, math.Asinh, -1e6, 1e6, 8}, {"acosh", wideAcosh, math.Acosh, 1, 1e6, 8}, {"atanh", wideAtanh, math.Atanh, -1, 1, 8},
		{"erf", wideErf, math.Erf, -6, 6, 8}, {"erfc", wideErfc, math.Erfc, -6, 26, 64}, {"erfinv", wideErfinv, math.Erfinv, -1, 1, 64},
		{"lgamma", wideLgamma, lgamma, 3, 1e5, 16},
	}
	for _, tt := range tests {
		for range 300 {
			x := tt.low + r.Float64()*(tt.high-tt.low)
			got, want := tt.f(exact(x)), tt.std(x)
			assert.LessOrEqual(t, math.Abs(got.hi-want), tt.units*0x1p-53*math.Abs(want), "%s(%v): %v, %v", tt.name, x, got, want)
		}
	}
}

// What the functions must satisfy to far more digits than float64 has.
func TestWideIdentities(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	near := func(name string, x float64, a, b wide, size float64) {
		t.Helper()
		d := a.sub(b)
		assert.LessOrEqual(t, math.Abs(d.hi), size, "%s at %v: %v, %v", name, x, a, b)
	}
	one := exact(1)
	for range 300 {
		x := (r.Float64() - 0.5) * 20
		w := exact(x)
		near("e^x·e^−x", x, wideExp(w).mul(wideExp(w.neg())), one, 1e-28)
		near("log e^x", x, wideLog(wideExp(w)), w, 1e-28)
		s, c := wideSinCos(exact(x * 1e6))
		near("sin²+cos²", x, s.mul(s).add(c.mul(c)), one, 1e-28)
		near("atan tan", x, wideAtan(wideTan(exact(x/15))), exact(x/15), 1e-28)
		near("asin sin", x, wideAsin(wideSin(exact(x/10))), exact(x/10), 1e-26)
		near("acos cos", x, wideAcos(wideCos(exact(math.Abs(x/10)))), exact(math.Abs(x/10)), 1e-25)
		near("asinh sinh", x, wideAsinh(wideSinh(w)), w, 1e-27)
		near("atanh tanh", x, wideAtanh(wideTanh(exact(x/10))), exact(x/10), 1e-28)
		near("acosh cosh", x, wideAcosh(wideCosh(exact(math.Abs(x)+1))), exact(math.Abs(x)+1), 1e-27)
		near("erf+erfc", x, wideErf(exact(x/4)).add(wideErfc(exact(x/4))), one, 1e-28)
		near("erf erfinv", x, wideErf(wideErfinv(exact(x/10))), exact(x/10), 1e-28)
		y := exact(math.Abs(x) + 0.1)
		near("lgamma(x+1)", x, wideLgamma(y.plus(1)), wideLgamma(y).add(wideLog(y)), 1e-27)
		near("digamma(x+1)", x, wideDigamma(y.plus(1)), wideDigamma(y).add(one.div(y)), 1e-27)
	}
	// The halves of erfc meet, and so do the ways to compute lgamma.
	for _, x := range []float64{3.4999999, 3.5} {
		near("erfc", x, erfcTail(exact(x)), one.sub(erfSeries(exact(x))), 1e-30)
	}
}

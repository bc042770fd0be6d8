package num

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ulp32 is the unit in the last place of the f32 nearest to x.
func ulp32(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-1, -126)-23)
}

// The approximations are closer than the bounds of their documentation: within
// 0.51 ulp, over every exponent.
func TestApproximations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tests := []struct {
		name  string
		f     func(uint32) uint32
		exact func(float64) float64
		limit float64 // of operands
	}{
		{"ex2", Ex2, math.Exp2, 160}, {"lg2", Lg2, math.Log2, math.Inf(1)},
		{"rsqrt", Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }, math.Inf(1)},
		{"sin", Sin, math.Sin, math.Inf(1)}, {"cos", Cos, math.Cos, math.Inf(1)}, {"tanh", Tanh, math.Tanh, math.Inf(1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range trials(200000) {
				a := rng.Uint32()
				if i%2 == 0 { // a usual magnitude
					a = math.Float32bits(float32(rng.NormFloat64() * 20))
				}
				x := float64(f32(a))
				if math.Abs(x) > tt.limit {
					continue
				}
				want, got := tt.exact(x), float64(f32(tt.f(a)))
				if math.IsNaN(want) {
					require.Equal(t, uint32(NaN32), tt.f(a), "%g", x)
					continue
				}
				if float64(float32(want)) == got {
					continue
				}
				require.LessOrEqual(t, math.Abs(want-got), 0.51*ulp32(want), "%s(%g) = %g, not %g", tt.name, x, got, want)
			}
		})
	}
	inf, minusInf := uint32(0x7f800000), uint32(0xff800000)
	for _, tt := range []struct {
		name    string
		f       func(uint32) uint32
		a, want uint32
	}{
		{"ex2", Ex2, inf, inf}, {"ex2", Ex2, minusInf, 0}, {"ex2", Ex2, 0x80000000, 0x3f800000}, {"ex2", Ex2, NaN32 - 5, NaN32},
		{"ex2", Ex2, math.Float32bits(-149), 1}, {"ex2", Ex2, math.Float32bits(-150), 0}, {"ex2", Ex2, math.Float32bits(-149.5), 1},
		{"ex2", Ex2, math.Float32bits(128), inf}, {"ex2", Ex2, math.Float32bits(127), math.Float32bits(0x1p127)},
		{"lg2", Lg2, 0, minusInf}, {"lg2", Lg2, 0x80000000, minusInf}, {"lg2", Lg2, inf, inf}, {"lg2", Lg2, 0xbf800000, NaN32}, {"lg2", Lg2, 0x3f800000, 0},
		{"rsqrt", Rsqrt, 0, inf}, {"rsqrt", Rsqrt, 0x80000000, minusInf}, {"rsqrt", Rsqrt, inf, 0}, {"rsqrt", Rsqrt, 0xbf800000, NaN32},
		{"sin", Sin, 0x80000000, 0x80000000}, {"sin", Sin, inf, NaN32}, {"cos", Cos, 0, 0x3f800000}, {"cos", Cos, inf, NaN32},
		{"tanh", Tanh, inf, 0x3f800000}, {"tanh", Tanh, minusInf, 0xbf800000}, {"tanh", Tanh, 0x80000000, 0x80000000}, {"tanh", Tanh, NaN32, NaN32},
	} {
		assert.Equal(t, tt.want, tt.f(tt.a), "%s(%#x)", tt.name, tt.a)
	}
}

func TestDivApprox(t *testing.T) {
	f := math.Float32bits
	inf := uint32(0x7f800000)
	for _, tt := range []struct{ a, b, want uint32 }{
		{f(1), f(3), f(float32(1) / 3)}, {f(1), f(0x1p126), f(0x1p-126)}, {f(0x1p100), f(0x1.8p126), 0}, {f(-1), f(0x1p127), 0x80000000},
		{f(1), f(-0x1p127), 0x80000000}, {inf, f(0x1p127), NaN32}, {f(1), inf, 0}, {f(1), 0, inf}, {0, 0, NaN32},
	} {
		assert.Equal(t, tt.want, DivApprox(tt.a, tt.b), "%#x/%#x", tt.a, tt.b)
	}
}

func TestApproximationsOfF64(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		a := rng.Uint64()
		x := f64(a)
		if math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) < 0x1p-1000 || math.Abs(x) > 0x1p1000 {
			continue
		}
		r := RcpApproxF64(a)
		require.Zero(t, uint32(r))
		require.InEpsilon(t, 1/x, f64(r), 0x1p-19, "%g", x)
		if x = math.Abs(x); x == f64(a) {
			require.InEpsilon(t, 1/math.Sqrt(x), f64(RsqrtApproxF64(a)), 0x1p-19, "%g", x)
			require.InEpsilon(t, 1/math.Sqrt(x), f64(RsqrtF64(a)), 0x1p-51, "%g", x)
		}
	}
	inf := math.Float64bits(math.Inf(1))
	assert.Equal(t, inf, RcpApproxF64(1), "a subnormal is zero")
	assert.Equal(t, inf|1<<63, RcpApproxF64(1<<63))
	assert.Zero(t, RcpApproxF64(inf))
	assert.Zero(t, RcpApproxF64(math.Float64bits(0x1p1023)), "a subnormal result is zero")
	assert.Equal(t, uint64(NaN64), RcpApproxF64(NaN64))
	assert.Equal(t, uint64(NaN64), RsqrtApproxF64(math.Float64bits(-1)))
}

func TestApproximationsOfHalves(t *testing.T) {
	for _, h := range []Half{F16, BF16} {
		for a := uint32(0); a < 1<<16; a += 3 {
			x := h.Value(uint64(a))
			require.EqualValues(t, h.Pack(float64(float32(math.Exp2(x))), RN), h.Ex2(a), "2^%g", x)
			require.EqualValues(t, h.Pack(float64(float32(math.Tanh(x))), RN), h.Tanh(a), "tanh %g", x)
		}
		assert.Equal(t, uint32(0x8123), h.Neg(0xffff0123))
		assert.Equal(t, uint32(0x0123), h.Abs(0xffff8123))
	}
}

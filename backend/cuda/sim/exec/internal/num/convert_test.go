package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// value reads a bit pattern of a small format by its definition.
func value(f *Format, infinities bool, v uint64) float64 {
	frac, e := v&(1<<f.frac-1), int(v&(f.sign-1)>>f.frac)
	top := int(f.sign-1) >> f.frac // the exponent of all ones
	sign := 1.0
	if v&f.sign != 0 {
		sign = -1
	}
	switch {
	case e == top && infinities && frac == 0:
		return math.Inf(int(sign))
	case e == top && (infinities || frac == 1<<f.frac-1):
		return math.NaN()
	case e == 0:
		return sign * math.Ldexp(float64(frac), 1-f.bias-int(f.frac))
	}
	return sign * math.Ldexp(1+float64(frac)/float64(uint64(1)<<f.frac), e-f.bias)
}

func sameFloat(t *testing.T, want, got float64, v uint64) {
	t.Helper()
	if math.IsNaN(want) {
		require.True(t, math.IsNaN(got), "%#x", v)
		return
	}
	require.Equal(t, math.Float64bits(want), math.Float64bits(got), "%#x: want %g, got %g", v, want, got)
}

// Every bit pattern of the small formats, and the numbers around every middle
// between two of them in every rounding.
func TestSmallFormatsExhaustively(t *testing.T) {
	for name, f := range map[string]*Format{"f16": F16.Format, "bf16": BF16.Format, "e4m3": E4M3, "e5m2": E5M2, "tf32": TF32} {
		t.Run(name, func(t *testing.T) {
			step := uint64(1)
			if testing.Short() {
				step = f.sign>>12 | 1
			}
			for v := uint64(0); v < f.sign<<1; v += step {
				x := value(f, f != E4M3, v)
				sameFloat(t, x, f.Value(v), v)
				require.Equal(t, math.IsNaN(x), f.IsNaN(v), "%#x", v)
				if math.IsNaN(x) {
					require.Equal(t, f.quiet, f.Pack(x, RN))
					continue
				}
				require.Equal(t, v, f.Pack(x, RN), "%#x", v)
				next := value(f, f != E4M3, v+1)
				if v&(f.sign-1) >= f.max || math.IsInf(next, 0) {
					continue
				}
				middle := (x + next) / 2
				for _, y := range []float64{middle, math.Nextafter(middle, x), math.Nextafter(middle, next), math.Nextafter(x, next)} {
					for _, r := range append(allRounds, RNA) {
						want, got := reference(f, exact(y), false, r), f.Pack(y, r)
						if want != got {
							require.Equal(t, want, got, "%g rounded by %d", y, r)
						}
					}
				}
			}
			for _, r := range append(allRounds, RNA) {
				for _, y := range []float64{math.Ldexp(1, 300), -math.Ldexp(1, 300), 1e-300, -1e-300, f.Value(f.max) * 1.01} {
					require.Equal(t, reference(f, exact(y), false, r), f.Pack(y, r), "%g rounded by %d", y, r)
				}
			}
			assert.Equal(t, f.max, f.Clamped(f.Pack(1e300, RN)))
			assert.Equal(t, f.max|f.sign, f.Clamped(f.Pack(math.Inf(-1), RN)))
			assert.Equal(t, uint64(5), f.Clamped(5))
		})
	}
}

// The conversions of f16 and bf16 with loops of their own, on every pattern and
// around every middle.
func TestHalfConversions(t *testing.T) {
	for v := range uint32(1 << 16) {
		x := value(F16.Format, true, uint64(v))
		sameFloat(t, x, float64(f32(F16ToF32(v))), uint64(v))
		if b := value(BF16.Format, true, uint64(v)); !math.IsNaN(b) {
			sameFloat(t, b, float64(f32(BF16ToF32(v))), uint64(v))
		}
		// f32 around the value and around the middle to the next.
		for _, a := range []uint32{F16ToF32(v), F16ToF32(v) + 0x1000, BF16ToF32(v), BF16ToF32(v) + 0x8000} {
			for _, a := range []uint32{a - 1, a, a + 1} {
				y := float64(f32(a))
				if h := uint32(F16.Pack(y, RN)); h != F32ToF16(a) {
					require.Equal(t, h, F32ToF16(a), "%#x", a)
				}
				if h := uint32(BF16.Pack(y, RN)); h != F32ToBF16(a) {
					require.Equal(t, h, F32ToBF16(a), "%#x", a)
				}
			}
		}
	}
	assert.Equal(t, uint32(NaN32), F16ToF32(0x7e00))
	assert.Equal(t, uint32(NaN16), F32ToF16(0xffc00000))
	assert.Equal(t, uint32(NaN16), F32ToBF16(0xff800001))
	assert.Equal(t, uint32(0xff80), F32ToBF16(0xff7fffff))
	for v := range uint32(1 << 10) { // subnormals of f16 have middles at other places
		a := math.Float32bits((float32(v) + 0.5) * 0x1p-24)
		for _, a := range []uint32{a - 1, a, a + 1} {
			require.EqualValues(t, F16.Pack(float64(f32(a)), RN), F32ToF16(a), "%#x", a)
		}
	}
	assert.Equal(t, BF16ToF32(0x1234), BF16.F32(0x1234))
	assert.Equal(t, F16ToF32(0x1234), F16.F32(0x1234))
}

func TestWideConversions(t *testing.T) {
	for _, v := range operands(F64, trials(20000), 1) {
		x := f64(v[0])
		for _, f := range []*Format{F32, F16.Format, BF16.Format, E5M2} {
			for _, r := range allRounds {
				want := f.quiet
				switch {
				case math.IsInf(x, 0):
					want = f.over | v[0]>>63*f.sign
				case !math.IsNaN(x):
					want = reference(f, exact(x), false, r)
				}
				require.Equal(t, want, f.Pack(x, r), "%g rounded by %d", x, r)
			}
		}
		require.EqualValues(t, F32.Pack(x, RN), F64ToF32(v[0]))
	}
	for _, v := range operands(F32, 5000, 1) {
		want := math.Float64bits(float64(f32(uint32(v[0]))))
		if F32.IsNaN(v[0]) {
			want = NaN64
		}
		require.Equal(t, want, F32ToF64(uint32(v[0])))
	}
}

// integers of a type: the edges, powers of two and random ones.
func integers(t Int) []uint64 {
	rng := rand.New(rand.NewPCG(uint64(t.Width), 3))
	least, greatest := t.limits()
	out := []uint64{0, 1, least, least + 1, greatest, greatest - 1, t.Extend(^uint64(0))}
	for i := range int(t.Width) {
		out = append(out, t.Extend(1<<i), t.Extend(1<<i-1), t.Extend(1<<i+1), t.Extend(rng.Uint64()>>(64-t.Width)<<i))
	}
	for range 300 {
		out = append(out, t.Extend(rng.Uint64()>>rng.UintN(64)))
	}
	return out
}

var intTypes = []Int{{8, false}, {8, true}, {16, false}, {16, true}, {32, false}, {32, true}, {64, false}, {64, true}}

// whole is the value of an integer extended to 64 bits.
func (t Int) whole(v uint64) *big.Int {
	if t.Signed {
		return big.NewInt(int64(v))
	}
	return new(big.Int).SetUint64(v)
}

func TestIntToFloat(t *testing.T) {
	for _, it := range intTypes {
		for _, v := range integers(it) {
			x := new(big.Float).SetPrec(prec).SetInt(it.whole(v))
			for _, f := range []*Format{F64, F32, F16.Format, BF16.Format} {
				for _, r := range allRounds {
					require.Equal(t, reference(f, x, false, r), f.PackInt(v, it.Signed, r), "%s to %v by %d", x, *f, r)
				}
			}
		}
	}
}

func TestWideIntToF32(t *testing.T) {
	values := integers(Int{64, false})
	for shift := range 64 {
		for _, low := range []uint64{0, 1, 3, 1 << 29, 1<<29 - 1, 1<<29 + 1, 3 << 29, 1<<40 | 1} {
			values = append(values, uint64(1)<<shift|low, uint64(0xabcdef)<<shift>>1+low)
		}
	}
	for _, v := range values {
		u := new(big.Float).SetPrec(prec).SetInt(Int{64, false}.whole(v))
		require.EqualValues(t, reference(F32, u, false, RN), U64ToF32(v), "%#x", v)
		s := new(big.Float).SetPrec(prec).SetInt(Int{64, true}.whole(v))
		require.EqualValues(t, reference(F32, s, false, RN), S64ToF32(v), "%#x signed", v)
	}
}

// clampInt is a whole number clamped to the type, as 64 bits.
func (t Int) clampInt(x *big.Int) uint64 {
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(t.Width))
	if t.Signed {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, big.NewInt(1))
	switch {
	case x.Cmp(lo) < 0:
		x = lo
	case x.Cmp(hi) > 0:
		x = hi
	}
	if x.Sign() < 0 {
		return uint64(x.Int64())
	}
	return x.Uint64()
}

// rounded is a finite number rounded to a whole one.
func rounded(x float64, r Round) *big.Int {
	down, _ := exact(x).Int(nil)
	rest := new(big.Float).Sub(exact(x), new(big.Float).SetPrec(prec).SetInt(down))
	half := new(big.Float).Abs(rest).Cmp(big.NewFloat(0.5))
	away := false
	switch r {
	case RN:
		away = half > 0 || half == 0 && down.Bit(0) == 1
	case RM:
		away = rest.Sign() < 0
	case RP:
		away = rest.Sign() > 0
	}
	if away {
		down.Add(down, big.NewInt(int64(rest.Sign())))
	}
	return down
}

func TestFloatToInt(t *testing.T) {
	var values []float64
	for _, v := range operands(F32, trials(3000), 1) {
		values = append(values, float64(f32(uint32(v[0]))))
	}
	for _, e := range []int{0, 7, 8, 15, 16, 31, 32, 63, 64} {
		for _, d := range []float64{-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1} {
			x := math.Ldexp(1, e) + d
			values = append(values, x, -x, math.Nextafter(x, 0), -math.Nextafter(x, 0), float64(float32(x)), -float64(float32(x)))
		}
	}
	for _, it := range intTypes {
		for _, x := range values {
			for _, r := range allRounds {
				var want uint64
				switch {
				case math.IsNaN(x):
				case math.IsInf(x, 0):
					want = it.clampInt(new(big.Int).Lsh(big.NewInt(int64(math.Copysign(1, x))), 100))
				default:
					want = it.clampInt(rounded(x, r))
				}
				if !math.IsNaN(x) {
					require.Equal(t, want, it.FromF64(math.Float64bits(x), r), "%g to %v by %d", x, it, r)
				}
				if float64(float32(x)) != x {
					continue
				}
				a := math.Float32bits(float32(x))
				require.Equal(t, want, it.FromF32(a, r), "%g to %v by %d", x, it, r)
				if it == (Int{32, true}) {
					require.Equal(t, uint32(want), S32FromF32(a, r), "%g by %d", x, r)
				}
			}
		}
		// NaN: zero, but the highest bit alone from or to 64 bits.
		want32, want64 := uint64(0), it.Extend(1<<(it.Width-1))
		if it.Width == 64 {
			want32 = 1 << 63
		}
		assert.Equal(t, want32, it.FromF32(NaN32, RZ), "%v", it)
		assert.Equal(t, want64, it.FromF64(NaN64, RZ), "%v", it)
	}
	assert.Zero(t, S32FromF32(NaN32, RN))
	for _, x := range []float64{2.5, -2.5, 0.5, -0.5, 3.5, 0.25, -0.75, 0x1p60, math.Inf(-1)} {
		for _, r := range allRounds {
			want := x
			if !math.IsInf(x, 0) {
				want, _ = new(big.Float).SetInt(rounded(x, r)).Float64()
				want = math.Copysign(want, x)
			}
			assert.Equal(t, want, Integral(x, r))
			assert.Equal(t, math.Float32bits(float32(want)), RoundF32(math.Float32bits(float32(x)), r))
		}
	}
	assert.Equal(t, uint32(NaN32), RoundF32(0xffc00001, RM))
}

func TestIntClamp(t *testing.T) {
	for _, from := range intTypes {
		for _, to := range intTypes {
			for _, v := range integers(from) {
				require.Equal(t, to.clampInt(from.whole(v)), to.Sat(v, from.Signed), "%s of %v to %v", from.whole(v), from, to)
			}
		}
	}
	assert.Equal(t, uint32(0x7fffffff), SatS32(1<<40))
	assert.Equal(t, uint32(0x80000000), SatS32(-1<<40))
	assert.Equal(t, ^uint32(0), SatS32(-1))
}

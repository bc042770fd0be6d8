package ir

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smallFormat describes a float of 16 or 8 bits for an exact rounding apart
// from the one under test. Codes without sign up to greatest are in the order
// of their values; beyond is the value the code after it would have.
type smallFormat struct {
	name                  string
	exponent, mantissa    int // bits
	greatest              int
	beyond                float64
	infinite, nan         int // codes; infinite 0: there is none
	decode                func(code int) float32
	encode, encodeNoLimit func(float32) int
}

var smallFormats = []smallFormat{
	{"f16", 5, 10, 0x7bff, 65536, 0x7c00, 0x7e00,
		func(c int) float32 { return Float16(c).Float32() },
		func(f float32) int { return int(Float16FromFloat32(f)) },
		func(f float32) int { return int(Float16FromFloat32(f)) }},
	{"bf16", 8, 7, 0x7f7f, 0x1p128, 0x7f80, 0x7fc0,
		func(c int) float32 { return BFloat16(c).Float32() },
		func(f float32) int { return int(BFloat16FromFloat32(f)) },
		func(f float32) int { return int(BFloat16FromFloat32(f)) }},
	{"f8e4m3", 4, 3, 0x7e, 480, 0, 0x7f,
		func(c int) float32 { return Float8E4M3(c).Float32() },
		func(f float32) int { return int(Float8E4M3FromFloat32(f, true)) },
		func(f float32) int { return int(Float8E4M3FromFloat32(f, false)) }},
	{"f8e5m2", 5, 2, 0x7b, 65536, 0x7c, 0x7e,
		func(c int) float32 { return Float8E5M2(c).Float32() },
		func(f float32) int { return int(Float8E5M2FromFloat32(f, true)) },
		func(f float32) int { return int(Float8E5M2FromFloat32(f, false)) }},
}

func (f *smallFormat) is8() bool { return f.mantissa < 4 }
func (f *smallFormat) sign() int { return 1 << (f.exponent + f.mantissa) }

// value is the value of a code up to greatest by the definition of binary
// floating point; of the next code it is beyond.
func (f *smallFormat) value(code int) float64 {
	if code > f.greatest {
		return f.beyond
	}
	bias := 1<<(f.exponent-1) - 1
	e, m := code>>f.mantissa, code&(1<<f.mantissa-1)
	if e == 0 {
		return math.Ldexp(float64(m), 1-bias-f.mantissa)
	}
	return math.Ldexp(float64(m+1<<f.mantissa), e-bias-f.mantissa)
}

// round returns the code of the value nearest to x, ties to even, and what is
// too large as the greatest or, without saturation, as infinite or a NaN.
func (f *smallFormat) round(x *big.Float, saturate bool) int {
	abs := new(big.Float).Abs(x)
	low, high := 0, f.greatest+1
	for high-low > 1 {
		if mid := (low + high) / 2; big.NewFloat(f.value(mid)).Cmp(abs) <= 0 {
			low = mid
		} else {
			high = mid
		}
	}
	toLow := new(big.Float).Sub(abs, big.NewFloat(f.value(low)))
	toHigh := new(big.Float).Sub(big.NewFloat(f.value(high)), abs)
	out := low
	if c := toHigh.Cmp(toLow); c < 0 || c == 0 && low%2 == 1 {
		out = high
	}
	if out > f.greatest {
		switch {
		case saturate:
			out = f.greatest
		case f.infinite != 0:
			out = f.infinite
		default:
			out = f.nan
		}
	}
	if x.Signbit() {
		out |= f.sign()
	}
	return out
}

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }

// Every code has the value the format defines and survives the way through
// float32.
func TestSmallFloatCodes(t *testing.T) {
	for _, f := range smallFormats {
		for code := range 2 * f.sign() {
			magnitude := code &^ f.sign()
			got := f.decode(code)
			back, backNoLimit := f.encode(got), f.encodeNoLimit(got)
			switch {
			case magnitude <= f.greatest:
				want := f.value(magnitude)
				if code != magnitude {
					want = math.Copysign(want, -1)
				}
				if math.Float64bits(want) != math.Float64bits(float64(got)) || back != code || backNoLimit != code {
					t.Fatalf("%s %#x: %v, want %v; back %#x, %#x", f.name, code, got, want, back, backNoLimit)
				}
			case f.infinite != 0 && magnitude == f.infinite:
				sign := 1 - 2*(code/f.sign())
				require.True(t, math.IsInf(float64(got), sign), "%s %#x", f.name, code)
				assert.Equal(t, code, backNoLimit, f.name)
				if f.is8() {
					assert.Equal(t, f.greatest|code&f.sign(), back, f.name)
				} else {
					assert.Equal(t, code, back, f.name)
				}
			default:
				if got == got || f.decode(back) == f.decode(back) || f.decode(backNoLimit) == f.decode(backNoLimit) {
					t.Fatalf("%s %#x: %v, no NaN", f.name, code, got)
				}
				assert.Equal(t, []int{code, code}, []int{back, backNoLimit}, "%s: a NaN keeps its bits", f.name)
			}
		}
	}
}

// ties returns, for every code, the middle to the next and the values around
// it, as far as T tells them apart.
func (f *smallFormat) ties(next func(x, towards float64) float64) []float64 {
	var out []float64
	for code := 0; code <= f.greatest; code++ {
		middle := (f.value(code) + f.value(code+1)) / 2
		out = append(out, middle, next(middle, 0), next(middle, math.Inf(1)))
	}
	return append(out, f.beyond, 4*f.beyond)
}

func next32(x, towards float64) float64 {
	return float64(math.Nextafter32(float32(x), float32(towards)))
}

func TestFloat32ToSmallFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, f := range smallFormats {
		floats := f.ties(next32)
		for range 20000 {
			// Exponents of the format, now and then of any size.
			x := float64(math.Float32frombits(r.Uint32()))
			if r.IntN(8) > 0 {
				x = math.Ldexp(1+r.Float64(), r.IntN(1<<f.exponent+8)-1<<(f.exponent-1)-f.mantissa)
			}
			floats = append(floats, x)
		}
		floats = append(floats, 0, math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126)
		for _, x := range floats {
			x := float32(x)
			if x != x || math.IsInf(float64(x), 0) {
				continue
			}
			for _, x := range []float32{x, -x} {
				exact := exactly(float64(x))
				if got, want := f.encodeNoLimit(x), f.round(exact, false); got != want {
					t.Fatalf("%s of %g: %#x, want %#x", f.name, x, got, want)
				}
				if got, want := f.encode(x), f.round(exact, f.is8()); got != want {
					t.Fatalf("%s of %g, saturated: %#x, want %#x", f.name, x, got, want)
				}
			}
		}
		negativeZero := float32(math.Copysign(0, -1))
		assert.Equal(t, f.sign(), f.encode(negativeZero), f.name)
		for _, bits := range []uint32{0x7f800001, 0x7fc00000, 0xffffffff, 0xff800001} {
			nan := math.Float32frombits(bits)
			for _, code := range []int{f.encode(nan), f.encodeNoLimit(nan)} {
				v := f.decode(code)
				assert.True(t, v != v, "%s of NaN %#x: %#x", f.name, bits, code)
				assert.Equal(t, int(bits>>31), code/f.sign(), "%s keeps the sign of NaN %#x", f.name, bits)
			}
		}
	}
}

// Infinities saturate in the 8-bit floats, and are a NaN where there are none.
func TestInfinityToSmallFloat(t *testing.T) {
	inf := float32(math.Inf(1))
	assert.Equal(t, Float16(0xfc00), Float16FromFloat32(-inf))
	assert.Equal(t, BFloat16(0xff80), BFloat16FromFloat32(-inf))
	assert.Equal(t, float32(448), Float8E4M3FromFloat32(inf, true).Float32())
	assert.Equal(t, float32(-448), Float8E4M3FromFloat32(-inf, true).Float32())
	assert.Equal(t, Float8E4M3(0x7f), Float8E4M3FromFloat32(inf, false))
	assert.Equal(t, Float8E4M3(0xff), Float8E4M3FromFloat32(-inf, false))
	assert.Equal(t, float32(57344), Float8E5M2FromFloat32(inf, true).Float32())
	assert.Equal(t, float32(-57344), Float8E5M2FromFloat32(-inf, true).Float32())
	assert.Equal(t, Float8E5M2(0x7c), Float8E5M2FromFloat32(inf, false))
	assert.Equal(t, Float8E5M2(0xfc), Float8E5M2FromFloat32(-inf, false))
}

// One rounding from float64: rounding first to odd float32 changes nothing.
func TestFloat64ToSmallFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, f := range smallFormats {
		floats := f.ties(math.Nextafter)
		for range 5000 {
			floats = append(floats, math.Float64frombits(r.Uint64()))
			code := r.IntN(f.greatest + 1)
			middle := (f.value(code) + f.value(code+1)) / 2
			floats = append(floats, middle*(1+math.Ldexp(r.Float64()-0.5, -r.IntN(60))))
		}
		floats = append(floats, 0, 5e-324, math.MaxFloat64, 0x1p-150, 0x1.8p-150, 0x1.ffffffp127, math.Nextafter(0x1.ffp127, 0))
		for _, x := range floats {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				continue
			}
			for _, x := range []float64{x, -x} {
				if got, want := f.encodeNoLimit(OddFloat32(x)), f.round(exactly(x), false); got != want {
					t.Fatalf("%s of %g (%x): %#x, want %#x", f.name, x, x, got, want)
				}
			}
		}
	}
	assert.True(t, math.IsNaN(float64(OddFloat32(math.NaN()))))
	assert.True(t, math.IsInf(float64(OddFloat32(math.Inf(-1))), -1))
}

// One rounding from 64-bit integers, to all floats smaller than float64.
func TestInt64ToSmallFloat(t *testing.T) {
	assert.Equal(t, float32(1082130432), BFloat16FromInt64(1077936129).Float32())
	r := rand.New(rand.NewPCG(7, 8))
	for _, f := range smallFormats {
		ints := []uint64{0, 1, 255, 256, 257, 258, 259, math.MaxInt64, 1 << 63, math.MaxUint64, math.MaxInt64 - 1, 1<<53 + 1, 1<<62 + 1<<54, 1<<62 + 1<<54 + 1}
		for range 3000 {
			ints = append(ints, r.Uint64()>>r.IntN(64))
			// Next to a tie: the last place of the format is 2^(e−mantissa).
			e := f.mantissa + 2 + r.IntN(61-f.mantissa)
			tie := uint64(1)<<e + uint64(r.IntN(1<<f.mantissa))<<(e-f.mantissa) + uint64(1)<<(e-f.mantissa-1)
			ints = append(ints, tie-1, tie, tie+1)
		}
		for _, u := range ints {
			want := f.round(new(big.Float).SetUint64(u), false)
			if got := f.encodeNoLimit(OddFloat32(OddFloat64Unsigned(u))); got != want {
				t.Fatalf("%s of %d: %#x, want %#x", f.name, u, got, want)
			}
			for _, i := range []int64{int64(u), -int64(u)} {
				want := f.round(new(big.Float).SetInt64(i), false)
				if got := f.encodeNoLimit(OddFloat32(OddFloat64(i))); got != want {
					t.Fatalf("%s of %d: %#x, want %#x", f.name, i, got, want)
				}
				if f.name == "bf16" && int(BFloat16FromInt64(i)) != want {
					t.Fatalf("bf16 of %d: %#x, want %#x", i, BFloat16FromInt64(i), want)
				}
			}
		}
	}
}

// OddFloat32 is exact where it can be and otherwise one of the two
// neighbours, the odd one.
func TestOddFloat32(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 20000 {
		x := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			x = math.Ldexp(r.Float64()-0.5, r.IntN(300)-160)
		}
		if math.Abs(x) > math.MaxFloat32 || x != x {
			continue
		}
		got := OddFloat32(x)
		if float64(got) == x {
			continue
		}
		assert.Equal(t, uint32(1), math.Float32bits(got)&1, "%x", x)
		low, high := math.Nextafter32(got, float32(math.Inf(-1))), math.Nextafter32(got, float32(math.Inf(1)))
		assert.True(t, float64(low) < x && x < float64(high), "%x: %x", x, got)
		assert.Equal(t, math.Signbit(x), math.Signbit(float64(got)), "%x", x)
	}
}

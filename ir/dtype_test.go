package ir

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDTypes(t *testing.T) {
	for _, c := range []struct {
		d          DType
		name       string
		size       int
		float, int bool
		compute    DType
	}{
		{F32, "f32", 4, true, false, F32},
		{BF16, "bf16", 2, true, false, F32},
		{I64, "i64", 8, false, true, I64},
		{Bool, "bool", 1, false, false, Bool},
	} {
		assert.Equal(t, c.name, c.d.String())
		assert.Equal(t, c.size, c.d.Size())
		assert.Equal(t, c.float, c.d.IsFloat())
		assert.Equal(t, c.int, c.d.IsInt())
		assert.Equal(t, c.compute, c.d.Compute())
		assert.True(t, c.d.Valid())
		back, ok := ParseDType(c.name)
		assert.True(t, ok)
		assert.Equal(t, c.d, back)
	}
	assert.Equal(t, []DType{F32, BF16, I64, Bool}, DTypes())
	for _, d := range []DType{Invalid, 200} {
		assert.False(t, d.Valid())
		assert.Zero(t, d.Size())
		assert.False(t, d.IsFloat() || d.IsInt())
	}
	assert.Equal(t, "dtype(200)", DType(200).String())
	for _, name := range []string{"", "invalid", "F32", "f64"} {
		_, ok := ParseDType(name)
		assert.False(t, ok, name)
	}
}

// nearestBFloat16 rounds by exact comparison with the two neighbours.
func nearestBFloat16(x *big.Float) BFloat16 {
	if x.Sign() == 0 {
		return 0
	}
	abs := new(big.Float).Abs(x)
	value := func(bits int) *big.Float { // beyond the greatest finite number stands 2^128
		if bits == 0x7f80 {
			return new(big.Float).SetMantExp(big.NewFloat(1), 128)
		}
		return new(big.Float).SetFloat64(float64(BFloat16(bits).Float32()))
	}
	low, high := 0, 0x7f80
	for high-low > 1 {
		mid := (low + high) / 2
		if value(mid).Cmp(abs) <= 0 {
			low = mid
		} else {
			high = mid
		}
	}
	toLow := new(big.Float).Sub(abs, value(low))
	toHigh := new(big.Float).Sub(value(high), abs)
	out := low
	if c := toHigh.Cmp(toLow); c < 0 || c == 0 && low%2 == 1 {
		out = high
	}
	if x.Sign() < 0 {
		out |= 0x8000
	}
	return BFloat16(out)
}

func TestBFloat16Rounding(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	floats := []float32{0, 1, -1, 1.00390625, 1.01171875, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 1e-40}
	for range 3000 {
		if f := math.Float32frombits(r.Uint32()); f == f && !math.IsInf(float64(f), 0) {
			floats = append(floats, f)
		}
	}
	for _, f := range floats {
		want := nearestBFloat16(new(big.Float).SetFloat64(float64(f)))
		if f != 0 && math.Signbit(float64(f)) {
			want |= 0x8000
		}
		assert.Equal(t, want, BFloat16FromFloat32(f), "%g", f)
	}
	assert.Equal(t, BFloat16(0x8000), BFloat16FromFloat32(float32(math.Copysign(0, -1))))
	assert.Equal(t, BFloat16(0x7f80), BFloat16FromFloat32(float32(math.Inf(1))))
	assert.Equal(t, BFloat16(0xff80), BFloat16FromFloat32(float32(math.Inf(-1))))
	for _, bits := range []uint32{0x7f800001, 0x7fc00000, 0xffffffff} {
		f := BFloat16FromFloat32(math.Float32frombits(bits)).Float32()
		assert.True(t, f != f, "%#x", bits)
	}
}

// Every bfloat16 but the signalling NaNs survives the way through float32.
func TestBFloat16Exact(t *testing.T) {
	for b := range 1 << 16 {
		f := BFloat16(b).Float32()
		if f != f {
			continue
		}
		assert.Equal(t, BFloat16(b), BFloat16FromFloat32(f))
	}
}

func TestBFloat16FromInt64(t *testing.T) {
	assert.Equal(t, float32(1082130432), BFloat16FromInt64(1077936129).Float32())
	r := rand.New(rand.NewPCG(7, 8))
	ints := []int64{0, 1, -1, 255, 256, 257, 258, 259, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1<<53 + 1, 1<<62 + 1<<54, 1<<62 + 1<<54 + 1}
	for range 3000 {
		ints = append(ints, int64(r.Uint64())>>r.IntN(64))
		// Next to a tie: the last place of a bfloat16 is 2^(e-7).
		e := 9 + r.IntN(53)
		tie := int64(1)<<e + int64(r.IntN(128))<<(e-7) + int64(1)<<(e-8)
		ints = append(ints, tie-1, tie, tie+1, -tie-1, -tie, -tie+1)
	}
	for _, i := range ints {
		assert.Equal(t, nearestBFloat16(new(big.Float).SetInt64(i)), BFloat16FromInt64(i), "%d", i)
	}
}

package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/ir"
)

func TestRound64AgreesWithGoConversion(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		x := math.Float64frombits(rng.Uint64())
		if rng.IntN(2) == 0 { // most random exponents leave float32's range
			x = math.Ldexp(rng.Float64()*2-1, rng.IntN(290)-155)
		}
		a, b := formats[ir.F32].round(x), float32(x)
		if a != a && b != b {
			continue
		}
		assert.Equal(t, math.Signbit(a), math.Signbit(float64(b)), "%v", x)
		assert.Equal(t, float64(b), a, "%v", x)
	}
}

func TestCastToBF16(t *testing.T) {
	tests := []struct {
		in   Tensor
		want float64
	}{
		{vec(1.00390625), 1},              // half way, to even
		{vec(1.01171875), 1.015625},       // half way, to even
		{vec(1.0039064), 1.0078125},       // just above half way
		{vec(3.4e38), inf},                // overflow
		{vec(3.3895314e38), 3.3895314e38}, // the largest finite
		{vec(0x1p-134), 0},                // half the least subnormal, to even
		{vec(0x1.8p-134), 0x1p-133},       // more than half
		{vec(negZero), negZero},           //
		{vec(nan), nan},                   //
		{ivec(1077936129), 1082130432},    // once: through float32 it is 1073741824
		{ivec(-1077936129), -1082130432},  //
		{ivec(math.MaxInt64), 0x1p63},     //
		{ivec(math.MinInt64), -0x1p63},    //
		{flags(true), 1},                  //
	}
	for _, tt := range tests {
		same(t, bvec(tt.want), cast(tt.in, ir.BF16, true))
	}
}

func TestCasts(t *testing.T) {
	x := vec(3e38, -3e38, nan, 2.9, -2.9, 0.9, negZero, inf, negInf, 9.2233714e18)
	same(t, ivec(math.MaxInt64, math.MinInt64, 0, 2, -2, 0, 0, math.MaxInt64, math.MinInt64, 9223371487098961920),
		eval(t, ir.Cast, func(o *ir.Operation) { o.Attrs.DType = ir.I64 }, x))
	same(t, flags(true, true, true, true, true, true, false, true, true, true), cast(x, ir.Bool, true))
	same(t, vec(16777216, 16777220, -16777216, 9.223372036854775807e18), cast(ivec(16777217, 16777219, -16777217, math.MaxInt64), ir.F32, true))
	same(t, flags(true, false, true), cast(ivec(-1, 0, math.MinInt64), ir.Bool, true))
	same(t, ivec(1, 0), cast(flags(true, false), ir.I64, true))
	same(t, vec(1, 0), cast(flags(true, false), ir.F32, true))
	same(t, vec(0.100097656, nan), cast(bvec(0.1, nan), ir.F32, true))
	same(t, ivec(1<<40+1), cast(ivec(1<<40+1), ir.I64, true))
	same(t, flags(true, false), cast(flags(true, false), ir.Bool, true))
	same(t, f32(ir.Shape{0, 3}), cast(Ints(ir.Shape{0, 3}), ir.F32, true))
}

func TestFMARoundsOnce(t *testing.T) {
	fma32 := func(a, b, c float64) float64 { return fma(ir.F32, a, b, c) }
	// Exactly 1 + 2⁻²³ + 2⁻⁴⁶ − …: rounding the product first loses the tail.
	a := 1 + 0x1p-12
	assert.Equal(t, 0x1p-24, fma32(a, a, -(1+0x1p-11)))
	// In float64 1 + 2⁻²⁴ + 2⁻⁶⁰ would round to the tie 1 + 2⁻²⁴ and then to
	// even; rounded once it lies above the tie.
	assert.Equal(t, 1+0x1p-23, fma32(0x1p-30, 0x1p-30, 1+0x1p-23))
	assert.Equal(t, 1+0x1p-23, fma32((1+0x1p-23)*0x1p-24, 1, 1))
	assert.Equal(t, 1+0x1p-23, fma32(0x1.000002p-12, 0x1p-12, 1))
	assert.True(t, math.Signbit(fma32(negZero, 1, negZero)))
	assert.False(t, math.Signbit(fma32(1, 1, -1)))
	assert.True(t, math.IsNaN(fma32(inf, 0, 1)))
	assert.Equal(t, inf, fma32(3e38, 2, 0))
	assert.Equal(t, 0x1p-149, fma32(0x1p-100, 0x1p-49, 0))
	assert.Equal(t, 0x1p-60, fma(ir.F64, 1+0x1p-30, 1+0x1p-30, -(1+0x1p-29)))
}

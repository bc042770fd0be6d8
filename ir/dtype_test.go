package ir

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDTypes(t *testing.T) {
	var all []DType
	for _, c := range []struct {
		d          DType
		name       string
		size       int
		float, int bool
		compute    DType
	}{
		{F64, "f64", 8, true, false, F64},
		{F32, "f32", 4, true, false, F32},
		{F16, "f16", 2, true, false, F32},
		{BF16, "bf16", 2, true, false, F32},
		{I64, "i64", 8, false, true, I64},
		{I32, "i32", 4, false, true, I32},
		{I16, "i16", 2, false, true, I16},
		{I8, "i8", 1, false, true, I8},
		{U64, "u64", 8, false, true, U64},
		{U32, "u32", 4, false, true, U32},
		{U16, "u16", 2, false, true, U16},
		{U8, "u8", 1, false, true, U8},
		{Bool, "bool", 1, false, false, Bool},
		{F8E4M3, "f8e4m3", 1, false, false, F32},
		{F8E5M2, "f8e5m2", 1, false, false, F32},
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
		all = append(all, c.d)
	}
	assert.Equal(t, all, DTypes())
	for _, d := range []DType{Invalid, 200} {
		assert.False(t, d.Valid())
		assert.Zero(t, d.Size())
		assert.False(t, d.IsFloat() || d.IsInt() || d.IsSigned() || d.IsUnsigned() || d.IsFloat8() || d.IsHalf())
	}
	assert.Equal(t, "dtype(200)", DType(200).String())
	for _, name := range []string{"", "invalid", "F32", "f8"} {
		_, ok := ParseDType(name)
		assert.False(t, ok, name)
	}
}

func TestFamilies(t *testing.T) {
	of := func(is func(DType) bool) (out []DType) {
		for _, d := range DTypes() {
			if is(d) {
				out = append(out, d)
			}
		}
		return out
	}
	assert.Equal(t, []DType{F16, BF16}, of(DType.IsHalf))
	assert.Equal(t, []DType{F8E4M3, F8E5M2}, of(DType.IsFloat8))
	assert.Equal(t, []DType{I64, I32, I16, I8}, of(DType.IsSigned))
	assert.Equal(t, []DType{U64, U32, U16, U8}, of(DType.IsUnsigned))
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		d        DType
		least    int64
		greatest uint64
	}{
		{I8, math.MinInt8, math.MaxInt8}, {I16, math.MinInt16, math.MaxInt16}, {I32, math.MinInt32, math.MaxInt32}, {I64, math.MinInt64, math.MaxInt64},
		{U8, 0, math.MaxUint8}, {U16, 0, math.MaxUint16}, {U32, 0, math.MaxUint32}, {U64, 0, math.MaxUint64},
		{F32, 0, 0}, {Bool, 0, 0},
	} {
		least, greatest := c.d.Limits()
		assert.Equal(t, c.least, least, c.d.String())
		assert.Equal(t, c.greatest, greatest, c.d.String())
	}
}

// Wrap agrees with Go's conversions.
func TestWrap(t *testing.T) {
	convert := map[DType]func(int64) int64{
		I64: func(v int64) int64 { return v },
		I32: func(v int64) int64 { return int64(int32(v)) },
		I16: func(v int64) int64 { return int64(int16(v)) },
		I8:  func(v int64) int64 { return int64(int8(v)) },
		U64: func(v int64) int64 { return v },
		U32: func(v int64) int64 { return int64(uint32(v)) },
		U16: func(v int64) int64 { return int64(uint16(v)) },
		U8:  func(v int64) int64 { return int64(uint8(v)) },
		F32: func(v int64) int64 { return v },
	}
	for d, f := range convert {
		for _, v := range []int64{0, 1, -1, 127, 128, 255, 256, -128, -129, 1 << 15, 1 << 16, 1 << 31, 1<<32 - 1, -1 << 31, math.MinInt64, math.MaxInt64, 0x123456789abcdef0} {
			assert.Equal(t, f(v), d.Wrap(v), "%v %d", d, v)
		}
	}
}

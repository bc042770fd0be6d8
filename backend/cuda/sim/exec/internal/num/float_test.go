package num

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func trials(n int) int {
	if testing.Short() {
		return n / 8
	}
	return n
}

func TestF32(t *testing.T) {
	w := func(v uint64) uint32 { return uint32(v) }
	for _, v := range operands(F32, trials(40000), 3) {
		a, b, c := w(v[0]), w(v[1]), w(v[2])
		for _, r := range allRounds {
			ok := check(t, F32, "add", r, v[:2], uint64(AddF32R(a, b, r))) &&
				check(t, F32, "sub", r, v[:2], uint64(SubF32R(a, b, r))) &&
				check(t, F32, "mul", r, v[:2], uint64(MulF32R(a, b, r))) &&
				check(t, F32, "fma", r, v, uint64(FmaF32R(a, b, c, r))) &&
				check(t, F32, "div", r, v[:2], uint64(DivF32R(a, b, r))) &&
				check(t, F32, "sqrt", r, v[:1], uint64(SqrtF32R(a, r)))
			require.True(t, ok)
		}
		ok := check(t, F32, "add", RN, v[:2], uint64(AddF32(a, b))) &&
			check(t, F32, "sub", RN, v[:2], uint64(SubF32(a, b))) &&
			check(t, F32, "mul", RN, v[:2], uint64(MulF32(a, b))) &&
			check(t, F32, "fma", RN, v, uint64(FmaF32(a, b, c))) &&
			check(t, F32, "fma", RN, v, uint64(FmaF32Slow(a, b, c))) &&
			check(t, F32, "div", RN, v[:2], uint64(DivF32(a, b))) &&
			check(t, F32, "sqrt", RN, v[:1], uint64(SqrtF32(a))) &&
			check(t, F32, "div", RN, []uint64{0x3f800000, v[0]}, uint64(RcpF32(a))) &&
			check(t, F32, "div", RM, []uint64{0x3f800000, v[0]}, uint64(RcpF32R(a, RM)))
		require.True(t, ok)
	}
}

// FMAs whose float64 sum is the middle of two f32, or subnormal, where rounding
// twice would be wrong.
func TestF32FmaRoundsOnce(t *testing.T) {
	f := math.Float32bits
	tests := []struct{ a, b, c, want uint32 }{
		// 1 + 2⁻²⁴ is a tie; a little more or less of a product decides.
		{f(0x1p-30), f(0x1p-60), f(0x1.000002p0), f(0x1.000002p0)},
		{f(0x1.000002p-12), f(0x1.000002p-12), f(1), f(0x1.000002p0)},
		{f(0x1.fffffep-13), f(0x1p-12), f(1), f(1)},
		{f(0x1p-75), f(0x1p-75), f(0x1p-149), f(0x1p-148)}, // a tie of subnormals
		{f(0x1.fffffep-76), f(0x1p-75), f(0x1p-149), f(0x1p-149)},
		{f(0x1.8p-75), f(0x1p-75), f(0x1p-149), f(0x1p-148)},
		{f(0x1p-74), f(0x1p-76), f(0), 0},
		{f(0x1p-74), f(0x1.000002p-76), f(0), 1},
		{0x80000000, f(1), 0x80000000, 0x80000000},
		{f(1), f(1), f(-1), 0},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, FmaF32(tt.a, tt.b, tt.c), "%#x·%#x+%#x", tt.a, tt.b, tt.c)
	}
}

func TestF64(t *testing.T) {
	for _, v := range operands(F64, trials(20000), 3) {
		a, b, c := v[0], v[1], v[2]
		for _, r := range allRounds {
			ok := check(t, F64, "add", r, v[:2], AddF64R(a, b, r)) &&
				check(t, F64, "sub", r, v[:2], SubF64R(a, b, r)) &&
				check(t, F64, "mul", r, v[:2], MulF64R(a, b, r)) &&
				check(t, F64, "fma", r, v, FmaF64R(a, b, c, r)) &&
				check(t, F64, "div", r, v[:2], DivF64R(a, b, r)) &&
				check(t, F64, "sqrt", r, v[:1], SqrtF64R(a, r))
			require.True(t, ok)
		}
		ok := check(t, F64, "add", RN, v[:2], AddF64(a, b)) &&
			check(t, F64, "sub", RN, v[:2], SubF64(a, b)) &&
			check(t, F64, "mul", RN, v[:2], MulF64(a, b)) &&
			check(t, F64, "fma", RN, v, FmaF64(a, b, c)) &&
			check(t, F64, "div", RN, v[:2], DivF64(a, b)) &&
			check(t, F64, "sqrt", RN, v[:1], SqrtF64(a)) &&
			check(t, F64, "div", RN, []uint64{0x3ff << 52, a}, RcpF64(a)) &&
			check(t, F64, "div", RP, []uint64{0x3ff << 52, a}, RcpF64R(a, RP))
		require.True(t, ok)
	}
}

func TestHalves(t *testing.T) {
	for name, h := range map[string]Half{"f16": F16, "bf16": BF16} {
		t.Run(name, func(t *testing.T) {
			for _, v := range operands(h.Format, trials(80000), 3) {
				a, b, c := uint32(v[0]), uint32(v[1]), uint32(v[2])
				ok := check(t, h.Format, "add", RN, v[:2], uint64(h.Add(a, b))) &&
					check(t, h.Format, "sub", RN, v[:2], uint64(h.Sub(a, b))) &&
					check(t, h.Format, "mul", RN, v[:2], uint64(h.Mul(a, b))) &&
					check(t, h.Format, "fma", RN, v, uint64(h.Fma(a, b, c)))
				require.True(t, ok)
			}
		})
	}
}

// least and greatest by the rules of the PTX manual, on values.
func minReference(f *Format, a, b uint64, nan, greatest bool) uint64 {
	x, y := f.Value(a), f.Value(b)
	switch {
	case nan && (math.IsNaN(x) || math.IsNaN(y)), math.IsNaN(x) && math.IsNaN(y):
		return f.quiet
	case math.IsNaN(x):
		return b
	case math.IsNaN(y):
		return a
	case greatest && math.Max(x, y) == x && math.Signbit(math.Max(x, y)) == math.Signbit(x), !greatest && math.Min(x, y) == x && math.Signbit(math.Min(x, y)) == math.Signbit(x):
		return a
	}
	return b
}

func TestMinMax(t *testing.T) {
	for _, v := range operands(F32, trials(20000), 2) {
		a, b := uint32(v[0]), uint32(v[1])
		require.EqualValues(t, minReference(F32, v[0], v[1], false, false), MinF32(a, b), "%#x", v)
		require.EqualValues(t, minReference(F32, v[0], v[1], false, true), MaxF32(a, b), "%#x", v)
		require.EqualValues(t, minReference(F32, v[0], v[1], true, false), MinNaNF32(a, b), "%#x", v)
		require.EqualValues(t, minReference(F32, v[0], v[1], true, true), MaxNaNF32(a, b), "%#x", v)
	}
	for _, v := range operands(F64, trials(20000), 2) {
		require.EqualValues(t, minReference(F64, v[0], v[1], false, false), MinF64(v[0], v[1]), "%#x", v)
		require.EqualValues(t, minReference(F64, v[0], v[1], false, true), MaxF64(v[0], v[1]), "%#x", v)
	}
	for _, h := range []Half{F16, BF16} {
		for _, v := range operands(h.Format, trials(20000), 2) {
			a, b := uint32(v[0]), uint32(v[1])
			require.EqualValues(t, minReference(h.Format, v[0], v[1], false, false), h.Min(a, b), "%#x", v)
			require.EqualValues(t, minReference(h.Format, v[0], v[1], false, true), h.Max(a, b), "%#x", v)
			require.EqualValues(t, minReference(h.Format, v[0], v[1], true, false), h.MinNaN(a, b), "%#x", v)
			require.EqualValues(t, minReference(h.Format, v[0], v[1], true, true), h.MaxNaN(a, b), "%#x", v)
		}
	}
}

func TestModifiers(t *testing.T) {
	for _, f := range []*Format{F64, F32, F16.Format, BF16.Format, TF32, E5M2, E4M3} {
		for _, v := range append(specials(f), func() (out []uint64) {
			for _, o := range operands(f, 500, 1) {
				out = append(out, o[0])
			}
			return out
		}()...) {
			x := f.Value(v)
			sat, relu, flush := f.Pack(min(max(x, 0), 1), RN), f.Pack(max(x, 0), RN), v
			if math.IsNaN(x) {
				sat, relu = 0, f.quiet
			}
			if math.Abs(x) < math.Ldexp(1, 1-f.bias) {
				flush = v & f.sign
			}
			require.Equal(t, sat&^f.sign, f.Sat(v), "sat %#x", v)
			require.Equal(t, relu, f.Relu(v), "relu %#x", v)
			require.Equal(t, flush, f.Ftz(v), "ftz %#x", v)
			switch f {
			case F32:
				require.EqualValues(t, f.Sat(v), SatF32(uint32(v)))
				require.EqualValues(t, f.Ftz(v), FtzF32(uint32(v)))
			case F16.Format, BF16.Format: // whatever stands above
				h, junk := Half{f}, uint32(v)|0xabcd0000
				require.EqualValues(t, f.Sat(v), h.Sat(junk))
				require.EqualValues(t, f.Ftz(v), h.Ftz(junk))
				require.EqualValues(t, f.Relu(v), h.Relu(junk))
			}
		}
	}
}

func TestFormatsHoldOthers(t *testing.T) {
	formats := []*Format{F64, F32, TF32, F16.Format, BF16.Format, E5M2, E4M3}
	holds := map[*Format]string{F64: "1111111", F32: "0111111", TF32: "0011111", F16.Format: "0001011", BF16.Format: "0000111", E5M2: "0000010", E4M3: "0000001"}
	for i, bits := range []int{64, 32, 19, 16, 16, 8, 8} {
		assert.Equal(t, bits, formats[i].Bits())
		for j, g := range formats {
			assert.Equal(t, holds[formats[i]][j] == '1', formats[i].Holds(g), "%d %d", i, j)
		}
	}
}

func TestClassesAndSigns(t *testing.T) {
	tests := []struct {
		v    uint32
		want [6]bool // finite, infinite, number, notanumber, normal, subnormal
	}{
		{0, [6]bool{true, false, true, false, false, false}},
		{0x80000000, [6]bool{true, false, true, false, false, false}},
		{1, [6]bool{true, false, true, false, false, true}},
		{0x807fffff, [6]bool{true, false, true, false, false, true}},
		{0x00800000, [6]bool{true, false, true, false, true, false}},
		{0xff7fffff, [6]bool{true, false, true, false, true, false}},
		{0x7f800000, [6]bool{false, true, true, false, false, false}},
		{0xff800000, [6]bool{false, true, true, false, false, false}},
		{0x7f800001, [6]bool{false, false, false, true, false, false}},
		{0xffffffff, [6]bool{false, false, false, true, false, false}},
	}
	for _, tt := range tests {
		for c := Finite; c <= Subnormal; c++ {
			assert.Equal(t, tt.want[c], IsF32(tt.v, c), "%#x %d", tt.v, c)
			// The f64 with the same exponent extreme and a like fraction.
			wide := uint64(tt.v&0x80000000)<<32 | uint64(tt.v&0x7fffff)<<29
			switch e := tt.v >> 23 & 0xff; e {
			case 0:
			case 0xff:
				wide |= 0x7ff << 52
			default:
				wide |= uint64(e) << 52
			}
			assert.Equal(t, tt.want[c], IsF64(wide, c), "%#x %d", wide, c)
		}
		assert.Equal(t, tt.v&0x80000000|0x40490fdb, CopysignF32(tt.v, 0xc0490fdb))
		assert.Equal(t, uint64(tt.v&0x80000000)<<32|5, CopysignF64(uint64(tt.v)<<32, 1<<63|5))
	}
	assert.Equal(t, uint32(0x80000001), SignedF32(1, 0x80000000))
	assert.Equal(t, uint32(NaN32), SignedF32(NaN32, 0x80000000))
	assert.Equal(t, uint32(0x8001), SignedHalf(1, 0x8000))
	assert.Equal(t, uint32(NaN16), SignedHalf(NaN16, 0x8000))
	for v, keep := range map[uint32]bool{0: true, 0x80000000: true, 0x80000001: false, 0x7f800000: true, 0x7fc00000: false, 0xff800000: false} {
		assert.Equal(t, keep, SignMaskF32(v) != 0, "%#x", v)
	}
	assert.Equal(t, ^uint32(0), SignMaskFtzF32(0x80000001))
	assert.Equal(t, ^uint32(0), SignMaskS32(7))
	assert.Zero(t, SignMaskS32(0x80000000))
}

package cudac

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func TestTargets(t *testing.T) {
	for _, c := range []struct {
		arch     string
		sm, like int // the number, and that of the target whose shape it has
	}{{"sm_80", 80, 80}, {"sm_86", 86, 80}, {"sm_90a", 90, 90}, {"sm_100", 100, 100}, {"sm_120a", 120, 100}} {
		got, err := ParseTarget(c.arch)
		require.NoError(t, err)
		assert.Equal(t, c.arch, got.Arch())
		assert.Equal(t, c.sm, got.SM)
		for _, known := range []Target{Ampere, Hopper, Blackwell} {
			if known.SM == c.like {
				assert.Equal(t, known.SMs, got.SMs)
				assert.Equal(t, known.Shared, got.Shared)
			}
		}
	}
	for _, bad := range []string{"", "sm_", "80", "sm_75", "compute_80", "sm_x", "sm_90b", "sm_100f", "sm_+80", "sm_080"} {
		_, err := ParseTarget(bad)
		var e *TargetError
		if assert.ErrorAs(t, err, &e, bad) {
			assert.Equal(t, bad, e.Arch)
		}
	}
}

func TestLiterals(t *testing.T) {
	f32 := func(x float32) uint64 { return uint64(math.Float32bits(x)) }
	for _, c := range []struct {
		t    ir.DType
		bits uint64
		want string
	}{
		{ir.F32, f32(1), "1.0f"},
		{ir.F32, f32(-0.1), "-0.1f"},
		{ir.F32, f32(1e30), "1e+30f"},
		{ir.F32, 1 << 31, "-0.0f"},
		{ir.F32, 1, "1e-45f"},
		{ir.F32, f32(float32(math.Inf(1))), "__int_as_float(0x7f800000)"},
		{ir.F32, 0x7fc00001, "__int_as_float(0x7fc00001)"},
		{ir.F64, math.Float64bits(0.1), "0.1"},
		{ir.F64, math.Float64bits(3), "3.0"},
		{ir.F64, math.Float64bits(math.Inf(-1)), "__longlong_as_double(0xfff0000000000000ll)"},
		{ir.I64, 1 << 63, "(-9223372036854775807ll - 1)"},
		{ir.I64, ^uint64(0), "-1ll"},
		{ir.U64, ^uint64(0), "18446744073709551615ull"},
		{ir.I32, uint64(int64(math.MinInt32) & math.MaxInt64), "(-2147483647 - 1)"},
		{ir.U32, math.MaxUint32, "4294967295u"},
		{ir.I8, ^uint64(0), "(signed char)-1"},
		{ir.U16, 65535, "(unsigned short)65535"},
		{ir.Bool, 1, "true"},
		{ir.Bool, 0, "false"},
	} {
		assert.Equal(t, c.want, literal(c.t, c.bits), "%v %#x", c.t, c.bits)
	}
}

// Every dtype has a type in memory of its size, and every register type one in
// registers.
func TestTypes(t *testing.T) {
	size := map[string]int{
		"double": 8, "float": 4, "long long": 8, "unsigned long long": 8, "int": 4, "unsigned int": 4,
		"short": 2, "unsigned short": 2, "signed char": 1, "unsigned char": 1, "bool": 1,
	}
	for _, d := range ir.DTypes() {
		assert.Equal(t, d.Size(), size[rawtype(d)], "%v", d)
		assert.Equal(t, d.Compute().Size(), size[ctype(d.Compute())], "%v", d)
	}
}

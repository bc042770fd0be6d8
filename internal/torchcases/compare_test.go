package torchcases

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostElements(t *testing.T) {
	half := func(bits uint16) float64 {
		return Host{"f16", []int{1}, binary.LittleEndian.AppendUint16(nil, bits)}.At(0)
	}
	assert.Equal(t, 1.0, half(0x3c00))
	assert.Equal(t, -2.0, half(0xc000))
	assert.Equal(t, 65504.0, half(0x7bff))
	assert.Equal(t, math.Ldexp(1, -24), half(1))
	assert.Equal(t, math.Inf(-1), half(0xfc00))
	assert.True(t, math.IsNaN(half(0x7e00)))
	assert.True(t, math.Signbit(half(0x8000)))

	assert.Equal(t, -2.5, Host{"bf16", []int{1}, []byte{0x20, 0xc0}}.At(0))
	assert.Equal(t, int64(-1), Host{"i8", []int{1}, []byte{0xff}}.Int(0))
	assert.Equal(t, int64(255), Host{"u8", []int{1}, []byte{0xff}}.Int(0))
	assert.Equal(t, int64(-2), Host{"i16", []int{1}, []byte{0xfe, 0xff}}.Int(0))
	assert.Equal(t, int64(-2), Host{"i32", []int{1}, []byte{0xfe, 0xff, 0xff, 0xff}}.Int(0))
}

func TestFormats(t *testing.T) {
	f := format("f32")
	assert.Equal(t, math.Ldexp(1, -23), f.ulp(1.5))
	assert.Equal(t, math.Ldexp(1, -149), f.ulp(0), "subnormal")
	assert.Equal(t, math.Ldexp(1, -149), f.ulp(1e-45))
	assert.Equal(t, math.Ldexp(1, 104), f.ulp(math.MaxFloat64))
	assert.Equal(t, 65520.0, format("f16").overflow())
	assert.Equal(t, floatFormat{}, format("i64"))
}

func f32s(v ...float64) Host {
	h := Host{DType: "f32", Shape: []int{len(v)}}
	for _, x := range v {
		h.Data = binary.LittleEndian.AppendUint32(h.Data, math.Float32bits(float32(x)))
	}
	return h
}

func f64s(v ...float64) Host {
	h := Host{DType: "f64", Shape: []int{len(v)}}
	for _, x := range v {
		h.Data = binary.LittleEndian.AppendUint64(h.Data, math.Float64bits(x))
	}
	return h
}

// What passes and what does not: got, PyTorch's output, the value in float64.
func TestJudge(t *testing.T) {
	negative := math.Copysign(0, -1)
	const eps = 1.0 / (1 << 23)
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		name          string
		got, out, ref float64
		tol           tolerance
		ok            bool
	}{
		{"equal", 1, 1, 1, exact, true},
		{"rounded the other way", 1, 1 + eps, 1 + 0.4*eps, exact, true},
		{"rounded wrongly", 1, 1 + eps, 1 + 0.6*eps, exact, false},
		{"an ulp of two", 1 + eps, 1, 1, within(2), true},
		{"three ulps of two", 1 + 3*eps, 1, 1, within(2), false},
		{"NaN", nan, nan, nan, exact, true},
		{"NaN for a number", nan, 1, 1, within(4), false},
		{"a number for NaN", 1, nan, nan, within(4), false},
		{"the other infinity", -inf, inf, inf, within(4), false},
		{"overflow", inf, inf, 1e39, within(4), true},
		{"overflow too early", inf, 3e38, 3e38, within(4), false},
		{"the other zero", negative, 0, 0, within(4), false},
		{"the other zero, not promised", negative, 0, 0, sums(greatest), true},
		{"cancellation", 1e-7, 0, 0, tolerance{ulps: 1, magnitude: func(*Case) float64 { return 1 }, anyZero: true}, true},
		{"too much of it", 2e-7, 0, 0, tolerance{ulps: 1, magnitude: func(*Case) float64 { return 1 }, anyZero: true}, false},
	}
	for _, tt := range tests {
		j := judge{out: f32s(tt.out), ref: f64s(tt.ref), hasRef: true, format: format("f32"), tol: tt.tol}
		if tt.tol.magnitude != nil {
			j.magnitude = tt.tol.magnitude(new(Case))
		}
		err := j.element(f32s(tt.got), 0)
		assert.Equal(t, tt.ok, err == nil, "%s: %v", tt.name, err)
	}
}

// Without a value in float64 PyTorch's own error is allowed too, but not to
// operations that round once.
func TestJudgeWithoutReference(t *testing.T) {
	const eps = 1.0 / (1 << 52)
	j := judge{out: f64s(1), format: format("f64"), theirs: 3}
	assert.Error(t, j.element(f64s(1+eps), 0))
	j.tol = within(2)
	assert.NoError(t, j.element(f64s(1+5*eps), 0))
	assert.Error(t, j.element(f64s(1+6*eps), 0))
}

func TestCompareDTypeAndShape(t *testing.T) {
	p := load(t)
	var c *Case
	for _, c = range p.Cases {
		if c.Name == "add:f32:5" {
			break
		}
	}
	require.Equal(t, "add:f32:5", c.Name)
	out := c.Out(0)
	require.NoError(t, p.compare(c, 0, out, exact))
	assert.ErrorContains(t, p.compare(c, 0, Host{"f64", out.Shape, out.Data}, exact), "f64[5 5], want f32[5 5]")
	assert.ErrorContains(t, p.compare(c, 0, Host{"f32", []int{25}, out.Data}, exact), "f32[25], want f32[5 5]")
}

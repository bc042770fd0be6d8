package ir

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScalarValues(t *testing.T) {
	assert.Equal(t, float32(1.5), F32Scalar(1.5).Float32())
	assert.Equal(t, 0.1, F64Scalar(0.1).Float64())
	assert.Equal(t, int64(math.MinInt64), I64Scalar(math.MinInt64).Int64())
	assert.Equal(t, Scalar{DType: Bool, Bits: 1}, BoolScalar(true))
	assert.Equal(t, Scalar{DType: Bool}, BoolScalar(false))
	assert.Equal(t, F64, F64Scalar(1).DType)
	assert.Equal(t, 1.5, F32Scalar(1.5).Float64())
	assert.Equal(t, Scalar{DType: U8, Bits: 200}, IntScalar(U8, 200))
	assert.Equal(t, Scalar{DType: I8, Bits: math.MaxUint64}, IntScalar(I8, -1))
	for _, d := range []DType{F32, F16, BF16} {
		assert.Equal(t, F32Scalar(0.1), FloatScalar(d, 0.1), d.String())
	}
	assert.Equal(t, F64Scalar(0.1), FloatScalar(F64, 0.1))
}

func TestVisitOrder(t *testing.T) {
	o := sample(Pad, F32)
	o.Ranges = make([]Range, 2)
	o.Outputs = make([]TensorRef, 1)
	var got []string
	note := func(what string, i int) { got = append(got, fmt.Sprint(what, i)) }
	o.Visit(Visitor{
		Range:  func(i int, r *Range) { note("range", i); r.Len = 9 },
		Scalar: func(i int, s *Scalar) { note("scalar", i); s.Bits = 9 },
		Output: func(i int, t *TensorRef) { note("output", i); t.ID = 9 },
		Input:  func(i int, t *TensorRef) { note("input", i); t.ID = 9 },
	})
	assert.Equal(t, []string{"input0", "output0", "scalar0", "range0", "range1"}, got)
	assert.Equal(t, TensorID(9), o.Inputs[0].ID)
	assert.Equal(t, TensorID(9), o.Outputs[0].ID)
	assert.Equal(t, uint64(9), o.Scalars[0].Bits)
	assert.Equal(t, 9, o.Ranges[1].Len)
	o.Visit(Visitor{})
}

// The bits of a scalar are those of its type: integers extended to 64 bits.
func TestCanonical(t *testing.T) {
	for _, d := range DTypes() {
		least, greatest := d.Limits()
		assert.Equal(t, d == d.Compute(), Scalar{DType: d}.Canonical(), d.String())
		switch {
		case d.IsInt():
			assert.True(t, Scalar{DType: d, Bits: uint64(least)}.Canonical(), d.String())
			assert.True(t, Scalar{DType: d, Bits: greatest}.Canonical(), d.String())
			if d.Size() < 8 {
				assert.False(t, Scalar{DType: d, Bits: uint64(least) - 1}.Canonical(), d.String())
				assert.False(t, Scalar{DType: d, Bits: greatest + 1}.Canonical(), d.String())
			}
		case d == F32:
			assert.False(t, Scalar{DType: d, Bits: 1 << 32}.Canonical())
		case d == F64:
			assert.True(t, Scalar{DType: d, Bits: math.MaxUint64}.Canonical())
		case d == Bool:
			assert.True(t, Scalar{DType: d, Bits: 1}.Canonical())
			assert.False(t, Scalar{DType: d, Bits: 2}.Canonical())
		}
	}
	assert.False(t, Scalar{}.Canonical())
}

func TestScatterModeNames(t *testing.T) {
	for m := Assign; m < numScatterModes; m++ {
		back, ok := ParseScatterMode(m.String())
		assert.True(t, ok)
		assert.Equal(t, m, back)
	}
	_, ok := ParseScatterMode("sum")
	assert.False(t, ok)
	assert.Equal(t, "mode(9)", ScatterMode(9).String())
}

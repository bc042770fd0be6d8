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
	assert.Equal(t, Invalid, F64Scalar(1).DType)
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

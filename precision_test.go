package sinter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// TestFullPrecision computes a variance whose squares a half type cannot hold
// to the last digit: inside the section nothing is rounded to it.
func TestFullPrecision(t *testing.T) {
	dev := open(t)
	for _, dtype := range []ir.DType{ir.F32, ir.F16, ir.BF16} {
		t.Run(dtype.String(), func(t *testing.T) {
			x := sinter.From(dev, []float32{256, 1, 3}, 3).Cast(dtype)
			seen := false
			out := sinter.FullPrecision(func(in []*sinter.Tensor) []*sinter.Tensor {
				seen = true
				require.Equal(t, sinter.F32, in[0].DType())
				require.Equal(t, sinter.I64, in[1].DType())
				square := in[0].Mul(in[0])
				return []*sinter.Tensor{square.Sub(square.AddScalar(-1)), in[1], in[0].Greater(in[0]), square.Sqrt()}
			}, x, sinter.From(dev, []int64{1, 2}, 2))
			require.True(t, seen)
			require.Len(t, out, 4)
			require.Equal(t, dtype, out[0].DType())
			require.Equal(t, []float32{1, 1, 1}, read[float32](t, out[0].Cast(sinter.F32)), "256²−(256²−1) in a half type is 0")
			require.Equal(t, sinter.I64, out[1].DType())
			require.Equal(t, []int64{1, 2}, read[int64](t, out[1]))
			require.Equal(t, sinter.Bool, out[2].DType())
			require.Equal(t, dtype, out[3].DType())
			require.Equal(t, read[float32](t, x.Cast(sinter.F32)), read[float32](t, out[3].Cast(sinter.F32)))
		})
	}
}

// TestFullPrecisionDType: the first float input decides what comes back.
func TestFullPrecisionDType(t *testing.T) {
	dev := open(t)
	f32, bf16 := sinter.From(dev, []float32{1, 2}, 2), sinter.From(dev, []float32{3, 4}, 2).Cast(sinter.BF16)
	ints := sinter.From(dev, []int64{5, 6}, 2)
	add := func(in []*sinter.Tensor) []*sinter.Tensor { return []*sinter.Tensor{in[0].Add(in[1])} }
	require.Equal(t, sinter.F32, sinter.FullPrecision(add, f32, bf16)[0].DType())
	require.Equal(t, sinter.BF16, sinter.FullPrecision(add, bf16, f32)[0].DType())
	require.Equal(t, []float32{4, 6}, read[float32](t, sinter.FullPrecision(add, f32, bf16)[0]))
	toFloat := func(in []*sinter.Tensor) []*sinter.Tensor { return []*sinter.Tensor{in[0].Cast(sinter.F32)} }
	require.Equal(t, sinter.F32, sinter.FullPrecision(toFloat, ints)[0].DType(), "no float input, nothing to go back to")
	require.Empty(t, sinter.FullPrecision(func([]*sinter.Tensor) []*sinter.Tensor { return nil }))
	for _, d := range ir.DTypes() {
		if !d.IsHalf() { // wider floats, integers, bools and storage pass as they are
			x := ints.Cast(d)
			got := sinter.FullPrecision(func(in []*sinter.Tensor) []*sinter.Tensor { return in }, x)
			require.Same(t, x, got[0], d)
		}
	}
}

// TestFullPrecisionErrors: an error of an input or of the section comes out
// with the first cause; nothing panics.
func TestFullPrecisionErrors(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, 2}, 2).Cast(sinter.BF16)
	bad := x.Reshape(3)
	same := func(in []*sinter.Tensor) []*sinter.Tensor { return []*sinter.Tensor{in[0].Neg()} }
	var shape *sinter.ShapeError
	require.ErrorAs(t, sinter.FullPrecision(same, bad)[0].Err(), &shape)
	require.ErrorAs(t, sinter.FullPrecision(func(in []*sinter.Tensor) []*sinter.Tensor {
		return []*sinter.Tensor{in[0].Reshape(5)}
	}, x)[0].Err(), &shape)
	require.Error(t, sinter.FullPrecision(same, nil)[0].Err())
	require.Error(t, sinter.FullPrecision(func([]*sinter.Tensor) []*sinter.Tensor { return []*sinter.Tensor{nil} }, x)[0].Err())
	require.Error(t, dev.Flush(ctx))
}

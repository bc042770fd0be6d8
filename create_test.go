package sinter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

func TestCreate(t *testing.T) {
	for _, dev := range both(t) {
		require.Equal(t, []float32{2.5, 2.5}, read[float32](t, sinter.Full(dev, sinter.F32, 2.5, 2)))
		require.Equal(t, []sinter.BFloat16{sinter.ToBFloat16(0.1)}, read[sinter.BFloat16](t, sinter.Full(dev, sinter.BF16, 0.1)))
		require.Equal(t, []int64{0, 0, 0, 0}, read[int64](t, sinter.Zeros(dev, sinter.I64, 2, 2)))
		require.Equal(t, []bool{true}, read[bool](t, sinter.Ones(dev, sinter.Bool, 1)))
		require.Empty(t, read[float32](t, sinter.Ones(dev, sinter.F32, 3, 0)))
		require.Equal(t, []float32{-1, -0.5, 0, 0.5}, read[float32](t, sinter.Arange(dev, sinter.F32, -1, 0.5, 4)))
		require.Equal(t, []int64{3, 1, -1}, read[int64](t, sinter.Arange(dev, sinter.I64, 3, -2, 3)))
		require.Empty(t, read[int64](t, sinter.Arange(dev, sinter.I64, 3, -2, 0)))
		require.Equal(t, []int64{7}, read[int64](t, sinter.Scalar(dev, int64(7))))
		require.Equal(t, shape{}, append(shape{}, sinter.Scalar(dev, true).Shape()...))
		require.Equal(t, []bool{true, false}, read[bool](t, sinter.FromBytes(dev, sinter.Bool, []byte{1, 0}, 2)))
		one, err := sinter.Item[float32](ctx, sinter.Ones(dev, sinter.F32, 1, 1))
		require.NoError(t, err)
		require.Equal(t, float32(1), one)
		raw, err := sinter.ReadBytes(ctx, sinter.Scalar(dev, int64(258)))
		require.NoError(t, err)
		require.Equal(t, []byte{2, 1, 0, 0, 0, 0, 0, 0}, raw)
	}
}

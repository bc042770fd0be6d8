package sinter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// Reading allocates nothing before the elements exist: the shape of a tensor
// that carries an error may be anything.
func TestReadOfImpossibleShapes(t *testing.T) {
	dev := open(t, sinter.WithMemoryLimit(1<<28))
	const huge = min(1<<46, math.MaxInt) // an int may have 32 bits
	var shape *sinter.ShapeError
	var memory *sinter.OutOfMemoryError
	_, err := sinter.Read[float32](ctx, sinter.From(dev, []float32{1, 2}, -2))
	require.Error(t, err)
	_, err = sinter.Read[float32](ctx, sinter.From(dev, []float32{1, 2}, huge))
	require.ErrorAs(t, err, &shape)
	_, err = sinter.Read[float32](ctx, sinter.Zeros(dev, sinter.F32, huge))
	require.ErrorAs(t, err, &memory)
	_, err = sinter.ReadBytes(ctx, sinter.Zeros(dev, sinter.F32, huge))
	require.ErrorAs(t, err, &memory)
	_, err = sinter.Item[float32](ctx, sinter.Zeros(dev, sinter.F32, huge).Sum())
	require.ErrorAs(t, err, &memory)
	_, err = sinter.Read[bool](ctx, sinter.FromBytes(dev, sinter.Bool, []byte{0, 1, 2}, 3))
	var argument *sinter.ArgumentError
	require.ErrorAs(t, err, &argument)
	x := sinter.From(dev, []float32{1, 2}, 1, 2)
	_, err = sinter.Read[float32](ctx, x.LayerNorm(nil, x.Reshape(2), 1e-5))
	require.ErrorAs(t, err, &argument)
	require.ErrorContains(t, err, "weight")
	got, err := sinter.Read[float32](ctx, x.Add(x))
	require.NoError(t, err)
	require.Equal(t, []float32{2, 4}, got)
}

package nn_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// open opens a device that closes with the test. Errors of operations that the
// test provoked have been seen by then.
func open(t testing.TB, opts ...sinter.Option) *sinter.Device {
	t.Helper()
	dev, err := sinter.Open("cpu", append([]sinter.Option{sinter.WithWorkers(2)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

// numbers returns n numbers in (-1, 1), the same for the same seed.
func numbers(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.Float64()*2 - 1)
	}
	return out
}

func variable(dev *sinter.Device, data []float32, shape ...int) *sinter.Var {
	return sinter.NewVar(sinter.From(dev, data, shape...))
}

func read[T sinter.Elem](t *testing.T, x *sinter.Tensor) []T {
	t.Helper()
	out, err := sinter.Read[T](context.Background(), x)
	require.NoError(t, err)
	return out
}

// near compares with a float64 evaluation.
func near(t *testing.T, want []float64, got []float32, tolerance float64) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.InDelta(t, want[i], float64(got[i]), tolerance, "element %d", i)
	}
}

// fails checks that x carries an *sinter.OpError of a layer, with this file's
// line and a cause of type E.
func fails[E error](t *testing.T, x *sinter.Tensor, layer, text string) {
	t.Helper()
	require.NotNil(t, x)
	var op *sinter.OpError
	require.ErrorAs(t, x.Err(), &op)
	require.Equal(t, layer, op.Op)
	require.Contains(t, op.Position(), "_test.go:", "the line of the call from outside")
	var cause E
	require.ErrorAs(t, op, &cause)
	require.ErrorContains(t, op, text)
}

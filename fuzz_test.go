package sinter_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// fuzzed opens one device for a fuzz target.
func fuzzed(f *testing.F) *sinter.Device {
	f.Helper()
	dev, err := sinter.Open("cpu", sinter.WithLogger(slog.New(slog.DiscardHandler)), sinter.WithWorkers(1))
	require.NoError(f, err)
	f.Cleanup(func() { _ = dev.Close() })
	return dev
}

// FuzzEinsum takes any equation with operands of any small shapes: it is refused
// with a typed error or gives a finite sum of products of ones.
func FuzzEinsum(f *testing.F) {
	dev := fuzzed(f)
	for _, e := range []string{"ij,jk->ik", "bij,bjk", "...ij,...j->...i", "ii", "ii->i", "i,j->ji", "->", ",->", "a...b->b...a", "ij->", "ij,jk,kl->il", "é,é->", "i,i->ii", "....", "i j , j"} {
		f.Add(e, uint8(2), []byte{2, 2, 2, 2, 3})
	}
	f.Fuzz(func(t *testing.T, equation string, rank uint8, lengths []byte) {
		if len(equation) > 40 || len(lengths) > 9 {
			return
		}
		var in tensors
		for len(lengths) > 0 {
			n := min(int(rank%4), len(lengths))
			shape := make([]int, n)
			for i := range shape {
				shape[i] = int(lengths[i] % 4)
			}
			in = append(in, sinter.Ones(dev, sinter.F32, shape...))
			lengths = lengths[max(n, 1):]
		}
		y := sinter.Einsum(equation, in...)
		defer y.Release()
		if err := y.Err(); err != nil {
			require.True(t, typed(err), "%v", err)
			settle(dev)
			return
		}
		for _, x := range read[float32](t, y) {
			require.Equal(t, float32(int(x)), x, "%q: products of ones are counted", equation)
		}
	})
}

// FuzzNewQTensor puts quantised tensors together from parts of any shape, dtype
// and scheme: what is not refused has the shape it says.
func FuzzNewQTensor(f *testing.F) {
	dev := fuzzed(f)
	f.Add(8, false, byte(0), 0, 0, []byte{2, 4}, []byte{1, 1}, byte(sinter.I8))
	f.Add(4, false, byte(1), 1, 0, []byte{2, 5}, []byte{1, 5}, byte(sinter.U8))
	f.Add(4, true, byte(2), -1, 2, []byte{3, 4}, []byte{3, 2, 1}, byte(sinter.U8))
	f.Add(8, true, byte(2), 0, -1, []byte{0}, []byte{}, byte(sinter.F32))
	f.Fuzz(func(t *testing.T, bits int, affine bool, level byte, axis, block int, shape, scales []byte, dtype byte) {
		if len(shape) > 4 || len(scales) > 5 || !sinter.DType(dtype).Valid() {
			return
		}
		ints := func(b []byte) []int {
			out := make([]int, len(b))
			for i := range b {
				out[i] = int(b[i] % 6)
			}
			return out
		}
		dims := ints(shape)
		stored := append([]int(nil), dims...)
		if bits == 4 && len(stored) > 0 {
			stored[len(stored)-1] = (stored[len(stored)-1] + 1) / 2
		}
		scheme := sinter.QuantScheme{Bits: bits, Affine: affine, Level: sinter.QuantLevel(level), Axis: axis, Block: block}
		scale := sinter.Ones(dev, sinter.F32, ints(scales)...)
		var zero *tensor
		if affine {
			zero = sinter.Zeros(dev, sinter.I8, ints(scales)...)
		}
		q, err := sinter.NewQTensor(scheme, sinter.Zeros(dev, sinter.Bool, stored...).Cast(sinter.DType(dtype)), scale, zero, dims...)
		if err != nil {
			require.True(t, typed(err), "%v", err)
			settle(dev)
			return
		}
		require.Equal(t, sinter.Shape(dims), q.Shape())
		require.Equal(t, make([]float32, q.Shape().NumElements()), append([]float32{}, read[float32](t, q.Dequantize(sinter.F32))...))
	})
}

package graphapi_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// A graph keeps the memory of a tensor from outside that is neither an input
// nor a Var's, after the program let go of it.
func TestOutsideTensorIsRetained(t *testing.T) {
	const n = 1000
	for _, fuse := range []bool{false, true} {
		dev := open(t, sinter.WithFusion(fuse))
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(i)
		}
		outside := sinter.From(dev, data, n)
		x := sinter.Zeros(dev, sinter.F32, n)
		g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			return []*sinter.Tensor{in[0].Add(outside)}, nil
		}, x)
		outside.Release()
		outside = nil
		runtime.GC()
		sentinels := make([]*sinter.Tensor, 64)
		for i := range sentinels {
			sentinels[i] = sinter.Full(dev, sinter.F32, float64(-i-1), n).AddScalar(0)
		}
		require.NoError(t, dev.Flush(t.Context()))
		require.NoError(t, g.Replay())
		require.Equal(t, data, read(t, g.Out(0)))
		for i, s := range sentinels {
			for _, v := range read(t, s) {
				require.Equal(t, float32(-i-1), v)
			}
		}
		inUse := dev.Stats().Memory.InUse
		require.NoError(t, g.Close())
		require.Less(t, dev.Stats().Memory.InUse, inUse-4*n, "Close lets go of it, besides the graph's own memory")
	}
}

// An effect queued on another stream, on a Var the graph reads, comes before
// the replay.
func TestReplayAfterEffectElsewhere(t *testing.T) {
	for _, fuse := range []bool{false, true} {
		dev := open(t, sinter.WithFusion(fuse))
		s2 := dev.NewStream()
		v := sinter.NewVar(sinter.From(dev, []float32{1, 2}, 2))
		g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			return []*sinter.Tensor{in[0].Mul(v.Value())}, nil
		}, sinter.From(dev, []float32{10, 10}, 2))
		for i := range 3 {
			x := float32(i + 5)
			v.Set(sinter.From(s2, []float32{x, -x}, 2).MulScalar(2))
			require.NoError(t, g.Replay())
			require.Equal(t, []float32{20 * x, -20 * x}, read(t, g.Out(0)))
		}
		g.In(0).Set(sinter.From(s2, []float32{1, 2}, 2).AddScalar(1))
		require.NoError(t, g.Replay())
		require.Equal(t, []float32{28, -42}, read(t, g.Out(0)), "an input")
	}
}

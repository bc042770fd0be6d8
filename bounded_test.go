package sinter_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/race"
)

// flat runs an iteration often and checks that neither the device's memory nor
// Go's grows with the number of runs.
func flat(t *testing.T, dev *sinter.Device, iteration func(i int)) {
	t.Helper()
	n := 10000
	if testing.Short() || race.Enabled {
		n = 2000
	}
	const warm = 4000 // what is kept for reuse is full by then
	// What is alive when everything dead was collected.
	alive := func() (inUse int64, buffers int, heap uint64) {
		var m runtime.MemStats
		for range 3 {
			runtime.GC()
			require.NoError(t, dev.Stream().Sync(ctx))
		}
		runtime.ReadMemStats(&m)
		memory := dev.Stats().Memory
		return memory.InUse, memory.Allocations, m.HeapAlloc
	}
	for i := range warm {
		iteration(i)
	}
	inUse, buffers, heap := alive()
	for i := range n {
		iteration(i)
	}
	require.Eventually(t, func() bool {
		u, b, h := alive()
		return u <= inUse && b <= buffers && h <= heap+uint64(16*n)
	}, 5e9, 1e7, "after %d iterations", n)
}

// Training steps in scopes leave nothing behind but the state.
func TestTrainingIsFlat(t *testing.T) {
	for _, dev := range both(t) {
		w := sinter.NewVar(sinter.Full(dev, sinter.F32, 0.1, 8, 8))
		m := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 8, 8))
		x := sinter.Ones(dev, sinter.F32, 4, 8)
		flat(t, dev, func(i int) {
			var loss *tensor
			require.NoError(t, dev.Stream().Scope(func(sc *sinter.Scope) error {
				y := x.MatMul(w.Value()).Tanh()
				g := x.T().MatMul(y)
				m.Set(m.Value().MulScalar(0.9).Add(g.MulScalar(0.1)))
				w.Set(w.Value().Sub(m.Value().MulScalar(1e-3)))
				loss = sc.Keep(y.Square().Mean())
				return nil
			}))
			if i%10 == 0 {
				read[float32](t, loss)
			}
			loss.Release()
		})
		require.Less(t, read[float32](t, w.Value().Sum())[0], float32(64))
	}
}

// Reads that fail, of each kind, leave nothing behind.
func TestFailingReadsAreFlat(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.From(dev, []float32{1, 2, 3}, 3)
		far := sinter.From(dev, []int64{7}, 1)
		v := sinter.NewVar(x)
		flat(t, dev, func(i int) {
			var err error
			switch i % 4 {
			case 0: // a shape, refused when recorded
				_, err = sinter.Read[float32](ctx, x.AddScalar(1).Reshape(2).Exp())
			case 1: // an index, found when it runs
				_, err = sinter.Read[float32](ctx, x.AddScalar(1).Select(0, far).Exp())
			case 2: // a tensor that is no more
				y := x.AddScalar(float64(i))
				y.Release()
				_, err = sinter.Read[float32](ctx, y.Exp())
			case 3: // the wrong type, of a result that is right; and a Var's effect that fails
				_, err = sinter.Read[int64](ctx, x.MulScalar(2))
				v.Set(x.Select(0, far).Repeat(3))
				_ = dev.Flush(ctx)
				v.Set(x)
			}
			require.Error(t, err)
			for dev.Flush(ctx) != nil {
			}
		})
		require.Equal(t, []float32{1, 2, 3}, read[float32](t, v.Value()))
	}
}

// The seams for extenders lead there and back.
func TestWrap(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.From(dev, []float32{1, 2}, 2).AddScalar(1)
		w := sinter.Wrap(sinter.ValueOf(x))
		require.Same(t, sinter.ValueOf(x), sinter.ValueOf(w))
		require.Equal(t, []float32{2, 3}, read[float32](t, w))
		w.Release()
		require.Error(t, x.Err(), "the same tensor")

		v := sinter.NewVar(sinter.From(dev, []float32{5, 6}, 2)).Named("v")
		u := sinter.WrapVar(sinter.VarOf(v))
		require.Same(t, sinter.VarOf(v), sinter.VarOf(u))
		require.Equal(t, "v", u.Name())
		u.Set(u.Value().MulScalar(2))
		require.Equal(t, []float32{10, 12}, read[float32](t, v.Value()))
		v.Set(v.Value().AddScalar(1))
		require.Equal(t, []float32{11, 13}, read[float32](t, u.Value()))
		require.Nil(t, sinter.VarOf(nil))
		require.Nil(t, sinter.ValueOf(nil))
	}
}

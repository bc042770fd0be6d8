package graphapi_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

func TestConcurrentReplays(t *testing.T) {
	dev := open(t)
	count := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 1))
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		count.Set(count.Value().AddScalar(1))
		return []*sinter.Tensor{in[0].MulScalar(2)}, nil
	}, sinter.From(dev, []float32{1}, 1))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := g.Replay(); err != nil {
					t.Error(err)
				}
				if _, err := sinter.ReadVar[float32](context.Background(), count); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, []float32{160}, read(t, count.Value()))
}

// The inputs of one call stay together.
func TestConcurrentReplaysWithInputs(t *testing.T) {
	for _, graphs := range []bool{true, false} {
		dev := open(t, sinter.WithGraphs(graphs))
		apart := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 1))
		zero := sinter.From(dev, []float32{0}, 1)
		g, err := graphapi.Capture(context.Background(), dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			apart.Set(apart.Value().Add(in[0].Sub(in[1]).Abs()))
			return nil, nil
		}, []*sinter.Tensor{zero, zero})
		require.NoError(t, err)
		require.Equal(t, graphs, g.IsHardware())
		inputs := make([]*sinter.Tensor, 8) // made before: a replay that falls back opens scopes on the stream
		for i := range inputs {
			inputs[i] = sinter.From(dev, []float32{float32(i)}, 1)
		}
		var wg sync.WaitGroup
		for _, a := range inputs {
			wg.Go(func() {
				for range 20 {
					if err := g.Replay(a, a); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, []float32{0}, read(t, apart.Value()))
	}
}

func TestDroppedGraphsAreCollected(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, 2}, 2)
	capture(t, dev, double, x)
	for range 40 {
		capture(t, dev, double, x)
	}
	for range 100 {
		runtime.GC()
		if _, err := dev.Trim(t.Context()); err == nil && dev.Stats().Memory.Reserved < 10<<20 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	require.Less(t, dev.Stats().Memory.Reserved, int64(10<<20))
	usable(t, dev)
}

// A decoding step with a fixed-size cache in Vars, the position a tensor.
func TestDecodeStep(t *testing.T) {
	run := func(dev *sinter.Device, replayed bool) [][]float32 {
		const d, n = 8, 12
		wq := sinter.NewVar(sinter.Uniform(dev, sinter.F32, -1, 1, d, d))
		wk := sinter.NewVar(sinter.Uniform(dev, sinter.F32, -1, 1, d, d))
		keys := sinter.NewVar(sinter.Zeros(dev, sinter.F32, n, d))
		pos := sinter.NewVar(sinter.Scalar(dev, int64(0)))
		step := func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			q := in[0].MatMul(wq.Value())
			keys.SetSlice(in[0].MatMul(wk.Value()), sinter.SpanAt(pos.Value(), 1))
			p := q.MatMul(keys.Value().T()).MulScalar(0.3).Softmax(-1)
			pos.Set(pos.Value().AddScalar(1))
			return []*sinter.Tensor{p.MatMul(keys.Value()).Add(in[0]).Tanh()}, nil
		}
		h := sinter.Uniform(dev, sinter.F32, -1, 1, 1, d)
		var out [][]float32
		if !replayed {
			for range n {
				o, err := step(dev.Stream(), []*sinter.Tensor{h})
				require.NoError(t, err)
				h = o[0]
				out = append(out, read(t, h))
			}
			return out
		}
		g := capture(t, dev, step, h)
		for range n {
			require.NoError(t, g.Replay(h))
			h = g.Out(0)
			out = append(out, read(t, h))
		}
		var index *sinter.IndexError
		require.ErrorAs(t, g.Replay(h), &index, "the cache is full")
		return out
	}
	want := run(open(t, sinter.WithFusion(false)), false)
	require.Equal(t, want, run(open(t), false), "fused")
	require.Equal(t, want, run(open(t), true), "replayed")
}

// Closing a graph while another is captured on its stream would run part of a
// pass: it is refused, and the capture goes on.
func TestCloseDuringCapture(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, 2}, 2)
	first := capture(t, dev, double, x)
	var refused *sinter.CaptureError
	second := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[0].AddScalar(1)
		require.ErrorAs(t, first.Close(), &refused)
		return []*sinter.Tensor{y.MulScalar(2)}, nil
	}, x)
	require.NoError(t, second.Replay())
	require.Equal(t, []float32{4, 6}, read(t, second.Out(0)))
	require.NoError(t, first.Close())
	require.NoError(t, first.Close())
}

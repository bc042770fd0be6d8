package graphapi_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/graphapi"
)

// everything uses a fork, a loop with a branch in it, random numbers and state.
type everything struct {
	dev   *sinter.Device
	side  *sinter.Stream
	state *sinter.Var
	x     *sinter.Tensor
	pool  *graphapi.Pool
}

func newEverything(t *testing.T, name string, opts ...sinter.Option) *everything {
	dev, err := sinter.Open(name, append([]sinter.Option{sinter.WithPoison(true), sinter.WithWorkers(1), sinter.WithSeed(4), sinter.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	require.NoError(t, err)
	e := &everything{dev: dev, side: dev.NewStream(), pool: graphapi.NewPool(dev)}
	e.x = sinter.From(dev, []float32{1, 2}, 2)
	e.state = sinter.NewVar(sinter.From(dev, []float32{1, 1}, 2))
	require.NoError(t, dev.Flush(context.Background()))
	return e
}

func (e *everything) step(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
	ctx := context.Background()
	if err := e.side.Wait(ctx, s); err != nil {
		return nil, err
	}
	noise := sinter.Uniform(e.side, sinter.F32, 0, 1, 2)
	out, err := graphapi.While(s,
		func(x []*sinter.Tensor) (*sinter.Tensor, error) { return x[1].GreaterScalar(0), nil },
		func(x []*sinter.Tensor) ([]*sinter.Tensor, error) {
			y, err := graphapi.If(s, x[1].LessScalar(2), func() ([]*sinter.Tensor, error) {
				e.state.Set(e.state.Value().Add(x[0]))
				return []*sinter.Tensor{x[0].AddScalar(1)}, nil
			}, func() ([]*sinter.Tensor, error) { return []*sinter.Tensor{x[0].MulScalar(2)}, nil })
			if err != nil {
				return nil, err
			}
			return []*sinter.Tensor{y[0], x[1].SubScalar(1)}, nil
		}, []*sinter.Tensor{in[0], sinter.Scalar(s, int64(3))}, graphapi.MaxIterations(5))
	if err != nil {
		return nil, err
	}
	if err := s.Wait(ctx, e.side); err != nil {
		return nil, err
	}
	return []*sinter.Tensor{out[0].Add(noise), e.state.Value()}, nil
}

func (e *everything) capture(opts ...graphapi.Option) (*graphapi.Graph, error) {
	return graphapi.Capture(context.Background(), e.dev.Stream(), e.step, []*sinter.Tensor{e.x}, append(opts, graphapi.InPool(e.pool))...)
}

// wanted is what n runs of the step give.
func wanted(t *testing.T, n int) (outs, states [][]byte) {
	e := newEverything(t, "cpu", sinter.WithFusion(false))
	defer e.dev.Close()
	for range n {
		out, err := e.step(e.dev.Stream(), []*sinter.Tensor{e.x.On(e.dev.Stream())})
		require.NoError(t, err)
		b := readAll(t, out)
		outs, states = append(outs, b[0]), append(states, b[1])
	}
	return outs, states
}

func TestEverythingAtOnce(t *testing.T) {
	outs, states := wanted(t, 3)
	for _, opts := range [][]sinter.Option{nil, {sinter.WithFusion(false)}, {sinter.WithGraphs(false)}} {
		e := newEverything(t, "cpu", opts...)
		g, err := e.capture(graphapi.Verify(2))
		require.NoError(t, err)
		for i := range outs {
			require.NoError(t, g.Replay())
			got := readAll(t, []*sinter.Tensor{g.Out(0), e.state.Value()})
			require.Equal(t, outs[i], got[0])
			require.Equal(t, states[i], got[1])
		}
		require.NoError(t, g.Close())
		require.NoError(t, e.dev.Close())
	}
}

// TestFaultsOfEveryEntryPoint makes each call of the device fail in turn while a
// program is captured, verified, replayed on two streams and updated: the error
// is typed or the graph falls back, nothing read is wrong, and the next capture
// in the same pool works.
func TestFaultsOfEveryEntryPoint(t *testing.T) {
	outs, states := wanted(t, 3)
	for _, call := range []backend.Call{
		backend.CallBeginCapture, backend.CallEndCapture, backend.CallBeginBody, backend.CallEndBody, backend.CallWait, backend.CallUpdate,
		backend.CallReplay, backend.CallLaunch, backend.CallAlloc, backend.CallCopy, backend.CallCompile, backend.CallWrite, backend.CallRead,
	} {
		hit := 0
		for k := 1; ; k++ {
			e := newEverything(t, "faulty")
			faulty := opened()
			before := faulty.Calls(call)
			faulty.FailAt(call, k)
			e.run(t, outs, states, call, k)
			if faulty.Calls(call)-before < k {
				require.NoError(t, e.dev.Close())
				break
			}
			e.mend(t, outs, states, call, k)
			require.NoError(t, e.dev.Close())
			hit++
			if testing.Short() && k > 12 {
				k += 6
			}
		}
		require.Positive(t, hit, "no %s", call)
	}
}

// run captures, replays and updates until a fault stops it.
func (e *everything) run(t *testing.T, outs, states [][]byte, call backend.Call, k int) {
	known := func(err error) bool {
		require.True(t, injected(err), "%s %d: %v", call, k, err)
		return false
	}
	g, err := e.capture(graphapi.Verify(2))
	if err != nil {
		known(err)
		return
	}
	defer func() { require.NoError(t, g.Close(), "%s %d", call, k) }()
	if !g.IsHardware() {
		known(g.FallbackReason())
	}
	other := e.dev.NewStream()
	right := func(i int) bool {
		for j, x := range []*sinter.Tensor{g.Out(0), e.state.Value()} {
			got, err := sinter.ReadBytes(context.Background(), x)
			if err != nil {
				return known(err)
			}
			require.Equal(t, [][]byte{outs[i], states[i]}[j], got, "%s %d: replay %d", call, k, i)
		}
		return true
	}
	for i, on := range []*sinter.Stream{e.dev.Stream(), other} {
		if err := g.ReplayOn(on); err != nil {
			known(err)
			return
		}
		if !right(i) {
			return
		}
	}
	if g.IsHardware() {
		if _, err := g.Update(context.Background(), e.step); err != nil {
			known(err) // and the graph does what it did
		}
	}
	if err := g.Replay(); err != nil {
		known(err)
		return
	}
	right(2)
}

// mend checks that nothing of a fault is left.
func (e *everything) mend(t *testing.T, outs, states [][]byte, call backend.Call, k int) {
	ctx := context.Background()
	for e.dev.Flush(ctx) != nil {
	}
	require.Zero(t, e.pool.Report().Graphs, "%s %d", call, k)
	require.NoError(t, e.pool.Close(), "%s %d", call, k)
	e.pool = graphapi.NewPool(e.dev)
	require.False(t, graphapi.IsCapturing(e.dev.Stream()) || graphapi.IsCapturing(e.side), "%s %d", call, k)
	e.state.Set(sinter.From(e.dev, []float32{1, 1}, 2))
	e.dev.Seed(4)
	g, err := e.capture(graphapi.RequireHardware())
	require.NoError(t, err, "%s %d", call, k)
	require.NoError(t, g.Replay(), "%s %d", call, k)
	got := readAll(t, []*sinter.Tensor{g.Out(0), e.state.Value()})
	require.Equal(t, [][]byte{outs[0], states[0]}, got, "%s %d", call, k)
	require.NoError(t, g.Close())
}

// Memory stays as it is over many captures, whatever becomes of them.
func TestCapturesDoNotGrow(t *testing.T) {
	e := newEverything(t, "cpu")
	defer e.dev.Close()
	ctx := context.Background()
	boom := errors.New("boom")
	reserved := func() int64 {
		runtime.GC()
		_, err := e.dev.Trim(ctx)
		require.NoError(t, err)
		return e.dev.Stats().Memory.Reserved
	}
	var first int64
	for n := range 100 {
		pool := graphapi.InPool(e.pool)
		if n%2 == 0 {
			pool = graphapi.KeepWarmups() // one of its own
		}
		calls := 0
		g, err := graphapi.Capture(ctx, e.dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			if calls++; n%5 == 1 && calls == 1+n%4 {
				return nil, boom
			}
			return e.step(s, in)
		}, []*sinter.Tensor{e.x}, pool)
		if err != nil {
			require.ErrorIs(t, err, boom)
		} else {
			require.NoError(t, g.Replay())
			require.NoError(t, g.Close())
		}
		e.state.Set(sinter.From(e.dev, []float32{1, 1}, 2))
		if n == 20 {
			first = reserved()
		}
	}
	require.LessOrEqual(t, reserved(), first)
	require.NoError(t, e.pool.Close())
}

// Several goroutines capture, replay, update and close on streams of their own,
// and share a pool and a Var's readers.
func TestGraphsOfManyGoroutines(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	pool := graphapi.NewPool(dev)
	w := sinter.NewVar(sinter.From(dev, []float32{1, 2}, 2))
	inputs := make([]*sinter.Tensor, 6)
	for i := range inputs {
		inputs[i] = sinter.From(dev, []float32{float32(i), 1}, 2)
	}
	var wg sync.WaitGroup
	for i, x := range inputs {
		s, other := dev.NewStream(), dev.NewStream()
		wg.Go(func() {
			f := func(c float64) graphapi.Func {
				return func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
					return graphapi.If(s, in[0].Sum().Reshape().GreaterScalar(2), func() ([]*sinter.Tensor, error) {
						return []*sinter.Tensor{in[0].Mul(w.Value()).MulScalar(c)}, nil
					}, func() ([]*sinter.Tensor, error) { return in[:1], nil })
				}
			}
			var opts []graphapi.Option
			if i == 0 {
				opts = append(opts, graphapi.InPool(pool))
			}
			for range 4 {
				g, err := graphapi.Capture(ctx, s, f(2), []*sinter.Tensor{x}, opts...)
				if err != nil {
					t.Error(err)
					return
				}
				for n := range 4 {
					on := s
					if n%2 == 1 {
						on = other
					}
					if err := g.ReplayOn(on, x); err != nil {
						t.Error(err)
					}
				}
				if _, err := g.Update(ctx, f(3)); err != nil {
					t.Error(err)
				}
				if err := g.Replay(); err != nil {
					t.Error(err)
				}
				got, err := sinter.Read[float32](ctx, g.Out(0))
				want := float32(i)
				if i >= 2 {
					want *= 3
				}
				if err != nil || got[0] != want {
					t.Errorf("%d: %v, %v, want %v", i, got, err, want)
				}
				if err := g.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, pool.Close())
}

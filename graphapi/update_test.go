package graphapi_test

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/graphapi"
)

func TestUpdate(t *testing.T) {
	ctx := context.Background()
	dev, err := sinter.Open("faulty", sinter.WithPoison(true))
	require.NoError(t, err)
	defer dev.Close()
	faulty := opened()
	x := sinter.From(dev, []float32{1, 2}, 2)
	v := sinter.NewVar(sinter.From(dev, []float32{100, 100}, 2))
	times := func(c float64) graphapi.Func {
		return func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			return []*sinter.Tensor{in[0].MulScalar(c)}, nil
		}
	}
	g := capture(t, dev, times(2), x)
	require.NoError(t, g.Replay(sinter.From(dev, []float32{3, 4}, 2)))
	old := g.Out(0)
	later := old.AddScalar(1)

	inPlace, err := g.Update(ctx, times(5))
	require.NoError(t, err)
	require.True(t, inPlace, "the same structure")
	require.Equal(t, 1, faulty.Calls(backend.CallUpdate))
	var unwritten *sinter.CaptureError
	_, err = sinter.Read[float32](ctx, g.Out(0))
	require.ErrorAs(t, err, &unwritten)
	var released *sinter.ReleasedError
	_, err = sinter.Read[float32](ctx, old)
	require.ErrorAs(t, err, &released)
	require.Equal(t, []float32{7, 9}, read(t, later))
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{15, 20}, read(t, g.Out(0)), "with the inputs as they were")

	instantiated := faulty.Calls(backend.CallEndCapture)
	inPlace, err = g.Update(ctx, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[0].Add(v.Value())
		v.Set(y)
		return []*sinter.Tensor{y.CumSum(0), y.Sum()}, nil
	})
	require.NoError(t, err)
	require.False(t, inPlace, "another one")
	require.Equal(t, 2, faulty.Calls(backend.CallUpdate), "one try")
	require.Equal(t, instantiated+1, faulty.Calls(backend.CallEndCapture), "and one new graph")
	require.Equal(t, []float32{100, 100}, read(t, v.Value()))
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{103, 207}, read(t, g.Out(0)))
	require.Equal(t, []float32{207}, read(t, g.Out(1)))
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{106, 108}, read(t, v.Value()))

	// What cannot be captured leaves the graph as it was.
	for name, f := range map[string]graphapi.Func{
		"nil": nil,
		"a read": func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			_, err := sinter.Read[float32](ctx, in[0].AddScalar(1))
			return nil, err
		},
		"an error": func(*sinter.Stream, []*sinter.Tensor) ([]*sinter.Tensor, error) { return nil, context.Canceled },
	} {
		_, err = g.Update(ctx, f)
		require.Error(t, err, name)
	}
	faulty.FailAt(backend.CallUpdate, 1)
	_, err = g.Update(ctx, times(7))
	require.ErrorIs(t, err, backend.ErrInjected)
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{109, 112}, read(t, v.Value()))
	v.Set(v.Value().MulScalar(0))
	inPlace, err = g.Update(ctx, times(7))
	require.NoError(t, err)
	require.False(t, inPlace)
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{21, 28}, read(t, g.Out(0)))
	require.Equal(t, []float32{0, 0}, read(t, v.Value()))
	require.NoError(t, g.Close())
	_, err = g.Update(ctx, times(2))
	var closed *sinter.ClosedError
	require.ErrorAs(t, err, &closed)
	usable(t, dev)
}

// The parameters of a body are those of the update at the next replay.
func TestUpdateOfABody(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, 2}, 2)
	f := func(c float64) graphapi.Func {
		return func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			return graphapi.If(s, in[1], func() ([]*sinter.Tensor, error) {
				return graphapi.If(s, in[1], func() ([]*sinter.Tensor, error) { return []*sinter.Tensor{in[0].MulScalar(c)}, nil },
					func() ([]*sinter.Tensor, error) { return in[:1], nil })
			}, func() ([]*sinter.Tensor, error) { return in[:1], nil })
		}
	}
	g := capture(t, dev, f(2), x, flag(dev, true))
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{2, 4}, read(t, g.Out(0)))
	inPlace, err := g.Update(context.Background(), f(3))
	require.NoError(t, err)
	require.True(t, inPlace)
	for range 2 {
		require.NoError(t, g.Replay())
		require.Equal(t, []float32{3, 6}, read(t, g.Out(0)))
	}
}

// Verify records the function again and finds what has changed since.
func TestVerify(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	v := sinter.NewVar(sinter.From(dev, []float32{1, 1}, 2))
	x := sinter.From(dev, []float32{1, 2}, 2)
	host := 2.0
	calls := 0
	g, err := graphapi.Capture(ctx, dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		calls++
		v.Set(v.Value().Add(in[0]))
		return []*sinter.Tensor{v.Value().MulScalar(host).Add(sinter.Uniform(s, sinter.F32, 0, 0, 2))}, nil
	}, []*sinter.Tensor{x}, graphapi.Verify(3), graphapi.RequireHardware())
	require.NoError(t, err)
	require.Equal(t, 4, calls)
	handle := v.Value()
	before := dev.Stats()
	for n := 1; n <= 7; n++ {
		require.NoError(t, g.Replay())
		require.Equal(t, 4+n/3, calls)
		require.Equal(t, []float32{1 + float32(n), 1 + 2*float32(n)}, read(t, v.Value()), "verifying executes nothing")
	}
	require.Equal(t, []float32{1, 1}, read(t, handle))
	require.Equal(t, []float32{16, 30}, read(t, g.Out(0)))
	_, drawn := dev.Runtime().RandomState()
	require.Equal(t, uint64(7), drawn)
	require.Equal(t, before.Explorations, dev.Stats().Explorations)
	require.Equal(t, before.Device.Compiles, dev.Stats().Device.Compiles)
	host = 3
	require.NoError(t, g.Replay(), "the eighth")
	for range 2 {
		err = g.Replay()
		var capture *sinter.CaptureError
		require.ErrorAs(t, err, &capture)
		require.Contains(t, capture.Reason, "host scalar")
		require.Contains(t, capture.Op, "update_test.go")
		require.Equal(t, []float32{9, 17}, read(t, v.Value()), "the replay did not run")
		host = 2
		require.NoError(t, g.Replay())
		require.NoError(t, g.Replay())
		v.Set(sinter.From(dev, []float32{9, 17}, 2))
		host = 3
	}
	require.NoError(t, g.Close())
	usable(t, dev)
}

func TestDOT(t *testing.T) {
	dev := open(t)
	side := dev.NewStream()
	x := sinter.From(dev, []float32{1, 2}, 2)
	var b bytes.Buffer
	var refused *sinter.CaptureError
	require.ErrorAs(t, graphapi.WriteLastDOT(&b, dev.Stream()), &refused)
	f := func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		if err := side.Wait(t.Context(), s); err != nil {
			return nil, err
		}
		a := in[0].On(side).CumSum(0)
		b := in[0].Exp()
		if err := s.Flush(t.Context()); err != nil {
			return nil, err
		}
		out, err := graphapi.While(s, func(x []*sinter.Tensor) (*sinter.Tensor, error) { return x[0].Sum().Reshape().LessScalar(100), nil },
			func(x []*sinter.Tensor) ([]*sinter.Tensor, error) { return []*sinter.Tensor{x[0].MulScalar(2)}, nil },
			[]*sinter.Tensor{a.On(s).Add(b)}, graphapi.MaxIterations(9))
		return out, err
	}
	g := capture(t, dev, f, x)
	require.NoError(t, g.WriteDOT(&b))
	dot := b.String()
	for _, want := range []string{`digraph capture`, `subgraph cluster_`, `while, at most 9 times`, `launch `, `Exp at `, `update_test.go:`, `CumSum`, `copy of `, "stream "} {
		require.Contains(t, dot, want)
	}
	// Every edge joins nodes there are, forward, and a node has two edges into it
	// where the fork joins.
	nodes := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s*(n\d+) \[`).FindAllStringSubmatch(dot, -1) {
		require.False(t, nodes[m[1]])
		nodes[m[1]] = true
	}
	into := map[string]int{}
	for _, m := range regexp.MustCompile(`(n\d+) -> (n\d+);`).FindAllStringSubmatch(dot, -1) {
		require.True(t, nodes[m[1]] && nodes[m[2]], m[0])
		into[m[2]]++
	}
	two := 0
	for _, n := range into {
		if n == 2 {
			two++
		}
	}
	require.Equal(t, 1, two, dot)
	require.Equal(t, strings.Count(dot, "{"), strings.Count(dot, "}"))

	b.Reset()
	require.NoError(t, graphapi.WriteLastDOT(&b, dev.Stream()))
	require.Equal(t, dot, b.String())
	// Also of one that failed, as far as it went.
	calls := 0
	_, err := graphapi.Capture(t.Context(), dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[0].Log()
		if calls++; calls == 4 {
			return nil, context.Canceled
		}
		return []*sinter.Tensor{y}, nil
	}, []*sinter.Tensor{x})
	require.ErrorIs(t, err, context.Canceled)
	b.Reset()
	require.NoError(t, graphapi.WriteLastDOT(&b, dev.Stream()))
	require.NotContains(t, b.String(), "Exp")

	off := open(t, sinter.WithGraphs(false))
	g, err = graphapi.Capture(t.Context(), off.Stream(), double, []*sinter.Tensor{sinter.Zeros(off, sinter.F32, 1)})
	require.NoError(t, err)
	require.ErrorAs(t, g.WriteDOT(&b), &refused)
}

// In debug mode each launch is logged, and an error names the one it is from.
func TestDebug(t *testing.T) {
	dev := open(t)
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	table := sinter.From(dev, []float32{1, 2, 3}, 3)
	g, err := graphapi.Capture(t.Context(), dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[1].CumSum(0)
		return []*sinter.Tensor{y.Add(table.Select(0, in[0]).Sum())}, nil
	}, []*sinter.Tensor{sinter.From(dev, []int64{0, 2}, 2), sinter.From(dev, []float32{1, 2}, 2)}, graphapi.Debug(log))
	require.NoError(t, err)
	require.True(t, g.IsHardware())
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{5, 7}, read(t, g.Out(0)))
	require.Equal(t, g.Launches(), strings.Count(b.String(), "sinter: replay"))
	require.Contains(t, b.String(), "CumSum at")
	err = g.Replay(sinter.From(dev, []int64{0, 5}, 2), sinter.From(dev, []float32{1, 2}, 2))
	var at *graphapi.ReplayError
	var index *sinter.IndexError
	require.ErrorAs(t, err, &at)
	require.ErrorAs(t, err, &index)
	require.Contains(t, strings.Join(at.Operations, " "), "Select at ")
	require.Contains(t, b.String(), "replay failed")
	_, err = sinter.Read[float32](t.Context(), g.Out(0))
	require.ErrorAs(t, err, &index, "as without")
	require.NoError(t, g.Close())
}

// Replays on other streams are ordered with the graph's own.
func TestReplayOn(t *testing.T) {
	for _, graphs := range []bool{true, false} {
		dev := open(t, sinter.WithGraphs(graphs))
		s2, s3 := dev.NewStream(), dev.NewStream()
		v := sinter.NewVar(sinter.From(dev, []float32{1, 2}, 2))
		x := sinter.From(dev, []float32{1, 1}, 2)
		g, err := graphapi.Capture(t.Context(), dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			v.Set(v.Value().Add(in[0]))
			return []*sinter.Tensor{v.Value().MulScalar(10)}, nil
		}, []*sinter.Tensor{x})
		require.NoError(t, err)
		require.Equal(t, graphs, g.IsHardware())
		v.Set(v.Value().On(s3).MulScalar(2)) // pending elsewhere
		v.Set(v.Value().On(dev.Stream()).AddScalar(1))
		require.NoError(t, g.ReplayOn(s2, x.On(s3).MulScalar(3)))
		pending := g.Out(0).AddScalar(1)
		require.NoError(t, g.ReplayOn(s3))
		require.Equal(t, []float32{61, 81}, read(t, pending))
		require.Equal(t, []float32{90, 110}, read(t, g.Out(0)))
		require.Equal(t, []float32{9, 11}, read(t, v.Value().On(s2).AddScalar(0)))
		var arg *sinter.ArgumentError
		var closed *sinter.ClosedError
		require.ErrorAs(t, g.ReplayOn(nil), &arg)
		require.ErrorAs(t, g.ReplayOn(open(t).Stream()), &arg)
		require.NoError(t, s2.Close())
		require.ErrorAs(t, g.ReplayOn(s2), &closed)
		require.NoError(t, g.ReplayOn(s3))
		require.Equal(t, []float32{120, 140}, read(t, g.Out(0)))
	}
}

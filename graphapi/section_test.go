package graphapi_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

func TestSection(t *testing.T) {
	for _, fuse := range []bool{true, false} {
		dev := open(t, sinter.WithFusion(fuse))
		x := sinter.NewVar(sinter.From(dev, []float32{1, 2}, 2))
		sum := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 2))
		runs := 0
		c, err := graphapi.Begin(context.Background(), dev.Stream(), graphapi.RequireHardware())
		require.NoError(t, err)
		for c.Next() {
			runs++
			y := x.Value().On(dev.Stream()).MulScalar(2)
			sum.Set(sum.Value().Add(y))
			c.Return(y)
			c.Return(sum.Value())
		}
		g, err := c.End()
		require.NoError(t, err)
		require.Equal(t, 4, runs)
		require.Equal(t, []float32{0, 0}, read(t, sum.Value()))
		require.NoError(t, g.Replay())
		sinter.Write(x, []float32{10, 20})
		require.NoError(t, g.Replay())
		require.Equal(t, []float32{20, 40}, read(t, g.Out(0)))
		require.Equal(t, []float32{22, 44}, read(t, g.Out(1)))
		require.Zero(t, g.Inputs())
		var refused *sinter.CaptureError
		_, err = c.End()
		require.ErrorAs(t, err, &refused)
		require.False(t, c.Next())
		_, err = g.Update(context.Background(), nil)
		require.ErrorAs(t, err, &refused)
		require.NoError(t, g.Close())
		usable(t, dev)
	}
}

// A section that does not run to its end leaves no trace.
func TestUnfinishedSections(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	v := sinter.NewVar(sinter.From(dev, []float32{1}, 1))
	var refused *sinter.CaptureError
	for passes := range 5 {
		c, err := graphapi.Begin(ctx, dev.Stream())
		require.NoError(t, err)
		for n := 0; n < passes && c.Next(); n++ {
			v.Set(v.Value().AddScalar(1))
			if n == 3 {
				break // before the last pass is whole
			}
			c.Return(v.Value())
		}
		_, err = c.End()
		require.ErrorAs(t, err, &refused, "%d passes", passes)
		require.Equal(t, []float32{1}, read(t, v.Value()), "%d passes", passes)
		usable(t, dev)
	}
	for name, f := range map[string]func(c *graphapi.Section){
		"nil output":    func(c *graphapi.Section) { c.Return(nil) },
		"read":          func(c *graphapi.Section) { _, _ = sinter.ReadVar[float32](ctx, v) },
		"bad operation": func(*graphapi.Section) { v.Value().On(dev.Stream()).Reshape(7) },
	} {
		c, err := graphapi.Begin(ctx, dev.Stream())
		require.NoError(t, err)
		for c.Next() {
			f(c)
		}
		_, err = c.End()
		require.Error(t, err, name)
		usable(t, dev)
	}
	_, err := graphapi.Begin(ctx, nil)
	require.ErrorAs(t, err, &refused)
	_, err = graphapi.Begin(ctx, dev.Stream(), graphapi.Verify(1))
	require.ErrorAs(t, err, &refused)
	stopped, cancel := context.WithCancel(ctx)
	c, err := graphapi.Begin(stopped, dev.Stream())
	require.NoError(t, err)
	cancel()
	require.False(t, c.Next())
	_, err = c.End()
	require.ErrorIs(t, err, context.Canceled)
	usable(t, dev)
	a, err := graphapi.Begin(ctx, dev.Stream())
	require.NoError(t, err)
	_, err = graphapi.Begin(ctx, dev.Stream())
	require.ErrorAs(t, err, &refused, "a second one on the stream")
	_, err = a.End()
	require.ErrorAs(t, err, &refused)
	usable(t, dev)
}

// One that is dropped in the middle is given up by the collector.
func TestDroppedSection(t *testing.T) {
	dev := open(t)
	func() {
		c, err := graphapi.Begin(context.Background(), dev.Stream())
		require.NoError(t, err)
		require.True(t, c.Next())
	}()
	x := sinter.From(dev.NewStream(), []float32{1, 2}, 2)
	for range 200 {
		runtime.GC()
		g, err := graphapi.Capture(context.Background(), dev.Stream(), double, []*sinter.Tensor{x})
		if err == nil {
			require.True(t, g.IsHardware())
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the stream still captures")
}

// A capture that is given up leaves a Var's memory where another needs it.
func TestSectionsShareAVar(t *testing.T) {
	dev := open(t)
	ctx := context.Background()
	w := sinter.NewVar(sinter.From(dev, []float32{1, 2}, 2))
	s1, s2 := dev.NewStream(), dev.NewStream()
	a, err := graphapi.Begin(ctx, s1)
	require.NoError(t, err)
	use := func(c *graphapi.Section, s *sinter.Stream) { c.Return(w.Value().On(s).MulScalar(2)) }
	for range 2 {
		require.True(t, a.Next())
		use(a, s1)
	}
	b, err := graphapi.Begin(ctx, s2)
	require.NoError(t, err)
	for n := 0; b.Next(); n++ {
		use(b, s2)
		if n == 2 {
			_, err := a.End()
			require.Error(t, err)
		}
	}
	g, err := b.End()
	require.NoError(t, err)
	for i := range 3 {
		v := float32(i + 1)
		w.Set(sinter.From(dev, []float32{v, 10 * v}, 2))
		held := w.Value()
		require.NoError(t, g.Replay())
		require.Equal(t, []float32{2 * v, 20 * v}, read(t, g.Out(0)))
		require.Equal(t, []float32{v, 10 * v}, read(t, held))
	}
	require.NoError(t, g.Close())
	w.Set(sinter.From(dev, []float32{5, 5}, 2))
	require.Equal(t, []float32{5, 5}, read(t, w.Value()))
}

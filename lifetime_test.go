package sinter_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// released checks that err says a tensor was used after its end, naming both
// lines.
func released(t *testing.T, err error, used, ended string) {
	t.Helper()
	var dead *sinter.ReleasedError
	require.ErrorAs(t, err, &dead)
	require.ErrorContains(t, err, used)
	require.ErrorContains(t, err, ended)
}

func TestRelease(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.From(dev, []float32{1, 2}, 2)
		y := x.AddScalar(1)
		ended := here(1)
		x.Release()
		x.Release()
		used := here(1)
		_, err := sinter.Read[float32](ctx, x)
		released(t, err, used, ended)
		used = here(1)
		bad := x.Add(x)
		released(t, bad.Err(), used, ended)
		used = here(1)
		bad = x.Reshape(5) // wrong besides
		released(t, bad.Err(), used, ended)
		released(t, x.Err(), ended, ended)
		v := sinter.NewVar(x)
		_, err = sinter.ReadVar[float32](ctx, v)
		released(t, err, ended, ended)
		for dev.Flush(ctx) != nil {
		}
		require.Equal(t, []float32{2, 3}, read[float32](t, y), "what was recorded before still works")
	}
}

// What only a released tensor needed is not computed.
func TestReleasedIsNotComputed(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.From(dev, []float32{1, 2}, 2)
		before := dev.Stats().Device.Launches
		x.MatMul(x).Exp().Release()
		y := x.Exp()
		y.Sum().Release()
		y.Release()
		require.NoError(t, dev.Flush(ctx))
		kept := dev.Stats().Device.Launches - before
		require.LessOrEqual(t, kept, int64(2), "the results released, at most what fed them")
	}
}

func TestScope(t *testing.T) {
	for _, dev := range both(t) {
		s := dev.Stream()
		x := sinter.From(s, []float32{1, 2, 3}, 3)
		var lost, kept, inner, twice *tensor
		v := sinter.NewVar(x)
		var handle, keptHandle *tensor
		ended := here(1)
		err := s.Scope(func(sc *sinter.Scope) error {
			lost = x.AddScalar(1)
			kept = sc.Keep(lost.MulScalar(2))
			handle, keptHandle = v.Value(), sc.Keep(v.Value())
			require.Equal(t, []float32{1, 2, 3}, read[float32](t, handle.AddScalar(0)))
			require.Nil(t, sc.Keep(nil))
			err := sc.Stream().Scope(func(in *sinter.Scope) error {
				inner = in.Keep(sinter.Ones(in, sinter.F32, 2))
				twice = in.Keep(inner.AddScalar(1))
				return nil
			})
			sc.Keep(twice)
			return err
		})
		require.NoError(t, err)
		require.Equal(t, []float32{4, 6, 8}, read[float32](t, kept))
		require.Equal(t, []float32{2, 2}, read[float32](t, twice))
		require.Equal(t, []float32{1, 2, 3}, read[float32](t, keptHandle))
		used := here(1)
		_, err = sinter.Read[float32](ctx, lost)
		released(t, err, used, ended)
		released(t, handle.AddScalar(1).Err(), here(0), ended)
		released(t, inner.Neg().Err(), here(0), ended)
		require.Equal(t, []float32{1, 2, 3}, read[float32](t, x), "made outside")
		for dev.Flush(ctx) != nil {
		}
	}
}

func TestScopeErrors(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.Zeros(dev, sinter.F32, 3)
		own := errors.New("own")
		require.ErrorIs(t, dev.Scope(func(*sinter.Scope) error { return own }), own)
		err := dev.Stream().Scope(func(*sinter.Scope) error { x.Reshape(2); return nil })
		isShape(t, err, "Reshape")
		require.NoError(t, dev.Flush(ctx), "the scope reported it")
		err = dev.Scope(func(sc *sinter.Scope) error {
			sc.Keep(sinter.From(sc, []int64{1}, 1).Select(0, sinter.From(sc, []int64{3}, 1)))
			return nil
		})
		isIndex(t, err, "Select")
		require.NoError(t, dev.Flush(ctx))
	}
}

// A panic frees what the scope made and goes on with its value.
func TestScopePanics(t *testing.T) {
	for _, dev := range both(t) {
		for name, scope := range map[string]func(func(*sinter.Scope) error) error{"device": dev.Scope, "stream": dev.Stream().Scope} {
			type mine struct{ int }
			var made *tensor
			runtime.GC()
			require.NoError(t, dev.Stream().Sync(ctx))
			before := dev.Stats().Memory.InUse
			require.PanicsWithValue(t, mine{3}, func() {
				_ = scope(func(sc *sinter.Scope) error {
					made = sinter.From(sc, make([]float32, 1000), 1000)
					panic(mine{3})
				})
			}, name)
			// What a collection finds meanwhile may go, too.
			require.Less(t, dev.Stats().Memory.InUse, before+4000, name)
			var dead *sinter.ReleasedError
			_, err := sinter.Read[float32](ctx, made)
			require.ErrorAs(t, err, &dead)
			require.ErrorContains(t, err, here(-8), "the line that panicked")
			require.Equal(t, []float32{1}, read[float32](t, sinter.Ones(dev, sinter.F32, 1)))
		}
	}
}

func TestStreams(t *testing.T) {
	for _, dev := range both(t) {
		a, b := dev.NewStream(), dev.NewStream()
		x := sinter.From(a, []float32{1, 2}, 2)
		y := x.AddScalar(1)                  // pending on a
		z := y.On(b).MulScalar(2)            // needs it on b
		w := sinter.From(b, []float32{5}, 1) // a stream of its own
		require.Equal(t, b.Runtime(), z.Stream().Runtime())
		require.Equal(t, []float32{4, 6}, read[float32](t, z))
		require.Equal(t, []float32{7, 8}, read[float32](t, y.Add(w)))
		require.NoError(t, a.Close())
		require.NoError(t, a.Close())
		require.Equal(t, []float32{2, 3}, read[float32](t, y), "tensors of a closed stream stay readable")
		var closed *sinter.ClosedError
		bad := y.AddScalar(1)
		require.ErrorAs(t, bad.Err(), &closed)
		require.ErrorContains(t, bad.Err(), here(-2)+": Add([2])")
		require.ErrorAs(t, a.Flush(ctx), &closed)
		require.NoError(t, a.Sync(ctx), "reported once")
		require.Equal(t, []float32{3, 4}, read[float32](t, y.On(b).AddScalar(1)), "usable on another stream")
		bad = sinter.Ones(a, sinter.F32)
		require.ErrorAs(t, bad.Err(), &closed)
		require.ErrorAs(t, a.Close(), &closed)
		require.NoError(t, b.Sync(ctx))
	}
}

// An error nobody asked for is returned once by whoever waits next.
func TestUnreportedErrors(t *testing.T) {
	dev := open(t)
	fail := func(s *sinter.Stream) { sinter.Zeros(s, sinter.F32, 3).Reshape(2) }
	for name, wait := range map[string]func(s *sinter.Stream) error{
		"Stream.Flush": func(s *sinter.Stream) error { return s.Flush(ctx) },
		"Stream.Sync":  func(s *sinter.Stream) error { return s.Sync(ctx) },
		"Device.Flush": func(*sinter.Stream) error { return dev.Flush(ctx) },
		"Stream.Close": func(s *sinter.Stream) error { return s.Close() },
	} {
		s := dev.NewStream()
		fail(s)
		isShape(t, wait(s), "Reshape")
		require.NoError(t, wait(s), "%s: once", name)
	}
	fail(dev.NewStream())
	isShape(t, dev.Close(), "Reshape")
	require.NoError(t, dev.Close())
}

func TestDeviceClose(t *testing.T) {
	for _, fuse := range []bool{true, false} {
		dev, err := sinter.Open("cpu", sinter.WithFusion(fuse))
		require.NoError(t, err)
		s := dev.NewStream()
		x := sinter.Ones(dev, sinter.F32, 2)
		v := sinter.NewVar(x)
		pending := x.On(s).AddScalar(1)
		require.NoError(t, dev.Close())
		require.NoError(t, s.Close())
		require.NoError(t, dev.Close())
		var closed *sinter.ClosedError
		for _, y := range (tensors{x, pending, v.Value()}) {
			_, err := sinter.Read[float32](ctx, y)
			require.ErrorAs(t, err, &closed)
			require.ErrorContains(t, err, here(-2)+": Read([2]): device cpu is closed")
		}
		for _, y := range (tensors{x.Exp(), v.Value().Exp(), sinter.Ones(dev, sinter.F32), sinter.From(s, []bool{true}, 1), sinter.Ones(dev.NewStream(), sinter.F32)}) {
			require.ErrorAs(t, y.Err(), &closed)
			var oe *sinter.OpError
			require.ErrorAs(t, y.Err(), &oe)
		}
		v.Set(x)
		sinter.Write(v, []float32{1, 2})
		require.ErrorAs(t, dev.Scope(func(sc *sinter.Scope) error { return sinter.Ones(sc, sinter.F32).Err() }), &closed)
		_, err = dev.Trim(ctx)
		require.ErrorAs(t, err, &closed)
		_ = dev.Stats()
		x.Release()
	}
}

func TestCancel(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.Ones(dev, sinter.F32, 2)
		require.NoError(t, dev.Flush(ctx))
		done, cancel := context.WithCancel(ctx)
		cancel()
		y := x.AddScalar(1)
		_, err := sinter.Read[float32](done, y)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, []float32{2, 2}, read[float32](t, y), "the read gave up, not the work")
		z := x.AddScalar(2)
		require.ErrorIs(t, dev.Stream().Flush(done), context.Canceled)
		require.ErrorIs(t, z.Err(), context.Canceled)
		require.Equal(t, []float32{4, 4}, read[float32](t, x.AddScalar(3)))
	}
}

func TestDescription(t *testing.T) {
	dev := open(t)
	x := sinter.Ones(dev, sinter.BF16, 2, 3).Named("x")
	require.Equal(t, "bf16[2,3] x (pending)", x.String())
	require.NoError(t, dev.Flush(ctx))
	require.Equal(t, "bf16[2,3] x (stored)", x.String())
	require.Equal(t, 3, x.Dim(-1))
	require.Equal(t, 0, x.Dim(2))
	require.Equal(t, 2, x.Rank())
	s := x.Shape()
	s[0] = 9
	require.Equal(t, shape{2, 3}, x.Shape(), "Shape returns a copy")
	require.Equal(t, "no tensor", (*tensor)(nil).String())
	require.Nil(t, sinter.ValueOf(nil))
	require.Equal(t, x.String(), sinter.Wrap(sinter.ValueOf(x)).String())
	require.Equal(t, sinter.I64, sinter.DTypeOf[int64]())
	require.Equal(t, "cpu", dev.Name())
}

// A tensor of an inner scope kept by the outer one survives both.
func TestKeepFromInside(t *testing.T) {
	dev := open(t)
	var kept, handle *sinter.Tensor
	w := sinter.NewVar(sinter.From(dev, []float32{5}, 1))
	require.NoError(t, dev.Stream().Scope(func(outer *sinter.Scope) error {
		x := sinter.From(outer, []float32{1, 2}, 2)
		return dev.Stream().Scope(func(inner *sinter.Scope) error {
			kept = outer.Keep(x.AddScalar(1))
			handle = w.Value()
			x.Mul(handle).Exp()
			outer.Keep(handle)
			return nil
		})
	}))
	w.Set(sinter.From(dev, []float32{6}, 1))
	got, err := sinter.Read[float32](ctx, kept)
	require.NoError(t, err)
	require.Equal(t, []float32{2, 3}, got)
	got, err = sinter.Read[float32](ctx, handle)
	require.NoError(t, err)
	require.Equal(t, []float32{5}, got)
}

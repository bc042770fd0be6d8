package fusion_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

func TestUseAfterRelease(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	ctx := context.Background()
	x := s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0)
	w := s.NewVar(x)
	h := w.Value()
	y := s.Record(scalarOp(ir.Add, 1), x)
	virtual := s.Record(scalarOp(ir.Add, 1), x)
	s.Record(scalarOp(ir.Mul, 2), virtual)
	for _, v := range []*fusion.Value{x, h, y, virtual} {
		v.Release(here(ir.Operation{}).PC)
		v.Release(0) // twice is harmless
		var released *fusion.ReleasedError
		require.ErrorAs(t, v.Read(ctx, make([]byte, 8)), &released)
		require.Contains(t, released.At, "lifetime_test.go:")
		require.ErrorAs(t, v.Err(), &released)
		bad := s.Record(here(ir.Operation{Kind: ir.Exp}), v)
		require.ErrorAs(t, bad.Err(), &released)
		require.ErrorContains(t, bad.Err(), "lifetime_test.go:")
		s.Effect(w, here(ir.Operation{Kind: ir.Set}), v)
		require.ErrorAs(t, s.Flush(ctx), &released)
		require.NoError(t, s.Flush(ctx))
		require.Equal(t, []float32{1, 2}, read(t, w.Value()), "a bad effect leaves the Var as it was")
	}
	require.ErrorAs(t, s.NewVar(x).Value().Err(), new(*fusion.ReleasedError))
}

func TestUseAfterScope(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	ctx := context.Background()
	outer := s.Begin()
	x := s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0)
	inner := s.Begin()
	y := s.Record(scalarOp(ir.Add, 1), x)
	z := s.Record(scalarOp(ir.Mul, 2), y)
	inner.Keep(z)
	require.NoError(t, inner.End(ctx))
	require.NoError(t, inner.End(ctx), "ending twice is harmless")
	var released *fusion.ReleasedError
	require.ErrorAs(t, s.Record(ir.Operation{Kind: ir.Exp}, y).Err(), &released)
	require.Equal(t, "the end of its scope", released.By)
	require.Contains(t, released.At, "lifetime_test.go:")
	require.NoError(t, z.Err(), "kept into the scope around it")
	require.Equal(t, fusion.Pending, z.State(), "an inner scope only marks deaths")
	require.ErrorAs(t, outer.End(ctx), &released, "the error inside")
	require.ErrorAs(t, z.Err(), &released)
	require.ErrorAs(t, x.Read(ctx, make([]byte, 8)), &released)
}

// TestScopeEndsThoseInside: a scope ends the ones that are still open in it.
func TestScopeEndsThoseInside(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	outer := s.Begin()
	inner := s.Begin()
	x := fromOnes(s, 2)
	inner.Keep(x)
	require.NoError(t, outer.End(context.Background()))
	require.Error(t, x.Err(), "kept by the inner scope alone")
	require.NoError(t, inner.End(context.Background()))
	require.Zero(t, rt.Stats().Memory.Allocations)
	y := fromOnes(s, 2)
	require.NoError(t, y.Err())
}

// TestScopeFreesAtOnce: memory of what dies returns without the collector.
func TestScopeFreesAtOnce(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	for range 3 {
		sc := s.Begin()
		x := fromOnes(s, 8, 8)
		y := s.Record(ir.Operation{Kind: ir.MatMul}, x, x)
		z := s.Record(ir.Operation{Kind: ir.Sum, Attrs: ir.Attrs{Axes: []int{1}}}, s.Record(ir.Operation{Kind: ir.Exp}, y))
		s.Record(ir.Operation{Kind: ir.Add}, y, z)
		read(t, z)
		s.Record(ir.Operation{Kind: ir.Neg}, z)
		require.NoError(t, sc.End(context.Background()))
		require.Zero(t, rt.Stats().Memory.Allocations)
	}
}

// TestErrorsOfScopes: a scope tells of the first error inside, not of one
// before it.
func TestErrorsOfScopes(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	ctx := context.Background()
	a, b := fromOnes(s, 2), fromOnes(s, 3)
	s.Record(ir.Operation{Kind: ir.Add}, a, b)
	var shape *ir.ShapeError
	sc := s.Begin()
	require.NoError(t, sc.End(ctx))
	sc = s.Begin()
	s.Record(ir.Operation{Kind: ir.Not}, a)
	s.Record(ir.Operation{Kind: ir.Mul}, a, b)
	var dtype *ir.DTypeError
	require.ErrorAs(t, sc.End(ctx), &dtype, "the first inside")
	require.ErrorAs(t, s.Flush(ctx), &shape, "the one before is not told yet")
	require.NoError(t, s.Flush(ctx), "all are told now")
}

// TestCollectorFreesForgotten: what the program forgot is freed when the
// collector comes by, without changing anything else.
func TestCollectorFreesForgotten(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	func() {
		x := fromOnes(s, 64)
		y := s.Record(scalarOp(ir.Mul, 2), x)
		s.Record(scalarOp(ir.Add, 2), y)
		w := s.NewVar(x)
		v := w.Value()
		s.Effect(w, ir.Operation{Kind: ir.SetSlice, Ranges: []ir.Range{{Len: 2, Step: 1}}}, fromOnes(s, 2))
		require.NoError(t, s.Flush(context.Background()))
		runtime.KeepAlive(v)
	}()
	settled(t, rt.Device(), 0)
}

func TestCloseInAnyOrder(t *testing.T) {
	ctx := context.Background()
	make3 := func() (*fusion.Runtime, *fusion.Stream, *fusion.Scope, *fusion.Value) {
		rt := open(t, fusion.Options{Fusers: fuser.Default()})
		s := newStream(t, rt)
		sc := s.Begin()
		v := s.Record(scalarOp(ir.Add, 1), fromOnes(s, 2)) // pending
		sc.Keep(v)
		return rt, s, sc, v
	}
	t.Run("scope, stream, runtime", func(t *testing.T) {
		rt, s, sc, v := make3()
		require.NoError(t, sc.End(ctx))
		require.NoError(t, s.Close())
		require.NoError(t, s.Close())
		require.Equal(t, []float32{0.75, 0.875}, read(t, v), "readable until the device closes")
		require.NoError(t, rt.Close())
		require.NoError(t, rt.Close())
		require.ErrorIs(t, v.Read(ctx, make([]byte, 8)), fusion.ErrClosed)
	})
	t.Run("runtime first", func(t *testing.T) {
		rt, s, sc, v := make3()
		require.NoError(t, rt.Close())
		require.NoError(t, sc.End(ctx))
		require.NoError(t, s.Close())
		require.NoError(t, rt.Close())
		require.ErrorIs(t, v.Read(ctx, make([]byte, 8)), fusion.ErrClosed)
		v.Release(0)
		require.ErrorIs(t, s.Record(ir.Operation{Kind: ir.Exp}, fromOnes(s, 2)).Err(), fusion.ErrClosed)
		require.ErrorIs(t, s.Flush(ctx), fusion.ErrClosed, "told of the error of recording")
		_, err := rt.NewStream()
		require.ErrorIs(t, err, fusion.ErrClosed)
	})
	t.Run("stream before scope", func(t *testing.T) {
		rt, s, sc, v := make3()
		require.NoError(t, s.Close())
		require.ErrorIs(t, s.Record(ir.Operation{Kind: ir.Exp}, v).Err(), fusion.ErrClosed)
		require.ErrorIs(t, sc.End(ctx), fusion.ErrClosed)
		require.Equal(t, []float32{0.75, 0.875}, read(t, v))
		require.NoError(t, rt.Close())
	})
	t.Run("pending work runs", func(t *testing.T) {
		rt := open(t, fusion.Options{})
		s := rt.Default()
		w := s.NewVar(fromOnes(s, 2))
		s.Effect(w, ir.Operation{Kind: ir.Set}, s.FromBytes(ir.F32, ir.Shape{2}, floats(5, 6), 0))
		s.Record(ir.Operation{Kind: ir.Add}, fromOnes(s, 2), fromOnes(s, 3))
		var shape *ir.ShapeError
		require.ErrorAs(t, rt.Close(), &shape, "Close tells of what nobody was told")
		require.Equal(t, int64(1), rt.Stats().Effects)
	})
	t.Run("while others use it", func(t *testing.T) {
		rt := open(t, fusion.Options{})
		together(4, func(i int) {
			if i == 0 {
				time.Sleep(time.Millisecond)
				_ = rt.Close()
				return
			}
			for range 200 {
				v := rt.Default().Record(scalarOp(ir.Add, 1), fromOnes(rt.Default(), 2))
				_, _ = elements(v) // an error or the value, never a panic
			}
		})
	})
}

// slow is a device whose launches wait for leave.
type slow struct {
	backend.Device
	launched chan struct{}
	leave    chan struct{}
}

func (d *slow) Launch(s backend.Stream, e codegen.Executable, l *codegen.Launch, mem []*backend.Buffer) error {
	d.launched <- struct{}{}
	<-d.leave
	return d.Device.Launch(s, e, l, mem)
}

// TestCancelledRead: launches not sent yet are skipped, on that stream only;
// Vars stay as they were.
func TestCancelledRead(t *testing.T) {
	for _, how := range []string{"read", "flush", "scope"} {
		t.Run(how, func(t *testing.T) {
			dev, err := backend.Open("cpu", backend.Options{Workers: 1, Poison: true})
			require.NoError(t, err)
			d := &slow{Device: dev, launched: make(chan struct{}, 8), leave: make(chan struct{}, 8)}
			rt, err := fusion.New(d, fusion.Options{Logger: silent})
			require.NoError(t, err)
			defer rt.Close()
			s, other := newStream(t, rt), newStream(t, rt)
			sc := s.Begin()
			x := fromOnes(s, 4)
			w := s.NewVar(x)
			sent := s.Record(scalarOp(ir.Add, 1), x)
			skipped := s.Record(scalarOp(ir.Mul, 2), sent)
			s.Effect(w, ir.Operation{Kind: ir.Set}, skipped)
			apart := s.Record(scalarOp(ir.Mul, 3), x)
			for _, v := range []*fusion.Value{x, sent, skipped, apart} {
				sc.Keep(v)
			}
			elsewhere := other.Record(scalarOp(ir.Mul, 4), fromOnes(other, 4))

			ctx, cancel := context.WithCancel(context.Background())
			result := make(chan error)
			go func() {
				switch how {
				case "read":
					result <- apart.Read(ctx, make([]byte, 16))
				case "flush":
					result <- s.Flush(ctx)
				case "scope":
					result <- sc.End(ctx)
				}
			}()
			<-d.launched
			cancel()
			d.leave <- struct{}{}
			require.ErrorIs(t, <-result, context.Canceled)
			for range 8 {
				d.leave <- struct{}{}
			}
			require.Equal(t, read(t, sent), []float32{0.75, 0.875, 1, 1.125}, "what was sent is there")
			require.ErrorIs(t, skipped.Err(), context.Canceled)
			require.ErrorIs(t, apart.Err(), context.Canceled)
			require.Equal(t, read(t, x), read(t, w.Value()), "the Var is as it was")
			require.NoError(t, elsewhere.Err())
			require.Equal(t, []float32{-1, -0.5, 0, 0.5}, read(t, elsewhere))
			_ = s.Flush(context.Background())
			require.Equal(t, []float32{0.25, 0.375, 0.5, 0.625}, read(t, s.Record(scalarOp(ir.Add, 0.5), x)), "the stream goes on")
		})
	}
}

// TestCancelledBefore: a context that has ended already sends nothing.
func TestCancelledBefore(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	x := fromOnes(s, 2)
	y := s.Record(scalarOp(ir.Add, 1), x)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, y.Read(ctx, make([]byte, 8)), context.Canceled)
	require.Equal(t, []float32{0.75, 0.875}, read(t, y), "a read that did not begin spoils nothing")
}

// TestFallbackIsExact: an index out of range in a fused block fails what needs
// it and nothing else.
func TestFallbackIsExact(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	x := s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0)
	w := s.NewVar(s.FromBytes(ir.F32, ir.Shape{2}, floats(5, 6), 0))
	idx := s.FromBytes(ir.I64, ir.Shape{2}, append(append([]byte{7}, make([]byte, 7)...), make([]byte, 8)...), 0)
	bad := s.Record(here(ir.Operation{Kind: ir.Select, Attrs: ir.Attrs{Axes: []int{0}}}), x, idx)
	both := s.Record(ir.Operation{Kind: ir.Add}, bad, x)
	good := s.Record(scalarOp(ir.Mul, 2), x)
	h := w.Value()
	s.Effect(w, ir.Operation{Kind: ir.Set}, both)
	var index *ir.IndexError
	err := s.Flush(context.Background())
	require.ErrorAs(t, err, &index)
	require.ErrorContains(t, err, "lifetime_test.go:")
	require.ErrorAs(t, both.Read(context.Background(), make([]byte, 8)), &index)
	require.Equal(t, []float32{2, 4}, read(t, good))
	require.Equal(t, []float32{5, 6}, read(t, h))
	require.Equal(t, []float32{5, 6}, read(t, w.Value()))
	require.Zero(t, rt.Stats().Fallbacks, "the program's fault, not the block's")
}

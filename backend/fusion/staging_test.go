package fusion_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/backendtest"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// openLate opens a device whose copies happen as late as they may.
func openLate(t *testing.T) (*fusion.Runtime, *backendtest.LateDevice) {
	t.Helper()
	dev, err := backend.Open("cpu", backend.Options{Workers: 1, Poison: true})
	require.NoError(t, err)
	late := backendtest.Late(dev)
	rt, err := fusion.New(late, fusion.Options{Fusers: fuser.Default(), Logger: silent})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, late.Fault())
		require.NoError(t, rt.Close())
	})
	return rt, late
}

func newStaging(t *testing.T, rt *fusion.Runtime, n int) *fusion.Staging {
	t.Helper()
	st, err := rt.NewStaging(n)
	require.NoError(t, err)
	return st
}

// set fills staging memory with floats, get reads them.
func set(t *testing.T, st *fusion.Staging, v ...float32) {
	t.Helper()
	require.NoError(t, st.Access(context.Background(), func(mem []byte) error { copy(mem, floats(v...)); return nil }))
}

func get(t *testing.T, st *fusion.Staging) (got []byte) {
	t.Helper()
	require.NoError(t, st.Access(context.Background(), func(mem []byte) error { got = append(got, mem...); return nil }))
	return got
}

// Who uses the memory next waits for the copies under way, and only then.
func TestStagingWaitsForCopies(t *testing.T) {
	rt, late := openLate(t)
	s, other := rt.Default(), newStream(t, rt)
	st := newStaging(t, rt, 8)
	up := func(s *fusion.Stream) *fusion.Value { return s.FromStaging(ir.F32, ir.Shape{2}, st, 0) }

	set(t, st, 1, 2)
	x := up(s)
	require.NoError(t, x.Err())
	require.Equal(t, 1, late.Under(1), "it goes on meanwhile")
	set(t, st, 3, 4) // after the copy
	require.Zero(t, late.Under(1))
	y := up(s)
	z := up(s)
	require.Equal(t, 2, late.Under(1), "copies from it do not wait for one another")
	sum := s.Record(ir.Operation{Kind: ir.Add}, x, y)

	// Down on another stream, over what is still on its way up.
	w := other.FromBytes(ir.F32, ir.Shape{2}, floats(5, 6), 0)
	require.NoError(t, st.Download(context.Background(), w))
	require.Zero(t, late.Under(1))
	require.Equal(t, 1, late.Under(2))
	require.Equal(t, floats(5, 6), get(t, st))
	require.Zero(t, late.Under(2))
	require.Equal(t, []float32{4, 6}, read(t, sum))
	require.Equal(t, []float32{3, 4}, read(t, z))

	// Up again from what is still on its way down.
	require.NoError(t, st.Download(context.Background(), x))
	v := up(other)
	require.Equal(t, []float32{1, 2}, read(t, v))

	// Closed while copies are under way.
	set(t, st, 7, 8)
	v = up(s)
	require.NoError(t, st.Close())
	next := newStaging(t, rt, 8)
	set(t, next, 9, 9)
	require.Equal(t, []float32{7, 8}, read(t, v))
}

// A stream that is closed has its copies waited for all the same.
func TestStagingOnAClosedStream(t *testing.T) {
	rt, late := openLate(t)
	st := newStaging(t, rt, 4)
	s := newStream(t, rt)
	x := s.FromBytes(ir.F32, ir.Shape{1}, floats(3), 0)
	require.NoError(t, st.Download(context.Background(), x))
	require.Equal(t, 1, late.Under(2))
	require.NoError(t, s.Close())
	require.Equal(t, floats(3), get(t, st))
	require.NoError(t, st.Download(context.Background(), x), "its tensors stay readable")
	require.Equal(t, floats(3), get(t, st))
}

func TestStagingIsLent(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	st := newStaging(t, rt, 4)
	x := s.FromBytes(ir.F32, ir.Shape{1}, floats(3), 0)
	ctx := context.Background()
	var bad *ir.ArgumentError
	require.PanicsWithValue(t, "mine", func() {
		_ = st.Access(ctx, func([]byte) error {
			require.ErrorAs(t, st.Access(ctx, func([]byte) error { return nil }), &bad)
			require.ErrorAs(t, st.Download(ctx, x), &bad)
			require.ErrorAs(t, s.FromStaging(ir.F32, ir.Shape{1}, st, 0).Err(), &bad)
			require.ErrorAs(t, st.Close(), &bad)
			panic("mine")
		})
	})
	require.NoError(t, st.Download(ctx, x), "free again after a panic")
	require.Equal(t, floats(3), get(t, st))
	own := context.Canceled
	require.ErrorIs(t, st.Access(ctx, func([]byte) error { return own }), own)
	require.NoError(t, st.Download(ctx, x))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, st.Access(gone, func([]byte) error { t.Error("run"); return nil }), context.Canceled)
	require.Equal(t, floats(3), get(t, st), "the wait was given up, not the copy")
	require.Equal(t, 4, st.Len())
	require.NoError(t, st.Close())
	require.NoError(t, st.Close())
	require.Zero(t, st.Len())
	require.Error(t, s.Flush(ctx), "the upload's error was told to nobody")
}

// Staging memory nobody has any more is free.
func TestDroppedStagingIsFreed(t *testing.T) {
	rt, dev := openFaulty(t, nil)
	for range 3 {
		func() {
			st := newStaging(t, rt, 1000)
			require.NoError(t, rt.Default().FromStaging(ir.U8, ir.Shape{1000}, st, 0).Err())
		}()
	}
	settled(t, dev, 0)
	require.NoError(t, rt.Default().Sync(context.Background()))
	require.NotZero(t, dev.MemoryReport().Of(backend.Staging).Largest)
}

// In a capture the elements are those of the moment they are recorded, whatever
// the memory holds at a replay; a download is a read.
func TestStagingInACapture(t *testing.T) {
	rt, _ := openLate(t)
	s := rt.Default()
	ctx := context.Background()
	st := newStaging(t, rt, 8)
	set(t, st, 1, 2)
	pass := func(w *fusion.Window, record bool) []*fusion.Value {
		require.NoError(t, w.Begin(record))
		x := s.FromStaging(ir.F32, ir.Shape{2}, st, 0)
		outs, err := w.End(ctx, []*fusion.Value{s.Record(scalarOp(ir.Mul, 10), x)})
		require.NoError(t, err)
		return outs
	}
	w, err := s.OpenWindow(ctx, fusion.WindowOptions{})
	require.NoError(t, err)
	for range 3 {
		pass(w, false)
	}
	r := w.Recording(pass(w, true))
	set(t, st, 3, 4)
	require.NoError(t, r.Replay())
	require.Equal(t, []float32{10, 20}, read(t, r.Out(0)))
	require.NoError(t, r.Close())

	// What is under way when a capture begins cannot be waited for inside.
	s.FromStaging(ir.F32, ir.Shape{2}, st, 0).Release(0)
	w, err = s.OpenWindow(ctx, fusion.WindowOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Begin(false))
	var bad *ir.ArgumentError
	require.ErrorAs(t, s.FromStaging(ir.F32, ir.Shape{2}, st, 0).Err(), &bad)
	w.Abandon()
	set(t, st, 5, 6)

	x := s.FromBytes(ir.F32, ir.Shape{2}, floats(7, 8), 0)
	w, err = s.OpenWindow(ctx, fusion.WindowOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Begin(false))
	require.NoError(t, st.Download(ctx, x), "a warm-up runs")
	_, err = w.End(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, floats(7, 8), get(t, st))
	require.NoError(t, w.Begin(true))
	var refused *backend.CaptureError
	require.ErrorAs(t, st.Download(ctx, x), &refused)
	w.Abandon()
	require.Equal(t, []float32{7, 8}, read(t, x))
}

// A value brought from another device is a copy; its error comes along.
func TestBring(t *testing.T) {
	a, b := open(t, fusion.Options{Fusers: fuser.Default()}), open(t, fusion.Options{})
	x := a.Default().FromBytes(ir.F32, ir.Shape{2, 3}, floats(1, 2, 3, 4, 5, 6), 0)
	y := a.Default().Record(ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: []int{1, 0}}}, x)
	z := b.Default().Bring(y, 0)
	require.NoError(t, a.Close())
	require.Equal(t, []float32{1, 4, 2, 5, 3, 6}, read(t, z))
	require.Equal(t, ir.Shape{3, 2}, z.Shape())
	require.Zero(t, b.Device().MemoryReport().Of(backend.Staging).Allocations)
	var closed *fusion.ClosedError
	require.ErrorAs(t, b.Default().Bring(x, 0).Err(), &closed)
	for b.Default().Flush(context.Background()) != nil {
	}
}

// TestStagingFaults makes each call of a device fail in turn while tensors go
// up, down and across.
func TestStagingFaults(t *testing.T) {
	for _, call := range []backend.Call{backend.CallAlloc, backend.CallAllocHost, backend.CallWrite, backend.CallRead, backend.CallCopy, backend.CallSync, backend.CallWait, backend.CallLaunch} {
		for k := 1; ; k++ {
			rt, dev := openFaulty(t, fuser.Default())
			src := open(t, fusion.Options{})
			dev.FailAt(call, k)
			err := stage(rt, src)
			if dev.Calls(call) < k {
				require.NoError(t, err)
				break
			}
			require.Error(t, err, "%s %d", call, k)
			require.True(t, injected(err), "%s %d: %v", call, k, err)
			for rt.Flush(context.Background()) != nil {
			}
			settled(t, dev, 0, call, k)
			require.NoError(t, stage(rt, src), "after %s %d", call, k)
			settled(t, dev, 0, call, k)
		}
	}
}

// stage moves tensors every way there is, on two streams.
func stage(rt, src *fusion.Runtime) error {
	ctx := context.Background()
	var staged *fusion.Staging
	err := rt.PersistentAllocations(func() (err error) {
		staged, err = rt.NewStaging(8)
		return err
	})
	if err != nil {
		return err
	}
	defer staged.Close()
	other, err := rt.NewStream()
	if err != nil {
		return err
	}
	defer other.Close()
	if err := staged.Access(ctx, func(mem []byte) error { copy(mem, floats(1, 2)); return nil }); err != nil {
		return err
	}
	var x, y, z, w *fusion.Value
	defer func() {
		for _, v := range []*fusion.Value{x, y, z, w} {
			if v != nil {
				v.Release(0)
			}
		}
	}()
	x = rt.Default().FromStaging(ir.F32, ir.Shape{2}, staged, 0)
	y = rt.Default().Bring(src.Default().FromBytes(ir.F32, ir.Shape{2}, floats(10, 20), 0), 0)
	z = rt.Default().Record(ir.Operation{Kind: ir.Add}, x, y)
	w = other.FromStaging(ir.F32, ir.Shape{2}, staged, 0)
	if err := w.Err(); err != nil {
		return err
	}
	if err := staged.Download(ctx, z); err != nil {
		return err
	}
	b := make([]byte, 8)
	if err := w.Read(ctx, b); err != nil {
		return err
	}
	return staged.Access(ctx, func(mem []byte) error {
		if string(mem) != string(floats(11, 22)) || string(b) != string(floats(1, 2)) {
			return context.DeadlineExceeded // not one that is injected
		}
		return nil
	})
}

package fusion_test

import (
	"context"
	"encoding/binary"
	"math"
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

// careless is a device with a fault: it frees a buffer while the runtime still
// uses it, and gives the memory to the next who asks for as much.
type careless struct {
	backend.Device
	made  []*backend.Buffer
	early map[*backend.Buffer]*backend.Buffer // what uses of a buffer get instead
}

func (d *careless) Alloc(s backend.Stream, n int) (*backend.Buffer, error) {
	b, err := d.Device.Alloc(s, n)
	d.made = append(d.made, b)
	return b, err
}

func (d *careless) freeEarly(s backend.Stream, b *backend.Buffer) error {
	d.Device.Free(s, b)
	again, err := d.Device.Alloc(s, b.Bytes)
	d.early[b] = again
	return err
}

func (d *careless) now(b *backend.Buffer) *backend.Buffer {
	if again := d.early[b]; again != nil {
		return again
	}
	return b
}

func (d *careless) Free(s backend.Stream, b *backend.Buffer) { d.Device.Free(s, d.now(b)) }

func (d *careless) Read(ctx context.Context, s backend.Stream, dst []byte, src *backend.Buffer, offset int) error {
	return d.Device.Read(ctx, s, dst, d.now(src), offset)
}

func (d *careless) Launch(s backend.Stream, e codegen.Executable, l *codegen.Launch, mem []*backend.Buffer) error {
	real := make([]*backend.Buffer, len(mem))
	for i, b := range mem {
		real[i] = d.now(b)
	}
	return d.Device.Launch(s, e, l, real)
}

// Poison makes a use after free show: what is read and what is computed of it
// are NaN. Without, the old numbers still look right.
func TestPoisonShowsUseAfterFree(t *testing.T) {
	for _, poison := range []bool{true, false} {
		for _, fusers := range [][]fuser.Factory{nil, fuser.Default()} {
			dev, err := backend.Open("cpu", backend.Options{Workers: 1, Poison: poison})
			require.NoError(t, err)
			d := &careless{Device: dev, early: map[*backend.Buffer]*backend.Buffer{}}
			rt, err := fusion.New(d, fusion.Options{Fusers: fusers, Logger: silent})
			require.NoError(t, err)
			s := rt.Default()
			x := s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0)
			i := s.FromBytes(ir.I64, ir.Shape{1}, binary.LittleEndian.AppendUint64(nil, 5), 0)
			require.Equal(t, []float32{1, 2}, read(t, x))
			for _, b := range d.made {
				require.NoError(t, d.freeEarly(1, b))
			}
			y := read(t, s.Record(scalarOp(ir.Mul, 2), x))
			n, err := elements(i)
			require.NoError(t, err)
			if poison {
				require.True(t, math.IsNaN(float64(read(t, x)[0])))
				require.True(t, math.IsNaN(float64(y[0])) && math.IsNaN(float64(y[1])), "%v", y)
				require.Equal(t, int64(-1), int64(binary.LittleEndian.Uint64(n)))
			} else {
				require.Equal(t, []float32{2, 4}, y)
			}
			require.NoError(t, rt.Close())
		}
	}
}

// TestPersistentFaults makes each allocation of a program that allocates
// persistently fail in turn.
func TestPersistentFaults(t *testing.T) {
	for k := 1; ; k++ {
		rt, dev := openFaulty(t, fuser.Default())
		dev.FailAt(backend.CallAlloc, k)
		_, err := load(rt)
		if dev.Calls(backend.CallAlloc) < k {
			require.NoError(t, err)
			break
		}
		require.True(t, injected(err), "%d: %v", k, err)
		settled(t, dev, 0, k)
		v, err := load(rt)
		require.NoError(t, err)
		r, err := rt.MemoryReport(context.Background())
		require.NoError(t, err)
		require.Equal(t, int64(12), r.Of(backend.Persistent).InUse)
		require.Zero(t, r.Of(backend.General).Allocations)
		runtime.KeepAlive(v)
	}
}

// load makes a Var persistently.
func load(rt *fusion.Runtime) (v *fusion.Var, err error) {
	err = rt.PersistentAllocations(func() error {
		x := rt.Default().FromBytes(ir.F32, ir.Shape{3}, floats(1, 2, 3), 0)
		y := rt.Default().Record(scalarOp(ir.Add, 1), x)
		v = rt.Default().NewVar(y)
		x.Release(0)
		y.Release(0)
		return nil
	})
	return v, err
}

// A report waits for a drain on another goroutine.
func TestReportWaitsForADrain(t *testing.T) {
	dev, err := backend.Open("cpu", backend.Options{Workers: 1})
	require.NoError(t, err)
	d := &slow{Device: dev, launched: make(chan struct{}, 8), leave: make(chan struct{}, 8)}
	rt, err := fusion.New(d, fusion.Options{Logger: silent})
	require.NoError(t, err)
	defer rt.Close()
	x := rt.Default().Record(scalarOp(ir.Add, 1), fromOnes(rt.Default(), 4))
	done := make(chan backend.MemoryUsage)
	go func() {
		u, _ := rt.MemoryUsage(context.Background())
		done <- u
	}()
	<-d.launched
	select {
	case <-done:
		t.Error("the launch has not ended")
	case <-time.After(time.Millisecond):
	}
	d.leave <- struct{}{}
	require.Equal(t, int64(32), (<-done).InUse)
	require.Equal(t, []float32{0.75, 0.875, 1, 1.125}, read(t, x))
}

// capturePass records v += x in a window whose warm-ups leave v as they made it.
func capturePass(t *testing.T, s *fusion.Stream, v *fusion.Var, x *fusion.Value) *fusion.Recording {
	t.Helper()
	ctx := context.Background()
	w, err := s.OpenWindow(ctx, fusion.WindowOptions{KeepVars: true})
	require.NoError(t, err)
	var outs []*fusion.Value
	for i := range 4 {
		require.NoError(t, w.Begin(i == 3))
		sum := s.Record(ir.Operation{Kind: ir.Add}, v.Value(), x)
		s.Effect(v, ir.Operation{Kind: ir.Set}, sum)
		outs, err = w.End(ctx, []*fusion.Value{sum})
		require.NoError(t, err)
	}
	return w.Recording(outs)
}

// A Var may lie in the memory of a graph that is gone: it goes when the Var
// does.
func TestGraphMemoryOutlivesTheGraph(t *testing.T) {
	for _, fusers := range [][]fuser.Factory{nil, fuser.Default()} {
		rt, dev := openFaulty(t, fusers)
		s := rt.Default()
		x := fromOnes(s, 1000)
		func() {
			v := s.NewVar(x)
			r := capturePass(t, s, v, x)
			want := read(t, v.Value())
			require.NoError(t, r.Close())
			require.Equal(t, want, read(t, v.Value()))
			require.Positive(t, dev.MemoryReport().Of(backend.FirstPool).InUse, "the Var's")
		}()
		x.Release(0)
		settled(t, dev, 0)
		_, err := rt.Trim(context.Background())
		require.NoError(t, err)
		require.Zero(t, dev.Memory().Reserved, "%v", dev.MemoryReport())
	}
}

// Captures keep to their pools when all else is persistent, and a report or a
// Trim leaves them alone.
func TestMemoryDuringACapture(t *testing.T) {
	dev, err := backend.Open("cpu", backend.Options{Workers: 1, Poison: true})
	require.NoError(t, err)
	rt, err := fusion.New(dev, fusion.Options{Fusers: fuser.Default(), Logger: silent, Persistent: true})
	require.NoError(t, err)
	defer rt.Close()
	ctx := context.Background()
	s, other := rt.Default(), newStream(t, rt)
	x := fromOnes(s, 1000)
	v := s.NewVar(x)
	r := capturePass(t, s, v, x)
	require.NoError(t, r.Replay())
	report, err := rt.MemoryReport(ctx)
	require.NoError(t, err)
	require.Zero(t, report.Of(backend.General).Pages)
	require.Positive(t, report.Of(backend.FirstPool).InUse)
	require.Positive(t, report.Of(backend.Persistent).InUse)

	w, err := s.OpenWindow(ctx, fusion.WindowOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Begin(false))
	y := s.Record(scalarOp(ir.Add, 1), x)
	z := other.Record(scalarOp(ir.Add, 1), fromOnes(other, 10))
	report, err = rt.MemoryReport(ctx)
	require.NoError(t, err)
	require.Equal(t, fusion.Pending, y.State(), "a pass is not cut")
	require.Equal(t, fusion.Stored, z.State())
	require.NotZero(t, report.Usage.InUse)
	var refused *backend.CaptureError
	_, err = rt.Trim(ctx)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, backend.CaptureTrim, refused.Reason)
	w.Abandon()
	_, err = rt.Trim(ctx)
	require.NoError(t, err)
	require.NoError(t, r.Replay())
}

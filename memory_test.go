package sinter_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// report returns the memory of a device, pool by pool.
func report(t testing.TB, dev *sinter.Device) sinter.MemoryReport {
	t.Helper()
	r, err := dev.MemoryReport(ctx)
	require.NoError(t, err)
	u, err := dev.MemoryUsage(ctx)
	require.NoError(t, err)
	require.Equal(t, r.Usage, u)
	return r
}

// What is asked of memory runs the queue first: the memory of what is pending
// counts, that of what died meanwhile does not.
func TestMemoryReportDrainsFirst(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.From(dev, make([]float32, 1000), 1000)
		before := report(t, dev).Usage
		require.Equal(t, int64(4000), before.InUse)
		require.Equal(t, 1, before.Allocations)
		y := x.AddScalar(1)
		s := dev.NewStream()
		z := x.On(s).MulScalar(2)
		require.Equal(t, before.InUse, dev.Stats().Memory.InUse, "both are pending")
		r := report(t, dev)
		require.Equal(t, int64(3*4000), r.Usage.InUse)
		require.Equal(t, int64(4000), r.Of(sinter.GeneralPool).Largest)
		require.Contains(t, r.String(), "general")
		require.Contains(t, r.Usage.String(), "3 buffers, 11.7 KiB in use")
		x.Release()
		y.Release()
		require.Equal(t, int64(4000), report(t, dev).Usage.InUse)

		bad := x.Exp()
		report(t, dev)
		require.Error(t, dev.Flush(ctx), "the report left the error to be told")
		require.Error(t, bad.Err())

		gone, cancel := context.WithCancel(ctx)
		cancel()
		w := z.Exp()
		_, err := dev.MemoryUsage(gone)
		require.ErrorIs(t, err, context.Canceled)
		_, err = dev.Trim(gone)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, w.Err(), "what was queued is queued still")
		require.Equal(t, float32(1), read[float32](t, w)[0])

		require.NoError(t, dev.Close())
		var closed *sinter.ClosedError
		_, err = dev.MemoryReport(ctx)
		require.ErrorAs(t, err, &closed)
	}
}

func TestTrim(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.From(dev, make([]float32, 1<<20), 1<<20)
		y := x.Exp()
		read[float32](t, y)
		y.Release()
		held := dev.Stats().Memory.Reserved
		given, err := dev.Trim(ctx)
		require.NoError(t, err)
		require.GreaterOrEqual(t, given, int64(4<<20))
		require.Equal(t, held-given, dev.Stats().Memory.Reserved)
		func() { sinter.From(dev, make([]float32, 1<<20), 1<<20) }()
		given, err = dev.Trim(ctx)
		require.NoError(t, err)
		require.GreaterOrEqual(t, given, int64(4<<20), "what was merely dropped is found")
		require.Equal(t, make([]float32, 1<<20), read[float32](t, x))
	}
}

// A stream that ends leaves its memory to those that come.
func TestClosedStreamsLeaveTheirMemory(t *testing.T) {
	for _, dev := range both(t) {
		run := func() {
			require.NoError(t, dev.Scope(func(sc *sinter.Scope) error {
				x := sinter.From(sc, make([]float32, 100_000), 100_000)
				_, err := sinter.Read[float32](ctx, x.Exp().Sum())
				return err
			}))
		}
		run()
		reserves := dev.Stats().Device.Reserves
		for range 20 {
			run()
		}
		s, other := dev.NewStream(), dev.NewStream()
		x := sinter.From(s, make([]float32, 100_000), 100_000)
		require.NoError(t, s.Close())
		x.Release() // after its stream
		y := sinter.From(other, make([]float32, 100_000), 100_000)
		require.Equal(t, reserves, dev.Stats().Device.Reserves)
		y.Release()
		_, err := dev.Trim(ctx)
		require.NoError(t, err)
		require.Zero(t, dev.Stats().Memory.Reserved)
	}
}

func TestOutOfMemory(t *testing.T) {
	for _, fuse := range []bool{true, false} {
		dev := open(t, sinter.WithFusion(fuse), sinter.WithMemoryLimit(10<<20))
		x := sinter.From(dev, make([]float32, 1<<20), 1<<20)
		y := x.Expand(3, 1<<20).Exp()
		_, err := sinter.Read[float32](ctx, y)
		var memory *sinter.OutOfMemoryError
		require.ErrorAs(t, err, &memory)
		require.ErrorContains(t, err, here(-4)+": Exp(")
		require.Equal(t, 12<<20, memory.Bytes)
		require.Equal(t, int64(10<<20), memory.Limit)
		require.Equal(t, int64(4<<20), memory.Report.Usage.InUse)
		require.Equal(t, int64(4<<20), memory.Report.Of(sinter.GeneralPool).InUse)
		require.ErrorContains(t, err, "12582912 bytes wanted, 4194304 in use by 1 buffers")
		// Pooled memory of other sizes and dropped tensors make room.
		for range 6 {
			require.Len(t, read[float32](t, x.Slice(sinter.Span(0, 700_000)).Exp()), 700_000)
			require.Len(t, read[float32](t, x.Slice(sinter.Span(0, 900_000)).Exp()), 900_000)
		}
		require.Equal(t, float32(1<<20), read[float32](t, x.Exp().Sum())[0])
	}
}

// What only the queue holds is freed, by running it, before memory runs out.
func TestQueueRunsBeforeMemoryRunsOut(t *testing.T) {
	for _, fuse := range []bool{true, false} {
		dev := open(t, sinter.WithFusion(fuse), sinter.WithMemoryLimit(18<<20))
		var sums tensors
		data := make([]float32, 1<<20)
		for i := range 20 {
			data[i] = 1
			x := sinter.From(dev, data, 1<<20)
			require.NoError(t, x.Err(), "%d", i)
			sums = append(sums, x.Sum())
			x.Release()
		}
		for i, s := range sums {
			require.Equal(t, []float32{float32(i + 1)}, read[float32](t, s))
		}
		require.LessOrEqual(t, dev.Stats().Memory.Peak, int64(18<<20))
	}
}

// Weights loaded inside take exactly their bytes.
func TestPersistentAllocations(t *testing.T) {
	sizes := []int{1, 33, 1000, 5001, 70_001}
	for _, dev := range both(t) {
		var total int64
		load := func() (vars []*sinter.Var) {
			total = 0
			for _, n := range sizes {
				vars = append(vars, sinter.NewVar(sinter.From(dev, make([]float32, n), n)))
				total += int64(4 * n)
			}
			return vars
		}
		before := sinter.Full(dev, sinter.F32, 1, 777) // queued before: none of it
		var weights []*sinter.Var
		var made *tensor
		require.NoError(t, dev.PersistentAllocations(func() error {
			weights = load()
			made = sinter.Full(dev, sinter.F32, 2, 999)
			return nil
		}))
		r := report(t, dev)
		p := r.Of(sinter.PersistentPool)
		require.Equal(t, total+4*999, p.InUse, "and what was recorded inside")
		require.Equal(t, p.InUse, p.Reserved)
		require.Zero(t, p.Padding)
		require.Equal(t, len(sizes)+1, p.Allocations)
		require.Equal(t, int64(4*777), r.Of(sinter.GeneralPool).InUse)

		padded := load()
		r = report(t, dev)
		require.Equal(t, total+4*777, r.Of(sinter.GeneralPool).InUse)
		require.Positive(t, r.Of(sinter.GeneralPool).Padding, "outside they pad")
		require.Equal(t, p, r.Of(sinter.PersistentPool))
		for i, n := range sizes {
			require.Len(t, read[float32](t, weights[i].Value().Add(padded[i].Value())), n)
		}

		// Freed memory serves the same sizes again.
		again := func() (inside tensors) {
			require.NoError(t, dev.PersistentAllocations(func() error {
				for _, n := range sizes {
					inside = append(inside, sinter.From(dev, make([]float32, n), n))
				}
				return nil
			}))
			require.Equal(t, p.InUse+total, report(t, dev).Of(sinter.PersistentPool).InUse)
			return inside
		}
		for _, x := range again() {
			x.Release()
		}
		reserves := dev.Stats().Device.Reserves
		kept := again()
		require.Equal(t, reserves, dev.Stats().Device.Reserves)
		require.Equal(t, sizes[4], kept[4].Dim(0))
		require.Equal(t, []float32{2}, read[float32](t, made.Slice(sinter.Span(998, 999))))
		require.Equal(t, 777, before.Dim(0))
	}
}

func TestPersistentAllocationsErrors(t *testing.T) {
	for _, dev := range both(t) {
		own := errors.New("own")
		require.ErrorIs(t, dev.PersistentAllocations(func() error { return own }), own)
		isShape(t, dev.PersistentAllocations(func() error { sinter.Zeros(dev, sinter.F32, 3).Reshape(2); return nil }), "Reshape")
		require.NoError(t, dev.Flush(ctx), "told")
		require.PanicsWithValue(t, "mine", func() { _ = dev.PersistentAllocations(func() error { panic("mine") }) })
		x := sinter.From(dev, []float32{1}, 1)
		require.Equal(t, 1, report(t, dev).Of(sinter.GeneralPool).Allocations, "the mode ended")
		require.Equal(t, []float32{1}, read[float32](t, x))
	}
}

// As a standing mode, with streams of all kinds, and a loop that does not grow.
func TestWithPersistentAllocations(t *testing.T) {
	for _, fuse := range []bool{true, false} {
		dev := open(t, sinter.WithFusion(fuse), sinter.WithPersistentAllocations(true))
		init := sinter.Full(dev, sinter.F32, 1, 1001)
		w := sinter.NewVar(init)
		init.Release()
		step := func() {
			require.NoError(t, dev.Scope(func(sc *sinter.Scope) error {
				w.Set(w.Value().On(sc.Stream()).MulScalar(0.5).AddScalar(1))
				return nil
			}))
		}
		for range 4 {
			step()
		}
		reserves := dev.Stats().Device.Reserves
		for range 10 {
			step()
		}
		require.Equal(t, reserves, dev.Stats().Device.Reserves)
		r := report(t, dev)
		require.Zero(t, r.Of(sinter.GeneralPool).Pages)
		require.Zero(t, r.Usage.Padding)
		require.Equal(t, int64(4*1001), r.Usage.InUse)
	}
}

package sinter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// Opened twice, a name gives two devices: what one does the other does not see.
func TestTwoDevices(t *testing.T) {
	a, b := open(t), open(t)
	x := sinter.From(a, make([]float32, 1000), 1000)
	require.Equal(t, 1, a.Stats().Memory.Allocations)
	require.Zero(t, b.Stats().Memory.Allocations)
	require.Zero(t, b.Stats().Device)
	y := sinter.From(b, []float32{1, 2}, 2)
	v := sinter.NewVar(sinter.From(b, []float32{3, 4}, 2))
	s := b.NewStream()
	pending := y.On(s).AddScalar(1)
	require.NoError(t, a.Flush(ctx))
	require.NoError(t, a.Close())
	require.Equal(t, []float32{1, 2}, read[float32](t, y))
	require.Equal(t, []float32{2, 3}, read[float32](t, pending))
	v.Set(v.Value().Add(y))
	require.Equal(t, []float32{4, 6}, read[float32](t, v.Value()))
	_, err := b.Trim(ctx)
	require.NoError(t, err)
	require.NoError(t, b.Flush(ctx))
	_, err = sinter.Read[float32](ctx, x)
	var closed *sinter.ClosedError
	require.ErrorAs(t, err, &closed)
}

// An operation on tensors of two devices carries an error with the caller's
// line, and so does a Var given a value of another.
func TestOperandsOfTwoDevices(t *testing.T) {
	for _, a := range both(t) {
		b := open(t)
		x, y := sinter.Ones(a, sinter.F32, 2), sinter.Ones(b, sinter.F32, 2)
		stored := sinter.NewVar(sinter.From(b, []float32{1, 2}, 2))
		s := b.NewStream()
		line := here(1)
		for _, bad := range (tensors{x.Add(y), y.Add(x), x.Add(stored.Value()), stored.Value().Add(x), x.On(s).Exp(), sinter.Cat(0, y, x)}) {
			var oe *sinter.OpError
			require.ErrorAs(t, bad.Err(), &oe)
			var arg *sinter.ArgumentError
			require.ErrorAs(t, bad.Err(), &arg)
			require.ErrorContains(t, bad.Err(), "on another device")
			require.ErrorContains(t, bad.Err(), line+": ")
		}
		for a.Flush(ctx) != nil {
		}
		for b.Flush(ctx) != nil {
		}
		stored.Set(x)
		require.ErrorContains(t, b.Flush(ctx), here(-1)+": Set(")
		require.Equal(t, []float32{1, 2}, read[float32](t, stored.Value()), "the Var is as it was")
		require.NoError(t, s.Close())
		require.Equal(t, []float32{1, 1}, read[float32](t, x))
		require.Equal(t, []float32{1, 1}, read[float32](t, y))
	}
}

func TestToAnotherDevice(t *testing.T) {
	for _, a := range both(t) {
		b := open(t)
		x := sinter.Arange(a, sinter.F32, 1, 1, 6).Reshape(2, 3)
		before := b.Stats().Device
		y := x.T().To(b)
		after := b.Stats().Device
		require.Equal(t, before.Copies+1, after.Copies, "from staging memory, once")
		require.Equal(t, before.BytesCopied+24, after.BytesCopied)
		require.Zero(t, report(t, b).Of(sinter.StagingPool).Allocations)
		require.Equal(t, b.Stream().Runtime(), y.Stream().Runtime())
		require.NoError(t, a.Close())
		require.Equal(t, shape{3, 2}, y.Shape())
		require.Equal(t, []float32{2, 8, 4, 10, 6, 12}, read[float32](t, y.MulScalar(2)))
	}
	// Every dtype, a Var's value, nothing, one, to a stream and to a scope.
	a, b := open(t), open(t)
	s := b.NewStream()
	require.Equal(t, []bool{true, false}, read[bool](t, sinter.From(a, []bool{true, false}, 2).To(s)))
	require.Equal(t, []sinter.Float8E5M2{7, 200}, read[sinter.Float8E5M2](t, sinter.From(a, []sinter.Float8E5M2{7, 200}, 2).To(b)))
	require.Equal(t, []uint64{1 << 63}, read[uint64](t, sinter.Scalar(a, uint64(1<<63)).To(b)))
	require.Equal(t, []int16{-5}, read[int16](t, sinter.NewVar(sinter.From(a, []int16{-5}, 1)).Value().To(b)))
	empty := sinter.From(a, []float64{}, 3, 0).To(b)
	require.Equal(t, shape{3, 0}, empty.Shape())
	require.Empty(t, read[float64](t, empty))
	var in *tensor
	require.NoError(t, b.Scope(func(sc *sinter.Scope) error {
		in = sinter.From(a, []float32{1}, 1).To(sc)
		return in.Err()
	}))
	var dead *sinter.ReleasedError
	require.ErrorAs(t, in.Err(), &dead, "it ended with the scope")
}

func TestToAnotherStream(t *testing.T) {
	for _, dev := range both(t) {
		s := dev.NewStream()
		x := sinter.From(dev, []float32{1, 2}, 2).AddScalar(1)
		require.Same(t, sinter.ValueOf(x), sinter.ValueOf(x.To(dev)), "it is there")
		require.Same(t, sinter.ValueOf(x), sinter.ValueOf(x.On(s).To(dev)))
		y := x.To(s)
		require.Equal(t, s.Runtime(), y.Stream().Runtime())
		require.Equal(t, dev.Stream().Runtime(), x.Stream().Runtime())
		before := dev.Stats()
		require.Equal(t, []float32{2, 3}, read[float32](t, y))
		require.Equal(t, before.Memory.InUse, dev.Stats().Memory.InUse, "the memory is shared")
		require.Equal(t, before.Device.Launches, dev.Stats().Device.Launches)
		require.Equal(t, []float32{4, 6}, read[float32](t, y.Add(x)))
		v := sinter.NewVar(x)
		z := v.Value().To(s)
		require.Equal(t, s.Runtime(), z.Stream().Runtime())
		v.Set(sinter.From(dev, []float32{0, 0}, 2))
		require.Equal(t, []float32{2, 3}, read[float32](t, z), "the value at that point")
		require.NoError(t, s.Close())
		var closed *sinter.ClosedError
		require.ErrorAs(t, x.To(s).Err(), &closed)
	}
}

func TestToErrors(t *testing.T) {
	a, b := open(t), open(t)
	x := sinter.From(a, []float32{1, 2, 3}, 3)
	bad := x.Reshape(2).To(b)
	isShape(t, bad.Err(), "Reshape")
	require.ErrorContains(t, bad.Err(), here(-2)+": ", "the first cause")
	isShape(t, b.Flush(ctx), "Reshape")
	require.NoError(t, a.Flush(ctx), "it went along")
	late := x.Select(0, sinter.From(a, []int64{7}, 1)).To(b)
	isIndex(t, late.Err(), "Select")
	x.Release()
	gone := x.To(b)
	released(t, gone.Err(), here(-1)+": To([3])", here(-2))
	var arg *sinter.ArgumentError
	require.ErrorAs(t, sinter.Ones(a, sinter.F32).To(nil).Err(), &arg)
	require.ErrorAs(t, (*tensor)(nil).To(b).Err(), &arg)
	require.ErrorContains(t, (*tensor)(nil).To(b).Err(), here(0)+": To(")
	require.ErrorAs(t, sinter.Ones(nil, sinter.F32).To(b).Err(), &arg)
	y := sinter.Ones(a, sinter.F32, 2)
	for b.Flush(ctx) != nil {
	}
	require.NoError(t, b.Close())
	var closed *sinter.ClosedError
	require.ErrorAs(t, y.To(b).Err(), &closed)
	require.ErrorContains(t, y.To(b).Err(), here(0)+": To([2])")

	small := open(t, sinter.WithMemoryLimit(1<<20))
	var memory *sinter.OutOfMemoryError
	big := sinter.Ones(a, sinter.F32, 1<<20)
	require.ErrorAs(t, big.To(small).Err(), &memory)
	require.ErrorContains(t, big.To(small).Err(), here(0)+": To(")
	require.Equal(t, []float32{1, 1}, read[float32](t, y.To(small)), "and it works on")
}

// Each device has its own random numbers: same seed, same numbers, whatever
// other devices draw meanwhile.
func TestSeedsOfDevices(t *testing.T) {
	draw := func(d *sinter.Device) []float32 { return read[float32](t, sinter.Normal(d, sinter.F32, 0, 1, 8)) }
	for _, fuse := range []bool{true, false} {
		a, b := open(t, sinter.WithSeed(5), sinter.WithFusion(fuse)), open(t, sinter.WithSeed(5))
		other := open(t, sinter.WithSeed(6))
		first := draw(a)
		require.NotEqual(t, first, draw(other))
		second := draw(a)
		require.NotEqual(t, first, second)
		require.Equal(t, first, draw(b))
		require.Equal(t, second, draw(b))
		a.Seed(5)
		require.Equal(t, first, draw(a))
		require.NotEqual(t, second, draw(b), "b goes on")
		b.Seed(6)
		other.Seed(6)
		require.Equal(t, draw(b), draw(other))
		require.Equal(t, second, draw(a))
	}
}

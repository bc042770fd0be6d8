package sinter_test

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

func staging[T sinter.Elem](t testing.TB, d *sinter.Device, v ...T) *sinter.Staging[T] {
	t.Helper()
	st, err := sinter.NewStaging[T](d, len(v))
	require.NoError(t, err)
	require.Equal(t, len(v), st.Len())
	fill(t, st, v...)
	return st
}

func fill[T sinter.Elem](t testing.TB, st *sinter.Staging[T], v ...T) {
	t.Helper()
	require.NoError(t, st.Access(ctx, func(data []T) error { copy(data, v); return nil }))
}

func held[T sinter.Elem](t testing.TB, st *sinter.Staging[T]) (got []T) {
	t.Helper()
	require.NoError(t, st.Access(ctx, func(data []T) error { got = slices.Clone(data); return nil }))
	return got
}

// roundTrip moves elements up and down.
func roundTrip[T sinter.Elem](t *testing.T, dev *sinter.Device, v ...T) {
	t.Helper()
	fresh, err := sinter.NewStaging[T](dev, len(v))
	require.NoError(t, err)
	require.Equal(t, make([]T, len(v)), held(t, fresh), "fresh memory is zero")
	st := staging(t, dev, v...)
	x := st.Upload(dev, len(v))
	require.Equal(t, sinter.DTypeOf[T](), x.DType())
	require.Equal(t, v, read[T](t, x))
	fill(t, st, make([]T, len(v))...)
	require.NoError(t, fresh.Download(ctx, x))
	require.Equal(t, v, held(t, fresh))
	require.Equal(t, v, read[T](t, x), "tensors never change")
	require.NoError(t, fresh.Close())
	require.NoError(t, st.Close())
}

func TestStagingOfEveryDType(t *testing.T) {
	for _, dev := range both(t) {
		roundTrip(t, dev, 1.5, math.Inf(-1), 0)
		roundTrip(t, dev, float32(1.5), math.MaxFloat32)
		roundTrip(t, dev, sinter.ToFloat16(1), sinter.ToFloat16(-2))
		roundTrip(t, dev, sinter.ToBFloat16(1), sinter.ToBFloat16(-2))
		roundTrip(t, dev, int64(math.MinInt64), 7)
		roundTrip(t, dev, int32(math.MinInt32), 7)
		roundTrip(t, dev, int16(-3), 7, 9)
		roundTrip(t, dev, int8(-3), 7, 9)
		roundTrip(t, dev, uint64(math.MaxUint64), 7)
		roundTrip(t, dev, uint32(math.MaxUint32), 7)
		roundTrip(t, dev, uint16(math.MaxUint16), 7)
		roundTrip(t, dev, uint8(255))
		roundTrip(t, dev, true, false, true)
		roundTrip(t, dev, sinter.Float8E4M3(3), 200)
		roundTrip(t, dev, sinter.Float8E5M2(3), 200)
		roundTrip(t, dev, []float32{}...)
		require.NoError(t, dev.Flush(ctx))
	}
}

// Used again and again, staging memory costs one copy each way and nothing on
// the heap.
func TestStagingIsUsedAgain(t *testing.T) {
	const n, rounds = 1 << 18, 20
	for _, dev := range both(t) {
		st := staging(t, dev, make([]float32, n)...)
		round := func() {
			require.NoError(t, dev.Stream().Scope(func(sc *sinter.Scope) error {
				if err := st.Access(ctx, func(data []float32) error { data[n-1]++; return nil }); err != nil {
					return err
				}
				return st.Download(ctx, st.Upload(sc, 512, 512).AddScalar(1))
			}))
		}
		for range 4 {
			round()
		}
		before := dev.Stats().Device
		var from, to runtime.MemStats
		runtime.ReadMemStats(&from)
		for range rounds {
			round()
		}
		runtime.ReadMemStats(&to)
		after := dev.Stats().Device
		require.Equal(t, int64(2*rounds), after.Copies-before.Copies)
		require.Equal(t, int64(2*rounds*4*n), after.BytesCopied-before.BytesCopied)
		require.Equal(t, before.Reserves, after.Reserves)
		require.Less(t, to.TotalAlloc-from.TotalAlloc, uint64(rounds*4*n/4), "%d bytes up and as many down", rounds*4*n)
		require.Equal(t, float32(2*(rounds+4)), held(t, st)[n-1])
		r := report(t, dev).Of(sinter.StagingPool)
		require.Equal(t, int64(4*n), r.InUse)
		require.Equal(t, r.InUse, r.Reserved)
		require.NoError(t, st.Close())
		require.Zero(t, report(t, dev).Of(sinter.StagingPool).InUse)
	}
}

// A last batch may be shorter.
func TestStagingInParts(t *testing.T) {
	dev := open(t)
	st := staging(t, dev, int64(1), 2, 3, 4, 5, 6)
	require.Equal(t, []int64{1, 2, 3, 4}, read[int64](t, st.Upload(dev, 2, 2)))
	require.Equal(t, []int64{1}, read[int64](t, st.Upload(dev)))
	require.Empty(t, read[int64](t, st.Upload(dev, 0, 5)))
	w := sinter.NewVar(sinter.Zeros(dev, sinter.I64, 2))
	st.UploadTo(w)
	require.Equal(t, []int64{1, 2}, read[int64](t, w.Value()))
	require.NoError(t, st.Download(ctx, sinter.From(dev, []int64{9, 8}, 2)))
	require.Equal(t, []int64{9, 8, 3, 4, 5, 6}, held(t, st))
	x := sinter.Arange(dev, sinter.I64, 0, 1, 6).Reshape(2, 3).T()
	require.NoError(t, st.Download(ctx, x))
	require.Equal(t, []int64{0, 3, 1, 4, 2, 5}, held(t, st), "row-major, however it lies")
}

func TestStagingMisuse(t *testing.T) {
	dev, other := open(t), open(t)
	st := staging(t, dev, float32(1), 2)
	var arg *sinter.ArgumentError
	var shapes *sinter.ShapeError
	var dtypes *sinter.DTypeError

	for _, n := range []int{-1, math.MaxInt} {
		_, err := sinter.NewStaging[float64](dev, n)
		require.ErrorAs(t, err, &arg)
	}
	_, err := sinter.NewStaging[float64](nil, 1)
	require.ErrorAs(t, err, &arg)
	_, err = sinter.NewStaging[float64](open(t, sinter.WithMemoryLimit(1<<20)), 1<<20)
	var memory *sinter.OutOfMemoryError
	require.ErrorAs(t, err, &memory)

	isShape(t, st.Upload(dev, 3).Err(), "Upload")
	require.ErrorContains(t, st.Upload(dev, 3).Err(), here(0)+": Upload([3])")
	isShape(t, st.Upload(dev, -1).Err(), "Upload")
	require.ErrorAs(t, st.Upload(nil, 1).Err(), &arg)
	require.ErrorAs(t, st.Upload(other, 1).Err(), &arg)
	require.ErrorContains(t, st.Upload(other, 1).Err(), "another device")
	for dev.Flush(ctx) != nil || other.Flush(ctx) != nil {
	}

	st.UploadTo(sinter.NewVar(sinter.Zeros(dev, sinter.F32, 3)))
	require.ErrorAs(t, dev.Flush(ctx), &shapes)
	st.UploadTo(sinter.NewVar(sinter.Zeros(dev, sinter.BF16, 2)))
	require.ErrorAs(t, dev.Flush(ctx), &dtypes)
	st.UploadTo(nil)
	v := sinter.NewVar(sinter.Zeros(other, sinter.F32, 2))
	st.UploadTo(v)
	require.ErrorAs(t, other.Flush(ctx), &arg)
	require.Equal(t, []float32{0, 0}, read[float32](t, v.Value()))

	require.ErrorAs(t, st.Download(ctx, sinter.Ones(dev, sinter.F32, 3)), &shapes)
	require.ErrorContains(t, st.Download(ctx, sinter.Ones(dev, sinter.F32, 3)), here(0)+": Download([3])")
	require.ErrorAs(t, st.Download(ctx, sinter.Ones(dev, sinter.I64, 2)), &dtypes)
	require.ErrorAs(t, st.Download(ctx, sinter.Ones(other, sinter.F32, 2)), &arg)
	require.ErrorAs(t, st.Download(ctx, nil), &arg)
	isShape(t, st.Download(ctx, sinter.Ones(dev, sinter.F32, 2).Reshape(5)), "Reshape")
	require.Equal(t, []float32{1, 2}, held(t, st), "as it was")

	require.NoError(t, st.Access(ctx, func([]float32) error {
		require.ErrorAs(t, st.Upload(dev, 1).Err(), &arg)
		require.ErrorContains(t, st.Download(ctx, sinter.Ones(dev, sinter.F32, 1)), "in use by Access")
		require.ErrorAs(t, st.Close(), &arg)
		return nil
	}))
	require.NoError(t, st.Close())
	var closed *sinter.ClosedError
	require.ErrorAs(t, st.Upload(dev, 1).Err(), &closed)
	require.ErrorAs(t, st.Download(ctx, sinter.Ones(dev, sinter.F32, 1)), &closed)
	require.ErrorAs(t, st.Access(ctx, func([]float32) error { return nil }), &closed)

	st = staging(t, other, float32(1))
	require.NoError(t, other.Close())
	require.ErrorAs(t, st.Access(ctx, func([]float32) error { return nil }), &closed)
	require.ErrorAs(t, st.Upload(other, 1).Err(), &closed)
	require.NoError(t, st.Close())
	_, err = sinter.NewStaging[float32](other, 1)
	require.ErrorAs(t, err, &closed)
}

package sinter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	_ "github.com/sinter-ml/sinter/backend/null" // executes nothing: what is left is the cost of the library
)

// recorded is how many operations a benchmark records between two drains.
const recorded = 256

// benchRecord measures one call of f, which records one operation. What it
// records dies unread, so nothing is planned or run.
func benchRecord(b *testing.B, f func(x, y *tensor) *tensor) {
	dev, err := sinter.Open("null")
	require.NoError(b, err)
	defer dev.Close()
	x, y := sinter.Zeros(dev, sinter.F32, 8, 8), sinter.Zeros(dev, sinter.F32, 8, 8)
	require.NoError(b, dev.Flush(ctx))
	step := func(*sinter.Scope) error {
		for range recorded {
			f(x, y)
		}
		return nil
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := dev.Stream().Scope(step); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/recorded, "ns/record")
}

func BenchmarkAdd(b *testing.B) {
	benchRecord(b, func(x, y *tensor) *tensor { return x.Add(y) })
}

func BenchmarkAddScalar(b *testing.B) {
	benchRecord(b, func(x, _ *tensor) *tensor { return x.AddScalar(1) })
}

func BenchmarkSum(b *testing.B) {
	benchRecord(b, func(x, _ *tensor) *tensor { return x.Sum(1) })
}

func BenchmarkMatMul(b *testing.B) {
	benchRecord(b, func(x, y *tensor) *tensor { return x.MatMul(y) })
}

func BenchmarkReshape(b *testing.B) {
	benchRecord(b, func(x, _ *tensor) *tensor { return x.Reshape(4, -1) })
}

func BenchmarkSlice(b *testing.B) {
	benchRecord(b, func(x, _ *tensor) *tensor { return x.Slice(sinter.Span(1, 3)) })
}

// BenchmarkKnownSegment records and drains a segment whose plan is known: the
// whole cost of the library for each operation in the steady state.
func BenchmarkKnownSegment(b *testing.B) {
	dev, err := sinter.Open("null")
	require.NoError(b, err)
	defer dev.Close()
	v := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 8, 8))
	step := func(*sinter.Scope) error {
		x := v.Value()
		for range recorded / 4 {
			x = x.MulScalar(2).Add(x).Tanh().Sub(v.Value())
		}
		v.Set(x)
		return nil
	}
	for range 3 {
		require.NoError(b, dev.Stream().Scope(step))
	}
	before := dev.Stats().Explorations
	b.ReportAllocs()
	for b.Loop() {
		if err := dev.Stream().Scope(step); err != nil {
			b.Fatal(err)
		}
	}
	require.Equal(b, before, dev.Stats().Explorations)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/recorded, "ns/operation")
}

// What one recorded operation allocates does not grow unseen.
func TestRecordingAllocations(t *testing.T) {
	dev, err := sinter.Open("null")
	require.NoError(t, err)
	defer dev.Close()
	x, y := sinter.Zeros(dev, sinter.F32, 8, 8), sinter.Zeros(dev, sinter.F32, 8, 8)
	require.NoError(t, dev.Flush(ctx))
	for name, c := range map[string]struct {
		most float64
		f    func()
	}{
		"binary": {5, func() { x.Add(y) }},
		"scalar": {6, func() { x.AddScalar(1) }},
		"reduce": {7, func() { x.Sum(1) }},
	} {
		got := testing.AllocsPerRun(1, func() {
			require.NoError(t, dev.Stream().Scope(func(*sinter.Scope) error {
				for range recorded {
					c.f()
				}
				return nil
			}))
		})
		require.LessOrEqual(t, got/recorded, c.most, name)
	}
}

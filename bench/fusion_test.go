package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// BenchmarkPrograms/NAME/fused=BOOL measures a program with and without
// fusing.
func BenchmarkPrograms(b *testing.B) {
	for _, p := range programs {
		for _, fuse := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/fused=%v", p.name, fuse), func(b *testing.B) {
				r := newRunner(b, p, fuse)
				before := r.cost()
				b.ReportAllocs()
				for b.Loop() {
					r.run(b)
				}
				used := r.cost().sub(before)
				b.ReportMetric(float64(used.launches)/float64(b.N), "launches/op")
				b.ReportMetric(float64(used.bytes)/float64(b.N), "bytes/op")
			})
		}
	}
}

// BenchmarkSpeedup/NAME runs a program fused and unfused in turn, so that both
// meet the same machine, and reports how many times faster fused is.
func BenchmarkSpeedup(b *testing.B) {
	for _, p := range programs {
		b.Run(p.name, func(b *testing.B) {
			fused, unfused := newRunner(b, p, true), newRunner(b, p, false)
			var spent [2]time.Duration
			for b.Loop() {
				for i, r := range []*runner{fused, unfused} {
					start := time.Now()
					r.run(b)
					spent[i] += time.Since(start)
				}
			}
			b.ReportMetric(spent[1].Seconds()/spent[0].Seconds(), "unfused/fused")
		})
	}
}

// Eight element-wise operations become one launch that moves two arrays
// instead of sixteen.
func TestChain(t *testing.T) {
	const n = 1 << 20
	p := programs[0]
	p.shape = []int{n}
	for _, c := range []struct {
		fuse bool
		want cost
	}{
		{true, cost{1, 2 * 4 * n}},
		{false, cost{8, 16 * 4 * n}},
	} {
		r := newRunner(t, p, c.fuse)
		before := r.cost()
		r.run(t)
		require.Equal(t, c.want, r.cost().sub(before), "fused %v", c.fuse)
	}
}

// What fusing saves in the other programs, and that it never changes a bit.
func TestProgramsFuse(t *testing.T) {
	shapes := map[string][]int{"Softmax": {64, 256}, "LayerNorm": {64, 256}, "MLP": {8, 256}, "Encoder": {1, 16, 128}}
	most := map[string]int64{"Softmax": 1, "LayerNorm": 1, "MLP": 2, "Encoder": 11}
	for _, p := range programs[1:] {
		p.shape = shapes[p.name]
		var bits [2][]byte
		var costs [2]cost
		for i, fuse := range []bool{true, false} {
			r := newRunner(t, p, fuse)
			before := r.cost()
			r.run(t)
			costs[i] = r.cost().sub(before)
			var err error
			bits[i], err = sinter.ReadBytes(ctx, r.f(r.x))
			require.NoError(t, err)
		}
		t.Logf("%s: %d launches and %d bytes instead of %d and %d", p.name, costs[0].launches, costs[0].bytes, costs[1].launches, costs[1].bytes)
		require.Equal(t, bits[1], bits[0], p.name)
		require.LessOrEqual(t, costs[0].launches, most[p.name], p.name)
		require.Less(t, costs[0].bytes, costs[1].bytes, p.name)
	}
}

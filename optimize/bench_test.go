package optimize

import (
	"fmt"
	"testing"

	"github.com/sinter-ml/sinter/fuser"
)

// BenchmarkPlan explores layers of a transformer, as when a program runs for
// the first time.
func BenchmarkPlan(b *testing.B) {
	for _, layers := range []int{10, 20, 40, 80} {
		b.Run(fmt.Sprint(layers), func(b *testing.B) {
			seg := transformer(layers)
			p := New(fuser.Default(), cpuProfile, Options{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Plan(seg); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(seg.Ops)), "ns/operation")
		})
	}
}

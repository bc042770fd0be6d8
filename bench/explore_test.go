package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
)

// explore plans a model of encoder layers on a device that executes nothing,
// and returns how much work planning was: operations, offers to fusers, edges
// followed.
func explore(t testing.TB, layers int) (ops, offers, steps int) {
	dev := open(t, "null")
	const width = 64
	var model []func(x *tensor) *tensor
	for range layers {
		model = append(model, encoder(dev, width, 4))
	}
	x := sinter.Zeros(dev, sinter.F32, 2, 16, width)
	require.NoError(t, dev.Flush(ctx))
	dev.Runtime().Observe(func(r *fusion.Run) {
		ops += len(r.Segment.Ops)
		offers += r.Plan.Log.Offers
		steps += r.Plan.Log.Steps
	})
	before := dev.Stats()
	require.NoError(t, dev.Stream().Scope(func(sc *sinter.Scope) error {
		y := x
		for _, layer := range model {
			y = layer(y)
		}
		sc.Keep(y)
		return nil
	}))
	require.Equal(t, int64(1), dev.Stats().Explorations-before.Explorations)
	return ops, offers, steps
}

var depths = []int{10, 20, 40, 80}

// BenchmarkExplore/layers=N measures recording, planning and compiling a model
// seen for the first time.
func BenchmarkExplore(b *testing.B) {
	for _, layers := range depths {
		b.Run(fmt.Sprintf("layers=%d", layers), func(b *testing.B) {
			var ops, offers, steps int
			for b.Loop() {
				ops, offers, steps = explore(b, layers)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ops), "ns/operation")
			b.ReportMetric(float64(offers), "offers/op")
			b.ReportMetric(float64(steps), "steps/op")
		})
	}
}

// The work of planning grows with the depth of a model, not with its square.
func TestExploringGrowsLinearly(t *testing.T) {
	var perOp []float64
	for _, layers := range depths {
		ops, offers, steps := explore(t, layers)
		t.Logf("%d layers: %d operations, %d offers, %d steps", layers, ops, offers, steps)
		require.NotZero(t, offers)
		perOp = append(perOp, float64(offers+steps)/float64(ops))
	}
	require.LessOrEqual(t, perOp[len(perOp)-1], 1.25*perOp[0], "offers and steps for each operation, at %v layers: %v", depths, perOp)
}

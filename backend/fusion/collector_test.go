package fusion_test

import (
	"runtime/debug"
	"testing"

	"github.com/sinter-ml/sinter/internal/progen"
)

// TestRestlessCollector runs random programs in every way while the collector
// runs all the time. Freed memory is poisoned, so what is freed early is seen.
func TestRestlessCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	n := uint64(60)
	if testing.Short() {
		n = 6
	}
	for seed := range n {
		mustHold(t, progen.Generate(4000+seed, progen.Options{Ops: 20, MaxElements: 300}), seed, 0)
		effects := progen.Options{Ops: 20, MaxElements: 200, Weights: map[string]int{"effect": 10, "view": 6, "binary": 5, "unary": 3, "reduce": 1}}
		mustHold(t, progen.Generate(4500+seed, effects), seed, 0)
	}
}

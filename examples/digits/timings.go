package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/sinter-ml/sinter/examples/digits/internal/dataset"
)

// timings is how long a run takes, by batch and way.
type timings struct {
	ways    []string
	batches []int             // sizes
	took    [][]time.Duration // [batch][way], the best run
}

// measure times runs of a batch of n in every way, for about the given time
// each. The best run is what is least disturbed by the rest of the machine.
func (t *timings) measure(ctx context.Context, ways []*way, n int, limit time.Duration) error {
	logits, labels := make([]float32, n*dataset.Classes), make([]int64, n)
	var row []time.Duration
	t.ways = t.ways[:0]
	for _, way := range ways {
		var best time.Duration
		for start := time.Now(); best == 0 || time.Since(start) < limit; {
			began := time.Now()
			if err := way.run(ctx, logits, labels); err != nil {
				return err
			}
			if took := time.Since(began); best == 0 || took < best {
				best = max(took, 1)
			}
		}
		t.ways, row = append(t.ways, way.name), append(row, best)
	}
	t.batches, t.took = append(t.batches, n), append(t.took, row)
	return nil
}

// print prints microseconds and how many times faster than the first way.
func (t *timings) print(w io.Writer) {
	fmt.Fprintf(w, "\n%-12s", "batch")
	for _, name := range t.ways {
		fmt.Fprintf(w, "%19s", name)
	}
	fmt.Fprintln(w)
	for i, n := range t.batches {
		fmt.Fprintf(w, "%-12d", n)
		for _, took := range t.took[i] {
			fmt.Fprintf(w, "%10.1f µs %5.2f×", float64(took)/1000, float64(t.took[i][0])/float64(took))
		}
		fmt.Fprintln(w)
	}
}

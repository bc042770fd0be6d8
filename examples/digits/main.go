// Digits classifies handwritten digits with a small trained network, and shows
// what fusing and capturing do: the same numbers from fewer launches.
//
//	go run ./examples/digits
//
// The data and the weights are part of the program.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/examples/digits/internal/dataset"
)

func main() {
	if err := run(context.Background(), os.Stdout, 100*time.Millisecond); err != nil {
		fmt.Fprintln(os.Stderr, "digits:", err)
		os.Exit(1)
	}
}

// run classifies the digits that took no part in training, in every way, and
// prints how they did. It spends about measure on each timing.
func run(ctx context.Context, w io.Writer, measure time.Duration) (err error) {
	digits, err := dataset.Load()
	if err != nil {
		return err
	}
	_, heldOut := digits.Split()

	fused, err := sinter.Open("cpu")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fused.Close()) }()
	unfused, err := sinter.Open("cpu", sinter.WithFusion(false))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unfused.Close()) }()
	fusedNet, err := load(ctx, fused)
	if err != nil {
		return err
	}
	unfusedNet, err := load(ctx, unfused)
	if err != nil {
		return err
	}

	var table timings
	for _, pixels := range [][]float32{heldOut.X, heldOut.Image(0)} {
		replayed, err := captured(ctx, "replayed", fused, fusedNet, pixels)
		if err != nil {
			return err
		}
		ways := []*way{
			eager("unfused", unfused, unfusedNet, pixels),
			eager("fused", fused, fusedNet, pixels),
			replayed,
		}
		labels, err := compare(ctx, ways, len(pixels)/dataset.Pixels)
		if err != nil {
			return err
		}
		if len(table.batches) == 0 {
			printAccuracy(w, labels, heldOut.Y)
			if err := printLaunches(ctx, w, ways, len(labels)); err != nil {
				return err
			}
		}
		if err := table.measure(ctx, ways, len(labels), measure); err != nil {
			return err
		}
		for _, way := range ways {
			if err := way.close(); err != nil {
				return err
			}
		}
	}
	table.print(w)
	return nil
}

// compare runs a batch in every way and returns the labels. That the logits are
// not the same to the bit is an error.
func compare(ctx context.Context, ways []*way, n int) ([]int64, error) {
	var first []float32
	labels := make([]int64, n)
	for _, way := range ways {
		logits := make([]float32, n*dataset.Classes)
		if err := way.run(ctx, logits, labels); err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		if first == nil {
			first = logits
		}
		if !slices.EqualFunc(first, logits, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
			return nil, fmt.Errorf("%s gives other logits than %s", way.name, ways[0].name)
		}
	}
	return labels, nil
}

func printAccuracy(w io.Writer, labels, want []int64) {
	right := 0
	for i := range labels {
		if labels[i] == want[i] {
			right++
		}
	}
	fmt.Fprintf(w, "%d of %d held-out digits right: accuracy %.3f\n", right, len(want), float64(right)/float64(len(want)))
	fmt.Fprintln(w, "unfused, fused and replayed logits are the same bits")
}

// printLaunches runs a batch of n once more in every way and prints what was
// recorded and launched, and the kernels that the device planned.
func printLaunches(ctx context.Context, w io.Writer, ways []*way, n int) error {
	logits, labels := make([]float32, n*dataset.Classes), make([]int64, n)
	for _, way := range ways {
		var plan *fusion.Run
		way.dev.Runtime().Observe(func(r *fusion.Run) { plan = r })
		before := way.dev.Stats()
		err := way.run(ctx, logits, labels)
		after := way.dev.Stats()
		way.dev.Runtime().Observe(nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s: %d operations recorded, %d launches\n", way.name,
			after.Recorded-before.Recorded, after.Device.Launches-before.Device.Launches)
		if plan != nil {
			printPlan(w, plan)
		}
	}
	return nil
}

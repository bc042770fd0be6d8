package sinter_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// warnings opens a device that logs to the buffer.
func warnings(t *testing.T) (*sinter.Device, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	return open(t, sinter.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))), &log
}

// saidOnce checks that a text was logged exactly once, with the line of this
// file and the mend, and counted.
func saidOnce(t *testing.T, dev *sinter.Device, log *bytes.Buffer, what string, says ...string) {
	t.Helper()
	text := log.String()
	require.Equal(t, 1, strings.Count(text, what), text)
	require.Equal(t, int64(1), dev.Stats().ChurnReports, text)
	for _, s := range append(says, "churn_test.go:") {
		require.Contains(t, text, s)
	}
	require.NotContains(t, text, "ERROR")
}

// TestChurnOfATensor: one sequence is planned again and again because what is
// asked for changes; the tensor is named.
func TestChurnOfATensor(t *testing.T) {
	dev, log := warnings(t)
	for i := range 8 {
		x := sinter.From(dev, []float32{1, 2, 3, 4}, 4)
		a := x.AddScalar(1)
		b := a.MulScalar(2)
		c := b.Exp()
		if i&1 == 1 {
			a.Release()
		}
		if i&2 == 2 {
			b.Release()
		}
		read[float32](t, c)
	}
	saidOnce(t, dev, log, "plan 3 of one sequence", "now (result of 0:Add at ", "release it, or let its scope end, at the same place in every run")
}

// TestChurnOfAGuard: scalars that were equal when operations were shared are
// not any more; the guard and the operations are named.
func TestChurnOfAGuard(t *testing.T) {
	dev, log := warnings(t)
	for _, c := range [][3]float64{{1, 1, 1}, {1, 1, 2}, {1, 2, 2}, {2, 1, 2}, {1, 2, 3}, {3, 3, 3}} {
		x := sinter.From(dev, []float32{1, 2, 3, 4}, 4)
		var sum *tensor
		for k := range c {
			y := x.MulScalar(c[k]).Exp()
			if sum == nil {
				sum = y
			} else {
				sum = sum.Add(y)
			}
		}
		read[float32](t, sum)
	}
	saidOnce(t, dev, log, "plan 3 of one sequence", "guard scalar-equal failed (0:Mul, ", "hold them in rank-0 tensors")
}

// TestChurnOfALateValue: a value of one call site is fused away and asked for
// late each time anew, of another shape each time.
func TestChurnOfALateValue(t *testing.T) {
	dev, log := warnings(t)
	for i := range 4 {
		h := sinter.From(dev, make([]float32, 4), 4).AddScalar(1)
		for range i { // the structure differs: what was remembered does not help
			h = h.MulScalar(2)
		}
		late := h.Exp().Named("features")
		read[float32](t, late.AddScalar(1))
		read[float32](t, late)
	}
	saidOnce(t, dev, log, "computed again when asked for", `result of Exp features at `, "keep it with Scope.Keep, or read it first")
	require.Equal(t, int64(4), dev.Stats().Recomputed)

	// A loop within one queue is asked for late once each, and settles.
	dev, log = warnings(t)
	for range 3 {
		var all []*tensor
		for range 5 {
			y := sinter.From(dev, make([]float32, 4), 4).AddScalar(1)
			all = append(all, y, y.Exp())
		}
		require.NoError(t, dev.Flush(ctx))
		for _, y := range all {
			read[float32](t, y)
		}
	}
	require.Empty(t, log.String())
	require.Equal(t, int64(5), dev.Stats().Recomputed)
	require.Zero(t, dev.Stats().ChurnReports)
}

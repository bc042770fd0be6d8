package interp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/internal/race"
	"github.com/sinter-ml/sinter/ir"
)

// workers is a Parallel that really runs parts on several goroutines, as small
// as grain allows.
type workers int

func (p workers) Workers() int { return int(p) }

func (p workers) For(n, grain int, t codegen.Task) error {
	type part struct{ lo, hi int }
	parts := make(chan part, n/max(grain, 1)+1)
	for lo := 0; lo < n; lo += grain {
		parts <- part{lo, min(lo+grain, n)}
	}
	close(parts)
	done := make(chan struct{})
	for id := range int(p) {
		go func() {
			for q := range parts {
				t.Run(id, q.lo, q.hi)
			}
			done <- struct{}{}
		}()
	}
	for range int(p) {
		<-done
	}
	return nil
}

// compile returns the executable of a kernel.
func compile(t testing.TB, k *codegen.Kernel) codegen.HostExecutable {
	t.Helper()
	x, err := New().Compile(k)
	require.NoError(t, err)
	return x.(codegen.HostExecutable)
}

// requireSame compares all buffers; NaNs count as one value.
func requireSame(t testing.TB, k *codegen.Kernel, want, got [][]byte, what string) {
	t.Helper()
	if err := kerneltest.Compare(k, want, got, kerneltest.Tolerance{}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// check runs a launch on the engine, serially and on four workers, and
// compares all memory with the naive evaluator.
func check(t testing.TB, c kerneltest.Case) {
	t.Helper()
	x := compile(t, c.Kernel)
	want := kerneltest.CloneMemory(c.Mem)
	ok := kerneltest.Evaluate(c.Kernel, c.Launch, want)
	for _, par := range []codegen.Parallel{codegen.Serial{}, workers(4)} {
		got := kerneltest.CloneMemory(c.Mem)
		err := x.Run(c.Launch, got, par)
		if !ok {
			var ie *ir.IndexError
			require.ErrorAs(t, err, &ie)
			continue
		}
		require.NoError(t, err)
		requireSame(t, c.Kernel, want, got, x.Listing())
	}
}

// kernels returns how many cases a test runs; the race detector makes each
// several times as slow.
func kernels(short, full int) int {
	if race.Enabled {
		return max(1, short/4)
	}
	if testing.Short() {
		return short
	}
	return full
}

// sample returns the cases a test runs of a list of them.
func sample[T any](list []T) []T { return list[:kernels(len(list), len(list))] }

package interp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
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

func cloneMem(mem [][]byte) [][]byte {
	out := make([][]byte, len(mem))
	for i, m := range mem {
		out[i] = alloc(len(m))
		copy(out[i], m)
	}
	return out
}

// requireSame compares all buffers; NaNs count as one value.
func requireSame(t testing.TB, k *codegen.Kernel, want, got [][]byte, what string) {
	t.Helper()
	for b := range k.Buffers {
		dt := k.Buffers[b].DType
		for i := range len(want[b]) / dt.Size() {
			w, g := readElem(want[b], dt, i), readElem(got[b], dt, i)
			if w.f != w.f && g.f != g.f {
				continue
			}
			if math.Float64bits(w.f) != math.Float64bits(g.f) || w.i != g.i || w.b != g.b {
				t.Fatalf("%s: buffer %d (%v) element %d: want %v, got %v", what, b, dt, i, w, g)
			}
		}
	}
}

// check runs a launch on the engine, serially and on four workers, and
// compares all memory with the naive evaluator.
func check(t testing.TB, k *codegen.Kernel, l *codegen.Launch, mem [][]byte) {
	t.Helper()
	x := compile(t, k)
	want := cloneMem(mem)
	ok := naiveRun(k, l, want)
	for _, par := range []codegen.Parallel{codegen.Serial{}, workers(4)} {
		got := cloneMem(mem)
		err := x.Run(l, got, par)
		if !ok {
			var ie *ir.IndexError
			require.ErrorAs(t, err, &ie)
			continue
		}
		require.NoError(t, err)
		requireSame(t, k, want, got, x.Listing())
	}
}

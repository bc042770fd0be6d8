package graphapi_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/backendtest"
	"github.com/sinter-ml/sinter/graphapi"
)

// opened returns the device the driver "faulty" opened last.
var opened = backendtest.RegisterFaulty("faulty", "cpu")

// injected reports whether an error is of a type an injected fault gives.
func injected(err error) bool {
	var memory *sinter.OutOfMemoryError
	return errors.Is(err, backend.ErrInjected) || errors.As(err, &memory)
}

// TestEveryFault makes each call of the device during a capture and two replays
// fail in turn: the error is typed or the graph runs the function, what is read
// is right or carries the fault, a capture that failed left no trace, and the
// next one works.
func TestEveryFault(t *testing.T) {
	for _, fuse := range []bool{false, true} {
		for _, call := range []backend.Call{
			backend.CallBeginCapture, backend.CallEndCapture, backend.CallReplay, backend.CallLaunch, backend.CallAlloc,
			backend.CallCopy, backend.CallCompile, backend.CallWrite, backend.CallRead,
		} {
			hit := 0
			for k := 1; faulted(t, fuse, call, k); k++ {
				hit++
			}
			assert.Positive(t, hit, "no %s in a capture and its replays", call)
		}
	}
}

// faulted runs the program with the k-th call of a kind failing, and reports
// whether there was one.
func faulted(t *testing.T, fuse bool, call backend.Call, k int) bool {
	t.Helper()
	dev, err := sinter.Open("faulty", sinter.WithPoison(true), sinter.WithFusion(fuse), sinter.WithWorkers(1), sinter.WithLogger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	defer dev.Close()
	faulty := opened()
	ctx := context.Background()
	x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
	w := sinter.NewVar(sinter.From(dev, []float32{1, 0, 0, 1}, 2, 2))
	outside := sinter.From(dev, []float32{10, 10, 10, 10}, 2, 2)
	step := func(_ *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		y := in[0].MatMul(w.Value()).Add(outside).MulScalar(2)
		w.Set(w.Value().Add(in[0]))
		return []*sinter.Tensor{y, w.Value().Sum()}, nil
	}
	require.NoError(t, dev.Flush(ctx))

	before := faulty.Calls(call)
	faulty.FailAt(call, k)
	g, err := graphapi.Capture(ctx, dev.Stream(), step, []*sinter.Tensor{x})
	if err != nil {
		require.True(t, injected(err), "%s %d: %v", call, k, err)
		require.Equal(t, []float32{1, 0, 0, 1}, readMended(t, w), "%s %d: a failed capture changes no Var", call, k)
	} else {
		if !g.IsHardware() {
			require.True(t, injected(g.FallbackReason()), "%s %d: %v", call, k, g.FallbackReason())
		}
		state := []float32{1, 0, 0, 1}
		for range 2 {
			if err := g.Replay(sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)); err != nil {
				require.True(t, injected(err), "%s %d: %v", call, k, err)
				if call == backend.CallReplay {
					for _, x := range []*sinter.Tensor{g.Out(0), g.Out(1), w.Value()} {
						_, err := sinter.Read[float32](ctx, x)
						require.ErrorIs(t, err, backend.ErrInjected, "what it would have written is not known")
					}
				}
				break
			}
			want := []float32{
				2 * (state[0] + 2*state[2] + 10), 2 * (state[1] + 2*state[3] + 10),
				2 * (3*state[0] + 4*state[2] + 10), 2 * (3*state[1] + 4*state[3] + 10),
			}
			sum := float32(0)
			for i := range state {
				state[i] += float32(i + 1)
				sum += state[i]
			}
			right(t, want, g.Out(0), call, k)
			right(t, []float32{sum}, g.Out(1), call, k)
			right(t, state, w.Value(), call, k)
		}
	}
	hit := faulty.Calls(call)-before >= k

	// Nothing of it is left.
	for dev.Flush(ctx) != nil {
	}
	if g != nil {
		require.NoError(t, g.Close(), "%s %d", call, k)
	}
	if !hit {
		return false
	}
	w.Set(sinter.From(dev, []float32{1, 0, 0, 1}, 2, 2))
	require.Equal(t, []float32{1, 0, 0, 1}, read(t, w.Value()), "%s %d", call, k)
	again, err := graphapi.Capture(ctx, dev.Stream(), step, []*sinter.Tensor{x}, graphapi.RequireHardware())
	require.NoError(t, err, "%s %d", call, k)
	require.Equal(t, []float32{1, 0, 0, 1}, read(t, w.Value()), "%s %d", call, k)
	require.NoError(t, again.Replay(), "%s %d", call, k)
	require.Equal(t, []float32{22, 24, 26, 28}, read(t, again.Out(0)), "%s %d", call, k)
	require.Equal(t, []float32{2, 2, 3, 5}, read(t, w.Value()), "%s %d", call, k)
	require.NoError(t, again.Close())
	require.NoError(t, dev.Flush(ctx), "%s %d", call, k)
	return true
}

// right checks a tensor that is right or carries the fault.
func right(t *testing.T, want []float32, x *sinter.Tensor, what ...any) {
	t.Helper()
	got, err := sinter.Read[float32](context.Background(), x)
	if err != nil {
		require.True(t, injected(err), "%v: %v", what, err)
		return
	}
	require.Equal(t, want, got, "%v", what)
}

// readMended reads a Var, again if the fault was one of the read itself.
func readMended(t *testing.T, v *sinter.Var) []float32 {
	t.Helper()
	out, err := sinter.ReadVar[float32](context.Background(), v)
	if err != nil {
		require.True(t, injected(err), "%v", err)
		out, err = sinter.ReadVar[float32](context.Background(), v)
	}
	require.NoError(t, err)
	return out
}

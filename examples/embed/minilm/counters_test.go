package minilm_test

import (
	"context"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/embed/minilm"
	"github.com/sinter-ml/sinter/internal/race"
)

// counted is what a device did between two moments.
type counted struct {
	recorded, explorations, compiles, launches, allocations, read, written int64
}

func (l loaded) count(f func()) counted {
	a := l.dev.Stats()
	f()
	b := l.dev.Stats()
	return counted{
		recorded: b.Recorded - a.Recorded, explorations: b.Explorations - a.Explorations,
		compiles: b.Device.Compiles - a.Device.Compiles, launches: b.Device.Launches - a.Device.Launches,
		allocations: b.Device.Allocations - a.Device.Allocations,
		read:        b.BytesRead - a.BytesRead, written: b.BytesWritten - a.BytesWritten,
	}
}

// embed runs the first layers of the model on texts, in a scope.
func (l loaded) embed(t *testing.T, layers int, texts []string) {
	t.Helper()
	part := *l.Model
	part.Layers = part.Layers[:layers]
	var out *sinter.Tensor
	require.NoError(t, l.dev.Scope(func(sc *sinter.Scope) error {
		ids, mask := l.inputs(sc, texts...)
		out = sc.Keep(part.Forward(sc.Stream(), ids, mask))
		return nil
	}))
	_, err := sinter.Read[float32](context.Background(), out)
	require.NoError(t, err)
	out.Release()
}

// A layer is 11 launches: Q, K, V; scores with scale and mask; softmax; context;
// output with bias and residual; norm; two of feed-forward, the first with its
// activation and the second with the residual; norm.
const launchesPerLayer = 11

func TestCounters(t *testing.T) {
	if race.Enabled {
		t.Skip("counts do not depend on the race detector, and loading is slow under it")
	}
	fused, unfused := load(t), unfused(t) // a device that has planned nothing yet
	for _, texts := range batches() {
		one := fused.count(func() { fused.embed(t, 1, texts) })
		first := fused.count(func() { fused.embed(t, minilm.Layers, texts) })
		second := fused.count(func() { fused.embed(t, minilm.Layers, texts) })
		alone := unfused.count(func() { unfused.embed(t, minilm.Layers, texts) })
		more := first.launches - one.launches
		t.Logf("%d texts: %d operations; fused %d launches, %.4g a layer, %d bytes read, %d written; unfused %d launches, %d read, %d written",
			len(texts), first.recorded, first.launches, float64(more)/(minilm.Layers-1), first.read, first.written,
			alone.launches, alone.read, alone.written)

		require.LessOrEqual(t, more, int64(launchesPerLayer*(minilm.Layers-1)))
		require.Less(t, first.launches, alone.launches)
		require.Less(t, first.read, alone.read)
		require.Less(t, first.written, alone.written)
		require.EqualValues(t, 1, first.explorations)

		require.Zero(t, second.explorations, "the segment is known")
		require.Zero(t, second.compiles)
		require.Equal(t, first.launches, second.launches)
		require.Equal(t, first.read, second.read)
		require.Equal(t, first.written, second.written)
		require.Equal(t, first.allocations, second.allocations)
	}
}

// A replay is the captured launches and nothing else.
func TestReplayCounters(t *testing.T) {
	e := fused(t)
	texts := batches()[0]
	run := e.count(func() { e.embed(t, minilm.Layers, texts) })
	g := e.capture(t, texts)
	require.NoError(t, g.Replay())
	var allocs float64
	replays := e.count(func() {
		if race.Enabled {
			require.NoError(t, g.Replay())
			return
		}
		// A collection would take the engine's idle scratch memory, and a worker
		// makes its own when it first joins in.
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		for range 10 {
			allocs = testing.AllocsPerRun(1, func() {
				if err := g.Replay(); err != nil {
					t.Error(err)
				}
			})
			if allocs == 0 {
				break
			}
		}
	})
	require.Zero(t, allocs, "in Go's heap")
	require.Zero(t, replays.recorded)
	require.Zero(t, replays.explorations)
	require.Zero(t, replays.compiles)
	require.Zero(t, replays.allocations)
	require.EqualValues(t, run.launches, g.Launches())
}

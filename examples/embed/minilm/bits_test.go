package minilm_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/internal/race"
)

// batches are the texts that tests of how the model runs take.
func batches() [][]string {
	if race.Enabled {
		return [][]string{{"a"}}
	}
	return [][]string{
		{"Fusing operations avoids round trips through memory."},
		{"a", "Where is the nearest railway station?", ""},
	}
}

// capture captures the model for the sizes of a batch.
func (l loaded) capture(t *testing.T, texts []string) *graphapi.Graph {
	t.Helper()
	s := l.dev.NewStream()
	ids, mask := l.inputs(s, texts...)
	g, err := graphapi.Capture(context.Background(), s, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{l.Model.Forward(s, in[0], in[1])}, nil
	}, []*sinter.Tensor{ids, mask}, graphapi.RequireHardware())
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, g.Close())
		require.NoError(t, s.Close())
	})
	return g
}

func bits(x []float32) []uint32 {
	out := make([]uint32, len(x))
	for i, v := range x {
		out[i] = math.Float32bits(v)
	}
	return out
}

// However it runs, the model gives the same bits: fused, operation by operation,
// captured and replayed, replayed again after other texts, and with one thread
// or three.
func TestSameBits(t *testing.T) {
	ctx := context.Background()
	fused, unfused := fused(t), unfused(t)
	flat := func(e loaded, texts []string) []uint32 {
		out, err := e.Embed(ctx, texts)
		require.NoError(t, err)
		var all []float32
		for _, x := range out {
			all = append(all, x...)
		}
		return bits(all)
	}
	for _, texts := range batches() {
		want := flat(unfused, texts)
		require.Equal(t, want, flat(fused, texts), "fused")
		require.Equal(t, want, flat(fused, texts), "fused, plan known")

		g := fused.capture(t, texts)
		replay := func(ids, mask *sinter.Tensor) []uint32 {
			require.NoError(t, g.Replay(ids, mask))
			out, err := sinter.Read[float32](ctx, g.Out(0))
			require.NoError(t, err)
			return bits(out)
		}
		ids, mask := fused.inputs(fused.dev, texts...)
		require.Equal(t, want, replay(ids, mask), "replayed")
		other := sinter.Full(fused.dev, sinter.I64, 2000, ids.Shape()...)
		require.NotEqual(t, want, replay(other, mask), "replayed with other ids")
		require.Equal(t, want, replay(ids, mask), "replayed again")
	}
}

// A text has the same embedding to the bit wherever it stands in a batch of
// texts of its length.
func TestPlaceInBatchChangesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("arithmetic alone, and slow under the race detector")
	}
	e := fused(t)
	out, err := e.Embed(context.Background(), []string{"the cat sat", "the dog ran", "the cat sat"})
	require.NoError(t, err)
	require.Equal(t, bits(out[0]), bits(out[2]))
	alone, err := e.Embed(context.Background(), []string{"the cat sat"})
	require.NoError(t, err)
	require.Equal(t, bits(out[0]), bits(alone[0]))
}

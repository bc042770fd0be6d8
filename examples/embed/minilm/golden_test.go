package minilm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/internal/golden"
	"github.com/sinter-ml/sinter/internal/race"
)

// tolerance is the greatest difference from a float64 evaluation allowed in any
// number of an embedding.
const tolerance = 1e-5

func TestEmbeddingsAlone(t *testing.T) {
	e := fused(t)
	var most float64
	for _, c := range cases(t) {
		require.Equal(t, c.IDs, e.Tokenizer.Encode(c.Text), "%q", c.Text)
		out, err := e.Embed(context.Background(), []string{c.Text})
		require.NoError(t, err)
		require.Len(t, out, 1)
		d := c.Distance(out[0])
		assert.LessOrEqual(t, d, tolerance, "%q", c.Text)
		most = max(most, d)
	}
	t.Logf("greatest difference from float64: %.2g", most)
}

// The mask selects, so that padding, here up to 60 of 62 tokens, changes no more
// than the order of sums.
func TestEmbeddingsInPaddedBatches(t *testing.T) {
	e := fused(t)
	all := cases(t)
	for _, size := range []int{2, 5} {
		var most float64
		stride := (len(all) + size - 1) / size
		for first := range stride {
			var batch []golden.Case // every stride-th case, so that lengths mix
			for i := first; i < len(all); i += stride {
				batch = append(batch, all[i])
			}
			out, err := e.Embed(context.Background(), texts(batch))
			require.NoError(t, err)
			require.Len(t, out, len(batch))
			for i, c := range batch {
				d := c.Distance(out[i])
				assert.LessOrEqual(t, d, tolerance, "%q in %q", c.Text, texts(batch))
				most = max(most, d)
			}
		}
		t.Logf("batches of %d: greatest difference from float64 %.2g", size, most)
		if race.Enabled || testing.Short() {
			break
		}
	}
}

func TestEmbedNothing(t *testing.T) {
	e := fused(t)
	out, err := e.Embed(context.Background(), nil)
	require.NoError(t, err)
	require.Empty(t, out)
}

func TestEmbedErrors(t *testing.T) {
	e := fused(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := e.Embed(ctx, []string{"a"})
	require.ErrorIs(t, err, context.Canceled)

	// A token that is not in the vocabulary is an error of that batch alone.
	ids := sinter.From(e.dev, []int64{101, 30522}, 1, 2)
	mask := sinter.From(e.dev, []bool{true, true}, 1, 2)
	_, err = sinter.Read[float32](context.Background(), e.Model.Forward(e.dev.Stream(), ids, mask))
	var index *sinter.IndexError
	require.ErrorAs(t, err, &index)
	_, err = e.Embed(context.Background(), []string{"a"})
	require.NoError(t, err)
}

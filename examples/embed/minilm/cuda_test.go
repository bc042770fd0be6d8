package minilm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/internal/cudatest"
	"github.com/sinter-ml/sinter/internal/race"
)

// The model on kernels in CUDA C++, interpreted: within the tolerance of float64
// and of the portable engine, and the same bits fused and one by one.
func TestEmbeddingsOnCUDA(t *testing.T) {
	if race.Enabled || testing.Short() {
		t.Skip("a model is too much for an interpreter in a short test")
	}
	device := cudatest.Register(t)
	c := cases(t)[0]
	embed := func(e loaded) []float32 {
		out, err := e.Embed(context.Background(), []string{c.Text})
		require.NoError(t, err)
		return out[0]
	}
	portable := embed(fused(t))
	together := loadOn(t, device)
	defer together.dev.Close()
	apart := loadOn(t, device, sinter.WithFusion(false))
	defer apart.dev.Close()
	launches := 0
	cudatest.Watch(t, func(*runner.Report) { launches++ })
	a := embed(together)
	assert.Positive(t, launches)
	few := launches
	b := embed(apart)
	assert.Greater(t, launches-few, few, "one by one")
	for _, e := range []loaded{together, apart} {
		assert.Zero(t, e.dev.Stats().Fallbacks, "no block's kernel failed")
	}
	assert.Equal(t, b, a, "fused and one by one")
	assert.LessOrEqual(t, c.Distance(a), tolerance, "from float64")
	var most float64
	for i := range a {
		most = max(most, float64(a[i]-portable[i]), float64(portable[i]-a[i]))
	}
	assert.LessOrEqual(t, most, tolerance, "from the portable engine")
	t.Logf("%q: greatest difference from float64 %.2g, from the portable engine %.2g", c.Text, c.Distance(a), most)
}

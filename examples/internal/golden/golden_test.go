package golden

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	cases, err := Load("../../embed/testdata/minilm-golden.json")
	require.NoError(t, err)
	require.Len(t, cases, 24)
	for _, c := range cases {
		require.Len(t, c.Embedding, 384)
		require.GreaterOrEqual(t, len(c.IDs), 2)
		var squares float64
		for _, x := range c.Embedding {
			squares += x * x
		}
		require.InDelta(t, 1, squares, 1e-6)
	}
	_, err = Load("none.json")
	require.Error(t, err)
	_, err = Load("golden.go")
	require.Error(t, err)
}

func TestDistance(t *testing.T) {
	c := &Case{Embedding: []float64{1, -2}}
	require.Equal(t, 0.0, c.Distance([]float32{1, -2}))
	require.Equal(t, 0.5, c.Distance([]float32{1.25, -2.5}))
	require.Equal(t, math.Inf(1), c.Distance([]float32{1}))
	require.Equal(t, math.Inf(1), c.Distance([]float32{1, float32(math.NaN())}))
}

package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The replay gives what the eager run gave, and that is the softmax of the
// model's two columns, computed here by hand.
func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(context.Background(), &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	eager, replayed := strings.TrimPrefix(lines[0], "eager:    "), strings.TrimPrefix(lines[1], "replayed: ")
	assert.Equal(t, eager, replayed)

	var got [4]float64
	_, err := fmt.Sscanf(eager, "[%g %g %g %g]", &got[0], &got[1], &got[2], &got[3])
	require.NoError(t, err)
	x := [2][3]float64{{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}}
	w := [3][2]float64{{1, 2}, {3, 4}, {5, 6}}
	for i := range 2 {
		var z [2]float64
		for j := range 2 {
			for k := range 3 {
				z[j] += x[i][k] * w[k][j]
			}
			z[j]++
			z[j] *= 0.5 * (1 + math.Erf(z[j]/math.Sqrt2))
		}
		sum := math.Exp(z[0]) + math.Exp(z[1])
		assert.InDelta(t, math.Exp(z[0])/sum, got[2*i], 1e-6)
		assert.InDelta(t, math.Exp(z[1])/sum, got[2*i+1], 1e-6)
	}
}

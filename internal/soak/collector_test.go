package soak

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRestlessCollector runs the loops while the collector runs all the time:
// nothing is freed early, and every number is what it is otherwise.
func TestRestlessCollector(t *testing.T) {
	n := 2 * steps(2_000)
	parameters, tokens := train(t, n), decode(t, n)
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	require.Equal(t, parameters, train(t, n))
	require.Equal(t, tokens, decode(t, n))
	serve(t, n)
}

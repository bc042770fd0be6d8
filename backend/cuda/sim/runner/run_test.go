package runner

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/codegen/cudac"
)

// A call with a tensor map is refused before anything runs.
func TestTensorMapRefused(t *testing.T) {
	call := cudac.Call{Entry: "product", Blocks: 1, Threads: 32, Args: []cudac.Arg{{Bytes: make([]byte, 4)}, {Kind: cudac.ArgTensorMap, Map: &cudac.TensorMap{}}}}
	_, err := newRun(nil, 0).call(context.Background(), nil, call, exec.Options{})
	var refused *exec.UnsupportedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "exec: product, argument 1: a tensor map, which only a driver encodes", err.Error())
}

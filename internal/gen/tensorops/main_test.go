package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The methods in the tree are those of the table: go generate was run.
func TestMethodsAreCurrent(t *testing.T) {
	var want bytes.Buffer
	require.NoError(t, methods().Render(&want))
	got, err := os.ReadFile("../../../gen_ops.go")
	require.NoError(t, err)
	require.Equal(t, want.String(), string(got), "run go generate in the root")
}

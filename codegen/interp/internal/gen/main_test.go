package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	for name, fill := range files {
		have, err := os.ReadFile(filepath.Join("..", "..", name))
		require.NoError(t, err)
		var want bytes.Buffer
		require.NoError(t, source(fill).Render(&want))
		assert.Equal(t, want.String(), string(have), "%s: run go generate", name)
	}
}

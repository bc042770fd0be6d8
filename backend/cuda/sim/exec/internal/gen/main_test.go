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
	for name, file := range sources() {
		have, err := os.ReadFile(filepath.Join("..", "..", name))
		require.NoError(t, err)
		var want bytes.Buffer
		require.NoError(t, file.Render(&want))
		assert.Equal(t, want.String(), string(have), "%s: run go generate", name)
	}
}

func TestNoOpcodeTwice(t *testing.T) {
	seen := map[string]string{}
	for file, f := range files {
		for _, r := range f.rows {
			for _, n := range r.names {
				assert.Empty(t, seen[n], "%s in %s", n, file)
				seen[n] = file
			}
		}
	}
	for _, r := range carryRows() {
		assert.Empty(t, seen[r.name], r.name)
	}
}

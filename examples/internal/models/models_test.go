package models

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o755))

	_, err := find(below)
	require.ErrorContains(t, err, "no go.mod")

	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600))
	_, err = find(below)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "scripts/models.sh")

	dir := filepath.Join(root, "models", MiniLM)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	_, err = find(below)
	require.Error(t, err, "a folder without weights is not a model")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.safetensors"), nil, 0o600))
	got, err := find(below)
	require.NoError(t, err)
	assert.Equal(t, dir, got)
}

// skips records what Dir says; unlike a test it goes on.
type skips struct{ said string }

func (*skips) Helper()                            {}
func (s *skips) Skipf(format string, args ...any) { s.said = fmt.Sprintf(format, args...) }

func TestDirSkipsWithTheReason(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600))
	t.Chdir(root)
	s := &skips{}
	assert.Empty(t, Dir(s))
	assert.Contains(t, s.said, "scripts/models.sh fetches it")
}

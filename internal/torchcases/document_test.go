package torchcases

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/TORCH.md")

const document = "../../docs/TORCH.md"

func TestDocument(t *testing.T) {
	want := load(t).Markdown()
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(want), 0o644))
	}
	got, err := os.ReadFile(document)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "run go test ./internal/torchcases -update")
}

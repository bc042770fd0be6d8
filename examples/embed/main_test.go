package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/examples/internal/models"
)

func TestRun(t *testing.T) {
	dir := models.Dir(t)
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, dir, []string{"The cat sat on the mat.", "a"}))
	// The first numbers of the golden embeddings, and their dot product.
	require.Equal(t, `0 "The cat sat on the mat."
   0.130237 -0.015773 -0.036717  0.057986 -0.059792  0.033054 … 384 numbers
1 "a"
  -0.036433  0.034703 -0.045960  0.034326 -0.080823  0.032839 … 384 numbers

cosine similarity
          0      1
   0  1.000  0.076
   1  0.076  1.000
`, out.String())
}

func TestRunErrors(t *testing.T) {
	var out bytes.Buffer
	require.ErrorContains(t, run(context.Background(), &out, t.TempDir(), []string{"a"}), "vocab.txt")
	require.Empty(t, out.String())
}

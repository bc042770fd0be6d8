package minilm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/embed/minilm"
	"github.com/sinter-ml/sinter/examples/internal/golden"
	"github.com/sinter-ml/sinter/examples/internal/models"
)

// load loads the model on a device of its own, or skips the test if the model
// was not fetched.
func load(t *testing.T, opts ...sinter.Option) (*sinter.Device, *minilm.Encoder) {
	t.Helper()
	dir := models.Dir(t)
	dev, err := sinter.Open("cpu", opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	e, err := minilm.Open(context.Background(), dev, dir)
	require.NoError(t, err)
	return dev, e
}

// cases returns the golden cases, few of them in short tests.
func cases(t *testing.T) []golden.Case {
	t.Helper()
	all, err := golden.Load("../testdata/minilm-golden.json")
	require.NoError(t, err)
	switch {
	case race:
		return []golden.Case{all[0], all[17]}
	case testing.Short():
		return []golden.Case{all[0], all[13], all[16], all[17]}
	}
	return all
}

func texts(cases []golden.Case) []string {
	out := make([]string, len(cases))
	for i, c := range cases {
		out[i] = c.Text
	}
	return out
}

// inputs makes the model's inputs for texts.
func inputs(at sinter.Placer, e *minilm.Encoder, texts ...string) (ids, mask *sinter.Tensor) {
	return minilm.Inputs(at, e.Tokenizer.EncodeBatch(texts))
}

package minilm_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/embed/minilm"
	"github.com/sinter-ml/sinter/examples/internal/golden"
	"github.com/sinter-ml/sinter/examples/internal/models"
	"github.com/sinter-ml/sinter/internal/race"
)

// loaded is the model on a device.
type loaded struct {
	*minilm.Encoder
	dev *sinter.Device
}

// load loads the model on a device of its own, or skips the test if the model
// was not fetched.
func load(t *testing.T, opts ...sinter.Option) loaded {
	t.Helper()
	return loadOn(t, "cpu", opts...)
}

func loadOn(t *testing.T, device string, opts ...sinter.Option) loaded {
	t.Helper()
	dir := models.Dir(t)
	dev, err := sinter.Open(device, opts...)
	require.NoError(t, err)
	e, err := minilm.Open(context.Background(), dev, dir)
	require.NoError(t, err)
	return loaded{e, dev}
}

var once struct {
	fused, unfused       sync.Once
	fusedOne, unfusedOne loaded
}

// fused and unfused return the model as loaded once for all tests.
func fused(t *testing.T) loaded {
	t.Helper()
	models.Dir(t)
	once.fused.Do(func() { once.fusedOne = load(t, sinter.WithWorkers(3)) })
	return once.fusedOne
}

func unfused(t *testing.T) loaded {
	t.Helper()
	models.Dir(t)
	once.unfused.Do(func() { once.unfusedOne = load(t, sinter.WithFusion(false), sinter.WithWorkers(1)) })
	return once.unfusedOne
}

// cases returns the golden cases, few of them in short tests.
func cases(t *testing.T) []golden.Case {
	t.Helper()
	all, err := golden.Load("../testdata/minilm-golden.json")
	require.NoError(t, err)
	switch {
	case race.Enabled:
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
func (l loaded) inputs(at sinter.Placer, texts ...string) (ids, mask *sinter.Tensor) {
	return minilm.Inputs(at, l.Tokenizer.EncodeBatch(texts))
}

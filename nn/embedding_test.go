package nn_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
)

func TestEmbedding(t *testing.T) {
	dev := open(t)
	table := numbers(4, 5*3)
	e := &nn.Embedding{Weight: variable(dev, table, 5, 3)}
	ids := []int64{4, 0, 4, 1}
	y := e.Forward(sinter.From(dev, ids, 2, 2))
	require.Equal(t, sinter.Shape{2, 2, 3}, y.Shape())
	got := read[float32](t, y)
	for i, id := range ids {
		require.Equal(t, table[id*3:id*3+3], got[i*3:i*3+3])
	}

	y = e.Forward(sinter.From(dev, []int64{}, 0))
	require.Equal(t, sinter.Shape{0, 3}, y.Shape())
	require.Empty(t, read[float32](t, y))
	y = e.Forward(sinter.Scalar(dev, int64(2)))
	require.Equal(t, table[6:9], read[float32](t, y))
}

func TestNewEmbedding(t *testing.T) {
	dev := open(t, sinter.WithSeed(1))
	e := nn.NewEmbedding(dev, 400, 5)
	w, err := sinter.ReadVar[float32](context.Background(), e.Weight)
	require.NoError(t, err)
	var sum, squares float64
	for _, x := range w {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	require.InDelta(t, 0, sum/2000, 0.1)
	require.InDelta(t, 1, squares/2000, 0.15)
}

// An operation on a Var alone would go to the default stream: the layer follows
// its input.
func TestEmbeddingRecordsOnItsInputsStream(t *testing.T) {
	dev := open(t)
	e := nn.NewEmbedding(dev, 3, 2)
	s := dev.NewStream()
	y := e.Forward(sinter.From(s, []int64{1}, 1))
	require.Same(t, s.Runtime(), sinter.ValueOf(y).Home())
}

func TestEmbeddingErrors(t *testing.T) {
	dev := open(t)
	ids := sinter.Zeros(dev, sinter.I64, 2)
	fails[*sinter.ArgumentError](t, new(nn.Embedding).Forward(ids), "nn.Embedding", "no weight")
	fails[*sinter.ArgumentError](t, (*nn.Embedding)(nil).Forward(ids), "nn.Embedding", "no weight")
	e := nn.NewEmbedding(dev, 3, 2)
	fails[*sinter.DTypeError](t, e.Forward(sinter.Zeros(dev, sinter.F32, 2)), "nn.Embedding", "ids are f32")
	require.Error(t, e.Forward(nil).Err())
	_, err := sinter.Read[float32](context.Background(), e.Forward(sinter.From(dev, []int64{3}, 1)))
	var index *sinter.IndexError
	require.ErrorAs(t, err, &index)
}

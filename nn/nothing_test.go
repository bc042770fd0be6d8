package nn_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
)

// A place, option, function, context, module or file that is nil is a typed
// error or as if it was not given.
func TestNothing(t *testing.T) {
	dev := open(t)
	x := sinter.Ones(dev, sinter.F32, 2, 4)
	for name, m := range map[string]nn.Module{
		"Linear": nn.NewLinear(nil, 4, 4), "LayerNorm": nn.NewLayerNorm(nil, 4), "RMSNorm": nn.NewRMSNorm(nil, 4),
		"GroupNorm": nn.NewGroupNorm(nil, 2, 4), "BatchNorm": nn.NewBatchNorm(nil, 4), "Embedding": nn.NewEmbedding(nil, 4, 4),
		"negative": nn.NewLinear(dev, 4, -1), "Func": nn.Func(nil), "Sequential": nn.Sequential{nil},
	} {
		var failed *sinter.OpError
		require.ErrorAs(t, m.Forward(x).Err(), &failed, name)
	}
	for dev.Flush(context.Background()) != nil {
	}

	l := nn.NewLinear(dev, 4, 3, nil, nn.WithInit(nil))
	require.NoError(t, l.Forward(x).Err())
	for range nn.Params(nil) {
		t.Error("nil has no parameters")
	}
	var missing *nn.LoadError
	require.ErrorAs(t, nn.LoadInto(context.Background(), l, nil), &missing)
	require.Equal(t, []string{"weight", "bias"}, missing.Missing)
	var never context.Context
	l.Bias = nil
	in := map[string]*sinter.Tensor{"weight": sinter.Ones(dev, sinter.F32, 4, 3)}
	require.NoError(t, nn.LoadInto(never, l, file(t, in), nil, nn.Rename(nil)))
	require.Equal(t, []float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, value[float32](t, l.Weight))
	require.NoError(t, dev.Flush(context.Background()))
}

package sinter_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/nn"
)

// The position is the line of the program, through any depth of the library.
func TestPosition(t *testing.T) {
	dev := open(t)
	x := sinter.Zeros(dev, sinter.F32, 2, 3)
	positions := map[string]error{
		here(0): x.Add(sinter.Zeros(dev, sinter.F32, 4)).Err(),
		here(0): x.Clamp(math.NaN(), 1).MatMul(x).Err(),
		here(0): sinter.Stack(0, x, x.T()).Err(),
		here(0): sinter.From(dev, []bool{true}, 3).Err(),
		here(0): func() *tensor { return x.Exp().Reshape(5) }().Err(),
		here(0): nn.Sequential{nn.Relu{}, nn.NewLinear(dev, 3, 2)}.Forward(x.Cast(sinter.BF16)).Err(), // fails in Linear's operation
		here(0): nn.NewLinear(dev, 4, 2).Forward(x).Err(),                                             // in the layer's check
		here(0): dev.Scope(func(sc *sinter.Scope) error { return sc.Keep(x.On(sc.Stream()).Permute(0)).Err() }),
	}
	for at, err := range positions {
		var oe *sinter.OpError
		require.ErrorAs(t, err, &oe)
		require.Equal(t, at, filepath.Base(oe.Position()))
		require.True(t, strings.HasPrefix(err.Error(), oe.Position()+": "))
	}
	for dev.Flush(ctx) != nil {
	}
	// Of an operation that fails when it runs, the call that recorded it.
	at := here(1)
	y := x.Embedding(sinter.Scalar(dev, int64(7)))
	require.ErrorContains(t, dev.Flush(ctx), at)
	require.ErrorContains(t, y.Err(), at)
}

// The cheap position taken of every operation, for what fails later, is the
// call into the library, however the method records.
func TestRecordedPosition(t *testing.T) {
	dev := open(t, sinter.WithFusion(false))
	x := sinter.Ones(dev, sinter.F32, 2, 3)
	v := sinter.NewVar(sinter.Ones(dev, sinter.F32, 2, 3))
	i := sinter.Zeros(dev, sinter.I64, 2)
	b := sinter.Ones(dev, sinter.Bool, 2, 3)
	require.NoError(t, dev.Flush(ctx))
	var at []string
	dev.Runtime().Observe(func(r *fusion.Run) {
		for k := range r.Segment.Ops {
			at = append(at, filepath.Base(ir.Position(r.Segment.Ops[k].PC)))
		}
	})
	for name, call := range map[string]func(){
		"Add": func() { x.Add(x) }, "AddScalar": func() { x.AddScalar(1) }, "Full": func() { sinter.Full(dev, sinter.F32, 1, 2) },
		"Arange": func() { sinter.Arange(dev, sinter.F32, 0, 1, 2) }, "Uniform": func() { sinter.Uniform(dev, sinter.F32, 0, 1, 2) },
		"Dropout": func() { x.Dropout(0.5) }, "LayerNorm": func() { x.LayerNorm(nil, nil, 1) }, "Softmax": func() { x.Softmax(1) },
		"Sum": func() { x.Sum() }, "Variance": func() { x.Variance(0) }, "MaxWith": func() { x.MaxWith(1) }, "MaxAbs": func() { x.MaxAbs() },
		"Norm": func() { x.Norm(0); x.Norm(1); x.Norm(2); x.Norm(3) }, "CumSumWith": func() { x.CumSumWith(0, sinter.ScanOptions{}) },
		"Linear": func() { x.Linear(x.T(), nil) }, "Where": func() { sinter.Where(b, x, x) }, "MaskFill": func() { x.MaskFill(b, 1) },
		"Slice": func() { x.Slice(sinter.Index(0)).Exp() }, "Narrow": func() { x.Narrow(0, 0, 1).Exp() }, "Select": func() { x.Select(0, i) },
		"Reshape": func() { x.Reshape(-1).Exp() }, "Squeeze": func() { x.Squeeze().Exp() }, "T": func() { x.T().Exp() }, "Expand": func() { x.Expand(2, 2, 3).Exp() },
		"Cat": func() { sinter.Cat(0, x, x) }, "Stack": func() { sinter.Stack(0, x, x) }, "Pad": func() { x.Pad(0, 1, 1, 1, 1) },
		"Cast": func() { x.Cast(sinter.BF16) }, "Clamp": func() { x.Clamp(0, 1) },
		"Attention": func() { y := x.Reshape(1, 1, 2, 3); y.Attention(y, y, sinter.AttentionOptions{}) },
		"Set":       func() { v.Set(x) }, "SetSlice": func() { v.SetSlice(x, sinter.All()) }, "SetSelect": func() { v.SetSelect(0, i, x) },
		"ScatterAdd": func() { v.ScatterAdd(0, i, x) }, "Write": func() { sinter.Write(v, make([]float32, 6)) },
	} {
		at = nil
		call()
		require.NoError(t, dev.Flush(ctx))
		require.NotEmpty(t, at, name)
		for _, p := range at {
			require.Regexp(t, `^position_test\.go:\d+$`, p, name)
		}
	}
}

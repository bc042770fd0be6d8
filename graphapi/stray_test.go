package graphapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

// A Var set to what is computed of Vars alone, which belongs to no stream, is
// set on the default stream. Where another one is captured a replay would leave
// that out: it is refused, and works where it is said to belong to that stream.
func TestEffectsOnNoStream(t *testing.T) {
	dev := open(t)
	s := dev.NewStream()
	table, at := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 4)), sinter.NewVar(sinter.Scalar(dev, int64(0)))
	x := sinter.Ones(dev, sinter.F32, 1)
	step := func(position func() *sinter.Tensor) graphapi.Func {
		return func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
			p := position()
			table.SetSlice(in[0], sinter.SpanAt(p, 1))
			at.Set(p.AddScalar(1))
			return []*sinter.Tensor{table.Value()}, nil
		}
	}
	_, err := graphapi.Capture(t.Context(), s, step(at.Value), []*sinter.Tensor{x})
	var refused *sinter.CaptureError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Reason, "put that on the captured stream")
	require.Contains(t, refused.Op, "stray_test.go:24")

	sinter.Write(at, []int64{0})
	for _, f := range []func() (*graphapi.Graph, error){
		func() (*graphapi.Graph, error) {
			return graphapi.Capture(t.Context(), s, step(func() *sinter.Tensor { return at.Value().On(s) }), []*sinter.Tensor{x})
		},
		func() (*graphapi.Graph, error) { // the default stream is where it goes
			return graphapi.Capture(t.Context(), dev.Stream(), step(at.Value), []*sinter.Tensor{x})
		},
	} {
		g, err := f()
		require.NoError(t, err)
		require.True(t, g.IsHardware(), "%v", g.FallbackReason())
		require.NoError(t, g.Replay())
		require.NoError(t, g.Close())
	}
	require.Equal(t, []float32{1, 1, 0, 0}, read(t, table.Value()))

	// Once no capture is open anything goes.
	at.Set(at.Value().AddScalar(1))
	at.Set(at.Value().AddScalar(1).On(s))
	got, err := sinter.ReadVar[int64](t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, []int64{4}, got)
}

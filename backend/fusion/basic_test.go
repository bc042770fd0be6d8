package fusion_test

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	_ "github.com/sinter-ml/sinter/backend/cpu"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

func open(t *testing.T, o fusion.Options) *fusion.Runtime {
	t.Helper()
	dev, err := backend.Open("cpu", backend.Options{Workers: 2, Poison: true})
	require.NoError(t, err)
	o.Optimize = optimize.Options{Check: true}
	if o.Logger == nil {
		o.Logger = silent
	}
	rt, err := fusion.New(dev, o)
	require.NoError(t, err)
	t.Cleanup(func() { rt.Close() })
	return rt
}

func floats(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func read(t *testing.T, v *fusion.Value) []float32 {
	t.Helper()
	b := make([]byte, v.Shape().NumElements()*4)
	require.NoError(t, v.Read(context.Background(), b))
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func TestFromAddRead(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	x := s.FromBytes(ir.F32, ir.Shape{3}, floats(1, 2, 3), 0)
	y := s.Record(ir.Operation{Kind: ir.Add}, x, x)
	z := s.Record(ir.Operation{Kind: ir.Mul}, y, x)
	require.Equal(t, []float32{2, 8, 18}, read(t, z))
	require.Equal(t, []float32{2, 4, 6}, read(t, y))
}

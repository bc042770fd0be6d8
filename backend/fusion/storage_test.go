package fusion_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// A loop that drops its tensors lives within a limit a few of them fill: the
// collector is asked before memory runs out.
func TestDroppedTensorsMakeRoom(t *testing.T) {
	dev, err := backend.Open("cpu", backend.Options{MemoryLimit: 64 << 20})
	require.NoError(t, err)
	rt, err := fusion.New(dev, fusion.Options{})
	require.NoError(t, err)
	defer rt.Close()
	s := rt.Default()
	data := make([]byte, 8<<20)
	for range 40 {
		x := s.FromBytes(ir.F32, ir.Shape{2 << 20}, data, 0)
		require.NoError(t, x.Err())
		require.Equal(t, float32(0), read(t, s.Record(ir.Operation{Kind: ir.Sum, Attrs: ir.Attrs{Axes: []int{0}}}, x))[0])
	}
	held := make([]*fusion.Value, 0, 9)
	var oom *backend.OutOfMemoryError
	for range 9 {
		held = append(held, s.FromBytes(ir.F32, ir.Shape{2 << 20}, data, 0))
	}
	require.ErrorAs(t, held[8].Err(), &oom)
	held[0].Release(0)
	require.NoError(t, s.FromBytes(ir.F32, ir.Shape{2 << 20}, data, 0).Err())
}

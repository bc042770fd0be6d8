package fusion_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

var transpose = ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: []int{1, 0}}}

// TestDeferredKeepsItsOperands: what a deferred operation reads is what it was
// when the operation was called, released or overwritten since.
func TestDeferredKeepsItsOperands(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	w := s.NewVar(s.FromBytes(ir.F32, ir.Shape{2, 2}, floats(1, 2, 3, 4), 0))
	h := w.Value()
	wt := rt.Defer(transpose, h)
	require.Equal(t, fusion.Unplaced, wt.State())
	h.Release(0)
	s.Effect(w, ir.Operation{Kind: ir.SetSlice, Ranges: []ir.Range{{Len: 1, Step: 1}, {Len: 2, Step: 1}}}, s.FromBytes(ir.F32, ir.Shape{1, 2}, floats(8, 9), 0))
	s.Effect(w, ir.Operation{Kind: ir.Set}, s.Record(scalarOp(ir.Mul, 2), w.Value()))
	require.NoError(t, s.Flush(context.Background()))
	require.Equal(t, []float32{2, 4, 3, 5}, read(t, s.Record(scalarOp(ir.Add, 1), wt)))
	require.Equal(t, []float32{16, 18, 6, 8}, read(t, w.Value()))
}

// TestDeferredJoinsItsReader: a transposed Var on a stream of its own is no
// launch, and used by another stream it is what it was.
func TestDeferredJoinsItsReader(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := newStream(t, rt)
	w := s.NewVar(s.FromBytes(ir.F32, ir.Shape{2, 2}, floats(1, 2, 3, 4), 0))
	x := s.FromBytes(ir.F32, ir.Shape{1, 2}, floats(1, 10), 0)
	wt := rt.Defer(transpose, w.Value())
	before := rt.Stats().Device.Launches
	require.Equal(t, []float32{21, 43}, read(t, s.Record(ir.Operation{Kind: ir.MatMul}, x, wt)))
	require.Equal(t, int64(1), rt.Stats().Device.Launches-before)
	other := newStream(t, rt)
	require.Equal(t, []float32{2, 4, 3, 5}, read(t, other.Record(scalarOp(ir.Add, 1), wt)))
}

func TestDeferredThatIsNeverUsed(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	w := s.NewVar(fromOnes(s, 2, 2))
	h := w.Value()
	wt := rt.Defer(transpose, h)
	chained := rt.Defer(transpose, wt)
	h.Release(0)
	wt.Release(0)
	require.Error(t, wt.Err())
	require.Equal(t, read(t, w.Value()), read(t, chained), "it was called before the release")
	bad := rt.Defer(ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: []int{0, 5}}}, w.Value())
	require.Error(t, bad.Err())
	require.Error(t, s.Flush(context.Background()))
}

package fusion_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

func TestOldVersionsKeepTheirValue(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	w := s.NewVar(s.FromBytes(ir.F32, ir.Shape{4}, floats(1, 2, 3, 4), 0))
	v0 := w.Value()
	s.Effect(w, ir.Operation{Kind: ir.SetSlice, Ranges: []ir.Range{{Start: 1, Len: 2, Step: 1}}},
		s.FromBytes(ir.F32, ir.Shape{2}, floats(20, 30), 0))
	v1 := w.Value()
	s.Effect(w, ir.Operation{Kind: ir.Set}, s.Record(ir.Operation{Kind: ir.Add}, v1, v1))
	v2 := w.Value()
	idx := s.FromBytes(ir.I64, ir.Shape{2}, append(append([]byte{3}, make([]byte, 7)...), append([]byte{0}, make([]byte, 7)...)...), 0)
	s.Effect(w, ir.Operation{Kind: ir.ScatterAdd, Attrs: ir.Attrs{Axes: []int{0}}}, idx, s.FromBytes(ir.F32, ir.Shape{2}, floats(100, 200), 0))
	require.Equal(t, []float32{202, 40, 60, 108}, read(t, w.Value()))
	require.Equal(t, []float32{2, 40, 60, 8}, read(t, v2))
	require.Equal(t, []float32{1, 20, 30, 4}, read(t, v1))
	require.Equal(t, []float32{1, 2, 3, 4}, read(t, v0))
}

func TestEffectInPlaceInScope(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	w := s.NewVar(s.FromBytes(ir.F32, ir.Shape{4}, floats(1, 2, 3, 4), 0))
	for range 3 {
		sc := s.Begin()
		v := w.Value()
		s.Effect(w, ir.Operation{Kind: ir.Set}, s.Record(ir.Operation{Kind: ir.Add}, v, v))
		require.NoError(t, sc.End(context.Background()))
	}
	st := rt.Stats()
	require.Equal(t, int64(3), st.InPlaceEffects)
	require.Equal(t, []float32{8, 16, 24, 32}, read(t, w.Value()))
	require.ErrorContains(t, w.Value().Read(context.Background(), nil), "bytes")
}

func TestViewOfVarThenEffect(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	w := s.NewVar(s.FromBytes(ir.F32, ir.Shape{8}, floats(1, 1, 1, 1, 1, 1, 1, 1), 0))
	x := s.Record(ir.Operation{Kind: ir.Slice, Ranges: []ir.Range{{Start: 0, Len: 4, Step: 1}}}, w.Value())
	y := s.Record(ir.Operation{Kind: ir.Slice, Ranges: []ir.Range{{Start: 2, Len: 4, Step: 1}}}, w.Value())
	s.Effect(w, ir.Operation{Kind: ir.SetSlice, Ranges: []ir.Range{{Start: 0, Len: 4, Step: 1}}},
		s.Record(ir.Operation{Kind: ir.Mul, Scalars: []ir.Scalar{ir.F32Scalar(2)}}, x))
	nx := s.Record(ir.Operation{Kind: ir.Slice, Ranges: []ir.Range{{Start: 0, Len: 4, Step: 1}}}, w.Value())
	require.Equal(t, []float32{3, 3, 3, 3}, read(t, s.Record(ir.Operation{Kind: ir.Add}, nx, y)))
	ny := s.Record(ir.Operation{Kind: ir.Slice, Ranges: []ir.Range{{Start: 2, Len: 4, Step: 1}}}, w.Value())
	require.Equal(t, []float32{4, 4, 3, 3}, read(t, s.Record(ir.Operation{Kind: ir.Add}, nx, ny)))
	require.Equal(t, []float32{1, 1, 1, 1}, read(t, x))
	require.Equal(t, []float32{2, 2, 2, 2}, read(t, nx))
}

func TestErrorsStick(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	ctx := context.Background()
	a := s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0)
	b := s.FromBytes(ir.F32, ir.Shape{3}, floats(1, 2, 3), 0)
	w := s.NewVar(a)
	bad := s.Record(ir.Operation{Kind: ir.Add}, a, b)
	dep := s.Record(ir.Operation{Kind: ir.Exp}, bad)
	s.Effect(w, ir.Operation{Kind: ir.Set}, dep)
	err := s.Flush(ctx)
	var shape *ir.ShapeError
	require.ErrorAs(t, err, &shape)
	require.NoError(t, s.Flush(ctx))
	require.ErrorAs(t, dep.Err(), &shape)
	require.Equal(t, []float32{1, 2}, read(t, w.Value()))
	a.Release(0)
	var rel *fusion.ReleasedError
	require.ErrorAs(t, s.Record(ir.Operation{Kind: ir.Exp}, a).Err(), &rel)
	require.ErrorAs(t, s.Flush(ctx), &rel)
	require.Equal(t, []float32{1, 2}, read(t, w.Value()))
}

func TestIndexErrorAtRead(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	x := s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0)
	idx := s.FromBytes(ir.I64, ir.Shape{1}, append([]byte{7}, make([]byte, 7)...), 0)
	y := s.Record(ir.Operation{Kind: ir.Select, Attrs: ir.Attrs{Axes: []int{0}}}, x, idx)
	z := s.Record(ir.Operation{Kind: ir.Exp}, y)
	ok := s.Record(ir.Operation{Kind: ir.Add}, x, x)
	var index *ir.IndexError
	err := z.Read(context.Background(), make([]byte, 4))
	require.ErrorAs(t, err, &index)
	require.Equal(t, []float32{2, 4}, read(t, ok))
	require.NoError(t, s.Flush(context.Background()), "the failure was reported by the read")
}

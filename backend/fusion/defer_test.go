package fusion_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
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

// TestDeferredIsReadAgain: each of several dependents lets go of what it held,
// not of what it found.
func TestDeferredIsReadAgain(t *testing.T) {
	for _, o := range []fusion.Options{{}, {Fusers: fuser.Default()}} {
		rt := open(t, o)
		s := rt.Default()
		w := s.NewVar(s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0))
		h := rt.Defer(scalarOp(ir.Mul, 2), w.Value())
		a, b := rt.Defer(scalarOp(ir.Add, 1), h), rt.Defer(scalarOp(ir.Add, 2), h)
		for range 2 {
			require.Equal(t, []float32{2, 4}, read(t, h))
			require.Equal(t, []float32{3, 5}, read(t, a))
			require.Equal(t, []float32{2, 4}, read(t, h))
			require.Equal(t, []float32{4, 6}, read(t, b))
		}
	}
}

// TestDeferredElsewhere: the operands of a deferred operation may be pending or
// virtual on streams other than the one that uses it.
func TestDeferredElsewhere(t *testing.T) {
	for _, o := range []fusion.Options{{}, {Fusers: fuser.Default()}} {
		rt := open(t, o)
		def, s := rt.Default(), newStream(t, rt)
		v := def.NewVar(def.FromBytes(ir.F32, ir.Shape{2, 2}, floats(1, 2, 3, 4), 0))
		set := func(x float32) { // pending on s
			s.Effect(v, ir.Operation{Kind: ir.Set}, s.Record(ir.Operation{Kind: ir.Add}, v.Value(), s.FromBytes(ir.F32, ir.Shape{2, 2}, floats(x, x, x, x), 0)))
		}

		set(1)
		y := rt.Defer(scalarOp(ir.Mul, 10), v.Value())
		require.Equal(t, []float32{20, 30, 40, 50}, read(t, y))
		require.Equal(t, []float32{20, 30, 40, 50}, read(t, y))

		set(1)
		y = rt.Defer(transpose, rt.Defer(scalarOp(ir.Mul, 10), v.Value()))
		sum := newStream(t, rt).Record(ir.Operation{Kind: ir.Add}, y, y) // a third stream
		require.Equal(t, []float32{60, 100, 80, 120}, read(t, sum))

		shared := rt.Defer(scalarOp(ir.Mul, 2), v.Value())
		later := rt.Defer(transpose, shared)
		on := s.Record(scalarOp(ir.Add, 1), shared) // now on s
		require.Equal(t, s, shared.Home())
		require.Equal(t, []float32{6, 10, 8, 12}, read(t, later), "on the default stream")
		require.Equal(t, []float32{7, 9, 11, 13}, read(t, on))

		pos := def.NewVar(def.FromBytes(ir.I64, ir.Shape{}, make([]byte, 8), 0))
		one := s.FromBytes(ir.I64, ir.Shape{}, []byte{1, 0, 0, 0, 0, 0, 0, 0}, 0)
		s.Effect(pos, ir.Operation{Kind: ir.Set}, s.Record(ir.Operation{Kind: ir.Add}, pos.Value(), one))
		row := rt.Defer(ir.Operation{Kind: ir.Slice, Ranges: []ir.Range{{Input: 1, Len: 1, Step: 1}, {Len: 2, Step: 1}}}, v.Value(), pos.Value())
		require.Equal(t, []float32{5, 6}, read(t, row))

		set(1)
		kept := rt.Defer(scalarOp(ir.Mul, 1), v.Value())
		sc := def.Begin()
		sc.Keep(kept)
		require.NoError(t, sc.End(context.Background()))
		require.Equal(t, []float32{4, 5, 6, 7}, read(t, kept))

		set(1)
		require.Equal(t, []float32{5, 6, 7, 8}, read(t, def.NewVar(rt.Defer(scalarOp(ir.Mul, 1), v.Value())).Value()))
		set(1)
		def.Effect(v, ir.Operation{Kind: ir.Set}, rt.Defer(scalarOp(ir.Mul, 2), v.Value()))
		require.Equal(t, []float32{12, 14, 16, 18}, read(t, v.Value()))
	}
}

// TestSharedWeightConcurrently: some use a transposed Var, each on a stream of
// its own, while another overwrites the Var.
func TestSharedWeightConcurrently(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	def := rt.Default()
	v := def.NewVar(def.Record(ir.Operation{Kind: ir.Reshape, Attrs: ir.Attrs{Shape: ir.Shape{8, 8}}}, alike(def, 1, 64)))
	shared := rt.Defer(scalarOp(ir.Mul, 3), rt.Defer(transpose, v.Value()))
	together(5, func(i int) {
		s, err := rt.NewStream()
		if !assert.NoError(t, err) {
			return
		}
		defer s.Close()
		for k := range 30 {
			if i == 0 {
				full := ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{Shape: ir.Shape{8, 8}, DType: ir.F32}, Scalars: []ir.Scalar{ir.F32Scalar(float32(k))}}
				s.Effect(v, ir.Operation{Kind: ir.Set}, s.Record(full))
				if k%3 == 0 {
					assert.NoError(t, s.Flush(context.Background()))
				}
				continue
			}
			x := s.Record(ir.Operation{Kind: ir.Reshape, Attrs: ir.Attrs{Shape: ir.Shape{1, 8}}}, alike(s, 1, 8))
			got, err := elements(s.Record(ir.Operation{Kind: ir.MatMul}, x, rt.Defer(transpose, v.Value())))
			assert.NoError(t, err)
			for e := 4; e < len(got); e += 4 {
				assert.Equal(t, got[:4], got[e:e+4], "a torn weight")
			}
			got, err = elements(s.Record(ir.Operation{Kind: ir.MatMul}, x, shared))
			assert.NoError(t, err)
			assert.Equal(t, floats(24, 24, 24, 24, 24, 24, 24, 24), got)
		}
	})
}

// TestDeferredOutlivesItsOperand: a dead value stays as long as a deferred
// operation needs it, on whatever stream it was placed, and no longer.
func TestDeferredOutlivesItsOperand(t *testing.T) {
	for _, o := range []fusion.Options{{}, {Fusers: fuser.Default()}} {
		rt := open(t, o)
		def, s := rt.Default(), newStream(t, rt)
		v := def.NewVar(def.FromBytes(ir.F32, ir.Shape{2, 2}, floats(2, 4, 6, 8), 0))
		start := rt.Stats().Memory.Allocations
		for _, on := range []*fusion.Stream{def, s} {
			for _, scoped := range []bool{false, true} {
				sc := def.Begin()
				w := rt.Defer(scalarOp(ir.Mul, .5), v.Value())
				y, z, unused := rt.Defer(scalarOp(ir.Add, 1), w), rt.Defer(transpose, w), rt.Defer(scalarOp(ir.Add, 3), w)
				if scoped {
					sc.Keep(y)
					require.NoError(t, sc.End(context.Background()))
				} else {
					w.Release(0)
				}
				require.Equal(t, []float32{2, 3, 4, 5}, read(t, y))
				require.NoError(t, def.Flush(context.Background()))
				sum := on.Record(scalarOp(ir.Add, 0), z)
				require.Equal(t, []float32{1, 3, 2, 4}, read(t, sum))
				for _, x := range []*fusion.Value{unused, y, z, sum} {
					x.Release(0)
				}
				require.NoError(t, sc.End(context.Background()))
				require.NoError(t, rt.Flush(context.Background()))
				require.Error(t, w.Err())
				require.Equal(t, start, rt.Stats().Memory.Allocations, "what was dead is freed")
			}
		}
	}
}

// TestReleasedDeferredHoldsNothing: the next Set is in place.
func TestReleasedDeferredHoldsNothing(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	init := fromOnes(s, 2, 2)
	v := s.NewVar(init)
	init.Release(0)
	h := v.Value()
	a := rt.Defer(transpose, h)
	b := rt.Defer(scalarOp(ir.Mul, 2), a)
	h.Release(0)
	a.Release(0)
	b.Release(0)
	before := rt.Stats().InPlaceEffects
	x := fromOnes(s, 2, 2)
	s.Effect(v, ir.Operation{Kind: ir.Set}, s.Record(scalarOp(ir.Add, 1), x))
	require.NoError(t, s.Flush(context.Background()))
	require.Equal(t, int64(1), rt.Stats().InPlaceEffects-before)
}

package fusion_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

func ones(shape ...int) []byte {
	v := make([]float32, ir.Shape(shape).NumElements())
	for i := range v {
		v[i] = float32(i%7)/8 - 0.25
	}
	return floats(v...)
}

func fromOnes(s *fusion.Stream, shape ...int) *fusion.Value {
	return s.FromBytes(ir.F32, shape, ones(shape...), 0)
}

func scalarOp(kind ir.Kind, x float32) ir.Operation {
	return ir.Operation{Kind: kind, Scalars: []ir.Scalar{ir.F32Scalar(x)}}
}

// cost is what an iteration took.
type cost struct {
	launches, explorations, compiles, read, written, recomputed int64
	allocations                                                 int
	inUse                                                       int64
}

// costs runs a loop, collecting garbage after each iteration, and returns what
// each took.
func costs(t *testing.T, rt *fusion.Runtime, n int, iteration func(i int)) []cost {
	t.Helper()
	var out []cost
	before := rt.Stats()
	for i := range n {
		iteration(i)
		for range 3 {
			runtime.GC()
		}
		st := rt.Stats()
		out = append(out, cost{
			launches: st.Device.Launches - before.Device.Launches, explorations: st.Explorations - before.Explorations,
			compiles: st.Device.Compiles - before.Device.Compiles, read: st.BytesRead - before.BytesRead,
			written: st.BytesWritten - before.BytesWritten, recomputed: st.Recomputed - before.Recomputed,
			allocations: st.Memory.Allocations, inUse: st.Memory.InUse,
		})
		before = st
	}
	return out
}

// requireSteady checks that every iteration from the fourth on costs the same,
// and that nothing is planned, compiled or computed twice.
func requireSteady(t *testing.T, got []cost) {
	t.Helper()
	for i := 3; i < len(got); i++ {
		require.Equal(t, got[3], got[i], "iteration %d", i)
	}
	require.Zero(t, got[3].explorations)
	require.Zero(t, got[3].compiles)
	require.Zero(t, got[3].recomputed)
	require.Positive(t, got[3].launches)
}

// TestKnownSegments: ten equal segments are explored once.
func TestKnownSegments(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	for i := range 10 {
		x := fromOnes(s, 4, 8)
		y := s.Record(scalarOp(ir.Mul, float32(i)), x)
		y = s.Record(ir.Operation{Kind: ir.Add}, y, x)
		y = s.Record(ir.Operation{Kind: ir.Exp}, y)
		read(t, y)
	}
	st := rt.Stats()
	require.Equal(t, int64(1), st.Explorations)
	require.Equal(t, int64(9), st.PlanHits)
	require.Equal(t, int64(10), st.Segments)
	require.Equal(t, int64(1), st.Device.Compiles)
	require.Equal(t, int64(10), st.Device.Launches)
	require.Equal(t, int64(30), st.Recorded)
}

// TestDecodeWithCache decodes with a key and value cache of fixed size in Vars,
// without a scope: the starts move, the costs do not.
func TestDecodeWithCache(t *testing.T) {
	const d, length = 8, 16
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	var weights []*fusion.Var
	for range 4 {
		weights = append(weights, s.NewVar(fromOnes(s, d, d)))
	}
	keys, values := s.NewVar(fromOnes(s, length, d)), s.NewVar(fromOnes(s, length, d))
	h := fromOnes(s, 1, d)
	op := func(k ir.Kind, in ...*fusion.Value) *fusion.Value { return s.Record(ir.Operation{Kind: k}, in...) }
	got := costs(t, rt, 12, func(i int) {
		q := op(ir.MatMul, h, weights[0].Value())
		put := func(cache *fusion.Var, w *fusion.Var) {
			s.Effect(cache, ir.Operation{Kind: ir.SetSlice, Ranges: []ir.Range{{Start: i, Len: 1, Step: 1}, {Len: d, Step: 1}}}, op(ir.MatMul, h, w.Value()))
		}
		put(keys, weights[1])
		put(values, weights[2])
		kt := s.Record(ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: []int{1, 0}}}, keys.Value())
		p := s.Record(ir.Operation{Kind: ir.Softmax, Attrs: ir.Attrs{Axes: []int{1}}}, op(ir.MatMul, q, kt))
		o := op(ir.MatMul, op(ir.MatMul, p, values.Value()), weights[3].Value())
		h = op(ir.Tanh, op(ir.Add, o, h))
		read(t, h)
	})
	requireSteady(t, got)
}

// TestDecodeWithTensors carries state in plain tensors, without a scope.
func TestDecodeWithTensors(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	w := s.NewVar(fromOnes(s, 8, 8))
	h, c := fromOnes(s, 2, 8), fromOnes(s, 2, 8)
	got := costs(t, rt, 10, func(int) {
		z := s.Record(ir.Operation{Kind: ir.MatMul}, h, w.Value())
		f := s.Record(ir.Operation{Kind: ir.Sigmoid}, z)
		c = s.Record(ir.Operation{Kind: ir.Add}, s.Record(ir.Operation{Kind: ir.Mul}, f, c), s.Record(scalarOp(ir.Mul, 0.5), z))
		h = s.Record(ir.Operation{Kind: ir.Mul}, s.Record(ir.Operation{Kind: ir.Tanh}, c), f)
		read(t, h)
	})
	requireSteady(t, got)
}

// TestLongLoop never reads inside the loop: the queue is cut at whole
// iterations.
func TestLongLoop(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default(), QueueLimit: 30})
	s := rt.Default()
	h := fromOnes(s, 2, 8)
	got := costs(t, rt, 12, func(int) {
		for range 10 { // three operations each: one queue
			h = s.Record(ir.Operation{Kind: ir.Tanh}, s.Record(scalarOp(ir.Add, 0.1), s.Record(scalarOp(ir.Mul, 0.9), h)))
		}
	})
	requireSteady(t, got)
	read(t, h)
	require.LessOrEqual(t, rt.Stats().Explorations, int64(3))
}

// TestTrainingInScopes: every effect is in place, and dead gradients take no
// memory.
func TestTrainingInScopes(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	w, m := s.NewVar(fromOnes(s, 8, 8)), s.NewVar(fromOnes(s, 8, 8))
	got := costs(t, rt, 8, func(int) {
		sc := s.Begin()
		x := fromOnes(s, 4, 8)
		y := s.Record(ir.Operation{Kind: ir.MatMul}, x, w.Value())
		g := s.Record(ir.Operation{Kind: ir.MatMul}, s.Record(ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: []int{1, 0}}}, x), y)
		s.Effect(m, ir.Operation{Kind: ir.Set}, s.Record(ir.Operation{Kind: ir.Add}, s.Record(scalarOp(ir.Mul, 0.9), m.Value()), g))
		s.Effect(w, ir.Operation{Kind: ir.Set}, s.Record(ir.Operation{Kind: ir.Sub}, w.Value(), s.Record(scalarOp(ir.Mul, 0.001), m.Value())))
		loss := s.Record(ir.Operation{Kind: ir.Mean, Attrs: ir.Attrs{Axes: []int{0, 1}}}, y)
		sc.Keep(loss)
		require.NoError(t, sc.End(context.Background()))
		read(t, loss)
	})
	requireSteady(t, got)
	st := rt.Stats()
	require.Equal(t, st.Effects, st.InPlaceEffects)
	require.Equal(t, int64(16), st.Effects)
	require.LessOrEqual(t, st.VersionCopies, int64(2), "the Vars shared memory with the tensors they were made from, once")
}

// TestInPlace: memory of a consumed input is taken, of a living one not.
func TestInPlace(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	chain := func(consume bool) int64 {
		before := rt.Stats().InPlace
		x := s.FromBytes(ir.F32, ir.Shape{4}, floats(1, 2, 3, 4), 0)
		between := s.Record(scalarOp(ir.Add, 1), x)
		y := s.Record(scalarOp(ir.Mul, 2), between)
		between.Release(0) // or its recipe would start from x
		if consume {
			x.Release(0)
		}
		require.Equal(t, []float32{4, 6, 8, 10}, read(t, y))
		if !consume {
			require.Equal(t, []float32{1, 2, 3, 4}, read(t, x))
		}
		return rt.Stats().InPlace - before
	}
	for range 3 {
		require.Equal(t, int64(1), chain(true))
		require.Equal(t, int64(0), chain(false))
	}
	// In a scope the end consumes.
	before := rt.Stats().InPlace
	sc := s.Begin()
	x := s.FromBytes(ir.F32, ir.Shape{4}, floats(1, 2, 3, 4), 0)
	y := s.Record(scalarOp(ir.Mul, 2), s.Record(scalarOp(ir.Add, 1), x))
	sc.Keep(y)
	require.NoError(t, sc.End(context.Background()))
	require.Equal(t, []float32{4, 6, 8, 10}, read(t, y))
	require.Equal(t, int64(1), rt.Stats().InPlace-before)
	// A view of the input that lives, and a second reader, forbid it.
	before = rt.Stats().InPlace
	x = s.FromBytes(ir.F32, ir.Shape{2, 2}, floats(1, 2, 3, 4), 0)
	xt := s.Record(ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: []int{1, 0}}}, x)
	require.Equal(t, []float32{1, 3, 2, 4}, read(t, xt))
	y = s.Record(ir.Operation{Kind: ir.Add}, x, xt)
	x.Release(0)
	require.Equal(t, []float32{2, 5, 5, 8}, read(t, y))
	require.Equal(t, []float32{1, 3, 2, 4}, read(t, xt))
	require.Equal(t, int64(0), rt.Stats().InPlace-before)
}

// TestPlanIgnoresData: scalars, starts and seeds make no plan; shapes of
// another pattern do.
func TestPlanIgnoresData(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	f := func(rows, start int, x float32) []float32 {
		a := s.FromBytes(ir.F32, ir.Shape{rows, 3}, ones(rows, 3), 0)
		r := s.Record(ir.Operation{Kind: ir.Slice, Ranges: []ir.Range{{Start: start, Len: 2, Step: 1}, {Len: 3, Step: 1}}}, a)
		return read(t, s.Record(scalarOp(ir.Add, x), r))
	}
	f(5, 0, 1)
	require.Equal(t, int64(1), rt.Stats().Explorations)
	a := f(7, 3, 2)
	require.Equal(t, int64(1), rt.Stats().Explorations, "other lengths, start and scalar")
	var want []float32
	for i := 9; i < 15; i++ {
		want = append(want, float32(i%7)/8-0.25+2)
	}
	require.Equal(t, want, a)
	f(2, 0, 1)
	require.Equal(t, int64(2), rt.Stats().Explorations, "the slice is all of it")
}

// TestDeadDrawsCount: a draw nobody needs is not computed but advances the
// sequence.
func TestDeadDrawsCount(t *testing.T) {
	draw := func(rt *fusion.Runtime) *fusion.Value {
		seed, at := rt.Draw()
		return rt.Default().Record(ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: ir.Shape{4}, DType: ir.F32},
			Scalars: []ir.Scalar{ir.I64Scalar(int64(seed)), ir.I64Scalar(int64(at)), ir.F32Scalar(0), ir.F32Scalar(1)}})
	}
	a, b := open(t, fusion.Options{Fusers: fuser.Default()}), open(t, fusion.Options{})
	draw(a).Release(0)
	x := read(t, draw(a))
	require.Equal(t, int64(1), a.Stats().Device.Launches)
	first := read(t, draw(b))
	require.Equal(t, read(t, draw(b)), x)
	require.NotEqual(t, first, x)
	_, at := a.RandomState()
	require.Equal(t, uint64(2), at)
}

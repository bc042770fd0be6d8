package fusion_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// trainer holds parameters of different shapes and their velocities.
type trainer struct {
	s            *fusion.Stream
	shapes       []ir.Shape
	params, vels []*fusion.Var
}

func newTrainer(rt *fusion.Runtime, params int) *trainer {
	t := &trainer{s: rt.Default()}
	for i := range params {
		shape := []ir.Shape{{3 + i}, {2, 1 + i}, {1 + i%4, 2, 3}}[i%3]
		t.shapes = append(t.shapes, shape)
		t.params = append(t.params, t.s.NewVar(t.random(uint64(i), shape)))
		t.vels = append(t.vels, t.s.NewVar(t.random(uint64(100+i), shape)))
	}
	return t
}

func (t *trainer) random(seed uint64, shape ir.Shape) *fusion.Value {
	r := rand.New(rand.NewPCG(seed, 9))
	v := make([]float32, shape.NumElements())
	for i := range v {
		v[i] = r.Float32() - 0.5
	}
	return t.s.FromBytes(ir.F32, shape, floats(v...), 0)
}

// step records one update of every parameter in a scope of its own.
func (t *trainer) step(tb *testing.T, seed uint64) {
	sc := t.s.Begin()
	for i, p := range t.params {
		m := t.vels[i]
		v := t.s.Record(ir.Operation{Kind: ir.Add}, t.s.Record(scalarOp(ir.Mul, 0.9), m.Value()), t.random(seed+uint64(i), t.shapes[i]))
		t.s.Effect(m, ir.Operation{Kind: ir.Set}, v)
		t.s.Effect(p, ir.Operation{Kind: ir.Set}, t.s.Record(ir.Operation{Kind: ir.Sub}, p.Value(), t.s.Record(scalarOp(ir.Mul, 0.1), v)))
	}
	require.NoError(tb, sc.End(tb.Context()))
}

func (t *trainer) read(tb *testing.T) (out [][]float32) {
	for i := range t.params {
		out = append(out, read(tb, t.params[i].Value()), read(tb, t.vels[i].Value()))
	}
	return out
}

// An optimiser step of twenty parameters of different shapes is one launch, with
// the bits and bytes of twenty.
func TestOptimiserStepIsOneLaunch(t *testing.T) {
	const params, steps = 20, 4
	run := func(o fusion.Options) ([][]float32, fusion.Stats) {
		dev, err := backend.Open("cpu", backend.Options{Workers: 2, Poison: true})
		require.NoError(t, err)
		o.Logger, o.Optimize.Check = silent, true
		rt, err := fusion.New(dev, o)
		require.NoError(t, err)
		defer rt.Close()
		tr := newTrainer(rt, params)
		for i := range 3 { // learn, and settle
			tr.step(t, uint64(1000*i))
		}
		before := rt.Stats()
		for i := range steps {
			tr.step(t, uint64(7000+1000*i))
		}
		stats := rt.Stats().Sub(before)
		require.Zero(t, stats.Explorations)
		require.Zero(t, stats.Fallbacks)
		return tr.read(t), stats
	}
	want, _ := run(fusion.Options{})
	got, one := run(fusion.Options{Fusers: fuser.Default()})
	require.Equal(t, want, got, "the bits of operations one by one")
	require.EqualValues(t, steps, one.Device.Launches)
	o := fusion.Options{Fusers: fuser.Default()}
	o.Optimize.Disable = []string{fuser.HorizontalName}
	got, many := run(o)
	require.Equal(t, want, got)
	require.EqualValues(t, steps*params, many.Device.Launches)
	require.Equal(t, []int64{many.BytesRead, many.BytesWritten}, []int64{one.BytesRead, one.BytesWritten}, "what is saved is launches")
}

// A launch of parts that does not compile runs as single operations; a failing
// operand fails its own part alone.
func TestPartsFallBack(t *testing.T) {
	rt, faulty := openFaulty(t, fuser.Default())
	s := rt.Default()
	independent := func(x *fusion.Value) (a, b *fusion.Value) {
		a = s.Record(scalarOp(ir.Mul, 2), s.Record(scalarOp(ir.Add, 1), x))
		b = s.Record(scalarOp(ir.Mul, 3), s.Record(scalarOp(ir.Add, 1), s.FromBytes(ir.F32, ir.Shape{3}, floats(1, 2, 3), 0)))
		return a, b
	}
	faulty.FailAt(backend.CallCompile, 1)
	a, b := independent(s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0))
	require.Equal(t, []float32{4, 6}, read(t, a))
	require.Equal(t, []float32{6, 9, 12}, read(t, b))
	require.EqualValues(t, 1, rt.Stats().Fallbacks)

	bad := s.Record(ir.Operation{Kind: ir.Gather, Attrs: ir.Attrs{Axes: []int{0}}},
		s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0), s.FromBytes(ir.I64, ir.Shape{2}, append(make([]byte, 8), 5, 0, 0, 0, 0, 0, 0, 0), 0))
	a, b = independent(bad)
	require.Equal(t, []float32{6, 9, 12}, read(t, b))
	err := a.Read(t.Context(), make([]byte, 8))
	var index *ir.IndexError
	require.ErrorAs(t, err, &index)
}

// Lengths that make one part empty are no matter for the others.
func TestEmptyParts(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	for _, n := range []int{3, 0, 5} {
		x := s.FromBytes(ir.F32, ir.Shape{n, 2}, make([]byte, 8*n), 0)
		y := s.FromBytes(ir.F32, ir.Shape{4}, floats(1, 2, 3, 4), 0)
		a, b := s.Record(scalarOp(ir.Add, 1), s.Record(ir.Operation{Kind: ir.Neg}, x)), s.Record(scalarOp(ir.Add, 1), s.Record(ir.Operation{Kind: ir.Neg}, y))
		require.Equal(t, []float32{0, -1, -2, -3}, read(t, b))
		require.Len(t, read(t, a), 2*n)
	}
	require.Zero(t, rt.Stats().Fallbacks)
}

package fusion_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

// sampleProgram is a random program with its data.
func sampleProgram(seed uint64) (*ir.Program, progen.Data) {
	p := progen.Generate(seed, progen.DefaultOptions())
	d, _ := progen.RandomData(p, seed, progen.DataOptions{})
	return p, d
}

// A runtime with the plans of another, by directory or stream, explores nothing
// for programs that one has run, and gives the same bits.
func TestSavedPlansNeedNoExploring(t *testing.T) {
	if _, err := os.Executable(); err != nil {
		t.Skipf("saved plans are told apart by the running program, whose file is not known here: %v", err)
	}
	w := way{name: "fused", fused: true, workers: 1, stir: true, plans: t.TempDir()}
	const programs = 12
	run := func(rt *fusion.Runtime) []map[ir.TensorID]result {
		var out []map[ir.TensorID]result
		for seed := range uint64(programs) {
			p, d := sampleProgram(seed)
			got, err := w.playOn(rt, p, d, seed)
			require.NoError(t, err)
			out = append(out, got)
		}
		return out
	}
	first, err := w.open()
	require.NoError(t, err)
	want := run(first)
	made := first.Stats()
	require.Positive(t, made.Explorations)
	require.Positive(t, made.PlansSaved)
	require.LessOrEqual(t, made.PlansSaved, made.Explorations)
	require.Zero(t, made.PlansLoaded)
	var stream bytes.Buffer
	require.NoError(t, first.SavePlans(&stream))
	require.NoError(t, first.Close())

	for _, way := range []string{"directory", "stream"} {
		if way == "stream" {
			w.plans = ""
		}
		second, err := w.open()
		require.NoError(t, err)
		if way == "stream" {
			n, err := second.LoadPlans(&stream)
			require.NoError(t, err)
			require.EqualValues(t, made.Explorations, n)
		}
		got := run(second)
		stats := second.Stats()
		require.Zero(t, stats.Explorations, way)
		require.Positive(t, stats.PlansLoaded, way)
		require.Zero(t, stats.PlansSaved, way)
		require.Zero(t, stats.Fallbacks, way)
		require.Equal(t, made.BytesRead, stats.BytesRead, way)
		require.Equal(t, made.Device.Launches, stats.Device.Launches, way)
		for i := range want {
			require.Len(t, got[i], len(want[i]))
			for id, x := range want[i] {
				require.NoError(t, sameResult(got[i][id], x), "%s, program %d, %%%d", way, i, id)
			}
		}
		require.NoError(t, second.Close())
	}
}

// A loaded plan that does not hold for the lengths at hand is no plan: another
// is made and saved beside it.
func TestSavedPlansAreGuarded(t *testing.T) {
	if _, err := os.Executable(); err != nil {
		t.Skipf("saved plans are told apart by the running program, whose file is not known here: %v", err)
	}
	w := way{fused: true, workers: 1, plans: t.TempDir()}
	softmax := func(rt *fusion.Runtime, n int) {
		r := rand.New(rand.NewPCG(1, 2))
		x := make([]float32, n)
		for i := range x {
			x[i] = r.Float32()
		}
		s := rt.Default()
		v := s.FromBytes(ir.F32, ir.Shape{1, n}, floats(x...), 0)
		y := s.Record(ir.Operation{Kind: ir.Softmax, Attrs: ir.Attrs{Axes: []int{1}}}, s.Record(scalarOp(ir.Mul, 2), v))
		require.Len(t, read(t, y), n)
	}
	const short, long = 10, 1 << 18 // of which one row fits on chip
	stats := func(f func(rt *fusion.Runtime)) fusion.Stats {
		rt, err := w.open()
		require.NoError(t, err)
		defer rt.Close()
		f(rt)
		return rt.Stats()
	}
	require.EqualValues(t, 1, stats(func(rt *fusion.Runtime) { softmax(rt, short) }).Explorations)
	s := stats(func(rt *fusion.Runtime) { softmax(rt, long) })
	require.EqualValues(t, []int64{1, 1, 1}, []int64{s.PlansLoaded, s.Explorations, s.PlansSaved})
	s = stats(func(rt *fusion.Runtime) { softmax(rt, short); softmax(rt, long); softmax(rt, 2*short) })
	require.EqualValues(t, []int64{2, 0, 0}, []int64{s.PlansLoaded, s.Explorations, s.PlansSaved})
}

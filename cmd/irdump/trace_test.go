package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/backend/null"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/trace"
	"github.com/sinter-ml/sinter/ir"
)

func here() uintptr {
	var at [1]uintptr
	runtime.Callers(2, at[:])
	return at[0]
}

// record writes a trace of a loop that adds row sums to a Var, and of one
// matrix product, to a file.
func record(t *testing.T, path string) {
	t.Helper()
	ctx := context.Background()
	rt, err := fusion.New(null.Open(backend.Options{}), fusion.Options{Fusers: fuser.Default()})
	require.NoError(t, err)
	w, err := trace.Open(path, trace.NewHeader("null", rt.Device().Profile(), fuser.Default()))
	require.NoError(t, err)
	rt.Observe(w.Observe)
	s := rt.Default()
	x := s.FromBytes(ir.F32, ir.Shape{4, 8}, make([]byte, 4*8*4), here())
	x.SetName("x")
	v := s.NewVar(s.FromBytes(ir.F32, ir.Shape{4, 1}, make([]byte, 4*4), here()))
	v.SetName("total")
	for range 12 {
		sc := s.Begin()
		scaled := s.Record(ir.Operation{Kind: ir.Mul, Scalars: []ir.Scalar{ir.F32Scalar(0.5)}, PC: here()}, x)
		sum := s.Record(ir.Operation{Kind: ir.Sum, Attrs: ir.Attrs{Axes: []int{1}}, PC: here()}, scaled)
		sum.SetName("sum")
		s.Effect(v, ir.Operation{Kind: ir.Set, PC: here()}, s.Record(ir.Operation{Kind: ir.Add, PC: here()}, v.Value(), sum))
		require.NoError(t, sc.End(ctx))
	}
	sc := s.Begin()
	sc.Keep(s.Record(ir.Operation{Kind: ir.MatMul, PC: here()}, x, s.Record(ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: []int{1, 0}}, PC: here()}, x)))
	require.NoError(t, sc.End(ctx))
	w.Counted(rt.Stats())
	require.NoError(t, w.Close())
	require.NoError(t, rt.Close())
}

// TestTraceOfChurn: plans of one sequence and what the runtime ran for itself
// are said to be that.
func TestTraceOfChurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	rt, err := fusion.New(null.Open(backend.Options{}), fusion.Options{Fusers: fuser.Default()})
	require.NoError(t, err)
	h := trace.NewHeader("null", rt.Device().Profile(), fuser.Default())
	h.Disable = []string{"cse", "horizontal", "recompute"}
	w, err := trace.Open(path, h)
	require.NoError(t, err)
	rt.Observe(w.Observe)
	s := rt.Default()
	x := s.FromBytes(ir.F32, ir.Shape{4}, make([]byte, 16), here())
	for range 3 {
		late := s.Record(ir.Operation{Kind: ir.Exp, PC: here()}, x)
		for _, v := range []*fusion.Value{s.Record(ir.Operation{Kind: ir.Neg, PC: here()}, late), late} {
			require.NoError(t, v.Read(context.Background(), make([]byte, 16)))
		}
	}
	w.Counted(rt.Stats())
	require.NoError(t, w.Close())
	require.NoError(t, rt.Close())
	out := good(t, "ops", path)
	assert.Contains(t, out, ", without cse horizontal recompute, ")
	assert.Contains(t, out, "; not recorded: recomputed\n")
	assert.Contains(t, out, "; plan 2 of sequence 1\n")
	out = good(t, "stats", path)
	assert.Contains(t, out, "sequence 1 has 2 plans, of segments [1 3]")
	assert.Contains(t, out, "recomputed: %1 Exp")
	assert.Regexp(t, `\n  recomputed +1\n`, out)
	assert.Regexp(t, `\n3 +2 +2 +96 +%1 Exp  .*trace_test.go:`, out)

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	code, out, _ := irdump(t, strings.Join(strings.SplitAfter(string(raw), "\n")[:2], ""), "stats")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "no counters: it was not closed")
	code, _, errs := irdump(t, "", "stats", "testdata/mlp.sinter")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "of a trace")
}

// What is said of a run is what a fresh trace of the same run says.
func TestTraceOfARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	record(t, path)
	if *update {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		dir, err := filepath.Abs(filepath.Join("..", ".."))
		require.NoError(t, err)
		raw = bytes.ReplaceAll(raw, []byte(dir+"/"), nil)
		require.NoError(t, os.WriteFile("testdata/trace.jsonl", raw, 0o644))
	}
	out := good(t, "fuse", path)
	assert.Contains(t, out, "trace of device null")
	assert.Contains(t, out, "segment 1: ran ")
	assert.Contains(t, out, "segment 2: ran ")
	assert.Contains(t, out, `"sum"`)
	assert.Contains(t, out, "cmd/irdump/trace_test.go:")
	assert.NotContains(t, out, "or more")

	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	tr, err := trace.Read(f)
	require.NoError(t, err)
	var runs int64
	for i := range tr.Segments {
		runs += tr.Segments[i].Total()
	}
	assert.EqualValues(t, 13, runs)

	// A trace whose program was killed is shown as far as it goes.
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(raw), "\n")
	code, out, _ := irdump(t, lines[0]+lines[1]+lines[2][:len(lines[2])/2], "fuse")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "segment 1: ran 1 times: 1 on stream 1 or more")
}

func TestTraceOptions(t *testing.T) {
	for _, flag := range []string{"-keep", "-force", "-no-fusion", "-no-fuser=matmul", "-no-pass=cse", "-no-rule=recompute"} {
		code, _, errs := irdump(t, "", "fuse", flag, "testdata/trace.jsonl")
		assert.Equal(t, exitUsage, code, flag)
		assert.Contains(t, errs, "are for programs")
	}
	code, _, errs := irdump(t, "", "fuse", "-segment", "99", "testdata/trace.jsonl")
	assert.Equal(t, exitInput, code)
	assert.Contains(t, errs, "there is no segment 99")
	one := good(t, "ops", "-segment", "2", "testdata/trace.jsonl")
	assert.Contains(t, one, "segment 2: ")
	assert.NotContains(t, one, "segment 1: ")
}

package fusion_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/backendtest"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

var silent = slog.New(slog.DiscardHandler)

// openFaulty opens a device whose calls can be made to fail.
func openFaulty(t testing.TB, fusers []fuser.Factory) (*fusion.Runtime, *backendtest.FaultyDevice) {
	t.Helper()
	dev, err := backend.Open("cpu", backend.Options{Workers: 1, Poison: true})
	require.NoError(t, err)
	faulty := backendtest.Faulty(dev)
	rt, err := fusion.New(faulty, fusion.Options{Fusers: fusers, Optimize: optimize.Options{Check: true}, Logger: silent})
	require.NoError(t, err)
	t.Cleanup(func() { rt.Close() })
	return rt, faulty
}

// injected reports whether an error is of a type an injected fault gives.
func injected(err error) bool {
	var memory *backend.OutOfMemoryError
	return errors.Is(err, backend.ErrInjected) || errors.As(err, &memory)
}

// settled waits until the collector has freed all but n buffers.
func settled(t *testing.T, dev backend.Device, n int, what ...any) {
	t.Helper()
	for range 200 {
		runtime.GC()
		if dev.Memory().Allocations <= n {
			break
		}
		time.Sleep(time.Millisecond)
	}
	require.Equal(t, n, dev.Memory().Allocations, "%+v in use after %v", dev.Memory(), what)
}

// state is a program with a Var, values kept of old versions, a dead value and
// a reduction: what it reads, by name.
func state(s *fusion.Stream) (values map[string]*fusion.Value, w *fusion.Var) {
	x := s.FromBytes(ir.F32, ir.Shape{2, 4}, floats(1, 2, 3, 4, 5, 6, 7, 8), 0)
	w = s.NewVar(x)
	v0 := w.Value()
	a := s.Record(here(ir.Operation{Kind: ir.Mul}), v0, x)
	b := s.Record(here(ir.Operation{Kind: ir.Add}), a, v0)
	s.Effect(w, here(ir.Operation{Kind: ir.SetSlice, Ranges: []ir.Range{{Start: 1, Len: 1, Step: 1}, {Start: 0, Len: 4, Step: 1}}}),
		s.Record(here(ir.Operation{Kind: ir.Slice, Ranges: []ir.Range{{Start: 0, Len: 1, Step: 1}, {Start: 0, Len: 4, Step: 1}}}), b))
	v1 := w.Value()
	c := s.Record(here(ir.Operation{Kind: ir.Sum, Attrs: ir.Attrs{Axes: []int{1}}}), v1)
	dead := s.Record(here(ir.Operation{Kind: ir.Exp}), c)
	dead.Release(0)
	d := s.Record(here(ir.Operation{Kind: ir.Mul}), v1, c)
	s.Effect(w, here(ir.Operation{Kind: ir.Set}), d)
	v2 := w.Value()
	e := s.Record(here(ir.Operation{Kind: ir.Neg}), v2)
	return map[string]*fusion.Value{"x": x, "v0": v0, "a": a, "b": b, "v1": v1, "c": c, "d": d, "v2": v2, "e": e}, w
}

var stateWant = map[string][]float32{
	"x": {1, 2, 3, 4, 5, 6, 7, 8}, "v0": {1, 2, 3, 4, 5, 6, 7, 8},
	"a": {1, 4, 9, 16, 25, 36, 49, 64}, "b": {2, 6, 12, 20, 30, 42, 56, 72},
	"v1": {1, 2, 3, 4, 2, 6, 12, 20}, "c": {10, 40},
	"d": {10, 20, 30, 40, 80, 240, 480, 800}, "v2": {10, 20, 30, 40, 80, 240, 480, 800},
	"e": {-10, -20, -30, -40, -80, -240, -480, -800},
}

// wantAfter returns the values when some carry a fault: an effect of one that
// does leaves the Var as it was.
func wantAfter(carries map[string]bool) map[string][]float32 {
	want := map[string][]float32{}
	for k, v := range stateWant {
		want[k] = v
	}
	if carries["b"] {
		want["v1"], want["c"] = want["v0"], []float32{10, 26}
		want["d"] = []float32{10, 20, 30, 40, 130, 156, 182, 208}
		want["v2"] = want["d"]
	}
	if carries["d"] {
		want["v2"] = want["v1"]
	}
	want["e"] = nil
	for _, x := range want["v2"] {
		want["e"] = append(want["e"], -x)
	}
	return want
}

// either returns what a value may be when some carry a fault: a virtual value
// may come to carry one long after the effect that used it.
func either(carries map[string]bool, name string) [][]byte {
	var out [][]byte
	for _, b := range []bool{false, carries["b"]} {
		for _, d := range []bool{false, carries["d"]} {
			out = append(out, floats(wantAfter(map[string]bool{"b": b, "d": d})[name]...))
		}
	}
	return out
}

// here is an operation recorded by the caller.
func here(op ir.Operation) ir.Operation {
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	op.PC = pc[0]
	return op
}

// TestEveryFault makes each call of the device fail in turn. What is read is
// right or carries the fault; the device works on; nothing leaks.
func TestEveryFault(t *testing.T) {
	for _, fusers := range [][]fuser.Factory{nil, fuser.Default()} {
		for _, call := range []backend.Call{backend.CallAlloc, backend.CallWrite, backend.CallRead, backend.CallCopy, backend.CallCompile, backend.CallLaunch, backend.CallSync} {
			failures := 0
			for k := 1; ; k++ {
				rt, dev := openFaulty(t, fusers)
				dev.FailAt(call, k)
				failed := faultOnce(t, rt, call, k)
				failures += failed
				if dev.Calls(call) < k {
					assert.Zero(t, failed, "%s: no fault left", call)
					require.NoError(t, rt.Close())
					break
				}
				// The device works on.
				values, _ := state(rt.Default())
				for name, v := range values {
					require.Equal(t, stateWant[name], read(t, v), "%s after fault %d of %s", name, k, call)
				}
				require.NoError(t, rt.Close(), "the fault was reported")
			}
			if call != backend.CallSync && call != backend.CallCompile { // compiling is tried again
				assert.Positive(t, failures, "%s never failed anything", call)
			}
		}
	}
}

// faultOnce runs the program, checks what it can read and returns how many
// values carry the fault. All memory is free afterwards.
func faultOnce(t *testing.T, rt *fusion.Runtime, what ...any) (failed int) {
	t.Helper()
	values, w := state(rt.Default())
	ctx := context.Background()
	got := map[string][]byte{}
	carries := map[string]bool{}
	for name, v := range values {
		b := make([]byte, v.Shape().NumElements()*4)
		err := v.Read(ctx, b)
		if err == nil {
			got[name] = b
			continue
		}
		failed++
		require.True(t, injected(err), "%s: %v", name, err)
		if v.Err() != nil { // not only the read failed
			carries[name] = true
			var op *ir.OpError
			require.ErrorAs(t, err, &op, name)
		}
	}
	for name, b := range got {
		require.Contains(t, either(carries, name), b, "%s, when %v carry a fault", name, carries)
	}
	// A Var that was not wholly written stays failed; a Set mends it.
	s := rt.Default()
	s.Effect(w, ir.Operation{Kind: ir.Set}, s.FromBytes(ir.F32, ir.Shape{2, 4}, floats(stateWant["x"]...), 0))
	after := w.Value()
	b := make([]byte, 32)
	if err := after.Read(ctx, b); err != nil {
		require.True(t, injected(err), "%v", err)
		failed++
	} else {
		require.Contains(t, append(either(carries, "v2"), floats(stateWant["x"]...)), b)
	}
	if err := rt.Flush(ctx); err != nil {
		require.True(t, injected(err), "%v", err)
		failed++
	}
	after.Release(0)
	for _, v := range values {
		v.Release(0)
	}
	values, w, after = nil, nil, nil
	settled(t, rt.Device(), 0, what...)
	return failed
}

// TestFaultIsExact makes one launch fail, fusion off: exactly the operation and
// what was computed from it carry the error, which is reported once.
func TestFaultIsExact(t *testing.T) {
	for k, carries := range []map[string]bool{
		{"a": true, "b": true}, {"b": true}, {"v1": true, "c": true, "d": true, "v2": true, "e": true}, {"c": true, "d": true}, {"d": true}, {"v2": true, "e": true}, {"e": true},
	} {
		rt, dev := openFaulty(t, nil)
		values, w := state(rt.Default())
		dev.FailAt(backend.CallLaunch, k+1)
		err := rt.Flush(context.Background())
		require.True(t, injected(err), "%v", err)
		require.ErrorContains(t, err, "fault_test.go:")
		require.NoError(t, rt.Flush(context.Background()), "reported once")
		for n, v := range values {
			if carries[n] {
				require.True(t, injected(v.Err()), "%s when launch %d failed: %v", n, k, v.Err())
			} else {
				require.NoError(t, v.Err(), "%s when launch %d failed", n, k)
				require.Equal(t, wantAfter(carries)[n], read(t, v), "%s when launch %d failed", n, k)
			}
		}
		s := rt.Default()
		s.Effect(w, ir.Operation{Kind: ir.Set}, values["x"])
		require.Equal(t, stateWant["x"], read(t, w.Value()), "wholly written")
	}
}

// TestFaultsInRandomPrograms makes one launch or allocation of random programs
// fail.
func TestFaultsInRandomPrograms(t *testing.T) {
	seeds := uint64(15)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		p := progen.Generate(300+seed, progen.Options{Ops: 16, MaxElements: 200, Weights: map[string]int{"effect": 6, "view": 4, "binary": 6, "unary": 4, "reduce": 3, "index": 2, "matmul": 2}})
		d, _ := progen.RandomData(p, seed, progen.DataOptions{})
		want, err := plainWay.play(p, d, seed)
		require.NoError(t, err)
		for _, call := range []backend.Call{backend.CallLaunch, backend.CallAlloc, backend.CallCopy} {
			for _, k := range []int{1, 3, 7, 12, 20} {
				for _, fusers := range [][]fuser.Factory{nil, fuser.Default()} {
					rt, dev := openFaulty(t, fusers)
					dev.FailAt(call, k+len(p.Inputs)+len(p.Vars))
					w := way{stir: true, fused: fusers != nil}
					got, err := w.playOn(rt, p, d, seed)
					require.NoError(t, err)
					for id, r := range got {
						if r.err != nil {
							require.True(t, injected(r.err), "seed %d %s %d %%%d: %v\n%s", seed, call, k, id, r.err, p)
						} else {
							checkAfterFault(t, p, want, got, id)
						}
					}
					_ = rt.Flush(context.Background())
					settled(t, dev, 0, seed, call, k, fusers != nil, p)
					rt.Close()
				}
			}
		}
	}
}

// checkAfterFault compares a value with what it should be, unless it comes
// after an effect that was skipped.
func checkAfterFault(t *testing.T, p *ir.Program, want, got map[ir.TensorID]result, id ir.TensorID) {
	t.Helper()
	defs := p.Definitions()
	var ofVar func(id ir.TensorID) bool
	seen := map[ir.TensorID]bool{}
	ofVar = func(id ir.TensorID) bool {
		if seen[id] {
			return false
		}
		seen[id] = true
		def := defs[id]
		if def.Source != ir.FromOp {
			return false
		}
		op := &p.Ops[def.Index]
		if ir.Lookup(op.Kind).Class == ir.ClassEffect {
			return true
		}
		for _, in := range op.Inputs {
			if ofVar(in.ID) {
				return true
			}
		}
		return false
	}
	if !ofVar(id) {
		require.NoError(t, sameResult(got[id], want[id]), "%%%d\n%s", id, p)
	}
}

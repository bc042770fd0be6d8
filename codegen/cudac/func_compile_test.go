package cudac

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/ir"
)

// entryPoint is a kernel that computes an expression of operands x0, x1, … of the
// given C++ types, one thread an element, into one of type out. All lie in memory
// as registers hold them.
type entryPoint struct {
	name     string
	operands []string
	out      string
	expr     string
	needs    []string
}

func (e entryPoint) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "extern \"C\" __global__ void %s(", e.name)
	for i, t := range e.operands {
		fmt.Fprintf(&b, "const %s *p%d, ", t, i)
	}
	fmt.Fprintf(&b, "%s *out, int n) {\n", e.out)
	b.WriteString("  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n")
	for i, t := range e.operands {
		fmt.Fprintf(&b, "  const %s x%d = p%d[i];\n", t, i, i)
	}
	fmt.Fprintf(&b, "  out[i] = %s;\n}\n", e.expr)
	return b.String()
}

// sourceOf writes kernels and what they need.
func sourceOf(entries []entryPoint) string {
	var b strings.Builder
	var needs []string
	for _, e := range entries {
		needs = append(needs, e.needs...)
	}
	for _, f := range resolve(needs) {
		b.WriteString(f.text + "\n")
	}
	for _, e := range entries {
		b.WriteString(e.text() + "\n")
	}
	return b.String()
}

// registers returns the types registers have.
func registers() []ir.DType {
	return slices.DeleteFunc(ir.DTypes(), func(t ir.DType) bool { return t != t.Compute() })
}

// applyEntries returns the kernels of a scalar function, apply_f32 and so on.
func applyEntries(fn ir.ScalarOp) []entryPoint {
	var out []entryPoint
	sig := fn.Sig()
	for _, t := range registers() {
		if !sig.DefinedFor(t) {
			continue
		}
		e := entryPoint{name: "apply_" + t.String(), operands: slices.Repeat([]string{ctype(t)}, sig.Arity), out: ctype(t)}
		if sig.Mask {
			e.operands[0] = "bool"
		}
		if sig.ResultBool {
			e.out = "bool"
		}
		e.expr, e.needs = applyExpr(fn, t, []string{"x0", "x1", "x2"}[:sig.Arity])
		out = append(out, e)
	}
	return out
}

// moveEntries returns the kernels of what moves a dtype between memory and
// registers, casts it and takes its bits: load, store, cast_f16, castover_f8e4m3,
// bits_i32 and so on.
func moveEntries(from ir.DType) []entryPoint {
	register := []string{ctype(from.Compute())}
	load := entryPoint{name: "load", operands: []string{rawtype(from)}, out: register[0]}
	load.expr, load.needs = loadExpr(from, "x0")
	store := entryPoint{name: "store", operands: register, out: rawtype(from)}
	store.expr, store.needs = storeExpr(from, "x0")
	out := []entryPoint{load, store}
	for _, to := range ir.DTypes() {
		e := entryPoint{name: "cast_" + to.String(), operands: register, out: ctype(to.Compute())}
		e.expr, e.needs = castExpr(from, to, false, "x0")
		out = append(out, e)
		if to.IsFloat8() {
			e.name = "castover_" + to.String()
			e.expr, e.needs = castExpr(from, to, true, "x0")
			out = append(out, e)
		}
		if from.Size() == to.Size() && from != ir.Bool && to != ir.Bool {
			e.name = "bits_" + to.String()
			e.expr, e.needs = bitcastExpr(from, to, "x0")
			out = append(out, e)
		}
	}
	return out
}

// randomEntries returns the kernels of the random numbers: philox, normal_f32 and
// normal_f64 of seed, offset and position.
func randomEntries() []entryPoint {
	e := entryPoint{name: "philox", operands: slices.Repeat([]string{"long long"}, 3), out: "long long"}
	e.expr, e.needs = philoxExpr("x0", "x1", "x2")
	out := []entryPoint{e}
	for _, t := range []ir.DType{ir.F32, ir.F64} {
		e.name, e.out = "normal_"+t.String(), ctype(t)
		e.expr, e.needs = normalExpr(t, "x0", "x1", "x2")
		out = append(out, e)
	}
	return out
}

// movesOf names the module of moveEntries.
func movesOf(dt ir.DType) string { return "moves of " + dt.String() }

// modules returns the kernels of the whole library, by what they are of.
func modules() map[string][]entryPoint {
	all := map[string][]entryPoint{"random": randomEntries()}
	for _, fn := range ir.ScalarOps() {
		all[fn.String()] = applyEntries(fn)
	}
	for _, dt := range ir.DTypes() {
		all[movesOf(dt)] = moveEntries(dt)
	}
	return all
}

// Every function compiles for the oldest and the newest target, without warnings,
// calls, and instructions that are approximate on hardware.
func TestFunctionsCompile(t *testing.T) {
	l := nvrtctest.Cache(t)
	for name, entries := range modules() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compiled(t, l, name, entries)
			outputs := []*nvrtc.Output{d.output}
			if !testing.Short() {
				newest, err := l.Compile(t.Context(), nvrtc.Input{Source: sourceOf(entries), Name: name, Arch: Blackwell.Arch(), Options: Blackwell.Options(), Kind: nvrtc.Both})
				require.NoError(t, err)
				outputs = append(outputs, newest)
			}
			for _, out := range outputs {
				assert.Empty(t, out.Log)
				assert.NotContains(t, string(out.PTX), ".approx")
				assert.NotContains(t, string(out.PTX), "call")
			}
		})
	}
}

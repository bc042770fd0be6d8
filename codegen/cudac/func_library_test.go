package cudac

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/ir"
)

// Every device function says what it is, and some expression needs it.
func TestLibrary(t *testing.T) {
	used := map[string]bool{}
	for _, entries := range modules() {
		for _, e := range entries {
			for _, f := range resolve(e.needs) {
				used[f.name] = true
			}
		}
	}
	for name, f := range library() {
		assert.True(t, strings.HasPrefix(f.text, "// "+name+" "), "%s has no comment that begins with its name:\n%s", name, f.text)
		assert.True(t, used[name], "nothing needs %s", name)
	}
}

// Functions come after what they need, each once, in an order that the names
// alone decide.
func TestResolve(t *testing.T) {
	names := []string{"gelu_f64", "sin_f64", "gelu_f64", "exp_f64"}
	all := resolve(names)
	at := map[string]int{}
	for i, f := range all {
		for _, n := range f.needs {
			_, before := at[n]
			assert.True(t, before, "%s needs %s, which does not come before it", f.name, n)
		}
		assert.NotContains(t, at, f.name)
		at[f.name] = i
	}
	assert.Contains(t, at, "two_over_pi_f64")
	assert.Contains(t, at, "dd")
	for range 10 {
		assert.Equal(t, all, resolve(names))
	}
	assert.Empty(t, resolve(nil))
	assert.Panics(t, func() { resolve([]string{"nothing"}) })
}

func TestDeclaredName(t *testing.T) {
	for text, want := range map[string]string{
		"// f is x.\n__device__ __forceinline__ float f(float x) { return g(x); }": "f",
		"// t of u(x).\n__device__ const unsigned int t[2] = {\n  1, 2};":          "t",
		"// s.\nstruct s {\n  int x;\n};":                                          "s",
		"// i.\ntemplate <typename T>\n__device__ __forceinline__ T i(T x) {}":     "i",
		"// a comment with a call() alone":                                         "",
	} {
		assert.Equal(t, want, declaredName(text), text)
	}
}

// How expressions read: operands that need parentheses have them, and integers
// wrap in their own width.
func TestExpressions(t *testing.T) {
	for _, c := range []struct {
		fn   ir.ScalarOp
		t    ir.DType
		args []string
		want string
	}{
		{ir.SAdd, ir.F32, []string{"a", "b"}, "(a + b)"},
		{ir.SAdd, ir.F32, []string{"a * b", "-c"}, "((a * b) + (-c))"},
		{ir.SMul, ir.I8, []string{"a", "b"}, "((signed char)((unsigned int)a * (unsigned int)b))"},
		{ir.SSub, ir.I64, []string{"a", "b"}, "((long long)((unsigned long long)a - (unsigned long long)b))"},
		{ir.SNeg, ir.F64, []string{"f(x)"}, "(-f(x))"},
		{ir.SExp, ir.F32, []string{"x"}, "exp_f32(x)"},
		{ir.SWhere, ir.F32, []string{"m", "a", "b"}, "(m ? a : b)"},
		{ir.SMulAdd, ir.F64, []string{"a", "b", "c"}, "__fma_rn(a, b, c)"},
	} {
		got, needs := applyExpr(c.fn, c.t, c.args)
		assert.Equal(t, c.want, got)
		for _, n := range needs {
			assert.Contains(t, got, n)
		}
	}
	assert.Panics(t, func() { applyExpr(ir.SExp, ir.I32, []string{"x"}) })
	for _, c := range []struct {
		from, to ir.DType
		want     string
	}{
		{ir.F32, ir.F16, "f16_to_f32(f32_to_f16(x))"},
		{ir.F64, ir.BF16, "bf16_to_f32(f32_to_bf16(odd_f64(x)))"},
		{ir.I16, ir.F8E4M3, "f8e4m3_to_f32(f32_to_f8e4m3((float)x, true))"},
		{ir.F32, ir.U8, "(unsigned char)max(0, min(f32_to_i32(x), 255))"},
		{ir.BF16, ir.F32, "x"},
		{ir.F16, ir.F16, "x"},
		{ir.F32, ir.Bool, "(x != 0)"},
		{ir.Bool, ir.I32, "(int)x"},
	} {
		got, _ := castExpr(c.from, c.to, false, "x")
		assert.Equal(t, c.want, got, "%v to %v", c.from, c.to)
	}
}

// Functions that are not correctly rounded have a bound in both floats, others
// none.
func TestBounds(t *testing.T) {
	for _, fn := range ir.ScalarOps() {
		assert.Equal(t, FuncBound(fn, ir.F32) == 0, FuncBound(fn, ir.F64) == 0, fn)
		if FuncBound(fn, ir.F32) != 0 {
			assert.True(t, fn.Sig().Float, fn)
		}
		for _, dt := range []ir.DType{ir.I32, ir.U64, ir.Bool} {
			assert.Zero(t, FuncBound(fn, dt), fn)
		}
	}
}

package ptx_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

const header = ".version 8.8\n.target sm_80\n.address_size 64\n"

// module wraps statements into a kernel; those before a line of --- stand outside
// of it.
func module(src string) string {
	outside, body, ok := strings.Cut(src, "\n---\n")
	if !ok {
		outside, body = "", src
	}
	return header + outside + "\n.visible .entry k(.param .u64 p0, .param .u32 p1) {\n" + body + "\n}\n"
}

// syntaxCases are pieces of syntax that compilers and inline assembly make, with
// what is printed of the kernel's body, declarations left out.
var syntaxCases = []struct{ name, src, want string }{
	{"ranges and single registers", ".reg .b32 %r<3>, x; .reg .pred %p<2>; add.s32 %r2, %r0, x; mov.pred %p1, -1;", "add.s32 %r2, %r0, x; mov.pred %p1, -1;"},
	{"guards", ".reg .pred p; .reg .b32 r; @p mov.u32 r, 1; @!p mov.u32 r, 2;", "@p mov.u32 r, 1; @!p mov.u32 r, 2;"},
	{"vectors and packing", ".reg .b32 %r<5>; .reg .b64 %d<2>; .reg .b16 %h<2>; mov.b64 {%r0, %r1}, %d0; mov.b64 %d1, {%r2,%r3}; mov.b32 %r4, {%h0, %h1}; mov.b64 {_, %r0}, %d0;",
		"mov.b64 {%r0, %r1}, %d0; mov.b64 %d1, {%r2, %r3}; mov.b32 %r4, {%h0, %h1}; mov.b64 {_, %r0}, %d0;"},
	{"two destinations", ".reg .b32 %r<5>; .reg .pred %p<3>; shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1; setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p0;",
		"shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1; setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p0;"},
	{"addresses", ".reg .b32 %r<2>; .reg .b64 %d<2>; ld.global.u32 %r1, [%d1+16]; ld.global.u32 %r1, [%d1+-4]; ld.global.u32 %r1, [%d1 - 4]; st.global.u32 [%d1], %r1; ld.param.u32 %r1, [p1]; ld.const.u32 %r1, [64];",
		"ld.global.u32 %r1, [%d1+16]; ld.global.u32 %r1, [%d1+-4]; ld.global.u32 %r1, [%d1+-4]; st.global.u32 [%d1], %r1; ld.param.u32 %r1, [p1]; ld.const.u32 %r1, [64];"},
	{"numbers", ".reg .b32 %r<2>; .reg .f32 %f<2>; .reg .f64 %d<2>; mov.u32 %r1, 0xff; mov.u32 %r1, 4294967295U; mov.u32 %r1, 0b101; mov.u32 %r1, 017; mov.s32 %r1, -5; mov.b32 %r1, ~0; mov.f32 %f1, 0f3F800000; mov.f64 %d1, 0d3ff0000000000000; mov.f64 %d1, 0.5; mov.f64 %d1, -1.5e-3;",
		"mov.u32 %r1, 255; mov.u32 %r1, 4294967295; mov.u32 %r1, 5; mov.u32 %r1, 15; mov.s32 %r1, -5; mov.b32 %r1, -1; mov.f32 %f1, 0f3F800000; mov.f64 %d1, 0d3FF0000000000000; mov.f64 %d1, 0d3FE0000000000000; mov.f64 %d1, 0dBF589374BC6A7EFA;"},
	{"special registers", ".reg .b32 %r<2>; .reg .b64 %d<2>; mov.u32 %r1, %tid.x; mov.u32 %r1, %lanemask_lt; mov.u64 %d1, %clock64;", "mov.u32 %r1, %tid.x; mov.u32 %r1, %lanemask_lt; mov.u64 %d1, %clock64;"},
	{"scopes hide names", ".reg .b32 %r<2>; .reg .pred %p<2>; { .reg .pred %p1; .reg .b32 l, h; setp.ne.u32 %p1, %r1, 0; mov.b32 l, h; } { .reg .b32 l; mov.b32 l, %r1; @%p1 mov.b32 %r1, l; }",
		"setp.ne.u32 %p1_1, %r1, 0; mov.b32 l, h; mov.b32 l_1, %r1; @%p1 mov.b32 %r1, l_1;"},
	{"ranges in scopes", ".reg .b32 %r<2>; { .reg .b32 %r<2>; mov.b32 %r1, 1; } mov.b32 %r1, 2;", "mov.b32 %r_1_1, 1; mov.b32 %r1, 2;"},
	{"labels of scopes", ".reg .pred p; { W: @p bra D; bra W; D: } { W: bra.uni W; } bra END; END: ret;", "W: @p bra D; bra W; D: W_1: bra.uni W_1; bra END; END: ret;"},
	{"comments and pragmas", "// one\n/* two\nlines */ .pragma \"nounroll\"; .loc 1 2 3\nret; /**/", "ret;"},
	{"branch tables", ".reg .b32 i; L: .branchtargets A, B; brx.idx i, L; A: ret; B: exit;", "brx.idx i, L; A: ret; B: exit;"},
	{"shared and local variables", ".shared .align 16 .b8 s[128]; .local .align 8 .b8 depot[16]; .reg .b64 d; mov.u64 d, s; mov.u64 d, s+8; mov.u64 d, depot;", "mov.u64 d, s; mov.u64 d, s+8; mov.u64 d, depot;"},
	{"calls", ".func (.param .b32 r) f(.param .b32 a);\n.func g() { ret; }\n---\n.reg .b32 x; { .param .b32 a0; .param .b32 ret; st.param.b32 [a0+0], x; call.uni (ret),\n f,\n (a0\n); ld.param.b32 x, [ret]; } call g; call.uni g, ();",
		"st.param.b32 [a0], x; call.uni (ret), f, (a0); ld.param.b32 x, [ret]; call g; call.uni g;"},
	{"indirect calls", ".func g(.param .b32 a) { ret; }\n---\n.reg .b64 f; .param .b32 a0; P: .callprototype _ (.param .b32 _); mov.u64 f, g; call f, (a0), P; T: .calltargets g; call f, (a0), T;",
		"mov.u64 f, g; call f, (a0), P; call f, (a0), T;"},
	{"tensor addresses", ".reg .b32 %r<5>; .reg .b64 d; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[d,{%r2,%r3}],[%r4];",
		"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [d,{%r2, %r3}], [%r4];"},
	{"discarded state", ".reg .b32 %r<2>; mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r0],%r1;", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], %r1;"},
	{"empty statements", ";; ret;;", "ret;"},
	{"module variables", ".global .align 4 .b8 g[6] = {1, 2, 0xff};\n.const .f32 c = 0f40000000;\n.extern .shared .align 16 .b8 dyn[];\n.global .u64 at[2] = {g+4, generic(g)};\n.global .v4 .f32 v[2];\n---\n.reg .b64 d; mov.u64 d, dyn; mov.u64 d, g;", "mov.u64 d, dyn; mov.u64 d, g;"},
}

// body prints the instructions and labels of the kernel on one line.
func body(m *ptx.Module) string {
	_, text, _ := strings.Cut(m.String(), ".entry k")
	var parts []string
	for _, line := range strings.Split(text, "\n")[2:] {
		line = strings.TrimSpace(line)
		if line == "" || line == "}" || line[0] == '.' || strings.Contains(line, ": .") {
			continue
		}
		parts = append(parts, line)
	}
	return strings.Join(parts, " ")
}

func TestSyntax(t *testing.T) {
	for _, c := range syntaxCases {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, module(c.src))
			assert.Equal(t, c.want, body(m))
			again := parse(t, m.String())
			assert.Equal(t, withoutLines(m), withoutLines(again))
		})
	}
}

func TestModuleVariables(t *testing.T) {
	m := parse(t, module(syntaxCases[len(syntaxCases)-1].src))
	byName := map[string]*ptx.Decl{}
	for _, d := range m.Globals {
		byName[d.Name] = d
	}
	assert.Equal(t, []byte{1, 2, 255}, byName["g"].Init)
	assert.Equal(t, 6, byName["g"].Size)
	assert.Equal(t, []byte{0, 0, 0, 0x40}, byName["c"].Init)
	assert.Equal(t, 4, byName["c"].Align)
	assert.Equal(t, ptx.Extern, byName["dyn"].Linkage)
	assert.Zero(t, byName["dyn"].Size)
	assert.Equal(t, []ptx.Reloc{{Offset: 0, Size: 8, Symbol: "g", Addend: 4}, {Offset: 8, Size: 8, Symbol: "g", Generic: true}}, byName["at"].Relocs)
	assert.Equal(t, 32, byName["v"].Size)
	assert.Equal(t, 16, byName["v"].Align)
}

// Pointers among parameters, as for sm_100, and directives of a kernel.
func TestParametersAndDirectives(t *testing.T) {
	m := parse(t, header+".entry k(.param .u64 .ptr .align 1 a, .param .u64 .ptr .global .align 16 b, .param .align 64 .b8 map[128])\n.maxntid 256, 1, 1\n.minnctapersm 2\n{ ret; }")
	k := m.Func("k")
	assert.True(t, k.Params[0].Pointer)
	assert.Equal(t, 1, k.Params[0].PtrAlign)
	assert.Equal(t, 8, k.Params[0].Align)
	assert.Equal(t, ptx.Global, k.Params[1].PtrTo)
	assert.Equal(t, 128, k.Params[2].Size)
	ctas, ok := k.Directive("minnctapersm")
	assert.True(t, ok)
	assert.Equal(t, []int{2}, ctas)
	_, ok = k.Directive("reqntid")
	assert.False(t, ok)
}

// wrongCases are texts that are not PTX, with where and why.
var wrongCases = []struct {
	name, src string
	line      int
	rule      string
}{
	{"nothing", "", 1, "want .version"},
	{"garbage", "\x00\xff", 1, "want a token of PTX"},
	{"no directive", header + "add.s32 a, b, c;", 4, "want a directive"},
	{"unknown directive", header + ".texref t;", 4, "want .entry, .func or a state space"},
	{"unknown mnemonic", module("frob.s32 1;"), 6, "want a known mnemonic"},
	{"unknown modifier", module(".reg .b32 r;\nadd.fast.s32 r, r, r;"), 7, "want a known modifier"},
	{"unknown register", module("mov.u32 %r1, 0;"), 6, "want a declared register or a special one"},
	{"register beyond the range", module(".reg .b32 %r<2>; mov.u32 %r2, 0;"), 6, "want a declared register or a special one"},
	{"unknown name", module(".reg .b64 d; mov.u64 d, nowhere;"), 6, "want a declared name"},
	{"unknown label", module("bra NOWHERE;"), 6, "want a label of this function"},
	{"label of an inner scope", module("bra X; { X: }"), 6, "want a label of this function"},
	{"label twice", module("X: X: ret;"), 6, "want a new name for the label"},
	{"variable twice", module(".shared .b32 s; .shared .b32 s;"), 6, "want a new name for the variable"},
	{"guard that is no predicate", module(".reg .b32 r; @r ret;"), 6, "want a predicate register"},
	{"no semicolon", module(".reg .b32 r; mov.u32 r, 1\nret;"), 7, "want ; after the instruction"},
	{"no end", header + ".entry k() { ret;", 4, "want an instruction or declaration"},
	{"comment without end", header + "/* ", 4, "want an end of the comment"},
	{"string without end", module(".pragma \"x\n\";"), 6, "want an end of the string"},
	{"bad float", module(".reg .f32 f; mov.f32 f, 0f12;"), 6, "want the hexadecimal digits of a float"},
	{"number too large", module(".reg .b32 r; mov.u32 r, 99999999999999999999;"), 6, "want an integer of 64 bits"},
	{"too many registers", module(".reg .b32 r<99999999>;"), 6, "want between 1 and 262144 registers"},
	{"too large a variable", module(".shared .b8 s[2000000000][2000000000];"), 6, "want a smaller variable before"},
	{"too many initial values", header + ".global .b8 g[2] = {1, 2, 3};", 4, "want no more initial values than the variable holds"},
	{"initial value of shared memory", header + ".shared .b8 g[1] = {1};", 4, "want no initial value here"},
	{"odd alignment", header + ".global .align 3 .b8 g[1];", 4, "want an alignment that is a power of 2 before"},
	{"deep scopes", module(strings.Repeat("{", 100)), 6, "want fewer nested scopes"},
	{"deep vectors", module(".reg .b64 d; mov.b64 d, " + strings.Repeat("{", 100)), 6, "want fewer nested braces"},
	{"call of a variable", module("call p0;"), 6, "want a function"},
	{"call with a register", header + ".func f(.param .b32 a) { ret; }\n.entry k() { .reg .b32 r; call f, (r); }", 5, "want a .param variable"},
	{"function twice", header + ".func f() { ret; }\n.func f() { ret; }", 5, "want a new name for the function f"},
	{"bad version", ".version x", 1, "want a version such as 8.8"},
}

func TestWrongSyntax(t *testing.T) {
	for _, c := range wrongCases {
		t.Run(c.name, func(t *testing.T) {
			m, err := ptx.Parse(c.src)
			assert.Nil(t, m)
			var syntax *ptx.SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Equal(t, c.rule, syntax.Rule)
			assert.Equal(t, c.line, syntax.Line, "%v", err)
			assert.Contains(t, err.Error(), c.rule)
		})
	}
}

// Where an error is shown is where the text stands.
func TestWhereAnErrorIs(t *testing.T) {
	_, err := ptx.Parse(module(".reg .b32 r;\n\tadd.s32 r, r, undeclared_register;"))
	var syntax *ptx.SyntaxError
	require.ErrorAs(t, err, &syntax)
	assert.Equal(t, 7, syntax.Line)
	assert.Equal(t, 16, syntax.Col)
	assert.Equal(t, "undeclared_register", syntax.Text)
}

// The names of mnemonics, modifiers, types and special registers are all
// different, so that decoding finds each.
func TestNamesDecode(t *testing.T) {
	m := parse(t, module(".reg .b32 r; .reg .f32 f; .reg .b64 d; fma.rn.ftz.sat.f32 f, f, f, f; ld.volatile.shared::cta.v4.s8 {r, r, r, r}, [d]; cvt.rn.satfinite.e4m3x2.f32 r, f, f;"))
	b := m.Func("k").Body
	assert.Equal(t, ptx.OpFma, b[0].Op)
	assert.Equal(t, []ptx.Mod{ptx.ModRn, ptx.ModFtz, ptx.ModSat}, b[0].Mods)
	assert.Equal(t, ptx.F32, b[0].Type())
	assert.Equal(t, ptx.Shared, b[1].Space)
	assert.Equal(t, 4, b[1].Vec)
	assert.True(t, b[1].Type().Signed())
	assert.Equal(t, []ptx.Type{ptx.E4M3x2, ptx.F32}, b[2].Types)
	assert.Equal(t, 16, b[2].Types[0].Bits())
}

// What stands around kernels: debug information, pragmas, directives, functions
// without a body.
func TestAroundKernels(t *testing.T) {
	m := parse(t, `.version 7.0
.target sm_70, debug
.address_size 64
@@DWARF .byte 1
.file 1 "kernel.cu"
.pragma "one";
.extern .func (.param .b32 r) printed(.param .b64 a);
.func fails(.param .b32 a) .noreturn { trap; }
.weak .entry k() .reqntid 8, 8, 1 .maxnreg 64 .explicitcluster .reqnctapercluster 2, 1, 1 .pragma "two"; { .loc 1 2 3
ret; }
.section .debug_info { .b8 1, 2; }
`)
	assert.Equal(t, []string{"debug"}, m.Options)
	assert.False(t, m.Func("printed").Defined)
	assert.Equal(t, ptx.Extern, m.Func("printed").Linkage)
	assert.True(t, m.Func("fails").NoReturn)
	k := m.Func("k")
	assert.Equal(t, ptx.Weak, k.Linkage)
	assert.Zero(t, k.NumRegs())
	var names []string
	for _, d := range k.Directives {
		names = append(names, d.Name)
	}
	assert.Equal(t, []string{"reqntid", "maxnreg", "explicitcluster", "reqnctapercluster", "pragma"}, names)
	assert.Nil(t, m.Func("nothing"))
	again := parse(t, m.String())
	assert.Equal(t, m.String(), again.String())
	assert.Equal(t, m.Func("k").Directives[:4], again.Func("k").Directives[:4])
}

// A declaration may come before the body, and calls in between.
func TestForwardDeclarations(t *testing.T) {
	m := parse(t, header+".func f();\n.func g() { call f; ret; }\n.func f() { ret; }\n")
	assert.Len(t, m.Funcs, 2)
	assert.True(t, m.Func("f").Defined)
	again := parse(t, m.String())
	assert.Equal(t, withoutLines(m), withoutLines(again))
}

func TestFormat(t *testing.T) {
	k := parse(t, module(".reg .b32 r; .reg .pred p; @!p add.s32 r, r, -1;")).Func("k")
	assert.Equal(t, "@!p add.s32 r, r, -1;", k.Format(&k.Body[0]))
	assert.Equal(t, "add", k.Body[0].Op.String())
	assert.Equal(t, ptx.NoType, (&ptx.Opcode{}).Type())
	assert.Equal(t, ptx.U64, ptx.Clock64.Type())
	assert.Equal(t, "ftz", ptx.ModFtz.String())
	assert.Equal(t, "bf16x2", ptx.BF16x2.String())
	assert.Equal(t, "invalid", ptx.Type(200).String())
}

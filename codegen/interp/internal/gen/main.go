// Command gen writes the typed loops of the scalar functions: one loop for
// each function, register type and form of the operands (vector or scalar).
package main

import (
	"log"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
)

const irPath = "github.com/sinter-ml/sinter/ir"

// regType is a register type as it appears in names and in Go.
type regType struct{ suffix, goType string }

var (
	f64     = regType{"F64", "float64"}
	f32     = regType{"F32", "float32"}
	i64     = regType{"I64", "int64"} // every integer but U64
	u64     = regType{"U64", "uint64"}
	boolean = regType{"Bool", "uint8"}
)

// form is how a function of x, y, z is written: an infix operator, a call, or
// a call around an infix operator.
type form struct{ infix, call string }

func (f form) expr(args ...string) *jen.Statement {
	ids := make([]jen.Code, len(args))
	for i, a := range args {
		ids[i] = jen.Id(a)
	}
	switch {
	case f.infix == "":
		if fn, ok := strings.CutPrefix(f.call, "math."); ok {
			return jen.Qual("math", fn).Call(ids...)
		}
		return jen.Id(f.call).Call(ids...)
	case len(args) == 1:
		return jen.Op(f.infix).Id(args[0])
	case f.call != "":
		return jen.Id(f.call).Call(jen.Id(args[0]).Op(f.infix).Id(args[1]))
	}
	return jen.Id(args[0]).Op(f.infix).Id(args[1])
}

// row is one scalar function for one operand type.
type row struct {
	op   string // ir's name without the S
	in   regType
	out  regType
	form form
	wide bool // the function takes and returns float64
}

// call, infix and compare are the rows of a function for several types.
func call(op, fn string, types ...regType) []row {
	return each(types, func(t regType) row { return row{op: op, in: t, out: t, form: form{call: fn}} })
}

func infix(op, sign string, types ...regType) []row {
	return each(types, func(t regType) row { return row{op: op, in: t, out: t, form: form{infix: sign}} })
}

func compare(op, sign string) []row {
	types := []regType{f64, f32, i64, u64}
	if sign == "==" || sign == "!=" {
		types = append(types, boolean)
	}
	return each(types, func(t regType) row { return row{op: op, in: t, out: boolean, form: form{infix: sign, call: "bit"}} })
}

// test is a function of a float that gives a bool.
func test(op, fn string) []row {
	return each([]regType{f64, f32}, func(t regType) row { return row{op: op, in: t, out: boolean, form: form{call: fn}} })
}

// wide is a function of a float64, for F32 registers one whose result becomes
// a float32 and may be less accurate, and for F64.
func wide(op, fn32, fn64 string) []row {
	return []row{{op: op, in: f64, out: f64, form: form{call: fn64}}, {op: op, in: f32, out: f32, form: form{call: fn32}, wide: true}}
}

// same is wide with one function for both.
func same(op, fn string) []row { return wide(op, fn, fn) }

func each(types []regType, f func(regType) row) []row {
	var out []row
	for _, t := range types {
		out = append(out, f(t))
	}
	return out
}

var unary = slices.Concat(
	wide("Exp", "exp", "expF64"), same("Expm1", "math.Expm1"), same("Exp2", "exp2"),
	wide("Log", "math.Log", "logF64"), same("Log2", "log2"), same("Log10", "log10"), same("Log1p", "math.Log1p"),
	call("Sqrt", "math.Sqrt", f64), call("Sqrt", "sqrt", f32), same("Rsqrt", "rsqrt"), call("Recip", "recip", f64, f32),
	same("Sin", "sin"), same("Cos", "cos"), same("Tan", "tan"),
	wide("Asin", "math.Asin", "asin"), same("Acos", "acos"), same("Atan", "math.Atan"),
	same("Sinh", "sinh"), same("Cosh", "cosh"), wide("Tanh", "tanh", "math.Tanh"),
	same("Asinh", "math.Asinh"), same("Acosh", "math.Acosh"), same("Atanh", "math.Atanh"),
	wide("Erf", "erf", "math.Erf"), same("Erfc", "math.Erfc"), wide("Erfinv", "math.Erfinv", "erfinvF64"),
	wide("Lgamma", "lgamma", "lgammaF64"), same("Digamma", "digamma"),
	same("Round", "math.RoundToEven"), same("Floor", "math.Floor"), same("Ceil", "math.Ceil"), same("Trunc", "math.Trunc"), same("Frac", "frac"),
	wide("Sigmoid", "sigmoid", "sigmoidF64"), wide("Silu", "silu", "siluF64"), wide("Gelu", "gelu", "geluF64"),
	wide("GeluTanh", "geluTanh", "geluTanhF64"), same("Softplus", "softplus"),
	call("Abs", "math.Abs", f64), call("Abs", "absF32", f32), call("Abs", "absI64", i64), call("Abs", "itself", u64),
	infix("Neg", "-", f64, f32, i64, u64), call("Sign", "sign", f64, f32, i64, u64), infix("BitNot", "^", i64, u64),
	test("IsNaN", "isNaN"), test("IsInf", "isInf"), test("IsFinite", "isFinite"), call("Not", "not", boolean),
)

var binary = slices.Concat(
	infix("Add", "+", f64, f32, i64, u64), infix("Sub", "-", f64, f32, i64, u64), infix("Mul", "*", f64, f32, i64, u64),
	infix("Div", "/", f64, f32), call("Div", "divInt", i64, u64),
	call("FloorDiv", "floorDiv", f64), call("FloorDiv", "floorDivF32", f32), call("FloorDiv", "floorDivI64", i64), call("FloorDiv", "divInt", u64),
	call("Remainder", "remainder", f64, f32), call("Remainder", "remainderI64", i64), call("Remainder", "fmodInt", u64),
	call("Fmod", "fmod", f64, f32), call("Fmod", "fmodInt", i64, u64),
	call("Pow", "pow", f64), call("Pow", "powF32", f32), call("Pow", "powI64", i64), call("Pow", "powU64", u64),
	call("Atan2", "atan2", f64), call("Atan2", "atan2F32", f32), call("Hypot", "math.Hypot", f64), call("Hypot", "hypotF32", f32),
	call("CopySign", "math.Copysign", f64), call("CopySign", "copySignF32", f32),
	call("Maximum", "max", f64, f32, i64, u64), call("Minimum", "min", f64, f32, i64, u64),
	infix("BitAnd", "&", i64, u64), infix("BitOr", "|", i64, u64), infix("BitXor", "^", i64, u64),
	call("Shl", "shl", i64, u64), call("Shr", "shrI64", i64), call("Shr", "shrU64", u64),
	compare("Equal", "=="), compare("NotEqual", "!="), compare("Less", "<"),
	compare("LessEqual", "<="), compare("Greater", ">"), compare("GreaterEqual", ">="),
	infix("And", "&", boolean), infix("Or", "|", boolean), infix("Xor", "^", boolean),
)

// files are what is generated.
var files = map[string]func(f *jen.File){
	"gen_unary.go":  unaryLoops,
	"gen_binary.go": binaryLoops,
}

func main() {
	for name, fill := range files {
		if err := source(fill).Save(name); err != nil {
			log.Fatal(err)
		}
	}
}

func source(fill func(f *jen.File)) *jen.File {
	f := jen.NewFile("interp")
	f.HeaderComment("Code generated by internal/gen. DO NOT EDIT.")
	fill(f)
	return f
}

func slice(t regType) *jen.Statement { return jen.Index().Id(t.goType) }

// table writes the look-up of loops by function for each pair of types.
func table(f *jen.File, rows []row, prefix, typeName string, entry func(r row) jen.Code) {
	type pair struct{ in, out regType }
	var order []pair
	entries := map[pair][]jen.Code{}
	for _, r := range rows {
		p := pair{r.in, r.out}
		if entries[p] == nil {
			order = append(order, p)
		}
		entries[p] = append(entries[p], jen.Line().Qual(irPath, "S"+r.op).Op(":").Add(entry(r)))
	}
	for _, p := range order {
		f.Var().Id(prefix+p.in.suffix+"To"+p.out.suffix).Op("=").Index(jen.Op("...")).
			Id(typeName).Types(jen.Id(p.out.goType), jen.Id(p.in.goType)).
			Values(append(entries[p], jen.Line())...)
	}
}

func unaryLoops(f *jen.File) {
	table(f, unary, "unary", "unaryLoop", func(r row) jen.Code { return jen.Id("loop" + r.op + r.in.suffix) })
	for _, r := range unary {
		f.Func().Id("loop"+r.op+r.in.suffix).Params(jen.Id("d").Add(slice(r.out)), jen.Id("a").Add(slice(r.in))).BlockFunc(func(g *jen.Group) {
			if r.wide {
				wideLoop(g, r)
				return
			}
			g.Id("a").Op("=").Id("a").Index(jen.Op(":").Len(jen.Id("d")))
			g.For(jen.List(jen.Id("i"), jen.Id("x")).Op(":=").Range().Id("a")).Block(
				jen.Id("d").Index(jen.Id("i")).Op("=").Add(r.form.expr("x")),
			)
		})
	}
}

// wideLoop converts a piece of the operand to float64, applies the function
// there, and rounds: conversions next to arithmetic would tie each element to
// the one before, since they leave part of their register as it was.
func wideLoop(g *jen.Group, r row) {
	g.Var().Id("wide").Index(jen.Id("wideLen")).Float64()
	g.For(jen.Len(jen.Id("d")).Op(">").Lit(0)).Block(
		jen.Id("w").Op(":=").Id("wide").Index(jen.Op(":").Min(jen.Len(jen.Id("d")), jen.Id("wideLen"))),
		jen.Id("widenF32").Call(jen.Id("w"), jen.Id("a")),
		jen.For(jen.List(jen.Id("i"), jen.Id("x")).Op(":=").Range().Id("w")).Block(
			jen.Id("w").Index(jen.Id("i")).Op("=").Add(r.form.expr("x")),
		),
		jen.Id("roundF32").Call(jen.Id("d"), jen.Id("w")),
		jen.List(jen.Id("d"), jen.Id("a")).Op("=").List(
			jen.Id("d").Index(jen.Len(jen.Id("w")).Op(":")), jen.Id("a").Index(jen.Len(jen.Id("w")).Op(":")),
		),
	)
}

func binaryLoops(f *jen.File) {
	table(f, binary, "binary", "binaryLoops", func(r row) jen.Code {
		n := "loop" + r.op + r.in.suffix
		return jen.Values(jen.Id(n+"VV"), jen.Id(n+"VS"), jen.Id(n+"SV"))
	})
	for _, r := range binary {
		name := "loop" + r.op + r.in.suffix
		d := jen.Id("d").Add(slice(r.out))
		set := func() jen.Code { return jen.Id("d").Index(jen.Id("i")).Op("=").Add(r.form.expr("x", "y")) }
		cut := func(v string) jen.Code { return jen.Id(v).Op("=").Id(v).Index(jen.Op(":").Len(jen.Id("d"))) }
		f.Func().Id(name+"VV").Params(d.Clone(), jen.Id("a").Op(",").Id("b").Add(slice(r.in))).Block(
			cut("a"), cut("b"),
			jen.For(jen.List(jen.Id("i"), jen.Id("x")).Op(":=").Range().Id("a")).Block(
				jen.Id("y").Op(":=").Id("b").Index(jen.Id("i")), set(),
			),
		)
		f.Func().Id(name+"VS").Params(d.Clone(), jen.Id("a").Add(slice(r.in)), jen.Id("y").Id(r.in.goType)).Block(
			cut("a"),
			jen.For(jen.List(jen.Id("i"), jen.Id("x")).Op(":=").Range().Id("a")).Block(set()),
		)
		f.Func().Id(name+"SV").Params(d.Clone(), jen.Id("x").Id(r.in.goType), jen.Id("b").Add(slice(r.in))).Block(
			cut("b"),
			jen.For(jen.List(jen.Id("i"), jen.Id("y")).Op(":=").Range().Id("b")).Block(set()),
		)
	}
}

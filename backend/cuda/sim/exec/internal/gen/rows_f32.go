package main

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
)

// rounding is a rounding modifier; rn stands where none is written too.
type rounding struct{ mod, mode string }

var roundings = []rounding{{"rn", "RN"}, {"rz", "RZ"}, {"rm", "RM"}, {"rp", "RP"}}

// rounded is a function of num in a rounding: the plain one to the nearest, else
// the one with R at its end.
func rounded(fn, typ string, r rounding) expr {
	if r.mode == "RN" {
		return call(fn + typ)
	}
	return call(fn+typ+"R", num(r.mode))
}

// modified spells an opcode: the parts that are not empty.
func modified(parts ...string) string {
	out := parts[0]
	for _, p := range parts[1:] {
		if p != "" {
			out += "." + p
		}
	}
	return out
}

// floatNames are the names of a form in a rounding; where none is written it is
// to the nearest, for what may leave it out.
func floatNames(op string, r rounding, optional bool, rest ...string) []string {
	names := []string{modified(append([]string{op, r.mod}, rest...)...)}
	if optional && r.mode == "RN" {
		names = append(names, modified(append([]string{op}, rest...)...))
	}
	return names
}

// flushed is an expression with .ftz: operands and result.
func flushed(e expr) expr { return e.over(call("FtzF32")).then(call("FtzF32")) }

func f32Rows() []row {
	return slices.Concat(f32Arithmetic(), f32Divisions(), f32Approximations(), f32Selections())
}

// f32Arithmetic are add, sub, mul and fma in every rounding, with .ftz and .sat.
func f32Arithmetic() []row {
	var rows []row
	for _, op := range []struct {
		fn       string
		names    []string
		sig      string
		optional bool
	}{
		{"Add", []string{"add"}, "r=rr", true}, {"Sub", []string{"sub"}, "r=rr", true}, {"Mul", []string{"mul"}, "r=rr", true},
		{"Fma", []string{"fma", "mad"}, "r=rrr", false},
	} {
		for _, r := range roundings {
			for _, ftz := range []string{"", "ftz"} {
				for _, sat := range []string{"", "sat"} {
					e := rounded(op.fn, "F32", r)
					if ftz != "" {
						e = flushed(e)
					}
					if sat != "" {
						e = e.then(call("SatF32"))
					}
					var names []string
					for _, n := range op.names {
						names = append(names, floatNames(n, r, op.optional, ftz, sat, "f32")...)
					}
					row := named(op.sig, e, names...)
					row.hot = r.mode == "RN" && sat == ""
					if row.hot && op.fn == "Fma" && ftz == "" {
						row.lane, row.quick = call("FmaF32Slow"), quickFma
					}
					rows = append(rows, row)
					if sat == "" { // two f32 in 64 bits, the rounding always written
						rows = append(rows, named(strings.ReplaceAll(op.sig, "r", "d"), e.halves(), modified(op.names[0], r.mod, ftz, "f32x2")))
					}
				}
			}
		}
	}
	return rows
}

// quickFma stores the result of fma.rn.f32 where rounding twice does no harm.
// The function that does both is too long to be inlined.
func quickFma(x []jen.Code) []jen.Code {
	return []jen.Code{
		jen.Id("s").Op(":=").Qual(numPath, "FmaSum").Call(x...),
		jen.If(jen.Qual(numPath, "FmaPlain").Call(jen.Id("s"))).Block(
			jen.Id("d").Index(jen.Id("i")).Op("=").Qual("math", "Float32bits").Call(jen.Float32().Call(jen.Id("s"))),
			jen.Continue(),
		),
	}
}

// f32Divisions are the quotients and roots that round correctly.
func f32Divisions() []row {
	var rows []row
	for _, op := range []struct{ name, fn, sig string }{{"div", "Div", "r=rr"}, {"rcp", "Rcp", "r=r"}, {"sqrt", "Sqrt", "r=r"}} {
		for _, r := range roundings {
			e := rounded(op.fn, "F32", r)
			rows = append(rows, named(op.sig, e, op.name+"."+r.mod+".f32"), named(op.sig, flushed(e), op.name+"."+r.mod+".ftz.f32"))
		}
	}
	return rows
}

func f32Approximations() []row {
	var rows []row
	for _, op := range []struct{ name, fn string }{
		{"ex2", "Ex2"}, {"lg2", "Lg2"}, {"rcp", "RcpF32"}, {"sqrt", "SqrtF32"}, {"rsqrt", "Rsqrt"}, {"sin", "Sin"}, {"cos", "Cos"},
	} {
		rows = append(rows, named("r=r", call(op.fn), op.name+".approx.f32"), named("r=r", flushed(call(op.fn)), op.name+".approx.ftz.f32"))
	}
	return append(rows,
		named("r=r", call("Tanh"), "tanh.approx.f32"),
		named("r=rr", call("DivApprox"), "div.approx.f32"), named("r=rr", flushed(call("DivApprox")), "div.approx.ftz.f32"),
		named("r=rr", call("DivF32"), "div.full.f32"), named("r=rr", flushed(call("DivF32")), "div.full.ftz.f32"),
	)
}

// f32Selections are the operations that give one of their operands, but for
// signs and subnormals.
func f32Selections() []row {
	abs := func(x ...jen.Code) *jen.Statement { return jen.Add(x[0]).Op("&").Lit(0x7fffffff) }
	neg := func(x ...jen.Code) *jen.Statement { return jen.Add(x[0]).Op("^").Op("2147483648") }
	ftz := call("FtzF32")
	rows := []row{
		named("r=r", abs, "abs.f32"), named("r=r", expr(abs).over(ftz), "abs.ftz.f32"),
		named("r=r", neg, "neg.f32"), named("r=r", expr(neg).over(ftz), "neg.ftz.f32"),
		named("r=rr", call("CopysignF32"), "copysign.f32"),
	}
	for _, op := range []struct{ name, fn string }{{"min", "Min"}, {"max", "Max"}} {
		for _, f := range []string{"", "ftz"} {
			for _, nan := range []string{"", "NaN"} {
				e := call(op.fn + nan + "F32")
				signs := func(x ...jen.Code) *jen.Statement {
					return jen.Qual(numPath, "SignedF32").Call(e.over(abs)(x...), jen.Add(x[0]).Op("^").Add(x[1]))
				}
				if f != "" {
					e = e.over(ftz)
				}
				rows = append(rows, named("r=rr", e, modified(op.name, f, nan, "f32")),
					named("r=rr", signs, modified(op.name, f, nan, "xorsign.abs.f32")))
			}
		}
	}
	return hot(rows)
}

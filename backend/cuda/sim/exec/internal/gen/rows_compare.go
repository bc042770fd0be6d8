package main

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"
)

// compareRow is a comparison of two operands, or a test of one: of the names
// that mean it the first names the function.
type compareRow struct {
	names []string // "lt.f32"
	sig   string   // register files of the operands
	test  expr     // a condition
}

var orders = []struct{ name, op, not string }{
	{"eq", "==", "!="}, {"ne", "!=", "=="}, {"lt", "<", ">="}, {"le", "<=", ">"}, {"gt", ">", "<="}, {"ge", ">=", "<"},
}

func compareRows() []compareRow { return append(intCompares(), floatCompares()...) }

func intCompares() []compareRow {
	var rows []compareRow
	unsigned := map[string]string{"lt": "lo", "le": "ls", "gt": "hi", "ge": "hs"}
	for _, p := range [][2]typ{{u16, s16}, {u32, s32}, {u64, s64}} {
		u := p[0]
		for _, o := range orders {
			if o.op[1:] == "=" && o.name != "le" && o.name != "ge" { // eq, ne
				rows = append(rows, compareRow{
					[]string{o.name + "." + u.name, o.name + "." + p[1].name, fmt.Sprintf("%s.b%d", o.name, u.bits)}, u.file + u.file,
					func(x ...jen.Code) *jen.Statement { return u.of(x[0]).Op(o.op).Add(u.of(x[1])) },
				})
				continue
			}
			for _, t := range p {
				names := []string{o.name + "." + t.name}
				if !t.signed {
					names = append(names, unsigned[o.name]+"."+t.name)
				}
				rows = append(rows, compareRow{names, t.file + t.file, func(x ...jen.Code) *jen.Statement {
					return t.of(x[0]).Op(o.op).Add(t.of(x[1]))
				}})
			}
		}
	}
	return rows
}

// floatType is a type of floats as comparisons read it.
type floatType struct {
	name, file string
	of         expr // the Go float
}

// floatTypes include those of the upper half of a pair, "hi.", and those whose
// subnormals count as zero.
func floatTypes() []floatType {
	toF32 := func(x ...jen.Code) *jen.Statement { return jen.Qual("math", "Float32frombits").Call(x...) }
	toF64 := func(x ...jen.Code) *jen.Statement { return jen.Qual("math", "Float64frombits").Call(x...) }
	upper := func(x ...jen.Code) *jen.Statement { return jen.Add(x[0]).Op(">>").Lit(16) }
	types := []floatType{
		{"f32", "r", toF32}, {"ftz.f32", "r", call("FtzF32").then(toF32)}, {"f64", "d", toF64},
	}
	for _, h := range []string{"f16", "bf16"} {
		recv := strings.ToUpper(h)
		read := method(recv, "F32").then(toF32)
		types = append(types, floatType{h, "r", read}, floatType{"hi." + h, "r", read.over(upper)})
		if h == "f16" {
			flush := method(recv, "Ftz").then(method(recv, "F32")).then(toF32)
			types = append(types, floatType{"ftz." + h, "r", flush}, floatType{"hi.ftz." + h, "r", flush.over(upper)})
		}
	}
	return types
}

func floatCompares() []compareRow {
	var rows []compareRow
	for _, t := range floatTypes() {
		add := func(name string, test expr) {
			rows = append(rows, compareRow{[]string{name + "." + t.name}, t.file + t.file, test})
		}
		join := func(x []jen.Code, op string) *jen.Statement { return t.of(x[0]).Op(op).Add(t.of(x[1])) }
		ordered := func(x []jen.Code) *jen.Statement {
			return t.of(x[0]).Op("==").Add(t.of(x[0])).Op("&&").Add(t.of(x[1])).Op("==").Add(t.of(x[1]))
		}
		for _, o := range orders {
			switch o.name {
			case "ne": // neither may be NaN
				add("ne", func(x ...jen.Code) *jen.Statement {
					return join(x, "<").Op("||").Add(join(x, ">"))
				})
				add("neu", func(x ...jen.Code) *jen.Statement { return join(x, "!=") })
			case "eq":
				add("eq", func(x ...jen.Code) *jen.Statement { return join(x, "==") })
				add("equ", func(x ...jen.Code) *jen.Statement {
					return jen.Op("!").Parens(join(x, "<").Op("||").Add(join(x, ">")))
				})
			default: // with u true if an operand is NaN
				add(o.name, func(x ...jen.Code) *jen.Statement { return join(x, o.op) })
				add(o.name+"u", func(x ...jen.Code) *jen.Statement { return jen.Op("!").Parens(join(x, o.not)) })
			}
		}
		add("num", func(x ...jen.Code) *jen.Statement { return ordered(x) })
		add("nan", func(x ...jen.Code) *jen.Statement { return jen.Op("!").Parens(ordered(x)) })
	}
	for _, c := range []string{"finite", "infinite", "number", "notanumber", "normal", "subnormal"} {
		class := num(map[string]string{"notanumber": "NotANumber"}[c])
		if c != "notanumber" {
			class = num(strings.ToUpper(c[:1]) + c[1:])
		}
		rows = append(rows,
			compareRow{[]string{c + ".f32"}, "r", call("IsF32", class)},
			compareRow{[]string{c + ".f64"}, "d", call("IsF64", class)})
	}
	return rows
}

// compares writes for each comparison the function that gives the mask of the
// lanes where it holds, whatever lanes run, and their table.
func compares(f *jen.File) {
	f.Var().Id("compares").Op("=").Map(jen.String()).Id("comparison").Values(jen.DictFunc(func(d jen.Dict) {
		for _, c := range compareRows() {
			for _, n := range c.names {
				d[jen.Lit(n)] = jen.Values(jen.Lit(c.sig), jen.Id("is"+goName("."+c.names[0])))
			}
		}
	}))
	for _, c := range compareRows() {
		f.Func().Id("is"+goName("."+c.names[0])).Params(
			jen.Id("w").Op("*").Id("warp"), jen.Id("in").Op("*").Id("inst"),
		).Uint32().BlockFunc(func(g *jen.Group) {
			declare(g, "", c.sig)
			first, x := load("", c.sig)
			body := []jen.Code{first, jen.Id("t").Op("+=").Id("t"), jen.If(c.test(x...)).Block(jen.Id("t").Op("++"))}
			g.Var().Id("t").Uint32()
			g.For(jen.Id("i").Op(":=").Lit(31), jen.Id("i").Op(">=").Lit(0), jen.Id("i").Op("--")).Block(body...)
			g.Return(jen.Id("t"))
		})
	}
}

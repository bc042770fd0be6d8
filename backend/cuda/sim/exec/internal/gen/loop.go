package main

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

const numPath = "github.com/sinter-ml/sinter/backend/cuda/sim/exec/internal/num"

// row is an executable form: opcodes that do the same, and what they do to a lane.
type row struct {
	names []string // opcodes; the first names the function
	sig   string   // register files of destinations and sources, as form.sig
	lane  expr
	quick func(x []jen.Code) []jen.Code // statements that may store and go on to the next lane, before lane's
	hot   bool                          // worth a second loop for the whole warp
	copy  bool                          // the result is the operand: a whole warp is copied at once
}

// expr makes a lane's result of its operands, each a uint32 or a uint64; of
// predicates alone, a mask of masks.
type expr func(x ...jen.Code) *jen.Statement

// hot marks rows as hot.
func hot(rows []row) []row {
	for i := range rows {
		rows[i].hot = true
	}
	return rows
}

// table writes the map from opcodes to forms.
func table(f *jen.File, name string, rows []row) {
	f.Var().Id(name).Op("=").Map(jen.String()).Id("form").Values(jen.DictFunc(func(d jen.Dict) {
		for _, r := range rows {
			for _, n := range r.names {
				d[jen.Lit(n)] = jen.Values(jen.Lit(r.sig), jen.Id(goName(r.names[0])))
			}
		}
	}))
}

// goName is an opcode as a Go name: add.rn.f32 gives addRnF32.
func goName(opcode string) string {
	var b strings.Builder
	for i, part := range strings.Split(opcode, ".") {
		if i > 0 {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

var (
	fields = []string{"a", "b", "c", "e"} // of an inst: its sources, and the variables of their registers
	values = []string{"x", "y", "z", "v"} // the values of a lane
)

// register is a register of an instruction: the address of its lanes, or the
// mask of a predicate.
func register(file byte, field string) *jen.Statement {
	s := jen.Id("w").Dot(string(rune(file))).Index(jen.Id("in").Dot(field))
	if file == 'p' {
		return s
	}
	return jen.Op("&").Add(s)
}

// declare declares the variables of the registers: of the destination d, if dst
// is not empty, and of the sources.
func declare(g *jen.Group, dst, src string) {
	var names, registers []jen.Code
	if dst != "" {
		names, registers = append(names, jen.Id("d")), append(registers, register(dst[0], "dst"))
	}
	for i := range len(src) {
		names, registers = append(names, jen.Id(fields[i])), append(registers, register(src[i], fields[i]))
	}
	g.List(names...).Op(":=").List(registers...)
}

// load declares the values of lane i in one statement, and returns them; of a predicate a value of
// the destination's file that is all ones where it holds.
func load(dst, src string) (statement jen.Code, x []jen.Code) {
	var loads []jen.Code
	for i := range len(src) {
		v := jen.Id(fields[i]).Index(jen.Id("i"))
		if src[i] == 'p' {
			v = jen.Op("-").Id(word(dst)).Call(jen.Id(fields[i]).Op(">>").Id("i").Op("&").Lit(1))
		}
		loads = append(loads, v)
		x = append(x, jen.Id(values[i]))
	}
	return jen.List(x...).Op(":=").List(loads...), x
}

// step starts a function that executes a form.
func step(f *jen.File, name string, body func(g *jen.Group)) {
	f.Func().Id(goName(name)).Params(
		jen.Id("w").Op("*").Id("warp"), jen.Id("in").Op("*").Id("inst"), jen.Id("m").Uint32(),
	).BlockFunc(body)
}

// lanes is a loop over the lanes of mask m.
func lanes(body ...jen.Code) *jen.Statement {
	first := jen.Id("i").Op(":=").Qual("math/bits", "TrailingZeros32").Call(jen.Id("m")).Op("&").Lit(31)
	return jen.For(jen.Op(";").Id("m").Op("!=").Lit(0).Op(";").Id("m").Op("&=").Id("m").Op("-").Lit(1)).Block(
		append([]jen.Code{first}, body...)...,
	)
}

// write writes the function of a row.
func (r row) write(f *jen.File) {
	dst, src, _ := strings.Cut(r.sig, "=")
	if dst == "p" {
		r.writeMask(f, src)
		return
	}
	step(f, r.names[0], func(g *jen.Group) {
		declare(g, dst, src)
		first, x := load(dst, src)
		body := []jen.Code{first}
		if r.quick != nil {
			body = append(body, r.quick(x)...)
		}
		body = append(body, jen.Id("d").Index(jen.Id("i")).Op("=").Add(r.lane(x...)))
		switch {
		case r.copy:
			g.If(jen.Id("m").Op("==").Id("full")).Block(jen.Op("*").Id("d").Op("=").Op("*").Id("a"), jen.Return())
		case r.hot:
			g.If(jen.Id("m").Op("==").Id("full")).Block(
				jen.For(jen.Id("i").Op(":=").Range().Id("d")).Block(body...),
				jen.Return(),
			)
		}
		g.Add(lanes(body...))
	})
}

// writeMask writes a row of predicates alone.
func (r row) writeMask(f *jen.File, src string) {
	step(f, r.names[0], func(g *jen.Group) {
		declare(g, "", src)
		var x []jen.Code
		for i := range len(src) {
			x = append(x, jen.Id(fields[i]))
		}
		g.Id("d").Op(":=").Op("&").Add(register('p', "dst"))
		g.Op("*").Id("d").Op("=").Op("*").Id("d").Op("&^").Id("m").Op("|").Parens(r.lane(x...)).Op("&").Id("m")
	})
}

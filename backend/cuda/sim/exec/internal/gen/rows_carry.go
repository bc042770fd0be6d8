package main

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// carryRow is a form that reads the carry, writes it, or both: bits.Add or
// bits.Sub of two values.
type carryRow struct {
	name     string
	t        typ
	sub      bool
	in, out  bool // reads, writes the carry
	operands int
	augend   func(x []jen.Code) *jen.Statement
}

func carryRows() []carryRow {
	var rows []carryRow
	for _, t := range []typ{u32, s32, u64, s64} {
		first := func(x []jen.Code) *jen.Statement { return jen.Add(x[0]) }
		low := func(x []jen.Code) *jen.Statement { return jen.Add(x[0]).Op("*").Add(x[1]) }
		high := func(x []jen.Code) *jen.Statement { return t.high(x[0], x[1]) }
		for _, c := range []struct {
			op      string
			in, out bool
		}{{"%.cc", false, true}, {"%c", true, false}, {"%c.cc", true, true}} {
			name := func(op, middle string) string {
				head, cc, _ := strings.Cut(strings.Replace(c.op, "%", op, 1), ".")
				parts := []string{head}
				for _, p := range []string{middle, cc, t.name} {
					if p != "" {
						parts = append(parts, p)
					}
				}
				return strings.Join(parts, ".")
			}
			rows = append(rows,
				carryRow{name("add", ""), t, false, c.in, c.out, 2, first},
				carryRow{name("sub", ""), t, true, c.in, c.out, 2, first},
				carryRow{name("mad", "lo"), t, false, c.in, c.out, 3, low},
				carryRow{name("mad", "hi"), t, false, c.in, c.out, 3, high},
			)
		}
	}
	return rows
}

// carries writes the forms with a carry, which is a bit for each lane in the
// warp's cc.
func carries(f *jen.File) {
	var plain []row
	for _, r := range carryRows() {
		plain = append(plain, named(r.t.sig(r.operands), nil, r.name))
	}
	table(f, "carryForms", plain)
	for _, r := range carryRows() {
		src := strings.Repeat(r.t.file, r.operands)
		step(f, r.name, func(g *jen.Group) {
			declare(g, r.t.file, src)
			first, x := load(r.t.file, src)
			body := []jen.Code{first}
			in := jen.Lit(0)
			if r.in {
				in = jen.Id(word(r.t.file)).Call(jen.Id("w").Dot("cc").Op(">>").Id("i").Op("&").Lit(1))
			}
			fn := "Add"
			if r.sub {
				fn = "Sub"
			}
			sum := jen.Qual("math/bits", fn+map[int]string{32: "32", 64: "64"}[r.t.bits]).
				Call(r.augend(x), x[len(x)-1], in)
			if !r.out {
				body = append(body, jen.List(jen.Id("d").Index(jen.Id("i")), jen.Id("_")).Op("=").Add(sum))
				g.Add(lanes(body...))
				return
			}
			carry := jen.Code(jen.Id("carry"))
			if r.t.bits == 64 {
				carry = jen.Uint32().Call(carry)
			}
			body = append(body,
				jen.List(jen.Id("s"), jen.Id("carry")).Op(":=").Add(sum),
				jen.Id("d").Index(jen.Id("i")).Op("=").Id("s"),
				jen.Id("w").Dot("cc").Op("=").Id("w").Dot("cc").Op("&^").Parens(jen.Lit(1).Op("<<").Id("i")).Op("|").Add(carry).Op("<<").Id("i"),
			)
			g.Add(lanes(body...))
		})
	}
}

package main

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
)

// sig is the signature of a form whose operands are all of the type.
func (t typ) sig(operands int) string { return t.file + "=" + strings.Repeat(t.file, operands) }

// wide is the type of the whole product of two values of the type.
func (t typ) wide() typ {
	return map[typ]typ{u16: u32, s16: s32, u32: u64, s32: s64}[t]
}

// high is the upper half of the product.
func (t typ) high(x, y jen.Code) *jen.Statement {
	if t.bits == 16 {
		w := t.wide()
		product := jen.Id(w.goType).Call(t.of(x)).Op("*").Id(w.goType).Call(t.of(y))
		return w.in("r", product.Op(">>").Lit(16))
	}
	return jen.Qual(numPath, "MulHi"+strings.ToUpper(t.name)).Call(x, y)
}

// product is the whole product.
func (t typ) product(x, y jen.Code) *jen.Statement {
	w := t.wide()
	return w.in(w.file, jen.Id(w.goType).Call(t.of(x)).Op("*").Id(w.goType).Call(t.of(y)))
}

func intRows() []row {
	var rows []row
	add := func(r ...row) { rows = append(rows, r...) }
	// What does not depend on the sign: both types, one loop.
	for _, p := range [][2]typ{{u16, s16}, {u32, s32}, {u64, s64}} {
		u, both := p[0], []string{p[1].name, p[0].name}
		low := func(x ...jen.Code) *jen.Statement {
			return jen.Add(x[0]).Op("*").Add(x[1]).Op("+").Add(x[2])
		}
		plain := func(op string) expr {
			return func(x ...jen.Code) *jen.Statement { return jen.Add(x[0]).Op(op).Add(x[1]) }
		}
		add(hot([]row{
			named(u.sig(2), plain("+"), suffixed("add", both...)...),
			named(u.sig(2), plain("-"), suffixed("sub", both...)...),
			named(u.sig(2), plain("*"), suffixed("mul.lo", both...)...),
			named(u.sig(3), low, suffixed("mad.lo", both...)...),
		})...)
		add(named(u.sig(1), func(x ...jen.Code) *jen.Statement { return jen.Op("-").Add(x[0]) }, "neg."+p[1].name))
	}
	for _, t := range arith {
		upper := strings.ToUpper(t.name)
		highAdd := func(x ...jen.Code) *jen.Statement { return t.high(x[0], x[1]).Op("+").Add(x[2]) }
		high := named(t.sig(2), func(x ...jen.Code) *jen.Statement { return t.high(x[0], x[1]) }, "mul.hi."+t.name)
		high.hot = t == u32
		add(high, named(t.sig(3), highAdd, "mad.hi."+t.name))
		for _, fn := range []string{"min", "max"} {
			lane := func(x ...jen.Code) *jen.Statement {
				return t.in(t.file, jen.Id(fn).Call(t.of(x[0]), t.of(x[1])))
			}
			add(hot([]row{named(t.sig(2), lane, fn+"."+t.name)})...)
		}
		if t.signed {
			lane := func(x ...jen.Code) *jen.Statement {
				return t.in(t.file, jen.Id("max").Call(t.of(x[0]), jen.Op("-").Add(t.of(x[0]))))
			}
			add(named(t.sig(1), lane, "abs."+t.name))
		}
		switch t.bits {
		case 16:
			w := map[bool]string{false: "U32", true: "S32"}[t.signed]
			extend := func(x ...jen.Code) *jen.Statement { return t.in("r", t.of(x[0])) }
			add(named(t.sig(2), call("Div"+w).over(extend), "div."+t.name), named(t.sig(2), call("Rem"+w).over(extend), "rem."+t.name))
			diff := call("Diff" + w).over(extend)
			add(named(t.sig(3), func(x ...jen.Code) *jen.Statement { return diff(x[0], x[1]).Op("+").Add(x[2]) }, "sad."+t.name))
		default:
			add(named(t.sig(2), call("Div"+upper), "div."+t.name), named(t.sig(2), call("Rem"+upper), "rem."+t.name))
			diff := call("Diff" + upper)
			add(named(t.sig(3), func(x ...jen.Code) *jen.Statement { return diff(x[0], x[1]).Op("+").Add(x[2]) }, "sad."+t.name))
		}
		if t.bits < 64 {
			w := t.wide()
			product := func(x ...jen.Code) *jen.Statement { return t.product(x[0], x[1]) }
			sum := func(x ...jen.Code) *jen.Statement { return t.product(x[0], x[1]).Op("+").Add(x[2]) }
			add(hot([]row{
				named(w.file+"="+t.file+t.file, product, "mul.wide."+t.name),
				named(w.file+"="+t.file+t.file+w.file, sum, "mad.wide."+t.name),
			})...)
		}
	}
	return slices.Concat(rows, saturated(), mul24Rows(), packedRows())
}

// saturated are the forms that clamp to s32.
func saturated() []row {
	wide := func(x jen.Code) *jen.Statement { return jen.Int64().Call(jen.Int32().Call(x)) }
	sat := func(f func(x ...jen.Code) *jen.Statement) expr {
		return func(x ...jen.Code) *jen.Statement { return jen.Qual(numPath, "SatS32").Call(f(x...)) }
	}
	return []row{
		named("r=rr", sat(func(x ...jen.Code) *jen.Statement { return wide(x[0]).Op("+").Add(wide(x[1])) }), "add.sat.s32"),
		named("r=rr", sat(func(x ...jen.Code) *jen.Statement { return wide(x[0]).Op("-").Add(wide(x[1])) }), "sub.sat.s32"),
		named("r=rrr", sat(func(x ...jen.Code) *jen.Statement {
			return wide(s32.high(x[0], x[1])).Op("+").Add(wide(x[2]))
		}), "mad.hi.sat.s32"),
	}
}

// mul24Rows multiply the low 24 bits of operands; .hi gives bits 16 to 47.
func mul24Rows() []row {
	var rows []row
	for _, t := range []typ{u32, s32} {
		w := t.wide()
		part := func(x jen.Code) *jen.Statement {
			return jen.Id(w.goType).Call(jen.Id(t.goType).Call(jen.Add(x).Op("<<").Lit(8)).Op(">>").Lit(8))
		}
		for i, half := range []string{"lo", "hi"} {
			product := func(x ...jen.Code) *jen.Statement {
				p := part(x[0]).Op("*").Add(part(x[1]))
				if i == 1 {
					p.Op(">>").Lit(16)
				}
				return jen.Uint32().Call(p)
			}
			rows = append(rows, named("r=rr", product, "mul24."+half+"."+t.name),
				named("r=rrr", func(x ...jen.Code) *jen.Statement { return product(x...).Op("+").Add(x[2]) }, "mad24."+half+"."+t.name))
		}
	}
	return rows
}

// packedRows are the forms on two integers of 16 bits in a word.
func packedRows() []row {
	rows := []row{named("r=rr", expr(func(x ...jen.Code) *jen.Statement {
		return jen.Uint32().Call(jen.Uint16().Call(jen.Parens(x[0]).Op("+").Parens(x[1])))
	}).both(), "add.u16x2", "add.s16x2")}
	for _, t := range []typ{u16, s16} {
		for _, fn := range []string{"min", "max"} {
			rows = append(rows, named("r=rr", expr(func(x ...jen.Code) *jen.Statement {
				return jen.Uint32().Call(jen.Uint16().Call(jen.Id(fn).Call(t.of(x[0]), t.of(x[1]))))
			}).both(), fn+"."+t.name+"x2"))
		}
	}
	return rows
}

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
)

var bitOps = []struct{ name, op string }{{"and", "&"}, {"or", "|"}, {"xor", "^"}}

func plainInfix(op string) expr {
	return func(x ...jen.Code) *jen.Statement { return jen.Add(x[0]).Op(op).Add(x[1]) }
}

func complement(x ...jen.Code) *jen.Statement { return jen.Op("^").Add(x[0]) }

func itself(x ...jen.Code) *jen.Statement { return jen.Add(x[0]) }

func bitRows() []row {
	// Words of 16 bits are the low bits of words of 32.
	var logic []row
	for _, o := range bitOps {
		logic = append(logic,
			named("r=rr", plainInfix(o.op), o.name+".b32", o.name+".b16"),
			named("d=dd", plainInfix(o.op), o.name+".b64"))
	}
	logic = append(logic, named("r=r", complement, "not.b32", "not.b16"), named("d=d", complement, "not.b64"))
	var preds []row
	for _, o := range bitOps {
		preds = append(preds, named("p=pp", plainInfix(o.op), o.name+".pred"))
	}
	preds = append(preds, named("p=p", complement, "not.pred"), named("p=p", itself, "mov.pred"))
	return slices.Concat(hot(logic), preds, hot(moves()), hot(shifts()), funnels(), fields32(), masks(), permutes())
}

// moves are mov, selp and slct, which copy bits whatever their type.
func moves() []row {
	words := []string{"b32", "u32", "s32", "f32", "b16", "u16", "s16"}
	doubles := []string{"b64", "u64", "s64", "f64"}
	pick := func(x ...jen.Code) *jen.Statement {
		return jen.Add(x[1]).Op("^").Parens(jen.Add(x[0]).Op("^").Add(x[1])).Op("&").Add(x[2])
	}
	rows := []row{
		named("r=r", itself, suffixed("mov", words...)...),
		named("d=d", itself, suffixed("mov", doubles...)...),
		named("r=rrp", pick, suffixed("selp", words...)...),
		named("d=ddp", pick, suffixed("selp", doubles...)...),
	}
	rows[0].copy, rows[1].copy = true, true
	// slct takes the second operand where the third is negative or NaN.
	for _, c := range []struct{ suffix, keep string }{{"s32", "SignMaskS32"}, {"f32", "SignMaskF32"}, {"ftz.f32", "SignMaskFtzF32"}} {
		for _, file := range []string{"r", "d"} {
			types := words
			if file == "d" {
				types = doubles
			}
			var names []string
			for _, t := range types {
				if ftz, f32, ok := strings.Cut(c.suffix, "."); ok {
					names = append(names, "slct."+ftz+"."+t+"."+f32)
				} else {
					names = append(names, "slct."+t+"."+c.suffix)
				}
			}
			rows = append(rows, named(file+"="+file+file+"r", func(x ...jen.Code) *jen.Statement {
				keep := jen.Qual(numPath, c.keep).Call(x[2])
				if file == "d" {
					keep = jen.Uint64().Call(jen.Int64().Call(jen.Int32().Call(keep)))
				}
				return pick(x[0], x[1], keep)
			}, names...))
		}
	}
	return rows
}

// shifts clamp the count, as Go's do.
func shifts() []row {
	var rows []row
	for _, t := range []typ{u16, u32, u64} {
		left := func(x ...jen.Code) *jen.Statement { return t.in(t.file, t.of(x[0]).Op("<<").Add(x[1])) }
		rows = append(rows, named(t.file+"="+t.file+"r", left, fmt.Sprintf("shl.b%d", t.bits)))
	}
	for _, t := range arith {
		right := func(x ...jen.Code) *jen.Statement { return t.in(t.file, t.of(x[0]).Op(">>").Add(x[1])) }
		names := []string{"shr." + t.name}
		if !t.signed {
			names = append(names, fmt.Sprintf("shr.b%d", t.bits))
		}
		rows = append(rows, named(t.file+"="+t.file+"r", right, names...))
	}
	return rows
}

// funnels shift two words.
func funnels() []row {
	var rows []row
	for _, d := range []struct{ letter, fn string }{{"l", "FunnelLeft"}, {"r", "FunnelRight"}} {
		wrap := func(x ...jen.Code) *jen.Statement {
			return jen.Qual(numPath, d.fn).Call(x[0], x[1], jen.Add(x[2]).Op("&").Lit(31))
		}
		clamp := func(x ...jen.Code) *jen.Statement {
			return jen.Qual(numPath, d.fn).Call(x[0], x[1], jen.Id("min").Call(x[2], jen.Lit(32)))
		}
		rows = append(rows, named("r=rrr", wrap, "shf."+d.letter+".wrap.b32"), named("r=rrr", clamp, "shf."+d.letter+".clamp.b32"))
	}
	return hot(rows)
}

// fields32 take, put, find and count bits.
func fields32() []row {
	bits := func(fn string) expr {
		return func(x ...jen.Code) *jen.Statement {
			s := jen.Qual("math/bits", fn).Call(x...)
			if strings.HasPrefix(fn, "Reverse") {
				return s
			}
			return jen.Uint32().Call(s)
		}
	}
	rows := []row{
		named("r=rrrr", call("Bfi32"), "bfi.b32"), named("d=ddrr", call("Bfi64"), "bfi.b64"),
		named("r=r", bits("Reverse32"), "brev.b32"), named("d=d", bits("Reverse64"), "brev.b64"),
		named("r=r", bits("LeadingZeros32"), "clz.b32"), named("r=d", bits("LeadingZeros64"), "clz.b64"),
		named("r=r", bits("OnesCount32"), "popc.b32"), named("r=d", bits("OnesCount64"), "popc.b64"),
	}
	for _, t := range []typ{u32, s32, u64, s64} {
		upper := strings.ToUpper(t.name)
		find := call("Find" + upper)
		amount := func(x ...jen.Code) *jen.Statement {
			return jen.Qual(numPath, "ShiftAmount").Call(find(x...), jen.Lit(t.bits-1))
		}
		rows = append(rows,
			named(t.file+"="+t.file+"rr", call("Bfe"+upper), "bfe."+t.name),
			named("r="+t.file, find, "bfind."+t.name),
			named("r="+t.file, amount, "bfind.shiftamt."+t.name))
	}
	return rows
}

// masks make masks and extend fields; a count that is no bit of a word is clamped
// to 32 or taken modulo it.
func masks() []row {
	limit := map[string]func(jen.Code) *jen.Statement{
		"clamp": func(x jen.Code) *jen.Statement { return jen.Id("min").Call(x, jen.Lit(32)) },
		"wrap":  func(x jen.Code) *jen.Statement { return jen.Add(x).Op("&").Lit(31) },
	}
	var rows []row
	for _, mode := range []string{"clamp", "wrap"} {
		rows = append(rows, named("r=rr", func(x ...jen.Code) *jen.Statement {
			return jen.Qual(numPath, "Bmsk").Call(limit[mode](x[0]), limit[mode](x[1]))
		}, "bmsk."+mode+".b32"))
		for _, t := range []typ{u32, s32} {
			rows = append(rows, named("r=rr", func(x ...jen.Code) *jen.Statement {
				return jen.Qual(numPath, "Szext"+strings.ToUpper(t.name)).Call(x[0], limit[mode](x[1]))
			}, "szext."+mode+"."+t.name))
		}
	}
	return rows
}

// permutes are prmt, lop3 and the dot products of bytes.
func permutes() []row {
	rows := []row{
		named("r=rrr", call("Prmt"), "prmt.b32"),
		named("r=rrrr", call("Lop3"), "lop3.b32"),
	}
	for _, mode := range []string{"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"} {
		rows = append(rows, named("r=rrr", call("PrmtBy", jen.Op("&").Add(num(strings.ToUpper(mode)))), "prmt.b32."+mode))
	}
	for _, a := range []typ{u32, s32} {
		for _, b := range []typ{u32, s32} {
			types := a.name + "." + b.name
			signs := []jen.Code{jen.Lit(a.signed), jen.Lit(b.signed)}
			rows = append(rows,
				named("r=rrr", call("Dp4a", signs...), "dp4a."+types),
				named("r=rrr", call("Dp2a", append(signs, jen.Lit(0))...), "dp2a.lo."+types),
				named("r=rrr", call("Dp2a", append(signs, jen.Lit(16))...), "dp2a.hi."+types))
		}
	}
	return rows
}

package main

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// halfRows are the forms of f16 and bf16, alone and in pairs.
func halfRows() []row {
	var rows []row
	for _, t := range []string{"f16", "bf16"} {
		recv := strings.ToUpper(t)
		ftz := method(recv, "Ftz")
		add := func(sig string, e expr, names ...string) {
			var pairs []string
			for _, n := range names {
				pairs = append(pairs, n+"x2")
			}
			rows = append(rows, named(sig, e, names...), named(sig, e.both(), pairs...))
		}
		type variant struct {
			mods string
			wrap func(e expr) expr
		}
		plain := variant{"", func(e expr) expr { return e }}
		flush := variant{"ftz", func(e expr) expr { return e.over(ftz).then(ftz) }}
		sat := variant{"sat", func(e expr) expr { return e.then(method(recv, "Sat")) }}
		relu := variant{"relu", func(e expr) expr { return e.then(method(recv, "Relu")) }}
		both := func(a, b variant) variant {
			return variant{a.mods + "." + b.mods, func(e expr) expr { return b.wrap(a.wrap(e)) }}
		}
		arithmetic, fma, signs, orders := []variant{plain}, []variant{plain, relu}, []variant{plain}, []variant{plain}
		if t == "f16" {
			arithmetic = append(arithmetic, flush, sat, both(flush, sat))
			fma = append(fma, flush, sat, both(flush, sat), both(flush, relu))
			signs, orders = append(signs, flush), append(orders, flush)
		}
		for _, v := range arithmetic {
			for _, op := range []string{"Add", "Sub", "Mul"} {
				add("r=rr", v.wrap(method(recv, op)), floatNames(strings.ToLower(op), roundings[0], true, v.mods, t)...)
			}
		}
		for _, v := range fma {
			add("r=rrr", v.wrap(method(recv, "Fma")), modified("fma.rn", v.mods, t))
		}
		for _, v := range signs {
			add("r=r", v.wrap(method(recv, "Abs")), modified("abs", v.mods, t))
			add("r=r", v.wrap(method(recv, "Neg")), modified("neg", v.mods, t))
		}
		for _, v := range orders {
			for _, op := range []string{"Min", "Max"} {
				for _, nan := range []string{"", "NaN"} {
					e := method(recv, op+nan)
					add("r=rr", v.wrap(e), modified(strings.ToLower(op), v.mods, nan, t))
					abs := v.wrap(e).over(method(recv, "Abs"))
					add("r=rr", func(x ...jen.Code) *jen.Statement {
						return jen.Qual(numPath, "SignedHalf").Call(abs(x...), jen.Parens(x[0]).Op("^").Parens(x[1]))
					}, modified(strings.ToLower(op), v.mods, nan, "xorsign.abs", t))
				}
			}
		}
		ex2 := "ex2.approx." + t
		if t == "bf16" {
			ex2 = "ex2.approx.ftz.bf16"
			rows = append(rows, named("r=r", method(recv, "Ex2").over(ftz).then(ftz), ex2),
				named("r=r", method(recv, "Ex2").over(ftz).then(ftz).both(), ex2+"x2"))
		} else {
			add("r=r", method(recv, "Ex2"), ex2)
		}
		add("r=r", method(recv, "Tanh"), "tanh.approx."+t)
	}
	return rows
}

package main

import "github.com/dave/jennifer/jen"

func f64Rows() []row {
	var rows []row
	for _, r := range roundings {
		for _, op := range []struct {
			name, fn, sig string
			optional      bool
		}{
			{"add", "Add", "d=dd", true}, {"sub", "Sub", "d=dd", true}, {"mul", "Mul", "d=dd", true},
			{"fma", "Fma", "d=ddd", false}, {"mad", "Fma", "d=ddd", false},
			{"div", "Div", "d=dd", false}, {"rcp", "Rcp", "d=d", false}, {"sqrt", "Sqrt", "d=d", false},
		} {
			row := named(op.sig, rounded(op.fn, "F64", r), floatNames(op.name, r, op.optional, "f64")...)
			row.hot = r.mode == "RN"
			rows = append(rows, row)
		}
	}
	sign := func() *jen.Statement { return jen.Parens(jen.Lit(1).Op("<<").Lit(63)) }
	abs := func(x ...jen.Code) *jen.Statement { return jen.Add(x[0]).Op("&^").Add(sign()) }
	neg := func(x ...jen.Code) *jen.Statement { return jen.Add(x[0]).Op("^").Add(sign()) }
	return append(rows,
		named("d=d", abs, "abs.f64"), named("d=d", neg, "neg.f64"),
		named("d=dd", call("MinF64"), "min.f64"), named("d=dd", call("MaxF64"), "max.f64"),
		named("d=dd", call("CopysignF64"), "copysign.f64"),
		named("d=d", call("RcpApproxF64"), "rcp.approx.ftz.f64"),
		named("d=d", call("RsqrtApproxF64"), "rsqrt.approx.ftz.f64"),
		named("d=d", call("RsqrtF64"), "rsqrt.approx.f64"),
	)
}

package main

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
)

// convertRows are the conversions between integers and the common ones of
// floats; the others are put together when an instruction is decoded.
func convertRows() []row { return slices.Concat(intConversions(), hot(floatConversions())) }

// intConversions are those between all integer types: a narrower type takes the
// low bits, a wider one extends by the sign of the source.
func intConversions() []row {
	var rows []row
	at := map[[2]string]int{} // of the function of a type that decides and the other's file
	for _, d := range intTypes {
		for _, s := range intTypes {
			by, key := s, [2]string{s.name, d.file}
			if d.bits <= s.bits {
				by, key = d, [2]string{d.name + "<", s.file}
			}
			name := "cvt." + d.name + "." + s.name
			if i, ok := at[key]; ok {
				rows[i].names = append(rows[i].names, name)
				continue
			}
			at[key] = len(rows)
			rows = append(rows, named(d.file+"="+s.file, func(x ...jen.Code) *jen.Statement {
				if by.goType == word(s.file) {
					if d.file == s.file {
						return jen.Add(x[0])
					}
					return jen.Id(word(d.file)).Call(x[0])
				}
				return jen.Id(word(d.file)).Call(jen.Id(by.goType).Call(x[0]))
			}, name))
		}
	}
	return hot(rows)
}

func floatConversions() []row {
	pair := func(fn string) expr {
		return func(x ...jen.Code) *jen.Statement {
			return jen.Qual(numPath, fn).Call(x[0]).Op("<<").Lit(16).Op("|").Qual(numPath, fn).Call(x[1])
		}
	}
	rows := []row{
		named("r=r", call("F16ToF32"), "cvt.f32.f16"),
		named("r=r", call("BF16ToF32"), "cvt.f32.bf16"),
		named("r=r", call("F32ToF16"), "cvt.rn.f16.f32"),
		named("r=r", call("F32ToBF16"), "cvt.rn.bf16.f32"),
		named("r=rr", pair("F32ToF16"), "cvt.rn.f16x2.f32"),
		named("r=rr", pair("F32ToBF16"), "cvt.rn.bf16x2.f32"),
		named("d=r", call("F32ToF64"), "cvt.f64.f32"),
		named("r=d", call("F64ToF32"), "cvt.rn.f32.f64"),
		named("r=r", call("SatF32"), "cvt.sat.f32.f32"),
	}
	for _, r := range roundings {
		rows = append(rows,
			named("r=r", call("RoundF32", num(r.mode)), "cvt."+r.mod+"i.f32.f32"),
			named("r=r", call("S32FromF32", num(r.mode)), "cvt."+r.mod+"i.s32.f32"))
	}
	for _, t := range intTypes {
		for _, f := range []struct{ name, file, goType, bits string }{
			{"f32", "r", "float32", "Float32bits"}, {"f64", "d", "float64", "Float64bits"},
		} {
			convert := func(x ...jen.Code) *jen.Statement {
				return jen.Qual("math", f.bits).Call(jen.Id(f.goType).Call(t.of(x[0])))
			}
			if f.name == "f32" && t.file == "d" {
				convert = call(strings.ToUpper(t.name) + "ToF32")
			}
			rows = append(rows, named(f.file+"="+t.file, convert, "cvt.rn."+f.name+"."+t.name))
		}
	}
	return rows
}

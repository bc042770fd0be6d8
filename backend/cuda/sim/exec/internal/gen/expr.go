package main

import "github.com/dave/jennifer/jen"

// typ is an integer type of PTX.
type typ struct {
	name   string // "s32"
	file   string // of its registers
	goType string
	bits   int
	signed bool
}

var (
	u8  = typ{"u8", "r", "uint8", 8, false}
	s8  = typ{"s8", "r", "int8", 8, true}
	u16 = typ{"u16", "r", "uint16", 16, false}
	s16 = typ{"s16", "r", "int16", 16, true}
	u32 = typ{"u32", "r", "uint32", 32, false}
	s32 = typ{"s32", "r", "int32", 32, true}
	u64 = typ{"u64", "d", "uint64", 64, false}
	s64 = typ{"s64", "d", "int64", 64, true}

	intTypes = []typ{u8, s8, u16, s16, u32, s32, u64, s64}
	arith    = []typ{u16, s16, u32, s32, u64, s64} // those that instructions compute in
)

// word is the Go type of a register file's lanes.
func word(file string) string {
	if file == "d" {
		return "uint64"
	}
	return "uint32"
}

// of reads a register's low bits as the type.
func (t typ) of(x jen.Code) *jen.Statement {
	if t.goType == word(t.file) {
		return jen.Add(x)
	}
	return jen.Id(t.goType).Call(x)
}

// in makes a value of the type a register's; the type's sign fills the rest.
func (t typ) in(file string, v *jen.Statement) *jen.Statement {
	if t.goType == word(file) {
		return v
	}
	return jen.Id(word(file)).Call(v)
}

// call calls a function of package num; extra arguments follow the operands.
func call(fn string, extra ...jen.Code) expr {
	return func(x ...jen.Code) *jen.Statement {
		return jen.Qual(numPath, fn).Call(append(x[:len(x):len(x)], extra...)...)
	}
}

// method calls a method of a variable of package num.
func method(receiver, fn string, extra ...jen.Code) expr {
	return func(x ...jen.Code) *jen.Statement {
		return jen.Qual(numPath, receiver).Dot(fn).Call(append(x[:len(x):len(x)], extra...)...)
	}
}

// num is a constant of package num.
func num(name string) jen.Code { return jen.Qual(numPath, name) }

// then applies a function of one operand to a result.
func (e expr) then(f expr) expr {
	return func(x ...jen.Code) *jen.Statement { return f(e(x...)) }
}

// over applies a function of one operand to every operand.
func (e expr) over(f expr) expr {
	return func(x ...jen.Code) *jen.Statement {
		y := make([]jen.Code, len(x))
		for i := range x {
			y[i] = f(x[i])
		}
		return e(y...)
	}
}

// both applies an expression on 16 bits to the two halves of words.
func (e expr) both() expr {
	return func(x ...jen.Code) *jen.Statement {
		lo, hi := make([]jen.Code, len(x)), make([]jen.Code, len(x))
		for i := range x {
			lo[i] = jen.Add(x[i]).Op("&").Lit(0xffff)
			hi[i] = jen.Add(x[i]).Op(">>").Lit(16)
		}
		return e(lo...).Op("|").Add(e(hi...)).Op("<<").Lit(16)
	}
}

// halves applies an expression on 32 bits to the two halves of 64.
func (e expr) halves() expr {
	return func(x ...jen.Code) *jen.Statement {
		lo, hi := make([]jen.Code, len(x)), make([]jen.Code, len(x))
		for i := range x {
			lo[i] = jen.Uint32().Call(x[i])
			hi[i] = jen.Uint32().Call(jen.Add(x[i]).Op(">>").Lit(32))
		}
		return jen.Uint64().Call(e(lo...)).Op("|").Uint64().Call(e(hi...)).Op("<<").Lit(32)
	}
}

// named makes a row of names that mean one thing.
func named(sig string, lane expr, names ...string) row {
	return row{names: names, sig: sig, lane: lane}
}

// suffixed puts a modifier before each of the types, a name for each.
func suffixed(op string, types ...string) []string {
	var out []string
	for _, t := range types {
		out = append(out, op+"."+t)
	}
	return out
}

package kerneltest

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// mapOf makes a builder of maps from a program.
func mapOf(program func(m *Builder)) func(dims []int, stream uint64) *Builder {
	return func(dims []int, stream uint64) *Builder {
		m := NewBuilder(fixed(stream), codegen.Map, len(dims), dims...)
		program(m)
		m.Tame()
		return m
	}
}

func goldenMaps() []golden {
	plane := at(d(3, 5), d(40, 64), d(1024, 1024))
	line := at(d(37), d(2048), d(1<<20))
	return []golden{
		{"add", plane, mapOf(func(m *Builder) {
			m.Out(m.Apply(ir.SAdd, m.In(ir.F32, 0, 1), m.In(ir.F32, 0, 1)), ir.F32, 0, 1)
		})},
		{"add-bf16", plane, mapOf(func(m *Builder) {
			sum := m.Apply(ir.SAdd, m.In(ir.BF16, 0, 1), m.In(ir.BF16, 0, 1))
			m.Out(m.Cast(sum, ir.F32, ir.BF16), ir.BF16, 0, 1)
		})},
		{"add-broadcast", plane, mapOf(func(m *Builder) { // a row, a column and a scalar
			x := m.Apply(ir.SAdd, m.In(ir.F32, 0, 1), m.In(ir.F32, 1))
			m.Out(m.Apply(ir.SMul, m.Apply(ir.SAdd, x, m.In(ir.F32, 0)), m.In(ir.F32)), ir.F32, 0, 1)
		})},
		{"transpose", at(d(5, 7), d(48, 64), d(1024, 1024)), mapOf(func(m *Builder) {
			m.Out(m.In(ir.F32, 1, 0), ir.F32, 0, 1)
		})},
		{"permute", at(d(2, 3, 5, 4), d(4, 8, 16, 8), d(16, 12, 128, 64)), mapOf(func(m *Builder) {
			m.Out(m.Apply(ir.SMul, m.In(ir.F16, 0, 2, 1, 3), m.Const(codegen.Element, ir.F32, number(0.125))), ir.F16, 0, 1, 2, 3)
		})},
		{"strided", plane, mapOf(func(m *Builder) { // every other column, from the last on
			rows, n := m.Launch.Dims[0], m.Launch.Dims[1]
			back := codegen.AccessArgs{Offset: 2*n - 1, Strides: d(2*n, -2)}
			m.Out(m.Apply(ir.SNeg, m.Load(codegen.Element, ir.F32, 2*n*rows, back)), ir.F32, 0, 1)
		})},
		{"pad", plane, mapOf(func(m *Builder) { // two on the left, one below
			rows, n := m.Launch.Dims[0], m.Launch.Dims[1]
			inner := codegen.AccessArgs{
				Offset: -2, Strides: d(n-2, 1), Window: []codegen.WindowArg{{Axis: 0, Lo: 0, Hi: rows - 1}, {Axis: 1, Lo: 2, Hi: n}},
			}
			fill := m.Const(codegen.Element, ir.F32, number(-1))
			m.Out(m.masked(ir.F32, (rows-1)*(n-2), inner, fill), ir.F32, 0, 1)
		})},
		{"concat", plane, mapOf(func(m *Builder) { // along the rows: two columns, then the others
			rows, n := m.Launch.Dims[0], m.Launch.Dims[1]
			zero := m.Const(codegen.Element, ir.F32, Value{})
			right := codegen.AccessArgs{Offset: -2, Strides: d(n-2, 1), Window: []codegen.WindowArg{{Axis: 1, Lo: 2, Hi: n}}}
			left := codegen.AccessArgs{Strides: d(2, 1), Window: []codegen.WindowArg{{Axis: 1, Lo: 0, Hi: 2}}}
			m.Out(m.masked(ir.F32, rows*2, left, m.masked(ir.F32, rows*(n-2), right, zero)), ir.F32, 0, 1)
		})},
		{"gather", at(d(6, 5), d(64, 96), d(2048, 384)), func(dims []int, _ uint64) *Builder {
			return Gather(dims[0], dims[1], 4+dims[1]/3, 1)
		}},
		{"gelu", line, mapOf(func(m *Builder) {
			m.Out(m.Apply(ir.SAdd, m.Apply(ir.SGelu, m.In(ir.F32, 0)), m.In(ir.F32, 0)), ir.F32, 0)
		})},
		{"functions", line, mapOf(func(m *Builder) {
			x := m.In(ir.F32, 0)
			y := m.Apply(ir.STanh, m.Apply(ir.SMul, m.Apply(ir.SExp, x), m.Apply(ir.SSin, x)))
			m.Out(m.Apply(ir.SAdd, y, m.Apply(ir.SSqrt, m.Apply(ir.SAbs, x))), ir.F32, 0)
		})},
		{"four-outputs", line, mapOf(func(m *Builder) {
			x, y := m.In(ir.F32, 0), m.In(ir.F32, 0)
			sum := m.Apply(ir.SAdd, x, y)
			m.Out(sum, ir.F32, 0)
			m.Out(m.Cast(m.Apply(ir.SMul, sum, y), ir.F32, ir.F16), ir.F16, 0)
			m.Out(m.Apply(ir.SLess, x, y), ir.Bool, 0)
			m.Out(m.Cast(m.Apply(ir.SMul, x, m.Const(codegen.Element, ir.F32, number(100))), ir.F32, ir.I32), ir.I32, 0)
		})},
		{"cast-halves", line, mapOf(func(m *Builder) {
			h := m.Cast(m.Cast(m.In(ir.F16, 0), ir.F16, ir.F32), ir.F32, ir.BF16)
			m.Out(h, ir.BF16, 0)
			m.Out(m.Cast(m.In(ir.F64, 0), ir.F64, ir.F16), ir.F16, 0)
		})},
		{"cast-f8", line, mapOf(func(m *Builder) {
			x := m.In(ir.F32, 0)
			m.Out(m.Cast(x, ir.F32, ir.F8E4M3), ir.F8E4M3, 0)
			m.Out(m.Cast(x, ir.F32, ir.F8E5M2), ir.F8E5M2, 0)
			f8 := m.In(ir.F8E4M3, 0)
			m.Fill(len(m.Mem)-1, func(i int) Value { return Value{F: float64(i%31-15) / 4} })
			m.Out(m.Cast(f8, ir.F8E4M3, ir.F32), ir.F32, 0)
		})},
		{"cast-ints", line, mapOf(func(m *Builder) {
			x := m.Apply(ir.SMul, m.In(ir.F32, 0), m.Const(codegen.Element, ir.F32, number(90)))
			m.Out(m.Cast(x, ir.F32, ir.I8), ir.I8, 0)
			m.Out(m.Cast(m.In(ir.I64, 0), ir.I64, ir.BF16), ir.BF16, 0)
			m.Out(m.Cast(m.In(ir.U8, 0), ir.U8, ir.I64), ir.I64, 0)
			m.Out(m.Cast(m.In(ir.I32, 0), ir.I32, ir.Bool), ir.Bool, 0)
		})},
		{"integers", line, mapOf(func(m *Builder) {
			x, y := m.In(ir.I32, 0), m.In(ir.I32, 0)
			q := m.Apply(ir.SFloorDiv, x, y)
			m.Out(m.Apply(ir.SBitXor, m.Apply(ir.SRemainder, x, y), m.Apply(ir.SShr, q, y)), ir.I32, 0)
			m.Out(m.Apply(ir.SMul, m.In(ir.U64, 0), m.In(ir.U64, 0)), ir.U64, 0)
		})},
		{"doubles", line, mapOf(func(m *Builder) {
			x := m.In(ir.F64, 0)
			m.Out(m.Apply(ir.SMulAdd, x, m.In(ir.F64, 0), m.Apply(ir.SDiv, m.In(ir.F64, 0), x)), ir.F64, 0)
		})},
		{"where", plane, mapOf(func(m *Builder) { // below the diagonal, with a mask for rows
			keep := m.Apply(ir.SAnd, m.Apply(ir.SGreaterEqual, m.coord(0), m.coord(1)), m.In(ir.Bool, 0))
			m.Out(m.Apply(ir.SWhere, keep, m.In(ir.F32, 0, 1), m.Const(codegen.Element, ir.F32, number(math.Inf(-1)))), ir.F32, 0, 1)
		})},
		{"arange", plane, mapOf(func(m *Builder) {
			p := m.Param(ir.F64, math.Float64bits(0.25))
			m.Param(ir.F64, math.Float64bits(1.0/3))
			i := m.Emit(codegen.Instr{Op: codegen.OpArange, Type: ir.F32, Index: 1, Index2: p})
			m.Out(i, ir.F32, 0, 1)
		})},
		{"adam", line, mapOf(goldenAdam)},
		{"uniform", line, mapOf(func(m *Builder) { m.Out(m.uniform(), ir.F32, 0) })},
		{"dropout", line, mapOf(func(m *Builder) {
			keep := m.Apply(ir.SGreaterEqual, m.uniform(), m.Const(codegen.Element, ir.F32, number(0.25)))
			x := m.Apply(ir.SDiv, m.In(ir.F32, 0), m.Const(codegen.Element, ir.F32, number(0.75)))
			m.Out(m.Apply(ir.SWhere, keep, x, m.Const(codegen.Element, ir.F32, Value{})), ir.F32, 0)
		})},
		{"normal", line, mapOf(func(m *Builder) {
			m.Out(m.Emit(codegen.Instr{Op: codegen.OpNormal, Type: ir.F32, Index: m.seed()}), ir.F32, 0)
		})},
	}
}

// masked reads a new buffer of n elements inside the window of a layout; outside
// it is fill.
func (m *Builder) masked(dt ir.DType, n int, args codegen.AccessArgs, fill codegen.Value) codegen.Value {
	access := m.Access(m.Buffer(dt, codegen.In, n), args, true)
	return m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: dt.Compute(), Access: access, Args: []codegen.Value{fill}})
}

func (m *Builder) coord(axis int) codegen.Value {
	return m.Emit(codegen.Instr{Op: codegen.OpCoord, Type: ir.I64, Index: axis})
}

// seed adds the two parameters of random numbers.
func (m *Builder) seed() int {
	p := m.Param(ir.I64, 42)
	m.Param(ir.I64, 7<<32)
	return p
}

// uniform is a random number in [0, 1): the upper 24 bits of a word.
func (m *Builder) uniform() codegen.Value {
	word := m.Emit(codegen.Instr{Op: codegen.OpPhilox, Type: ir.I64, Index: m.seed()})
	upper := m.Apply(ir.SShr, word, m.Const(codegen.Element, ir.I64, Value{I: 8}))
	return m.Apply(ir.SMul, m.Cast(upper, ir.I64, ir.F32), m.Const(codegen.Element, ir.F32, number(0x1p-24)))
}

// goldenAdam is a step of an optimiser with two moments.
func goldenAdam(m *Builder) {
	constant := func(f float64) codegen.Value { return m.Const(codegen.Element, ir.F32, number(f)) }
	w, g, first, second := m.In(ir.F32, 0), m.In(ir.F32, 0), m.In(ir.F32, 0), m.In(ir.F32, 0)
	first = m.Apply(ir.SAdd, m.Apply(ir.SMul, first, constant(0.9)), m.Apply(ir.SMul, g, constant(0.1)))
	square := m.Apply(ir.SAbs, second)
	second = m.Apply(ir.SAdd, m.Apply(ir.SMul, square, constant(0.999)), m.Apply(ir.SMul, m.Apply(ir.SMul, g, g), constant(0.001)))
	step := m.Apply(ir.SDiv, first, m.Apply(ir.SAdd, m.Apply(ir.SSqrt, second), constant(1e-8)))
	rate := m.Emit(codegen.Instr{Op: codegen.OpParam, Type: ir.F32, Index: m.Param(ir.F32, ScalarBits(ir.F32, number(0.01)))})
	m.Out(m.Apply(ir.SSub, w, m.Apply(ir.SMul, rate, step)), ir.F32, 0)
	m.Out(first, ir.F32, 0)
	m.Out(second, ir.F32, 0)
}

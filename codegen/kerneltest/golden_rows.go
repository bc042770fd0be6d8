package kerneltest

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// rowsOf makes a builder of rows from a program; all axes but the last are outer.
func rowsOf(program func(m *Builder)) func(dims []int, stream uint64) *Builder {
	return func(dims []int, stream uint64) *Builder {
		m := NewBuilder(fixed(stream), codegen.Rows, len(dims)-1, dims...)
		program(m)
		m.Tame()
		return m
	}
}

// reductionOf makes a builder of a plain reduction over the axes from outer on.
func reductionOf(outer int, op codegen.ReduceOp, dt ir.DType) func(dims []int, stream uint64) *Builder {
	return func(dims []int, _ uint64) *Builder { return Reduction(dims, outer, op, dt) }
}

func goldenRows() []golden {
	rows := at(d(5, 37), d(16, 384), d(2048, 768))
	return []golden{
		{"sum-short", at(d(9, 7), d(300, 32), d(1<<16, 32)), reductionOf(1, codegen.RSum, ir.F32)},
		{"sum-rows", rows, reductionOf(1, codegen.RSum, ir.F32)},
		{"sum-long", at(d(2, 1337), d(3, 9000), d(16, 1<<17)), reductionOf(1, codegen.RSum, ir.F32)},
		{"sum-all", at(d(1500), d(40000), d(1<<22)), reductionOf(0, codegen.RSum, ir.F32)},
		{"sum-columns", at(d(7, 43), d(96, 200), d(768, 2048)), rowsOf(func(m *Builder) {
			m.Out(m.Reduce(codegen.RSum, m.In(ir.F32, 1, 0)), ir.F32, 0)
		})},
		{"sum-middle", at(d(3, 5, 41), d(4, 32, 128), d(32, 128, 512)), rowsOf(func(m *Builder) {
			m.Out(m.Reduce(codegen.RSum, m.In(ir.F32, 0, 2, 1)), ir.F32, 0, 1)
		})},
		{"mean-bf16", rows, rowsOf(func(m *Builder) {
			sum := m.Reduce(codegen.RSum, m.In(ir.BF16, 0, 1))
			n := m.Emit(codegen.Instr{Op: codegen.OpCount, Type: ir.F32, Level: codegen.Row})
			m.Out(m.Cast(m.Apply(ir.SDiv, sum, n), ir.F32, ir.BF16), ir.BF16, 0)
		})},
		{"sum-integers", rows, rowsOf(func(m *Builder) {
			sum := m.Reduce(codegen.RSum, m.Cast(m.In(ir.I32, 0, 1), ir.I32, ir.I64))
			m.Out(m.Cast(sum, ir.I64, ir.I32), ir.I32, 0)
		})},
		{"product-f64", rows, reductionOf(1, codegen.RProd, ir.F64)},
		{"max-f16", rows, rowsOf(func(m *Builder) {
			m.Out(m.Reduce(codegen.RMax, m.In(ir.F16, 0, 1)), ir.F16, 0)
		})},
		{"argmax", rows, reductionOf(1, codegen.RArgMax, ir.F32)},
		{"any", rows, rowsOf(func(m *Builder) {
			m.Out(m.Reduce(codegen.RAny, m.Apply(ir.SIsNaN, m.In(ir.F32, 0, 1))), ir.Bool, 0)
		})},
		{"norm-of-difference", rows, rowsOf(func(m *Builder) { // a prologue and an epilogue
			x := m.Apply(ir.SSub, m.In(ir.F32, 0, 1), m.In(ir.F32, 1))
			m.Out(m.Apply(ir.SSqrt, m.Reduce(codegen.RSum, m.Apply(ir.SMul, x, x))), ir.F32, 0)
		})},
		{"softmax", rows, func(dims []int, _ uint64) *Builder { return Softmax(dims[0], dims[1]) }},
		{"softmax-long", at(d(2, 1500), d(2, 12000), d(8, 1<<16)), func(dims []int, _ uint64) *Builder { return Softmax(dims[0], dims[1]) }},
		{"softmax-masked-bf16", rows, rowsOf(func(m *Builder) {
			x := m.Apply(ir.SMul, m.In(ir.BF16, 0, 1), m.Const(codegen.Element, ir.F32, number(0.125)))
			x = m.Apply(ir.SWhere, m.In(ir.Bool, 1), m.Cast(x, ir.F32, ir.BF16), m.Const(codegen.Element, ir.F32, number(math.Inf(-1))))
			e := m.Apply(ir.SExp, m.Apply(ir.SSub, x, m.Reduce(codegen.RMax, x)))
			m.Out(m.Cast(m.Apply(ir.SDiv, e, m.Reduce(codegen.RSum, e)), ir.F32, ir.BF16), ir.BF16, 0, 1)
		})},
		{"log-softmax-loss", rows, rowsOf(func(m *Builder) { // three reductions; the label's is the third
			x := m.In(ir.F32, 0, 1)
			shifted := m.Apply(ir.SSub, x, m.Reduce(codegen.RMax, x))
			total := m.Apply(ir.SLog, m.Reduce(codegen.RSum, m.Apply(ir.SExp, shifted)))
			logs := m.Apply(ir.SSub, shifted, total)
			label := m.Apply(ir.SEqual, m.coord(1), m.label())
			picked := m.Apply(ir.SWhere, label, logs, m.Const(codegen.Element, ir.F32, Value{}))
			m.Out(logs, ir.F32, 0, 1)
			m.Out(m.Apply(ir.SNeg, m.Reduce(codegen.RSum, picked)), ir.F32, 0)
		})},
		{"layer-norm", rows, rowsOf(goldenLayerNorm)},
		{"rms-norm", rows, rowsOf(func(m *Builder) {
			x := m.In(ir.BF16, 0, 1)
			n := m.Emit(codegen.Instr{Op: codegen.OpCount, Type: ir.F32, Level: codegen.Row})
			mean := m.Apply(ir.SDiv, m.Reduce(codegen.RSum, m.Apply(ir.SMul, x, x)), n)
			scale := m.Apply(ir.SRsqrt, m.Apply(ir.SAdd, mean, m.Const(codegen.Row, ir.F32, number(1e-6))))
			y := m.Apply(ir.SMul, m.Apply(ir.SMul, x, scale), m.In(ir.BF16, 1))
			m.Out(m.Cast(y, ir.F32, ir.BF16), ir.BF16, 0, 1)
		})},
	}
}

// label reads the class of a row.
func (m *Builder) label() codegen.Value {
	v := m.InAt(codegen.Row, ir.I64, 0)
	classes := m.Launch.Dims[1]
	m.Fill(len(m.Mem)-1, func(i int) Value { return Value{I: int64(i*7) % int64(classes)} })
	return v
}

// goldenLayerNorm is a layer norm by the corrected two-pass variance.
func goldenLayerNorm(m *Builder) {
	x := m.In(ir.F32, 0, 1)
	n := m.Emit(codegen.Instr{Op: codegen.OpCount, Type: ir.F32, Level: codegen.Row})
	mean := func(v codegen.Value) codegen.Value { return m.Apply(ir.SDiv, m.Reduce(codegen.RSum, v), n) }
	centred := m.Apply(ir.SSub, x, mean(x))
	rest := m.Reduce(codegen.RSum, centred)
	squares := m.Reduce(codegen.RSum, m.Apply(ir.SMul, centred, centred))
	variance := m.Apply(ir.SDiv, m.Apply(ir.SSub, squares, m.Apply(ir.SDiv, m.Apply(ir.SMul, rest, rest), n)), n)
	variance = m.Apply(ir.SMaximum, variance, m.Const(codegen.Row, ir.F32, Value{}))
	scale := m.Apply(ir.SRsqrt, m.Apply(ir.SAdd, variance, m.Const(codegen.Row, ir.F32, number(1e-5))))
	y := m.Apply(ir.SMul, m.Apply(ir.SSub, centred, m.Apply(ir.SDiv, rest, n)), scale)
	m.Out(m.Apply(ir.SAdd, m.Apply(ir.SMul, y, m.In(ir.F32, 1)), m.In(ir.F32, 1)), ir.F32, 0, 1)
}

package kerneltest

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// contractionOf makes a builder of contractions from a program; all axes but the
// last are outer.
func contractionOf(program func(m *Builder)) func(dims []int, stream uint64) *Builder {
	return func(dims []int, stream uint64) *Builder {
		m := NewBuilder(fixed(stream), codegen.Contraction, len(dims)-1, dims...)
		program(m)
		m.Tame()
		return m
	}
}

// matMulOf multiplies matrices of two dtypes, and stores the result of register
// type t as out.
func matMulOf(t, left, right, out ir.DType) func(dims []int, stream uint64) *Builder {
	return contractionOf(func(m *Builder) {
		m.Out(m.contract(t, left, right, d(0, 2), d(2, 1)), out, 0, 1)
	})
}

func goldenContractions() []golden {
	// m, n, k: odd lengths, multiples of tiles, those of a model
	plane := at(d(7, 13, 37), d(64, 96, 288), d(512, 1024, 1024))
	dense := func(t, left, right, out ir.DType) func([]int, uint64) *Builder { return matMulOf(t, left, right, out) }
	return []golden{
		{"matmul-f32", plane, dense(ir.F32, ir.F32, ir.F32, ir.F32)},
		{"matmul-bf16", plane, dense(ir.F32, ir.BF16, ir.BF16, ir.BF16)},
		{"matmul-f16", plane, dense(ir.F32, ir.F16, ir.F16, ir.F16)},
		{"matmul-f16-f32", plane, dense(ir.F32, ir.F16, ir.F16, ir.F32)},
		{"matmul-i8", plane, dense(ir.I32, ir.I8, ir.I8, ir.I32)},
		{"matmul-u8-i8", plane, dense(ir.I32, ir.U8, ir.I8, ir.I32)},
		{"matmul-i64", at(d(3, 5, 19), d(16, 24, 80), d(128, 128, 256)), dense(ir.I64, ir.I64, ir.I64, ir.I64)},
		{"matmul-f64", plane, dense(ir.F64, ir.F64, ir.F64, ir.F64)},
		{"matmul-empty", at(d(3, 5, 0), d(32, 48, 0), d(300, 500, 0)), dense(ir.F32, ir.F32, ir.F32, ir.F32)},
		{"matmul-left-transposed", plane, contractionOf(func(m *Builder) {
			m.Out(m.contract(ir.F32, ir.F32, ir.F32, d(2, 0), d(2, 1)), ir.F32, 0, 1)
		})},
		{"linear", plane, contractionOf(func(m *Builder) { // weights [n, k], as layers keep them
			c := m.contract(ir.F32, ir.F32, ir.F32, d(0, 2), d(1, 2))
			m.Out(m.Apply(ir.SAdd, c, m.In(ir.F32, 1)), ir.F32, 0, 1)
		})},
		{"linear-gelu-bf16", plane, contractionOf(func(m *Builder) {
			c := m.contract(ir.F32, ir.BF16, ir.BF16, d(0, 2), d(1, 2))
			h := m.Cast(m.Apply(ir.SAdd, c, m.In(ir.BF16, 1)), ir.F32, ir.BF16)
			m.Out(m.Cast(m.Apply(ir.SGelu, h), ir.F32, ir.BF16), ir.BF16, 0, 1)
		})},
		{"linear-residual-f16", plane, contractionOf(func(m *Builder) { // and a mask of rows
			h := m.Cast(m.contract(ir.F32, ir.F16, ir.F16, d(0, 2), d(1, 2)), ir.F32, ir.F16)
			sum := m.Cast(m.Apply(ir.SAdd, h, m.In(ir.F16, 0, 1)), ir.F32, ir.F16)
			m.Out(m.Apply(ir.SMul, sum, m.In(ir.F16, 0)), ir.F16, 0, 1)
		})},
		{"matmul-batched", at(d(2, 3, 5, 7, 11), d(2, 4, 32, 32, 48), d(8, 12, 128, 128, 64)), contractionOf(func(m *Builder) { // the right operand is shared by axis 0
			m.Out(m.contract(ir.F32, ir.F32, ir.F32, d(0, 1, 2, 4), d(1, 4, 3)), ir.F32, 0, 1, 2, 3)
		})},
		{"scores-bf16", at(d(2, 3, 9, 10, 8), d(1, 4, 48, 64, 32), d(8, 12, 128, 128, 64)), contractionOf(func(m *Builder) { // heads interleaved in memory
			c := m.contract(ir.F32, ir.BF16, ir.BF16, d(0, 2, 1, 4), d(0, 3, 1, 4))
			m.Out(m.Apply(ir.SMul, m.Cast(c, ir.F32, ir.BF16), m.Const(codegen.Element, ir.F32, number(0.125))), ir.BF16, 0, 1, 2, 3)
		})},
		{"vector-matrix", at(d(1, 23, 45), d(1, 256, 384), d(1, 1536, 1536)), contractionOf(func(m *Builder) {
			m.Out(m.contract(ir.F32, ir.BF16, ir.BF16, d(0, 2), d(1, 2)), ir.BF16, 0, 1)
		})},
		{"matrix-vector", at(d(29, 1, 45), d(256, 1, 384), d(1536, 1, 1536)), dense(ir.F32, ir.F32, ir.F32, ir.F32)},
		{"matmul-cast", plane, contractionOf(func(m *Builder) { // f16 weights beside f32 activations
			right := m.Cast(m.InAt(codegen.Right, ir.F16, 2, 1), ir.F16, ir.F32)
			m.Out(m.product(ir.F32, m.InAt(codegen.Left, ir.F32, 0, 2), right), ir.F32, 0, 1)
		})},
		{"matmul-dequantise", plane, contractionOf(func(m *Builder) { // i8 weights with a scale for each column
			q := m.Cast(m.InAt(codegen.Right, ir.I8, 1, 2), ir.I8, ir.F32)
			right := m.Apply(ir.SMul, q, m.InAt(codegen.Right, ir.F32, 1))
			m.Out(m.product(ir.F32, m.InAt(codegen.Left, ir.F32, 0, 2), right), ir.F32, 0, 1)
		})},
		{"matmul-gather", plane, contractionOf(func(m *Builder) { // rows of a table by their numbers
			const table = 5
			row := m.InAt(codegen.Left, ir.I64, 0)
			m.Fill(0, func(i int) Value { return Value{I: int64(i*3) % table} })
			k := m.Launch.Dims[2]
			args := codegen.AccessArgs{Strides: d(0, 0, 1), Index: []codegen.IndexArg{{Extent: table, Stride: k}}}
			left := m.Load(codegen.Left, ir.BF16, table*k, args, row)
			m.Out(m.productOf(ir.F32, ir.BF16, ir.BF16, left, m.InAt(codegen.Right, ir.BF16, 2, 1)), ir.F32, 0, 1)
		})},
	}
}

// product contracts two values of prologues of one register type.
func (m *Builder) product(t ir.DType, left, right codegen.Value) codegen.Value {
	return m.productOf(t, m.Kernel.Body[left].Type, m.Kernel.Body[right].Type, left, right)
}

// productOf contracts two values of prologues, which are of the given dtypes.
func (m *Builder) productOf(t, leftType, rightType ir.DType, left, right codegen.Value) codegen.Value {
	return m.Emit(codegen.Instr{Op: codegen.OpContract, Type: t, From: leftType, To: rightType, Args: []codegen.Value{left, right}})
}

package kerneltest

import (
	"math/rand/v2"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Dense returns the layout of a row-major tensor whose axes are the given axes of
// the space, in that order, and its number of elements, at least 1.
func (m *Builder) Dense(axes ...int) (codegen.AccessArgs, int) {
	a := codegen.AccessArgs{Strides: make([]int, len(m.Launch.Dims))}
	n := 1
	for i := len(axes) - 1; i >= 0; i-- {
		a.Strides[axes[i]] = n
		n *= m.Launch.Dims[axes[i]]
	}
	return a, max(1, n)
}

// In reads a new dense tensor with the given axes of the space.
func (m *Builder) In(dt ir.DType, axes ...int) codegen.Value {
	return m.InAt(codegen.Element, dt, axes...)
}

// InAt is In of a value of a level.
func (m *Builder) InAt(level codegen.Level, dt ir.DType, axes ...int) codegen.Value {
	args, n := m.Dense(axes...)
	return m.Load(level, dt, n, args)
}

// Load reads a new buffer of n elements through a layout.
func (m *Builder) Load(level codegen.Level, dt ir.DType, n int, args codegen.AccessArgs, index ...codegen.Value) codegen.Value {
	access := m.Access(m.Buffer(dt, codegen.In, n), args, false)
	return m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: dt.Compute(), Level: level, Access: access, Args: index})
}

// Out stores a value as a new dense tensor with the given axes of the space.
func (m *Builder) Out(v codegen.Value, dt ir.DType, axes ...int) {
	args, n := m.Dense(axes...)
	m.Store(v, dt, args, n)
}

// Apply adds a function of values, at the level at which all of them exist.
func (m *Builder) Apply(fn ir.ScalarOp, args ...codegen.Value) codegen.Value {
	last := m.Kernel.Body[args[len(args)-1]]
	in := codegen.Instr{Op: codegen.OpApply, Fn: fn, Type: last.Type, Level: last.Level, Args: args}
	for _, a := range args {
		if l := m.Kernel.Body[a].Level; l != codegen.Row {
			in.Level = l
		}
	}
	if fn.Sig().ResultBool {
		in.Type = ir.Bool
	}
	return m.Emit(in)
}

// Cast converts a value of dtype from.
func (m *Builder) Cast(v codegen.Value, from, to ir.DType) codegen.Value {
	return m.Emit(codegen.Instr{Op: codegen.OpCast, From: from, To: to, Type: to.Compute(), Level: m.Kernel.Body[v].Level, Args: []codegen.Value{v}})
}

// Const adds a constant at a level.
func (m *Builder) Const(level codegen.Level, t ir.DType, v Value) codegen.Value {
	return m.Emit(codegen.Instr{Op: codegen.OpConst, Type: t, Level: level, Bits: ScalarBits(t, v)})
}

// Reduce joins an element value over the inner axes.
func (m *Builder) Reduce(op codegen.ReduceOp, v codegen.Value) codegen.Value {
	t := m.Kernel.Body[v].Type
	if op == codegen.RArgMax || op == codegen.RArgMin {
		t = ir.I64
	}
	return m.Emit(codegen.Instr{Op: codegen.OpReduce, Reduce: op, Type: t, Level: codegen.Row, Args: []codegen.Value{v}})
}

// span returns the axes of the space from lo to hi-1.
func span(lo, hi int) []int {
	var axes []int
	for a := lo; a < hi; a++ {
		axes = append(axes, a)
	}
	return axes
}

// fixed returns the source of what named kernels hold.
func fixed(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(1, stream)) }

// Reduction returns a kernel that reduces a dense tame tensor over its axes from
// outer on.
func Reduction(dims []int, outer int, op codegen.ReduceOp, dt ir.DType) *Builder {
	m := NewBuilder(fixed(uint64(op)), codegen.Rows, outer, dims...)
	x := m.In(dt, span(0, len(dims))...)
	m.Tame()
	v := m.Reduce(op, x)
	m.Out(v, m.Kernel.Body[v].Type, span(0, outer)...)
	return m
}

// Softmax returns a softmax, written from its parts, over the rows of a dense
// tame matrix.
func Softmax(rows, n int) *Builder {
	m := NewBuilder(fixed(1), codegen.Rows, 1, rows, n)
	x := m.In(ir.F32, 0, 1)
	e := m.Apply(ir.SExp, m.Apply(ir.SSub, x, m.Reduce(codegen.RMax, x)))
	m.Out(m.Apply(ir.SDiv, e, m.Reduce(codegen.RSum, e)), ir.F32, 0, 1)
	m.Tame()
	return m
}

// MatMul returns the product of dense row-major tame matrices [m, k]·[k, n] of
// one dtype, dims being m, n, k, stored in its register type.
func MatMul(dims []int, dt ir.DType) *Builder {
	m := NewBuilder(fixed(1), codegen.Contraction, 2, dims...)
	m.Out(m.contract(dt.Compute(), dt, dt, []int{0, 2}, []int{2, 1}), dt.Compute(), 0, 1)
	m.Tame()
	return m
}

// contract multiplies new dense operands with the given axes of the space.
func (m *Builder) contract(t, left, right ir.DType, leftAxes, rightAxes []int) codegen.Value {
	operand := func(dt ir.DType, axes []int) int {
		args, n := m.Dense(axes...)
		return m.Access(m.Buffer(dt, codegen.In, n), args, false)
	}
	a, b := operand(left, leftAxes), operand(right, rightAxes)
	return m.Emit(codegen.Instr{Op: codegen.OpContract, Type: t, Access: a, Access2: b})
}

// Gather returns a kernel that reads n rows of a table as an embedding does; row
// number 11, if there is one, is bad.
func Gather(n, width, rows int, bad int64) *Builder {
	m := NewBuilder(rand.New(rand.NewPCG(8, 8)), codegen.Map, 2, n, width)
	x := m.In(ir.I64, 0)
	m.Fill(0, func(i int) Value {
		if i == 11 {
			return Value{I: bad}
		}
		return Value{I: int64(i % rows)}
	})
	table := codegen.AccessArgs{Strides: []int{0, 1}, Index: []codegen.IndexArg{{Extent: rows, Stride: width}}}
	m.Out(m.Load(codegen.Element, ir.F32, rows*width, table, x), ir.F32, 0, 1)
	return m
}

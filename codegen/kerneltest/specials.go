package kerneltest

import (
	"math"
	"math/rand/v2"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// OperandTypes returns the register types that a function is defined for.
func OperandTypes(fn ir.ScalarOp) []ir.DType {
	var out []ir.DType
	for _, t := range ir.DTypes() {
		if t == t.Compute() && fn.Sig().DefinedFor(t) {
			out = append(out, t)
		}
	}
	return out
}

// Pairs returns a kernel that applies a function of two operands to all pairs of
// special values: operand 0 varies from row to row, operand 1 along the rows, but
// operand number constant, 0 or 1, is a parameter. The last value is the
// function's; it is stored.
func Pairs(fn ir.ScalarOp, t ir.DType, constant int) *Builder {
	vals := Specials(t)
	n := len(vals)
	m := NewBuilder(fixed(1), codegen.Map, 2, n, n)
	args := make([]codegen.Value, 2)
	for i := range args {
		if i == constant {
			args[i] = m.Emit(codegen.Instr{Op: codegen.OpParam, Type: t, Index: m.Param(t, ScalarBits(t, vals[n/2]))})
			continue
		}
		args[i] = m.In(t, i)
		m.Fill(len(m.Mem)-1, func(i int) Value { return vals[i] })
	}
	v := m.Apply(fn, args...)
	m.Out(v, m.Kernel.Body[v].Type, 0, 1)
	return m
}

// Combinations returns a kernel that applies a function to all combinations of
// special values of its operands, each of which varies along an axis of its own.
func Combinations(fn ir.ScalarOp, t ir.DType) *Builder {
	sig := fn.Sig()
	dims, types := make([]int, sig.Arity), make([]ir.DType, sig.Arity)
	for n := range dims {
		types[n] = t
		if n == 0 && sig.Mask {
			types[n] = ir.Bool
		}
		dims[n] = len(Specials(types[n]))
	}
	m := NewBuilder(fixed(1), codegen.Map, sig.Arity, dims...)
	var args []codegen.Value
	for n, of := range types {
		vals := Specials(of)
		args = append(args, m.In(of, n))
		m.Fill(n, func(i int) Value { return vals[i] })
	}
	v := m.Apply(fn, args...)
	m.Out(v, m.Kernel.Body[v].Type, span(0, sig.Arity)...)
	return m
}

// CastInputs returns all values of a dtype of up to 16 bits, and of others special
// ones, n patterns spread over all of them, and for floats what lies half-way
// between two values of each smaller float, and next to that.
func CastInputs(from ir.DType, n int) []Value {
	if from.Size() < 4 {
		var vals []Value
		for b := range uint64(1) << min(16, 8*from.Size()) {
			if from == ir.Bool && b > 1 {
				break
			}
			vals = append(vals, FromBits(from, b))
		}
		return vals
	}
	vals := Specials(from)
	r := rand.New(rand.NewPCG(3, 3))
	for range n {
		bits := r.Uint64() >> (64 - 8*from.Size())
		if r.IntN(2) == 0 && from.IsInt() {
			bits >>= r.IntN(8 * from.Size())
		}
		vals = append(vals, FromBits(from, bits))
	}
	if from.IsInt() {
		return vals
	}
	for _, to := range []ir.DType{ir.F16, ir.BF16, ir.F8E4M3, ir.F8E5M2} {
		for code := uint64(0); code < 1<<(8*to.Size()-1); code += 1 + uint64(r.IntN(to.Size()*to.Size()*8)) {
			x, y := FromBits(to, code).F, FromBits(to, code+1).F
			mid := x + (y-x)/2
			for _, f := range []float64{mid, math.Nextafter(mid, x), math.Nextafter(mid, y), -mid} {
				vals = append(vals, Value{F: f})
			}
		}
	}
	if from == ir.F64 {
		for range n / 2 {
			f := float64(math.Float32frombits(r.Uint32()))
			mid := f + (float64(math.Nextafter32(float32(f), 9e9))-f)/2
			vals = append(vals, Value{F: mid}, Value{F: math.Nextafter(mid, 1e300)}, Value{F: math.Nextafter(mid, -1e300)})
		}
	}
	return vals
}

// Convert returns a kernel with one cast or bitcast of the values.
func Convert(op codegen.Op, from, to ir.DType, overflow bool, vals []Value) *Builder {
	m := NewBuilder(fixed(1), codegen.Map, 1, len(vals))
	x := m.In(from, 0)
	m.Fill(0, func(i int) Value { return vals[i] })
	y := m.Emit(codegen.Instr{Op: op, From: from, To: to, Type: to.Compute(), Overflow: overflow, Args: []codegen.Value{x}})
	m.Out(y, to, 0)
	return m
}

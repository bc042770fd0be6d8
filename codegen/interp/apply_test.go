package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// specials returns values of a type on which functions differ from the
// ordinary.
func specials(t ir.DType) []value {
	var out []value
	switch t {
	case ir.F32:
		for _, b := range append(specialF32, 0x7f7f0000, 0x42c80000, 0xc2c80000, 0x3f000000, 0x3fc00000, 0x40200000, 0x5f000000, 0xdf000000, 0x5effffff) {
			out = append(out, value{f: math.Float32frombits(b)})
		}
	case ir.I64:
		for _, i := range []int64{0, 1, -1, 2, -2, 3, 62, 63, 64, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1077936129, -1077936129, 1<<53 + 1, 1 << 24, 1<<24 + 1} {
			out = append(out, value{i: i})
		}
	default:
		out = []value{{}, {b: true}}
	}
	return out
}

// pairs builds a kernel that applies a function of two operands to all pairs
// of special values, each operand a vector, a value for each row, or constant.
func pairs(fn ir.ScalarOp, t ir.DType, constant int) *maker {
	m := &maker{r: rand.New(rand.NewPCG(1, 1))}
	vals := specials(t)
	n := len(vals)
	m.k.Outer = 2
	m.l.Dims = []int{n, n}
	load := func(strides ...int) codegen.Value {
		b := m.buffer(t, codegen.In, n)
		for i, v := range vals {
			writeElem(m.mem[b], t, i, v)
		}
		return m.emit(codegen.Instr{Op: codegen.OpLoad, Type: t, Access: m.access(b, codegen.AccessArgs{Strides: strides}, false)})
	}
	args := []codegen.Value{load(1, 0), load(0, 1)}
	if constant < 2 {
		bits := uint64(vals[n/2].i)
		switch t {
		case ir.F32:
			bits = uint64(math.Float32bits(vals[n/2].f))
		case ir.Bool:
			bits = 1
		}
		args[constant] = m.emit(codegen.Instr{Op: codegen.OpParam, Type: t, Index: m.param(t, bits)})
	}
	out := t
	if fn.Sig().ResultBool {
		out = ir.Bool
	}
	m.emit(codegen.Instr{Op: codegen.OpApply, Fn: fn, Type: out, Args: args})
	m.finish()
	return m
}

func operandTypes(fn ir.ScalarOp) []ir.DType {
	var out []ir.DType
	sig := fn.Sig()
	if sig.Float {
		out = append(out, ir.F32)
	}
	if sig.Int {
		out = append(out, ir.I64)
	}
	if sig.Bool {
		out = append(out, ir.Bool)
	}
	return out
}

func TestBinaryFunctions(t *testing.T) {
	for _, fn := range ir.ScalarOps() {
		if fn.Sig().Arity != 2 {
			continue
		}
		for _, ty := range operandTypes(fn) {
			for constant := range 3 {
				t.Run(fmt.Sprint(fn, ty, constant), func(t *testing.T) {
					m := pairs(fn, ty, constant)
					check(t, &m.k, &m.l, m.mem)
				})
			}
		}
	}
}

// Functions of one operand other than those computed in float64, and those of
// three, on special values in every position.
func TestOtherFunctions(t *testing.T) {
	for _, fn := range ir.ScalarOps() {
		sig := fn.Sig()
		exact := sig.Arity == 3
		for _, e := range exactOps {
			exact = exact || e == fn && sig.Arity == 1
		}
		if !exact {
			continue
		}
		for _, ty := range operandTypes(fn) {
			t.Run(fmt.Sprint(fn, ty), func(t *testing.T) {
				m := &maker{r: rand.New(rand.NewPCG(1, 1))}
				in := codegen.Instr{Op: codegen.OpApply, Fn: fn, Type: ty}
				if sig.ResultBool {
					in.Type = ir.Bool
				}
				m.k.Outer = sig.Arity
				for n := range sig.Arity {
					at := ty
					if n == 0 && sig.Mask {
						at = ir.Bool
					}
					vals := specials(at)
					m.l.Dims = append(m.l.Dims, len(vals))
					b := m.buffer(at, codegen.In, len(vals))
					for i, v := range vals {
						writeElem(m.mem[b], at, i, v)
					}
					strides := make([]int, sig.Arity)
					strides[n] = 1
					in.Args = append(in.Args, m.emit(codegen.Instr{Op: codegen.OpLoad, Type: at, Access: m.access(b, codegen.AccessArgs{Strides: strides}, false)}))
				}
				m.emit(in)
				m.finish()
				check(t, &m.k, &m.l, m.mem)
			})
		}
	}
}

// Every cast on special values, and on every bfloat16 and its neighbourhood.
func TestCasts(t *testing.T) {
	for _, from := range []ir.DType{ir.F32, ir.BF16, ir.I64, ir.Bool} {
		vals := specials(from.Compute())
		if from.IsFloat() {
			for b := range uint32(1 << 16) {
				vals = append(vals, value{f: math.Float32frombits(b << 16)})
				if from == ir.F32 {
					vals = append(vals, value{f: math.Float32frombits(b<<16 | 0x8000)}, value{f: math.Float32frombits(b<<16 | 0x8001)})
				}
			}
		}
		for _, to := range []ir.DType{ir.F32, ir.BF16, ir.I64, ir.Bool} {
			m := &maker{r: rand.New(rand.NewPCG(1, 1))}
			m.k.Outer = 1
			m.l.Dims = []int{len(vals)}
			b := m.buffer(from, codegen.In, len(vals))
			for i, v := range vals {
				writeElem(m.mem[b], from, i, v)
			}
			x := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: from.Compute(), Access: m.access(b, codegen.AccessArgs{Strides: []int{1}}, false)})
			y := m.emit(codegen.Instr{Op: codegen.OpCast, From: from, To: to, Type: to.Compute(), Args: []codegen.Value{x}})
			m.k.Stores = []codegen.Store{{Access: m.access(m.buffer(to, codegen.Out, len(vals)), codegen.AccessArgs{Strides: []int{1}}, false), Value: y}}
			t.Run(fmt.Sprint(from, to), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
		}
	}
}

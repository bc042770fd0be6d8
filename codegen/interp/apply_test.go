package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// specials returns values of a type on which functions differ from the
// ordinary.
func specials(t ir.DType) []value {
	var out []value
	switch {
	case t == ir.Bool:
		return []value{{}, {b: true}}
	case t.IsInt():
		least, greatest := t.Limits()
		for _, i := range []int64{0, 1, -1, 2, -2, 3, 7, 8, 31, 62, 63, 64, 127, -128, least, least + 1, int64(greatest), 1077936129, -1077936129, 1<<53 + 1, 1 << 24, 1<<24 + 1} {
			out = append(out, value{i: t.Wrap(i)})
		}
		return out
	}
	for _, b := range append(specialF32, 0x7f7f0000, 0x42c80000, 0xc2c80000, 0x3f000000, 0x3fc00000, 0x40200000, 0x5f000000, 0xdf000000, 0x5effffff, 0x3dcccccd, 0xc0e00000, 0x40400000) {
		out = append(out, value{f: float64(math.Float32frombits(b))})
	}
	if t == ir.F64 {
		for _, f := range []float64{math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 0.1, 1.0 / 3, 1e15 + 0.3, 1<<63 - 1024, 1 << 63, 1 << 64, 1<<64 - 2048, -0x1p63, 2.5} {
			out = append(out, value{f: f})
		}
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
	args := make([]codegen.Value, 2)
	for i := range args {
		if i != constant {
			args[i] = load(1-i, i)
			continue
		}
		bits := scalarBits(t, vals[n/2])
		args[i] = m.emit(codegen.Instr{Op: codegen.OpParam, Type: t, Index: m.param(t, bits)})
	}
	out := t
	if fn.Sig().ResultBool {
		out = ir.Bool
	}
	m.emit(codegen.Instr{Op: codegen.OpApply, Fn: fn, Type: out, Args: args})
	return m
}

func operandTypes(fn ir.ScalarOp) []ir.DType {
	var out []ir.DType
	for _, t := range ir.DTypes() {
		if t == t.Compute() && fn.Sig().DefinedFor(t) {
			out = append(out, t)
		}
	}
	return out
}

func TestBinaryFunctions(t *testing.T) {
	for _, fn := range ir.ScalarOps() {
		if fn.Sig().Arity != 2 {
			continue
		}
		for _, ty := range operandTypes(fn) {
			if ty.IsFloat() && !slices.Contains(exactOps, fn) {
				continue // see TestBinaryFloatFunctions
			}
			for constant := range 3 {
				t.Run(fmt.Sprint(fn, ty, constant), func(t *testing.T) {
					m := pairs(fn, ty, constant)
					m.finish()
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
		if sig.Arity == 2 || !slices.Contains(exactOps, fn) {
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

// castInputs returns all values of a dtype of up to 16 bits, and special ones
// and patterns spread over all of them of the others.
func castInputs(from ir.DType) []value {
	if from.Size() < 4 {
		var vals []value
		for b := range uint64(1) << min(16, 8*from.Size()) {
			if from == ir.Bool && b > 1 {
				break
			}
			vals = append(vals, storedValue(from, b))
		}
		return vals
	}
	vals := specials(from)
	r := rand.New(rand.NewPCG(3, 3))
	for range kernels(2000, 20000) {
		bits := r.Uint64() >> (64 - 8*from.Size())
		if r.IntN(2) == 0 && from.IsInt() {
			bits >>= r.IntN(8 * from.Size())
		}
		vals = append(vals, storedValue(from, bits))
	}
	if from.IsInt() {
		return vals
	}
	// halves between neighbours of each smaller float, and next to them
	for _, to := range []ir.DType{ir.F16, ir.BF16, ir.F8E4M3, ir.F8E5M2} {
		for code := uint64(0); code < 1<<(8*to.Size()-1); code += 1 + uint64(r.IntN(to.Size()*to.Size()*8)) {
			x, y := storedValue(to, code).f, storedValue(to, code+1).f
			mid := x + (y-x)/2
			for _, f := range []float64{mid, math.Nextafter(mid, x), math.Nextafter(mid, y), -mid} {
				vals = append(vals, value{f: f})
			}
		}
	}
	if from == ir.F64 {
		// next to halves between float32 values
		for range kernels(1000, 10000) {
			f := float64(math.Float32frombits(r.Uint32()))
			mid := f + (float64(math.Nextafter32(float32(f), 9e9))-f)/2
			vals = append(vals, value{f: mid}, value{f: math.Nextafter(mid, 1e300)}, value{f: math.Nextafter(mid, -1e300)})
		}
	}
	return vals
}

// convertKernel builds one cast or bitcast of the values.
func convertKernel(op codegen.Op, from, to ir.DType, overflow bool, vals []value) *maker {
	m := &maker{r: rand.New(rand.NewPCG(1, 1))}
	m.k.Outer = 1
	m.l.Dims = []int{len(vals)}
	b := m.buffer(from, codegen.In, len(vals))
	for i, v := range vals {
		writeElem(m.mem[b], from, i, v)
	}
	dense := codegen.AccessArgs{Strides: []int{1}}
	x := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: from.Compute(), Access: m.access(b, dense, false)})
	y := m.emit(codegen.Instr{Op: op, From: from, To: to, Type: to.Compute(), Overflow: overflow, Args: []codegen.Value{x}})
	m.k.Stores = []codegen.Store{{Access: m.access(m.buffer(to, codegen.Out, len(vals)), dense, false), Value: y}}
	return m
}

// Every cast: exhaustively from dtypes of up to 16 bits.
func TestCasts(t *testing.T) {
	for _, from := range ir.DTypes() {
		vals := castInputs(from)
		for _, to := range ir.DTypes() {
			for _, overflow := range []bool{false, true} {
				if overflow && !to.IsFloat8() {
					continue
				}
				m := convertKernel(codegen.OpCast, from, to, overflow, vals)
				t.Run(fmt.Sprint(from, to, overflow), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
			}
		}
	}
}

func TestBitcasts(t *testing.T) {
	for _, from := range ir.DTypes() {
		for _, to := range ir.DTypes() {
			if from.Size() != to.Size() || from == ir.Bool || to == ir.Bool {
				continue
			}
			m := convertKernel(codegen.OpBitcast, from, to, false, castInputs(from))
			t.Run(fmt.Sprint(from, to), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
		}
	}
}

// What is rounded once from 64 bits, where going through float32 would round
// twice.
func TestCastRoundsOnce(t *testing.T) {
	for _, c := range []struct {
		from, to ir.DType
		x, want  value
	}{
		{ir.I64, ir.BF16, value{i: 1077936129}, value{f: 1082130432}},
		{ir.U64, ir.BF16, value{i: 1077936129}, value{f: 1082130432}},
		{ir.F64, ir.BF16, value{f: 1077936129}, value{f: 1082130432}},
		{ir.F64, ir.F16, value{f: 1 + 0x1p-11 + 0x1p-40}, value{f: 1 + 0x1p-10}},
		{ir.F32, ir.F8E4M3, value{f: 464}, value{f: 448}},
		{ir.F32, ir.U8, value{f: 300}, value{i: 255}},
		{ir.F32, ir.U8, value{f: -2.7}, value{}},
		{ir.I64, ir.U8, value{i: -1}, value{i: 255}},
	} {
		m := convertKernel(codegen.OpCast, c.from, c.to, false, []value{c.x})
		require.NoError(t, compile(t, &m.k).Run(&m.l, m.mem, codegen.Serial{}))
		assert.Equal(t, c.want, readElem(m.mem[1], c.to, 0), "%v → %v of %v", c.from, c.to, c.x)
	}
}

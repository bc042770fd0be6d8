package kerneltest

import (
	"math"
	"math/rand/v2"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// RandomProgram returns a Map or Rows kernel over the lengths with a random
// program of exact functions.
func RandomProgram(r *rand.Rand, template codegen.Template, outer int, dims []int) *Builder {
	return randomProgram(r, Options{}.palette(), template, outer, dims)
}

func randomProgram(r *rand.Rand, from palette, template codegen.Template, outer int, dims []int) *Builder {
	m := newBuilder(r, from, template, outer, dims)
	m.load(codegen.Element)
	for range 2 + r.IntN(10) {
		level := codegen.Element
		if template == codegen.Rows {
			if r.IntN(3) == 0 {
				m.reduce()
				continue
			}
			level = codegen.Level(r.IntN(2))
		}
		switch r.IntN(5) {
		case 0:
			m.source(level)
		case 1:
			m.cast(level)
		default:
			m.apply(level)
		}
	}
	m.StoreUnused()
	return m
}

// some returns a value of the type that an instruction of the level may use.
func (m *Builder) some(t ir.DType, level codegen.Level) codegen.Value {
	var fit []codegen.Value
	for i := range m.Kernel.Body {
		if in := &m.Kernel.Body[i]; in.Type == t && (in.Level == level || level == codegen.Element && in.Level == codegen.Row) {
			fit = append(fit, codegen.Value(i))
		}
	}
	if len(fit) == 0 || m.Rand.IntN(8) == 0 {
		bits := ScalarBits(t, m.randomValue(t))
		if m.Rand.IntN(2) == 0 {
			return m.Emit(codegen.Instr{Op: codegen.OpConst, Type: t, Level: level, Bits: bits})
		}
		return m.Emit(codegen.Instr{Op: codegen.OpParam, Type: t, Level: level, Index: m.Param(t, bits)})
	}
	return fit[m.Rand.IntN(len(fit))]
}

func (m *Builder) apply(level codegen.Level) {
	fn := one(m, m.from.functions)
	sig := fn.Sig()
	t := one(m, m.from.registers)
	for !sig.DefinedFor(t) {
		t = one(m, m.from.registers)
	}
	in := codegen.Instr{Op: codegen.OpApply, Fn: fn, Type: t, Level: level}
	for n := range sig.Arity {
		want := t
		if n == 0 && sig.Mask {
			want = ir.Bool
		}
		in.Args = append(in.Args, m.some(want, level))
	}
	if fn == ir.SCopySign {
		in.Args[1] = m.number(in.Args[1], level)
	}
	if sig.ResultBool {
		in.Type = ir.Bool
	}
	m.Emit(in)
}

// number is a float v with 0 in the place of NaN: all NaNs are one value, so
// what shows a NaN's sign or bits has no one result.
func (m *Builder) number(v codegen.Value, level codegen.Level) codegen.Value {
	t := m.Kernel.Body[v].Type
	nan := m.Emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SIsNaN, Type: ir.Bool, Level: level, Args: []codegen.Value{v}})
	zero := m.Emit(codegen.Instr{Op: codegen.OpConst, Type: t, Level: level})
	return m.Emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SWhere, Type: t, Level: level, Args: []codegen.Value{nan, zero, v}})
}

func (m *Builder) cast(level codegen.Level) {
	from, to := one(m, m.from.dtypes), one(m, m.from.dtypes)
	in := codegen.Instr{Op: codegen.OpCast, From: from, To: to, Type: to.Compute(), Level: level}
	if from.Size() == to.Size() && from != ir.Bool && to != ir.Bool {
		in.Op = codegen.OpBitcast
	} else {
		in.Overflow = to.IsFloat8() && m.Rand.IntN(2) == 0
	}
	v := m.some(from.Compute(), level)
	if in.Op == codegen.OpBitcast && (from.IsFloat() || from.IsFloat8()) {
		v = m.number(v, level)
	}
	if from.Compute() == ir.F32 && from != ir.F32 { // a value of that dtype
		v = m.Emit(codegen.Instr{Op: codegen.OpCast, From: ir.F32, To: from, Type: ir.F32, Level: level, Args: []codegen.Value{v}, Overflow: from == ir.F8E5M2})
	}
	in.Args = []codegen.Value{v}
	m.Emit(in)
}

func (m *Builder) load(level codegen.Level) { m.loadOf(level, one(m, m.from.storage)) }

// loadOf reads a new buffer in a random layout, some of the time through an
// index, inside a window, or both.
func (m *Builder) loadOf(level codegen.Level, dt ir.DType) codegen.Value {
	axes := len(m.Launch.Dims)
	if level == codegen.Row {
		axes = m.Kernel.Outer
	}
	args, n := m.Layout(axes, true)
	without := -1 // the axis an operand of a contraction does not have
	if level >= codegen.Left {
		without = m.Kernel.Outer - 1 - int(level-codegen.Left)
		args.Strides[without] = 0
	}
	in := codegen.Instr{Op: codegen.OpLoad, Type: dt.Compute(), Level: level}
	if m.Rand.IntN(4) == 0 {
		extent, base := 1+m.Rand.IntN(5), n
		args.Index = append(args.Index, codegen.IndexArg{Extent: extent, Stride: base})
		n += (extent - 1) * base
		// An index in range: any integer, clamped.
		x := m.some(ir.I64, level)
		lo := m.Emit(codegen.Instr{Op: codegen.OpConst, Type: ir.I64, Level: level})
		hi := m.Emit(codegen.Instr{Op: codegen.OpConst, Type: ir.I64, Level: level, Bits: uint64(extent - 1)})
		x = m.Emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SMaximum, Type: ir.I64, Level: level, Args: []codegen.Value{x, lo}})
		x = m.Emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SMinimum, Type: ir.I64, Level: level, Args: []codegen.Value{x, hi}})
		in.Args = append(in.Args, x)
	}
	masked := axes > 0 && m.Rand.IntN(4) == 0
	if masked {
		in.Args = append(in.Args, m.some(in.Type, level))
		axis := m.Rand.IntN(axes)
		for axis == without {
			axis = m.Rand.IntN(axes)
		}
		d := m.Launch.Dims[axis]
		args.Window = append(args.Window, codegen.WindowArg{Axis: axis, Lo: m.Rand.IntN(d+2) - 1, Hi: m.Rand.IntN(d + 2)})
	}
	in.Access = m.Access(m.Buffer(dt, codegen.In, n), args, masked)
	return m.Emit(in)
}

// source adds a value that comes from no other.
func (m *Builder) source(level codegen.Level) {
	axes := len(m.Launch.Dims)
	if level == codegen.Row {
		axes = m.Kernel.Outer
	}
	switch m.Rand.IntN(5) {
	case 4:
		if m.Kernel.Template == codegen.Rows {
			m.Emit(codegen.Instr{Op: codegen.OpCount, Type: one(m, m.from.numbers), Level: level})
		}
	case 0:
		if axes > 0 {
			m.Emit(codegen.Instr{Op: codegen.OpCoord, Type: ir.I64, Level: level, Index: m.Rand.IntN(axes)})
		}
	case 1:
		if axes > 0 {
			t, raw, to := one(m, m.from.numbers), ir.F64, ir.Invalid
			a, b := math.Float64bits(m.Rand.NormFloat64()), math.Float64bits(m.Rand.NormFloat64())
			if t.IsInt() {
				raw = ir.I64
				a, b = uint64(m.randomI64()), uint64(m.randomI64())
			} else if t == ir.F32 {
				to = one(m, m.from.ranges)
			}
			p := m.Param(raw, a)
			m.Param(raw, b)
			m.Emit(codegen.Instr{Op: codegen.OpArange, Type: t, To: to, Level: level, Index: m.Rand.IntN(axes), Index2: p})
		}
	case 2:
		if level == codegen.Element {
			p := m.Param(ir.I64, m.Rand.Uint64())
			m.Param(ir.I64, m.Rand.Uint64())
			if len(m.from.normals) > 0 && m.Rand.IntN(2) == 0 {
				m.Emit(codegen.Instr{Op: codegen.OpNormal, Type: one(m, m.from.normals), Index: p})
				break
			}
			m.Emit(codegen.Instr{Op: codegen.OpPhilox, Type: ir.I64, Index: p})
		}
	default:
		m.load(level)
	}
}

// reduce adds a reduction of an element value, if there is one of its type.
func (m *Builder) reduce() {
	ops := []codegen.ReduceOp{codegen.RSum, codegen.RProd, codegen.RMax, codegen.RMin, codegen.RArgMax, codegen.RArgMin, codegen.RAny, codegen.RAll}
	op := ops[m.Rand.IntN(len(ops))]
	t := one(m, m.from.numbers)
	out := t
	switch op {
	case codegen.RAny, codegen.RAll:
		t, out = ir.Bool, ir.Bool
	case codegen.RArgMax, codegen.RArgMin:
		t, out = one(m, m.from.registers), ir.I64
	}
	var fit []codegen.Value
	for i := range m.Kernel.Body {
		if in := &m.Kernel.Body[i]; in.Type == t && in.Level == codegen.Element {
			fit = append(fit, codegen.Value(i))
		}
	}
	if len(fit) > 0 {
		m.Emit(codegen.Instr{Op: codegen.OpReduce, Reduce: op, Type: out, Level: codegen.Row, Args: []codegen.Value{fit[m.Rand.IntN(len(fit))]}})
	}
}

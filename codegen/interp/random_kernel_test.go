package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/internal/race"
	"github.com/sinter-ml/sinter/ir"
)

// maker builds a random kernel, a launch of it and memory.
type maker struct {
	r   *rand.Rand
	k   codegen.Kernel
	l   codegen.Launch
	mem [][]byte

	used []bool
}

var specialF32 = []uint32{0, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000001, 0x7f7fffff, 0x00800000, 0x3f800000, 0xbf800000}

func (m *maker) randomF32() float32 {
	switch m.r.IntN(12) {
	case 0:
		return math.Float32frombits(specialF32[m.r.IntN(len(specialF32))])
	case 1:
		return float32(m.r.IntN(7) - 3)
	}
	return float32(m.r.NormFloat64()) * 3
}

func (m *maker) randomI64() int64 {
	switch m.r.IntN(12) {
	case 0:
		return []int64{0, 1, -1, math.MinInt64, math.MaxInt64, 1077936129}[m.r.IntN(6)]
	case 1:
		return int64(m.r.Uint64())
	}
	return int64(m.r.IntN(21) - 10)
}

// randomValue returns a value of any dtype.
func (m *maker) randomValue(dt ir.DType) value {
	v := value{f: float64(m.randomF32()), i: dt.Wrap(m.randomI64()), b: m.r.IntN(2) == 0}
	if dt == ir.F64 {
		switch m.r.IntN(4) {
		case 0:
			v.f = m.r.NormFloat64()
		case 1:
			v.f = math.Ldexp(v.f, m.r.IntN(400)-200)
		}
	}
	return v
}

// scalarBits returns a value in the form of ir.Scalar.
func scalarBits(t ir.DType, v value) uint64 {
	if t == ir.Bool || t.IsFloat() {
		return elemBits(t, v)
	}
	return uint64(v.i)
}

// registers are the register types, those most used several times.
var registers = []ir.DType{
	ir.F32, ir.F32, ir.F32, ir.F64, ir.I64, ir.I64, ir.I32, ir.I16, ir.I8, ir.U64, ir.U32, ir.U16, ir.U8, ir.Bool,
}

// numbers are the register types but for Bool.
var numbers = registers[:len(registers)-1]

// one returns one of a list.
func one[T any](m *maker, list []T) T { return list[m.r.IntN(len(list))] }

// buffer adds a buffer of n elements with random contents.
func (m *maker) buffer(dt ir.DType, mode codegen.Mode, n int) int {
	mem := alloc(n * dt.Size())
	for i := range n {
		writeElem(mem, dt, i, m.randomValue(dt))
	}
	m.k.Buffers = append(m.k.Buffers, codegen.Buffer{DType: dt, Mode: mode})
	m.mem = append(m.mem, mem)
	return len(m.mem) - 1
}

// layout returns strides over the first axes of the space in a random order,
// with gaps, flips and, if broadcast is allowed, zeros; and the offset and
// length that hold them.
func (m *maker) layout(axes int, broadcast bool) (codegen.AccessArgs, int) {
	a := codegen.AccessArgs{Strides: make([]int, len(m.l.Dims))}
	order := m.r.Perm(axes)
	if m.r.IntN(2) == 0 {
		for i := range order {
			order[i] = axes - 1 - i
		}
	}
	step, span := 1, 0
	plain := m.r.IntN(2) == 0
	for _, axis := range order {
		if !plain {
			if broadcast && m.r.IntN(4) == 0 {
				continue
			}
			if m.r.IntN(6) == 0 {
				step += m.r.IntN(3)
			}
		}
		a.Strides[axis] = step
		if d := m.l.Dims[axis]; d > 0 {
			span += (d - 1) * step
			if !plain && m.r.IntN(5) == 0 {
				a.Strides[axis] = -step
				a.Offset += (d - 1) * step
			}
		}
		step *= max(1, m.l.Dims[axis])
	}
	if !plain {
		pad := m.r.IntN(3)
		a.Offset += pad
		span += pad
	}
	return a, span + 1
}

func (m *maker) access(buffer int, args codegen.AccessArgs, masked bool) int {
	m.k.Accesses = append(m.k.Accesses, codegen.Access{Buffer: buffer, Indices: len(args.Index), Masked: masked})
	m.l.Access = append(m.l.Access, args)
	return len(m.k.Accesses) - 1
}

func (m *maker) emit(in codegen.Instr) codegen.Value {
	for _, a := range in.Args {
		m.used[a] = true
	}
	m.k.Body = append(m.k.Body, in)
	m.used = append(m.used, false)
	return codegen.Value(len(m.k.Body) - 1)
}

func (m *maker) param(t ir.DType, bits uint64) int {
	m.k.Params = append(m.k.Params, t)
	m.l.Params = append(m.l.Params, bits)
	return len(m.k.Params) - 1
}

// some returns a value of the type that an instruction of the level may use.
func (m *maker) some(t ir.DType, level codegen.Level) codegen.Value {
	var fit []codegen.Value
	for i := range m.k.Body {
		if in := &m.k.Body[i]; in.Type == t && (in.Level == level || level == codegen.Element && in.Level == codegen.Row) {
			fit = append(fit, codegen.Value(i))
		}
	}
	if len(fit) == 0 || m.r.IntN(8) == 0 {
		bits := scalarBits(t, m.randomValue(t))
		if m.r.IntN(2) == 0 {
			return m.emit(codegen.Instr{Op: codegen.OpConst, Type: t, Level: level, Bits: bits})
		}
		return m.emit(codegen.Instr{Op: codegen.OpParam, Type: t, Level: level, Index: m.param(t, bits)})
	}
	return fit[m.r.IntN(len(fit))]
}

// exactOps are the functions naiveApply knows.
var exactOps = func() (ops []ir.ScalarOp) {
	for _, fn := range ir.ScalarOps() {
		switch fn {
		case ir.SRound, ir.SFloor, ir.SCeil, ir.STrunc, ir.SFrac, ir.SSqrt, ir.SRecip, ir.SIsNaN, ir.SIsInf, ir.SIsFinite:
		case ir.SPow, ir.SAtan2, ir.SHypot:
			continue
		default:
			if sig := fn.Sig(); sig.Arity == 1 && sig.Float && !sig.Int {
				continue
			}
		}
		ops = append(ops, fn)
	}
	return ops
}()

func (m *maker) apply(level codegen.Level) {
	fn := exactOps[m.r.IntN(len(exactOps))]
	sig := fn.Sig()
	t := one(m, registers)
	for !sig.DefinedFor(t) {
		t = one(m, registers)
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
	m.emit(in)
}

// number is a float v with 0 in the place of NaN: all NaNs are one value, so
// what shows a NaN's sign or bits has no one result.
func (m *maker) number(v codegen.Value, level codegen.Level) codegen.Value {
	t := m.k.Body[v].Type
	nan := m.emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SIsNaN, Type: ir.Bool, Level: level, Args: []codegen.Value{v}})
	zero := m.emit(codegen.Instr{Op: codegen.OpConst, Type: t, Level: level})
	return m.emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SWhere, Type: t, Level: level, Args: []codegen.Value{nan, zero, v}})
}

func (m *maker) cast(level codegen.Level) {
	all := ir.DTypes()
	from, to := one(m, all), one(m, all)
	in := codegen.Instr{Op: codegen.OpCast, From: from, To: to, Type: to.Compute(), Level: level}
	if from.Size() == to.Size() && from != ir.Bool && to != ir.Bool {
		in.Op = codegen.OpBitcast
	} else {
		in.Overflow = to.IsFloat8() && m.r.IntN(2) == 0
	}
	v := m.some(from.Compute(), level)
	if in.Op == codegen.OpBitcast && (from.IsFloat() || from.IsFloat8()) {
		v = m.number(v, level)
	}
	if from.Compute() == ir.F32 && from != ir.F32 { // a value of that dtype
		v = m.emit(codegen.Instr{Op: codegen.OpCast, From: ir.F32, To: from, Type: ir.F32, Level: level, Args: []codegen.Value{v}, Overflow: from == ir.F8E5M2})
	}
	in.Args = []codegen.Value{v}
	m.emit(in)
}

// storage are the dtypes of buffers, those most used several times.
var storage = append([]ir.DType{ir.F32, ir.F32, ir.BF16, ir.I64, ir.Bool}, ir.DTypes()...)

func (m *maker) load(level codegen.Level) { m.loadOf(level, one(m, storage)) }

func (m *maker) loadOf(level codegen.Level, dt ir.DType) codegen.Value {
	axes := len(m.l.Dims)
	if level == codegen.Row {
		axes = m.k.Outer
	}
	args, n := m.layout(axes, true)
	without := -1 // the axis an operand of a contraction does not have
	if level >= codegen.Left {
		without = m.k.Outer - 1 - int(level-codegen.Left)
		args.Strides[without] = 0
	}
	in := codegen.Instr{Op: codegen.OpLoad, Type: dt.Compute(), Level: level}
	if m.r.IntN(4) == 0 {
		extent, base := 1+m.r.IntN(5), n
		args.Index = append(args.Index, codegen.IndexArg{Extent: extent, Stride: base})
		n += (extent - 1) * base
		// An index in range: the coordinate along some axis modulo the extent,
		// from a clamped random integer.
		x := m.some(ir.I64, level)
		lo := m.emit(codegen.Instr{Op: codegen.OpConst, Type: ir.I64, Level: level})
		hi := m.emit(codegen.Instr{Op: codegen.OpConst, Type: ir.I64, Level: level, Bits: uint64(extent - 1)})
		x = m.emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SMaximum, Type: ir.I64, Level: level, Args: []codegen.Value{x, lo}})
		x = m.emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SMinimum, Type: ir.I64, Level: level, Args: []codegen.Value{x, hi}})
		in.Args = append(in.Args, x)
	}
	masked := axes > 0 && m.r.IntN(4) == 0
	if masked {
		in.Args = append(in.Args, m.some(in.Type, level))
		axis := m.r.IntN(axes)
		for axis == without {
			axis = m.r.IntN(axes)
		}
		d := m.l.Dims[axis]
		args.Window = append(args.Window, codegen.WindowArg{Axis: axis, Lo: m.r.IntN(d+2) - 1, Hi: m.r.IntN(d + 2)})
	}
	in.Access = m.access(m.buffer(dt, codegen.In, n), args, masked)
	return m.emit(in)
}

func (m *maker) source(level codegen.Level) {
	axes := len(m.l.Dims)
	if level == codegen.Row {
		axes = m.k.Outer
	}
	switch m.r.IntN(5) {
	case 4:
		if m.k.Template == codegen.Rows {
			m.emit(codegen.Instr{Op: codegen.OpCount, Type: one(m, numbers), Level: level})
		}
	case 0:
		if axes > 0 {
			m.emit(codegen.Instr{Op: codegen.OpCoord, Type: ir.I64, Level: level, Index: m.r.IntN(axes)})
		}
	case 1:
		if axes > 0 {
			t, raw, to := one(m, numbers), ir.F64, ir.Invalid
			a, b := math.Float64bits(m.r.NormFloat64()), math.Float64bits(m.r.NormFloat64())
			if t.IsInt() {
				raw = ir.I64
				a, b = uint64(m.randomI64()), uint64(m.randomI64())
			} else if t == ir.F32 {
				to = one(m, []ir.DType{ir.Invalid, ir.F32, ir.F16, ir.BF16})
			}
			p := m.param(raw, a)
			m.param(raw, b)
			m.emit(codegen.Instr{Op: codegen.OpArange, Type: t, To: to, Level: level, Index: m.r.IntN(axes), Index2: p})
		}
	case 2:
		if level == codegen.Element {
			p := m.param(ir.I64, m.r.Uint64())
			m.param(ir.I64, m.r.Uint64())
			m.emit(codegen.Instr{Op: codegen.OpPhilox, Type: ir.I64, Index: p})
		}
	default:
		m.load(level)
	}
}

func (m *maker) reduce() {
	ops := []codegen.ReduceOp{codegen.RSum, codegen.RProd, codegen.RMax, codegen.RMin, codegen.RArgMax, codegen.RArgMin, codegen.RAny, codegen.RAll}
	op := ops[m.r.IntN(len(ops))]
	t := one(m, numbers)
	out := t
	switch op {
	case codegen.RAny, codegen.RAll:
		t, out = ir.Bool, ir.Bool
	case codegen.RArgMax, codegen.RArgMin:
		t, out = one(m, registers), ir.I64
	}
	var fit []codegen.Value
	for i := range m.k.Body {
		if in := &m.k.Body[i]; in.Type == t && in.Level == codegen.Element {
			fit = append(fit, codegen.Value(i))
		}
	}
	if len(fit) > 0 {
		m.emit(codegen.Instr{Op: codegen.OpReduce, Reduce: op, Type: out, Level: codegen.Row, Args: []codegen.Value{fit[m.r.IntN(len(fit))]}})
	}
}

// finish stores every value nobody used, and a few others.
func (m *maker) finish() {
	for v := range m.k.Body {
		if m.used[v] && m.r.IntN(6) > 0 {
			continue
		}
		in := &m.k.Body[v]
		dt := in.Type
		if dt == ir.F32 && m.r.IntN(3) == 0 {
			dt = one(m, []ir.DType{ir.BF16, ir.F16, ir.F8E4M3, ir.F8E5M2})
		}
		axes := len(m.l.Dims)
		if in.Level == codegen.Row {
			axes = m.k.Outer
		}
		args, n := m.layout(axes, false)
		m.k.Stores = append(m.k.Stores, codegen.Store{Access: m.access(m.buffer(dt, codegen.Out, n), args, false), Value: codegen.Value(v)})
	}
}

// randomKernel builds a Map or Rows kernel over the dims.
func randomKernel(r *rand.Rand, template codegen.Template, outer int, dims []int) *maker {
	m := &maker{r: r}
	m.k.Template, m.k.Outer, m.k.Inner = template, outer, len(dims)-outer
	m.l.Dims = dims
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
	m.finish()
	return m
}

func randomDims(r *rand.Rand, rank, limit int) []int {
	dims := make([]int, rank)
	points := 1
	for _, i := range r.Perm(rank) {
		d := 1 + r.IntN(max(1, min(limit/points, []int{1, 3, 7, 40, 1100}[r.IntN(5)])))
		if r.IntN(40) == 0 {
			d = 0
		}
		dims[i] = d
		points *= max(1, d)
	}
	return dims
}

// kernels returns how many cases a test runs; the race detector makes each
// several times as slow.
func kernels(short, full int) int {
	if race.Enabled {
		return max(1, short/4)
	}
	if testing.Short() {
		return short
	}
	return full
}

func TestRandomMapKernels(t *testing.T) {
	for seed := range kernels(150, 1500) {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		dims := randomDims(r, r.IntN(5), 5000)
		m := randomKernel(r, codegen.Map, len(dims), dims)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
	}
}

func TestRandomRowsKernels(t *testing.T) {
	for seed := range kernels(200, 1500) {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		dims := randomDims(r, 1+r.IntN(4), 9000)
		m := randomKernel(r, codegen.Rows, r.IntN(len(dims)+1), dims)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
	}
}

// sample returns the cases a test runs of a list of them.
func sample[T any](list []T) []T { return list[:kernels(len(list), len(list))] }

package kerneltest

import (
	"math"
	"math/rand/v2"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Builder puts a case together: a kernel, a launch of it and memory with random
// contents.
type Builder struct {
	Case
	Rand *rand.Rand

	used []bool // by value
	from palette
}

// NewBuilder returns a builder of a kernel whose space has the given lengths, the
// first of them those of outer axes.
func NewBuilder(r *rand.Rand, template codegen.Template, outer int, dims ...int) *Builder {
	return newBuilder(r, Options{}.palette(), template, outer, dims)
}

func newBuilder(r *rand.Rand, from palette, template codegen.Template, outer int, dims []int) *Builder {
	k := &codegen.Kernel{Name: template.String(), Template: template, Outer: outer, Inner: len(dims) - outer}
	return &Builder{Case: Case{Kernel: k, Launch: &codegen.Launch{Dims: dims}}, Rand: r, from: from}
}

func (m *Builder) randomF32() float32 {
	switch m.Rand.IntN(12) {
	case 0:
		return math.Float32frombits(SpecialF32[m.Rand.IntN(len(SpecialF32))])
	case 1:
		return float32(m.Rand.IntN(7) - 3)
	}
	return float32(m.Rand.NormFloat64()) * 3
}

func (m *Builder) randomI64() int64 {
	switch m.Rand.IntN(12) {
	case 0:
		return []int64{0, 1, -1, math.MinInt64, math.MaxInt64, 1077936129}[m.Rand.IntN(6)]
	case 1:
		return int64(m.Rand.Uint64())
	}
	return int64(m.Rand.IntN(21) - 10)
}

// randomValue returns a value of any dtype, special ones among them.
func (m *Builder) randomValue(dt ir.DType) Value {
	v := Value{F: float64(m.randomF32()), I: dt.Wrap(m.randomI64()), B: m.Rand.IntN(2) == 0}
	if dt == ir.F64 {
		switch m.Rand.IntN(4) {
		case 0:
			v.F = m.Rand.NormFloat64()
		case 1:
			v.F = math.Ldexp(v.F, m.Rand.IntN(400)-200)
		}
	}
	return v
}

// one returns one of a list.
func one[T any](m *Builder, list []T) T { return list[m.Rand.IntN(len(list))] }

// Buffer adds a buffer of n elements with random contents.
func (m *Builder) Buffer(dt ir.DType, mode codegen.Mode, n int) int {
	mem := Alloc(n * dt.Size())
	for i := range n {
		WriteElem(mem, dt, i, m.randomValue(dt))
	}
	m.Kernel.Buffers = append(m.Kernel.Buffers, codegen.Buffer{DType: dt, Mode: mode})
	m.Mem = append(m.Mem, mem)
	return len(m.Mem) - 1
}

// Fill sets the elements of a buffer.
func (m *Builder) Fill(buffer int, f func(i int) Value) {
	dt := m.Kernel.Buffers[buffer].DType
	for i := range len(m.Mem[buffer]) / dt.Size() {
		WriteElem(m.Mem[buffer], dt, i, f(i))
	}
}

// Tame replaces what all float buffers hold by numbers around 0: special values
// would make every result of a long sum NaN.
func (m *Builder) Tame() {
	for b := range m.Kernel.Buffers {
		if m.Kernel.Buffers[b].DType.IsFloat() {
			m.Fill(b, func(int) Value { return Value{F: float64(float32(m.Rand.NormFloat64()))} })
		}
	}
}

// Layout returns strides over the first axes of the space in a random order,
// with gaps, flips and, if broadcast is allowed, zeros; and the number of elements
// of a buffer that holds them.
func (m *Builder) Layout(axes int, broadcast bool) (codegen.AccessArgs, int) {
	a := codegen.AccessArgs{Strides: make([]int, len(m.Launch.Dims))}
	order := m.Rand.Perm(axes)
	if m.Rand.IntN(2) == 0 {
		for i := range order {
			order[i] = axes - 1 - i
		}
	}
	step, span := 1, 0
	plain := m.Rand.IntN(2) == 0
	for _, axis := range order {
		if !plain {
			if broadcast && m.Rand.IntN(4) == 0 {
				continue
			}
			if m.Rand.IntN(6) == 0 {
				step += m.Rand.IntN(3)
			}
		}
		a.Strides[axis] = step
		if d := m.Launch.Dims[axis]; d > 0 {
			span += (d - 1) * step
			if !plain && m.Rand.IntN(5) == 0 {
				a.Strides[axis] = -step
				a.Offset += (d - 1) * step
			}
		}
		step *= max(1, m.Launch.Dims[axis])
	}
	if !plain {
		pad := m.Rand.IntN(3)
		a.Offset += pad
		span += pad
	}
	return a, span + 1
}

// Access adds a way of indexing a buffer.
func (m *Builder) Access(buffer int, args codegen.AccessArgs, masked bool) int {
	m.Kernel.Accesses = append(m.Kernel.Accesses, codegen.Access{Buffer: buffer, Indices: len(args.Index), Masked: masked})
	m.Launch.Access = append(m.Launch.Access, args)
	return len(m.Kernel.Accesses) - 1
}

// Emit adds an instruction and returns its value.
func (m *Builder) Emit(in codegen.Instr) codegen.Value {
	for _, a := range in.Args {
		m.used[a] = true
	}
	m.Kernel.Body = append(m.Kernel.Body, in)
	m.used = append(m.used, false)
	return codegen.Value(len(m.Kernel.Body) - 1)
}

// Param adds a parameter of a register type and returns its number.
func (m *Builder) Param(t ir.DType, bits uint64) int {
	m.Kernel.Params = append(m.Kernel.Params, t)
	m.Launch.Params = append(m.Launch.Params, bits)
	return len(m.Kernel.Params) - 1
}

// Store writes a value to a new buffer.
func (m *Builder) Store(v codegen.Value, dt ir.DType, args codegen.AccessArgs, n int) {
	out := m.Access(m.Buffer(dt, codegen.Out, n), args, false)
	m.Kernel.Stores = append(m.Kernel.Stores, codegen.Store{Access: out, Value: v})
}

// StoreUnused stores every value nobody used, and a few others, in random
// layouts.
func (m *Builder) StoreUnused() {
	for v := range m.Kernel.Body {
		if m.used[v] && m.Rand.IntN(6) > 0 {
			continue
		}
		in := &m.Kernel.Body[v]
		dt := in.Type
		if dt == ir.F32 && m.Rand.IntN(3) == 0 && len(m.from.small) > 0 {
			dt = one(m, m.from.small)
		}
		axes := len(m.Launch.Dims)
		if in.Level == codegen.Row {
			axes = m.Kernel.Outer
		}
		args, n := m.Layout(axes, false)
		m.Store(codegen.Value(v), dt, args, n)
	}
}

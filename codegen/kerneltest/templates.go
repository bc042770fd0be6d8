package kerneltest

import (
	"math"
	"math/rand/v2"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// RandomContraction returns a contraction over lengths [batch…, m, n, k] with
// operands in random layouts and an epilogue: some of the time a bias along n is
// added and the result rounded to BF16.
func RandomContraction(r *rand.Rand, dims []int, left, right ir.DType) *Builder {
	return randomContraction(r, Options{}.palette(), dims, left, right)
}

func randomContraction(r *rand.Rand, from palette, dims []int, left, right ir.DType) *Builder {
	t := left.Compute()
	if t != right.Compute() || t == ir.I8 && r.IntN(2) == 0 {
		t = ir.I32
	}
	k := len(dims) - 1
	m := newBuilder(r, from, codegen.Contraction, k, dims)
	// An operand has no stride along the axis of the other; batch axes may be
	// shared.
	side := func(dt ir.DType, without int) int {
		args, n := m.Layout(len(dims), false)
		args.Strides[without] = 0
		for axis := range k - 2 {
			if r.IntN(3) == 0 {
				args.Strides[axis] = 0
			}
		}
		lo, hi := 0, 0
		for axis, s := range args.Strides {
			lo += min(0, s*(dims[axis]-1))
			hi += max(0, s*(dims[axis]-1))
		}
		args.Offset = -lo
		return m.Access(m.Buffer(dt, codegen.In, max(n, hi-lo+1)), args, false)
	}
	a, b := side(left, k-1), side(right, k-2)
	c := m.Emit(codegen.Instr{Op: codegen.OpContract, Type: t, Access: a, Access2: b})
	if r.IntN(2) == 0 {
		bias := codegen.AccessArgs{Strides: make([]int, len(dims))}
		bias.Strides[k-1] = 1
		at := m.Access(m.Buffer(t, codegen.In, dims[k-1]), bias, false)
		x := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: t, Access: at})
		c = m.Emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SAdd, Type: t, Args: []codegen.Value{c, x}})
	}
	out := t
	if t == ir.F32 && r.IntN(3) == 0 {
		out = ir.BF16
	}
	args, n := m.Layout(k, false)
	m.Store(c, out, args, n)
	return m
}

// chain makes a random program at a level, of loads, casts and functions that
// each use the value before, whose last value has register type t. It returns
// that value and the dtype whose value it is.
func (m *Builder) chain(level codegen.Level, t ir.DType) (codegen.Value, ir.DType) {
	dt := one(m, m.from.storage)
	v := m.loadOf(level, dt)
	for range m.Rand.IntN(4) {
		if m.Rand.IntN(2) == 0 {
			to := one(m, m.from.dtypes)
			v = m.Emit(codegen.Instr{Op: codegen.OpCast, From: dt, To: to, Type: to.Compute(), Level: level, Args: []codegen.Value{v}})
			dt = to
			continue
		}
		fn := one(m, m.from.functions)
		if sig := fn.Sig(); sig.DefinedFor(dt.Compute()) && !sig.Mask && !sig.ResultBool {
			dt = dt.Compute()
			in := codegen.Instr{Op: codegen.OpApply, Fn: fn, Type: dt, Level: level, Args: []codegen.Value{v}}
			for len(in.Args) < sig.Arity {
				in.Args = append(in.Args, m.loadOf(level, dt))
			}
			v = m.Emit(in)
		}
	}
	if dt.Compute() != t {
		v = m.Emit(codegen.Instr{Op: codegen.OpCast, From: dt, To: t, Type: t, Level: level, Args: []codegen.Value{v}})
		dt = t
	}
	return v, dt
}

// RandomPrologues returns a contraction over lengths [batch…, m, n, k] of operands
// that random programs compute, with one function after it.
func RandomPrologues(r *rand.Rand, dims []int, t ir.DType) *Builder {
	return randomPrologues(r, Options{}.palette(), dims, t)
}

func randomPrologues(r *rand.Rand, from palette, dims []int, t ir.DType) *Builder {
	m := newBuilder(r, from, codegen.Contraction, len(dims)-1, dims)
	a, b := t, t
	if t == ir.I32 && r.IntN(2) == 0 {
		a, b = one(m, []ir.DType{ir.I8, ir.U8}), one(m, []ir.DType{ir.I8, ir.U8})
	}
	left, leftType := m.chain(codegen.Left, a)
	right, rightType := m.chain(codegen.Right, b)
	m.Emit(codegen.Instr{Op: codegen.OpContract, Type: t, From: leftType, To: rightType, Args: []codegen.Value{left, right}})
	m.apply(codegen.Element)
	for v := range m.Kernel.Body {
		if in := &m.Kernel.Body[v]; in.Level == codegen.Element && !m.used[v] {
			args, n := m.Layout(len(dims)-1, false)
			m.Store(codegen.Value(v), in.Type, args, n)
		}
	}
	if r.IntN(4) > 0 {
		m.Tame()
	}
	return m
}

// RandomScan returns a kernel that joins along the last axis, twice: the values,
// and the sum of the first result and the values.
func RandomScan(r *rand.Rand, dims []int, dt ir.DType, op codegen.ReduceOp, exclusive, reverse bool) *Builder {
	return randomScan(r, Options{}.palette(), dims, dt, op, exclusive, reverse)
}

func randomScan(r *rand.Rand, from palette, dims []int, dt ir.DType, op codegen.ReduceOp, exclusive, reverse bool) *Builder {
	m := newBuilder(r, from, codegen.Scan, len(dims)-1, dims)
	args, n := m.Layout(len(dims), true)
	t := dt.Compute()
	x := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: t, Access: m.Access(m.Buffer(dt, codegen.In, n), args, false)})
	s := m.Emit(codegen.Instr{Op: codegen.OpScan, Reduce: op, Type: t, Exclusive: exclusive, Reverse: reverse, Args: []codegen.Value{x}})
	y := m.Emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SAdd, Type: t, Args: []codegen.Value{s, x}})
	m.Emit(codegen.Instr{Op: codegen.OpScan, Reduce: op, Type: t, Exclusive: !exclusive, Reverse: reverse, Args: []codegen.Value{y}})
	m.StoreUnused()
	m.Tame()
	return m
}

// RandomScatter returns a kernel that writes values of the space [updates, width]
// to rows of a target with the given number of rows. Row numbers are in range but
// for one, if bad is not 0.
func RandomScatter(r *rand.Rand, updates, width, rows int, dt ir.DType, mode ir.ScatterMode, bad int64) *Builder {
	m := NewBuilder(r, codegen.Scatter, 2, updates, width)
	idx := m.Buffer(ir.I64, codegen.In, updates)
	m.Fill(idx, func(int) Value { return Value{I: int64(r.IntN(max(1, rows)))} })
	if bad != 0 {
		WriteElem(m.Mem[idx], ir.I64, r.IntN(updates), Value{I: bad})
	}
	x := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: ir.I64, Access: m.Access(idx, codegen.AccessArgs{Strides: []int{1, 0}}, false)})
	args, n := m.Layout(2, true)
	v := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: dt.Compute(), Access: m.Access(m.Buffer(dt, codegen.In, n), args, false)})
	m.Tame()
	target := codegen.AccessArgs{Strides: []int{0, 1}, Index: []codegen.IndexArg{{Extent: rows, Stride: width}}}
	if r.IntN(2) == 0 {
		target = codegen.AccessArgs{Strides: []int{0, rows}, Index: []codegen.IndexArg{{Extent: rows, Stride: 1}}}
	}
	out := m.Access(m.Buffer(dt, codegen.InOut, max(1, rows*width)), target, false)
	m.Kernel.Stores = append(m.Kernel.Stores, codegen.Store{Access: out, Value: v, Index: []codegen.Value{x}, Mode: mode})
	return m
}

// RandomSort returns a kernel that sorts the last axis, or as much of it as a
// window lets through: the values and where they were, in the order given.
func RandomSort(r *rand.Rand, dims []int, dt ir.DType, descending, positionsFirst bool) *Builder {
	return randomSort(r, Options{}.palette(), dims, dt, descending, positionsFirst)
}

func randomSort(r *rand.Rand, from palette, dims []int, dt ir.DType, descending, positionsFirst bool) *Builder {
	m := newBuilder(r, from, codegen.Sort, len(dims)-1, dims)
	t := dt.Compute()
	args, n := m.Layout(len(dims), true)
	b := m.Buffer(dt, codegen.In, n)
	for i := range n { // many ties, among them zeros of both signs and NaNs
		if r.IntN(2) == 0 {
			WriteElem(m.Mem[b], dt, i, one(m, []Value{{}, {F: math.Copysign(0, -1)}, {F: 1, I: 1, B: true}, {F: math.NaN(), I: dt.Wrap(-1)}, {F: math.Inf(1)}, {F: math.Inf(-1)}}))
		}
	}
	x := m.Emit(codegen.Instr{Op: codegen.OpLoad, Type: t, Access: m.Access(b, args, false)})
	for i := range 2 {
		in := codegen.Instr{Op: codegen.OpSort, Type: t, Reverse: descending, Args: []codegen.Value{x}}
		if in.Positions = (i == 0) == positionsFirst; in.Positions {
			in.Type = ir.I64
		}
		m.Emit(in)
	}
	m.StoreUnused()
	for s := range m.Kernel.Stores {
		if a := m.Kernel.Stores[s].Access; r.IntN(2) == 0 {
			m.Kernel.Accesses[a].Masked = true
			axis := len(dims) - 1
			m.Launch.Access[a].Window = []codegen.WindowArg{{Axis: axis, Lo: 0, Hi: r.IntN(dims[axis] + 2)}}
		}
	}
	return m
}

package interp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// chain makes a random program at a level whose last value has register type
// t: loads, casts and functions, each using the value before.
func (m *maker) chain(level codegen.Level, t ir.DType) codegen.Value {
	dt := one(m, storage)
	v := m.loadOf(level, dt)
	for range m.r.IntN(4) {
		if m.r.IntN(2) == 0 {
			to := one(m, ir.DTypes())
			v = m.emit(codegen.Instr{Op: codegen.OpCast, From: dt, To: to, Type: to.Compute(), Level: level, Args: []codegen.Value{v}})
			dt = to
			continue
		}
		fn := one(m, exactOps)
		if sig := fn.Sig(); sig.DefinedFor(dt.Compute()) && !sig.Mask && !sig.ResultBool {
			dt = dt.Compute()
			in := codegen.Instr{Op: codegen.OpApply, Fn: fn, Type: dt, Level: level, Args: []codegen.Value{v}}
			for len(in.Args) < sig.Arity {
				in.Args = append(in.Args, m.loadOf(level, dt))
			}
			v = m.emit(in)
		}
	}
	if dt.Compute() != t {
		v = m.emit(codegen.Instr{Op: codegen.OpCast, From: dt, To: t, Type: t, Level: level, Args: []codegen.Value{v}})
	}
	return v
}

// prologues builds a contraction of computed operands.
func prologues(r *rand.Rand, dims []int, t ir.DType) *maker {
	m := &maker{r: r}
	m.k.Template, m.k.Outer, m.k.Inner = codegen.Contraction, len(dims)-1, 1
	m.l.Dims = dims
	a, b := t, t
	if t == ir.I32 && r.IntN(2) == 0 {
		a, b = one(m, []ir.DType{ir.I8, ir.U8}), one(m, []ir.DType{ir.I8, ir.U8})
	}
	left, right := m.chain(codegen.Left, a), m.chain(codegen.Right, b)
	m.emit(codegen.Instr{Op: codegen.OpContract, Type: t, From: m.k.Body[left].Type, To: m.k.Body[right].Type, Args: []codegen.Value{left, right}})
	m.apply(codegen.Element)
	m.k.Stores = nil
	for v := range m.k.Body {
		if in := &m.k.Body[v]; in.Level == codegen.Element && !m.used[v] {
			args, n := m.layout(len(dims)-1, false)
			m.k.Stores = append(m.k.Stores, codegen.Store{Access: m.access(m.buffer(in.Type, codegen.Out, n), args, false), Value: codegen.Value(v)})
		}
	}
	if r.IntN(4) > 0 {
		m.tame()
	}
	return m
}

func TestRandomPrologues(t *testing.T) {
	for seed := range kernels(150, 1500) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		dims := randomDims(r, 3+r.IntN(3), 4000)
		ty := []ir.DType{ir.F32, ir.F32, ir.F64, ir.I64, ir.I32, ir.U8}[r.IntN(6)]
		m := prologues(r, dims, ty)
		t.Run(fmt.Sprint(seed, dims, ty), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
	}
}

// A weight dequantised while it is packed gives the bits of one that was
// stored first, whatever the shape.
func TestPrologueLikeStored(t *testing.T) {
	for _, dims := range [][]int{{1, 33, 300}, {2, 7, 513}, {70, 140, 260}, {40, 1, 300}} {
		rows, n, k := dims[0], dims[1], dims[2]
		r := rand.New(rand.NewPCG(uint64(rows), 1))
		stored := plainContraction(dims, ir.F32)
		scales := make([]float32, n)
		for i := range scales {
			scales[i] = float32(r.NormFloat64())
		}
		fused := &maker{r: r}
		fused.k.Template, fused.k.Outer, fused.k.Inner = codegen.Contraction, 2, 1
		fused.l.Dims = dims
		load := func(level codegen.Level, dt ir.DType, n int, strides ...int) (codegen.Value, int) {
			b := fused.buffer(dt, codegen.In, n)
			return fused.emit(codegen.Instr{Op: codegen.OpLoad, Level: level, Type: dt.Compute(), Access: fused.access(b, codegen.AccessArgs{Strides: strides}, false)}), b
		}
		x, bx := load(codegen.Left, ir.F32, rows*k, k, 0, 1)
		q, bq := load(codegen.Right, ir.I8, k*n, 0, 1, n)
		s, bs := load(codegen.Right, ir.F32, n, 0, 1, 0)
		f := fused.emit(codegen.Instr{Op: codegen.OpCast, Level: codegen.Right, From: ir.I8, To: ir.F32, Type: ir.F32, Args: []codegen.Value{q}})
		w := fused.emit(codegen.Instr{Op: codegen.OpApply, Level: codegen.Right, Fn: ir.SMul, Type: ir.F32, Args: []codegen.Value{f, s}})
		c := fused.emit(codegen.Instr{Op: codegen.OpContract, Type: ir.F32, From: ir.F32, To: ir.F32, Args: []codegen.Value{x, w}})
		out := fused.access(fused.buffer(ir.F32, codegen.Out, rows*n), codegen.AccessArgs{Strides: []int{n, 1, 0}}, false)
		fused.k.Stores = []codegen.Store{{Access: out, Value: c}}
		copy(fused.mem[bx], stored.mem[0])
		copy(view[float32](fused.mem[bs]), scales)
		weights := view[float32](stored.mem[1])
		for i := range weights {
			weights[i] = float32(int8(fused.mem[bq][i])) * scales[i%n]
		}
		require.NoError(t, compile(t, &stored.k).Run(&stored.l, stored.mem, codegen.Serial{}))
		require.NoError(t, compile(t, &fused.k).Run(&fused.l, fused.mem, workers(3)))
		require.Equal(t, stored.mem[2], fused.mem[len(fused.mem)-1])
	}
}

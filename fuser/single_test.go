package fuser

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// checkAlone runs each operation of a program by itself and compares every
// tensor with the oracle's, computed from the operands as stored.
func checkAlone(t *testing.T, p *program) {
	t.Helper()
	m := newMachine(p)
	for i := range p.g.Ops {
		op := &p.g.Ops[i]
		in := make([]oracle.Tensor, len(op.Inputs))
		for k, r := range op.Inputs {
			in[k] = m.read(r.ID)
		}
		o, err := Single(&p.g, i)
		require.NoError(t, err, "%v", op.Kind)
		require.NoError(t, m.run(o), "%v", op.Kind)
		require.NoError(t, oracle.CheckOp(op, m.read(op.Outputs[0].ID), in...))
	}
}

var shapes = []ir.Shape{{}, {1}, {7}, {0}, {3, 0, 2}, {2, 3}, {4, 1, 5}, {1, 1}}

// Every element-wise kind, on every dtype it is defined for, at odd shapes and
// special values.
func TestSingleMaps(t *testing.T) {
	for _, k := range ir.Kinds() {
		info := ir.Lookup(k)
		if info.Class != ir.ClassMap {
			continue
		}
		for _, d := range ir.DTypes() {
			if !info.DTypes.Has(d) {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", k, d), func(t *testing.T) {
				for _, s := range shapes {
					p := newProgram(t)
					x, y := p.in(random(d, s)), p.in(random(d, s))
					p.mapOf(k, d, x, y, x)
					if d.IsFloat() && k != ir.Bitcast {
						odd := p.in(special(d, ir.Shape{15}))
						p.mapOf(k, d, odd, p.in(special(d, ir.Shape{15, 1})), odd)
					}
					checkAlone(t, p)
				}
			})
		}
	}
}

// scalarOf returns a scalar of the type d computes in; of an integer type it is
// four times as large, and of an unsigned one not negative.
func scalarOf(d ir.DType, v float64) ir.Scalar {
	switch c := d.Compute(); {
	case c.IsUnsigned():
		return ir.IntScalar(c, int64(max(v*4, 0)))
	case c.IsFloat():
		return ir.FloatScalar(c, v)
	case c == ir.Bool:
		return ir.BoolScalar(v > 0)
	default:
		return ir.IntScalar(c, int64(v*4))
	}
}

// mapOf records an element-wise kind on as many of the operands as it has, with
// scalars where it takes them.
func (p *program) mapOf(k ir.Kind, d ir.DType, x ...ir.TensorRef) {
	info := ir.Lookup(k)
	switch {
	case k == ir.Cast:
		for _, other := range ir.DTypes() {
			p.op(k, x[0], to(other))
		}
	case k == ir.Bitcast:
		for _, other := range ir.DTypes() {
			if other.Size() == d.Size() && other != ir.Bool {
				p.op(k, x[0], to(other))
			}
		}
	case k == ir.Where:
		p.op(k, p.in(random(ir.Bool, x[0].Shape)), x[0], x[1])
	case info.MinIn == 1 && info.MaxIn == 2: // the second may be a scalar
		p.op(k, x[0], x[1])
		p.op(k, x[0], scalar(scalarOf(d, 1.5)))
		if d.IsFloat() {
			p.op(k, x[0], scalar(scalarOf(d, -2)))
		}
	default:
		var args []any
		for _, ref := range x[:info.MaxIn] {
			args = append(args, ref)
		}
		for i := range info.MinScalars {
			args = append(args, option(func(o *ir.Operation) { o.Scalars = append(o.Scalars, scalarOf(d, float64(i)+0.5)) }))
		}
		p.op(k, args...)
	}
}

func TestSingleBroadcasts(t *testing.T) {
	p := newProgram(t)
	p.op(ir.Add, p.f32(2, 3, 4), p.f32(3, 1))
	p.op(ir.Sub, p.f32(4), p.f32(2, 3, 1))
	p.op(ir.Mul, p.f32(2, 1, 4), p.f32(3, 1))
	p.op(ir.Add, p.f32(), p.f32(2, 2))
	p.op(ir.Where, p.in(random(ir.Bool, ir.Shape{3, 1})), p.f32(4), p.f32(1, 4))
	p.op(ir.MulAdd, p.f32(2, 1), p.f32(3), p.f32())
	checkAlone(t, p)
}

// Scalars may be tensors of rank 0.
func TestSingleScalarOperands(t *testing.T) {
	p := newProgram(t)
	s := p.in(oracle.Floats(ir.F32, ir.Shape{}, 0.25))
	x := p.f32(2, 3)
	p.op(ir.Add, x, s, scalar(ir.Scalar{DType: ir.F32, Input: 1}))
	p.op(ir.Clamp, x, p.in(oracle.Floats(ir.F32, ir.Shape{}, -0.1)), s,
		scalar(ir.Scalar{DType: ir.F32, Input: 1}, ir.Scalar{DType: ir.F32, Input: 2}))
	p.op(ir.LayerNorm, x, s, scalar(ir.Scalar{DType: ir.F32, Input: 1}))
	checkAlone(t, p)

	for _, d := range []ir.DType{ir.F64, ir.F32, ir.BF16} {
		p = newProgram(t)
		q, k := p.in(random(d, ir.Shape{2, 4, 3, 5})), p.in(random(d, ir.Shape{2, 2, 6, 5}))
		scale := p.in(oracle.Floats(d, ir.Shape{}, 0.5))
		p.op(ir.Attention, q, k, k, scale, scalar(ir.Scalar{DType: d.Compute(), Input: 3}), causal(), number(1))
		p.op(ir.Attention, q, k, k, p.in(random(ir.Bool, ir.Shape{3, 6})), scale, scalar(ir.Scalar{DType: d.Compute(), Input: 4}))
		checkAlone(t, p)
	}
}

func TestSingleSources(t *testing.T) {
	seed := []ir.Scalar{ir.I64Scalar(42), ir.I64Scalar(3)}
	with := func(s ...ir.Scalar) option { return scalar(append(seed[:2:2], s...)...) }
	for _, d := range []ir.DType{ir.F32, ir.BF16} {
		for _, s := range []ir.Shape{{}, {5}, {0, 3}, {2, 9}} {
			p := newProgram(t)
			p.op(ir.Full, shape(s...), to(d), f(1.00390625))
			p.op(ir.Uniform, shape(s...), to(d), with(ir.F32Scalar(-1), ir.F32Scalar(3)))
			p.op(ir.Normal, shape(s...), to(d), with(ir.F32Scalar(1), ir.F32Scalar(2)))
			checkAlone(t, p)
		}
	}
	p := newProgram(t)
	p.op(ir.Full, shape(2, 2), to(ir.I64), scalar(ir.I64Scalar(-9)))
	p.op(ir.Full, shape(3), to(ir.Bool), scalar(ir.BoolScalar(true)))
	p.op(ir.Arange, shape(9), to(ir.I64), scalar(ir.I64Scalar(5), ir.I64Scalar(1500000000)))
	p.op(ir.Arange, shape(1), to(ir.I64), scalar(ir.I64Scalar(5), ir.I64Scalar(2)))
	p.op(ir.Arange, shape(100), to(ir.F32), scalar(ir.F64Scalar(0.1), ir.F64Scalar(0.3)))
	p.op(ir.Arange, shape(1000), to(ir.BF16), scalar(ir.F64Scalar(1), ir.F64Scalar(0.00390626)))
	p.op(ir.Arange, shape(0), to(ir.F32), scalar(ir.F64Scalar(0.1), ir.F64Scalar(0.3)))
	p.op(ir.Bernoulli, shape(4, 5), to(ir.Bool), with(ir.F32Scalar(0.3)))
	for _, r := range [][2]int64{{0, 2}, {-7, 1 << 20}, {3, 3 + ir.MaxRandRange}, {-1 << 30, 1<<30 - 5}, {1<<63 - 9, 1<<63 - 1}, {-1 << 63, -1<<63 + ir.MaxRandRange}} {
		p.op(ir.RandInt, shape(33), to(ir.I64), with(ir.I64Scalar(r[0]), ir.I64Scalar(r[1])))
	}
	checkAlone(t, p)
}

func TestSingleViews(t *testing.T) {
	for _, d := range ir.DTypes() {
		p := newProgram(t)
		x := p.in(random(d, ir.Shape{2, 3, 4}))
		y := p.op(ir.Permute, x, axes(2, 0, 1))
		p.op(ir.Reshape, y, shape(8, 3)) // strides cannot express it
		p.op(ir.Reshape, x, shape(6, 1, 4))
		p.op(ir.Expand, p.op(ir.Reshape, x, shape(2, 1, 3, 4)), shape(2, 5, 3, 4))
		z := p.op(ir.Slice, x, ranges(ir.Range{Start: 1, Len: 1, Step: 1}, ir.Range{Start: 2, Len: 2, Step: -2}, ir.Range{Start: 0, Len: 2, Step: 3}))
		p.op(ir.Flip, z, axes(1, 2))
		p.op(ir.Slice, x, ranges(ir.Range{Start: 0, Len: 0, Step: 1}, ir.Range{Len: 3, Step: 1}, ir.Range{Len: 4, Step: 1}))
		start := p.in(oracle.Ints(ir.Shape{}, 2))
		p.op(ir.Slice, x, start, ranges(ir.Range{Len: 2, Step: 1}, ir.Range{Len: 2, Step: -2, Input: 1}, ir.Range{Start: 3, Len: 2, Step: -1}))
		checkAlone(t, p)
	}
}

func TestSingleViewsAreAliases(t *testing.T) {
	p := newProgram(t)
	x := p.f32(2, 3)
	p.op(ir.Permute, x, axes(1, 0))
	p.op(ir.Reshape, x, shape(6))
	p.strideInput(x, 1, 2)
	for i, aliases := range []int{1, 0} {
		o, err := Single(&p.g, i)
		require.NoError(t, err)
		require.Len(t, o.Aliases, aliases)
		require.Len(t, o.Calls, 1-aliases)
	}
}

func TestSingleMoves(t *testing.T) {
	for _, d := range ir.DTypes() {
		p := newProgram(t)
		x, y := p.in(random(d, ir.Shape{2, 3})), p.in(random(d, ir.Shape{2, 1}))
		p.op(ir.Cat, x, y, p.in(random(d, ir.Shape{2, 0})), x, axes(1))
		p.op(ir.Cat, x, x, axes(0))
		p.op(ir.Cat, p.in(random(d, ir.Shape{0})), p.in(random(d, ir.Shape{1})), axes(0))
		p.op(ir.Repeat, x, ints(2, 1))
		p.op(ir.Repeat, y, ints(3, 2))
		p.op(ir.Repeat, x, ints(1, 0))
		fill := scalarOf(d, 1.75390625)
		p.op(ir.Pad, x, ints(1, 2, 0, 3), scalar(fill))
		p.op(ir.Pad, x, ints(-1, 0, 1, -2), scalar(fill))
		p.op(ir.Pad, x, ints(0, 0, -2, 0), scalar(fill))
		p.op(ir.Pad, p.in(random(d, ir.Shape{0, 2})), ints(1, 0, 0, 0), scalar(fill))
		p.op(ir.Pad, p.in(random(d, ir.Shape{3})), ints(2, -4), scalar(fill))
		p.op(ir.Pad, x, ints(0, 0, 0, 0), scalar(fill))
		checkAlone(t, p)
	}
}

func TestSingleIndexed(t *testing.T) {
	for _, d := range ir.DTypes() {
		p := newProgram(t)
		x := p.in(random(d, ir.Shape{4, 3}))
		p.op(ir.Select, x, p.in(oracle.Ints(ir.Shape{5}, 3, 0, 0, 2, 1)), axes(0))
		p.op(ir.Select, x, p.in(oracle.Ints(ir.Shape{1}, 2)), axes(1))
		p.op(ir.Select, p.in(random(d, ir.Shape{1, 2})), p.in(oracle.Ints(ir.Shape{2}, 0, 0)), axes(0))
		p.op(ir.Select, x, p.in(oracle.Ints(ir.Shape{0})), axes(0))
		p.op(ir.Gather, x, p.in(oracle.Ints(ir.Shape{2, 3}, 3, 0, 1, 2, 2, 0)), axes(0))
		p.op(ir.Gather, x, p.in(oracle.Ints(ir.Shape{1, 2}, 2, 0)), axes(1))
		p.op(ir.Embedding, x, p.in(oracle.Ints(ir.Shape{2, 2}, 3, 0, 1, 1)))
		p.op(ir.Embedding, x, p.in(oracle.Ints(ir.Shape{}, 2)))
		checkAlone(t, p)

		var bad *ir.IndexError
		p = newProgram(t)
		p.op(ir.Select, p.in(random(d, ir.Shape{4, 3})), p.in(oracle.Ints(ir.Shape{1}, 4)), axes(0))
		o, err := Single(&p.g, 0)
		require.NoError(t, err)
		require.ErrorAs(t, newMachine(p).run(o), &bad)
	}
}

func TestSingleReductions(t *testing.T) {
	kinds := []ir.Kind{ir.Sum, ir.Mean, ir.Prod, ir.Max, ir.Min, ir.ArgMax, ir.ArgMin, ir.Any, ir.All, ir.Var}
	for _, k := range kinds {
		for _, d := range ir.DTypes() {
			if !ir.Lookup(k).DTypes.Has(d) {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", k, d), func(t *testing.T) {
				for _, c := range []struct {
					shape ir.Shape
					axes  []int
				}{
					{ir.Shape{}, nil}, {ir.Shape{5}, []int{0}}, {ir.Shape{3, 4}, []int{0}}, {ir.Shape{3, 4}, []int{1}},
					{ir.Shape{3, 4}, []int{0, 1}}, {ir.Shape{2, 3, 4}, []int{0, 2}}, {ir.Shape{2, 1, 4}, []int{1}},
					{ir.Shape{1, 1}, []int{0, 1}}, {ir.Shape{2100}, []int{0}}, {ir.Shape{0, 3}, []int{1}}, {ir.Shape{3, 0}, []int{1}},
				} {
					p := newProgram(t)
					if c.shape.NumElements() == 0 && c.shape[0] != 0 {
						if k == ir.Max || k == ir.Min || k == ir.ArgMax || k == ir.ArgMin {
							continue
						}
					}
					p.op(k, p.in(random(d, c.shape)), axes(c.axes...), number(b2i(k == ir.Var)))
					if d.IsFloat() && c.shape.NumElements() > 0 {
						p.op(k, p.in(special(d, c.shape)), axes(c.axes...))
					}
					checkAlone(t, p)
				}
			})
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestSingleRows(t *testing.T) {
	for _, d := range []ir.DType{ir.F32, ir.BF16} {
		p := newProgram(t)
		x := p.in(random(d, ir.Shape{3, 2, 5}))
		for _, k := range []ir.Kind{ir.Softmax, ir.LogSoftmax} {
			p.op(k, x, axes(2))
			p.op(k, x, axes(0))
			p.op(k, x, axes(0, 2))
			p.op(k, p.in(random(d, ir.Shape{4, 1})), axes(1))
			p.op(k, p.in(special(d, ir.Shape{3, 5})), axes(1))
			p.op(k, p.in(random(d, ir.Shape{0, 3})), axes(1))
			p.op(k, p.in(random(d, ir.Shape{3, 0})), axes(1))
		}
		w, b := p.in(random(d, ir.Shape{5})), p.in(special(d, ir.Shape{5}))
		p.op(ir.LayerNorm, x, f(1e-5))
		p.op(ir.LayerNorm, x, w, f(1e-5))
		p.op(ir.LayerNorm, x, w, b, f(1e-5))
		p.op(ir.RMSNorm, x, f(1e-6))
		p.op(ir.RMSNorm, x, w, f(1e-6))
		p.op(ir.LayerNorm, p.in(oracle.Floats(d, ir.Shape{2, 5}, 3, 3, 3, 3, 3, 1, 2, 3, 4, 5)), w, b, f(1e-5))
		p.op(ir.RMSNorm, p.in(random(d, ir.Shape{1})), f(1e-6))
		checkAlone(t, p)
	}
}

func TestSingleScans(t *testing.T) {
	for _, d := range []ir.DType{ir.F32, ir.BF16, ir.I64} {
		p := newProgram(t)
		x := p.in(random(d, ir.Shape{3, 4, 2}))
		for axis := range 3 {
			p.op(ir.CumSum, x, axes(axis))
			p.op(ir.CumSum, x, axes(axis), causal())
			p.op(ir.CumSum, x, axes(axis), reverse())
		}
		p.op(ir.CumSum, p.in(random(d, ir.Shape{1})), axes(0), causal(), reverse())
		p.op(ir.CumSum, p.in(random(d, ir.Shape{0, 2})), axes(0))
		checkAlone(t, p)
	}
}

func TestSingleEffects(t *testing.T) {
	for _, d := range ir.DTypes() {
		p := newProgram(t)
		v := p.variable(random(d, ir.Shape{4, 3}))
		p.op(ir.Set, v, p.in(random(d, ir.Shape{4, 3})))
		part := ranges(ir.Range{Start: 3, Len: 2, Step: -2}, ir.Range{Start: 1, Len: 2, Step: 1})
		checkAlone(t, p)

		p = newProgram(t)
		v = p.variable(random(d, ir.Shape{4, 3}))
		v = p.op(ir.SetSlice, v, p.in(random(d, ir.Shape{2, 2})), part)
		start := p.in(oracle.Ints(ir.Shape{}, 2))
		v = p.op(ir.SetSlice, v, p.in(random(d, ir.Shape{2, 3})), start, ranges(ir.Range{Len: 2, Step: -1, Input: 2}, ir.Range{Len: 3, Step: 1}))
		v = p.op(ir.SetSelect, v, p.in(oracle.Ints(ir.Shape{3}, 1, 3, 1)), p.in(random(d, ir.Shape{3, 3})), axes(0))
		v = p.op(ir.SetSelect, v, p.in(oracle.Ints(ir.Shape{1}, 2)), p.in(random(d, ir.Shape{4, 1})), axes(1))
		if ir.Numbers.Has(d) {
			p.op(ir.ScatterAdd, v, p.in(oracle.Ints(ir.Shape{5}, 0, 1, 0, 2, 0)), p.in(random(d, ir.Shape{4, 5})), axes(1))
		}
		inOrder(t, p)
	}
}

package fuser

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// below adds an input of indices from 0 up to n.
func (p *program) below(n int, shape ...int) ir.TensorRef {
	v := make([]int64, ir.Shape(shape).NumElements())
	for i := range v {
		v[i] = int64((i*i + 5*i + 2) % n)
	}
	return p.in(oracle.Ints(shape, v...))
}

// sample records a small operation of a kind on d, and what it needs.
func (p *program) sample(k ir.Kind, d ir.DType) {
	info := ir.Lookup(k)
	x := func(s ...int) ir.TensorRef { return p.in(random(d, s)) }
	one := scalarOf(d, 1)
	s := scalar(one)
	draw := []ir.Scalar{ir.I64Scalar(7), ir.I64Scalar(0)}
	parts := ranges(ir.Range{Start: 3, Len: 2, Step: -1}, ir.Range{Start: 1, Len: 2, Step: 1})
	switch k {
	case ir.Cast:
		for _, other := range ir.DTypes() {
			p.op(k, x(2, 3), to(other))
			if other.IsFloat8() {
				p.op(k, x(2, 3), to(other), causal())
			}
		}
	case ir.Bitcast:
		for _, other := range ir.DTypes() {
			if other.Size() == d.Size() && other != ir.Bool {
				p.op(k, x(2, 3), to(other))
			}
		}
	case ir.Where:
		p.op(k, p.in(random(ir.Bool, ir.Shape{2, 1})), x(3), x())
	case ir.Clamp:
		p.op(k, x(2, 3), scalar(scalarOf(d, -0.5), one))
	case ir.Full:
		p.op(k, shape(2, 3), to(d), s)
	case ir.Arange:
		if d.IsInt() {
			p.op(k, shape(5), to(d), scalar(ir.I64Scalar(-3), ir.I64Scalar(1<<33)))
			p.op(k, shape(1), to(d), scalar(ir.I64Scalar(5), ir.I64Scalar(2)))
		} else {
			p.op(k, shape(5), to(d), scalar(ir.F64Scalar(0.5), ir.F64Scalar(0.1)))
		}
	case ir.Uniform, ir.Normal:
		p.op(k, shape(2, 3), to(d), scalar(append(draw, ir.FloatScalar(d, -1), ir.FloatScalar(d, 2))...))
	case ir.Bernoulli:
		p.op(k, shape(2, 3), to(d), scalar(append(draw, ir.F32Scalar(0.25))...))
	case ir.RandInt:
		p.op(k, shape(2, 3), to(d), scalar(append(draw, ir.I64Scalar(2), ir.I64Scalar(5))...))
	case ir.Reshape:
		p.op(k, p.op(ir.Permute, x(2, 3), axes(1, 0)), shape(2, 3))
	case ir.Permute:
		p.op(k, x(2, 3), axes(1, 0))
	case ir.Expand:
		p.op(k, x(1, 3), shape(4, 2, 3))
	case ir.Slice:
		p.op(k, x(4, 4), parts)
		p.op(k, x(4, 4), p.below(4), ranges(ir.Range{Len: 2, Step: 1}, ir.Range{Len: 2, Step: -2, Input: 1}))
	case ir.Unfold:
		p.op(k, x(2, 7), axes(1), ints(3, 2))
	case ir.Diagonal:
		p.op(k, x(2, 7, 3), axes(2, 0), number(1))
	case ir.Cat:
		p.op(k, x(2, 3), x(2, 4), x(2, 0), axes(1))
	case ir.Repeat:
		p.op(k, x(2, 3), ints(1, 2))
	case ir.Pad:
		p.op(k, x(2, 3), ints(1, 2, -1, 0), s)
	case ir.Select:
		p.op(k, x(2, 3), p.below(3, 5), axes(1))
	case ir.Gather:
		p.op(k, x(2, 3), p.below(3, 1, 5), axes(1))
	case ir.Embedding:
		p.op(k, x(9, 4), p.below(9, 2, 3))
	case ir.GatherND:
		for n := range 4 {
			p.op(k, x(2, 7, 3), p.below(2, 5, n))
		}
	case ir.SliceAssign, ir.SetSlice:
		p.op(k, x(4, 4), x(2, 2), parts)
		p.op(k, x(4, 4), x(2, 2), ranges(ir.Range{Start: 3, Len: 2, Step: -2}, ir.Range{Len: 2, Step: 3}))
		p.op(k, x(4, 4), x(2, 2), p.below(4), ranges(ir.Range{Len: 2, Step: 1}, ir.Range{Len: 2, Step: -2, Input: 2}))
	case ir.SelectAssign, ir.Scatter, ir.ScatterND:
		for _, mode := range []ir.ScatterMode{ir.Assign, ir.ScatterSum, ir.ScatterMul, ir.ScatterMin, ir.ScatterMax} {
			if mode != ir.Assign && !ir.Numbers.Has(d) {
				break
			}
			joined := func(o *ir.Operation) { o.Attrs.Mode = mode }
			switch k {
			case ir.SelectAssign:
				p.op(k, x(2, 3), p.below(3, 5), x(2, 5), axes(1), option(joined))
			case ir.Scatter:
				p.op(k, x(2, 3), p.below(3, 1, 5), x(1, 5), axes(1), option(joined))
			default:
				p.op(k, x(2, 7, 3), p.below(2, 5, 2), x(5, 3), option(joined))
				p.op(k, x(2, 3), p.below(2, 4, 0), x(4, 2, 3), option(joined))
			}
		}
	case ir.Set:
		p.op(k, p.variable(random(d, ir.Shape{2, 3})), x(2, 3))
	case ir.SetSelect, ir.ScatterAdd:
		p.op(k, x(2, 3), p.below(3, 5), x(2, 5), axes(1))
	case ir.TopK, ir.ArgTopK:
		p.op(k, x(2, 3, 4), axes(1), number(2), reverse())
		p.op(k, x(2, 3), axes(1), number(0))
	case ir.MatMul:
		p.op(k, x(5, 2, 3), x(3, 4))
	case ir.IntMatMul:
		p.op(k, x(5, 2, 3), p.in(random(ir.U8, ir.Shape{3, 4})))
		p.op(k, p.in(random(ir.I8, ir.Shape{3})), x(3))
	case ir.Linear:
		p.op(k, x(5, 3), x(3, 4), x(4))
	case ir.LayerNorm:
		p.op(k, x(2, 3), x(3), x(3), s)
	case ir.RMSNorm:
		p.op(k, x(2, 3), x(3), s)
	case ir.GroupNorm:
		p.op(k, x(2, 6, 5), x(6), x(6), number(3), s)
		p.op(k, x(2, 6), x(6), number(1), s)
	case ir.BatchNorm:
		p.op(k, x(2, 6, 5), x(6), x(6), x(6), x(6), s)
		p.op(k, x(2, 6), x(6), x(6), s)
	case ir.SoftmaxBackward, ir.LogSoftmaxBackward:
		p.op(k, x(2, 3), x(2, 3), axes(0))
	case ir.LayerNormBackward, ir.RMSNormBackward:
		p.op(k, x(2, 3), x(2, 3), s)
		p.op(k, x(2, 3), x(2, 3), x(3), s)
	case ir.Attention:
		p.op(k, x(2, 6, 5, 8), x(2, 3, 7, 8), x(2, 3, 7, 4), p.in(random(ir.Bool, ir.Shape{5, 7})), causal(), number(2), s)
	default:
		args := []any{x(2, 3)}
		switch {
		case info.MaxIn == 2:
			args = append(args, x(3))
		case info.MaxIn == 3:
			args = append(args, x(3), x(2, 1))
		}
		if info.MinScalars == 1 {
			args = append(args, s)
		}
		if info.Attrs&ir.HasAxes != 0 {
			args = append(args, axes(1))
		}
		p.op(k, args...)
	}
}

// Every kind in every dtype it has is lowered to kernels that pass
// verification, stay inside their buffers and give what the oracle says, but for
// custom operations, which are no kernels.
func TestEveryKind(t *testing.T) {
	for _, k := range ir.Kinds() {
		if k == ir.Custom {
			continue
		}
		for _, d := range ir.DTypes() {
			if !ir.Lookup(k).DTypes.Has(d) {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", k, d), func(t *testing.T) {
				p := newProgram(t)
				p.sample(k, d)
				require.NotEmpty(t, p.g.Ops)
				for i := range p.g.Ops {
					p.verifyAlone(i)
				}
				checkAlone(t, p)
			})
		}
	}
}

// verifyAlone lowers an operation and checks the launches of its kernels.
func (p *program) verifyAlone(op int) {
	p.t.Helper()
	o, err := Single(&p.g, op)
	require.NoError(p.t, err)
	require.Positive(p.t, len(o.Calls)+len(o.Aliases))
	for i := range o.Calls {
		c := &o.Calls[i]
		require.NoError(p.t, c.Kernel.Verify(), "%v", c.Kernel)
		var l codegen.Launch
		layout := func(t ir.TensorID) codegen.Layout { return codegen.Contiguous(p.g.Tensors[t].Shape) }
		require.NoError(p.t, Bind(c, p.g.Dims, p.g.Ops, layout, &l))
		sizes := make([]int, len(c.Tensors))
		for n, t := range c.Tensors {
			sizes[n] = int(p.g.bytes(t))
		}
		require.NoError(p.t, codegen.CheckLaunch(c.Kernel, &l, sizes), "%v", c)
	}
}

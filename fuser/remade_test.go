package fuser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func (p *program) full(v float32, s ...int) ir.TensorRef {
	return p.op(ir.Full, shape(s...), to(ir.F32), f(v))
}

func (p *program) arange(n int) ir.TensorRef {
	return p.op(ir.Arange, shape(n), to(ir.F32), scalar(ir.F64Scalar(-1), ir.F64Scalar(0.5)))
}

// Created tensors have no place in a block: they are made at every place they
// are read at, whatever was recorded first.
func TestCreatedTensorsAreMadeAnew(t *testing.T) {
	for name, c := range map[string]struct {
		fuser  string
		record func(p *program)
	}{
		"a fill before a product": {"matmul", func(p *program) {
			fill, half := p.full(-1e9), p.full(0.5, 4, 5)
			p.op(ir.Where, p.in(random(ir.Bool, ir.Shape{4, 5})), p.op(ir.Mul, p.op(ir.MatMul, p.f32(4, 3), p.f32(3, 5)), half), fill)
		}},
		"a fill before a sum": {"reduce", func(p *program) {
			fill := p.full(0)
			p.op(ir.Sum, p.op(ir.Where, p.in(random(ir.Bool, ir.Shape{4, 1})), p.f32(4, 5), fill), axes(0))
		}},
		"a row before softmax": {"reduce-broadcast", func(p *program) {
			row := p.arange(5)
			p.op(ir.Softmax, p.op(ir.Add, p.f32(4, 5), row), axes(1))
		}},
		"a column through views": {"elementwise", func(p *program) {
			column := p.op(ir.Reshape, p.arange(4), shape(4, 1))
			wide := p.op(ir.Expand, p.full(2, 1, 1), shape(4, 5))
			p.op(ir.Less, p.op(ir.Mul, p.op(ir.Add, p.f32(4, 5), column), wide), p.arange(5))
		}},
		"at two places": {"elementwise", func(p *program) {
			i := p.arange(4)
			p.op(ir.Add, p.op(ir.Mul, p.f32(4, 4), i), p.op(ir.Reshape, i, shape(4, 1)))
		}},
		"reduced":            {"reduce", func(p *program) { p.op(ir.Sum, p.arange(7), axes(0)) }},
		"reduced, one value": {"reduce", func(p *program) { p.op(ir.Mean, p.full(3, 2, 7), axes(0, 1)) }},
		"set": {"elementwise", func(p *program) {
			p.op(ir.Set, p.variable(random(ir.F32, ir.Shape{2, 3})), p.full(1, 2, 3))
		}},
		"behind a view that needs a copy of a tensor": {"elementwise", func(p *program) {
			v := p.op(ir.Reshape, p.op(ir.Expand, p.full(2, 1, 4), shape(3, 4)), shape(12))
			p.op(ir.Add, p.f32(12), v)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			c.record(p)
			o := p.fuse(c.fuser)
			for _, id := range o.Stored {
				require.NotEqual(t, ir.ClassCreate, ir.Lookup(p.g.Ops[p.g.Tensors[id].Producer].Kind).Class)
			}
			for _, id := range o.Calls[0].Tensors {
				if pos := p.g.Tensors[id].Producer; pos >= 0 {
					require.False(t, p.g.Remade(pos), "tensor %d is in memory", id)
				}
			}
		})
	}
}

// What must be stored is an operation like any other.
func TestCreatedTensorsThatAreStored(t *testing.T) {
	p := newProgram(t)
	x := p.full(2, 3, 4)
	p.store(x)
	require.False(t, p.g.Remade(0))
	y := p.op(ir.Add, x, p.f32(3, 4))
	require.Equal(t, []ir.TensorID{x.ID, y.ID}, p.fuse("elementwise").Stored)
}

// A coordinate of a view's space, or of a tensor read from memory, is not had.
func TestCreatedTensorsRefused(t *testing.T) {
	p := newProgram(t)
	square := p.op(ir.Reshape, p.arange(6), shape(2, 3))
	p.op(ir.Add, p.f32(2, 3), square)
	p.refused("elementwise", RuleWindowBehindView)

	p = newProgram(t)
	p.op(ir.Select, p.arange(6), p.in(random(ir.I64, ir.Shape{0})), axes(0))
	p.refused("elementwise", RuleIndexedRead)
}

// Blocks share what making the tensor alone costs, by the readers they hold.
func TestCreatedTensorsAreSharedInTheScore(t *testing.T) {
	p := newProgram(t)
	fill := p.full(1, 3, 4)
	p.op(ir.Exp, p.op(ir.Add, p.f32(3, 4), fill))
	o := p.fuse("elementwise")
	require.Equal(t, 2.0, o.Saving.Launches)
	require.EqualValues(t, 4*12*(2+2), o.Saving.Bytes, "neither value is written and read")

	p = newProgram(t)
	fill = p.full(1, 3, 4)
	x := p.op(ir.Add, p.f32(3, 4), fill)
	for range 3 {
		p.op(ir.Mul, p.f32(3, 4), fill) // in other blocks
	}
	f := p.fuser("elementwise")
	require.True(t, f.Fuse(0).Accepted)
	require.Equal(t, Properties{}, f.Properties(), "there is nothing to compute")
	require.True(t, f.Fuse(1).Accepted)
	p.store(x)
	o, err := f.Finish()
	require.NoError(t, err)
	require.Equal(t, Saving{Bytes: 4*12/4 + 4*12, Launches: 0.25}, o.Saving)
}

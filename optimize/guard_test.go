package optimize

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

func TestScalarGuards(t *testing.T) {
	b := &builder{}
	x := b.in(4)
	b.asked(b.op(ir.Add, b.scalar(ir.Mul, 2, x), b.scalar(ir.Mul, 2, x)))
	p := plan(t, b, Options{})
	f := b.seg.Facts()
	require.True(t, p.Holds(f))
	f.Ops = append([]ir.Operation(nil), f.Ops...)
	set := func(op int, v float32) { f.Ops[op].Scalars = []ir.Scalar{ir.F32Scalar(v)} }
	set(0, 3)
	require.False(t, p.Holds(f), "they were equal and are no more")
	set(1, 3)
	require.True(t, p.Holds(f), "another value, but equal")
}

func TestRangeGuards(t *testing.T) {
	b := &builder{}
	b.asked(b.op(ir.Neg, b.rows(b.in(4), 0, 4)))
	p := plan(t, b, Options{})
	f := b.seg.Facts()
	require.True(t, p.Holds(f))
	f.Ops = append([]ir.Operation(nil), f.Ops...)
	f.Ops[0].Ranges = []ir.Range{{Start: 1, Len: 4, Step: 1}}
	require.False(t, p.Holds(f))
}

func TestRowGuards(t *testing.T) {
	b := &builder{}
	b.asked(b.axes(ir.Sum, b.in(3, 16), 1)) // 64 bytes just fit
	p := plan(t, b, Options{})
	f := b.seg.Facts()
	require.Equal(t, []int{1, 3, 16}, f.Dims)
	for _, c := range []struct {
		dims []int
		want bool
	}{
		{[]int{1, 3, 16}, true}, {[]int{1, 1000, 16}, true}, {[]int{1, 3, 2}, true}, {[]int{1, 3, 0}, true}, {[]int{1, 3, 17}, false},
	} {
		f.Dims = c.dims
		require.Equal(t, c.want, p.Holds(f), "%v", c.dims)
	}
}

func TestReshapeGuards(t *testing.T) {
	// An input that is reshaped where it lies.
	alias := func(views ...fuser.View) (*fuser.Graph, *Segment, []Block) {
		b := &builder{}
		b.shape(ir.Reshape, b.in(4, 6), 24)
		seg := b.done()
		w, err := newWork(seg, Options{})
		require.NoError(t, err)
		w.settle()
		return new(Planner).graph(w), seg, []Block{{Optimization: &fuser.Optimization{Aliases: []fuser.Alias{{Tensor: 1, Of: 0, Views: views}}}}}
	}
	flat := fuser.View{Kind: fuser.ViewReshape, Shape: []fuser.Dim{3}}
	guards := reshapeGuards(alias(flat))
	require.Len(t, guards, 1)
	layout := func(strides ...int) []codegen.Layout {
		return []codegen.Layout{{Shape: ir.Shape{4, 6}, Strides: strides}, {}}
	}
	dims := []int{1, 4, 6, 24}
	require.True(t, guards[0].Holds(dims, layout(6, 1)))
	require.True(t, guards[0].Holds(dims, layout(12, 2)), "evenly spaced")
	require.False(t, guards[0].Holds(dims, layout(8, 1)), "padded rows")
	require.False(t, guards[0].Holds(dims, layout(1, 4)), "a transpose")
	small := layout(1, 4)
	small[0].Shape = ir.Shape{1, 6}
	require.True(t, guards[0].Holds([]int{1, 1, 6, 6}, small), "one row has no order")

	unit := fuser.View{Kind: fuser.ViewReshape, Shape: []fuser.Dim{1, 0, 2}}
	require.Empty(t, reshapeGuards(alias(unit)), "an axis of length 1 always fits")
}

// A tensor the plan itself stores lies dense; only what is permuted, sliced or
// broadcast before a reshape can fail.
func TestReshapeGuardsOfStoredTensors(t *testing.T) {
	b := &builder{}
	x := b.op(ir.Neg, b.in(4, 6))
	b.rows(x, 0, 3)
	seg := b.done()
	w, err := newWork(seg, Options{})
	require.NoError(t, err)
	w.settle()
	guards := func(views ...fuser.View) []Guard {
		return reshapeGuards(new(Planner).graph(w), seg, []Block{{Optimization: &fuser.Optimization{Aliases: []fuser.Alias{{Tensor: 2, Of: x, Views: views}}}}})
	}
	dims := seg.Dims // 1 4 6 3
	require.Empty(t, guards(fuser.View{Kind: fuser.ViewReshape, Shape: []fuser.Dim{2, 1}}))
	slice := fuser.View{Kind: fuser.ViewSlice, Op: 1}
	g := guards(slice, fuser.View{Kind: fuser.ViewReshape, Shape: []fuser.Dim{2, 3}})
	require.Len(t, g, 1)
	require.True(t, g[0].Holds(dims, make([]codegen.Layout, 3)))
	require.True(t, g[0].Holds([]int{1, 8, 6, 3}, make([]codegen.Layout, 3)), "rows of a dense tensor lie dense")
	g = guards(fuser.View{Kind: fuser.ViewPermute, Axes: []int{1, 0}}, fuser.View{Kind: fuser.ViewReshape, Shape: []fuser.Dim{1, 2}})
	require.Len(t, g, 1)
	require.False(t, g[0].Holds([]int{1, 8, 6, 3}, make([]codegen.Layout, 3)))
}

// Guards of a call know the lengths it derives: a head axis split in groups.
func TestReshapeGuardsOfDerivedLengths(t *testing.T) {
	b := &builder{}
	q := b.in(1, 4, 3, 2)
	b.asked(b.scalar(ir.Attention, 0.7, q, b.in(1, 2, 5, 2), b.in(1, 2, 5, 2)))
	p := throughFusers(t, b)
	guards := 0
	for i := range p.Guards {
		if p.Guards[i].Name == GuardReshapeStrided {
			guards++
		}
	}
	require.Positive(t, guards)
	f := b.seg.Facts()
	require.True(t, p.Holds(f))
	f.Layouts[q].Strides = []int{48, 12, 4, 2} // apart, but evenly
	require.True(t, p.Holds(f))
}

// A value that is written to a slice of a Var goes through a reshape of that
// slice, at whatever lengths.
func TestReshapeGuardsOfWrittenSlices(t *testing.T) {
	b := &builder{}
	v := b.variable(4, 6)
	x := b.shape(ir.Reshape, b.op(ir.Exp, b.in(12)), 2, 6)
	b.setRows(v, x, 1, 3)
	p := throughFusers(t, b)
	require.Len(t, kernels(p), 1, p.Format(&b.seg))
	i := slices.IndexFunc(p.Guards, func(g Guard) bool { return g.Name == GuardReshapeStrided })
	require.GreaterOrEqual(t, i, 0)
	f := b.seg.Facts()
	require.Equal(t, []int{1, 4, 6, 12, 2}, f.Dims)
	require.True(t, p.Guards[i].Holds(f.Dims, f.Layouts))
	require.True(t, p.Guards[i].Holds([]int{1, 5, 8, 16, 2}, make([]codegen.Layout, len(f.Layouts))))
}

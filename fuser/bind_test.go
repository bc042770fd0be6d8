package fuser

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/internal/race"
	"github.com/sinter-ml/sinter/ir"
)

// The strides of a reshape are those codegen.Layout.Reshape gives, and missing
// where it gives none.
func TestReshapeStrides(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	expressed := 0
	for range 20000 {
		rank := r.IntN(5)
		from := codegen.Layout{Shape: make(ir.Shape, rank), Strides: make([]int, rank)}
		stride := 1
		for i := rank - 1; i >= 0; i-- {
			from.Shape[i] = 1 + r.IntN(4)
			if r.IntN(40) == 0 {
				from.Shape[i] = 0
			}
			from.Strides[i] = stride
			switch r.IntN(6) {
			case 0:
				stride *= 2 * max(from.Shape[i], 1) // a gap
			case 1:
				from.Strides[i] = 0
			default:
				stride *= max(from.Shape[i], 1)
			}
		}
		if r.IntN(4) == 0 {
			perm := r.Perm(rank)
			from = from.Permute(perm)
		}
		n := from.Shape.NumElements()
		to := ir.Shape{}
		for m := n; m > 1; {
			d := 1 + r.IntN(m)
			for m%d != 0 {
				d--
			}
			to = append(to, d)
			m /= d
		}
		if n == 0 {
			to = append(to, 0, 3)
		}
		want, ok := from.Reshape(to)
		got := make([]int, len(to))
		require.Equal(t, ok, stridesOf(got, from.Shape, from.Strides, to), "%v to %v", from, to)
		if !ok || n == 0 {
			continue
		}
		expressed++
		for i, d := range to {
			if d != 1 {
				require.Equal(t, want.Strides[i], got[i], "%v to %v, axis %d", from, to, i)
			}
		}
	}
	require.Greater(t, expressed, 5000)
	require.False(t, stridesOf(make([]int, 1), []int{2, 3}, []int{3, 1}, []int{5}), "another number of elements")
}

func TestViewLayoutIsCodegens(t *testing.T) {
	ops := []ir.Operation{{Ranges: []ir.Range{{Start: 1, Len: 2, Step: 1}, {Start: 3, Len: 2, Step: -2}}}}
	dims := []int{1, 3, 4, 2}
	base := codegen.Contiguous(ir.Shape{3, 4})
	for _, c := range []struct {
		view View
		want codegen.Layout
	}{
		{View{Kind: ViewPermute, Axes: []int{1, 0}}, base.Permute([]int{1, 0})},
		{View{Kind: ViewFlip, Axes: []int{0}}, base.Flip([]int{0})},
		{View{Kind: ViewSlice, Op: 0}, base.Slice(ops[0].Ranges)},
		{View{Kind: ViewExpand, Shape: []Dim{3, 1, 2}}, base.Expand(ir.Shape{2, 3, 4})},
	} {
		got, err := ViewLayout(0, base, []View{c.view}, dims, ops)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%v", c.view)
	}
	_, err := ViewLayout(7, base.Permute([]int{1, 0}), []View{{Kind: ViewReshape, Shape: []Dim{3, 1, 3}}}, dims, ops)
	var strided *ReshapeError
	require.ErrorAs(t, err, &strided)
	require.Equal(t, ir.TensorID(7), strided.Tensor)
	require.Equal(t, ir.Shape{2, 3, 2}, strided.Shape)
	require.ErrorContains(t, err, string(RuleReshapeStrided))
}

func TestDerivedLengths(t *testing.T) {
	c := &Call{Derived: []Derived{{Factor: 3, Num: unit, Den: unit}, {Factor: 1, Num: 1, Den: 2}}}
	require.Equal(t, 3, c.Length(-1, []int{1, 12, 4}))
	require.Equal(t, 3, c.Length(-2, []int{1, 12, 4}))
	require.Equal(t, 0, c.Length(-2, []int{1, 0, 0}))
	require.Equal(t, 12, c.Length(1, []int{1, 12, 4}))
}

// Binding again allocates nothing.
func TestBindAllocatesNothing(t *testing.T) {
	p := newProgram(t)
	x := p.op(ir.Reshape, p.op(ir.Add, p.f32(4, 6), p.f32(6)), shape(4, 2, 3))
	p.op(ir.Permute, p.op(ir.Add, x, p.f32(2, 3)), axes(1, 2, 0))
	o := p.fuse("elementwise")
	m := newMachine(p)
	require.NoError(t, m.run(o))
	layout := func(t ir.TensorID) codegen.Layout { return m.tensors[t].layout }
	var l codegen.Launch
	bind := func() {
		if err := Bind(&o.Calls[0], p.g.Dims, p.g.Ops, layout, &l); err != nil {
			panic(err)
		}
	}
	bind()
	first := l.Clone()
	if !race.Enabled {
		require.Zero(t, int(testing.AllocsPerRun(100, bind)))
	}
	require.Equal(t, first, l.Clone())
}

// Paths in normal form are equal exactly if they walk a tensor alike.
func TestPathNormalForm(t *testing.T) {
	a, b, c := []Dim{1, 2}, []Dim{2, 1}, []Dim{1, 0, 2}
	perm := func(src, dst []Dim) step { return step{kind: stepMap, src: src, dst: dst, axes: []int{1, 0}} }
	re := func(src, dst []Dim) step { return step{kind: stepReshape, src: src, dst: dst} }
	flip := func(s []Dim, axes ...int) step { return step{kind: stepFlip, src: s, dst: s, axes: axes} }
	flat := []Dim{3}
	whole := identity(a)
	for name, p := range map[string]path{
		"permute twice":           whole.prepend(perm(b, a)).prepend(perm(a, b)),
		"reshape there and back":  whole.prepend(re(flat, a)).prepend(re(a, flat)),
		"unit axes":               whole.prepend(re(c, a)).prepend(re(a, c)),
		"flip twice":              whole.prepend(flip(a, 0)).prepend(flip(a, 0)),
		"expand to itself":        whole.expand(a, a),
		"unit axes and a reshape": whole.prepend(re(flat, a)).prepend(re(c, flat)).prepend(re(a, c)),
		"permute around a reshape": whole.prepend(re(flat, a)).prepend(re(a, flat)).
			prepend(perm(b, a)).prepend(perm(a, b)),
	} {
		require.True(t, p.equal(whole), "%s: %v", name, p)
	}
	require.False(t, whole.prepend(perm(b, a)).equal(whole))
	require.False(t, whole.prepend(flip(a, 0)).equal(whole))
	slices1, slices2 := step{kind: stepSlice, src: a, dst: a, op: 1}, step{kind: stepSlice, src: a, dst: a, op: 2}
	require.False(t, whole.prepend(slices1).equal(whole.prepend(slices2)))

	row := identity(a).expand([]Dim{1, 0}, a)
	require.True(t, row.equal(identity(a).expand([]Dim{1, 0}, a)))
	require.Equal(t, []int{0, -1}, row.axes())
	back, ok := whole.prepend(re(flat, a)).inverse(flat)
	require.True(t, ok)
	require.True(t, back.equal(identity(flat).prepend(re(a, flat))))
	_, ok = row.inverse([]Dim{1, 0})
	require.False(t, ok)

	// A lifted axis comes along behind the others.
	lifted, ok := whole.prepend(re(flat, a)).lift(5)
	require.True(t, ok)
	require.Equal(t, []int{0, 1, 2}, lifted.axes())
	require.Equal(t, []View{{Kind: ViewReshape, Shape: []Dim{1, 2, 5}}}, lifted.views())
	_, ok = whole.prepend(slices1).lift(5)
	require.False(t, ok)
	require.False(t, whole.equal(row))
}

package optimize

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// TestReplace: an extra pass drops what it says equals an operand, and the plan
// holds only where it says so again.
func TestReplace(t *testing.T) {
	one := Replace("mul-one", "x·1 is x", func(op *ir.Operation) (int, bool) {
		return 0, op.Kind == ir.Mul && len(op.Scalars) == 1 && op.Scalars[0].Float32() == 1
	})
	src := func(c float32) *Segment {
		b := &builder{}
		b.asked(b.op(ir.Exp, b.scalar(ir.Mul, c, b.in(4, 8))))
		return b.done()
	}
	seg := src(1)
	p := New(fuser.Default(), cpuProfile, Options{Check: true, Extra: []Pass{one}})
	plan, err := p.Plan(seg)
	require.NoError(t, err)
	require.Len(t, plan.Blocks, 1)
	require.Equal(t, []int{1}, plan.Blocks[0].Ops)
	require.Equal(t, "mul-one", plan.Log.Decisions[0].Rule)
	require.True(t, plan.Holds(seg.Facts()))
	other := src(2)
	require.False(t, plan.Holds(other.Facts()))
	plan, err = p.Plan(other)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, plan.Blocks[0].Ops)
	require.False(t, plan.Holds(seg.Facts()))

	// What it says of another shape or dtype, or of no operand, does not count.
	for _, k := range []int{-1, 0, 1} {
		wrong := Replace("wrong", "", func(op *ir.Operation) (int, bool) { return k, op.Kind != ir.Exp })
		p := New(nil, cpuProfile, Options{Check: true, Extra: []Pass{wrong}})
		b := &builder{}
		b.asked(b.axes(ir.Sum, b.cast(b.in(4, 8), ir.BF16), 1))
		plan, err := p.Plan(b.done())
		require.NoError(t, err)
		require.Len(t, plan.Blocks, 2)
	}
}

// TestSkip: a rewrite left out is as if its pass did not see the operation.
func TestSkip(t *testing.T) {
	b := &builder{}
	x := b.axes(ir.Permute, b.axes(ir.Permute, b.in(4, 8), 1, 0), 1, 0)
	b.asked(b.cast(b.op(ir.Add, b.op(ir.Exp, x), b.op(ir.Exp, x)), ir.F32))
	seg := b.done()
	var asked []string
	rewrites := func(limit int) (n int) {
		asked = nil
		p := New(fuser.Default(), cpuProfile, Options{Check: true, Skip: func(pass string, op *ir.Operation) bool {
			asked = append(asked, pass+" "+op.Kind.String())
			return len(asked) > limit
		}})
		plan, err := p.Plan(seg)
		require.NoError(t, err)
		for _, d := range plan.Log.Decisions {
			if d.Event == EventRewrite && d.Rule != "dead-code" {
				n++
			}
		}
		return n
	}
	all := rewrites(100)
	want := append([]string(nil), asked...)
	require.Equal(t, []string{"fold-view Permute", "fold-view Permute", "fold-cast Cast", "cse Exp"}, want)
	for limit := range all + 1 {
		require.Equal(t, limit, rewrites(limit))
		require.Equal(t, want[:limit], asked[:limit], "the same ones come first")
	}
}

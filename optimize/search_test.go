package optimize

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

func plan(t *testing.T, b *builder, opts Options) *Plan {
	t.Helper()
	seg := b.done()
	p, err := fakePlanner(fakes(), opts).Plan(seg)
	require.NoError(t, err)
	require.NoError(t, Check(p, seg), p.Format(seg))
	require.NoError(t, runModel(p, seg), p.Format(seg))
	return p
}

// blockOf returns the block that computes an operation.
func blockOf(t *testing.T, p *Plan, op int) int {
	t.Helper()
	for i, b := range p.Blocks {
		for _, x := range b.Ops {
			if x == op && len(b.Calls) > 0 {
				return i
			}
		}
	}
	t.Fatalf("no block computes %d", op)
	return -1
}

// encoder records transformer-like layers: attention from primitives, residual
// sums and a feed-forward part, all reading one mask.
func encoder(layers int) *Segment {
	const tokens, width = 8, 8
	b := &builder{}
	mask := b.scalar(ir.Mul, 2, b.in(tokens, tokens))
	x := b.in(tokens, width)
	linear := func(x ir.TensorID) ir.TensorID {
		return b.op(ir.Add, b.op(ir.MatMul, x, b.in(width, width)), b.in(1, width))
	}
	for range layers {
		q, k, v := linear(x), linear(x), linear(x)
		s := b.op(ir.Add, b.op(ir.MatMul, q, b.axes(ir.Permute, k, 1, 0)), mask)
		s = b.op(ir.Mul, s, b.axes(ir.Sum, b.op(ir.Neg, s), 1))
		x = b.op(ir.Add, x, linear(b.op(ir.MatMul, s, v)))
		h := b.op(ir.Neg, b.op(ir.Mul, x, b.axes(ir.Sum, b.op(ir.Mul, x, x), 1)))
		x = b.op(ir.Add, x, linear(b.op(ir.Neg, linear(h))))
	}
	b.asked(x)
	return b.done()
}

func TestExploringGrowsLinearly(t *testing.T) {
	p := fakePlanner(fakes(), Options{})
	type cost struct{ steps, offers, launches int }
	measure := func(layers int) cost {
		seg := encoder(layers)
		plan, err := p.Plan(seg)
		require.NoError(t, err)
		require.Less(t, len(plan.Blocks), len(seg.Ops)*2/3, "layers fuse")
		return cost{plan.Log.Steps, plan.Log.Offers, len(plan.Blocks)}
	}
	last := measure(10)
	for _, layers := range []int{20, 40, 80} {
		now := measure(layers)
		require.LessOrEqual(t, float64(now.steps), 2.2*float64(last.steps), "%d layers", layers)
		require.LessOrEqual(t, float64(now.offers), 2.1*float64(last.offers), "%d layers", layers)
		require.InDelta(t, 2, float64(now.launches)/float64(last.launches), 0.1, "%d layers", layers)
		last = now
	}
}

func TestPathThatLeavesTheBlock(t *testing.T) {
	b := &builder{}
	x := b.in(4, 4)
	a := b.op(ir.Neg, x)                     // 0
	m := b.op(ir.MatMul, a, b.in(4, 4))      // 1: reads the block of 0
	n := b.op(ir.MatMul, m, b.in(4, 4))      // 2
	y := b.op(ir.Add, a, b.op(ir.Mul, n, n)) // 3: on 2, 4: reads both
	b.asked(y)
	p := plan(t, b, Options{})
	require.NotEqual(t, blockOf(t, p, 0), blockOf(t, p, 4))
	why := p.Log.Why(0, 4)
	require.Condition(t, func() bool {
		for _, d := range why {
			if d.Rule == string(RuleCycle) {
				return true
			}
		}
		return false
	}, "%v", why)
	require.Equal(t, blockOf(t, p, 2), blockOf(t, p, 4), "the epilogue of the last product")
}

func TestReadersRunBeforeTheEffect(t *testing.T) {
	b := &builder{}
	v := b.variable(4, 4)
	other := b.in(4, 4) // another name for the Var's storage
	b.seg.Tensors[other].Buffer = b.seg.Tensors[v].Buffer
	val := b.in(4, 4)
	w := b.axes(ir.Permute, v, 1, 0)                          // 0
	r1 := b.op(ir.MatMul, w, val)                             // 1: through a view
	r2 := b.op(ir.MatMul, other, val)                         // 2: through the alias
	n1 := b.setRows(v, b.rows(b.op(ir.Neg, val), 0, 2), 0, 2) // 3, 4, 5
	r3 := b.op(ir.MatMul, n1, val)                            // 6: reads the new version
	r4 := b.op(ir.MatMul, v, val)                             // 7: late reader of the old version
	n2 := b.setRows(n1, b.rows(b.op(ir.Neg, r1), 0, 2), 1, 3) // 8, 9, 10
	b.asked(r1, r2, r3, r4, n2)
	p := plan(t, b, Options{})
	e1, e2 := blockOf(t, p, 5), blockOf(t, p, 10)
	require.Less(t, blockOf(t, p, 1), e1)
	require.Less(t, blockOf(t, p, 2), e1)
	require.Less(t, e1, blockOf(t, p, 6))
	require.Less(t, blockOf(t, p, 6), e2)
	require.NotEqual(t, e1, blockOf(t, p, 7))
}

func TestStepInPlaceIsOneBlock(t *testing.T) {
	b := &builder{}
	v, g := b.variable(4, 4), b.in(4, 4)
	n := b.set(v, b.op(ir.Add, v, b.scalar(ir.Mul, -0.5, g)), true)
	b.dead(n-1, n-2)
	p := plan(t, b, Options{})
	require.Len(t, p.Blocks, 1)
	require.Equal(t, []int{0, 1, 2}, p.Blocks[0].Ops)
	require.Equal(t, []fuser.InPlace{{Out: n, In: v}}, p.Blocks[0].InPlace)
}

// A version that was written over must not be read in the effect's block: it
// is rebuilt before the block runs.
func TestLateReaderStaysOutOfTheEffectsBlock(t *testing.T) {
	b := &builder{}
	v, g := b.variable(4, 4), b.in(4, 4)
	n := b.setRows(v, b.rows(g, 0, 2), 0, 2) // 0, 1
	s := b.set(n, b.op(ir.Neg, g), false)    // 2, 3
	b.asked(b.op(ir.Add, s, v))              // 4
	p := plan(t, b, Options{Force: true})
	require.NotEqual(t, blockOf(t, p, 1), blockOf(t, p, 4))
	require.Equal(t, blockOf(t, p, 3), blockOf(t, p, 4))
}

func TestViewsJoinTheirProducerOrConsumers(t *testing.T) {
	t.Run("stored through", func(t *testing.T) {
		b := &builder{}
		m := b.op(ir.MatMul, b.in(4, 4), b.in(4, 4))              // 0
		y := b.shape(ir.Reshape, b.axes(ir.Permute, m, 1, 0), 16) // 1, 2
		b.dead(m, m+1)
		b.op(ir.Mul, y, y) // 3
		p := plan(t, b, Options{})
		require.Equal(t, []int{0, 1, 2, 3}, p.Blocks[0].Ops)
		require.Len(t, p.Blocks, 1)
	})
	t.Run("read through, by two blocks", func(t *testing.T) {
		b := &builder{}
		x, w := b.in(4, 4), b.in(4, 4)
		wt := b.axes(ir.Permute, w, 1, 0)                             // 0
		b.asked(b.op(ir.Neg, b.op(ir.MatMul, x, wt)))                 // 1, 2
		b.asked(b.scalar(ir.Mul, 2, b.op(ir.MatMul, b.in(4, 4), wt))) // 3, 4
		b.dead(wt)
		p := plan(t, b, Options{})
		require.Equal(t, []int{0, 1, 2}, p.Blocks[0].Ops)
		require.Equal(t, []int{0, 3, 4}, p.Blocks[1].Ops)
		require.Equal(t, Dropped, p.Fates[wt], "a view of an input is never stored")
	})
	t.Run("an alias when refused", func(t *testing.T) {
		b := &builder{}
		x := b.axes(ir.Permute, b.in(4, 4), 1, 0) // 0
		y := b.axes(ir.Sum, x, 1)                 // 1: rows take no views
		b.asked(y)
		p := plan(t, b, Options{})
		require.Equal(t, []fuser.Alias{{Tensor: x, Of: 0}}, p.Blocks[0].Aliases)
		require.Equal(t, Stored, p.Fates[x])
	})
	t.Run("asked and read through", func(t *testing.T) {
		b := &builder{}
		wt := b.axes(ir.Permute, b.in(4, 4), 1, 0)
		b.asked(wt, b.op(ir.Neg, b.op(ir.MatMul, b.in(4, 4), wt)))
		p := plan(t, b, Options{})
		require.Len(t, p.Blocks, 2)
		require.Len(t, p.Blocks[0].Aliases, 1)
		require.Equal(t, []int{0, 1, 2}, p.Blocks[1].Ops)
	})
}

// A view recorded before the last operation of a block: the block's operations
// are offered again, in recorded order.
func TestViewFromBeforeTheEndOfTheBlock(t *testing.T) {
	b := &builder{}
	a := b.op(ir.Neg, b.in(4, 4))             // 0
	v := b.axes(ir.Permute, a, 1, 0)          // 1
	b.asked(b.op(ir.Add, b.op(ir.Neg, a), v)) // 2, 3
	b.dead(v)
	p := plan(t, b, Options{})
	require.Len(t, p.Blocks, 1)
	require.Equal(t, []int{0, 1, 2, 3}, p.Blocks[0].Ops)
}

// A fuser that promises more but never gets ready does not undo a block.
func TestReadyFusersKeepTheirBlocks(t *testing.T) {
	negs := fakeFactory("negs", func(f *fakeFuser, op *ir.Operation, _ ir.Class) fuser.Verdict {
		f.ready = true
		if op.Kind != ir.Neg {
			return refuse("kind", op)
		}
		return accepted
	})
	b := &builder{}
	x := b.op(ir.Neg, b.op(ir.Neg, b.in(4)))
	b.asked(b.op(ir.Add, x, x))
	seg := b.done()
	p, err := fakePlanner([]fuser.Factory{anything(false), negs}, Options{Check: true}).Plan(seg)
	require.NoError(t, err)
	require.Len(t, p.Blocks, 2)
	require.Equal(t, []int{0, 1}, p.Blocks[0].Ops)
	why := p.Log.Why(1, 2) // refused by one fuser, then by the planner
	require.Equal(t, string(RuleNotReady), why[len(why)-1].Rule)
}

// A fuser may store more than it has to.
func TestFuserThatStoresMore(t *testing.T) {
	factory := fakeMap()
	inner := factory.New
	factory.New = func(g *fuser.Graph, p *fuser.Profile) fuser.Fuser {
		f := inner(g, p).(*fakeFuser)
		f.all = true
		return f
	}
	b := &builder{}
	x := b.op(ir.Neg, b.in(4))
	y := b.op(ir.Neg, x)
	b.asked(b.op(ir.Neg, y))
	b.dead(x)
	seg := b.done()
	p, err := fakePlanner([]fuser.Factory{factory}, Options{Check: true}).Plan(seg)
	require.NoError(t, err)
	require.Len(t, p.Blocks, 1)
	require.Equal(t, Temporary, p.Fates[x])
	require.Equal(t, Stored, p.Fates[y])
	require.Empty(t, p.Recipes)
}

// What only its recipe's size would store stays virtual if the fuser cannot.
func TestFuserThatCannotStore(t *testing.T) {
	factory := fakeMap()
	inner := factory.New
	factory.New = func(g *fuser.Graph, p *fuser.Profile) fuser.Fuser {
		f := inner(g, p).(*fakeFuser)
		f.one = true
		return f
	}
	b := &builder{}
	x := b.op(ir.Add, b.op(ir.Add, b.in(4), b.in(4)), b.op(ir.Add, b.in(4), b.in(4)))
	x = b.op(ir.Add, x, b.in(4)) // a recipe of five times the size
	b.op(ir.Neg, x)
	seg := b.done()
	p, err := fakePlanner([]fuser.Factory{factory}, Options{Check: true}).Plan(seg)
	require.NoError(t, err)
	require.Len(t, p.Blocks, 1)
	require.Equal(t, Virtual, p.Fates[x])
	require.Len(t, p.Recipes[x], 4)
}

func TestBlocksMerge(t *testing.T) {
	b := &builder{}
	l := b.op(ir.Neg, b.op(ir.Neg, b.in(4, 4)))
	r := b.op(ir.Neg, b.op(ir.Neg, b.in(4, 4)))
	b.asked(b.op(ir.Add, l, r))
	p := plan(t, b, Options{})
	require.Len(t, p.Blocks, 1)
	require.Equal(t, []int{0, 1, 2, 3, 4}, p.Blocks[0].Ops)
	alone, err := p.Blocks[0].Fallback()
	require.NoError(t, err)
	require.Len(t, alone, 5)
}

// A slice whose start is computed waits for it, whoever reads the slice.
func TestSliceWithComputedStart(t *testing.T) {
	b := &builder{}
	x := b.op(ir.Neg, b.in(4)) // 0
	// The start depends on x through another block.
	at := b.shape(ir.Reshape, b.axes(ir.ArgMax, x, 0))                                               // 1, 2
	y := b.add(ir.Operation{Kind: ir.Slice, Ranges: []ir.Range{{Len: 1, Step: 1, Input: 1}}}, x, at) // 3
	b.asked(b.op(ir.Add, x, y))                                                                      // 4
	seg := b.done()
	for _, force := range []bool{false, true} {
		for _, p := range []*Planner{
			fakePlanner([]fuser.Factory{fakeMap()}, Options{Force: force}),
			fakePlanner(fakes(), Options{Force: force}),
			New(fuser.Default(), cpuProfile, Options{Force: force}),
		} {
			got, err := p.Plan(seg)
			require.NoError(t, err)
			require.NoError(t, Check(got, seg))
		}
	}
}

func TestFusionOff(t *testing.T) {
	seg := encoder(1)
	p, err := fakePlanner(nil, Options{}).Plan(seg)
	require.NoError(t, err)
	require.NoError(t, Check(p, seg))
	require.Len(t, p.Blocks, len(seg.Ops))
	require.Empty(t, p.Recipes)
	for _, b := range p.Blocks {
		require.Len(t, b.Ops, 1)
		alone, err := b.Fallback()
		require.NoError(t, err)
		require.Nil(t, alone)
	}
}

func TestFuserThatCannotFinish(t *testing.T) {
	factories := fakes()
	for i := range factories {
		inner := factories[i].New
		factories[i].New = func(g *fuser.Graph, p *fuser.Profile) fuser.Fuser {
			f := inner(g, p).(*fakeFuser)
			f.fail = true
			return f
		}
	}
	seg := encoder(1)
	p, err := fakePlanner(factories, Options{}).Plan(seg)
	require.NoError(t, err)
	require.NoError(t, Check(p, seg))
	require.NoError(t, runModel(p, seg))
	failed := 0
	for _, d := range p.Log.Decisions {
		if d.Event == EventFailed {
			failed++
		}
	}
	require.Positive(t, failed)
	for _, b := range p.Blocks {
		require.Contains(t, []string{"single", "alias"}, b.Fuser)
	}
}

func TestMalformedSegments(t *testing.T) {
	b := &builder{}
	b.op(ir.Neg, b.op(ir.Neg, b.in(2)))
	seg := b.done()
	seg.Ops[0], seg.Ops[1] = seg.Ops[1], seg.Ops[0]
	_, err := fakePlanner(fakes(), Options{}).Plan(seg)
	require.ErrorContains(t, err, "reads t1 before it is made")
	seg.Ops[0] = seg.Ops[1]
	_, err = fakePlanner(fakes(), Options{}).Plan(seg)
	require.ErrorContains(t, err, "exists already")
}

package optimize

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// throughFusers plans a segment with the library's fusers. What is not asked
// for is dead.
func throughFusers(t *testing.T, b *builder) *Plan {
	t.Helper()
	for id := range b.seg.Tensors {
		info := &b.seg.Tensors[id]
		info.Dead = !info.Input && !info.Asked
	}
	p, err := New(fuser.Default(), cpuProfile, Options{Check: true}).Plan(b.done())
	require.NoError(t, err)
	return p
}

// kernels returns the operations of each block that has a launch.
func kernels(p *Plan) [][]int {
	var out [][]int
	for _, b := range p.Blocks {
		if len(b.Calls) > 0 {
			out = append(out, b.Ops)
		}
	}
	return out
}

// embedded records the sum of a word's, a type's and a position's vector: rows
// of large tables.
func embedded(b *builder) ir.TensorID {
	const width = 384
	ids := b.typed(ir.I64, 1, 11)
	words := b.op(ir.Embedding, b.variable(30522, width), ids)
	types := b.rows(b.variable(2, width), 0, 1)
	positions := b.rows(b.variable(512, width), 0, 11)
	return b.op(ir.Add, b.op(ir.Add, words, types), positions)
}

// Sums are taken by the norm behind them, rows of tables by the sums.
func TestSumsBeforeNorm(t *testing.T) {
	for _, stored := range []bool{false, true} {
		b := &builder{}
		x := embedded(b)
		b.asked(b.scalar(ir.LayerNorm, 1e-5, x, b.variable(384), b.variable(384)))
		if stored {
			b.asked(x)
		}
		p := throughFusers(t, b)
		require.Equal(t, [][]int{{0, 1, 2, 3, 4, 5}}, kernels(p), p.Format(&b.seg))
		require.Equal(t, "reduce-broadcast", p.Blocks[0].Fuser)
		require.Equal(t, stored, slices.Contains(p.Blocks[0].Stored, x))
	}
	b := &builder{} // what reads the sum again need not be of the block
	x := b.op(ir.Add, b.op(ir.Add, b.in(64, 32), b.in(64, 32)), b.in(64, 32))
	h := b.axes(ir.Softmax, x, 1)
	b.asked(b.op(ir.Add, b.op(ir.MatMul, h, b.in(32, 32)), x))
	p := throughFusers(t, b)
	require.Equal(t, [][]int{{0, 1, 2}, {3, 4}}, kernels(p), p.Format(&b.seg))
	require.Equal(t, []ir.TensorID{x, h}, p.Blocks[0].Stored)
}

// Blocks that share nothing until one operation reads both become one, in
// whatever order they were recorded.
func TestIndependentBlocksMerge(t *testing.T) {
	maps := func(b *builder) ir.TensorID { return b.op(ir.Neg, b.op(ir.Exp, b.in(16, 32))) }
	product := func(b *builder) ir.TensorID { return b.op(ir.Relu, b.op(ir.MatMul, b.in(16, 8), b.in(8, 32))) }
	sums := func(b *builder) ir.TensorID { return b.axes(ir.Softmax, b.op(ir.Exp, b.in(16, 32)), 1) }
	for name, parts := range map[string][2]func(b *builder) ir.TensorID{
		"maps":                 {maps, maps},
		"product before a map": {product, maps},
		"map before a product": {maps, product},
		"rows before a map":    {sums, maps},
		"map before rows":      {maps, sums},
	} {
		t.Run(name, func(t *testing.T) {
			b := &builder{}
			x := parts[0](b)
			b.asked(b.op(ir.Add, x, parts[1](b)))
			p := throughFusers(t, b)
			require.Len(t, kernels(p), 1, p.Format(&b.seg))
			require.Equal(t, []int{0, 1, 2, 3, 4}, p.Blocks[0].Ops)
		})
	}
	b := &builder{} // two products stay apart, and the maps go with one
	b.asked(b.op(ir.Add, product(b), product(b)))
	require.Len(t, kernels(throughFusers(t, b)), 2)
}

// masked records layers that hide positions behind one fill value, recorded
// once or in each layer.
func masked(b *builder, layers int, once bool) {
	x := b.in(16, 32)
	mask := b.typed(ir.Bool, 16, 32)
	var fill ir.TensorID
	for i := range layers {
		if i == 0 || !once {
			fill = b.full(-1e9)
		}
		x = b.op(ir.MatMul, b.axes(ir.Softmax, b.op(ir.Where, mask, x, fill), 1), b.variable(32, 32))
	}
	b.asked(x)
}

// A created tensor is made where it is read, in however many blocks, and never
// stored.
func TestCreatedTensorsAreMadeWhereRead(t *testing.T) {
	const layers = 6
	for _, once := range []bool{false, true} {
		b := &builder{}
		masked(b, layers, once)
		p := throughFusers(t, b)
		// A layer is its product with the next layer's Where, and a softmax.
		require.Len(t, kernels(p), 2*layers, p.Format(&b.seg))
		saved := 0.0
		for _, blk := range p.Blocks {
			require.NotEqual(t, "alias", blk.Fuser)
			require.InDelta(t, blk.Score, blk.Saving.Score(&cpuProfile), 1e-6)
			saved += blk.Saving.Launches
		}
		alone, err := New(nil, cpuProfile, Options{}).Plan(&b.seg)
		require.NoError(t, err)
		require.InDelta(t, len(kernels(alone))-len(kernels(p)), saved, 1e-6, "the parts of the one launch add up")
		for _, op := range b.seg.Ops {
			if op.Kind == ir.Full {
				require.Equal(t, Dropped, p.Fates[op.Outputs[0].ID])
			}
		}
	}
}

func TestCreatedTensorsInMemory(t *testing.T) {
	b := &builder{} // picked elements are read from memory
	f := b.full(2, 8, 8)
	m := b.op(ir.Embedding, f, b.typed(ir.I64, 8))
	b.asked(m, b.op(ir.Mul, b.op(ir.MatMul, m, b.in(8, 8)), f))
	p := throughFusers(t, b)
	require.Equal(t, [][]int{{0}, {1}, {0, 2, 3}}, kernels(p), p.Format(&b.seg))
	require.Equal(t, Stored, p.Fates[f])
	alone, err := p.Blocks[0].Fallback()
	require.NoError(t, err)
	require.Empty(t, alone)
	require.Equal(t, []Decision{{Event: EventFused, Op: 3, Block: 2}}, p.Log.Why(0, 3))

	b = &builder{} // what is asked for is made once and stored by its reader
	f = b.full(2, 8, 8)
	b.asked(f, b.op(ir.Exp, f))
	p = throughFusers(t, b)
	require.Equal(t, [][]int{{0, 1}}, kernels(p))
	require.Equal(t, []ir.TensorID{f, f + 1}, p.Blocks[0].Stored)

	b = &builder{} // a living one is a recipe of nothing
	f = b.full(2, 8, 8)
	y := b.op(ir.Exp, f)
	b.asked(y)
	p, err = New(fuser.Default(), cpuProfile, Options{Check: true}).Plan(b.done())
	require.NoError(t, err)
	require.Equal(t, [][]int{{0, 1}}, kernels(p))
	require.Equal(t, map[ir.TensorID][]int{f: {0}}, p.Recipes)

	b = &builder{} // a view of one that is asked for needs it, other readers do not
	f = b.full(2, 1, 8)
	v := b.shape(ir.Expand, f, 8, 8)
	b.asked(v, b.op(ir.Add, b.in(8, 8), v))
	p = throughFusers(t, b)
	require.Equal(t, [][]int{{0, 1, 2}}, kernels(p), "in one launch: %s", p.Format(&b.seg))
	require.Len(t, p.Blocks[0].Calls[0].Parts, 2)
}

// A fusion that loses is not made up for by a created tensor, which is made
// anew without it as well.
func TestCreatedTensorsPayForNothing(t *testing.T) {
	for rows, want := range map[int]int{3000: 1, 4500: 2} { // three operations for each row cost 1,800 and 2,700 ns, a launch 2,000
		b := &builder{}
		x := b.in(2)
		for range 3 {
			x = b.op(ir.Gelu, x)
		}
		b.asked(b.op(ir.Where, b.typed(ir.Bool, rows, 2), x, b.full(0)))
		p := throughFusers(t, b)
		require.Len(t, kernels(p), want, p.Format(&b.seg))
		if want == 2 {
			why := p.Log.Why(2, 4) // fusers refuse, and of the one that does not, the planner
			require.Equal(t, string(RuleNoGain), why[len(why)-1].Rule)
			require.Equal(t, []int{3, 4}, p.Blocks[1].Ops)
		}
	}
}

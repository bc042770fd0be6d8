package optimize

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// rewrites returns how often each pass changed something.
func rewrites(p *Plan) map[string]int {
	out := map[string]int{}
	for _, d := range p.Log.Decisions {
		if d.Event == EventRewrite {
			out[d.Rule]++
		}
	}
	return out
}

func TestDeadCode(t *testing.T) {
	build := func() *builder {
		b := &builder{}
		v := b.variable(4)
		x := b.scalar(ir.Mul, 2, v) // 0: needed by the effect alone
		b.set(v, x, false)          // 1
		y := b.op(ir.Neg, x)        // 2: dead
		z := b.op(ir.Neg, y)        // 3: dead, the only reader of 2
		u := b.add(ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: ir.Shape{4}, DType: ir.F32},
			Scalars: []ir.Scalar{ir.I64Scalar(1), ir.I64Scalar(0), ir.F32Scalar(0), ir.F32Scalar(1)}}) // 4: a dead draw
		b.dead(x, y, z, u)
		return b
	}
	p := plan(t, build(), Options{})
	require.Equal(t, map[string]int{"dead-code": 3}, rewrites(p))
	require.Len(t, p.Blocks, 1)
	require.Equal(t, []int{0, 1}, p.Blocks[0].Ops)

	p = plan(t, build(), Options{Disable: []string{"dead-code"}})
	require.Empty(t, rewrites(p))
	ops := 0
	for _, b := range p.Blocks {
		ops += len(b.Ops)
	}
	require.Equal(t, 5, ops)
}

func TestCommonSubexpressions(t *testing.T) {
	type result struct{ merged, guards int }
	cases := map[string]struct {
		build func(b *builder) (x, y ir.TensorID)
		want  result
	}{
		"equal": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v, w := b.in(4), b.in(4)
			return b.op(ir.Add, v, w), b.op(ir.Add, v, w)
		}, result{1, 0}},
		"other operands": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v, w := b.in(4), b.in(4)
			return b.op(ir.Add, v, w), b.op(ir.Add, w, v)
		}, result{0, 0}},
		"equal scalars": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v := b.in(4)
			return b.scalar(ir.Mul, 3, v), b.scalar(ir.Mul, 3, v)
		}, result{1, 1}},
		"other scalars": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v := b.in(4)
			return b.scalar(ir.Mul, 3, v), b.scalar(ir.Mul, 2, v)
		}, result{0, 0}},
		"zeros of both signs": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v := b.in(4)
			zero := b.scalar(ir.Mul, 0, v)
			op := b.seg.Ops[0]
			op.Scalars = []ir.Scalar{{DType: ir.F32, Bits: 1 << 31}}
			op.Inputs, op.Outputs = nil, nil
			return zero, b.add(op, v)
		}, result{0, 0}},
		"equal starts": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v := b.in(4)
			return b.op(ir.Neg, b.rows(v, 1, 3)), b.op(ir.Neg, b.rows(v, 1, 3))
		}, result{2, 1}},
		"other attributes": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v := b.in(4, 4)
			return b.axes(ir.Sum, v, 0), b.axes(ir.Sum, v, 1)
		}, result{0, 0}},
		"other counts": {func(b *builder) (ir.TensorID, ir.TensorID) {
			repeat := func(n int) ir.TensorID {
				return b.add(ir.Operation{Kind: ir.Repeat, Attrs: ir.Attrs{Ints: []int{n, 6 / n}}}, 0)
			}
			b.in(6, 6)
			return repeat(2), repeat(3)
		}, result{0, 0}},
		"other directions": {func(b *builder) (ir.TensorID, ir.TensorID) {
			scan := func(reverse bool) ir.TensorID {
				return b.add(ir.Operation{Kind: ir.CumSum, Attrs: ir.Attrs{Axes: []int{0}, Reverse: reverse}}, 0)
			}
			b.in(4)
			return scan(false), scan(true)
		}, result{0, 0}},
		"exclusive or not": {func(b *builder) (ir.TensorID, ir.TensorID) {
			scan := func(flag bool) ir.TensorID {
				return b.add(ir.Operation{Kind: ir.CumSum, Attrs: ir.Attrs{Axes: []int{0}, Flag: flag}}, 0)
			}
			b.in(4)
			return scan(false), scan(true)
		}, result{0, 0}},
		"other dtypes": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v := b.in(4)
			return b.cast(v, ir.BF16), b.cast(v, ir.I64)
		}, result{0, 0}},
		"draws": {func(b *builder) (ir.TensorID, ir.TensorID) {
			draw := func() ir.TensorID {
				return b.add(ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: ir.Shape{4}, DType: ir.F32},
					Scalars: []ir.Scalar{ir.I64Scalar(1), ir.I64Scalar(0), ir.F32Scalar(0), ir.F32Scalar(1)}})
			}
			return draw(), draw()
		}, result{0, 0}},
		"versions of a Var": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v := b.variable(4)
			x := b.op(ir.Neg, v)
			return x, b.op(ir.Neg, b.set(v, x, false))
		}, result{0, 0}},
		"one version around an effect": {func(b *builder) (ir.TensorID, ir.TensorID) {
			v, w := b.variable(4), b.in(4)
			x := b.op(ir.Neg, v)
			b.set(v, w, false)
			return x, b.op(ir.Neg, v)
		}, result{1, 0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &builder{}
			x, y := c.build(b)
			b.asked(x, y)
			seg := b.done()
			p, err := fakePlanner(fakes(), Options{Check: true}).Plan(seg)
			require.NoError(t, err)
			require.Equal(t, c.want.merged, rewrites(p)["cse"])
			guards := 0
			for _, g := range p.Guards {
				if g.Name == GuardScalarEqual {
					guards++
				}
			}
			require.Equal(t, c.want.guards, guards)
			require.Equal(t, Stored, p.Fates[x])
			require.Equal(t, Stored, p.Fates[y], "asked for, merged or not")
		})
	}
}

func TestMergedTensorsOfEveryFate(t *testing.T) {
	// Both sums are computed once. One of them dead leaves the other alive.
	for _, dead := range []int{0, 1} {
		b := &builder{}
		x := b.in(4)
		pair := []ir.TensorID{b.scalar(ir.Mul, 3, x), b.scalar(ir.Mul, 3, x)}
		z := b.op(ir.Add, pair[0], pair[1])
		b.asked(z)
		b.dead(pair[dead])
		p := plan(t, b, Options{})
		require.Len(t, p.Blocks, 1)
		require.Equal(t, Dropped, p.Fates[pair[dead]])
		require.Equal(t, Virtual, p.Fates[pair[1-dead]])
		require.Equal(t, []int{1 - dead}, p.Recipes[pair[1-dead]])
	}
}

// What stands for a living tensor lives on, though dead itself.
func TestMergedTensorThatCrosses(t *testing.T) {
	b := &builder{}
	x := b.in(4, 4)
	first, second := b.op(ir.Neg, x), b.op(ir.Neg, x)
	b.dead(first)
	b.asked(b.op(ir.MatMul, first, second))
	p := plan(t, b, Options{})
	require.Equal(t, Stored, p.Fates[second])
	require.Equal(t, Stored, p.Fates[first])
	require.Empty(t, p.Recipes)
}

func TestFolding(t *testing.T) {
	cases := map[string]struct {
		build func(b *builder) ir.TensorID
		want  map[string]int
	}{
		"reshape to the same shape": {func(b *builder) ir.TensorID { return b.shape(ir.Reshape, b.in(4, 4), 4, 4) }, map[string]int{"fold-view": 1}},
		"identity permute":          {func(b *builder) ir.TensorID { return b.axes(ir.Permute, b.in(4, 4), 0, 1) }, map[string]int{"fold-view": 1}},
		"permute and back": {func(b *builder) ir.TensorID {
			return b.axes(ir.Permute, b.axes(ir.Permute, b.in(2, 3), 1, 0), 1, 0)
		}, map[string]int{"fold-view": 2}},
		"reshape of a reshape": {func(b *builder) ir.TensorID {
			return b.shape(ir.Reshape, b.shape(ir.Reshape, b.in(4, 4), 16), 2, 8)
		}, map[string]int{"fold-view": 1}},
		"reshape of a permute": {func(b *builder) ir.TensorID {
			return b.shape(ir.Reshape, b.axes(ir.Permute, b.in(4, 4), 1, 0), 16)
		}, map[string]int{}},
		"whole slice":      {func(b *builder) ir.TensorID { return b.rows(b.in(4, 4), 0, 4) }, map[string]int{"fold-view": 1}},
		"part of a slice":  {func(b *builder) ir.TensorID { return b.rows(b.in(4, 4), 0, 3) }, map[string]int{}},
		"cast to the same": {func(b *builder) ir.TensorID { return b.cast(b.in(4), ir.F32) }, map[string]int{"fold-cast": 1}},
		"widen and narrow": {func(b *builder) ir.TensorID { return b.cast(b.cast(b.typed(ir.BF16, 4), ir.F32), ir.BF16) }, map[string]int{"fold-cast": 1}},
		"narrow and widen": {func(b *builder) ir.TensorID { return b.cast(b.cast(b.in(4), ir.BF16), ir.F32) }, map[string]int{}},
		"i64 through f32":  {func(b *builder) ir.TensorID { return b.cast(b.cast(b.typed(ir.I64, 4), ir.F32), ir.I64) }, map[string]int{}},
		"bf16 through i64": {func(b *builder) ir.TensorID { return b.cast(b.cast(b.typed(ir.BF16, 4), ir.I64), ir.BF16) }, map[string]int{}},
		"bool through i64": {func(b *builder) ir.TensorID { return b.cast(b.cast(b.typed(ir.Bool, 4), ir.I64), ir.Bool) }, map[string]int{"fold-cast": 1}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &builder{}
			y := c.build(b)
			b.asked(y)
			seg := b.done()
			p, err := fakePlanner(fakes(), Options{}).Plan(seg)
			require.NoError(t, err)
			require.NoError(t, Check(p, seg))
			require.Equal(t, c.want, rewrites(p))
			require.Equal(t, Stored, p.Fates[y])
		})
	}
}

func TestPassesCanBeSwitchedOff(t *testing.T) {
	names := map[string]bool{}
	for _, pass := range Passes {
		require.NotEmpty(t, pass.Doc)
		require.False(t, names[pass.Name], "names are unique")
		names[pass.Name] = true
	}
	b := &builder{}
	x := b.in(4, 4)
	b.dead(b.op(ir.Neg, x))
	y := b.cast(b.shape(ir.Reshape, x, 4, 4), ir.F32)
	b.asked(b.op(ir.Add, b.scalar(ir.Mul, 2, y), b.scalar(ir.Mul, 2, y)))
	require.Equal(t, map[string]int{"dead-code": 1, "fold-view": 1, "fold-cast": 1, "cse": 1}, rewrites(plan(t, b, Options{})))
	for name := range names {
		got := rewrites(plan(t, b, Options{Disable: []string{name}}))
		require.Zero(t, got[name])
		require.Len(t, got, 3)
	}
}

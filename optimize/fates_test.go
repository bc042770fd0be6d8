package optimize

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func TestFates(t *testing.T) {
	cases := map[string]struct {
		build  func(b *builder) ir.TensorID // returns the tensor in question
		want   Fate
		recipe []int
	}{
		"asked for": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4))
			b.asked(x)
			b.op(ir.Neg, x)
			return x
		}, Stored, nil},
		"asked for wins over dead": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4))
			b.asked(x)
			b.dead(x)
			b.op(ir.Neg, x)
			return x
		}, Stored, nil},
		"crosses blocks": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4, 4))
			b.op(ir.MatMul, x, x)
			return x
		}, Stored, nil},
		"crosses blocks and is dead": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4, 4))
			b.dead(x)
			b.op(ir.MatMul, x, x)
			return x
		}, Temporary, nil},
		"consumed by nothing": {func(b *builder) ir.TensorID { return b.op(ir.Neg, b.in(4)) }, Stored, nil},
		"consumed by dead code only": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4))
			b.dead(b.op(ir.Neg, x))
			return x
		}, Stored, nil},
		"not needed": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4))
			b.dead(x)
			return x
		}, Dropped, nil},
		"used in its block": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4))
			y := b.op(ir.Neg, x)
			b.op(ir.Neg, y)
			return y
		}, Virtual, []int{0, 1}},
		"used in its block and dead": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4))
			b.dead(x)
			b.op(ir.Neg, x)
			return x
		}, Dropped, nil},
		"a recipe stops at what its block stores": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4))
			b.asked(x)
			y := b.op(ir.Neg, x)
			b.op(ir.Neg, y)
			return y
		}, Virtual, []int{1}},
		"a recipe goes through what is dropped": {func(b *builder) ir.TensorID {
			x := b.op(ir.Neg, b.in(4))
			b.dead(x)
			y := b.op(ir.Neg, x)
			b.op(ir.Neg, y)
			return y
		}, Virtual, []int{0, 1}},
		"a reduction": {func(b *builder) ir.TensorID {
			x := b.in(4, 4)
			s := b.axes(ir.Sum, x, 1)
			b.op(ir.Add, x, s)
			return s
		}, Stored, nil},
		"a dead reduction": {func(b *builder) ir.TensorID {
			x := b.in(4, 4)
			s := b.axes(ir.Sum, x, 1)
			b.dead(s)
			b.op(ir.Add, x, s)
			return s
		}, Dropped, nil},
		"a recipe of four times the size": {func(b *builder) ir.TensorID {
			x := b.op(ir.Add, b.op(ir.Add, b.in(4), b.in(4)), b.op(ir.Add, b.in(4), b.in(4)))
			b.op(ir.Neg, x)
			return x
		}, Virtual, []int{0, 1, 2}},
		"a recipe of five times the size": {func(b *builder) ir.TensorID {
			x := b.op(ir.Add, b.op(ir.Add, b.in(4), b.in(4)), b.op(ir.Add, b.in(4), b.in(4)))
			x = b.op(ir.Add, x, b.in(4))
			b.op(ir.Neg, x)
			return x
		}, Stored, nil},
		"versions of Vars do not count": {func(b *builder) ir.TensorID {
			x := b.op(ir.Add, b.op(ir.Add, b.variable(4), b.variable(4)), b.op(ir.Add, b.in(4), b.in(4)))
			x = b.op(ir.Add, x, b.in(4))
			b.op(ir.Neg, x)
			return x
		}, Virtual, []int{0, 1, 2, 3}},
		"a recipe stops at an effect": {func(b *builder) ir.TensorID {
			v := b.variable(4)
			n := b.set(v, b.op(ir.Neg, v), true)
			x := b.op(ir.Neg, n)
			b.op(ir.Neg, x)
			return x
		}, Virtual, []int{2}},
		"an effect's result": {func(b *builder) ir.TensorID {
			return b.set(b.variable(4), b.in(4), false)
		}, Stored, nil},
		"an effect's dead result": {func(b *builder) ir.TensorID {
			n := b.set(b.variable(4), b.in(4), false)
			b.dead(n)
			b.set(n, b.in(4), true)
			return n
		}, Temporary, nil},
		"a view others read through": {func(b *builder) ir.TensorID {
			w := b.axes(ir.Permute, b.in(4, 4), 1, 0)
			b.op(ir.Neg, b.op(ir.MatMul, w, b.in(4, 4)))
			return w
		}, Virtual, []int{0}},
		"a view consumed by nothing": {func(b *builder) ir.TensorID {
			return b.axes(ir.Permute, b.in(4, 4), 1, 0)
		}, Stored, nil},
		"the base of an alias": {func(b *builder) ir.TensorID {
			x := b.axes(ir.Sum, b.in(4, 4), 1)
			b.dead(x)
			b.shape(ir.Reshape, x, 4)
			return x
		}, Stored, nil},
		"the start of a view": {func(b *builder) ir.TensorID {
			start := b.shape(ir.Reshape, b.typed(ir.I64, 1))
			b.add(ir.Operation{Kind: ir.Slice, Ranges: []ir.Range{{Len: 2, Step: 1, Input: 1}}}, b.in(4), start)
			return start
		}, Stored, nil},
		"a dead value a recipe starts from": {func(b *builder) ir.TensorID {
			x := b.op(ir.MatMul, b.in(4, 4), b.in(4, 4))
			b.dead(x)
			b.op(ir.Neg, b.op(ir.Neg, b.op(ir.MatMul, x, b.in(4, 4))))
			return x
		}, Stored, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &builder{}
			x := c.build(b)
			p := plan(t, b, Options{})
			require.Equal(t, c.want, p.Fates[x], "%s\n%s", p.Fates[x], p.Format(&b.seg))
			require.Equal(t, c.recipe, p.Recipes[x])
		})
	}
}

func TestStorageThatMayBeTaken(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *builder, x ir.TensorID)
		want   int
	}{
		"last use":       {func(b *builder, x ir.TensorID) { b.seg.Tensors[x].Takeable = true }, 1},
		"still needed":   {func(*builder, ir.TensorID) {}, 0},
		"a Var":          {func(b *builder, x ir.TensorID) { b.seg.Tensors[x].Takeable, b.seg.Tensors[x].Var = true, 1 }, 0},
		"read again":     {func(b *builder, x ir.TensorID) { b.seg.Tensors[x].Takeable = true; b.axes(ir.Sum, x, 0) }, 0},
		"a view is kept": {func(b *builder, x ir.TensorID) { b.seg.Tensors[x].Takeable = true; b.axes(ir.Permute, x, 1, 0) }, 0},
		"another name is needed": {func(b *builder, x ir.TensorID) {
			b.seg.Tensors[x].Takeable = true
			y := b.in(4, 4)
			b.seg.Tensors[y].Buffer = b.seg.Tensors[x].Buffer
		}, 0},
		"other shape": {func(b *builder, x ir.TensorID) {
			b.seg.Tensors[x].Takeable = true
			b.seg.Ops, b.seg.InPlace, b.seg.Tensors = nil, nil, b.seg.Tensors[:1]
			b.axes(ir.Sum, x, 1)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := &builder{}
			x := b.in(4, 4)
			b.scalar(ir.Mul, 2, x)
			c.change(b, x)
			p := plan(t, b, Options{})
			n := 0
			for _, blk := range p.Blocks {
				n += len(blk.InPlace)
			}
			require.Equal(t, c.want, n, p.Format(&b.seg))
		})
	}
}

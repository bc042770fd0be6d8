package oracle

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/ir"
)

func ranges(r ...ir.Range) func(*ir.Operation) { return func(o *ir.Operation) { o.Ranges = r } }

func shape(s ...int) func(*ir.Operation) { return func(o *ir.Operation) { o.Attrs.Shape = s } }

func TestViews(t *testing.T) {
	x := f32(ir.Shape{2, 3}, 1, 2, 3, 4, 5, 6)
	same(t, f32(ir.Shape{3, 2}, 1, 2, 3, 4, 5, 6), eval(t, ir.Reshape, shape(3, 2), x))
	same(t, f32(ir.Shape{3, 2}, 1, 4, 2, 5, 3, 6), eval(t, ir.Permute, axes(1, 0), x))
	cube := sequence(ir.F32, ir.Shape{2, 1, 3}, 0)
	same(t, f32(ir.Shape{3, 2, 1}, 0, 3, 1, 4, 2, 5), eval(t, ir.Permute, axes(2, 0, 1), cube))
	same(t, f32(ir.Shape{2, 2, 2}, 1, 1, 2, 2, 1, 1, 2, 2), eval(t, ir.Expand, shape(2, 2, 2), f32(ir.Shape{2, 1}, 1, 2)))
	same(t, f32(ir.Shape{2, 3}, 6, 5, 4, 3, 2, 1), eval(t, ir.Flip, axes(0, 1), x))
	same(t, f32(ir.Shape{2, 3}, 3, 2, 1, 6, 5, 4), eval(t, ir.Flip, axes(-1), x))
	same(t, f32(ir.Shape{1, 2}, 6, 4), eval(t, ir.Slice, ranges(ir.Range{Start: 1, Len: 1, Step: 1}, ir.Range{Start: 2, Len: 2, Step: -2}), x))
	same(t, f32(ir.Shape{0, 3}), eval(t, ir.Slice, ranges(ir.Range{Start: 2, Len: 0, Step: 1}, ir.Range{Len: 3, Step: 1}), x))
	same(t, flags(false, true), eval(t, ir.Flip, axes(0), flags(true, false)))
}

func TestDynamicSlice(t *testing.T) {
	x := vec(0, 1, 2, 3, 4)
	set := ranges(ir.Range{Input: 1, Len: 2, Step: -2})
	at := func(i int64) Tensor { return Ints(ir.Shape{}, i) }
	same(t, vec(4, 2), eval(t, ir.Slice, set, x, at(4)))
	same(t, vec(2, 0), eval(t, ir.Slice, set, x, at(2)))
	for _, start := range []int64{1, 5, -1, -1 << 63, 1<<63 - 1} {
		_, err := EvalOp(operation(t, ir.Slice, set, x, at(start)), x, at(start))
		var out *ir.IndexError
		assert.ErrorAs(t, err, &out, "start %d", start)
	}
	same(t, vec(0, 1, 9, 3, 8), eval(t, ir.SetSlice, ranges(ir.Range{Input: 2, Len: 2, Step: 2}), x, vec(9, 8), at(2)))
}

func TestMoves(t *testing.T) {
	a, b := f32(ir.Shape{2, 1}, 1, 2), f32(ir.Shape{2, 2}, 3, 4, 5, 6)
	same(t, f32(ir.Shape{2, 3}, 1, 3, 4, 2, 5, 6), eval(t, ir.Cat, axes(1), a, b))
	same(t, vec(1, 2, 1), eval(t, ir.Cat, axes(0), vec(1), vec(), vec(2, 1)))
	ints := func(n ...int) func(*ir.Operation) { return func(o *ir.Operation) { o.Attrs.Ints = n } }
	same(t, f32(ir.Shape{2, 4}, 1, 2, 1, 2, 1, 2, 1, 2), eval(t, ir.Repeat, ints(2, 2), f32(ir.Shape{1, 2}, 1, 2)))
	same(t, f32(ir.Shape{0}), eval(t, ir.Repeat, ints(0), vec(1, 2)))

	pad := func(fill ir.Scalar, n ...int) func(*ir.Operation) {
		return func(o *ir.Operation) { o.Attrs.Ints, o.Scalars = n, []ir.Scalar{fill} }
	}
	same(t, f32(ir.Shape{3, 3}, 9, 9, 9, 9, 3, 4, 9, 5, 6), eval(t, ir.Pad, pad(ir.F32Scalar(9), 1, 0, 1, 0), b))
	same(t, vec(2, 3, 7, 7), eval(t, ir.Pad, pad(ir.F32Scalar(7), -1, 2), vec(1, 2, 3)))
	same(t, vec(), eval(t, ir.Pad, pad(ir.F32Scalar(7), -1, -2), vec(1, 2, 3)))
	same(t, ivec(-1, 5), eval(t, ir.Pad, pad(ir.I64Scalar(-1), 1, 0), ivec(5)))
	same(t, bvec(1.0078125, 2), eval(t, ir.Pad, pad(ir.F32Scalar(1.0067), 1, 0), bvec(2)))
	same(t, flags(true, false), eval(t, ir.Pad, pad(ir.BoolScalar(true), 1, 0), flags(false)))
}

func TestIndexing(t *testing.T) {
	x := f32(ir.Shape{3, 2}, 1, 2, 3, 4, 5, 6)
	same(t, f32(ir.Shape{4, 2}, 5, 6, 1, 2, 5, 6, 3, 4), eval(t, ir.Select, axes(0), x, ivec(2, 0, 2, 1)))
	same(t, f32(ir.Shape{3, 1}, 2, 4, 6), eval(t, ir.Select, axes(1), x, ivec(1)))
	same(t, f32(ir.Shape{0, 2}), eval(t, ir.Select, axes(0), x, ivec()))
	same(t, f32(ir.Shape{2, 2}, 1, 6, 3, 2), eval(t, ir.Gather, axes(0), x, Ints(ir.Shape{2, 2}, 0, 2, 1, 0)))
	same(t, f32(ir.Shape{2, 3}, 2, 1, 1, 3, 3, 4), eval(t, ir.Gather, axes(1), x, Ints(ir.Shape{2, 3}, 1, 0, 0, 0, 0, 1)))
	same(t, f32(ir.Shape{1, 2, 2}, 5, 6, 1, 2), eval(t, ir.Embedding, nil, x, Ints(ir.Shape{1, 2}, 2, 0)))
	same(t, f32(ir.Shape{2}, 3, 4), eval(t, ir.Embedding, nil, x, Ints(ir.Shape{}, 1)))

	for _, i := range []int64{-1, 3, -1 << 63, 1<<63 - 1} {
		var out *ir.IndexError
		_, err := EvalOp(operation(t, ir.Select, axes(0), x, ivec(0, i)), x, ivec(0, i))
		assert.ErrorAs(t, err, &out)
		_, err = EvalOp(operation(t, ir.Gather, axes(0), x, Ints(ir.Shape{1, 1}, i)), x, Ints(ir.Shape{1, 1}, i))
		assert.ErrorAs(t, err, &out)
		_, err = EvalOp(operation(t, ir.Embedding, nil, x, ivec(i)), x, ivec(i))
		assert.ErrorAs(t, err, &out)
		_, err = EvalOp(operation(t, ir.ScatterAdd, axes(0), x, ivec(i), f32(ir.Shape{1, 2}, 1, 1)), x, ivec(i), f32(ir.Shape{1, 2}, 1, 1))
		assert.ErrorAs(t, err, &out)
	}
	// Nothing is read, so no index is wrong.
	same(t, f32(ir.Shape{1, 0}), eval(t, ir.Select, axes(0), f32(ir.Shape{3, 0}), ivec(9)))
}

func TestEffects(t *testing.T) {
	x := vec(0, 1, 2, 3, 4, 5)
	same(t, vec(9, 8, 7, 6, 5, 4), eval(t, ir.Set, nil, x, vec(9, 8, 7, 6, 5, 4)))
	same(t, vec(0, 0, 1, 2, 3, 4), eval(t, ir.SetSlice, ranges(ir.Range{Start: 1, Len: 5, Step: 1}), x, vec(0, 1, 2, 3, 4)))
	same(t, vec(0, 8, 2, 9, 4, 5), eval(t, ir.SetSlice, ranges(ir.Range{Start: 3, Len: 2, Step: -2}), x, vec(9, 8)))
	same(t, vec(0, 1, 9, 3, 4, 7), eval(t, ir.SetSelect, axes(0), x, ivec(2, 5, 2), vec(8, 7, 9)))
	same(t, vec(0, 1, 19, 3, 4, 12), eval(t, ir.ScatterAdd, axes(0), x, ivec(2, 5, 2), vec(8, 7, 9)))
	same(t, ivec(-1<<63, 0), eval(t, ir.ScatterAdd, axes(0), ivec(1<<63-1, 0), ivec(0), ivec(1)))
	same(t, x, vec(0, 1, 2, 3, 4, 5)) // the old version is untouched

	grid := f32(ir.Shape{2, 3}, 1, 2, 3, 4, 5, 6)
	same(t, f32(ir.Shape{2, 3}, 8, 2, 7, 6, 5, 5), eval(t, ir.SetSelect, axes(1), grid, ivec(2, 0), f32(ir.Shape{2, 2}, 7, 8, 5, 6)))

	// In logical order: (2²⁴ + 1) + 1 stays 2²⁴ in float32.
	same(t, vec(0x1p24), eval(t, ir.ScatterAdd, axes(0), vec(0x1p24), ivec(0, 0), vec(1, 1)))
	// A bf16 sum of 256 and two ones is 258; rounding between would give 256.
	same(t, bvec(258), eval(t, ir.ScatterAdd, axes(0), bvec(256), ivec(0, 0), bvec(1, 1)))
}

package oracle

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/ir"
)

func joined(m ir.ScatterMode, a ...int) func(*ir.Operation) {
	return func(o *ir.Operation) { o.Attrs.Axes, o.Attrs.Mode = a, m }
}

func TestScatterModes(t *testing.T) {
	x, at, v := vec(1, 2, 3), ivec(2, 0, 2), vec(10, 20, 30)
	for mode, want := range map[ir.ScatterMode]Tensor{
		ir.Assign: vec(20, 2, 30), ir.ScatterSum: vec(21, 2, 43), ir.ScatterMul: vec(20, 2, 900), ir.ScatterMin: vec(1, 2, 3), ir.ScatterMax: vec(20, 2, 30),
	} {
		same(t, want, eval(t, ir.Scatter, joined(mode, 0), x, at, v))
		same(t, want, eval(t, ir.SelectAssign, joined(mode, 0), x, at, v))
		same(t, want, eval(t, ir.ScatterND, joined(mode), x, Ints(ir.Shape{3, 1}, at.I...), v))
		half := func(t Tensor) Tensor { return Floats(ir.F16, t.Shape, t.F...) }
		same(t, half(want), eval(t, ir.Scatter, joined(mode, 0), half(x), at, half(v)))
		i8 := func(t Tensor) Tensor {
			out := New(ir.I8, t.Shape)
			for i, v := range t.F {
				out.I[i] = ir.I8.Wrap(int64(v))
			}
			return out
		}
		same(t, i8(want), eval(t, ir.Scatter, joined(mode, 0), i8(x), at, i8(v)))
	}
	// NaN and zeros are those of Maximum and Minimum.
	same(t, vec(nan, 0), eval(t, ir.Scatter, joined(ir.ScatterMax, 0), vec(1, negZero), ivec(0, 1), vec(nan, 0)))
	same(t, bvec(3.015625), eval(t, ir.ScatterAdd, axes(0), bvec(3), ivec(0), bvec(0.01)))
	// f32 inside, rounded once, also when only some elements are joined.
	same(t, hvec(2050, 1), eval(t, ir.Scatter, joined(ir.ScatterSum, 0), hvec(2048, 1), ivec(0, 0), hvec(1, 1)))
}

func TestScatterPlaces(t *testing.T) {
	x := f32(ir.Shape{2, 3}, 1, 2, 3, 4, 5, 6)
	same(t, f32(ir.Shape{2, 3}, 1, 2, 9, 8, 5, 6), eval(t, ir.Scatter, joined(ir.Assign, 1), x, Ints(ir.Shape{2, 1}, 2, 0), f32(ir.Shape{2, 1}, 9, 8)))
	same(t, f32(ir.Shape{2, 3}, 1, 8, 3, 9, 5, 6), eval(t, ir.Scatter, joined(ir.Assign, 0), x, Ints(ir.Shape{1, 2}, 1, 0), f32(ir.Shape{1, 2}, 9, 8)))
	same(t, f32(ir.Shape{2, 3}, 1, 2, 3, 7, 8, 9), eval(t, ir.ScatterND, joined(ir.Assign), x, Ints(ir.Shape{1, 1}, 1), f32(ir.Shape{1, 3}, 7, 8, 9)))
	same(t, f32(ir.Shape{2, 3}, 1, 7, 3, 4, 5, 6), eval(t, ir.ScatterND, joined(ir.Assign), x, Ints(ir.Shape{2}, 0, 1), f32(ir.Shape{}, 7)))
	same(t, f32(ir.Shape{2, 3}, 3, 5, 7, 6, 7, 8), eval(t, ir.ScatterND, joined(ir.ScatterSum), x, Ints(ir.Shape{1, 0}), f32(ir.Shape{1, 2, 3}, 2, 3, 4, 2, 2, 2)))
	same(t, f32(ir.Shape{2, 3}, 1, 9, 8, 4, 5, 6), eval(t, ir.SliceAssign, ranges(ir.Range{Len: 1, Step: 1}, ir.Range{Start: 1, Len: 2, Step: 1}), x, f32(ir.Shape{1, 2}, 9, 8)))
	same(t, vec(6, 2), eval(t, ir.GatherND, nil, x, Ints(ir.Shape{2, 2}, 1, 2, 0, 1)))
	same(t, f32(ir.Shape{2, 3}, 4, 5, 6, 1, 2, 3), eval(t, ir.GatherND, nil, x, Ints(ir.Shape{2, 1}, 1, 0)))
	same(t, f32(ir.Shape{0, 3}), eval(t, ir.GatherND, nil, x, Ints(ir.Shape{0, 1})))
	same(t, x, f32(ir.Shape{2, 3}, 1, 2, 3, 4, 5, 6))

	for _, i := range []int64{-1, 2, -1 << 63, 1<<63 - 1} {
		var out *ir.IndexError
		at := Ints(ir.Shape{1, 1}, i)
		_, err := EvalOp(operation(t, ir.GatherND, nil, x, at), x, at)
		assert.ErrorAs(t, err, &out)
		_, err = EvalOp(operation(t, ir.ScatterND, joined(ir.Assign), x, at, f32(ir.Shape{1, 3}, 7, 8, 9)), x, at, f32(ir.Shape{1, 3}, 7, 8, 9))
		assert.ErrorAs(t, err, &out)
		_, err = EvalOp(operation(t, ir.Scatter, joined(ir.Assign, 0), x, at, f32(ir.Shape{1, 1}, 7)), x, at, f32(ir.Shape{1, 1}, 7))
		assert.ErrorAs(t, err, &out)
	}
}

func TestUnfoldAndDiagonal(t *testing.T) {
	x := sequence(ir.F32, ir.Shape{2, 5}, 0)
	unfold := func(axis, size, step int) func(*ir.Operation) {
		return func(o *ir.Operation) { o.Attrs.Axes, o.Attrs.Ints = []int{axis}, []int{size, step} }
	}
	same(t, f32(ir.Shape{2, 2, 3}, 0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 9), eval(t, ir.Unfold, unfold(1, 3, 2), x))
	same(t, f32(ir.Shape{1, 5, 2}, 0, 5, 1, 6, 2, 7, 3, 8, 4, 9), eval(t, ir.Unfold, unfold(0, 2, 1), x))
	diagonal := func(a, b, n int) func(*ir.Operation) {
		return func(o *ir.Operation) { o.Attrs.Axes, o.Attrs.N = []int{a, b}, n }
	}
	same(t, vec(0, 6), eval(t, ir.Diagonal, diagonal(0, 1, 0), x))
	same(t, vec(2, 8), eval(t, ir.Diagonal, diagonal(0, 1, 2), x))
	same(t, vec(5), eval(t, ir.Diagonal, diagonal(0, 1, -1), x))
	same(t, vec(5), eval(t, ir.Diagonal, diagonal(1, 0, 1), x))
	same(t, vec(), eval(t, ir.Diagonal, diagonal(0, 1, 7), x))
	cube := sequence(ir.F32, ir.Shape{2, 3, 2}, 0)
	same(t, f32(ir.Shape{3, 2}, 0, 7, 2, 9, 4, 11), eval(t, ir.Diagonal, diagonal(0, 2, 0), cube))
}

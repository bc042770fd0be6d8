package ir

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInferSources(t *testing.T) {
	random := func(k Kind, d DType, s ...Scalar) Operation {
		return Operation{Kind: k, Attrs: Attrs{Shape: Shape{2}, DType: d}, Scalars: append([]Scalar{I64Scalar(1), I64Scalar(2)}, s...)}
	}
	nan := F32Scalar(float32(math.NaN()))
	runCases(t, []checkCase{
		{name: "rank 0", op: Operation{Kind: Full, Attrs: Attrs{DType: Bool}, Scalars: []Scalar{BoolScalar(true)}}, dtype: Bool},
		{name: "f8", op: Operation{Kind: Full, Attrs: Attrs{Shape: Shape{3}, DType: F8E5M2}, Scalars: []Scalar{F32Scalar(1)}}, shape: Shape{3}, dtype: F8E5M2},
		{name: "f64", op: Operation{Kind: Full, Attrs: Attrs{DType: F64}, Scalars: []Scalar{F32Scalar(1)}}, err: dtypeErr(), msg: "scalar 0 is f32, want f64"},
		{name: "ints", op: Operation{Kind: Arange, Attrs: Attrs{Shape: Shape{2}, DType: U8}, Scalars: []Scalar{I64Scalar(250), I64Scalar(-3)}}, shape: Shape{2}, dtype: U8},
		{name: "narrow", op: random(RandInt, I8, I64Scalar(-128), I64Scalar(128)), shape: Shape{2}, dtype: I8},
		{name: "too narrow", op: random(RandInt, I8, I64Scalar(-128), I64Scalar(129)), err: argErr(), msg: "the integers from -128 up to but not including 129 are not all i8"},
		{name: "unsigned", op: random(RandInt, U64, I64Scalar(-1), I64Scalar(1)), shape: Shape{2}, dtype: U64},
		{name: "unsigned", op: random(RandInt, U32, I64Scalar(-1), I64Scalar(1)), err: argErr(), msg: "the integers from -1 up to but not including 1 are not all u32"},
		{name: "double", op: random(Normal, F64, F64Scalar(0), F64Scalar(1)), shape: Shape{2}, dtype: F64},
		{name: "double", op: random(Uniform, F64, F32Scalar(0), F32Scalar(1)), err: dtypeErr(), msg: "scalar 2 is f32, want f64"},
		{name: "value", op: Operation{Kind: Full, Attrs: Attrs{DType: I64}, Scalars: []Scalar{F32Scalar(1)}}, err: dtypeErr(), msg: "scalar 0 is f32, want i64"},
		{name: "rank", op: Operation{Kind: Arange, Attrs: Attrs{Shape: Shape{2, 2}, DType: F32}, Scalars: []Scalar{F64Scalar(0), F64Scalar(1)}}, err: shapeErr(), msg: "makes rank 1, got the shape [2,2]"},
		{name: "bool", op: Operation{Kind: Arange, Attrs: Attrs{Shape: Shape{2}, DType: Bool}, Scalars: []Scalar{F64Scalar(0), F64Scalar(1)}}, err: dtypeErr(), msg: "is not defined for bool, only for floats or integers"},
		{name: "single", op: Operation{Kind: Arange, Attrs: Attrs{Shape: Shape{2}, DType: F32}, Scalars: []Scalar{F64Scalar(0), F32Scalar(1)}}, err: dtypeErr(), msg: "scalar 1 is f32, want f64"},
		{name: "empty", op: Operation{Kind: Arange, Attrs: Attrs{Shape: Shape{0}, DType: BF16}, Scalars: []Scalar{F64Scalar(0), F64Scalar(1)}}, shape: Shape{0}, dtype: BF16},
		{name: "order", op: random(Uniform, F32, F32Scalar(2), F32Scalar(1)), err: argErr(), msg: "bounds 2 and 1 are not in order"},
		{name: "NaN", op: random(Uniform, F32, nan, F32Scalar(1)), err: argErr(), msg: "bounds NaN and 1 are not in order"},
		{name: "point", op: random(Uniform, BF16, F32Scalar(1), F32Scalar(1)), shape: Shape{2}, dtype: BF16},
		{name: "deviation", op: random(Normal, F32, F32Scalar(0), F32Scalar(-1)), err: argErr(), msg: "standard deviation -1 is not a number from 0"},
		{name: "probability", op: random(Bernoulli, Bool, F32Scalar(1.5)), err: argErr(), msg: "probability 1.5 is not between 0 and 1"},
		{name: "certain", op: random(Bernoulli, Bool, F32Scalar(1)), shape: Shape{2}, dtype: Bool},
		{name: "as float", op: random(Bernoulli, F32, F32Scalar(1)), err: dtypeErr(), msg: "is not defined for f32, only for bool"},
		{name: "wide", op: random(RandInt, I64, I64Scalar(-1), I64Scalar(1<<31)), err: argErr(), msg: "from -1 up to 2147483648 is a range wider than 2147483648"},
		{name: "wider than i64", op: random(RandInt, I64, I64Scalar(math.MinInt64), I64Scalar(math.MaxInt64)), err: argErr(), msg: "from -9223372036854775808 up to 9223372036854775807 is a range wider than 2147483648"},
		{name: "none", op: random(RandInt, I64, I64Scalar(3), I64Scalar(3)), err: argErr(), msg: "there is no integer from 3 up to but not including 3"},
		{name: "seed", op: Operation{Kind: RandInt, Attrs: Attrs{DType: I64}, Scalars: []Scalar{F32Scalar(0), I64Scalar(1), I64Scalar(2), I64Scalar(3)}}, err: dtypeErr(), msg: "scalar 0 is f32, want i64"},
	})
}

func TestInferViews(t *testing.T) {
	x := ref(F32, 2, 5)
	on := func(k Kind, a Attrs) Operation { return Operation{Kind: k, Inputs: []TensorRef{x}, Attrs: a} }
	slice := func(r ...Range) Operation { return Operation{Kind: Slice, Inputs: []TensorRef{x}, Ranges: r} }
	all := Range{0, 2, 1, 0}
	runCases(t, []checkCase{
		{name: "to rank 0", op: Operation{Kind: Reshape, Inputs: []TensorRef{ref(I64, 1, 1)}}, dtype: I64},
		{name: "empty", op: Operation{Kind: Reshape, Inputs: []TensorRef{ref(I64, 0, 3)}, Attrs: Attrs{Shape: Shape{7, 0}}}, shape: Shape{7, 0}, dtype: I64},
		{name: "count", op: on(Reshape, Attrs{Shape: Shape{3, 3}}), err: shapeErr(), msg: "[2,5] with 10 elements cannot become [3,3] with 9"},
		{name: "minus one", op: on(Reshape, Attrs{Shape: Shape{-1}}), err: shapeErr(), msg: "axis 0 has the negative length -1"},
		{name: "negative", op: on(Permute, Attrs{Axes: []int{-1, 0}}), shape: Shape{5, 2}, dtype: F32, axes: []int{1, 0}},
		{name: "rank 0", op: Operation{Kind: Permute, Inputs: []TensorRef{ref(F32)}}, dtype: F32},
		{name: "twice", op: on(Permute, Attrs{Axes: []int{1, -1}}), err: shapeErr(), msg: "axis 1 is given twice"},
		{name: "range", op: on(Permute, Attrs{Axes: []int{0, 2}}), err: shapeErr(), msg: "axis 2 is out of range for rank 2"},
		{name: "few", op: on(Permute, Attrs{Axes: []int{0}}), err: shapeErr(), msg: "permutation of 1 axes does not fit rank 2"},
		{name: "to nothing", op: Operation{Kind: Expand, Inputs: []TensorRef{ref(F32, 1)}, Attrs: Attrs{Shape: Shape{3, 0}}}, shape: Shape{3, 0}, dtype: F32},
		{name: "length", op: on(Expand, Attrs{Shape: Shape{3, 2, 6}}), err: shapeErr(), msg: "[2,5] cannot expand to [3,2,6]: length 5 against 6 at axis 2"},
		{name: "rank", op: on(Expand, Attrs{Shape: Shape{5}}), err: shapeErr(), msg: "rank 2 cannot expand to rank 1"},
		{name: "windows", op: on(Unfold, Attrs{Axes: []int{-1}, Ints: []int{3, 2}}), shape: Shape{2, 2, 3}, dtype: F32, axes: []int{1}},
		{name: "whole axis", op: on(Unfold, Attrs{Axes: []int{0}, Ints: []int{2, 9}}), shape: Shape{1, 5, 2}, dtype: F32},
		{name: "of nothing", op: on(Unfold, Attrs{Axes: []int{1}, Ints: []int{0, 1}}), shape: Shape{2, 6, 0}, dtype: F32},
		{name: "too long", op: on(Unfold, Attrs{Axes: []int{1}, Ints: []int{6, 1}}), err: shapeErr(), msg: "windows of 6 do not fit length 5 at axis 1"},
		{name: "negative", op: on(Unfold, Attrs{Axes: []int{1}, Ints: []int{-1, 1}}), err: shapeErr(), msg: "windows of -1 do not fit length 5 at axis 1"},
		{name: "step", op: on(Unfold, Attrs{Axes: []int{1}, Ints: []int{2, 0}}), err: argErr(), msg: "step 0 is not above 0"},
		{name: "numbers", op: on(Unfold, Attrs{Axes: []int{1}, Ints: []int{2}}), err: argErr(), msg: "takes size and step, got 1 numbers"},
		{name: "rank 0", op: Operation{Kind: Unfold, Inputs: []TensorRef{ref(F32)}, Attrs: Attrs{Axes: []int{0}, Ints: []int{1, 1}}}, err: shapeErr(), msg: "axis 0 is out of range for rank 0"},
		{name: "main", op: on(Diagonal, Attrs{Axes: []int{0, -1}}), shape: Shape{2}, dtype: F32, axes: []int{0, 1}},
		{name: "order of axes", op: on(Diagonal, Attrs{Axes: []int{1, 0}, N: -3}), shape: Shape{2}, dtype: F32, axes: []int{1, 0}},
		{name: "above", op: on(Diagonal, Attrs{Axes: []int{0, 1}, N: 4}), shape: Shape{1}, dtype: F32},
		{name: "below", op: on(Diagonal, Attrs{Axes: []int{0, 1}, N: -1}), shape: Shape{1}, dtype: F32},
		{name: "beyond", op: on(Diagonal, Attrs{Axes: []int{0, 1}, N: 9}), shape: Shape{0}, dtype: F32},
		{name: "rest in front", op: Operation{Kind: Diagonal, Inputs: []TensorRef{ref(U8, 4, 2, 3)}, Attrs: Attrs{Axes: []int{0, 2}}}, shape: Shape{2, 3}, dtype: U8},
		{name: "offset", op: on(Diagonal, Attrs{Axes: []int{0, 1}, N: math.MinInt}), err: argErr(), msg: "offset " + itoa(math.MinInt) + " is beyond " + itoa(MaxElements)},
		{name: "twice", op: on(Diagonal, Attrs{Axes: []int{1, -1}}), err: shapeErr(), msg: "axis 1 is given twice"},
		{name: "one axis", op: on(Diagonal, Attrs{Axes: []int{1}}), err: argErr(), msg: "works along two axes, got 1"},
		{name: "all axes", op: on(Flip, Attrs{}), shape: x.Shape, dtype: F32, axes: []int{0, 1}},
		{name: "sorted", op: on(Flip, Attrs{Axes: []int{-1, 0}}), shape: x.Shape, dtype: F32, axes: []int{0, 1}},
		{name: "range", op: on(Flip, Attrs{Axes: []int{-3}}), err: shapeErr(), msg: "axis -3 is out of range for rank 2"},

		{name: "back", op: slice(all, Range{4, 3, -2, 0}), shape: Shape{2, 3}, dtype: F32},
		{name: "whole", op: slice(all, Range{0, 5, 1, 0}), shape: Shape{2, 5}, dtype: F32},
		{name: "nothing at the end", op: slice(all, Range{5, 0, 1, 0}), shape: Shape{2, 0}, dtype: F32},
		{name: "any step of one", op: slice(all, Range{4, 1, math.MinInt, 0}), shape: Shape{2, 1}, dtype: F32},
		{name: "number", op: slice(all), err: shapeErr(), msg: "1 ranges do not fit rank 2"},
		{name: "step", op: slice(all, Range{0, 1, 0, 0}), err: argErr(), msg: "range 1 has step 0"},
		{name: "length", op: slice(all, Range{0, -1, 1, 0}), err: argErr(), msg: "range 1 has the negative length -1"},
		{name: "start", op: slice(all, Range{5, 1, 1, 0}), err: indexErr(), msg: "range 1 starts at 5, outside axis 1 of length 5"},
		{name: "empty start", op: slice(all, Range{6, 0, 1, 0}), err: indexErr(), msg: "range 1 starts at 6, outside axis 1 of length 5"},
		{name: "negative start", op: slice(Range{-1, 1, 1, 0}, all), err: indexErr(), msg: "range 0 starts at -1, outside axis 0 of length 2"},
		{name: "end", op: slice(all, Range{3, 3, 1, 0}), err: indexErr(), msg: "range 1 ends at 5, outside axis 1 of length 5"},
		{name: "end back", op: slice(all, Range{1, 3, -1, 0}), err: indexErr(), msg: "range 1 ends at -1, outside axis 1 of length 5"},
		{name: "too long", op: slice(all, Range{0, 3, 3, 0}), err: indexErr(), msg: "range 1 of 3 elements in steps of 3 is longer than axis 1 of length 5"},
		{name: "wraps", op: slice(all, Range{0, 3, math.MaxInt/2 + 1, 0}), err: indexErr(), msg: "range 1 of 3 elements in steps of " + itoa(math.MaxInt/2+1) + " is longer than axis 1 of length 5"},
	})
	dynamic := func(r Range, start TensorRef) Operation {
		return Operation{Kind: Slice, Inputs: []TensorRef{x, start}, Ranges: []Range{all, r}}
	}
	runCases(t, []checkCase{
		{name: "from operand", op: dynamic(Range{Len: 5, Step: 1, Input: 1}, ref(I64)), shape: Shape{2, 5}, dtype: F32},
		{name: "from operand, too long", op: dynamic(Range{Len: 6, Step: 1, Input: 1}, ref(I64)), err: indexErr(), msg: "range 1 of 6 elements in steps of 1 is longer than axis 1 of length 5"},
		{name: "from float", op: dynamic(Range{Len: 5, Step: 1, Input: 1}, ref(F32)), err: dtypeErr(), msg: "range 1 comes from operand 1, which is f32 instead of i64"},
		{name: "from list", op: dynamic(Range{Len: 5, Step: 1, Input: 1}, ref(I64, 1)), err: shapeErr(), msg: "range 1 comes from operand 1, which has shape [1] instead of rank 0"},
		{name: "both", op: dynamic(Range{Start: 1, Len: 1, Step: 1, Input: 1}, ref(I64)), err: argErr(), msg: "range 1 has both a start and a source"},
		{name: "beyond", op: dynamic(Range{Len: 1, Step: 1, Input: 2}, ref(I64)), err: argErr(), msg: "takes 1 operand, got 2"},
	})
}

// A range is legal exactly if every index it names lies inside its axis.
func TestRangesAgainstEnumeration(t *testing.T) {
	for n := range 5 {
		for start := -2; start <= 6; start++ {
			for length := 1; length <= 5; length++ {
				for step := -5; step <= 5; step++ {
					if step == 0 {
						continue
					}
					want := true
					for i := range length {
						at := start + i*step
						want = want && at >= 0 && at < n
					}
					err := checkRanges([]Range{{start, length, step, 0}}, Shape{n})
					assert.Equal(t, want, err == nil, "%v of %d", Range{start, length, step, 0}, n)
				}
			}
		}
	}
}

func TestInferMoves(t *testing.T) {
	x := ref(F32, 2, 5)
	cat := func(axis int, in ...TensorRef) Operation {
		return Operation{Kind: Cat, Inputs: in, Attrs: Attrs{Axes: []int{axis}}}
	}
	pad := func(w ...int) Operation {
		return Operation{Kind: Pad, Inputs: []TensorRef{x}, Attrs: Attrs{Ints: w}, Scalars: []Scalar{F32Scalar(0)}}
	}
	repeat := func(n ...int) Operation {
		return Operation{Kind: Repeat, Inputs: []TensorRef{x}, Attrs: Attrs{Ints: n}}
	}
	runCases(t, []checkCase{
		{name: "one", op: cat(-1, x), shape: x.Shape, dtype: F32, axes: []int{1}},
		{name: "rows", op: cat(0, x, x, ref(F32, 0, 5)), shape: Shape{4, 5}, dtype: F32},
		{name: "length", op: cat(0, x, ref(F32, 2, 4)), err: shapeErr(), msg: "operand 1 has length 4 instead of 5 at axis 1"},
		{name: "rank", op: cat(0, x, ref(F32, 2)), err: shapeErr(), msg: "operand 1 has rank 1 instead of 2"},
		{name: "dtype", op: cat(0, x, ref(BF16, 2, 5)), err: dtypeErr(), msg: "operands 0 and 1 differ in dtype: f32 and bf16"},
		{name: "rank 0", op: cat(0, ref(F32), ref(F32)), err: shapeErr(), msg: "axis 0 is out of range for rank 0"},
		{name: "axes", op: Operation{Kind: Cat, Inputs: []TensorRef{x}, Attrs: Attrs{Axes: []int{0, 1}}}, err: argErr(), msg: "works along one axis, got 2"},
		{name: "twice", op: repeat(2, 1), shape: Shape{4, 5}, dtype: F32},
		{name: "never", op: repeat(1, 0), shape: Shape{2, 0}, dtype: F32},
		{name: "negative", op: repeat(1, -1), err: argErr(), msg: "axis 1 is repeated -1 times"},
		{name: "counts", op: repeat(1), err: shapeErr(), msg: "1 counts do not fit rank 2"},
		{name: "too long", op: repeat(1, math.MaxInt), err: shapeErr(), msg: "length 5 repeated " + itoa(math.MaxInt) + " times at axis 1 is longer than " + itoa(MaxElements)},
		{name: "fill", op: Operation{Kind: Pad, Inputs: []TensorRef{ref(F8E4M3, 2)}, Attrs: Attrs{Ints: []int{1, 0}}, Scalars: []Scalar{F32Scalar(0)}}, shape: Shape{3}, dtype: F8E4M3},
		{name: "crop", op: pad(-1, -1, 2, -3), shape: Shape{0, 4}, dtype: F32},
		{name: "crop too much", op: pad(0, -3, 0, 0), err: shapeErr(), msg: "widths 0 and -3 crop more than the length 2 at axis 0"},
		{name: "widths", op: pad(0, 1), err: shapeErr(), msg: "2 widths do not fit rank 2, which needs low and high for each axis"},
		{name: "too wide", op: pad(0, 0, math.MinInt, 0), err: shapeErr(), msg: "widths " + itoa(math.MinInt) + " and 0 at axis 1 are beyond " + itoa(MaxElements)},
		{name: "too long", op: pad(0, 0, MaxElements, 0), err: shapeErr(), msg: "length 5 padded by " + itoa(MaxElements) + " and 0 at axis 1 is longer than " + itoa(MaxElements)},
	})
}

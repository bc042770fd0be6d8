package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/ir"
)

// These are faults that were publicly reported of other systems, restated as an
// input and the right answer.

func TestReportsOfRewrites(t *testing.T) {
	mul := func(x Tensor, c float64) Tensor { return eval(t, ir.Mul, f32Scalars(c), x) }
	// The product x·c contracted into the subtraction of the maximum.
	same(t, vec(1, 0, 0), eval(t, ir.Softmax, axes(0), mul(vec(3285714176, 1e9, -1e9), 0.7)))
	same(t, vec(1, 0, 0), eval(t, ir.Softmax, axes(0), mul(vec(7969180160, 1e9, -1e9), 0.3)))
	// A log(exp x) is not x, a √(x²) not |x|.
	same(t, vec(inf), eval(t, ir.Log, nil, eval(t, ir.Exp, nil, vec(89))))
	same(t, vec(inf, 0), eval(t, ir.Sqrt, nil, eval(t, ir.Square, nil, vec(1e20, 1e-30))))
	// A sum with 0 is not the other term.
	sum := eval(t, ir.Add, f32Scalars(0), eval(t, ir.Ceil, nil, vec(-0.5)))
	same(t, vec(inf), eval(t, ir.Recip, nil, sum))
	same(t, vec(negInf), eval(t, ir.Recip, nil, eval(t, ir.Add, f32Scalars(negZero), vec(negZero))))
	same(t, vec(negZero, 0), eval(t, ir.Sub, f32Scalars(0), vec(negZero, 0)))
	same(t, vec(0), eval(t, ir.Sub, f32Scalars(negZero), vec(negZero)))
	// 1/√0·0 is NaN wherever it is computed.
	same(t, vec(nan), mul(eval(t, ir.Rsqrt, nil, vec(0)), 0))
}

func TestReportsOfExtrema(t *testing.T) {
	// Either operand, either order.
	same(t, vec(nan, nan, nan), eval(t, ir.Maximum, nil, vec(1, nan, nan), vec(nan, 1, nan)))
	same(t, vec(nan, 0, 6), eval(t, ir.Clamp, f32Scalars(0, 6), vec(nan, -1, 9)))
	same(t, vec(negZero, negZero), eval(t, ir.Minimum, nil, vec(negZero, 0), vec(0, negZero)))
	same(t, vec(0, 0), eval(t, ir.Maximum, nil, vec(negZero, 0), vec(0, negZero)))
	same(t, vec(0), eval(t, ir.Clamp, f32Scalars(0, 6), vec(negZero)))
	same(t, vec(nan, 0), eval(t, ir.Relu, nil, vec(nan, negZero)))
	// A maximum inside a fused block hid NaN.
	x := f32(ir.Shape{2, 4}, 1, nan, 3, 2, 1, 4, 3, 2)
	zero := eval(t, ir.Add, f32Scalars(0), x)
	y := eval(t, ir.Add, f32Scalars(1), eval(t, ir.Add, nil, eval(t, ir.Add, f32Scalars(0), eval(t, ir.Max, axes(1), zero)), x))
	same(t, f32(ir.Shape{2, 4}, nan, nan, nan, nan, 6, 9, 8, 7), y)
	// The index of a transposed producer.
	s := eval(t, ir.Sin, nil, eval(t, ir.Mul, f32Scalars(0.7), sequence(ir.F32, ir.Shape{4, 6}, 0)))
	same(t, Ints(ir.Shape{1, 1}, 20), eval(t, ir.ArgMax, nil, s))
	same(t, Ints(ir.Shape{1, 1}, 11), eval(t, ir.ArgMax, nil, eval(t, ir.Permute, axes(1, 0), s)))
}

func TestReportsOfReductions(t *testing.T) {
	// Variance after a swap of axes.
	x := f32(ir.Shape{1, 2, 4}, .0337, .6473, .7419, .0647, .3955, .5538, .4253, .8397)
	swapped := eval(t, ir.Permute, axes(0, 2, 1), x)
	near(t, f32(ir.Shape{1, 4, 1}, .2146, .60055, .5836, .4522), eval(t, ir.Mean, axes(2), swapped), 1e-5)
	unbiased := func(o *ir.Operation) { o.Attrs.Axes, o.Attrs.N = []int{2}, 1 }
	near(t, f32(ir.Shape{1, 4, 1}, .06545, .00437, .05012, .30031), eval(t, ir.Var, unbiased, swapped), 1e-5)
	// A long row with one large element.
	long := New(ir.F32, ir.Shape{32769})
	long.F[32768] = 32768
	same(t, vec(1073741824), eval(t, ir.Sum, nil, eval(t, ir.Square, nil, long)))
	// The mean of many large half-precision values.
	many := New(ir.BF16, ir.Shape{4096})
	for i := range many.F {
		many.F[i] = round(ir.BF16, 1e34)
	}
	same(t, bvec(1e34), eval(t, ir.Mean, nil, many))
	// A sum over empty rows.
	same(t, f32(ir.Shape{3, 1}, 0, 0, 0), eval(t, ir.Sum, axes(1), f32(ir.Shape{3, 0})))
}

func TestReportsOfBlocks(t *testing.T) {
	// A matrix times a vector, then added to itself.
	h := f32(ir.Shape{4, 3}, .9, .8, -.9, .1, .45, -.6, -.25, -.41, .51, .6, .1, 0)
	o := eval(t, ir.MatMul, nil, h, f32(ir.Shape{3, 1}, .3, -.2, .1))
	near(t, f32(ir.Shape{4, 1}, .02, -.12, .058, .16), o, 1e-7)
	near(t, f32(ir.Shape{4, 1}, .04, -.24, .116, .32), eval(t, ir.Add, nil, o, o), 1e-7)
	// A length-1 axis is no broadcast axis of its neighbour.
	r := eval(t, ir.Repeat, func(o *ir.Operation) { o.Attrs.Ints = []int{1, 1, 1} }, sequence(ir.F32, ir.Shape{2, 4, 1}, 1))
	b := eval(t, ir.Add, nil, r, f32(ir.Shape{1, 4, 1}, 10, 20, 30, 40))
	same(t, f32(ir.Shape{2, 4, 1}, 22, 44, 66, 88, 30, 52, 74, 96), eval(t, ir.Mul, f32Scalars(2), b))
	// A tensor added to its transpose.
	a := sequence(ir.F32, ir.Shape{3, 3}, 1)
	same(t, f32(ir.Shape{3, 3}, 2, 6, 10, 6, 10, 14, 10, 14, 18), eval(t, ir.Add, nil, a, eval(t, ir.Permute, axes(1, 0), a)))
	// Two reductions over the same axes.
	v := eval(t, ir.Cat, axes(1), sequence(ir.F32, ir.Shape{1, 1, 9}, 1), eval(t, ir.Mul, f32Scalars(10), sequence(ir.F32, ir.Shape{1, 1, 9}, 1)))
	same(t, f32(ir.Shape{1, 2, 1}, 45, 450), eval(t, ir.Sum, axes(2), v))
	e := sequence(ir.F32, ir.Shape{9, 2}, -9)
	same(t, f32(ir.Shape{1, 2, 2}, 75, 120, 750, 1200), eval(t, ir.MatMul, nil, v, e))
}

func TestReportsOfIntegers(t *testing.T) {
	// Products of 32-bit indices.
	at := eval(t, ir.Mul, scalars(ir.I64Scalar(1500000000)), ivec(0, 1, 2, 3, 4, 5, 6, 7, 8))
	same(t, ivec(0, 15e8, 30e8, 45e8, 60e8, 75e8, 90e8, 105e8, 120e8), at)
	// The least integer over −1 traps on some machines.
	same(t, ivec(math.MinInt64), eval(t, ir.Div, scalars(ir.I64Scalar(-1)), ivec(math.MinInt64)))
	// Division truncates.
	same(t, ivec(-3, -3, 3, 3, -4), eval(t, ir.Div, nil, ivec(-7, 7, -7, 7, -8), ivec(2, -2, -2, 2, 2)))
	// What lies beyond the range saturates.
	same(t, ivec(math.MaxInt64, math.MinInt64, 0, 2, -2), cast(vec(3e19, -3e19, nan, 2.9, -2.9), ir.I64, true))
}

// A bf16 sum compared before it was rounded.
func TestReportOfUnroundedSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	random := func() Tensor {
		raw := make([]byte, 2<<12)
		for i := range raw {
			raw[i] = byte(rng.Uint32())
		}
		x, err := FromBytes(ir.BF16, ir.Shape{1 << 12}, raw)
		assert.NoError(t, err)
		return x
	}
	a, b := random(), random()
	sum := eval(t, ir.Add, nil, a, b)
	again := New(ir.BF16, sum.Shape)
	for i := range again.F {
		again.F[i] = float64(ir.BFloat16FromFloat32(float32(a.F[i]) + float32(b.F[i])).Float32())
	}
	same(t, again, sum)
	equal := eval(t, ir.Equal, nil, sum, again)
	for i, v := range sum.F {
		assert.Equal(t, v == v, equal.B[i])
	}
}

// A causal softmax whose last rows were not bounded.
func TestReportOfCausalSoftmax(t *testing.T) {
	const n = 96
	x := New(ir.F32, ir.Shape{1, n, n})
	for i := range x.F {
		x.F[i] = round(ir.F32, (float64(i)/55296-0.5)*20)
		if i%n > i/n {
			x.F[i] = round(ir.F32, x.F[i]-10000)
		}
	}
	y := eval(t, ir.Softmax, axes(2), x)
	assert.InDelta(t, 1, y.F[0], 1e-5)
	assert.InDelta(t, .499910, y.F[n], 1e-5)
	assert.InDelta(t, .500090, y.F[n+1], 1e-5)
	for row := range n {
		sum := 0.0
		for column := range n {
			v := y.F[row*n+column]
			sum += v
			if column > row {
				assert.Zero(t, v)
			}
		}
		assert.InDelta(t, 1, sum, 1e-5)
	}
}

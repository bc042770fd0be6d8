package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/ir"
)

func TestReduceAxes(t *testing.T) {
	x := sequence(ir.F32, ir.Shape{2, 3, 2}, 1)
	same(t, f32(ir.Shape{1, 3, 1}, 18, 26, 34), eval(t, ir.Sum, axes(0, 2), x))
	same(t, f32(ir.Shape{2, 1, 2}, 9, 12, 27, 30), eval(t, ir.Sum, axes(1), x))
	same(t, f32(ir.Shape{1, 1, 1}, 78), eval(t, ir.Sum, nil, x))
	same(t, f32(ir.Shape{1, 1, 1}, 6.5), eval(t, ir.Mean, nil, x))
	same(t, f32(ir.Shape{2, 3, 1}, 2, 12, 30, 56, 90, 132), eval(t, ir.Prod, axes(2), x))
	same(t, f32(ir.Shape{1, 3, 2}, 7, 8, 9, 10, 11, 12), eval(t, ir.Max, axes(0), x))
	same(t, f32(ir.Shape{1, 3, 2}, 1, 2, 3, 4, 5, 6), eval(t, ir.Min, axes(0), x))
	same(t, Ints(ir.Shape{1, 3, 1}, 3, 3, 3), eval(t, ir.ArgMax, axes(0, 2), x))
	same(t, f32(ir.Shape{}, 4), eval(t, ir.Sum, nil, f32(ir.Shape{}, 4)))
}

func TestReduceNothing(t *testing.T) {
	x := f32(ir.Shape{3, 0})
	same(t, f32(ir.Shape{3, 1}, 0, 0, 0), eval(t, ir.Sum, axes(1), x))
	same(t, f32(ir.Shape{3, 1}, 1, 1, 1), eval(t, ir.Prod, axes(1), x))
	same(t, f32(ir.Shape{3, 1}, nan, nan, nan), eval(t, ir.Mean, axes(1), x))
	same(t, f32(ir.Shape{3, 1}, nan, nan, nan), eval(t, ir.Var, axes(1), x))
	same(t, f32(ir.Shape{1, 0}), eval(t, ir.Max, axes(0), x))
	same(t, flags(false), eval(t, ir.Any, nil, flags()))
	same(t, flags(true), eval(t, ir.All, nil, flags()))
	same(t, Ints(ir.Shape{1}, 0), eval(t, ir.Sum, nil, ivec()))
}

// The order is spelled out for sizes where it shows.
func sum32(xs []float64) float64 { return arith{ir.F32}.sum(xs) }

func TestSumOrder(t *testing.T) {
	// 1 and 2⁻²⁴ in the same lane: each addition rounds back to 1, while
	// among themselves the small ones would have carried.
	x := make([]float64, 96)
	x[0], x[32], x[64] = 1, 0x1p-24, 0x1p-24
	assert.Equal(t, 1.0, sum32(x))
	x[0], x[64] = 0x1p-24, 1
	assert.Equal(t, 1+0x1p-23, sum32(x))
	// Lanes 0 and 16 join first.
	y := make([]float64, 32)
	y[0], y[8], y[16] = 0x1p-24, 1, 0x1p-24
	assert.Equal(t, 1+0x1p-23, sum32(y))
	y[8], y[16] = 0x1p-24, 1
	assert.Equal(t, 1.0, sum32(y))
	// Three blocks: the first two join, then the third.
	z := make([]float64, 2*blockElems+1)
	z[0], z[blockElems], z[2*blockElems] = 0x1p-24, 0x1p-24, 1
	assert.Equal(t, 1+0x1p-23, sum32(z))
	z[0], z[2*blockElems] = 1, 0x1p-24
	assert.Equal(t, 1.0, sum32(z))
	// A lane starts from +0, so a sum of −0 is +0.
	assert.False(t, math.Signbit(sum32([]float64{negZero})))
}

func TestSumIsCloseToFloat64(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 31, 33, 1023, 1024, 1025, 5000} {
		xs := make([]float64, n)
		exact, magnitude := 0.0, 0.0
		for i := range xs {
			xs[i] = round(ir.F32, rng.NormFloat64())
			exact += xs[i]
			magnitude += math.Abs(xs[i])
		}
		assert.InDelta(t, exact, sum32(xs), 45*0x1p-24*magnitude)
	}
}

func TestExtremaAndNaN(t *testing.T) {
	x := f32(ir.Shape{3, 4}, 1, nan, 3, nan, negInf, negInf, negInf, negInf, 2, 4, 4, 1)
	same(t, f32(ir.Shape{3, 1}, nan, negInf, 4), eval(t, ir.Max, axes(1), x))
	same(t, f32(ir.Shape{3, 1}, nan, negInf, 1), eval(t, ir.Min, axes(1), x))
	same(t, Ints(ir.Shape{3, 1}, 1, 0, 1), eval(t, ir.ArgMax, axes(1), x))
	same(t, Ints(ir.Shape{3, 1}, 1, 0, 3), eval(t, ir.ArgMin, axes(1), x))
	same(t, vec(0), eval(t, ir.Max, nil, vec(negZero, 0, negZero)))
	same(t, vec(negZero), eval(t, ir.Min, nil, vec(0, negZero, 0)))
	same(t, ivec(0), eval(t, ir.ArgMax, nil, vec(negZero, 0)))
	same(t, ivec(2), eval(t, ir.ArgMax, nil, ivec(math.MinInt64, 3, 4, 4)))
	same(t, ivec(1), eval(t, ir.ArgMin, nil, flags(true, false, false)))
	same(t, ivec(math.MinInt64), eval(t, ir.Min, nil, ivec(math.MaxInt64, math.MinInt64, 0)))
	same(t, ivec(math.MinInt64), eval(t, ir.Sum, nil, ivec(math.MaxInt64, 1)))
	same(t, flags(true), eval(t, ir.Any, nil, flags(false, true)))
	same(t, flags(false), eval(t, ir.All, nil, flags(false, true)))
}

func TestVar(t *testing.T) {
	correction := func(n int) func(*ir.Operation) { return func(o *ir.Operation) { o.Attrs.N = n } }
	same(t, vec(1.25), eval(t, ir.Var, correction(0), vec(10001, 10002, 10003, 10004)))
	near(t, vec(42.666668), eval(t, ir.Var, correction(0), vec(1e8, 1e8+8, 1e8+16)), 1e-5)
	same(t, vec(inf), eval(t, ir.Var, correction(0), vec(-2e30, -1e30, 1e30, 2e30)))
	same(t, vec(0), eval(t, ir.Var, correction(0), vec(1e-30, 2e-30, 3e-30, 4e-30)))
	same(t, vec(nan), eval(t, ir.Var, correction(1), vec(5)))
	same(t, vec(0), eval(t, ir.Var, correction(0), vec(5)))
	same(t, vec(nan), eval(t, ir.Var, correction(0), vec(5, nan)))
	same(t, bvec(1.25), eval(t, ir.Var, correction(0), bvec(1, 2, 3, 4)))
}

func TestHalfTypesAccumulateInFloat32(t *testing.T) {
	ones := func(n int) Tensor {
		x := New(ir.BF16, ir.Shape{n})
		for i := range x.F {
			x.F[i] = 1
		}
		return x
	}
	same(t, bvec(400), eval(t, ir.Sum, nil, ones(400)))
	same(t, bvec(1), eval(t, ir.Mean, nil, ones(70000)))
	assert.Equal(t, 4992.0, eval(t, ir.CumSum, axes(0), ones(5000)).F[4999])
}

func TestCumSum(t *testing.T) {
	mode := func(exclusive, reverse bool) func(*ir.Operation) {
		return func(o *ir.Operation) { o.Attrs.Axes, o.Attrs.Flag, o.Attrs.Reverse = []int{1}, exclusive, reverse }
	}
	x := f32(ir.Shape{2, 3}, 1, 2, 3, 4, 5, 6)
	same(t, f32(ir.Shape{2, 3}, 1, 3, 6, 4, 9, 15), eval(t, ir.CumSum, mode(false, false), x))
	same(t, f32(ir.Shape{2, 3}, 0, 1, 3, 0, 4, 9), eval(t, ir.CumSum, mode(true, false), x))
	same(t, f32(ir.Shape{2, 3}, 6, 5, 3, 15, 11, 6), eval(t, ir.CumSum, mode(false, true), x))
	same(t, f32(ir.Shape{2, 3}, 5, 3, 0, 11, 6, 0), eval(t, ir.CumSum, mode(true, true), x))
	same(t, ivec(math.MaxInt64, math.MinInt64), eval(t, ir.CumSum, axes(0), ivec(math.MaxInt64, 1)))
	same(t, vec(1, inf, nan), eval(t, ir.CumSum, axes(0), vec(1, inf, negInf)))

	tol, err := Tolerance(operation(t, ir.CumSum, axes(0), vec(1, 1, 1)), vec(1, 1, 1))
	assert.NoError(t, err)
	assert.InDelta(t, 4*3*0x1p-24, tol.Abs[2], 0x1p-24, "grows with the number of terms")
}

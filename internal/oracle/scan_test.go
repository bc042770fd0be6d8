package oracle

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func scanned(exclusive, reverse bool) func(*ir.Operation) {
	return func(o *ir.Operation) { o.Attrs.Axes, o.Attrs.Flag, o.Attrs.Reverse = []int{0}, exclusive, reverse }
}

func TestScans(t *testing.T) {
	x := vec(2, -1, 3, 0.5)
	same(t, vec(2, -2, -6, -3), eval(t, ir.CumProd, scanned(false, false), x))
	same(t, vec(1, 2, -2, -6), eval(t, ir.CumProd, scanned(true, false), x))
	same(t, vec(-3, -1.5, 1.5, 0.5), eval(t, ir.CumProd, scanned(false, true), x))
	same(t, vec(2, 2, 3, 3), eval(t, ir.CumMax, scanned(false, false), x))
	same(t, vec(negInf, 2, 2, 3), eval(t, ir.CumMax, scanned(true, false), x))
	same(t, vec(-1, 0.5, 0.5, inf), eval(t, ir.CumMin, scanned(true, true), x))
	same(t, vec(1, nan, nan), eval(t, ir.CumMin, scanned(false, false), vec(1, nan, 0)))
	same(t, vec(negZero, 0), eval(t, ir.CumMax, scanned(false, false), vec(negZero, 0)))
	same(t, IntsOf(ir.U8, ir.Shape{3}, 200, 144, 32), eval(t, ir.CumProd, scanned(false, false), IntsOf(ir.U8, ir.Shape{3}, 200, 2, 2)))
	same(t, IntsOf(ir.U8, ir.Shape{3}, 255, 9, 9), eval(t, ir.CumMin, scanned(true, false), IntsOf(ir.U8, ir.Shape{3}, 9, 200, 2)))
	same(t, IntsOf(ir.I8, ir.Shape{2}, -128, -3), eval(t, ir.CumMax, scanned(true, false), IntsOf(ir.I8, ir.Shape{2}, -3, 5)))
	same(t, dvec(0.1, 0.30000000000000004), eval(t, ir.CumSum, scanned(false, false), dvec(0.1, 0.2)))
	same(t, hvec(65504, inf), eval(t, ir.CumSum, scanned(false, false), hvec(65504, 65504)))
	same(t, vec(1e30, inf, nan), eval(t, ir.CumProd, scanned(false, false), vec(1e30, 1e30, nan)))
	same(t, vec(0, nan), eval(t, ir.CumProd, scanned(false, false), vec(0, inf)))
}

// A product whose parts leave the range may come out in any way.
func TestProductTolerance(t *testing.T) {
	x := vec(1e30, 1e30, 1e-30, 1e-30)
	tol, err := Tolerance(operation(t, ir.CumProd, scanned(false, false), x), x)
	require.NoError(t, err)
	assert.False(t, math.IsInf(tol.Abs[0], 1))
	assert.True(t, math.IsInf(tol.Abs[3], 1))
	x = vec(1, 2, 3, 4)
	tol, err = Tolerance(operation(t, ir.CumProd, scanned(false, false), x), x)
	require.NoError(t, err)
	assert.InDelta(t, 24*5*0x1p-24, tol.Abs[3], 1e-8)
}

func TestOrders(t *testing.T) {
	down := func(o *ir.Operation) { o.Attrs.Axes, o.Attrs.Reverse = []int{0}, true }
	first := func(n int, reverse bool) func(*ir.Operation) {
		return func(o *ir.Operation) { o.Attrs.Axes, o.Attrs.N, o.Attrs.Reverse = []int{0}, n, reverse }
	}
	x := vec(3, nan, negZero, inf, 0, negInf, 3)
	same(t, vec(negInf, negZero, 0, 3, 3, inf, nan), eval(t, ir.Sort, axes(0), x))
	same(t, ivec(5, 2, 4, 0, 6, 3, 1), eval(t, ir.ArgSort, axes(0), x))
	same(t, vec(nan, inf, 3, 3, negZero, 0, negInf), eval(t, ir.Sort, down, x))
	same(t, ivec(1, 3, 0, 6, 2, 4, 5), eval(t, ir.ArgSort, down, x))
	same(t, vec(nan, inf), eval(t, ir.TopK, first(2, true), x))
	same(t, ivec(5, 2, 4), eval(t, ir.ArgTopK, first(3, false), x))
	same(t, vec(), eval(t, ir.TopK, first(0, true), x))
	same(t, flags(false, false, true), eval(t, ir.Sort, axes(0), flags(true, false, false)))
	same(t, f32(ir.Shape{2, 2}, 1, 2, 3, 4), eval(t, ir.Sort, axes(0), f32(ir.Shape{2, 2}, 3, 2, 1, 4)))
	same(t, f32(ir.Shape{2, 2}, 2, 3, 1, 4), eval(t, ir.Sort, axes(1), f32(ir.Shape{2, 2}, 3, 2, 1, 4)))
	same(t, IntsOf(ir.U64, ir.Shape{2}, 1, -1), eval(t, ir.Sort, axes(0), IntsOf(ir.U64, ir.Shape{2}, -1, 1)))
}

func TestMoreReductions(t *testing.T) {
	same(t, vec(1.4679495), eval(t, ir.LogSumExp, nil, vec(0.1, 0.2, 0.7)))
	same(t, vec(1000.69315), eval(t, ir.LogSumExp, nil, vec(1000, 1000)))
	same(t, vec(negInf), eval(t, ir.LogSumExp, nil, vec(negInf, negInf)))
	same(t, vec(negInf), eval(t, ir.LogSumExp, nil, vec()))
	same(t, vec(inf), eval(t, ir.LogSumExp, nil, vec(inf, 1)))
	same(t, vec(nan), eval(t, ir.LogSumExp, nil, vec(inf, nan)))
	same(t, vec(5), eval(t, ir.L2Norm, nil, vec(3, 4)))
	same(t, vec(inf), eval(t, ir.L2Norm, nil, vec(3e30)))
	same(t, vec(0), eval(t, ir.L2Norm, nil, vec()))
	same(t, dvec(3e30), eval(t, ir.L2Norm, nil, dvec(3e30)))
	near(t, vec(4.497941445275415), eval(t, ir.Norm, f32Scalars(3), vec(3, -4)), 1e-6)
	near(t, vec(7), eval(t, ir.Norm, f32Scalars(1), vec(3, -4)), 1e-6)
	near(t, vec(12.0/7), eval(t, ir.Norm, f32Scalars(-1), vec(3, -4)), 1e-6)
	same(t, vec(0), eval(t, ir.Norm, f32Scalars(3), vec()))
	deviation := func(o *ir.Operation) { o.Attrs.N = 1 }
	same(t, vec(1), eval(t, ir.Std, deviation, vec(1, 2, 3)))
	same(t, vec(nan), eval(t, ir.Std, deviation, vec(1)))
	near(t, dvec(1.58113883008419e30), eval(t, ir.Std, nil, dvec(1e30, -1e30, 2e30, -2e30)), 1e16)
	near(t, dvec(1.11803398874989e-30), eval(t, ir.Std, nil, dvec(1e-30, 2e-30, 3e-30, 4e-30)), 1e-44)
	same(t, hvec(100), eval(t, ir.Mean, nil, Floats(ir.F16, ir.Shape{4096}, repeated(100, 4096)...)))
	same(t, hvec(1), eval(t, ir.Mean, nil, Floats(ir.F16, ir.Shape{70000}, repeated(1, 70000)...)))
}

func repeated(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

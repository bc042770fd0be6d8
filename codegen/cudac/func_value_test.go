package cudac

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/codegen/kerneltest/precise"
	"github.com/sinter-ml/sinter/ir"
)

// on applies a function of one float on the device.
func on(t *testing.T, fn ir.ScalarOp, dt ir.DType, x ...float64) []float64 {
	t.Helper()
	d := compiled(t, nvrtctest.Cache(t), fn.String(), applyEntries(fn))
	values := make([]kerneltest.Value, len(x))
	for i := range x {
		values[i].F = x[i]
	}
	var out []float64
	for _, v := range apply(t, d, fn, dt, [][]kerneltest.Value{values}).device {
		out = append(out, v.F)
	}
	return out
}

// Results that users know by heart are exact.
func TestValuesThatAreExact(t *testing.T) {
	for _, dt := range []ir.DType{ir.F32, ir.F64} {
		least, most, digits := -149, 127, 10
		if dt == ir.F64 {
			least, most, digits = -1074, 1023, 22
		}
		var whole, powers, tens, exponents []float64
		for e := least; e <= most; e++ {
			whole, powers = append(whole, float64(e)), append(powers, math.Ldexp(1, e))
		}
		for e := range digits + 1 {
			exponents, tens = append(exponents, float64(e)), append(tens, math.Pow10(e))
		}
		assert.Equal(t, powers, on(t, ir.SExp2, dt, whole...), dt)
		assert.Equal(t, whole, on(t, ir.SLog2, dt, powers...), dt)
		assert.Equal(t, exponents, on(t, ir.SLog10, dt, tens...), dt)
		assert.Equal(t, []float64{1, 1}, on(t, ir.SExp, dt, 0, math.Copysign(0, -1)), dt)
		assert.Equal(t, []float64{1, -1, 1}, on(t, ir.STanh, dt, 20, -20, math.Inf(1)), dt)
		assert.Equal(t, []float64{100}, on(t, ir.SSoftplus, dt, 100), dt)
		assert.Equal(t, []float64{0, 0}, on(t, ir.SLgamma, dt, 1, 2), dt)
		assert.Equal(t, []float64{0}, on(t, ir.SLog, dt, 1), dt)
	}
}

// Large operands of sine are reduced rightly, and tails do not vanish early.
func TestValuesThatAreHard(t *testing.T) {
	near := func(want, got float64, ulps float64) {
		t.Helper()
		assert.LessOrEqual(t, ulpsApart(ir.F32, want, got), ulps, "want %v, got %v", want, got)
	}
	// The float32 that comes nearest to a multiple of π/2 (Muller, "Elementary
	// functions", 2016).
	steep := 16367173 * math.Exp2(72)
	sines := on(t, ir.SSin, ir.F32, math.MaxFloat32, 1e10, steep)
	near(-0.52187652333365854, sines[0], 2)
	near(-0.48750602508751069, sines[1], 2)
	near(1, sines[2], 0)
	near(-1.6147697982476212e-9, on(t, ir.SCos, ir.F32, steep)[0], 2)
	near(3.720075976020836e-44, on(t, ir.SSigmoid, ir.F32, -100)[0], 4)
	near(-3.720075976020836e-42, on(t, ir.SSilu, ir.F32, -100)[0], 4)
	near(-2.9892216500836705e-39, on(t, ir.SGelu, ir.F32, -13.25)[0], 4)
	near(1e-8, on(t, ir.SExpm1, ir.F32, float64(float32(1e-8)))[0], 2)
	near(1e-8, on(t, ir.SLog1p, ir.F32, float64(float32(1e-8)))[0], 2)
}

// Far out e^x is subnormal in F64, while its product with x has more digits.
func TestTailsOfActivations(t *testing.T) {
	for fn, operands := range map[ir.ScalarOp][]float64{
		ir.SSilu:     {-701, -710, -740.240021745833, -750},
		ir.SGelu:     {-0.71, -36.9, -37.1, -38.13450895135399},
		ir.SGeluTanh: {-21.2, -21.5, -21.9, -22},
		ir.SErfc:     {0.51, 26, 27},
	} {
		for i, got := range on(t, fn, ir.F64, operands...) {
			want := precise.Function(fn)(precise.Of(operands[i]))
			assert.LessOrEqual(t, precise.Distance(got, want), FuncBound(fn, ir.F64), "%v(%v) = %v", fn, operands[i], got)
		}
	}
}

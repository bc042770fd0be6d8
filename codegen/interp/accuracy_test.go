package interp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/codegen/kerneltest/precise"
	"github.com/sinter-ml/sinter/ir"
)

// The errors of functions in F64 are what the numeric rules allow, or near the
// zeros of Lgamma and Digamma 1e-13.
func TestAccuracyF64(t *testing.T) {
	for _, fn := range ir.ScalarOps() {
		f := precise.Function(fn)
		if f == nil {
			continue
		}
		t.Run(fn.String(), func(t *testing.T) {
			t.Parallel()
			x := precise.Operands(rand.New(rand.NewPCG(1, uint64(fn))), fn, kernels(8, 60))
			require.NotEmpty(t, x)
			got := make([]float64, len(x))
			unaryF64ToF64[fn](got, x)
			worst, at := 0.0, 0.0
			for i, v := range x {
				want := f(precise.Of(v))
				d := precise.Distance(got[i], want)
				w, _ := want.Float64()
				if (fn == ir.SLgamma || fn == ir.SDigamma) && math.Abs(w) < 8 && math.Abs(got[i]-w) <= 1e-13 {
					continue
				}
				if d > worst || d != d {
					worst, at = d, v
				}
			}
			t.Logf("worst error %.3g ulp at %v", worst, at)
			if !(worst <= kerneltest.Ulps(fn)) {
				t.Errorf("%v(%v) is %.3g ulp off", fn, at, worst)
			}
		})
	}
}

// Functions of two floats.
func TestAccuracyBinaryF64(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, fn := range []ir.ScalarOp{ir.SPow, ir.SAtan2, ir.SHypot} {
		worst := 0.0
		for range kernels(100, 1500) {
			x, y := precise.Operands2(r, fn)
			var d [1]float64
			binaryF64ToF64[fn].vv(d[:], []float64{x}, []float64{y})
			if e := precise.Distance(d[0], precise.Function2(fn)(precise.Of(x), precise.Of(y))); e > kerneltest.Ulps(fn) {
				t.Errorf("%v(%v, %v) is %.3g ulp off", fn, x, y, e)
			} else {
				worst = max(worst, e)
			}
		}
		t.Logf("%v: worst error %.3g ulp", fn, worst)
	}
}

// The last operands before the result overflows.
func TestNearOverflow(t *testing.T) {
	for _, op := range []ir.ScalarOp{ir.SExp, ir.SSinh, ir.SCosh} {
		last := 709.78 // of exp; half of it overflows log 2 later
		if op != ir.SExp {
			last = 710.47
		}
		for _, x := range []float64{709, 709.5, 709.7, last} {
			var d [1]float64
			unaryF64ToF64[op](d[:], []float64{x})
			if e := precise.Distance(d[0], precise.Function(op)(precise.Of(x))); !(e <= 2) {
				t.Errorf("%v(%v) = %v is %.3g ulp off", op, x, d[0], e)
			}
		}
		var d [1]float64
		unaryF64ToF64[op](d[:], []float64{711})
		if !math.IsInf(d[0], 1) {
			t.Errorf("%v(711) = %v", op, d[0])
		}
	}
}

// Products of which a factor is subnormal, though the result has more digits.
func TestTailsOfActivations(t *testing.T) {
	for _, c := range []struct {
		op ir.ScalarOp
		x  []float64
	}{
		{ir.SSilu, []float64{-699, -701, -710, -740.240021745833, -750}},
		{ir.SGelu, []float64{-36.9, -37.1, -38.13450895135399}},
		{ir.SGeluTanh, []float64{-21.2, -21.3, -21.5, -21.9, -22}},
	} {
		for _, x := range c.x {
			var d [1]float64
			unaryF64ToF64[c.op](d[:], []float64{x})
			e := precise.Distance(d[0], precise.Function(c.op)(precise.Of(x)))
			assert.LessOrEqual(t, e, kerneltest.Ulps(c.op), "%v(%v) = %v", c.op, x, d[0])
		}
	}
}

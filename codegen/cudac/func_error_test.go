package cudac

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/codegen/kerneltest/precise"
	"github.com/sinter-ml/sinter/ir"
)

// normal is the number of Box and Muller that two random words give.
func normal(w1, w2 uint32, second bool) float64 {
	r := math.Sqrt(-2 * math.Log(float64(w1>>8+1)*0x1p-24))
	sin, cos := math.Sincos(2 * math.Pi * float64(w2>>8) * 0x1p-24)
	if second {
		return r * sin
	}
	return r * cos
}

// ulpOf returns the distance of neighbours of type t at x.
func ulpOf(dt ir.DType, x float64) float64 {
	x = math.Abs(x)
	if dt == ir.F32 {
		x = min(x, math.MaxFloat32)
		_, e := math.Frexp(x)
		return math.Ldexp(1, max(e-24, -149))
	}
	_, e := math.Frexp(min(x, math.MaxFloat64))
	return math.Ldexp(1, max(e-53, -1074))
}

// ulpsApart returns how far two results of type t are from each other in ulps: 0 for
// the same value, NaNs being one, infinite for values of different kinds. The
// greatest number and infinity are neighbours; signs of zeros count.
func ulpsApart(dt ir.DType, want, got float64) float64 {
	limit := math.MaxFloat64
	if dt == ir.F32 {
		limit = math.MaxFloat32
	}
	next := limit + ulpOf(dt, limit)/2*2
	finite := func(x float64) float64 { return min(max(x, -next), next) }
	switch {
	case want != want || got != got:
		if want != want && got != got {
			return 0
		}
		return math.Inf(1)
	case want == got && math.Signbit(want) == math.Signbit(got):
		return 0
	case want == 0 && got == 0, math.Signbit(want) != math.Signbit(got):
		return math.Inf(1)
	case dt == ir.F64 && (math.IsInf(want, 0) || math.IsInf(got, 0)):
		if math.IsInf(want, 0) != math.IsInf(got, 0) && min(math.Abs(want), math.Abs(got)) == limit {
			return 1
		}
		return math.Inf(1)
	}
	return math.Abs(finite(want)-finite(got)) / ulpOf(dt, want)
}

// worst keeps the greatest error seen of each function and type.
type worst struct {
	mu   sync.Mutex
	rows []string
}

func (w *worst) add(fn ir.ScalarOp, dt ir.DType, ulps float64, at []float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows = append(w.rows, fmt.Sprintf("%-9v %v  %.3f ulp of %g allowed, at %v", fn, dt, ulps, FuncBound(fn, dt), at))
}

func (w *worst) log(t *testing.T) {
	slices.Sort(w.rows)
	t.Logf("worst errors:\n%s", strings.Join(w.rows, "\n"))
}

// inexact reports whether a function of floats is not correctly rounded.
func inexact(fn ir.ScalarOp) bool { return FuncBound(fn, ir.F32) != 0 }

// nearRoot reports whether a result may be off absolutely: near the zeros of Lgamma
// and Digamma.
func nearRoot(fn ir.ScalarOp, dt ir.DType, want, got float64) bool {
	within := map[ir.DType]float64{ir.F32: 1e-6, ir.F64: 1e-13}[dt]
	return (fn == ir.SLgamma || fn == ir.SDigamma) && math.Abs(want) < 0.5 && math.Abs(want-got) <= within
}

// definition returns a function's value in float64.
func definition(fn ir.ScalarOp, x []float64) float64 {
	if len(x) == 2 {
		return kerneltest.Function2(fn)(x[0], x[1])
	}
	return kerneltest.Function(fn)(x[0])
}

// Functions of floats keep to their bounds on special values and over all
// exponents: in F32 against their definitions in float64; in F64 against the portable
// engine, which may be wrong by as much itself.
func TestFunctionErrors(t *testing.T) {
	var table worst
	t.Run("functions", func(t *testing.T) {
		eachFunction(t, inexact, func(t *testing.T, d *device, fn ir.ScalarOp) {
			for _, dt := range []ir.DType{ir.F32, ir.F64} {
				operands := combinations(fn, dt, samples())
				r := apply(t, d, fn, dt, operands)
				most, at := 0.0, []float64{0}
				for i, got := range r.device {
					x := make([]float64, len(operands))
					for j := range x {
						x[j] = operands[j][i].F
					}
					want, bound := r.cpu[i].F, FuncBound(fn, dt)+kerneltest.Ulps(fn)
					if dt == ir.F32 {
						want, bound = definition(fn, x), FuncBound(fn, dt)
					}
					if nearRoot(fn, dt, want, got.F) {
						continue
					}
					e := ulpsApart(dt, want, got.F)
					require.LessOrEqual(t, e, bound, "%v %v of %v: want %v, got %v", fn, dt, x, want, got.F)
					if e > most {
						most, at = e, x
					}
				}
				table.add(fn, dt, most, at)
			}
		})
	})
	table.log(t)
}

// In F64 functions keep to their bounds against arbitrary precision.
func TestPreciseErrors(t *testing.T) {
	var table worst
	t.Run("functions", func(t *testing.T) {
		eachFunction(t, inexact, func(t *testing.T, d *device, fn ir.ScalarOp) {
			r := rand.New(rand.NewPCG(2, uint64(fn)))
			var operands [][]kerneltest.Value
			n := 100
			if testing.Short() {
				n = 4
			}
			if precise.Function2(fn) != nil {
				operands = make([][]kerneltest.Value, 2)
				for range 5 * n {
					x, y := precise.Operands2(r, fn)
					operands[0] = append(operands[0], kerneltest.Value{F: x})
					operands[1] = append(operands[1], kerneltest.Value{F: y})
				}
			} else {
				operands = make([][]kerneltest.Value, 1)
				for _, x := range precise.Operands(r, fn, n) {
					operands[0] = append(operands[0], kerneltest.Value{F: x})
				}
			}
			most, at := 0.0, []float64{0}
			for i, got := range apply(t, d, fn, ir.F64, operands).device {
				x := []float64{operands[0][i].F}
				var want *big.Float
				if len(operands) == 2 {
					x = append(x, operands[1][i].F)
					want = precise.Function2(fn)(precise.Of(x[0]), precise.Of(x[1]))
				} else {
					want = precise.Function(fn)(precise.Of(x[0]))
				}
				if w, _ := want.Float64(); nearRoot(fn, ir.F64, w, got.F) {
					continue
				}
				e := precise.Distance(got.F, want)
				require.LessOrEqual(t, e, FuncBound(fn, ir.F64), "%v of %v: want %.20g, got %v", fn, x, want, got.F)
				if e > most {
					most, at = e, x
				}
			}
			table.add(fn, ir.F64, most, at)
		})
	})
	table.log(t)
}

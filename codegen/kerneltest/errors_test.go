package kerneltest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// uncertain returns a number of a float type with an error, often 0, and another
// number within it.
func uncertain(r *rand.Rand, t ir.DType) (v, other Value) {
	m := &Builder{Rand: r}
	v = Value{F: m.randomValue(t).F}
	if t == ir.F32 {
		v.F = float64(float32(v.F))
	}
	if r.IntN(3) == 0 || !t.IsFloat() || v.F != v.F || math.IsInf(v.F, 0) || math.Abs(v.F) > 1e30 {
		return v, v
	}
	v.Err = math.Abs(v.F) * math.Ldexp(r.Float64(), -r.IntN(30))
	if r.IntN(4) == 0 {
		v.Err = r.Float64()
	}
	if v.Err == 0 {
		return v, v
	}
	other = Value{F: v.F + (2*r.Float64()-1)*v.Err}
	if t == ir.F32 {
		other.F = float64(float32(other.F))
	}
	if math.Abs(other.F-v.F) > v.Err {
		other.F = v.F
	}
	return v, other
}

// requireWithin checks that another result lies within the error of one.
func requireWithin(t *testing.T, r, other Value, what string, args ...any) bool {
	t.Helper()
	ok := r.Err == open || same(r, other) || r.Err > 0 && math.Abs(r.F-other.F) <= r.Err
	require.True(t, ok, "%s of %v: %+v, and %+v for other operands", what, args, r, other)
	return r.Err > 0 && r.Err < open
}

// The result for any operands within their errors lies within the error of the
// result.
func TestErrorsOfFunctionsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	for _, fn := range ir.ScalarOps() {
		for _, ty := range OperandTypes(fn) {
			if !ty.IsFloat() {
				continue
			}
			bounded := 0
			for range 1500 {
				var a, b []Value
				for range fn.Sig().Arity {
					x, y := uncertain(r, ty)
					a, b = append(a, x), append(b, y)
				}
				got, other := apply(fn, ty, a...), Apply(fn, ty, b)
				if requireWithin(t, got, other, fn.String(), a, b) {
					bounded++
				}
			}
			sig := fn.Sig()
			if inexact[fn].bending != wild || Ulps(fn) == 0 && !sig.ResultBool && fn != ir.SFloorDiv && fn != ir.SRemainder && fn != ir.SFmod && fn != ir.SFrac && fn != ir.SSign {
				assert.Greater(t, bounded, 75, "%v of %v: hardly anything has a bound", fn, ty)
			}
		}
	}
}

func TestErrorsOfCastsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 12))
	for _, from := range []ir.DType{ir.F32, ir.F64} {
		for _, to := range ir.DTypes() {
			bounded := 0
			for range 1500 {
				a, b := uncertain(r, from)
				got, other := Cast(from, to, false, a), Cast(from, to, false, b)
				got.Err = castError(from, to, false, a, got)
				if requireWithin(t, got, other, to.String(), a, b) {
					bounded++
				}
			}
			if to.IsFloat() {
				assert.Greater(t, bounded, 250, "%v to %v", from, to)
			}
		}
	}
}

func TestErrorsOfReductionsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 13))
	for op := codegen.RSum; op <= codegen.RArgMin; op++ {
		for _, ty := range []ir.DType{ir.F32, ir.F64} {
			bounded := 0
			for range 500 {
				var a, b []Value
				for range 1 + r.IntN(100) {
					x, y := uncertain(r, ty)
					if r.IntN(4) > 0 {
						x = Value{F: float64(float32(r.NormFloat64()))}
						x.Err = math.Abs(x.F) * 0x1p-20
						y = Value{F: float64(float32(x.F * (1 + 0x1p-21)))}
					}
					a, b = append(a, x), append(b, y)
				}
				got, other := reduce(op, ty, a), reduceInOrder(op, ty, b)
				if requireWithin(t, got, other, op.String()) {
					bounded++
				}
			}
			if op < codegen.RArgMax {
				assert.Greater(t, bounded, 50, "%v of %v", op, ty)
			}
		}
	}
}

// The bound of a contraction holds for another order of products, and is tight
// enough that a product left out shows.
func TestErrorOfContraction(t *testing.T) {
	c := MatMul([]int{5, 6, 300}, ir.F32).Case
	tol, ok := EvaluateWithin(c.Kernel, c.Launch, c.Mem)
	require.True(t, ok)
	for row := range 5 {
		for col := range 6 {
			back, short := float32(0), float32(0)
			for k := 299; k >= 0; k-- {
				a, b := ReadElem(c.Mem[0], ir.F32, row*300+k).F, ReadElem(c.Mem[1], ir.F32, k*6+col).F
				back = float32(math.FMA(a, b, float64(back)))
				if k != 77 {
					short = float32(math.FMA(a, b, float64(short)))
				}
			}
			i := row*6 + col
			want, bound := ReadElem(c.Mem[2], ir.F32, i).F, tol.Each[2][i]
			assert.LessOrEqual(t, math.Abs(want-float64(back)), bound)
			if left := ReadElem(c.Mem[0], ir.F32, row*300+77).F * ReadElem(c.Mem[1], ir.F32, 77*6+col).F; math.Abs(left) > 0.05 {
				assert.Greater(t, math.Abs(want-float64(short)), bound)
			}
		}
	}
}

// Bounds of the named kernels are near what the numbers are good for: a thousandth
// of the greatest value, or a few units of a small type.
func TestBoundsAreTight(t *testing.T) {
	for _, c := range Golden() {
		tol, ok := EvaluateWithin(c.Kernel, c.Launch, c.Mem)
		require.True(t, ok)
		for b, buffer := range c.Kernel.Buffers {
			if tol.Each[b] == nil {
				continue
			}
			greatest, worst := 0.0, 0.0
			for i, e := range tol.Each[b] {
				greatest, worst = max(greatest, math.Abs(ReadElem(c.Mem[b], buffer.DType, i).F)), max(worst, e)
			}
			allowed := greatest/1000 + 2*unit(buffer.DType, greatest)
			assert.LessOrEqual(t, worst, allowed, "%s buffer %d, up to %g", c.Kernel.Name, b, greatest)
		}
	}
}

package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/ir"
)

// Values of the rules and of Python's // and %, which follow them.
func TestFloatDivision(t *testing.T) {
	tests := []struct{ a, b, floor, rest, fmod float64 }{
		{7, 2, 3, 1, 1}, {-7, 2, -4, 1, -1}, {7, -2, -4, -1, 1}, {-7, -2, 3, -1, -1},
		{6, 2, 3, 0, 0}, {-6, 2, -3, 0, negZero}, {6, -2, -3, negZero, 0}, {-6, -2, 3, negZero, negZero},
		{5, 0, inf, nan, nan}, {-5, 0, negInf, nan, nan}, {0, 0, nan, nan, nan}, {5, negZero, negInf, nan, nan},
		{inf, 2, nan, nan, nan}, {3, inf, 0, 3, 3}, {-3, inf, -1, inf, -3}, {3, negInf, -1, negInf, 3}, {-3, negInf, 0, -3, -3},
		{nan, 2, nan, nan, nan}, {2, nan, nan, nan, nan}, {0, 5, 0, 0, 0}, {negZero, 5, negZero, 0, negZero},
		{-0x1p-140, 1, -1, 1, -0x1p-140}, {1, 0x1p-149, inf, 0, 0},
	}
	for _, tt := range tests {
		for _, d := range []ir.DType{ir.F32, ir.F64} {
			if d == ir.F64 && tt.b == 0x1p-149 {
				continue // finite there
			}
			a, b := Floats(d, ir.Shape{1}, tt.a), Floats(d, ir.Shape{1}, tt.b)
			one := func(v float64) Tensor { return Floats(d, ir.Shape{1}, v) }
			same(t, one(tt.floor), eval(t, ir.FloorDiv, nil, a, b))
			same(t, one(tt.rest), eval(t, ir.Remainder, nil, a, b))
			same(t, one(tt.fmod), eval(t, ir.Fmod, nil, a, b))
		}
	}
	// A quotient that rounds up to the next integer.
	same(t, vec(9, 4, 29), eval(t, ir.FloorDiv, nil, vec(1, 0.5, 6), vec(0.1, 0.1, 0.2)))
	same(t, dvec(9, 4, 29), eval(t, ir.FloorDiv, nil, dvec(1, 0.5, 6), dvec(0.1, 0.1, 0.2)))
}

func TestFmodAgreesWithGo(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 5000 {
		a := math.Ldexp(r.Float64()-0.5, r.IntN(200)-100)
		b := math.Ldexp(r.Float64()-0.5, r.IntN(200)-100)
		assert.Equal(t, math.Mod(a, b), fmod(a, b), "%v %v", a, b)
		q, rest := quotient(a, b)
		if q.IsInt64() && math.Abs(float64(q.Int64())) < 1<<50 {
			assert.Equal(t, math.Round((a-rest)/b), float64(q.Int64()), "%v %v", a, b)
		}
	}
}

func TestQuotientsTooLargeToCount(t *testing.T) {
	a, b := vec(3e38, 1e8, 5), vec(3, 0.7, 2)
	tol, err := Tolerance(operation(t, ir.FloorDiv, nil, a, b), a, b)
	assert.NoError(t, err)
	assert.Positive(t, tol.Abs[0])
	assert.Positive(t, tol.Abs[1])
	assert.Zero(t, tol.Abs[2])
}

func TestCopySign(t *testing.T) {
	same(t, vec(1, -1, inf, negZero, nan), eval(t, ir.CopySign, nil, vec(-1, 1, negInf, 0, nan), vec(3, negZero, 1, -2, 1)))
	tol, err := Tolerance(operation(t, ir.CopySign, nil, vec(1, 1), vec(1, nan)), vec(1, 1), vec(1, nan))
	assert.NoError(t, err)
	assert.Equal(t, []bool{false, true}, tol.Any)
}

func TestHypotAndAtan2(t *testing.T) {
	same(t, vec(5, 3e38, inf, inf, nan, 0x1p-149), eval(t, ir.Hypot, nil, vec(3, 3e38, negInf, nan, nan, 0x1p-149), vec(4, 1, nan, inf, 1, 0)))
	same(t, dvec(5e300), eval(t, ir.Hypot, nil, dvec(3e300), dvec(4e300)))
	pi := math.Pi
	y, x := vec(0, negZero, 0, negZero, 1, -1, inf, inf, 1, -1, nan, 1, 1e-30), vec(1, 1, -1, -1, 0, 0, inf, negInf, negInf, negInf, 1, inf, -1e30)
	same(t, vec(0, negZero, pi, -pi, pi/2, -pi/2, pi/4, 3*pi/4, pi, -pi, nan, 0, pi), eval(t, ir.Atan2, nil, y, x))
	r := rand.New(rand.NewPCG(43, 44))
	for range 2000 {
		y, x := math.Ldexp(r.Float64()-0.5, r.IntN(40)-20), math.Ldexp(r.Float64()-0.5, r.IntN(40)-20)
		assert.InEpsilon(t, math.Atan2(y, x), wideAtan2(y, x).hi, 1e-15)
		assert.InEpsilon(t, math.Hypot(y, x), wideHypot(y, x).hi, 1e-15)
	}
}

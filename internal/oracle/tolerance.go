package oracle

import (
	"fmt"
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// Tol is how far a result may be from the oracle's. The zero Tol asks for the
// same bits, all NaNs counting as one value.
type Tol struct {
	// ULPs is the greatest distance in representable values of the dtype.
	ULPs int64
	// Abs, if not nil, is a bound on the absolute error of each element; what
	// is within it passes whatever the ULPs. +Inf: an engine that computes in
	// float32 may overflow here, anything passes.
	Abs []float64
}

// ulps is the accuracy the operation rules ask of each float32 function. Kinds
// that are not here are exact.
var ulps = map[ir.Kind]int64{
	ir.Exp:      1,
	ir.Log:      1,
	ir.Expm1:    2,
	ir.Log1p:    2,
	ir.Rsqrt:    2,
	ir.Sin:      2,
	ir.Cos:      2,
	ir.Tanh:     2,
	ir.Erf:      2,
	ir.Pow:      4,
	ir.Sigmoid:  4,
	ir.Silu:     4,
	ir.Gelu:     4,
	ir.GeluTanh: 4,
	ir.Softplus: 4,
}

// tolerance returns the tolerance of an evaluated call.
func (c *call) tolerance(out Tensor) Tol {
	if !out.DType.IsFloat() {
		return Tol{}
	}
	n := ulps[c.op.Kind]
	if c.abs != nil || n > 0 && out.DType == ir.BF16 {
		// One for the final rounding. A float32 result that is a few ulps off
		// rounds to a neighbouring BF16 at most.
		n = 1
	}
	return Tol{ULPs: n, Abs: c.abs}
}

// Tolerance returns how far from EvalOp's the result of an engine may be for
// these operands: nothing where the rules promise bits, ulps for functions,
// and for contractions, scans and composites a bound derived from the operands.
func Tolerance(op *ir.Operation, inputs ...Tensor) (Tol, error) {
	_, tol, err := evalOp(op, inputs)
	return tol, err
}

// CheckOp evaluates op and compares an engine's result with it.
func CheckOp(op *ir.Operation, got Tensor, inputs ...Tensor) error {
	want, tol, err := evalOp(op, inputs)
	if err != nil {
		return err
	}
	if err := Compare(got, want, tol); err != nil {
		return fmt.Errorf("%v: %w", op.Kind, err)
	}
	return nil
}

// Compare reports the first element of got that is farther from want than tol
// allows: its index, both values and their distance in ulps.
func Compare(got, want Tensor, tol Tol) error {
	if got.DType != want.DType || !got.Shape.Equal(want.Shape) {
		return fmt.Errorf("got %v%v, want %v%v", got.DType, got.Shape, want.DType, want.Shape)
	}
	var failed error
	each(want.Shape, func(pos int, index []int) {
		if failed != nil {
			return
		}
		if want.DType.IsFloat() {
			failed = compareFloat(got, want, tol, pos, index)
		} else if got.format(pos) != want.format(pos) {
			failed = fmt.Errorf("at %v: got %s, want %s", index, got.format(pos), want.format(pos))
		}
	})
	return failed
}

func compareFloat(got, want Tensor, tol Tol, pos int, index []int) error {
	g, w := got.F[pos], want.F[pos]
	allowed := 0.0
	if tol.Abs != nil {
		allowed = tol.Abs[pos]
	}
	distance := Ulps(want.DType, g, w)
	sameZero := g != 0 || w != 0 || math.Signbit(float64(g)) == math.Signbit(float64(w))
	switch {
	case math.IsInf(allowed, 1),
		g != g && w != w,
		distance <= tol.ULPs && sameZero,
		allowed > 0 && math.Abs(float64(g)-float64(w)) <= allowed:
		return nil
	}
	return fmt.Errorf("at %v: got %v (%#08x), want %v (%#08x): %d ulps apart, %d allowed, or %g absolute",
		index, g, math.Float32bits(g), w, math.Float32bits(w), distance, tol.ULPs, allowed)
}

// Ulps returns how many representable values of a float dtype lie from a to b;
// both zeros are one. A NaN is farther than everything but a NaN.
func Ulps(dtype ir.DType, a, b float32) int64 {
	if a != a || b != b {
		if a != a && b != b {
			return 0
		}
		return math.MaxInt64
	}
	d := ordinal(dtype, a) - ordinal(dtype, b)
	return max(d, -d)
}

// ordinal numbers the values of a dtype in order, zero being 0.
func ordinal(dtype ir.DType, x float32) int64 {
	b := math.Float32bits(x)
	n := int64(b & 0x7fffffff)
	if dtype == ir.BF16 {
		n >>= 16
	}
	if b>>31 == 1 {
		return -n
	}
	return n
}

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
	// the compute dtype may overflow here, anything passes.
	Abs []float64
	// Any, if not nil, says which elements the rules leave open.
	Any []bool
}

// accuracy is what the operation rules ask of float results, in units of the
// last place; integers and bools are exact everywhere.
type accuracy int64

const (
	// sameBits: exactly rounded. A few elements may be open, see Tol.Any.
	sameBits accuracy = 0
	// bounded: within a bound that is derived from the operands, or one unit,
	// the final rounding.
	bounded accuracy = -1
)

// accuracies has a row for every kind.
var accuracies = map[accuracy][]ir.Kind{
	sameBits: {
		ir.Sqrt, ir.Recip, ir.Round, ir.Floor, ir.Ceil, ir.Trunc, ir.Frac, ir.IsNaN, ir.IsInf, ir.IsFinite,
		ir.Abs, ir.Neg, ir.Sign, ir.Square, ir.Not, ir.BitwiseNot, ir.Cast, ir.Bitcast,
		ir.Relu, ir.LeakyRelu, ir.PRelu, ir.ReluBackward, ir.LeakyReluBackward,
		ir.Add, ir.Sub, ir.Mul, ir.Div, ir.FloorDiv, ir.Remainder, ir.Fmod, ir.CopySign, ir.Maximum, ir.Minimum,
		ir.Equal, ir.NotEqual, ir.Less, ir.LessEqual, ir.Greater, ir.GreaterEqual, ir.And, ir.Or, ir.Xor,
		ir.BitwiseAnd, ir.BitwiseOr, ir.BitwiseXor, ir.ShiftLeft, ir.ShiftRight,
		ir.Where, ir.Clamp, ir.MulAdd,
		ir.Full, ir.Arange, ir.Uniform, ir.Bernoulli, ir.RandInt,
		ir.Reshape, ir.Permute, ir.Expand, ir.Slice, ir.Flip, ir.Unfold, ir.Diagonal, ir.Cat, ir.Repeat, ir.Pad,
		ir.Select, ir.Gather, ir.Embedding, ir.GatherND,
		ir.SliceAssign, ir.SelectAssign, ir.Scatter, ir.ScatterND, ir.Set, ir.SetSlice, ir.SetSelect, ir.ScatterAdd,
		ir.Sum, ir.Mean, ir.Prod, ir.Max, ir.Min, ir.ArgMax, ir.ArgMin, ir.Any, ir.All, ir.L2Norm, ir.Var, ir.Std,
		ir.CumMax, ir.CumMin, ir.Sort, ir.ArgSort, ir.TopK, ir.ArgTopK, ir.IntMatMul,
		ir.Custom,
	},
	1: {ir.Exp, ir.Exp2, ir.Log, ir.Log2, ir.Log10},
	2: {ir.Expm1, ir.Log1p, ir.Rsqrt, ir.Sin, ir.Cos, ir.Tan, ir.Asin, ir.Acos, ir.Atan, ir.Sinh, ir.Cosh, ir.Tanh, ir.Erf},
	4: {
		ir.Asinh, ir.Acosh, ir.Atanh, ir.Erfc, ir.Erfinv, ir.Lgamma, ir.Digamma, ir.Pow, ir.Atan2, ir.Hypot,
		ir.Sigmoid, ir.LogSigmoid, ir.HardSigmoid, ir.Silu, ir.HardSwish, ir.Mish, ir.Gelu, ir.GeluTanh, ir.Softplus, ir.Softsign,
		ir.Elu, ir.Selu, ir.Celu,
		ir.EluBackward, ir.SeluBackward, ir.CeluBackward, ir.SigmoidBackward, ir.TanhBackward, ir.LogSigmoidBackward,
		ir.HardSigmoidBackward, ir.SiluBackward, ir.HardSwishBackward, ir.MishBackward, ir.GeluBackward, ir.GeluTanhBackward,
		ir.SoftplusBackward, ir.SoftsignBackward,
	},
	bounded: {
		ir.Normal, ir.LogSumExp, ir.Norm, ir.CumSum, ir.CumProd, ir.MatMul, ir.Linear,
		ir.Softmax, ir.LogSoftmax, ir.LayerNorm, ir.RMSNorm, ir.GroupNorm, ir.BatchNorm, ir.Attention,
		ir.SoftmaxBackward, ir.LogSoftmaxBackward, ir.LayerNormBackward, ir.RMSNormBackward,
	},
}

// accuracyOf is accuracies by kind.
var accuracyOf = func() map[ir.Kind]accuracy {
	out := make(map[ir.Kind]accuracy)
	for a, kinds := range accuracies {
		for _, k := range kinds {
			out[k] = a
		}
	}
	return out
}()

// tolerance returns the tolerance of an evaluated call.
func (c *call) tolerance(out Tensor) Tol {
	if !isFloat(out.DType) {
		return Tol{Any: c.any}
	}
	a := accuracyOf[c.op.Kind]
	if a == bounded || a > 0 && out.DType.IsHalf() {
		// A float32 result that is a few units off rounds to a neighbouring
		// 16-bit float at most.
		a = 1
	}
	return Tol{ULPs: int64(a), Abs: c.abs, Any: c.any}
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
		if failed != nil || tol.Any != nil && tol.Any[pos] {
			return
		}
		if isFloat(want.DType) {
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
	sameZero := g != 0 || w != 0 || math.Signbit(g) == math.Signbit(w)
	switch {
	case math.IsInf(allowed, 1),
		g != g && w != w,
		distance <= tol.ULPs && sameZero,
		allowed > 0 && math.Abs(g-w) <= allowed:
		return nil
	}
	return fmt.Errorf("at %v: got %v (%#x), want %v (%#x): %d ulps apart, %d allowed, or %g absolute",
		index, g, encode(got.DType, g), w, encode(want.DType, w), distance, tol.ULPs, allowed)
}

// Ulps returns how many representable values of a float dtype lie from a to b;
// both zeros are one. A NaN is farther than everything but a NaN.
func Ulps(dtype ir.DType, a, b float64) int64 {
	if a != a || b != b {
		if a != a && b != b {
			return 0
		}
		return math.MaxInt64
	}
	x, y := ordinal(dtype, a), ordinal(dtype, b)
	if d := max(x, y) - min(x, y); d >= 0 {
		return d
	}
	return math.MaxInt64
}

// ordinal numbers the values of a dtype in order, zero being 0.
func ordinal(dtype ir.DType, x float64) int64 {
	n := int64(encode(dtype, math.Abs(x)))
	if math.Signbit(x) {
		return -n
	}
	return n
}

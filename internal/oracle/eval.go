package oracle

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// evaluators has a function for every kind.
var evaluators = map[ir.Kind]func(*call) (Tensor, error){
	ir.Cast:      evalCast,
	ir.LeakyRelu: evalLeakyRelu,
	ir.Where:     evalWhere,
	ir.Clamp:     evalClamp,
	ir.MulAdd:    evalMulAdd,

	ir.Full:      evalFull,
	ir.Arange:    evalArange,
	ir.Uniform:   evalUniform,
	ir.Normal:    evalNormal,
	ir.Bernoulli: evalBernoulli,
	ir.RandInt:   evalRandInt,

	ir.Reshape: evalReshape,
	ir.Permute: evalPermute,
	ir.Expand:  evalExpand,
	ir.Slice:   evalSlice,
	ir.Flip:    evalFlip,
	ir.Cat:     evalCat,
	ir.Repeat:  evalRepeat,
	ir.Pad:     evalPad,

	ir.Select:     evalSelect,
	ir.Gather:     evalGather,
	ir.Embedding:  evalEmbedding,
	ir.Set:        evalSet,
	ir.SetSlice:   evalSetSlice,
	ir.SetSelect:  evalSetSelect,
	ir.ScatterAdd: evalScatterAdd,

	ir.ArgMax: evalArg,
	ir.ArgMin: evalArg,
	ir.CumSum: evalCumSum,

	ir.MatMul:     evalMatMul,
	ir.Linear:     evalLinear,
	ir.Softmax:    evalSoftmax,
	ir.LogSoftmax: evalSoftmax,
	ir.LayerNorm:  evalLayerNorm,
	ir.RMSNorm:    evalRMSNorm,
	ir.Attention:  evalAttention,
}

func init() {
	for kind := range exactUnary {
		evaluators[kind] = evalUnary
	}
	for kind := range functions {
		evaluators[kind] = evalUnary
	}
	evaluators[ir.IsNaN] = evalUnary
	evaluators[ir.Not] = evalUnary
	for kind := range binaryFloat {
		evaluators[kind] = evalBinary
	}
	for kind := range binaryBool {
		evaluators[kind] = evalBinary
	}
	for _, kind := range []ir.Kind{ir.Less, ir.LessEqual, ir.Greater, ir.GreaterEqual} {
		evaluators[kind] = evalBinary
	}
	for _, kind := range []ir.Kind{ir.Sum, ir.Mean, ir.Prod, ir.Max, ir.Min, ir.Var, ir.Any, ir.All} {
		evaluators[kind] = evalReduce
	}
}

// EvalOp evaluates one checked operation (see ir.Operation.Check) on the
// values of its operands. An index out of range is an *ir.IndexError.
func EvalOp(op *ir.Operation, inputs ...Tensor) (Tensor, error) {
	out, _, err := evalOp(op, inputs)
	return out, err
}

func evalOp(op *ir.Operation, inputs []Tensor) (Tensor, Tol, error) {
	c, err := newCall(op, inputs)
	if err != nil {
		return Tensor{}, Tol{}, err
	}
	eval, ok := evaluators[op.Kind]
	if !ok {
		return Tensor{}, Tol{}, fmt.Errorf("oracle: no evaluator for kind %v", op.Kind)
	}
	out, err := eval(c)
	if err != nil {
		return Tensor{}, Tol{}, err
	}
	// The shape was found by other means than ir's inference.
	if ref := op.Outputs[0]; !out.Shape.Equal(ref.Shape) || out.DType != ref.DType {
		return Tensor{}, Tol{}, fmt.Errorf("oracle: %v gives %v%v, recorded as %v%v", op.Kind, out.DType, out.Shape, ref.DType, ref.Shape)
	}
	return out, c.tolerance(out), nil
}

package oracle

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// evaluators has a function for every kind.
var evaluators = map[ir.Kind]func(*call) (Tensor, error){
	ir.Cast:    evalCast,
	ir.Bitcast: evalBitcast,
	ir.Not:     evalUnary,
	ir.Where:   evalWhere,
	ir.Clamp:   evalClamp,
	ir.MulAdd:  evalMulAdd,

	ir.LeakyRelu:         evalLeaky,
	ir.PRelu:             evalLeaky,
	ir.ReluBackward:      evalLeakyBackward,
	ir.LeakyReluBackward: evalLeakyBackward,

	ir.Full:      evalFull,
	ir.Arange:    evalArange,
	ir.Uniform:   evalUniform,
	ir.Normal:    evalNormal,
	ir.Bernoulli: evalBernoulli,
	ir.RandInt:   evalRandInt,

	ir.Reshape:  evalReshape,
	ir.Permute:  evalPermute,
	ir.Expand:   evalExpand,
	ir.Slice:    evalSlice,
	ir.Flip:     evalFlip,
	ir.Unfold:   evalUnfold,
	ir.Diagonal: evalDiagonal,
	ir.Cat:      evalCat,
	ir.Repeat:   evalRepeat,
	ir.Pad:      evalPad,

	ir.Select:    evalSelect,
	ir.Gather:    evalGather,
	ir.Embedding: evalEmbedding,
	ir.GatherND:  evalGatherND,

	ir.SliceAssign:  evalSetSlice,
	ir.SelectAssign: evalSetSelect,
	ir.Scatter:      evalScatter,
	ir.ScatterND:    evalScatterND,
	ir.Set:          evalSet,
	ir.SetSlice:     evalSetSlice,
	ir.SetSelect:    evalSetSelect,
	ir.ScatterAdd:   evalSetSelect,

	ir.Any:       evalReduce,
	ir.All:       evalReduce,
	ir.ArgMax:    evalArg,
	ir.ArgMin:    evalArg,
	ir.LogSumExp: evalLogSumExp,
	ir.Norm:      evalNorm,
	ir.CumSum:    evalScan,
	ir.CumProd:   evalScan,
	ir.CumMax:    evalScan,
	ir.CumMin:    evalScan,
	ir.Sort:      evalOrder,
	ir.ArgSort:   evalOrder,
	ir.TopK:      evalOrder,
	ir.ArgTopK:   evalOrder,

	ir.MatMul:     evalMatMul,
	ir.IntMatMul:  evalMatMul,
	ir.Linear:     evalLinear,
	ir.Softmax:    evalSoftmax,
	ir.LogSoftmax: evalSoftmax,
	ir.LayerNorm:  evalLayerNorm,
	ir.RMSNorm:    evalRMSNorm,
	ir.GroupNorm:  evalGroupNorm,
	ir.BatchNorm:  evalBatchNorm,
	ir.Attention:  evalAttention,

	ir.SoftmaxBackward:    evalSoftmaxBackward,
	ir.LogSoftmaxBackward: evalSoftmaxBackward,
	ir.LayerNormBackward:  evalNormBackward(centred, true),
	ir.RMSNormBackward:    evalNormBackward(uncentred, false),

	ir.Custom: evalCustom,
}

// The kinds that tables of functions of elements list.
func init() {
	add(exactUnary, evalUnary)
	add(functions, evalUnary)
	add(testsOfFloats, evalUnary)
	evaluators[ir.BitwiseNot] = evalUnary
	add(activations, evalActivation)
	add(derivatives, evalDerivative)
	add(binaryFloat, evalBinary)
	add(binaryFunctions, evalBinary)
	add(binaryInt, evalBinary)
	add(binaryBool, evalBinary)
	add(comparisons, evalBinary)
	add(reduceFloat, evalReduce)
}

func add[F any](table map[ir.Kind]F, eval func(*call) (Tensor, error)) {
	for kind := range table {
		evaluators[kind] = eval
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

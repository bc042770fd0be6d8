package sinter_test

import (
	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// A sweepCase is a right call of an exported function: its operands, and its
// other arguments in order. What is not given is a number 1, an axis 0, f32,
// nothing.
type sweepCase struct {
	in       []operand
	args     []any
	optional []int // the operands that may be nil
}

type operand struct {
	dtype ir.DType
	dims  shape
}

var (
	matrix  = operand{ir.F32, shape{2, 2}}
	vector  = operand{ir.F32, shape{2}}
	number  = operand{ir.F32, shape{}}
	mask    = operand{ir.Bool, shape{2, 2}}
	whole   = operand{ir.I64, shape{2, 2}}
	list    = operand{ir.I64, shape{2}}
	heads   = operand{ir.F32, shape{1, 2, 2, 2}}
	scheme8 = sinter.QuantScheme{Bits: 8}
)

// sweepCases are the calls that need more than matrices of f32.
var sweepCases = map[string]sweepCase{
	"Not": {in: []operand{mask}}, "And": {in: []operand{mask, mask}}, "Or": {in: []operand{mask, mask}}, "Xor": {in: []operand{mask, mask}},
	"Any": {in: []operand{mask}}, "All": {in: []operand{mask}},
	"BitwiseNot": {in: []operand{whole}}, "BitwiseAnd": {in: []operand{whole, whole}}, "BitwiseAndScalar": {in: []operand{whole}},
	"BitwiseOr": {in: []operand{whole, whole}}, "BitwiseOrScalar": {in: []operand{whole}},
	"BitwiseXor": {in: []operand{whole, whole}}, "BitwiseXorScalar": {in: []operand{whole}},
	"ShiftLeft": {in: []operand{whole, whole}}, "ShiftLeftScalar": {in: []operand{whole}},
	"ShiftRight": {in: []operand{whole, whole}}, "ShiftRightScalar": {in: []operand{whole}},

	"LeakyReluTensor": {in: []operand{matrix, number}}, "EluTensor": {in: []operand{matrix, number}}, "CeluTensor": {in: []operand{matrix, number}},
	"LeakyReluBackwardTensor": {in: []operand{matrix, matrix, number}}, "EluBackwardTensor": {in: []operand{matrix, matrix, number}},
	"CeluBackwardTensor": {in: []operand{matrix, matrix, number}}, "ClampTensor": {in: []operand{matrix, number, number}},
	"PadTensor": {in: []operand{matrix, number}, args: []any{1, 0, 0, 1}}, "NormTensor": {in: []operand{matrix, number}},
	"LayerNorm": {in: []operand{matrix, vector, vector}, optional: []int{1, 2}}, "LayerNormTensor": {in: []operand{matrix, vector, vector, number}, optional: []int{1, 2}},
	"RMSNorm": {in: []operand{matrix, vector}, optional: []int{1}}, "RMSNormTensor": {in: []operand{matrix, vector, number}, optional: []int{1}},
	"GroupNorm": {in: []operand{matrix, vector, vector}, args: []any{1}, optional: []int{1, 2}}, "GroupNormTensor": {in: []operand{matrix, vector, vector, number}, args: []any{1}, optional: []int{1, 2}},
	"InstanceNorm": {in: []operand{matrix, vector, vector}, optional: []int{1, 2}},
	"BatchNorm":    {in: []operand{matrix, vector, vector, vector, vector}, optional: []int{3, 4}}, "BatchNormTensor": {in: []operand{matrix, vector, vector, vector, vector, number}, optional: []int{3, 4}},
	"BatchNormTrain": {in: []operand{matrix, vector, vector}, optional: []int{1, 2}}, "Linear": {in: []operand{matrix, matrix, vector}, optional: []int{2}},
	"LayerNormBackward": {in: []operand{matrix, matrix, vector}, optional: []int{2}}, "LayerNormBackwardTensor": {in: []operand{matrix, matrix, vector, number}, optional: []int{2}},
	"RMSNormBackward": {in: []operand{matrix, matrix, vector}, optional: []int{2}}, "RMSNormBackwardTensor": {in: []operand{matrix, matrix, vector, number}, optional: []int{2}},
	"Attention": {in: []operand{heads, heads, heads}}, "IntMatMul": {in: []operand{{ir.I8, shape{2, 2}}, {ir.U8, shape{2, 2}}}},
	"Dot": {in: []operand{vector, vector}}, "Outer": {in: []operand{vector, vector}},

	"Bitcast": {in: []operand{matrix}, args: []any{ir.I32}}, "CastOverflow": {in: []operand{matrix}, args: []any{ir.F8E4M3}},
	"Reshape": {in: []operand{matrix}, args: []any{4}}, "Permute": {in: []operand{matrix}, args: []any{1, 0}}, "Expand": {in: []operand{matrix}, args: []any{3, 2, 2}},
	"Transpose": {in: []operand{matrix}, args: []any{0, 1}}, "Flatten": {in: []operand{matrix}, args: []any{0, 1}},
	"Repeat": {in: []operand{matrix}, args: []any{2, 1}}, "Pad": {in: []operand{matrix}, args: []any{1.0, 1, 0, 0, 1}},
	"PadWith": {in: []operand{matrix}, args: []any{sinter.PadReplicate, 1, 0, 0, 1}}, "Unfold": {in: []operand{matrix}, args: []any{0, 2, 1}},
	"Diagonal": {in: []operand{matrix}, args: []any{0, 0, 1}}, "Split": {in: []operand{matrix}, args: []any{0, 1, 1}}, "Chunk": {in: []operand{matrix}, args: []any{0, 2}},
	"Narrow": {in: []operand{matrix}, args: []any{0, 0, 1}}, "Glu": {in: []operand{matrix}, args: []any{0}},
	"TopK": {in: []operand{matrix}, args: []any{0, 1}}, "ArgTopK": {in: []operand{matrix}, args: []any{0, 1}}, "TopKWith": {in: []operand{matrix}, args: []any{0, 1}},
	"Select": {in: []operand{matrix, list}}, "Gather": {in: []operand{matrix, whole}}, "TakeAlongAxis": {in: []operand{matrix, whole}},
	"Embedding": {in: []operand{matrix, list}}, "GatherND": {in: []operand{matrix, list}},
	"SliceAssign": {in: []operand{matrix, matrix}}, "SelectAssign": {in: []operand{matrix, list, matrix}}, "Scatter": {in: []operand{matrix, whole, matrix}},
	"ScatterND": {in: []operand{matrix, list, number}}, "MaskFill": {in: []operand{matrix, mask}}, "MaskFillTensor": {in: []operand{matrix, mask, number}},
	"MaskedSelect": {in: []operand{matrix, mask}, args: []any{3}}, "Nonzero": {in: []operand{matrix}, args: []any{3}}, "Unique": {in: []operand{matrix}, args: []any{3}},
	"OneHot": {in: []operand{list}, args: []any{2, ir.F32}}, "Dropout": {in: []operand{matrix}, args: []any{0.5}},
	"Quantize": {in: []operand{matrix}, args: []any{scheme8}}, "QuantizeWith": {in: []operand{matrix, {ir.F32, shape{1, 1}}}, args: []any{scheme8}},
	"Named": {in: []operand{matrix}, args: []any{"x"}}, "On": {in: []operand{matrix}}, "To": {in: []operand{matrix}},

	"SumAs": {in: []operand{matrix}, args: []any{ir.F64}}, "ProdAs": {in: []operand{matrix}, args: []any{ir.F64}}, "MeanAs": {in: []operand{matrix}, args: []any{ir.F64}},
	"CumSumAs": {in: []operand{matrix}, args: []any{ir.F64}}, "CumProdAs": {in: []operand{matrix}, args: []any{ir.F64}},
	"NewQTensor": {in: []operand{{ir.I8, shape{2, 2}}, {ir.F32, shape{1, 1}}}},

	"Where": {in: []operand{mask, matrix, matrix}}, "WhereScalar": {in: []operand{mask, matrix}},
	"Cat": {in: []operand{matrix, matrix}, args: []any{0}}, "Stack": {in: []operand{matrix, matrix}, args: []any{0}},
	"Einsum": {in: []operand{matrix, matrix}, args: []any{"ij,jk->ik"}}, "QTensor.Linear": {in: []operand{matrix, matrix, vector}, optional: []int{2}},
}

// sweepFunctions are the functions of tensors that are no methods of Tensor, as
// functions of operands and arguments.
var sweepFunctions = map[string]any{
	"Where": sinter.Where, "WhereScalar": sinter.WhereScalar, "Cat": sinter.Cat, "Stack": sinter.Stack, "Einsum": sinter.Einsum,
	"Read":      func(x *tensor) error { _, err := sinter.Read[float32](ctx, x); return err },
	"ReadInto":  func(x *tensor) error { return sinter.ReadInto(ctx, x, make([]float32, 4)) },
	"Item":      func(x *tensor) error { _, err := sinter.Item[float32](ctx, x.Sum()); return err },
	"ReadBytes": func(x *tensor) error { _, err := sinter.ReadBytes(ctx, x); return err },
	"NewQTensor": func(x, scale *tensor) (*sinter.QTensor, error) {
		return sinter.NewQTensor(scheme8, x, scale, nil, 2, 2)
	},
	"QTensor.Dequantize": func(x *tensor) *tensor { return x.Quantize(scheme8).Dequantize(sinter.F32) },
	"QTensor.MatMul":     func(x, y *tensor) *tensor { return x.Quantize(scheme8).MatMul(y.Quantize(scheme8)) },
	"QTensor.Linear":     func(x, y, b *tensor) *tensor { return x.Quantize(scheme8).Linear(y.Quantize(scheme8), b) },
}

// sweepElsewhere are the functions of tensors the tests of what they belong to
// sweep.
var sweepElsewhere = map[string]string{
	"NewVar": "Vars", "Var.Value": "Vars", "Var.Set": "Vars", "Var.SetSlice": "Vars", "Var.SetSelect": "Vars", "Var.ScatterAdd": "Vars",
	"Scope.Keep": "scopes", "ValueOf": "seam", "Wrap": "seam", "SpanAt": "Slice", "FullPrecision": "precision", "Bisect": "bisect", "Custom": "custom operations", "Staging.Upload": "staging", "Staging.Download": "staging",
}

// makers are the functions that make a tensor at a placer. Those without a dtype
// or shape ignore it.
var makers = map[string]func(at sinter.Placer, dtype ir.DType, dims ...int) *tensor{
	"Full":    func(at sinter.Placer, d ir.DType, s ...int) *tensor { return sinter.Full(at, d, 1, s...) },
	"FullOf":  func(at sinter.Placer, _ ir.DType, s ...int) *tensor { return sinter.FullOf(at, true, s...) },
	"Zeros":   sinter.Zeros,
	"Ones":    sinter.Ones,
	"Arange":  func(at sinter.Placer, d ir.DType, s ...int) *tensor { return sinter.Arange(at, d, 0, 1, length(s)) },
	"Eye":     func(at sinter.Placer, d ir.DType, s ...int) *tensor { return sinter.Eye(at, d, length(s), length(s)) },
	"Uniform": func(at sinter.Placer, d ir.DType, s ...int) *tensor { return sinter.Uniform(at, d, 0, 1, s...) },
	"Normal":  func(at sinter.Placer, d ir.DType, s ...int) *tensor { return sinter.Normal(at, d, 0, 1, s...) },
	"Linspace": func(at sinter.Placer, d ir.DType, s ...int) *tensor {
		return sinter.Linspace(at, d, 0, 1, length(s))
	},
	"Bernoulli": func(at sinter.Placer, _ ir.DType, s ...int) *tensor { return sinter.Bernoulli(at, 0.5, s...) },
	"RandInt":   func(at sinter.Placer, _ ir.DType, s ...int) *tensor { return sinter.RandInt(at, 0, 5, s...) },
	"RandIntOf": func(at sinter.Placer, d ir.DType, s ...int) *tensor { return sinter.RandIntOf(at, d, 0, 5, s...) },
	"From":      func(at sinter.Placer, _ ir.DType, s ...int) *tensor { return sinter.From(at, make([]float32, 6), s...) },
	"FromBytes": func(at sinter.Placer, d ir.DType, s ...int) *tensor {
		return sinter.FromBytes(at, d, make([]byte, 6*d.Size()), s...)
	},
	"Scalar": func(at sinter.Placer, _ ir.DType, _ ...int) *tensor { return sinter.Scalar(at, int8(1)) },
}

// length is the product of lengths, however great.
func length(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

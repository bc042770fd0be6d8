package ir

// reduceRows are the reductions and the scan.
var reduceRows = rows{
	Sum:    reduction("Sum", Numbers, inferReduce, "the sum of the elements; 0 of nothing"),
	Mean:   reduction("Mean", Floats, inferReduce, "the mean of the elements; NaN of nothing"),
	Prod:   reduction("Prod", Numbers, inferReduce, "the product of the elements; 1 of nothing"),
	Max:    reduction("Max", Numbers, inferExtremum, "the greatest element; NaN propagates"),
	Min:    reduction("Min", Numbers, inferExtremum, "the least element; NaN propagates"),
	ArgMax: reduction("ArgMax", Computing, inferArg, "the row-major position of the first greatest element; the first NaN wins"),
	ArgMin: reduction("ArgMin", Computing, inferArg, "the row-major position of the first least element; the first NaN wins"),
	Any:    reduction("Any", OnlyBool, inferReduce, "whether any element is true"),
	All:    reduction("All", OnlyBool, inferReduce, "whether every element is true"),
	Var:    {Name: "Var", Class: ClassReduce, MinIn: 1, MaxIn: 1, DTypes: Floats, Attrs: HasAxes | HasN, Infer: inferVar, Doc: "the variance of the elements, the divisor being the count less the correction"},

	Std:       {Name: "Std", Class: ClassReduce, MinIn: 1, MaxIn: 1, DTypes: Floats, Attrs: HasAxes | HasN, Infer: inferVar, Doc: "the square root of the variance of the elements"},
	LogSumExp: reduction("LogSumExp", Floats, inferReduce, "log Σe^x of the elements without overflow on the way; −inf of nothing"),
	L2Norm:    reduction("L2Norm", Floats, inferReduce, "√Σx² of the elements; 0 of nothing"),
	Norm:      {Name: "Norm", Class: ClassReduce, MinIn: 1, MaxIn: 1, DTypes: Floats, Attrs: HasAxes, MinScalars: 1, MaxScalars: 1, Infer: inferReduce, Doc: "(Σ|x|^p)^(1/p) of the elements"},

	CumSum:  scan("CumSum", "running sums along an axis"),
	CumProd: scan("CumProd", "running products along an axis"),
	CumMax:  scan("CumMax", "the greatest element so far along an axis; NaN stays"),
	CumMin:  scan("CumMin", "the least element so far along an axis; NaN stays"),
}

func scan(name, doc string) Info {
	return Info{Name: name, Class: ClassScan, MinIn: 1, MaxIn: 1, DTypes: Numbers, Attrs: HasAxes | HasFlag | HasReverse, Infer: inferScan, Doc: doc}
}

// orderRows are the kinds that sort. Their order is total: NaN above all,
// zeros of both signs equal, equal elements in their first order.
var orderRows = rows{
	Sort:    order("Sort", 0, "the elements along an axis in ascending order, or descending"),
	ArgSort: order("ArgSort", 0, "the positions along an axis of the elements in ascending order, or descending"),
	TopK:    order("TopK", HasN, "the first elements along an axis in ascending order, or descending"),
	ArgTopK: order("ArgTopK", HasN, "the positions along an axis of the first elements in ascending order, or descending"),
}

func order(name string, more AttrSet, doc string) Info {
	return Info{Name: name, Class: ClassOrder, MinIn: 1, MaxIn: 1, DTypes: Computing, Attrs: HasAxes | HasReverse | more, Infer: inferOrder, Doc: doc}
}

func reduction(name string, d DTypeSet, infer func(*Operation) (Shape, DType, error), doc string) Info {
	return Info{Name: name, Class: ClassReduce, MinIn: 1, MaxIn: 1, DTypes: d, Attrs: HasAxes, Infer: infer, Doc: doc}
}

// compositeRows are the contractions and the kinds that are f32 inside and
// round once.
var compositeRows = rows{
	MatMul:    {Name: "MatMul", Class: ClassContraction, MinIn: 2, MaxIn: 2, DTypes: Numbers, Infer: inferMatMul, Doc: "matrix product with broadcast batch axes; vectors as in NumPy"},
	IntMatMul: {Name: "IntMatMul", Class: ClassContraction, MinIn: 2, MaxIn: 2, DTypes: Bytes, Infer: inferIntMatMul, Doc: "matrix product of i8 or u8 operands, which may differ, exact in i32 and wrapping"},
	Linear:    {Name: "Linear", Class: ClassContraction, MinIn: 2, MaxIn: 3, DTypes: Floats, Infer: inferLinear, Doc: "x·weight + bias, rounded once"},

	Softmax:    {Name: "Softmax", Class: ClassComposite, MinIn: 1, MaxIn: 1, DTypes: Floats, Attrs: HasAxes, Infer: inferSoftmax, Doc: "e^(x−max) divided by its sum over the axes"},
	LogSoftmax: {Name: "LogSoftmax", Class: ClassComposite, MinIn: 1, MaxIn: 1, DTypes: Floats, Attrs: HasAxes, Infer: inferSoftmax, Doc: "logarithm of Softmax"},
	LayerNorm:  {Name: "LayerNorm", Class: ClassComposite, MinIn: 1, MaxIn: 3, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferNorm, Doc: "(x−mean)/√(variance+epsilon)·weight + bias over the last axis"},
	RMSNorm:    {Name: "RMSNorm", Class: ClassComposite, MinIn: 1, MaxIn: 2, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferNorm, Doc: "x/√(mean(x²)+epsilon)·weight over the last axis"},
	GroupNorm:  {Name: "GroupNorm", Class: ClassComposite, MinIn: 1, MaxIn: 3, DTypes: Floats, Attrs: HasN, MinScalars: 1, MaxScalars: 1, Infer: inferGroupNorm, Doc: "LayerNorm over groups of channels, axis 1, and all axes after; weight and bias are one for each channel"},
	BatchNorm:  {Name: "BatchNorm", Class: ClassComposite, MinIn: 3, MaxIn: 5, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferBatchNorm, Doc: "(x−mean)/√(variance+epsilon)·weight + bias for each channel, axis 1"},

	SoftmaxBackward:    {Name: "SoftmaxBackward", Class: ClassComposite, MinIn: 2, MaxIn: 2, DTypes: Floats, Attrs: HasAxes, Infer: inferSoftmaxBackward, Doc: "the gradient of Softmax from its output y and the gradient g: y·(g − Σg·y)"},
	LogSoftmaxBackward: {Name: "LogSoftmaxBackward", Class: ClassComposite, MinIn: 2, MaxIn: 2, DTypes: Floats, Attrs: HasAxes, Infer: inferSoftmaxBackward, Doc: "the gradient of LogSoftmax from its output y and the gradient g: g − e^y·Σg"},
	LayerNormBackward:  {Name: "LayerNormBackward", Class: ClassComposite, MinIn: 2, MaxIn: 3, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferNormBackward, Doc: "the gradient of LayerNorm with respect to x"},
	RMSNormBackward:    {Name: "RMSNormBackward", Class: ClassComposite, MinIn: 2, MaxIn: 3, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferNormBackward, Doc: "the gradient of RMSNorm with respect to x"},

	Custom: {Name: "Custom", Class: ClassOpaque, MaxIn: -1, DTypes: AnyDType, Attrs: HasName | HasInts | HasDType | HasFlag, MaxScalars: 64, Infer: inferCustom, Doc: "what a user's registered function makes of any operands"},

	Attention: {Name: "Attention", Class: ClassComposite, MinIn: 3, MaxIn: 4, DTypes: Floats, Attrs: HasFlag | HasN, MinScalars: 1, MaxScalars: 1, Infer: inferAttention, Doc: "softmax(scale·q·kᵀ + mask)·v, grouped key heads allowed"},
}

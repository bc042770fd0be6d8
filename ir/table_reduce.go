package ir

// reduceRows are the reductions and the scan.
var reduceRows = rows{
	Sum:    reduction("Sum", Numbers, inferReduce, "the sum of the elements; 0 of nothing"),
	Mean:   reduction("Mean", Floats, inferReduce, "the mean of the elements; NaN of nothing"),
	Prod:   reduction("Prod", Numbers, inferReduce, "the product of the elements; 1 of nothing"),
	Max:    reduction("Max", Numbers, inferExtremum, "the greatest element; NaN propagates"),
	Min:    reduction("Min", Numbers, inferExtremum, "the least element; NaN propagates"),
	ArgMax: reduction("ArgMax", AnyDType, inferArg, "the row-major position of the first greatest element; the first NaN wins"),
	ArgMin: reduction("ArgMin", AnyDType, inferArg, "the row-major position of the first least element; the first NaN wins"),
	Any:    reduction("Any", OnlyBool, inferReduce, "whether any element is true"),
	All:    reduction("All", OnlyBool, inferReduce, "whether every element is true"),
	Var:    {Name: "Var", Class: ClassReduce, MinIn: 1, MaxIn: 1, DTypes: Floats, Attrs: HasAxes | HasN, Infer: inferVar, Doc: "the variance of the elements, the divisor being the count less the correction"},

	CumSum: {Name: "CumSum", Class: ClassScan, MinIn: 1, MaxIn: 1, DTypes: Numbers, Attrs: HasAxes | HasFlag | HasReverse, Infer: inferCumSum, Doc: "running sums along an axis"},
}

func reduction(name string, d DTypeSet, infer func(*Operation) (Shape, DType, error), doc string) Info {
	return Info{Name: name, Class: ClassReduce, MinIn: 1, MaxIn: 1, DTypes: d, Attrs: HasAxes, Infer: infer, Doc: doc}
}

// compositeRows are the contractions and the kinds that are f32 inside and
// round once.
var compositeRows = rows{
	MatMul: {Name: "MatMul", Class: ClassContraction, MinIn: 2, MaxIn: 2, DTypes: Numbers, Infer: inferMatMul, Doc: "matrix product with broadcast batch axes; vectors as in NumPy"},
	Linear: {Name: "Linear", Class: ClassContraction, MinIn: 2, MaxIn: 3, DTypes: Floats, Infer: inferLinear, Doc: "x·weight + bias, rounded once"},

	Softmax:    {Name: "Softmax", Class: ClassComposite, MinIn: 1, MaxIn: 1, DTypes: Floats, Attrs: HasAxes, Infer: inferSoftmax, Doc: "e^(x−max) divided by its sum over the axes"},
	LogSoftmax: {Name: "LogSoftmax", Class: ClassComposite, MinIn: 1, MaxIn: 1, DTypes: Floats, Attrs: HasAxes, Infer: inferSoftmax, Doc: "logarithm of Softmax"},
	LayerNorm:  {Name: "LayerNorm", Class: ClassComposite, MinIn: 1, MaxIn: 3, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferNorm, Doc: "(x−mean)/√(variance+epsilon)·weight + bias over the last axis"},
	RMSNorm:    {Name: "RMSNorm", Class: ClassComposite, MinIn: 1, MaxIn: 2, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferNorm, Doc: "x/√(mean(x²)+epsilon)·weight over the last axis"},
	Attention:  {Name: "Attention", Class: ClassComposite, MinIn: 3, MaxIn: 4, DTypes: Floats, Attrs: HasFlag | HasN, MinScalars: 1, MaxScalars: 1, Infer: inferAttention, Doc: "softmax(scale·q·kᵀ + mask)·v, grouped key heads allowed"},
}

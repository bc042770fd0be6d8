package ir

// mapRows are the element-wise kinds.
var mapRows = rows{
	Exp:      unary("Exp", SExp, "e^x for each element x"),
	Expm1:    unary("Expm1", SExpm1, "e^x − 1 for each element x, accurate near 0"),
	Exp2:     unary("Exp2", SExp2, "2^x for each element x"),
	Log:      unary("Log", SLog, "the natural logarithm of each element"),
	Log2:     unary("Log2", SLog2, "the logarithm to base 2 of each element"),
	Log10:    unary("Log10", SLog10, "the logarithm to base 10 of each element"),
	Log1p:    unary("Log1p", SLog1p, "log(1+x) for each element x, accurate near 0"),
	Sqrt:     unary("Sqrt", SSqrt, "the square root of each element, correctly rounded"),
	Rsqrt:    unary("Rsqrt", SRsqrt, "1/√x for each element x"),
	Recip:    unary("Recip", SRecip, "1/x for each element x, correctly rounded"),
	Sin:      unary("Sin", SSin, "the sine of each element, in radians"),
	Cos:      unary("Cos", SCos, "the cosine of each element, in radians"),
	Tan:      unary("Tan", STan, "the tangent of each element, in radians"),
	Asin:     unary("Asin", SAsin, "the inverse sine of each element, in radians"),
	Acos:     unary("Acos", SAcos, "the inverse cosine of each element, in radians"),
	Atan:     unary("Atan", SAtan, "the inverse tangent of each element, in radians"),
	Sinh:     unary("Sinh", SSinh, "the hyperbolic sine of each element"),
	Cosh:     unary("Cosh", SCosh, "the hyperbolic cosine of each element"),
	Tanh:     unary("Tanh", STanh, "the hyperbolic tangent of each element"),
	Asinh:    unary("Asinh", SAsinh, "the inverse hyperbolic sine of each element"),
	Acosh:    unary("Acosh", SAcosh, "the inverse hyperbolic cosine of each element"),
	Atanh:    unary("Atanh", SAtanh, "the inverse hyperbolic tangent of each element"),
	Erf:      unary("Erf", SErf, "the error function of each element"),
	Erfc:     unary("Erfc", SErfc, "1 − erf(x) for each element x, accurate for large x"),
	Erfinv:   unary("Erfinv", SErfinv, "the inverse of the error function of each element"),
	Lgamma:   unary("Lgamma", SLgamma, "the logarithm of the absolute value of the gamma function of each element"),
	Digamma:  unary("Digamma", SDigamma, "the derivative of Lgamma of each element"),
	Round:    unary("Round", SRound, "the integer nearest to each element, halves to even"),
	Floor:    unary("Floor", SFloor, "the greatest integer not above each element"),
	Ceil:     unary("Ceil", SCeil, "the least integer not below each element"),
	Trunc:    unary("Trunc", STrunc, "the integer part of each element"),
	Frac:     unary("Frac", SFrac, "x − trunc(x) for each element x"),
	IsNaN:    unary("IsNaN", SIsNaN, "whether each element is not a number"),
	IsInf:    unary("IsInf", SIsInf, "whether each element is infinite"),
	IsFinite: unary("IsFinite", SIsFinite, "whether each element is neither infinite nor a NaN"),

	Abs:        unary("Abs", SAbs, "the absolute value of each element; the least signed integer stays itself"),
	Neg:        unary("Neg", SNeg, "−x for each element x"),
	Sign:       unary("Sign", SSign, "the sign of each element: −1, 0 or 1; signed zeros and NaN stay"),
	Square:     {Name: "Square", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Numbers, Infer: inferSame, Doc: "x·x for each element x"},
	Not:        unary("Not", SNot, "whether each element is false"),
	BitwiseNot: unary("BitwiseNot", SBitNot, "each element with all bits turned"),
	Cast:       {Name: "Cast", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasDType | HasFlag, Infer: inferCast, Doc: "each element in another dtype, rounded once; float to int truncates and saturates; int to int keeps the low bits"},
	Bitcast:    {Name: "Bitcast", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: AnyDType &^ OnlyBool, Attrs: HasDType, Infer: inferBitcast, Doc: "the bits of each element as another dtype of the same size"},

	Relu:        {Name: "Relu", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, Infer: inferSame, Doc: "max(x, +0) for each element x; NaN stays"},
	LeakyRelu:   {Name: "LeakyRelu", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferSame, Doc: "each element x where x ≥ 0, else slope·x"},
	PRelu:       {Name: "PRelu", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "each element x where x ≥ 0, else slope·x, slope being a tensor"},
	Elu:         {Name: "Elu", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferSame, Doc: "each element x where x > 0, else alpha·(e^x − 1)"},
	Selu:        {Name: "Selu", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, Infer: inferSame, Doc: "the scaled exponential linear unit of each element; Elu with fixed constants"},
	Celu:        {Name: "Celu", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferSame, Doc: "max(x, 0) + min(alpha·(e^(x/alpha) − 1), 0) for each element x"},
	Sigmoid:     unary("Sigmoid", SSigmoid, "1/(1+e^−x) for each element x"),
	LogSigmoid:  {Name: "LogSigmoid", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, Infer: inferSame, Doc: "log(1/(1+e^−x)) for each element x"},
	HardSigmoid: {Name: "HardSigmoid", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, Infer: inferSame, Doc: "min(max(x+3, 0), 6)/6 for each element x"},
	Silu:        unary("Silu", SSilu, "x/(1+e^−x) for each element x"),
	HardSwish:   {Name: "HardSwish", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, Infer: inferSame, Doc: "x·min(max(x+3, 0), 6)/6 for each element x"},
	Mish:        {Name: "Mish", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, Infer: inferSame, Doc: "x·tanh(log(1+e^x)) for each element x"},
	Gelu:        unary("Gelu", SGelu, "x·½(1+erf(x/√2)) for each element x"),
	GeluTanh:    unary("GeluTanh", SGeluTanh, "the tanh approximation of Gelu for each element"),
	Softplus:    unary("Softplus", SSoftplus, "log(1+e^x) for each element x"),
	Softsign:    {Name: "Softsign", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, Infer: inferSame, Doc: "x/(1+|x|) for each element x"},

	Add:          binary("Add", SAdd, "a + b"),
	Sub:          binary("Sub", SSub, "a − b"),
	Mul:          binary("Mul", SMul, "a · b"),
	Div:          binary("Div", SDiv, "a / b; integers truncate and x/0 is 0; floats follow IEEE"),
	FloorDiv:     binary("FloorDiv", SFloorDiv, "a / b rounded down; x/0 of integers is 0"),
	Remainder:    binary("Remainder", SRemainder, "a − b·floor(a/b), with the sign of b; x%0 of integers is 0"),
	Fmod:         binary("Fmod", SFmod, "a − b·trunc(a/b), with the sign of a; x%0 of integers is 0"),
	Pow:          binary("Pow", SPow, "a to the power b; a negative power of an integer truncates to 1, −1 or 0, and is an error as a scalar"),
	Atan2:        binary("Atan2", SAtan2, "the angle of the point (b, a), in radians"),
	Hypot:        binary("Hypot", SHypot, "√(a²+b²) without overflow on the way"),
	CopySign:     binary("CopySign", SCopySign, "|a| with the sign of b"),
	Maximum:      binary("Maximum", SMaximum, "the greater of a and b; NaN propagates, +0 above −0"),
	Minimum:      binary("Minimum", SMinimum, "the lesser of a and b; NaN propagates, −0 below +0"),
	Equal:        binary("Equal", SEqual, "whether a = b"),
	NotEqual:     binary("NotEqual", SNotEqual, "whether a ≠ b; true with NaN"),
	Less:         binary("Less", SLess, "whether a < b"),
	LessEqual:    binary("LessEqual", SLessEqual, "whether a ≤ b"),
	Greater:      binary("Greater", SGreater, "whether a > b"),
	GreaterEqual: binary("GreaterEqual", SGreaterEqual, "whether a ≥ b"),
	And:          binary("And", SAnd, "whether both a and b are true"),
	Or:           binary("Or", SOr, "whether a or b is true"),
	Xor:          binary("Xor", SXor, "whether exactly one of a and b is true"),
	BitwiseAnd:   binary("BitwiseAnd", SBitAnd, "the bits set in both a and b"),
	BitwiseOr:    binary("BitwiseOr", SBitOr, "the bits set in a or b"),
	BitwiseXor:   binary("BitwiseXor", SBitXor, "the bits set in just one of a and b"),
	ShiftLeft:    binary("ShiftLeft", SShl, "a·2^b; 0 where b is negative or not below the width"),
	ShiftRight:   binary("ShiftRight", SShr, "a shifted right by b, by its sign; 0, or −1 for negative a, where b is negative or not below the width"),

	Where:  {Name: "Where", Class: ClassMap, MinIn: 3, MaxIn: 3, DTypes: Computing, Scalar: SWhere, Infer: inferWhere, Doc: "a where the mask is true, else b"},
	Clamp:  {Name: "Clamp", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Numbers, MinScalars: 2, MaxScalars: 2, Infer: inferSame, Doc: "min(max(x, lo), hi) for each element x; NaN stays"},
	MulAdd: {Name: "MulAdd", Class: ClassMap, MinIn: 3, MaxIn: 3, DTypes: Numbers, Scalar: SMulAdd, Infer: inferMulAdd, Doc: "a·b + c, rounded once"},
}

// gradRows are the gradients of activations: of the operand, or where its
// formula is shorter of the output, and the gradient of the output.
var gradRows = rows{
	ReluBackward:        {Name: "ReluBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of Relu from its operand and the gradient of its output"},
	LeakyReluBackward:   {Name: "LeakyReluBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferBinaryFloat, Doc: "the gradient of LeakyRelu from its operand and the gradient of its output"},
	EluBackward:         {Name: "EluBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferBinaryFloat, Doc: "the gradient of Elu from its operand and the gradient of its output"},
	SeluBackward:        {Name: "SeluBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of Selu from its operand and the gradient of its output"},
	CeluBackward:        {Name: "CeluBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferBinaryFloat, Doc: "the gradient of Celu from its operand and the gradient of its output"},
	SigmoidBackward:     {Name: "SigmoidBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of Sigmoid from its output and the gradient of its output"},
	TanhBackward:        {Name: "TanhBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of Tanh from its output and the gradient of its output"},
	LogSigmoidBackward:  {Name: "LogSigmoidBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of LogSigmoid from its operand and the gradient of its output"},
	HardSigmoidBackward: {Name: "HardSigmoidBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of HardSigmoid from its operand and the gradient of its output"},
	SiluBackward:        {Name: "SiluBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of Silu from its operand and the gradient of its output"},
	HardSwishBackward:   {Name: "HardSwishBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of HardSwish from its operand and the gradient of its output"},
	MishBackward:        {Name: "MishBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of Mish from its operand and the gradient of its output"},
	GeluBackward:        {Name: "GeluBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of Gelu from its operand and the gradient of its output"},
	GeluTanhBackward:    {Name: "GeluTanhBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of GeluTanh from its operand and the gradient of its output"},
	SoftplusBackward:    {Name: "SoftplusBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of Softplus from its operand and the gradient of its output"},
	SoftsignBackward:    {Name: "SoftsignBackward", Class: ClassMap, MinIn: 2, MaxIn: 2, DTypes: Floats, Infer: inferBinaryFloat, Doc: "the gradient of Softsign from its operand and the gradient of its output"},
}

// unary returns the row of an element-wise kind of one operand.
func unary(name string, s ScalarOp, doc string) Info {
	return Info{Name: name, Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: scalarDTypes(s), Scalar: s, Infer: inferSame, Doc: doc}
}

// binary returns the row of an element-wise kind of two operands, the second
// of which may be a scalar.
func binary(name string, s ScalarOp, doc string) Info {
	return Info{Name: name, Class: ClassMap, MinIn: 1, MaxIn: 2, MaxScalars: 1, DTypes: scalarDTypes(s), Scalar: s, Infer: inferBinary, Doc: doc}
}

// scalarDTypes returns the dtypes whose compute type s is defined for.
func scalarDTypes(s ScalarOp) DTypeSet {
	sig := s.Sig()
	var set DTypeSet
	if sig.Float {
		set |= Floats
	}
	if sig.Int {
		set |= Ints
	}
	if sig.Bool {
		set |= OnlyBool
	}
	return set
}

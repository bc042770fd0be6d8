package ir

// mapRows are the element-wise kinds.
var mapRows = rows{
	Exp:   unary("Exp", SExp, "e^x for each element x"),
	Expm1: unary("Expm1", SExpm1, "e^x − 1 for each element x, accurate near 0"),
	Log:   unary("Log", SLog, "the natural logarithm of each element"),
	Log1p: unary("Log1p", SLog1p, "log(1+x) for each element x, accurate near 0"),
	Sqrt:  unary("Sqrt", SSqrt, "the square root of each element, correctly rounded"),
	Rsqrt: unary("Rsqrt", SRsqrt, "1/√x for each element x"),
	Recip: unary("Recip", SRecip, "1/x for each element x, correctly rounded"),
	Sin:   unary("Sin", SSin, "the sine of each element, in radians"),
	Cos:   unary("Cos", SCos, "the cosine of each element, in radians"),
	Tanh:  unary("Tanh", STanh, "the hyperbolic tangent of each element"),
	Erf:   unary("Erf", SErf, "the error function of each element"),
	Round: unary("Round", SRound, "the integer nearest to each element, halves to even"),
	Floor: unary("Floor", SFloor, "the greatest integer not above each element"),
	Ceil:  unary("Ceil", SCeil, "the least integer not below each element"),
	Trunc: unary("Trunc", STrunc, "the integer part of each element"),
	IsNaN: unary("IsNaN", SIsNaN, "whether each element is not a number"),

	Abs:    unary("Abs", SAbs, "the absolute value of each element; the least i64 stays itself"),
	Neg:    unary("Neg", SNeg, "−x for each element x"),
	Sign:   unary("Sign", SSign, "the sign of each element: −1, 0 or 1; signed zeros and NaN stay"),
	Square: {Name: "Square", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Numbers, Infer: inferSame, Doc: "x·x for each element x"},
	Not:    unary("Not", SNot, "whether each element is false"),
	Cast:   {Name: "Cast", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: AnyDType, Attrs: HasDType, Infer: inferCast, Doc: "each element in another dtype, rounded once; float to int truncates and saturates"},

	Relu:      {Name: "Relu", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, Infer: inferSame, Doc: "max(x, +0) for each element x; NaN stays"},
	LeakyRelu: {Name: "LeakyRelu", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Floats, MinScalars: 1, MaxScalars: 1, Infer: inferSame, Doc: "each element x where x ≥ 0, else slope·x"},
	Sigmoid:   unary("Sigmoid", SSigmoid, "1/(1+e^−x) for each element x"),
	Silu:      unary("Silu", SSilu, "x/(1+e^−x) for each element x"),
	Gelu:      unary("Gelu", SGelu, "x·½(1+erf(x/√2)) for each element x"),
	GeluTanh:  unary("GeluTanh", SGeluTanh, "the tanh approximation of Gelu for each element"),
	Softplus:  unary("Softplus", SSoftplus, "log(1+e^x) for each element x"),

	Add:          binary("Add", SAdd, "a + b"),
	Sub:          binary("Sub", SSub, "a − b"),
	Mul:          binary("Mul", SMul, "a · b"),
	Div:          binary("Div", SDiv, "a / b; integers truncate and x/0 is 0; floats follow IEEE"),
	Pow:          binary("Pow", SPow, "a to the power b; a negative power of an i64 truncates to 1, −1 or 0, and is an error as a scalar"),
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

	Where:  {Name: "Where", Class: ClassMap, MinIn: 3, MaxIn: 3, DTypes: AnyDType, Scalar: SWhere, Infer: inferWhere, Doc: "a where the mask is true, else b"},
	Clamp:  {Name: "Clamp", Class: ClassMap, MinIn: 1, MaxIn: 1, DTypes: Numbers, MinScalars: 2, MaxScalars: 2, Infer: inferSame, Doc: "min(max(x, lo), hi) for each element x; NaN stays"},
	MulAdd: {Name: "MulAdd", Class: ClassMap, MinIn: 3, MaxIn: 3, DTypes: Numbers, Scalar: SMulAdd, Infer: inferMulAdd, Doc: "a·b + c, rounded once"},
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
		set |= OnlyInt64
	}
	if sig.Bool {
		set |= OnlyBool
	}
	return set
}

package ir

// ScalarOp is a function of a few scalars: what an element-wise kind does to
// each element, and what the scalar programs of kernels are made of. A float
// one computes in F32 (operands widened exactly); rounding its result to the
// recorded dtype is a step of its own, so that each recorded operation rounds
// once.
type ScalarOp uint8

// The scalar functions. The accuracy each engine owes is that of the
// operation rules: basic arithmetic and Sqrt, Recip are correctly rounded.
const (
	SNone ScalarOp = iota

	// float → float
	SExp
	SExpm1
	SLog
	SLog1p
	SSqrt
	SRsqrt
	SRecip
	SSin
	SCos
	STanh
	SErf
	SRound // half to even
	SFloor
	SCeil
	STrunc
	SSigmoid
	SSilu
	SGelu // with erf
	SGeluTanh
	SSoftplus

	// any → same
	SAbs
	SNeg
	SSign

	// float → bool, bool → bool
	SIsNaN
	SNot

	// two operands → same
	SAdd
	SSub
	SMul
	SDiv
	SPow
	SMaximum
	SMinimum

	// two operands → bool
	SEqual
	SNotEqual
	SLess
	SLessEqual
	SGreater
	SGreaterEqual

	// bool, bool → bool
	SAnd
	SOr
	SXor

	// three operands
	SWhere  // bool, a, b → a or b
	SMulAdd // a·b + c, rounded once (a true FMA)

	numScalarOps
)

// ScalarSig is the type rule of a scalar function over compute dtypes (F32,
// I64, Bool).
type ScalarSig struct {
	Name       string
	Arity      int
	Float      bool // defined for F32
	Int        bool // defined for I64
	Bool       bool // defined for Bool
	ResultBool bool // the result is Bool, whatever the operands
	Mask       bool // operand 0 is Bool, the others share the type
}

var scalarSigs = [numScalarOps]ScalarSig{
	SNone:         {Name: "none"},
	SExp:          {Name: "exp", Arity: 1, Float: true},
	SExpm1:        {Name: "expm1", Arity: 1, Float: true},
	SLog:          {Name: "log", Arity: 1, Float: true},
	SLog1p:        {Name: "log1p", Arity: 1, Float: true},
	SSqrt:         {Name: "sqrt", Arity: 1, Float: true},
	SRsqrt:        {Name: "rsqrt", Arity: 1, Float: true},
	SRecip:        {Name: "recip", Arity: 1, Float: true},
	SSin:          {Name: "sin", Arity: 1, Float: true},
	SCos:          {Name: "cos", Arity: 1, Float: true},
	STanh:         {Name: "tanh", Arity: 1, Float: true},
	SErf:          {Name: "erf", Arity: 1, Float: true},
	SRound:        {Name: "round", Arity: 1, Float: true},
	SFloor:        {Name: "floor", Arity: 1, Float: true},
	SCeil:         {Name: "ceil", Arity: 1, Float: true},
	STrunc:        {Name: "trunc", Arity: 1, Float: true},
	SSigmoid:      {Name: "sigmoid", Arity: 1, Float: true},
	SSilu:         {Name: "silu", Arity: 1, Float: true},
	SGelu:         {Name: "gelu", Arity: 1, Float: true},
	SGeluTanh:     {Name: "gelutanh", Arity: 1, Float: true},
	SSoftplus:     {Name: "softplus", Arity: 1, Float: true},
	SAbs:          {Name: "abs", Arity: 1, Float: true, Int: true},
	SNeg:          {Name: "neg", Arity: 1, Float: true, Int: true},
	SSign:         {Name: "sign", Arity: 1, Float: true, Int: true},
	SIsNaN:        {Name: "isnan", Arity: 1, Float: true, ResultBool: true},
	SNot:          {Name: "not", Arity: 1, Bool: true},
	SAdd:          {Name: "add", Arity: 2, Float: true, Int: true},
	SSub:          {Name: "sub", Arity: 2, Float: true, Int: true},
	SMul:          {Name: "mul", Arity: 2, Float: true, Int: true},
	SDiv:          {Name: "div", Arity: 2, Float: true, Int: true},
	SPow:          {Name: "pow", Arity: 2, Float: true, Int: true},
	SMaximum:      {Name: "maximum", Arity: 2, Float: true, Int: true},
	SMinimum:      {Name: "minimum", Arity: 2, Float: true, Int: true},
	SEqual:        {Name: "equal", Arity: 2, Float: true, Int: true, Bool: true, ResultBool: true},
	SNotEqual:     {Name: "notequal", Arity: 2, Float: true, Int: true, Bool: true, ResultBool: true},
	SLess:         {Name: "less", Arity: 2, Float: true, Int: true, ResultBool: true},
	SLessEqual:    {Name: "lessequal", Arity: 2, Float: true, Int: true, ResultBool: true},
	SGreater:      {Name: "greater", Arity: 2, Float: true, Int: true, ResultBool: true},
	SGreaterEqual: {Name: "greaterequal", Arity: 2, Float: true, Int: true, ResultBool: true},
	SAnd:          {Name: "and", Arity: 2, Bool: true},
	SOr:           {Name: "or", Arity: 2, Bool: true},
	SXor:          {Name: "xor", Arity: 2, Bool: true},
	SWhere:        {Name: "where", Arity: 3, Float: true, Int: true, Bool: true, Mask: true},
	SMulAdd:       {Name: "muladd", Arity: 3, Float: true, Int: true},
}

// Sig returns the type rule of s.
func (s ScalarOp) Sig() *ScalarSig {
	if s >= numScalarOps {
		return &scalarSigs[SNone]
	}
	return &scalarSigs[s]
}

// String returns the name of s as printed in kernels.
func (s ScalarOp) String() string { return s.Sig().Name }

// ScalarOps returns every scalar function, in order.
func ScalarOps() []ScalarOp {
	out := make([]ScalarOp, 0, numScalarOps-1)
	for s := SNone + 1; s < numScalarOps; s++ {
		out = append(out, s)
	}
	return out
}

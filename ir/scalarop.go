package ir

// ScalarOp is a function of a few scalars: what an element-wise kind does to
// each element, and what the scalar programs of kernels are made of. It works
// in a compute dtype: 16-bit floats are widened exactly to F32, and rounding the
// result to the recorded dtype is a step of its own, so that each recorded
// operation rounds once. Integers wrap in their own width.
type ScalarOp uint8

// The scalar functions. The accuracy each engine owes is that of the
// operation rules: basic arithmetic and Sqrt, Recip are correctly rounded.
const (
	SNone ScalarOp = iota

	// float → float
	SExp
	SExpm1
	SExp2
	SLog
	SLog2
	SLog10
	SLog1p
	SSqrt
	SRsqrt
	SRecip
	SSin
	SCos
	STan
	SAsin
	SAcos
	SAtan
	SSinh
	SCosh
	STanh
	SAsinh
	SAcosh
	SAtanh
	SErf
	SErfc
	SErfinv
	SLgamma
	SDigamma
	SRound // half to even
	SFloor
	SCeil
	STrunc
	SFrac // x − trunc(x)
	SSigmoid
	SSilu
	SGelu // with erf
	SGeluTanh
	SSoftplus

	// any → same
	SAbs
	SNeg
	SSign
	SBitNot

	// float → bool, bool → bool
	SIsNaN
	SIsInf
	SIsFinite
	SNot

	// two operands → same
	SAdd
	SSub
	SMul
	SDiv
	SFloorDiv
	SRemainder
	SFmod
	SPow
	SAtan2
	SHypot
	SCopySign
	SMaximum
	SMinimum
	SBitAnd
	SBitOr
	SBitXor
	SShl
	SShr

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

// ScalarSig is the type rule of a scalar function over compute dtypes.
type ScalarSig struct {
	Name       string
	Arity      int
	Float      bool // defined for F64 and F32
	Int        bool // defined for integers of any width
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
	SExp2:         {Name: "exp2", Arity: 1, Float: true},
	SLog2:         {Name: "log2", Arity: 1, Float: true},
	SLog10:        {Name: "log10", Arity: 1, Float: true},
	STan:          {Name: "tan", Arity: 1, Float: true},
	SAsin:         {Name: "asin", Arity: 1, Float: true},
	SAcos:         {Name: "acos", Arity: 1, Float: true},
	SAtan:         {Name: "atan", Arity: 1, Float: true},
	SSinh:         {Name: "sinh", Arity: 1, Float: true},
	SCosh:         {Name: "cosh", Arity: 1, Float: true},
	SAsinh:        {Name: "asinh", Arity: 1, Float: true},
	SAcosh:        {Name: "acosh", Arity: 1, Float: true},
	SAtanh:        {Name: "atanh", Arity: 1, Float: true},
	SErfc:         {Name: "erfc", Arity: 1, Float: true},
	SErfinv:       {Name: "erfinv", Arity: 1, Float: true},
	SLgamma:       {Name: "lgamma", Arity: 1, Float: true},
	SDigamma:      {Name: "digamma", Arity: 1, Float: true},
	SFrac:         {Name: "frac", Arity: 1, Float: true},
	SBitNot:       {Name: "bitnot", Arity: 1, Int: true},
	SIsInf:        {Name: "isinf", Arity: 1, Float: true, ResultBool: true},
	SIsFinite:     {Name: "isfinite", Arity: 1, Float: true, ResultBool: true},
	SFloorDiv:     {Name: "floordiv", Arity: 2, Float: true, Int: true},
	SRemainder:    {Name: "remainder", Arity: 2, Float: true, Int: true},
	SFmod:         {Name: "fmod", Arity: 2, Float: true, Int: true},
	SAtan2:        {Name: "atan2", Arity: 2, Float: true},
	SHypot:        {Name: "hypot", Arity: 2, Float: true},
	SCopySign:     {Name: "copysign", Arity: 2, Float: true},
	SBitAnd:       {Name: "bitand", Arity: 2, Int: true},
	SBitOr:        {Name: "bitor", Arity: 2, Int: true},
	SBitXor:       {Name: "bitxor", Arity: 2, Int: true},
	SShl:          {Name: "shl", Arity: 2, Int: true},
	SShr:          {Name: "shr", Arity: 2, Int: true},
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

// DefinedFor reports whether s takes operands of a compute dtype.
func (s *ScalarSig) DefinedFor(d DType) bool {
	return s.Float && (d == F32 || d == F64) || s.Int && d.IsInt() || s.Bool && d == Bool
}

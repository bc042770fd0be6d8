package ir

// Kind is what an operation does.
type Kind uint16

// The kinds, in the order of the table.
const (
	KindInvalid Kind = iota

	// Map, unary float.
	Exp
	Expm1
	Exp2
	Log
	Log2
	Log10
	Log1p
	Sqrt
	Rsqrt
	Recip
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Tanh
	Asinh
	Acosh
	Atanh
	Erf
	Erfc
	Erfinv
	Lgamma
	Digamma
	Round
	Floor
	Ceil
	Trunc
	Frac
	IsNaN
	IsInf
	IsFinite

	// Map, unary any.
	Abs
	Neg
	Sign
	Square
	Not
	BitwiseNot
	Cast    // Attrs: DType, Flag (to an 8-bit float: too large is NaN or infinite instead of the greatest value)
	Bitcast // Attrs: DType, of the same size

	// Map, activations.
	Relu
	LeakyRelu // Scalars: slope
	PRelu     // x, slope
	Elu       // Scalars: alpha
	Selu
	Celu // Scalars: alpha
	Sigmoid
	LogSigmoid
	HardSigmoid
	Silu
	HardSwish
	Mish
	Gelu
	GeluTanh
	Softplus
	Softsign

	// Map, gradients of activations: the operand (or the activation's output,
	// where so noted) and the gradient of the output give that of the operand.
	ReluBackward
	LeakyReluBackward // Scalars: slope
	EluBackward       // Scalars: alpha
	SeluBackward
	CeluBackward    // Scalars: alpha
	SigmoidBackward // of the output
	TanhBackward    // of the output
	LogSigmoidBackward
	HardSigmoidBackward
	SiluBackward
	HardSwishBackward
	MishBackward
	GeluBackward
	GeluTanhBackward
	SoftplusBackward
	SoftsignBackward

	// Map, binary. With one input and one scalar the scalar is the second
	// operand; the tensor-tensor form has two inputs and no scalar.
	Add
	Sub
	Mul
	Div
	FloorDiv
	Remainder
	Fmod
	Pow
	Atan2
	Hypot
	CopySign
	Maximum
	Minimum
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	And
	Or
	Xor
	BitwiseAnd
	BitwiseOr
	BitwiseXor
	ShiftLeft
	ShiftRight

	// Map, ternary.
	Where  // mask, a, b
	Clamp  // x; Scalars: lo, hi
	MulAdd // a, b, c

	// Create.
	Full   // Scalars: value; Attrs: Shape, DType
	Arange // Scalars: start, step (f64 for floats, i64 for ints); Attrs: Shape (rank 1), DType

	// Random. Scalars 0, 1: seed, offset (i64).
	Uniform   // Scalars 2, 3: low, high, of the compute dtype
	Normal    // Scalars 2, 3: mean, standard deviation, of the compute dtype
	Bernoulli // Scalar 2: probability (f32); Bool
	RandInt   // Scalars 2, 3: low, high (i64)

	// View.
	Reshape  // Attrs: Shape
	Permute  // Attrs: Axes
	Expand   // Attrs: Shape
	Slice    // Ranges, one per axis
	Flip     // Attrs: Axes
	Unfold   // Attrs: Axes (one), Ints: size, step; the windows' elements become a last axis
	Diagonal // Attrs: Axes (two), N: offset; the diagonal becomes the last axis

	// Move.
	Cat    // Attrs: Axes (one)
	Repeat // Attrs: Ints, times per axis
	Pad    // Attrs: Ints, low and high per axis; Scalars: value

	// Index.
	Select    // x, indices (rank 1, i64); Attrs: Axes (one)
	Gather    // x, indices; Attrs: Axes (one)
	Embedding // weight [n,d], indices → indices.Shape ++ [d]
	GatherND  // x, indices [...,k] → indices.Shape[:-1] ++ x.Shape[k:]

	// Index, with updates: a copy of x with parts replaced or, by Attrs.Mode,
	// combined; of equal indices each counts, in logical order.
	SliceAssign  // x, value; Ranges, one per axis
	SelectAssign // x, indices (rank 1), value; Attrs: Axes (one), Mode
	Scatter      // x, indices, value of the indices' shape; Attrs: Axes (one), Mode
	ScatterND    // x, indices [...,k], value indices.Shape[:-1] ++ x.Shape[k:]; Attrs: Mode

	// Effects: input 0 is the Var's version before, the output the one after.
	Set        // old, value
	SetSlice   // old, value; Ranges, one per axis
	SetSelect  // old, indices (rank 1), value; Attrs: Axes (one)
	ScatterAdd // old, indices (rank 1), value; Attrs: Axes (one)

	// Reduce. Attrs: Axes; reduced axes keep length 1.
	Sum
	Mean
	Prod
	Max
	Min
	ArgMax // index within the reduced axes, row-major; I64
	ArgMin
	Any
	All
	LogSumExp
	L2Norm
	Norm // Scalars: p
	Var  // Attrs: N, the correction
	Std  // Attrs: N, the correction

	// Scan. Attrs: Axes (one), Flag (exclusive), Reverse.
	CumSum
	CumProd
	CumMax
	CumMin

	// Order. Attrs: Axes (one), Reverse (descending). Stable; NaN is greatest.
	Sort
	ArgSort
	TopK    // Attrs: N, how many
	ArgTopK // Attrs: N, how many

	// Contraction.
	MatMul    // [...,m,k]·[...,k,n]; vector forms as NumPy's
	IntMatMul // MatMul of i8 or u8 operands; I32
	Linear    // x [...,in], weight [in,out], optional bias [out]

	// Composite: f32 inside, rounded once at the end.
	Softmax    // Attrs: Axes
	LogSoftmax // Attrs: Axes
	LayerNorm  // x, optional weight, bias over the last axis; Scalars: epsilon
	RMSNorm    // x, optional weight over the last axis; Scalars: epsilon
	GroupNorm  // x [n,c,...], optional weight, bias [c]; Attrs: N, the groups; Scalars: epsilon
	BatchNorm  // x [n,c,...], mean, variance, optional weight, bias [c]; Scalars: epsilon
	Attention  // q [b,h,m,d], k [b,g,n,d], v [b,g,n,e], optional mask (bool or additive); Scalars: scale; Attrs: Flag (causal), N (offset)

	// Gradients of composites with respect to x.
	SoftmaxBackward    // output, gradient; Attrs: Axes
	LogSoftmaxBackward // output, gradient; Attrs: Axes
	LayerNormBackward  // x, gradient, optional weight; Scalars: epsilon
	RMSNormBackward    // x, gradient, optional weight; Scalars: epsilon

	// Custom is an operation of a user: Attrs: Name, Ints, DType, Flag; any
	// operands and scalars. See RegisterCustom.
	Custom

	numKinds
)

// Class decides how an operation may fuse.
type Class uint8

// The classes.
const (
	ClassMap Class = iota
	ClassCreate
	ClassRandom
	ClassView
	ClassMove
	ClassGather
	ClassReduce
	ClassScan
	ClassContraction
	ClassComposite
	ClassEffect
	ClassScatter
	ClassOrder
	ClassOpaque // nothing is known of it but its operands and output
)

var classNames = [...]string{"map", "create", "random", "view", "move", "gather", "reduce", "scan", "contraction", "composite", "effect", "scatter", "order", "opaque"}

func (c Class) String() string { return classNames[c] }

// AttrSet is the set of fields of Attrs a kind uses.
type AttrSet uint16

// The fields of Attrs.
const (
	HasAxes AttrSet = 1 << iota
	HasShape
	HasInts
	HasN
	HasDType
	HasFlag
	HasReverse
	HasRanges // Operation.Ranges, one per axis of input 0
	HasMode
	HasName
)

// Info is the table row of a kind: everything the parts of the library know
// about it starts here.
type Info struct {
	Name   string
	Class  Class
	MinIn  int // least operands, scalars' operands not counted
	MaxIn  int // most operands, -1: any number
	Attrs  AttrSet
	Scalar ScalarOp // element-wise kinds: the function of each element

	// DTypes is what the operands may be, besides masks and indices (those
	// are Bool and I64); for kinds without operands, what Attrs.DType may be.
	DTypes DTypeSet

	// MinScalars and MaxScalars bound len(Operation.Scalars).
	MinScalars, MaxScalars int

	// Infer checks an operation whose inputs, attributes, scalars and ranges
	// are set, normalises axes, and returns the output's shape and dtype.
	Infer func(o *Operation) (Shape, DType, error)

	// Doc says what the output is, for help and documentation: a noun phrase,
	// then, each after a semicolon, remarks.
	Doc string
}

// Lookup returns the table row of k.
func Lookup(k Kind) *Info {
	if k >= numKinds {
		k = KindInvalid
	}
	return &table[k]
}

// String returns the name of k, such as "Add".
func (k Kind) String() string { return Lookup(k).Name }

// Kinds returns every kind, in the order of the table.
func Kinds() []Kind {
	out := make([]Kind, 0, numKinds-1)
	for k := KindInvalid + 1; k < numKinds; k++ {
		out = append(out, k)
	}
	return out
}

// ParseKind returns the kind with the given name.
func ParseKind(name string) (Kind, bool) {
	k, ok := kindByName[name]
	return k, ok
}

package ir

// Kind is what an operation does.
type Kind uint16

// The kinds, in the order of the table.
const (
	KindInvalid Kind = iota

	// Map, unary float.
	Exp
	Expm1
	Log
	Log1p
	Sqrt
	Rsqrt
	Recip
	Sin
	Cos
	Tanh
	Erf
	Round
	Floor
	Ceil
	Trunc
	IsNaN

	// Map, unary any.
	Abs
	Neg
	Sign
	Square
	Not
	Cast

	// Map, activations.
	Relu
	LeakyRelu // Scalars: slope
	Sigmoid
	Silu
	Gelu
	GeluTanh
	Softplus

	// Map, binary. With one input and one scalar the scalar is the second
	// operand; the tensor-tensor form has two inputs and no scalar.
	Add
	Sub
	Mul
	Div
	Pow
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

	// Map, ternary.
	Where  // mask, a, b
	Clamp  // x; Scalars: lo, hi
	MulAdd // a, b, c

	// Create.
	Full   // Scalars: value; Attrs: Shape, DType
	Arange // Scalars: start, step (f64 for floats, i64 for ints); Attrs: Shape (rank 1), DType

	// Random. Scalars 0, 1: seed, offset (i64).
	Uniform   // Scalars 2, 3: low, high
	Normal    // Scalars 2, 3: mean, standard deviation
	Bernoulli // Scalar 2: probability; Bool
	RandInt   // Scalars 2, 3: low, high (i64)

	// View.
	Reshape // Attrs: Shape
	Permute // Attrs: Axes
	Expand  // Attrs: Shape
	Slice   // Ranges, one per axis
	Flip    // Attrs: Axes

	// Move.
	Cat    // Attrs: Axes (one)
	Repeat // Attrs: Ints, times per axis
	Pad    // Attrs: Ints, low and high per axis; Scalars: value

	// Index.
	Select    // x, indices (rank 1, i64); Attrs: Axes (one)
	Gather    // x, indices; Attrs: Axes (one)
	Embedding // weight [n,d], indices → indices.Shape ++ [d]

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
	Var // Attrs: N, the correction

	// Scan. Attrs: Axes (one), Flag (exclusive), Reverse.
	CumSum

	// Contraction.
	MatMul // [...,m,k]·[...,k,n]; vector forms as NumPy's
	Linear // x [...,in], weight [in,out], optional bias [out]

	// Composite: f32 inside, rounded once at the end.
	Softmax    // Attrs: Axes
	LogSoftmax // Attrs: Axes
	LayerNorm  // x, optional weight, bias over the last axis; Scalars: epsilon
	RMSNorm    // x, optional weight over the last axis; Scalars: epsilon
	Attention  // q [b,h,m,d], k [b,g,n,d], v [b,g,n,e], optional mask (bool or additive); Scalars: scale; Attrs: Flag (causal), N (offset)

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
)

var classNames = [...]string{"map", "create", "random", "view", "move", "gather", "reduce", "scan", "contraction", "composite", "effect"}

func (c Class) String() string { return classNames[c] }

// AttrSet is the set of fields of Attrs a kind uses.
type AttrSet uint8

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

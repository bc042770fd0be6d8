// Package codegen holds the kernel: a device-independent loop program that
// fusers write and engines run.
//
// A kernel is an iteration space, buffers reached through index maps, a
// scalar program in SSA form and a template, which is the loop structure
// around the program. A kernel fixes structure only: lengths, strides,
// offsets and scalars arrive with each launch, so one kernel serves every
// shape of the same structure.
//
// The package knows neither tensor operations nor devices.
package codegen

import "github.com/sinter-ml/sinter/ir"

// Template is the loop structure of a kernel.
type Template uint8

// The templates. "Space" is Launch.Dims: Outer axes, then Inner axes.
const (
	// Map evaluates the body at each point of the space (Inner = 0).
	Map Template = iota
	// Rows evaluates, for each point of the outer axes, a body that may reduce
	// over the inner axes (OpReduce) and use the result at every inner point
	// again, as often as it likes: reductions, softmax, norms, variance.
	Rows
	// Contraction has Inner = 1, the contracted axis, and outer axes
	// [batch…, m, n]. The body starts with one OpContract; the rest is the
	// epilogue at each outer point.
	Contraction
	// Scan evaluates OpScan along the one inner axis of each row.
	Scan
	// Scatter is a Map whose stores are indexed and happen in the row-major
	// order of the space.
	Scatter
	// Attention has the space [batch…, query, value dim] outer and
	// [key, head dim] inner, and a body that starts with one OpAttention. Heads
	// are batch axes; heads that share keys and values are two of them.
	Attention
)

var templateNames = [...]string{"map", "rows", "contraction", "scan", "scatter", "attention"}

func (t Template) String() string { return templateNames[t] }

// Mode says how a kernel uses a buffer.
type Mode uint8

// The buffer modes.
const (
	In    Mode = iota
	Out        // written; what the kernel does not write stays as it was
	InOut      // read and written
)

// Buffer is one piece of memory a kernel uses. Two buffers of a launch never
// overlap unless they are the same buffer, or an Out buffer takes the storage
// of an In buffer that has, in every access, the same layout.
type Buffer struct {
	DType ir.DType
	Mode  Mode
}

// Access is one way of indexing a buffer. The strides come with the launch
// (AccessArgs), one for each axis of the space; an axis the access does not
// depend on has stride 0.
type Access struct {
	Buffer int
	// Indices is how many axes of the underlying tensor are indexed by values
	// of the program (gather, scatter, dynamic slice).
	Indices int
	// Masked says that the launch gives a window outside of which nothing is
	// read and the fill value is taken instead (padding, concatenation).
	Masked bool
}

// Level says how often a value exists in a Rows kernel.
type Level uint8

// The levels.
const (
	Element Level = iota // one for each point of the space
	Row                  // one for each point of the outer axes
)

// Value names the result of an instruction: its position in the body.
type Value int32

// Op is what an instruction does.
type Op uint8

// The instructions. Register types are F32, I64 and Bool; a BF16 value lives
// in an F32 register.
const (
	OpInvalid   Op = iota
	OpConst        // Bits, of Type
	OpParam        // Launch.Params[Index], of Type
	OpLoad         // the element of Access; Args: Indices index values (I64), then, if masked, the fill value
	OpCoord        // coordinate along axis Index of the space, I64
	OpApply        // Fn(Args…)
	OpCast         // Args[0] converted From → To, rounded once; F32 → BF16 rounds within the F32 register
	OpReduce       // Reduce over the inner axes of Args[0], Element → Row
	OpCount        // number of points of the inner axes, as Type
	OpContract     // Σk Access·Access2 along the inner axis, of Type
	OpScan         // running Reduce (sum) of Args[0] along the inner axis; Exclusive, Reverse
	OpArange       // start + i·step at coordinate i of axis Index, rounded once to To (Invalid: to Type); Params Index2, Index2+1 (f64 bits when Type is F32, else i64)
	OpPhilox       // 32-bit random word of the point's row-major position, I64 in 0..2³²-1; Params Index, Index+1 are seed and offset
	OpNormal       // standard normal number of the point's row-major position, F32; Params as OpPhilox
	OpAttention    // softmax(scale·Q·Kᵀ + mask)·V at (batch…, query, value dim), F32; see AttentionSpec
	numOps
)

// ReduceOp is how a reduction joins elements.
type ReduceOp uint8

// The reductions. Their order over the elements is fixed (see Order).
const (
	RSum ReduceOp = iota
	RProd
	RMax
	RMin
	RArgMax // I64: row-major position within the inner axes
	RArgMin
	RAny
	RAll
)

var reduceNames = [...]string{"sum", "prod", "max", "min", "argmax", "argmin", "any", "all"}

func (r ReduceOp) String() string { return reduceNames[r] }

// The order of a floating-point sum or product of n elements, in row-major
// order of the reduced axes as recorded. Element i belongs to block
// i/BlockElems and, inside it, to lane i mod Lanes; a lane adds its at most 32
// elements one after another, starting from the identity; the 32 lanes of a
// block are joined by a binary tree (lane j with lane j+16, then +8, 4, 2, 1);
// the blocks are joined pairwise, neighbours first, an odd last block moving
// up unchanged. The order depends on n alone.
const (
	Lanes      = 32
	BlockElems = 1024
)

// KBlock is the length of the blocks of a contraction: products are added one
// after another from zero inside a block, and block sums are added in order.
const KBlock = 256

// AttentionSpec is the part of an attention kernel that is structure.
// Accesses 0, 1, 2 are Q, K and V; access 3 the mask if HasMask. Param 0 is the
// scale, Param 1 the causal offset (i64).
type AttentionSpec struct {
	Causal   bool
	HasMask  bool
	BoolMask bool
}

// Instr is one instruction of a scalar program.
type Instr struct {
	Op        Op
	Type      ir.DType // the register type of the result
	Level     Level
	Fn        ir.ScalarOp
	Reduce    ReduceOp
	From, To  ir.DType
	Exclusive bool
	Reverse   bool
	Access    int
	Access2   int
	Index     int
	Index2    int
	Bits      uint64
	Args      []Value
}

// Store writes a value through an access. Element values are written at each
// point of the space, row values once for each outer point.
type Store struct {
	Access int
	Value  Value
	Index  []Value // Scatter: the values for the access's indexed axes
	Add    bool    // Scatter: add to what is there instead of replacing it
}

// Kernel is a loop program.
type Kernel struct {
	Name         string // what it came from, for people; no part of the identity
	Template     Template
	Outer, Inner int
	Buffers      []Buffer
	Accesses     []Access
	Params       []ir.DType // runtime scalars; Invalid: the raw bits of an f64
	Attention    AttentionSpec
	Body         []Instr
	Stores       []Store
}

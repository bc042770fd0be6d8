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
	// [batch…, m, n]. The body has one OpContract; before it come the prologues
	// of its operands, if they have any, at the levels Left and Right; the rest
	// is the epilogue at each outer point.
	Contraction
	// Scan evaluates OpScan along the one inner axis of each row.
	Scan
	// Scatter is a Map whose stores are indexed and happen, or are joined to what
	// is there, in the row-major order of the space.
	Scatter
	// Attention has the space [batch…, query, value dim] outer and
	// [key, head dim] inner, and a body that starts with one OpAttention. Heads
	// are batch axes; heads that share keys and values are two of them.
	Attention
	// Sort has one inner axis, along which OpSort orders values; at inner
	// coordinate j its result is the j-th. Stores may have windows, so that
	// only the first are written.
	Sort
	// Parts is several independent Map kernels of any spaces in one launch. It
	// has no space and no program of its own.
	Parts
	// Custom runs a function that is registered with the device on whole
	// tensors; see CustomSpec.
	Custom
)

var templateNames = [...]string{"map", "rows", "contraction", "scan", "scatter", "attention", "sort", "parts", "custom"}

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
	// read and the fill value is taken instead (padding, concatenation), or
	// nothing is written (Sort).
	Masked bool
}

// Level says how often a value exists.
type Level uint8

// The levels. In a Rows kernel all values but row values are element values; in
// a contraction element values are those of the epilogue, which exist at each
// outer point.
const (
	Element Level = iota // one for each point of the space
	Row                  // Rows: one for each point of the outer axes
	Left                 // Contraction: one for each [batch…, m, k], of the left operand
	Right                // Contraction: one for each [batch…, k, n], of the right operand
)

// Value names the result of an instruction: its position in the body.
type Value int32

// Op is what an instruction does.
type Op uint8

// The instructions. Register types are the compute dtypes: F64, F32, the
// integers and Bool; a value of a 16-bit or 8-bit float lives in an F32 register.
// Integers wrap in their own width.
const (
	OpInvalid   Op = iota
	OpConst        // Bits, of Type, in the form of ir.Scalar
	OpParam        // Launch.Params[Index], of Type
	OpLoad         // the element of Access; Args: Indices index values (I64), then, if masked, the fill value
	OpCoord        // coordinate along axis Index of the space, I64
	OpApply        // Fn(Args…)
	OpCast         // Args[0] converted From → To, rounded once; F32 → F16 rounds within the F32 register; Overflow: see there
	OpBitcast      // Args[0], a value of dtype From, with the same bits as dtype To
	OpReduce       // Reduce over the inner axes of Args[0], Element → Row
	OpCount        // number of points of the inner axes, as Type
	OpContract     // Σk left·right along the inner axis, of Type: left is Args[0] or, without Args, Access; right Args[1] or Access2. Two operands of I8 or U8 give I32. Args are values of the dtypes From and To
	OpScan         // running Reduce (RSum, RProd, RMax, RMin) of Args[0] along the inner axis; Exclusive, Reverse
	OpSort         // Args[0] sorted along the inner axis, stably, NaN greatest; Reverse: descending, still stable; Positions: where they were, I64
	OpArange       // start + i·step at coordinate i of axis Index, rounded once to To (Invalid: to Type); Params Index2, Index2+1 (F64 when Type is a float, else I64)
	OpPhilox       // 32-bit random word of the row-major position of the point where the value exists, I64 in 0..2³²-1; Params Index, Index+1 are seed and offset
	OpNormal       // standard normal number of the point's row-major position, F32 or F64; Params as OpPhilox
	OpAttention    // softmax(scale·Q·Kᵀ + mask)·V at (batch…, query, value dim), F32 or F64; see AttentionSpec
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
// Accesses 0, 1, 2 are Q, K and V; then come the mask if HasMask, and one element
// that is the scale if ScaleRead. Else Param 0 is the scale; Param 1 is the causal
// offset (i64).
type AttentionSpec struct {
	Causal    bool
	HasMask   bool
	BoolMask  bool
	ScaleRead bool
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
	Positions bool // OpSort
	Overflow  bool // OpCast to an 8-bit float: too large is NaN or infinite instead of the greatest value
	Access    int
	Access2   int
	Index     int
	Index2    int
	Bits      uint64
	Args      []Value
	Origin    string // the kind of operation it came from, for people; no part of the identity
}

// Store writes a value through an access. Element values are written at each
// point of the space, row values once for each outer point.
type Store struct {
	Access int
	Value  Value
	Index  []Value        // Scatter: the values for the access's indexed axes
	Mode   ir.ScatterMode // Scatter: how the value joins what is there
}

// Kernel is a loop program.
type Kernel struct {
	Name         string // what it came from, for people; no part of the identity
	Template     Template
	Outer, Inner int
	Buffers      []Buffer
	Accesses     []Access
	Params       []ir.DType // runtime scalars, of register types
	Attention    AttentionSpec
	Body         []Instr
	Stores       []Store
	Parts        []Part // Parts
	Custom       CustomSpec
}

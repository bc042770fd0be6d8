// Package optimize turns a segment, the operations one drain executes, into a
// plan: ordered blocks, each finished by a fuser.
//
// It knows operations and fusers' answers, and must not know which backend
// runs the plan, nor streams, handles or memory.
package optimize

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Segment is the operations one drain executes, in relative form, with what
// is known before planning. Tensor ids in Ops are indices of Tensors, dense,
// in order of first appearance (inputs before outputs of each operation).
type Segment struct {
	Ops     []ir.Operation
	Tensors []Tensor
	Dims    []int // the distinct lengths in order of first appearance; Dims[0] = 1
	// InPlace tells, by position, which effect operations write over the old
	// version's storage. SetSlice, SetSelect and ScatterAdd always do; Set does
	// when nothing can still ask for the old version. Nil stands for none.
	//
	// Readers of the old version recorded before such an effect run before it
	// (or in its block). Readers recorded after it run in another block than it
	// does: the runtime hands them the rebuilt version.
	InPlace []bool
}

// inPlace reports whether the operation at a position writes over the storage
// of its input 0.
func (s *Segment) inPlace(op int) bool {
	k := s.Ops[op].Kind
	if ir.Lookup(k).Class != ir.ClassEffect {
		return false
	}
	return k != ir.Set || op < len(s.InPlace) && s.InPlace[op]
}

// Tensor is what is known of a tensor of a segment.
type Tensor struct {
	Shape  ir.Shape
	DType  ir.DType
	Input  bool           // made before this segment
	Layout codegen.Layout // inputs: how it is stored
	Var    int            // inputs that are a Var's version: 1 + the Var's number within the segment
	Buffer int            // inputs: number of the buffer within the segment, from 1; equal numbers alias, 0 shares with nobody

	Asked bool // outputs: read, kept, saved by a tape, asked for late before, or used by the rest of a cut queue
	Dead  bool // outputs: nobody can ask for it after this segment
	// Takeable: inputs: the last use is in this segment and its storage may be
	// taken (the tensor is dead afterwards).
	Takeable bool
}

// Fate is what becomes of an operation's output.
type Fate uint8

// The fates.
const (
	// Stored: in memory after the segment. A dead tensor is stored when a recipe
	// starts from it or a stored tensor is a view of it.
	Stored    Fate = iota
	Virtual        // kept as a recipe
	Temporary      // in memory until its last reader in the segment ran: it crosses blocks and is dead
	Dropped        // never in memory: used inside one block only and dead, or not computed at all
)

// Plan is how a segment runs. It holds for every segment with the same
// relative form and facts whose lengths satisfy the guards.
type Plan struct {
	Blocks []Block // in the order they run
	Fates  []Fate  // by tensor
	// Recipes gives, for each virtual tensor, the operations that compute it,
	// ascending, from tensors that are stored or inputs of the segment.
	Recipes map[ir.TensorID][]int
	// Guards are what the plan relies on beyond the relative form; see Holds.
	Guards []Guard
	Log    *Log // decisions, for irdump
}

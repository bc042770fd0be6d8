package exec

import "github.com/sinter-ml/sinter/backend/cuda/ptx"

const full = 0xffffffff // the mask of a whole warp

// warp is 32 lanes with their registers. A PTX register of up to 32 bits is one
// element of r, one of 64 bits an element of d, a predicate a mask in p whose bit
// i is lane i's value. A value narrower than its register lies in the low bits;
// what stands above it is not defined, so that whoever reads it as narrow masks
// or extends it.
type warp struct {
	r [][32]uint32
	d [][32]uint64
	p []uint32

	cc       uint32 // the carry of add.cc and its like, a bit for each lane
	blk      *block
	id       int    // in the block
	exist    uint32 // lanes that the block has
	live     uint32 // lanes that have not exited
	groups   []group
	pc       int32      // of the running instruction
	addr     [32]uint64 // scratch of memory instructions
	local    []byte     // of all lanes, one lane after another
	undef    []byte     // beside local: 1 where nothing was written, nil if not checked
	params   []byte     // .param variables of functions, laid out as local
	copies   copyQueue
	clock    []uint32 // see race.go
	epoch    uint32
	together uint32    // the last moment of the warp that all its lanes are ordered behind
	met      *lanesMet // of single lanes, what came later
	yield    bool      // the running group waits for another: let others run
}

// step executes one instruction for the lanes of mask m, which is never 0. It
// leaves the other lanes' registers as they are.
type step func(w *warp, in *inst, m uint32)

// inst is a decoded instruction. Its operands are register numbers: immediates,
// special registers and addresses of variables are registers filled beforehand,
// an operand that is not wanted (_) is a register nobody reads. Which of r, d
// and p a number counts in follows from the form's signature.
type inst struct {
	run        step
	kind       kind
	fitting    bool   // stands for nothing in the text: fits a register to its form
	negated    uint32 // full if the guard is @!, else 0
	guard      int32  // predicate register, -1 if there is none
	target     int32  // of a branch
	dst, dst2  int32  // d and, after |, its second
	a, b, c, e int32  // sources
	v          []int32
	mem        *access // of forms with an address
	ctl        *control
	src        *ptx.Instr
	fn         *ptx.Func
}

// kind tells the loop of the warp what to do with an instruction.
type kind uint8

const (
	plain    kind = iota // run alone decides
	branch               // to target
	indexed              // brx.idx
	call                 // to a function
	ret                  // from a function, or exit of the lanes at the entry
	exit                 // of the lanes
	trapped              // trap, brkpt
	converge             // all lanes named by a mask meet here, then run
	barrier              // bar and barrier of the block
	yielding             // run, then let others run if it asks for that
)

// control is what instructions beside the plain ones need.
type control struct {
	members  int32 // register of the membermask; -1: all lanes, as .aligned says
	anywhere bool  // lanes may wait at different instructions (bar.warp.sync)
	barrier  barrierOp
	targets  []int32 // of brx.idx
	call     *callSite
	copy     *copySource
}

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

	cc uint32 // the carry of add.cc and its like, a bit for each lane
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
	dst, dst2  int32   // d and, after |, its second
	a, b, c, e int32   // sources
	v          []int32 // of forms with vectors: all operands, elements one after another, destinations first
	src        *ptx.Instr
}

// form is one executable opcode: a row of the table that decoding looks up by
// the opcode's full name.
type form struct {
	// sig tells the register file of each operand: destinations, '=', sources.
	// 'r' is 32 bits, 'd' 64 bits, 'p' a predicate; a digit after a letter makes
	// it a vector of so many elements, as in "r4=r4r2r4" of mma. Two
	// destinations are d|p; the second may be missing in the text, and then its
	// register is one nobody reads. A source that may be missing in the text
	// stands in the signature of another form.
	sig string
	run step
}

package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Class is the numeric class of a contraction: everything the bits of a result
// depend on beside the factors themselves. It follows from the factors' dtypes,
// the length of the contracted axis and the target alone, so that every
// candidate of a launch gives the same bits, and a row alone those of a row among
// many.
//
// Products are added in ascending order of k from zero inside blocks of KBlock,
// and the sums of the Split blocks are added one after another from zero. Work
// may be split over thread blocks where blocks of k meet, and nowhere else: where
// it is split and where it is not, the same sums are added in the same order.
type Class struct {
	Instruction Instruction
	KBlock      int      // the length of a block of k
	Split       int      // how many blocks there are: at least 1
	Accumulator ir.DType // what sums are kept in
}

// Instruction is what multiplies and adds in a contraction.
type Instruction uint8

// The instructions.
const (
	// FusedMultiplyAdd adds one product after another, each with one rounding.
	FusedMultiplyAdd Instruction = iota
	// IntegerMultiplyAdd is exact, in the ring of its width: any order and any
	// instruction gives the same bits.
	IntegerMultiplyAdd
	// TensorHalf is mma.sync.m16n8k16 of f16 or bf16: 16 products are added to
	// an f32 sum at once, those beyond the end of k being +0.
	TensorHalf
	// TensorTF32 is mma.sync.m16n8k8 of tf32: f32 factors are rounded to 11
	// significant bits, ties away from zero. Only where Target.Relaxed allows.
	TensorTF32
	// TensorByte is mma.sync.m16n8k32 of 8-bit integers: exact.
	TensorByte
	// TensorGroup is wgmma.mma_async.m64nNk16 of f16 or bf16, which four warps
	// share. Only where Target.Wgmma asks for it.
	TensorGroup
)

func (i Instruction) String() string {
	return [...]string{"fma", "integer", "mma.m16n8k16", "mma.m16n8k8.tf32", "mma.m16n8k32", "wgmma.m64nNk16"}[i]
}

// tensor reports whether i is an instruction of tensor cores.
func (i Instruction) tensor() bool { return i >= TensorHalf }

// tensorBlock is the length of the blocks of k on tensor cores. It is longer than
// codegen.KBlock because a sum of blocks takes registers and time, and short
// enough that a matrix with few rows, whose results are too few to fill a
// device, is split along k.
const tensorBlock = 1024

// ClassOf returns the numeric class of a contraction along K elements.
func ClassOf(k *codegen.Kernel, K int, t Target) Class {
	at, sides := sidesOf(k)
	in := &k.Body[at]
	c := Class{Instruction: FusedMultiplyAdd, KBlock: codegen.KBlock, Accumulator: in.Type}
	left, right := sides[0].dtype, sides[1].dtype
	switch {
	case in.Type.IsInt():
		c.Instruction, c.Accumulator = IntegerMultiplyAdd, wrapping(in.Type)
		if ir.Bytes.Has(left) && ir.Bytes.Has(right) && in.Type == ir.I32 {
			c.Instruction = TensorByte
		}
	case left != right:
	case left.IsHalf() && t.Wgmma && t.Specific && t.SM == 90:
		c.Instruction = TensorGroup
	case left.IsHalf():
		c.Instruction = TensorHalf
	case left == ir.F32 && t.Relaxed:
		c.Instruction = TensorTF32
	}
	if c.Instruction.tensor() {
		c.KBlock = tensorBlock
	}
	c.Split = max(1, (K+c.KBlock-1)/c.KBlock)
	return c
}

// wrapping returns the unsigned integer in which sums of t are kept, whose low
// bits are those of t.
func wrapping(t ir.DType) ir.DType {
	if t.Size() == 8 {
		return ir.U64
	}
	return ir.U32
}

func (c Class) String() string {
	return fmt.Sprintf("%v to %v, %d blocks of %d", c.Instruction, c.Accumulator, c.Split, c.KBlock)
}

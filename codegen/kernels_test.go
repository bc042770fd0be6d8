package codegen

import (
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// Kernels of every template, valid, for the tests of this package.

func mapKernel() *Kernel {
	return &Kernel{
		Name: "scale-add", Template: Map, Outer: 2,
		Buffers:  []Buffer{{ir.BF16, In}, {ir.F32, In}, {ir.BF16, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1, Masked: true}, {Buffer: 2}},
		Params:   []ir.DType{ir.F32},
		Body: []Instr{
			{Op: OpLoad, Type: ir.F32, Access: 0},
			{Op: OpParam, Type: ir.F32, Index: 0},
			{Op: OpApply, Type: ir.F32, Fn: ir.SMul, Args: []Value{0, 1}},
			{Op: OpConst, Type: ir.F32, Bits: uint64(math.Float32bits(-0.5))},
			{Op: OpLoad, Type: ir.F32, Access: 1, Args: []Value{3}},
			{Op: OpApply, Type: ir.F32, Fn: ir.SAdd, Args: []Value{2, 4}},
			{Op: OpCast, Type: ir.F32, From: ir.F32, To: ir.BF16, Args: []Value{5}},
		},
		Stores: []Store{{Access: 2, Value: 6}},
	}
}

func gatherKernel() *Kernel {
	return &Kernel{
		Name: "gather", Template: Map, Outer: 2,
		Buffers:  []Buffer{{ir.F32, In}, {ir.I64, In}, {ir.F32, Out}},
		Accesses: []Access{{Buffer: 0, Indices: 1}, {Buffer: 1}, {Buffer: 2}},
		Body: []Instr{
			{Op: OpLoad, Type: ir.I64, Access: 1},
			{Op: OpLoad, Type: ir.F32, Access: 0, Args: []Value{0}},
		},
		Stores: []Store{{Access: 2, Value: 1}},
	}
}

func rowsKernel() *Kernel {
	return &Kernel{
		Name: "center", Template: Rows, Outer: 1, Inner: 1,
		Buffers:  []Buffer{{ir.F32, In}, {ir.F32, Out}, {ir.I64, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}},
		Body: []Instr{
			{Op: OpLoad, Type: ir.F32, Access: 0},
			{Op: OpReduce, Type: ir.F32, Level: Row, Reduce: RSum, Args: []Value{0}},
			{Op: OpCount, Type: ir.F32, Level: Row},
			{Op: OpApply, Type: ir.F32, Level: Row, Fn: ir.SDiv, Args: []Value{1, 2}},
			{Op: OpApply, Type: ir.F32, Fn: ir.SSub, Args: []Value{0, 3}},
			{Op: OpReduce, Type: ir.I64, Level: Row, Reduce: RArgMax, Args: []Value{4}},
		},
		Stores: []Store{{Access: 1, Value: 4}, {Access: 2, Value: 5}},
	}
}

func contractionKernel() *Kernel {
	return &Kernel{
		Name: "linear", Template: Contraction, Outer: 2, Inner: 1,
		Buffers:  []Buffer{{ir.F32, In}, {ir.BF16, In}, {ir.F32, In}, {ir.F32, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}, {Buffer: 3}},
		Body: []Instr{
			{Op: OpContract, Type: ir.F32, Access: 0, Access2: 1},
			{Op: OpLoad, Type: ir.F32, Access: 2},
			{Op: OpApply, Type: ir.F32, Fn: ir.SAdd, Args: []Value{0, 1}},
		},
		Stores: []Store{{Access: 3, Value: 2}},
	}
}

func scanKernel() *Kernel {
	return &Kernel{
		Name: "cumsum", Template: Scan, Outer: 1, Inner: 1,
		Buffers:  []Buffer{{ir.I64, In}, {ir.I64, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1}},
		Body: []Instr{
			{Op: OpLoad, Type: ir.I64, Access: 0},
			{Op: OpScan, Type: ir.I64, Reduce: RSum, Exclusive: true, Reverse: true, Args: []Value{0}},
		},
		Stores: []Store{{Access: 1, Value: 1}},
	}
}

func scatterKernel() *Kernel {
	return &Kernel{
		Name: "scatter-add", Template: Scatter, Outer: 2,
		Buffers:  []Buffer{{ir.F32, In}, {ir.I64, In}, {ir.F32, InOut}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2, Indices: 1}},
		Body: []Instr{
			{Op: OpLoad, Type: ir.F32, Access: 0},
			{Op: OpLoad, Type: ir.I64, Access: 1},
		},
		Stores: []Store{{Access: 2, Value: 0, Index: []Value{1}, Mode: ir.ScatterSum}},
	}
}

func attentionKernel() *Kernel {
	return &Kernel{
		Name: "attention", Template: Attention, Outer: 4, Inner: 2,
		Buffers:   []Buffer{{ir.F32, In}, {ir.F32, In}, {ir.F32, In}, {ir.Bool, In}, {ir.F32, Out}},
		Accesses:  []Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}, {Buffer: 3}, {Buffer: 4}},
		Params:    []ir.DType{ir.F32, ir.I64},
		Attention: AttentionSpec{Causal: true, HasMask: true, BoolMask: true},
		Body:      []Instr{{Op: OpAttention, Type: ir.F32}},
		Stores:    []Store{{Access: 4, Value: 0}},
	}
}

func randomKernel() *Kernel {
	return &Kernel{
		Name: "random", Template: Map, Outer: 1,
		Buffers:  []Buffer{{ir.I64, Out}, {ir.F32, Out}, {ir.F32, Out}, {ir.I64, Out}, {ir.Bool, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}, {Buffer: 3}, {Buffer: 4}},
		Params:   []ir.DType{ir.I64, ir.I64, ir.F64, ir.F64},
		Body: []Instr{
			{Op: OpPhilox, Type: ir.I64, Index: 0},
			{Op: OpNormal, Type: ir.F32, Index: 0},
			{Op: OpArange, Type: ir.F32, To: ir.BF16, Index: 0, Index2: 2},
			{Op: OpCoord, Type: ir.I64, Index: 0},
			{Op: OpConst, Type: ir.Bool, Bits: 1},
		},
		Stores: []Store{{Access: 0, Value: 0}, {Access: 1, Value: 1}, {Access: 2, Value: 2}, {Access: 3, Value: 3}, {Access: 4, Value: 4}},
	}
}

// dequantKernel multiplies halves by weights of 8 bits that are scaled on the
// way, and rounds.
func dequantKernel() *Kernel {
	return &Kernel{
		Name: "dequant", Template: Contraction, Outer: 3, Inner: 1,
		Buffers:  []Buffer{{ir.F16, In}, {ir.I8, In}, {ir.F32, In}, {ir.F16, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}, {Buffer: 3}},
		Body: []Instr{
			{Op: OpLoad, Type: ir.F32, Level: Left, Access: 0},
			{Op: OpApply, Type: ir.F32, Level: Left, Fn: ir.SNeg, Args: []Value{0}},
			{Op: OpLoad, Type: ir.I8, Level: Right, Access: 1},
			{Op: OpCast, Type: ir.F32, Level: Right, From: ir.I8, To: ir.F32, Args: []Value{2}},
			{Op: OpLoad, Type: ir.F32, Level: Right, Access: 2},
			{Op: OpApply, Type: ir.F32, Level: Right, Fn: ir.SMul, Args: []Value{3, 4}},
			{Op: OpContract, Type: ir.F32, From: ir.F16, To: ir.F32, Args: []Value{1, 5}},
			{Op: OpCast, Type: ir.F32, From: ir.F32, To: ir.F16, Args: []Value{6}},
		},
		Stores: []Store{{Access: 3, Value: 7}},
	}
}

// bytesKernel is an exact product of bytes.
func bytesKernel() *Kernel {
	return &Kernel{
		Name: "bytes", Template: Contraction, Outer: 2, Inner: 1,
		Buffers:  []Buffer{{ir.U8, In}, {ir.I8, In}, {ir.I32, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}},
		Body:     []Instr{{Op: OpContract, Type: ir.I32, Access: 0, Access2: 1}},
		Stores:   []Store{{Access: 2, Value: 0}},
	}
}

// sortKernel keeps the first values of a descending order and where they were.
func sortKernel() *Kernel {
	return &Kernel{
		Name: "topk", Template: Sort, Outer: 1, Inner: 1,
		Buffers:  []Buffer{{ir.BF16, In}, {ir.BF16, Out}, {ir.I64, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1, Masked: true}, {Buffer: 2, Masked: true}},
		Body: []Instr{
			{Op: OpLoad, Type: ir.F32, Access: 0},
			{Op: OpSort, Type: ir.F32, Reverse: true, Args: []Value{0}},
			{Op: OpSort, Type: ir.I64, Reverse: true, Positions: true, Args: []Value{0}},
		},
		Stores: []Store{{Access: 1, Value: 1}, {Access: 2, Value: 2}},
	}
}

// bitsKernel converts between representations.
func bitsKernel() *Kernel {
	return &Kernel{
		Name: "bits", Template: Map, Outer: 1,
		Buffers:  []Buffer{{ir.F64, In}, {ir.U8, Out}, {ir.U16, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}},
		Body: []Instr{
			{Op: OpLoad, Type: ir.F64, Access: 0},
			{Op: OpCast, Type: ir.F32, From: ir.F64, To: ir.F8E5M2, Overflow: true, Args: []Value{0}},
			{Op: OpBitcast, Type: ir.U8, From: ir.F8E5M2, To: ir.U8, Args: []Value{1}},
			{Op: OpCast, Type: ir.F32, From: ir.F64, To: ir.BF16, Args: []Value{0}},
			{Op: OpBitcast, Type: ir.U16, From: ir.BF16, To: ir.U16, Args: []Value{3}},
		},
		Stores: []Store{{Access: 1, Value: 2}, {Access: 2, Value: 4}},
	}
}

var validKernels = []func() *Kernel{
	mapKernel, gatherKernel, rowsKernel, contractionKernel, scanKernel, scatterKernel, attentionKernel, randomKernel,
	dequantKernel, bytesKernel, sortKernel, bitsKernel, partsKernel, customKernel,
}

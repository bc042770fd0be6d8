package cudac

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// matMulKernel multiplies matrices [m, k]·[k, n].
func matMulKernel(left, right, result ir.DType) *codegen.Kernel {
	return &codegen.Kernel{
		Name: "matmul", Template: codegen.Contraction, Outer: 2, Inner: 1,
		Buffers:  []codegen.Buffer{{DType: left}, {DType: right}, {DType: result, Mode: codegen.Out}},
		Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}},
		Body:     []codegen.Instr{{Op: codegen.OpContract, Type: result, Access: 0, Access2: 1}},
		Stores:   []codegen.Store{{Access: 2, Value: 0}},
	}
}

func TestClassOf(t *testing.T) {
	relaxed, groups, elsewhere := Ampere, Hopper, Blackwell
	relaxed.Relaxed, groups.Wgmma, elsewhere.Wgmma = true, true, true
	for _, c := range []struct {
		left, right, result ir.DType
		k                   int
		target              Target
		want                Class
	}{
		{ir.F32, ir.F32, ir.F32, 256, Ampere, Class{FusedMultiplyAdd, 256, 1, ir.F32}},
		{ir.F32, ir.F32, ir.F32, 257, Blackwell, Class{FusedMultiplyAdd, 256, 2, ir.F32}},
		{ir.F32, ir.F32, ir.F32, 0, Ampere, Class{FusedMultiplyAdd, 256, 1, ir.F32}},
		{ir.F32, ir.F32, ir.F32, 1025, relaxed, Class{TensorTF32, 1024, 2, ir.F32}},
		{ir.F64, ir.F64, ir.F64, 4096, relaxed, Class{FusedMultiplyAdd, 256, 16, ir.F64}},
		{ir.BF16, ir.BF16, ir.F32, 4096, Ampere, Class{TensorHalf, 1024, 4, ir.F32}},
		{ir.F16, ir.F16, ir.F32, 1, Hopper, Class{TensorHalf, 1024, 1, ir.F32}},
		{ir.F16, ir.F16, ir.F32, 2048, groups, Class{TensorGroup, 1024, 2, ir.F32}},
		{ir.F32, ir.F32, ir.F32, 1, groups, Class{FusedMultiplyAdd, 256, 1, ir.F32}},
		{ir.BF16, ir.BF16, ir.F32, 1, elsewhere, Class{TensorHalf, 1024, 1, ir.F32}},
		{ir.F16, ir.BF16, ir.F32, 1, Ampere, Class{FusedMultiplyAdd, 256, 1, ir.F32}},
		{ir.F32, ir.BF16, ir.F32, 1, relaxed, Class{FusedMultiplyAdd, 256, 1, ir.F32}},
		{ir.F8E4M3, ir.F8E4M3, ir.F32, 1, Ampere, Class{FusedMultiplyAdd, 256, 1, ir.F32}},
		{ir.I8, ir.U8, ir.I32, 3000, Ampere, Class{TensorByte, 1024, 3, ir.U32}},
		{ir.I8, ir.I8, ir.I8, 300, Ampere, Class{IntegerMultiplyAdd, 256, 2, ir.U32}},
		{ir.U16, ir.U16, ir.U16, 300, Ampere, Class{IntegerMultiplyAdd, 256, 2, ir.U32}},
		{ir.I64, ir.I64, ir.I64, 300, Ampere, Class{IntegerMultiplyAdd, 256, 2, ir.U64}},
	} {
		k := matMulKernel(c.left, c.right, c.result)
		require.NoError(t, k.Verify())
		assert.Equal(t, c.want, ClassOf(k, c.k, c.target), "%v x %v, k = %d", c.left, c.right, c.k)
	}
	assert.Equal(t, "mma.m16n8k16 to f32, 4 blocks of 1024", Class{TensorHalf, 1024, 4, ir.F32}.String())
}

// A factor computed as it is read is of the class of one that was stored.
func TestClassOfPrologue(t *testing.T) {
	k := matMulKernel(ir.BF16, ir.BF16, ir.F32)
	k.Body = []codegen.Instr{
		{Op: codegen.OpLoad, Type: ir.F32, Access: 0, Level: codegen.Left},
		{Op: codegen.OpLoad, Type: ir.F32, Access: 1, Level: codegen.Right},
		{Op: codegen.OpApply, Fn: ir.SNeg, Type: ir.F32, Level: codegen.Right, Args: []codegen.Value{1}},
		{Op: codegen.OpContract, Type: ir.F32, From: ir.BF16, To: ir.BF16, Args: []codegen.Value{0, 2}},
	}
	k.Stores[0].Value = 3
	require.NoError(t, k.Verify())
	assert.Equal(t, TensorHalf, ClassOf(k, 8, Ampere).Instruction)
	k.Body[3].To = ir.F32 // the product of a half and a single
	assert.Equal(t, FusedMultiplyAdd, ClassOf(k, 8, Ampere).Instruction)
}

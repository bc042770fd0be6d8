package codegen

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func TestTraffic(t *testing.T) {
	attention := &Launch{Dims: []int{2, 3, 5, 7, 11, 13}, Params: []uint64{0, 0}, Access: []AccessArgs{
		{Strides: []int{195, 65, 13, 0, 0, 1}}, // Q [2,3,5,13]
		{Strides: []int{143, 0, 0, 0, 13, 1}},  // K [2,1,11,13]: one head for all queries'
		{Strides: []int{77, 0, 0, 1, 7, 0}},    // V [2,1,11,7]
		{Strides: []int{0, 0, 11, 0, 1, 0}},    // mask [5,11]
		{Strides: []int{105, 35, 7, 1, 0, 0}},  // out [2,3,5,7]
	}}
	tests := []struct {
		name          string
		kernel        *Kernel
		launch        *Launch
		read, written int64
	}{
		{"broadcast and window", mapKernel(), mapLaunch(), 6*2 + 2*4, 6 * 2},
		{"empty", mapKernel(), func() *Launch { l := mapLaunch(); l.Dims[0] = 0; return l }(), 0, 0},
		{"gather", gatherKernel(), &Launch{Dims: []int{3, 4}, Access: []AccessArgs{
			{Strides: []int{0, 1}, Index: []IndexArg{{100, 4}}}, {Strides: []int{1, 0}}, {Strides: []int{4, 1}},
		}}, 3*4*4 + 3*8, 3 * 4 * 4},
		{"gather of a small table", gatherKernel(), &Launch{Dims: []int{300, 4}, Access: []AccessArgs{
			{Strides: []int{0, 1}, Index: []IndexArg{{10, 4}}}, {Strides: []int{1, 0}}, {Strides: []int{4, 1}},
		}}, 10*4*4 + 300*8, 300 * 4 * 4},
		{"rows", rowsKernel(), &Launch{Dims: []int{2, 3}, Access: []AccessArgs{
			{Strides: []int{3, 1}}, {Strides: []int{3, 1}}, {Strides: []int{1, 0}},
		}}, 24, 24 + 16},
		{"rows over nothing", rowsKernel(), &Launch{Dims: []int{2, 0}, Access: []AccessArgs{
			{Strides: []int{0, 1}}, {Strides: []int{0, 1}}, {Strides: []int{1, 0}},
		}}, 0, 16},
		{"contraction", contractionKernel(), &Launch{Dims: []int{2, 3, 5}, Access: []AccessArgs{
			{Strides: []int{5, 0, 1}}, {Strides: []int{0, 1, 3}}, {Strides: []int{0, 1, 0}}, {Strides: []int{3, 1, 0}},
		}}, 2*5*4 + 5*3*2 + 3*4, 2 * 3 * 4},
		{"scatter-add", scatterKernel(), &Launch{Dims: []int{4, 3}, Access: []AccessArgs{
			{Strides: []int{3, 1}}, {Strides: []int{1, 0}}, {Strides: []int{0, 1}, Index: []IndexArg{{9, 3}}},
		}}, 12*4 + 4*8 + 12*4, 12 * 4},
		{"prologues", dequantKernel(), &Launch{Dims: []int{2, 3, 4, 5}, Access: []AccessArgs{
			{Strides: []int{15, 5, 0, 1}}, {Strides: []int{0, 0, 1, 4}}, {Strides: []int{0, 0, 1, 0}}, {Strides: []int{12, 4, 1, 0}},
		}}, 30*2 + 20 + 4*4, 24 * 2},
		{"first of a sort", sortKernel(), &Launch{Dims: []int{2, 5}, Access: []AccessArgs{
			{Strides: []int{5, 1}}, {Strides: []int{3, 1}, Window: []WindowArg{{1, 0, 3}}}, {Strides: []int{3, 1}, Window: []WindowArg{{1, 0, 3}}},
		}}, 10 * 2, 6*2 + 6*8},
		{"attention", attentionKernel(), attention, (2*3*5*13+2*11*13+2*11*7)*4 + 5*11, 2 * 3 * 5 * 7 * 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			read, written := Traffic(tt.kernel, tt.launch)
			assert.Equal(t, tt.read, read, "read")
			assert.Equal(t, tt.written, written, "written")
		})
	}
}

// An index computed through a row value depends on outer axes only.
func TestTrafficOfAnIndexFromAReduction(t *testing.T) {
	k := &Kernel{
		Template: Rows, Outer: 1, Inner: 1,
		Buffers:  []Buffer{{ir.F32, In}, {ir.F32, In}, {ir.F32, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1, Indices: 1}, {Buffer: 2}},
		Body: []Instr{
			{Op: OpLoad, Type: ir.F32, Access: 0},
			{Op: OpReduce, Type: ir.I64, Level: Row, Reduce: RArgMax, Args: []Value{0}},
			{Op: OpLoad, Type: ir.F32, Level: Row, Access: 1, Args: []Value{1}},
		},
		Stores: []Store{{Access: 2, Value: 2}},
	}
	require.NoError(t, k.Verify())
	l := &Launch{Dims: []int{6, 50}, Access: []AccessArgs{
		{Strides: []int{50, 1}}, {Strides: []int{0, 0}, Index: []IndexArg{{50, 1}}}, {Strides: []int{1, 0}},
	}}
	read, written := Traffic(k, l)
	assert.Equal(t, int64(300*4+6*4), read)
	assert.Equal(t, int64(6*4), written)
}

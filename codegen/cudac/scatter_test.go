package cudac

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// scatterKernel joins values to the places its index values say.
func scatterKernel(dt ir.DType, mode ir.ScatterMode, rank int) *codegen.Kernel {
	return &codegen.Kernel{
		Name: "scatter", Template: codegen.Scatter, Outer: rank,
		Buffers:  []codegen.Buffer{{DType: ir.I64}, {DType: dt}, {DType: dt, Mode: codegen.InOut}},
		Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2, Indices: 1}},
		Body:     []codegen.Instr{{Op: codegen.OpLoad, Type: ir.I64, Access: 0}, {Op: codegen.OpLoad, Type: dt.Compute(), Access: 1}},
		Stores:   []codegen.Store{{Access: 2, Value: 1, Index: []codegen.Value{0}, Mode: mode}},
	}
}

// scatterLaunch has an index and a place with the given strides over dims, values
// that lie dense, and an indexed axis.
func scatterLaunch(dims, index, place []int, extent, stride int) *codegen.Launch {
	target := placed(0, place...)
	target.Index = []codegen.IndexArg{{Extent: extent, Stride: stride}}
	return launchOf(dims, placed(0, index...), placed(0, codegen.Contiguous(ir.Shape(dims)).Strides...), target)
}

func TestScatterVariants(t *testing.T) {
	rows := scatterLaunch([]int{20, 7}, []int{1, 0}, []int{0, 1}, 30, 7)
	for _, c := range []struct {
		name   string
		dt     ir.DType
		mode   ir.ScatterMode
		launch *codegen.Launch
		best   string
		rank   [2]int // of the loops over rows and columns
	}{
		{"rows assigned", ir.F32, ir.Assign, rows, "scatter-last", [2]int{1, 1}},
		{"rows added", ir.F32, ir.ScatterSum, rows, "scatter-list", [2]int{1, 1}},
		{"half rows added", ir.BF16, ir.ScatterSum, rows, "scatter-list", [2]int{1, 1}},
		{"integers added", ir.I64, ir.ScatterSum, rows, "scatter-atomic", [2]int{1, 1}},
		{"integers multiplied", ir.I32, ir.ScatterMul, rows, "scatter-list", [2]int{1, 1}},
		{"bytes added", ir.U8, ir.ScatterSum, rows, "scatter-list", [2]int{1, 1}},
		{"booleans", ir.Bool, ir.Assign, rows, "scatter-last", [2]int{1, 1}},
		{"indices along the last axis", ir.F32, ir.ScatterMax, scatterLaunch([]int{7, 20}, []int{0, 1}, []int{30, 0}, 30, 1), "scatter-list", [2]int{1, 1}},
		{"an index for each element", ir.F32, ir.ScatterSum, scatterLaunch([]int{20, 7}, []int{7, 1}, []int{0, 1}, 30, 7), "scatter-list", [2]int{2, 0}},
		{"columns that meet", ir.F32, ir.ScatterSum, scatterLaunch([]int{20, 7}, []int{1, 0}, []int{0, 0}, 30, 1), "scatter-list", [2]int{2, 0}},
		{"columns that other rows meet", ir.F32, ir.ScatterSum, scatterLaunch([]int{20, 7}, []int{1, 0}, []int{0, 1}, 30, 3), "scatter-list", [2]int{2, 0}},
		{"one index", ir.F32, ir.ScatterSum, scatterLaunch([]int{20, 7}, []int{0, 0}, []int{7, 1}, 11, 7), "scatter-once", [2]int{0, 1}},
		{"one index, points that meet", ir.F32, ir.ScatterSum, scatterLaunch([]int{20, 7}, []int{0, 0}, []int{0, 1}, 11, 7), "scatter-list", [2]int{2, 0}},
		{"one update", ir.F16, ir.Assign, scatterLaunch([]int{1, 7}, []int{1, 0}, []int{0, 1}, 30, 7), "scatter-once", [2]int{0, 1}},
		{"nothing", ir.F32, ir.ScatterSum, scatterLaunch([]int{0, 7}, []int{1, 0}, []int{0, 1}, 30, 7), "scatter-once", [2]int{0, 1}},
		{"no rows in the target", ir.F32, ir.Assign, scatterLaunch([]int{20, 7}, []int{1, 0}, []int{0, 1}, 0, 7), "scatter-last", [2]int{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := scatterKernel(c.dt, c.mode, 2)
			require.NoError(t, k.Verify())
			list := Candidates(k, c.launch, Ampere, false)
			require.Len(t, list, 2)
			assert.Equal(t, c.best, list[0].Kind)
			assert.Equal(t, "scatter-one", list[1].Kind)
			for _, v := range list {
				assert.Equal(t, c.rank, [2]int{v.loops[rowLoop].rank, v.loops[columnLoop].rank})
				s, err := Generate(k, v, Ampere, c.launch)
				require.NoError(t, err)
				calls, err := s.Bind(c.launch)
				require.NoError(t, err)
				assert.Equal(t, c.launch.Dims[0] == 0, len(calls.List) == 0, "a launch without points has no call, any other reports indices")
			}
		})
	}
}

// Stores to one buffer share its places, so that one thread meets all updates.
func TestScatterOfSeveralStores(t *testing.T) {
	k := scatterKernel(ir.F32, ir.ScatterSum, 2)
	k.Accesses = append(k.Accesses, k.Accesses[2])
	k.Stores = append(k.Stores, codegen.Store{Access: 3, Value: 1, Index: []codegen.Value{0}})
	l := scatterLaunch([]int{20, 7}, []int{1, 0}, []int{0, 2}, 30, 14)
	second := l.Access[2]
	second.Offset = 5
	l.Access = append(l.Access, second)
	require.NoError(t, k.Verify())
	list := Candidates(k, l, Ampere, false)
	require.Len(t, list, 1)
	assert.Equal(t, "scatter-one", list[0].Kind)
	assert.Equal(t, places{lo: 0, step: 1, n: 29*14 + 12 + 5 + 1}, owned(bind(k, l), 2))
}

func TestScatterPlaces(t *testing.T) {
	k := scatterKernel(ir.F32, ir.ScatterSum, 2)
	at := func(extent, stride, offset int, strides ...int) places {
		l := scatterLaunch([]int{4, 3}, []int{1, 0}, strides, extent, stride)
		l.Access[2].Offset = offset
		return placesOf(bind(k, l), 0, []int{0, 1})
	}
	assert.Equal(t, places{0, 1, 90}, at(30, 3, 0, 0, 1))
	assert.Equal(t, places{5, 6, 30}, at(30, 6, 5, 0, 0))
	assert.Equal(t, places{0, 2, 32}, at(30, -2, 58, 0, 2))
	assert.Equal(t, places{7, 1, 1}, at(1, 9, 7, 0, 0))
	assert.Equal(t, places{lo: 0, step: 1}, at(0, 1, 0, 0, 1))
	assert.Equal(t, places{0, 3, 4}, places{0, 3, 2}.with(places{3, 6, 2}))
	assert.Equal(t, places{3, 6, 2}, places{n: 0}.with(places{3, 6, 2}))
}

func TestScatterApart(t *testing.T) {
	for _, c := range []struct {
		dims, strides []int
		index         []codegen.IndexArg
		columns       []int
		want          bool
	}{
		{[]int{4, 3}, []int{0, 1}, []codegen.IndexArg{{Extent: 9, Stride: 3}}, []int{1}, true},
		{[]int{4, 3}, []int{0, 1}, []codegen.IndexArg{{Extent: 9, Stride: 2}}, []int{1}, false},
		{[]int{4, 3}, []int{0, -9}, []codegen.IndexArg{{Extent: 9, Stride: 1}}, []int{1}, true},
		{[]int{4, 3}, []int{3, 1}, []codegen.IndexArg{{Extent: 5, Stride: 12}}, []int{1}, true},
		{[]int{4, 3}, []int{2, 1}, []codegen.IndexArg{{Extent: 5, Stride: 12}}, []int{1}, false},
		{[]int{4, 3}, []int{0, 0}, nil, []int{1}, false},
		{[]int{4, 1}, []int{0, 0}, nil, []int{1}, true},
		{[]int{4, 3}, []int{0, 1}, []codegen.IndexArg{{Extent: 1, Stride: 0}}, []int{1}, true},
		{[]int{2, 2}, []int{math.MaxInt, 1}, []codegen.IndexArg{{Extent: 3, Stride: math.MaxInt}}, []int{1}, false},
	} {
		assert.Equal(t, c.want, apart(c.strides, c.index, c.dims, c.columns), "%+v", c)
	}
}

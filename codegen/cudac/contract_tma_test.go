package cudac

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// groups is the target whose products of halves groups of warps compute.
func groups() Target {
	t := Hopper
	t.Wgmma = true
	return t
}

// Tensor maps come first where they may describe both operands, in the tiles that
// threads copy as well; nowhere else are they offered.
func TestContractionMapCandidates(t *testing.T) {
	prologue := matMulKernel(ir.BF16, ir.BF16, ir.F32)
	prologue.Body = []codegen.Instr{
		{Op: codegen.OpLoad, Type: ir.F32, Access: 0, Level: codegen.Left},
		{Op: codegen.OpLoad, Type: ir.F32, Access: 1, Level: codegen.Right},
		{Op: codegen.OpApply, Fn: ir.SNeg, Type: ir.F32, Level: codegen.Right, Args: []codegen.Value{1}},
		{Op: codegen.OpContract, Type: ir.F32, From: ir.BF16, To: ir.BF16, Args: []codegen.Value{0, 2}},
	}
	prologue.Stores[0].Value = 3
	require.NoError(t, prologue.Verify())
	batched := func(k *codegen.Kernel, batch int) *codegen.Kernel {
		k.Outer += batch
		return k
	}
	halves := func() *codegen.Kernel { return matMulKernel(ir.BF16, ir.BF16, ir.F32) }
	elsewhere, little := Blackwell, groups()
	elsewhere.Wgmma = true
	little.Shared = 128 << 10 // which the panels of the large tile fill
	dense := matMulLaunch(512, 512, 512, false)
	result := placed(0, 512, 1, 0)
	for _, c := range []struct {
		name   string
		k      *codegen.Kernel
		launch *codegen.Launch
		target Target
		best   string // the first candidate's kind
	}{
		{"dense", halves(), dense, groups(), "wgmma_tma-k-line-one"},
		{"right by rows", matMulKernel(ir.F16, ir.F16, ir.F32), matMulLaunch(512, 512, 512, true), groups(), "wgmma_tma-k-k-one"},
		{"left by columns", halves(), launchOf([]int{512, 512, 512}, placed(0, 1, 0, 512), placed(0, 0, 1, 512), result), groups(), "wgmma_tma-line-line-one"},
		{"long", halves(), matMulLaunch(4096, 4096, 4096, false), groups(), "wgmma_tma-k-line"},
		{"split", halves(), matMulLaunch(64, 64, 4096, false), groups(), "wgmma_tma-k-line-split"},
		{"odd lengths", halves(), launchOf([]int{77, 75, 71}, placed(0, 72, 0, 1), placed(0, 0, 1, 80), placed(0, 75, 1, 0)), groups(), "wgmma_tma-k-line-one"},
		{"strides of odd lengths", halves(), matMulLaunch(512, 512, 511, false), groups(), "wgmma-each-line-one"},
		{"an offset", halves(), launchOf([]int{512, 512, 512}, placed(4, 512, 0, 1), placed(0, 0, 1, 512), result), groups(), "wgmma-each-line-one"},
		{"rows that overlap", halves(), launchOf([]int{512, 512, 512}, placed(0, 256, 0, 1), placed(0, 0, 1, 512), result), groups(), "wgmma-k-line-one"},
		{"no neighbours", halves(), launchOf([]int{512, 512, 512}, placed(0, 1024, 0, 2), placed(0, 0, 1, 512), result), groups(), "wgmma-each-line-one"},
		{"one row", halves(), matMulLaunch(1, 512, 512, false), groups(), "wgmma-k-line-one"},
		{"nothing", halves(), matMulLaunch(512, 512, 0, false), groups(), "wgmma-each-line-one"},
		{"batch", batched(halves(), 1), launchOf([]int{3, 512, 512, 64}, placed(0, 512*64, 64, 0, 1), placed(0, 512*64, 0, 1, 512), placed(0, 512*512, 512, 1, 0)), groups(), "wgmma_tma-k-line-one"},
		{"heads inside rows", batched(halves(), 1), launchOf([]int{4, 512, 512, 64}, placed(0, 64, 256, 0, 1), placed(0, 512*64, 0, 1, 512), placed(0, 512*512, 512, 1, 0)), groups(), "wgmma-k-line-one"},
		{"two axes of a batch", batched(halves(), 2), launchOf([]int{2, 3, 512, 512, 64}, placed(0, 1<<20, 1<<16, 64, 0, 1), placed(0, 1<<18, 1<<15, 0, 1, 512), placed(0, 3<<18, 1<<18, 512, 1, 0)), groups(), "wgmma-k-line-one"},
		{"a prologue", prologue, dense, groups(), "wgmma-k-each-one"},
		{"another class", matMulKernel(ir.F32, ir.F32, ir.F32), dense, groups(), "simt-copy-line-split"},
		{"not asked for", halves(), dense, Hopper, "mma-k-line-one"},
		{"another architecture", halves(), dense, elsewhere, "mma-k-line-one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := Candidates(c.k, c.launch, c.target, false)
			assert.Equal(t, c.best, list[0].Kind, "%v", list)
			mapped := strings.HasPrefix(c.best, mapKind)
			for i, v := range list {
				require.NoError(t, v.Check(c.k, c.launch))
				if strings.HasPrefix(v.Kind, mapKind) {
					assert.True(t, mapped, "%v", list)
					assert.Equal(t, v.Tile, list[i+1].Tile, "%v", list)
					assert.True(t, strings.HasPrefix(list[i+1].Kind, groupKind+"-"), "%v", list)
				}
			}
		})
	}
	var kinds []string
	for _, v := range Candidates(halves(), dense, little, false) {
		if v.Tile[0] == 128 {
			kinds = append(kinds, v.Kind)
		}
	}
	assert.Equal(t, []string{"wgmma-k-line-one"}, kinds, "no memory is left for barriers")
}

// mapsOf returns the tensor maps of a launch's first call.
func mapsOf(t *testing.T, k *codegen.Kernel, v *Variant, l *codegen.Launch) []*TensorMap {
	t.Helper()
	s, err := Generate(k, v, groups(), l)
	require.NoError(t, err)
	calls, err := s.Bind(l)
	require.NoError(t, err)
	var maps []*TensorMap
	for _, a := range calls.List[0].Args {
		if a.Kind == ArgTensorMap {
			maps = append(maps, a.Map)
		}
	}
	return maps
}

// The maps of operands that were laid out by hand.
func TestTensorMaps(t *testing.T) {
	for _, c := range []struct {
		name        string
		dt          ir.DType
		launch      *codegen.Launch
		tile        []int
		left, right TensorMap
	}{
		{
			// 100 rows of 80 bf16; 80 rows of 64, which are columns of the right operand.
			"right transposed", ir.BF16, launchOf([]int{100, 64, 80}, placed(0, 80, 0, 1), placed(0, 0, 1, 64), placed(0, 64, 1, 0)), []int{128, 128},
			TensorMap{Buffer: 0, DType: ir.BF16, Dims: []uint64{80, 100}, Strides: []uint64{160}, Box: []uint32{64, 128}, Swizzle: 128},
			TensorMap{Buffer: 1, DType: ir.BF16, Dims: []uint64{64, 80}, Strides: []uint64{128}, Box: []uint32{64, 64}, Swizzle: 128},
		},
		{
			// Columns of 77 f16, 88 apart; 75 rows of 71, 72 apart, after 16 others.
			"odd lengths", ir.F16, launchOf([]int{77, 75, 71}, placed(8, 1, 0, 88), placed(16, 0, 72, 1), placed(0, 75, 1, 0)), []int{64, 64},
			TensorMap{Buffer: 0, Offset: 16, DType: ir.F16, Dims: []uint64{77, 71}, Strides: []uint64{176}, Box: []uint32{64, 64}, Swizzle: 128},
			TensorMap{Buffer: 1, Offset: 32, DType: ir.F16, Dims: []uint64{71, 75}, Strides: []uint64{144}, Box: []uint32{64, 64}, Swizzle: 128},
		},
		{
			// Five matrices of 72 by 40 with one of 24 by 72.
			"batch", ir.BF16, launchOf([]int{5, 24, 40, 72}, placed(0, 0, 72, 0, 1), placed(0, 2880, 0, 1, 40), placed(0, 960, 40, 1, 0)), []int{64, 64},
			TensorMap{Buffer: 0, DType: ir.BF16, Dims: []uint64{72, 24}, Strides: []uint64{144}, Box: []uint32{64, 64}, Swizzle: 128},
			TensorMap{Buffer: 1, DType: ir.BF16, Dims: []uint64{40, 72, 5}, Strides: []uint64{80, 5760}, Box: []uint32{64, 64, 1}, Swizzle: 128},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := matMulKernel(c.dt, c.dt, ir.F32)
			k.Outer = len(c.launch.Dims) - 1
			for _, v := range Candidates(k, c.launch, groups(), false) {
				if strings.HasPrefix(v.Kind, mapKind) && v.Tile[0] == c.tile[0] {
					assert.Equal(t, []*TensorMap{&c.left, &c.right}, mapsOf(t, k, v, c.launch), "%v", v)
					return
				}
			}
			assert.Fail(t, "no variant of the tile has maps")
		})
	}
}

// One source serves every launch that its maps may describe; others are refused
// with the rule.
func TestContractionMapGuards(t *testing.T) {
	k := matMulKernel(ir.BF16, ir.BF16, ir.F32)
	launch := matMulLaunch(512, 512, 512, false)
	v := Candidates(k, launch, groups(), false)[0]
	s, err := Generate(k, v, groups(), launch)
	require.NoError(t, err)
	left := func(offset, stride int) *codegen.Launch {
		return launchOf([]int{512, 512, 512}, placed(offset, stride, 0, 1), placed(0, 0, 1, 512), placed(0, 512, 1, 0))
	}
	for _, c := range []struct {
		launch *codegen.Launch
		rule   string // "" if it fits
	}{
		{launch, ""},
		{left(8, 520), ""},
		{matMulLaunch(65, 72, 8, false), ""},
		{launchOf([]int{65, 76, 8}, placed(0, 8, 0, 1), placed(0, 0, 1, 80), placed(0, 76, 1, 0)), ""},
		{matMulLaunch(512, 512, 1032, false), "1032 of k are more than a block of 1024"},
		{left(4, 512), "left operand: an offset of 8 bytes is no multiple of 16"},
		{left(0, 516), "left operand: a stride of 1032 bytes is no multiple of 16 below 2^40"},
		{left(0, 504), "left operand: a stride of 1008 bytes is no multiple, from 512 on, of the one of 2 before"},
		{left(1<<20, -512), "left operand: stride -512 along m does not ascend"},
		{matMulLaunch(512, 508, 512, false), "right operand: a stride of 1016 bytes is no multiple of 16"},
		{matMulLaunch(512, 512, 512, true), "loop n has the form"},
		{matMulLaunch(1, 512, 512, false), "loop m has the form"},
	} {
		_, err := s.Bind(c.launch)
		if c.rule == "" {
			require.NoError(t, err)
			continue
		}
		var refused *VariantError
		require.ErrorAs(t, err, &refused)
		assert.Contains(t, refused.Rule, c.rule)
	}
}

// The driver's limits are the last that a map may have.
func TestTensorMapLimits(t *testing.T) {
	const length, stride = uint64(1) << 32, uint64(1) << 40
	for _, c := range []struct {
		dims, strides []uint64
		fits          bool
	}{
		{[]uint64{1, 1}, []uint64{16}, true},
		{[]uint64{0, 1}, []uint64{16}, false},
		{[]uint64{1, 0}, []uint64{16}, false},
		{[]uint64{length, 1}, []uint64{2 * length}, true},
		{[]uint64{length + 1, 1}, []uint64{4 * length}, false},
		{[]uint64{1, length}, []uint64{16}, true},
		{[]uint64{1, length + 1}, []uint64{16}, false},
		{[]uint64{64, 64}, []uint64{stride - 16}, true},
		{[]uint64{64, 64}, []uint64{stride}, false},
		{[]uint64{8, 4, 2}, []uint64{16, 64}, true},
		{[]uint64{8, 4, 2}, []uint64{16, 48}, false},
		{[]uint64{8, 4, 2}, []uint64{32, 144}, false},
	} {
		m := &TensorMap{DType: ir.F16, Dims: c.dims, Strides: c.strides}
		assert.Equal(t, c.fits, m.rule() == "", "%v %v: %s", c.dims, c.strides, m.rule())
	}
}

package cudac

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// matMulLaunch multiplies dense matrices; the right one may be stored transposed.
func matMulLaunch(m, n, k int, transposed bool) *codegen.Launch {
	right := placed(0, 0, 1, n)
	if transposed {
		right = placed(0, 0, k, 1)
	}
	return launchOf([]int{m, n, k}, placed(0, k, 0, 1), right, placed(0, n, 1, 0))
}

// Which ways of reading a launch allows, and which tile comes first.
func TestContractionCandidates(t *testing.T) {
	for _, c := range []struct {
		name   string
		dt     ir.DType
		launch *codegen.Launch
		target Target
		best   string
		tile   []int
		last   string
	}{
		{"large", ir.F32, matMulLaunch(4096, 4096, 1024, false), Ampere, "simt-copy-line", []int{128, 128}, "plain"},
		{"large, weights by rows", ir.F32, matMulLaunch(4096, 4096, 1024, true), Ampere, "simt-copy-copy", []int{128, 128}, "plain"},
		{"odd width", ir.F32, matMulLaunch(4096, 4095, 1024, false), Ampere, "simt-copy-copy", []int{128, 128}, "plain"},
		{"few rows", ir.F32, matMulLaunch(4, 4096, 4096, false), Ampere, "simt-copy-line-split", []int{8, 128}, "plain"},
		{"one column", ir.F32, matMulLaunch(4096, 1, 4096, false), Ampere, "simt-copy-copy-split", []int{128, 8}, "plain"},
		{"small", ir.F32, matMulLaunch(32, 32, 64, false), Ampere, "simt-copy-line-one", []int{32, 32}, "plain"},
		{"doubles", ir.F64, matMulLaunch(4096, 4096, 1024, false), Ampere, "simt-copy-line", []int{64, 64}, "plain"},
		{"halves", ir.BF16, matMulLaunch(4096, 4096, 4096, false), Hopper, "mma-k-line", []int{128, 128}, "mma-each-each"},
		{"halves, weights by rows", ir.F16, matMulLaunch(4096, 4096, 4096, true), Ampere, "mma-k-k", []int{128, 128}, "mma-each-each"},
		{"halves, one row", ir.F16, matMulLaunch(1, 4096, 4096, true), Ampere, "mma-k-k-split", []int{16, 64}, "mma-each-each"},
		{"halves, odd k", ir.BF16, matMulLaunch(512, 512, 77, false), Ampere, "mma-each-line-one", []int{64, 64}, "mma-each-each"},
		{"little shared memory", ir.BF16, matMulLaunch(4096, 4096, 4096, true), Target{SM: 80, SMs: 100, Shared: 48 << 10}, "mma-k-k", []int{64, 64}, "mma-each-each"},
		{"nothing", ir.F32, matMulLaunch(0, 5, 7, false), Ampere, "simt-copy-copy-one", []int{128, 128}, "plain"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := matMulKernel(c.dt, c.dt, c.dt.Compute())
			list := Candidates(k, c.launch, c.target, false)
			assert.Equal(t, c.best, list[0].Kind, "%v", list)
			assert.Equal(t, c.tile, list[0].Tile[:2], "%v", list)
			assert.Equal(t, c.last, list[len(list)-1].Kind)
			for _, v := range list {
				require.NoError(t, v.Check(k, c.launch))
				s, err := Generate(k, v, c.target, c.launch)
				require.NoError(t, err)
				calls, err := s.Bind(c.launch)
				require.NoError(t, err)
				for _, call := range calls.List {
					assert.LessOrEqual(t, call.Shared, c.target.Shared)
				}
				if c.launch.Dims[0] == 0 {
					assert.Empty(t, calls.List)
				} else if strings.HasSuffix(v.Kind, "split") {
					assert.Len(t, calls.List, 2)
					assert.Positive(t, calls.Scratch)
				}
			}
		})
	}
}

// A launch that does not fit a source's variant is refused, with the rule; one that
// fits gets its own grid.
func TestContractionGuards(t *testing.T) {
	k := matMulKernel(ir.BF16, ir.BF16, ir.F32)
	launch := matMulLaunch(512, 512, 512, false)
	v := Candidates(k, launch, Ampere, false)[0]
	require.Equal(t, "mma-k-line-one", v.Kind)
	s, err := Generate(k, v, Ampere, launch)
	require.NoError(t, err)
	change := func(f func(l *codegen.Launch)) *codegen.Launch {
		l := matMulLaunch(512, 512, 512, false)
		f(l)
		return l
	}
	for _, c := range []struct {
		launch *codegen.Launch
		rule   string // "" if it fits
		blocks int
	}{
		{launch, "", 64},
		{matMulLaunch(65, 72, 8, false), "", 4},
		{matMulLaunch(512, 512, 0, false), "has the form 0", 0},
		{matMulLaunch(512, 512, 1024, false), "", 64},
		{matMulLaunch(512, 512, 1032, false), "1032 of k are more than a block of 1024", 0},
		{matMulLaunch(512, 512, 511, false), "left operand: stride 511 along m0 does not divide by 8", 0},
		{matMulLaunch(512, 508, 512, false), "right operand: stride 508 along k0 does not divide by 8", 0},
		{matMulLaunch(512, 512, 512, true), "loop n has the form", 0},
		{change(func(l *codegen.Launch) { l.Access[0].Offset = 4 }), "left operand: offset 4 does not divide by 8", 0},
		{change(func(l *codegen.Launch) { l.Access[2].Offset = 2 }), "lengths or places of results do not divide by 4", 0},
		{change(func(l *codegen.Launch) { l.Dims[1] = 508 }), "right operand: length 508 along n0 does not divide by 8", 0},
		{change(func(l *codegen.Launch) { l.Access[0].Strides[0] = 1 << 24 }), "places do not fit 32 bits", 0},
	} {
		calls, err := s.Bind(c.launch)
		if c.rule == "" {
			require.NoError(t, err)
			assert.Equal(t, c.blocks, calls.List[0].Blocks)
			continue
		}
		var refused *VariantError
		require.ErrorAs(t, err, &refused)
		assert.Contains(t, refused.Rule, c.rule)
	}
}

// Batch axes of an operand that does not move along them are lines of the other.
func TestContractionLoops(t *testing.T) {
	k := matMulKernel(ir.F32, ir.F32, ir.F32)
	k.Outer = 4
	for _, c := range []struct {
		name        string
		left, right codegen.AccessArgs
		want        [3]int // points of batch, m, n
	}{
		{"batched", placed(0, 105, 35, 7, 0, 1), placed(0, 231, 77, 0, 1, 11), [3]int{6, 5, 11}},
		{"shared weights", placed(0, 105, 35, 7, 0, 1), placed(0, 0, 0, 0, 1, 11), [3]int{1, 30, 11}},
		{"shared by the inner axis", placed(0, 105, 35, 7, 0, 1), placed(0, 77, 0, 0, 1, 11), [3]int{2, 15, 11}},
		{"shared by the outer axis", placed(0, 105, 35, 7, 0, 1), placed(0, 0, 77, 0, 1, 11), [3]int{6, 5, 11}},
		{"one row for all", placed(0, 0, 0, 0, 0, 1), placed(0, 231, 77, 0, 1, 11), [3]int{1, 1, 330}},
	} {
		l := launchOf([]int{2, 3, 5, 11, 7}, c.left, c.right, placed(0, 165, 55, 11, 1, 0))
		b := bind(k, l)
		assert.Equal(t, c.want, [3]int{b.loops[loopBatch].n, b.loops[loopM].n, b.loops[loopN].n}, c.name)
	}
}

// Places of large matrices fit 32 bits, though their products do not.
func TestContractionNarrow(t *testing.T) {
	k := matMulKernel(ir.F32, ir.F32, ir.F32)
	for _, c := range []struct {
		launch *codegen.Launch
		wide   bool
	}{{matMulLaunch(8192, 8192, 8192, false), false}, {matMulLaunch(1<<16, 1<<15, 1, false), true}, {matMulLaunch(1<<16, 8, 1<<15, false), true}} {
		for _, v := range Candidates(k, c.launch, Ampere, false) {
			assert.Equal(t, c.wide, v.Wide, "%v", c.launch.Dims)
		}
	}
}

// The sources of a kernel depend on nothing but its structure and the variant.
func TestContractionSourceStable(t *testing.T) {
	k := matMulKernel(ir.BF16, ir.BF16, ir.F32)
	one, other := matMulLaunch(512, 512, 2048, true), matMulLaunch(1024, 520, 4096, true)
	for _, v := range Candidates(k, one, Ampere, false) {
		a, err := Generate(k, v, Ampere, one)
		require.NoError(t, err)
		b, err := Generate(k, v, Ampere, other)
		require.NoError(t, err)
		assert.Equal(t, a.Text, b.Text)
	}
}

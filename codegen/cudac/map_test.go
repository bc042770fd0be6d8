package cudac

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// addKernel adds two tensors of a dtype over a space of rank axes.
func addKernel(dt ir.DType, rank int) *codegen.Kernel {
	t := dt.Compute()
	return &codegen.Kernel{
		Name: "add", Template: codegen.Map, Outer: rank,
		Buffers:  []codegen.Buffer{{DType: dt}, {DType: dt}, {DType: dt, Mode: codegen.Out}},
		Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}},
		Body: []codegen.Instr{
			{Op: codegen.OpLoad, Type: t, Access: 0}, {Op: codegen.OpLoad, Type: t, Access: 1},
			{Op: codegen.OpApply, Fn: ir.SAdd, Type: t, Args: []codegen.Value{0, 1}, Origin: "add"},
		},
		Stores: []codegen.Store{{Access: 2, Value: 2}},
	}
}

// launchOf is a launch over dims, each access with its offset and strides.
func launchOf(dims []int, accesses ...codegen.AccessArgs) *codegen.Launch {
	return &codegen.Launch{Dims: dims, Access: accesses}
}

func placed(offset int, strides ...int) codegen.AccessArgs {
	return codegen.AccessArgs{Offset: offset, Strides: strides}
}

func TestMapVariants(t *testing.T) {
	for _, c := range []struct {
		name   string
		dt     ir.DType
		launch *codegen.Launch
		want   []string
	}{
		{"dense", ir.F32, launchOf([]int{8, 16}, placed(0, 16, 1), placed(0, 16, 1), placed(0, 16, 1)),
			[]string{"map vector=4 1(1 1 1)", "map 1(1 1 1)"}},
		{"halves", ir.BF16, launchOf([]int{8, 16}, placed(0, 16, 1), placed(0, 16, 1), placed(0, 16, 1)),
			[]string{"map vector=8 1(1 1 1)", "map 1(1 1 1)"}},
		{"doubles", ir.F64, launchOf([]int{8, 16}, placed(0, 16, 1), placed(0, 16, 1), placed(0, 16, 1)),
			[]string{"map vector=2 1(1 1 1)", "map 1(1 1 1)"}},
		{"divides by two", ir.F32, launchOf([]int{5, 6}, placed(0, 6, 1), placed(0, 6, 1), placed(0, 6, 1)),
			[]string{"map vector=2 1(1 1 1)", "map 1(1 1 1)"}},
		{"odd length", ir.F32, launchOf([]int{5, 7}, placed(0, 7, 1), placed(0, 7, 1), placed(0, 7, 1)),
			[]string{"map 1(1 1 1)"}},
		{"odd offset", ir.F32, launchOf([]int{8, 16}, placed(1, 16, 1), placed(0, 16, 1), placed(0, 16, 1)),
			[]string{"map 1(1 1 1)"}},
		{"broadcast row", ir.F32, launchOf([]int{8, 16}, placed(0, 16, 1), placed(0, 0, 1), placed(0, 16, 1)),
			[]string{"map vector=4 2(*1 01 *1)", "map 2(*1 01 *1)"}},
		{"broadcast column", ir.F32, launchOf([]int{8, 16}, placed(0, 16, 1), placed(0, 1, 0), placed(0, 16, 1)),
			[]string{"map vector=4 2(*1 10 *1)", "map 2(*1 10 *1)"}},
		{"transposed", ir.F32, launchOf([]int{8, 16}, placed(0, 1, 8), placed(0, 16, 1), placed(0, 16, 1)),
			[]string{"map vector=4 2(1* *1 *1)", "map 2(1* *1 *1)"}},
		{"rows apart by an odd number", ir.F32, launchOf([]int{8, 16}, placed(0, 17, 1), placed(0, 16, 1), placed(0, 16, 1)),
			[]string{"map 2(*1 *1 *1)"}},
		{"flipped", ir.F32, launchOf([]int{8, 16}, placed(15, 16, -1), placed(0, 16, 1), placed(0, 16, 1)),
			[]string{"map vector=4 2(** *1 *1)", "map 2(** *1 *1)"}},
		{"nothing", ir.F32, launchOf([]int{0, 16}, placed(0, 16, 1), placed(0, 16, 1), placed(0, 16, 1)),
			[]string{"map 0( )"}},
		{"one point", ir.F32, launchOf([]int{1, 1}, placed(3, 5, 1), placed(0, 0, 0), placed(0, 1, 1)),
			[]string{"map 0( )"}},
		{"far apart", ir.F32, launchOf([]int{3, 4}, placed(0, math.MaxInt32, 1), placed(0, 4, 1), placed(0, 4, 1)),
			[]string{"map wide 2(*1 *1 *1)"}},
		{"many points", ir.F32, launchOf([]int{1 << 16, 1 << 15}, placed(0, 0, 0), placed(0, 0, 0), placed(0, 1<<15, 1)),
			[]string{"map wide vector=4 1(0 0 1)", "map wide 1(0 0 1)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := addKernel(c.dt, 2)
			require.NoError(t, k.Verify())
			var keys []string
			for _, v := range Candidates(k, c.launch, Ampere, false) {
				keys = append(keys, strings.ReplaceAll(v.Key(), "(  )", "( )"))
				assert.NoError(t, v.Check(k, c.launch))
				s, err := Generate(k, v, Ampere, c.launch)
				require.NoError(t, err)
				calls, err := s.Bind(c.launch)
				require.NoError(t, err)
				if c.launch.Dims[0] == 0 {
					assert.Empty(t, calls.List, "a space without points needs no call")
				}
			}
			assert.Equal(t, c.want, keys)
		})
	}
}

// A launch that does not fit a source's variant is refused, with the rule.
func TestVariantGuards(t *testing.T) {
	k := addKernel(ir.F32, 2)
	dense := func(offset, rows, columns int) *codegen.Launch {
		return launchOf([]int{rows, columns}, placed(offset, columns, 1), placed(0, columns, 1), placed(0, columns, 1))
	}
	v := Candidates(k, dense(0, 8, 16), Ampere, false)[0]
	s, err := Generate(k, v, Ampere, dense(0, 8, 16))
	require.NoError(t, err)
	for _, c := range []struct {
		launch *codegen.Launch
		rule   string // "" if it fits
	}{
		{dense(0, 3, 4), ""},
		{dense(8, 100, 16), ""},
		{dense(0, 1, 16), ""},
		{dense(0, 5, 7), "lengths or places do not divide by 4"},
		{dense(2, 8, 16), "lengths or places do not divide by 4"},
		{launchOf([]int{8, 16}, placed(0, 0, 1), placed(0, 16, 1), placed(0, 16, 1)), "loop x has the form 2(01 *1 *1)"},
		{dense(0, 1<<16, 1<<15), "places do not fit 32 bits"},
	} {
		_, err := s.Bind(c.launch)
		if c.rule == "" {
			assert.NoError(t, err)
			continue
		}
		var refused *VariantError
		if assert.ErrorAs(t, err, &refused, c.rule) {
			assert.Contains(t, refused.Rule, c.rule)
			assert.Contains(t, err.Error(), `launch of "add": variant map vector=4`)
		}
	}
	_, err = Generate(k, v, Ampere, dense(0, 5, 7))
	assert.Error(t, err)
}

// Arguments are those of the launch at hand, whichever launch the source was
// written for.
func TestBindTakesLengthsOfTheLaunch(t *testing.T) {
	k := addKernel(ir.F32, 2)
	first := launchOf([]int{8, 16}, placed(0, 32, 1), placed(0, 0, 1), placed(0, 16, 1))
	second := launchOf([]int{3, 8}, placed(4, 40, 1), placed(8, 0, 1), placed(0, 8, 1))
	s, err := Generate(k, Candidates(k, first, Ampere, false)[0], Ampere, first)
	require.NoError(t, err)
	calls, err := s.Bind(second)
	require.NoError(t, err)
	require.Len(t, calls.List, 1)
	values := map[string]uint64{}
	for i, a := range calls.List[0].Args {
		name := s.entries[0].args[i].name
		if a.Kind == ArgValue {
			require.Len(t, a.Bytes, 4)
			values[name] = uint64(a.Bytes[0]) | uint64(a.Bytes[1])<<8
		} else {
			assert.Equal(t, ArgBuffer, a.Kind)
			assert.Equal(t, map[string]int{"b0": 0, "b1": 1, "b2": 2}[name], a.Index)
		}
	}
	assert.Equal(t, map[string]uint64{"n": 6, "x_groups": 2, "a0_off": 4, "a0_x0": 40, "a1_off": 8, "a2_off": 0, "a2_x0": 8}, values)
	assert.Equal(t, mapThreads, calls.List[0].Threads)
	assert.Equal(t, 1, calls.List[0].Blocks)
}

// A source says nothing about where a device lies: the same text from the same
// kernel, in every process.
func TestSourceIsStable(t *testing.T) {
	k := addKernel(ir.BF16, 2)
	l := launchOf([]int{8, 16}, placed(0, 16, 1), placed(0, 0, 1), placed(0, 16, 1))
	for _, v := range Candidates(k, l, Ampere, true) {
		a, err := Generate(k, v, Ampere, l)
		require.NoError(t, err)
		b, err := Generate(k.Clone(), v, Ampere, l.Clone())
		require.NoError(t, err)
		assert.Equal(t, a.Text, b.Text)
		assert.NotContains(t, a.Text, "__restrict__", "buffers may be the same")
		assert.NotContains(t, a.Text, "#include")
	}
}

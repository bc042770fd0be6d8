package codegen

import (
	"math"
	wide "math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func mapLaunch() *Launch {
	return &Launch{
		Dims: []int{2, 3},
		Access: []AccessArgs{
			{Strides: []int{3, 1}},
			{Strides: []int{0, 1}, Offset: -1, Window: []WindowArg{{Axis: 1, Lo: 1, Hi: 3}}},
			{Strides: []int{3, 1}},
		},
		Params: []uint64{uint64(math.Float32bits(2))},
	}
}

var mapSizes = []int{12, 8, 12} // 6 bf16, 2 f32, 6 bf16

func TestCheckLaunch(t *testing.T) {
	require.NoError(t, CheckLaunch(mapKernel(), mapLaunch(), mapSizes))
	tests := []struct {
		name  string
		spoil func(l *Launch, sizes []int)
		where string
		rule  string
	}{
		{"dims", func(l *Launch, _ []int) { l.Dims = l.Dims[:1] }, "launch", "1 lengths for 2 axes"},
		{"accesses", func(l *Launch, _ []int) { l.Access = l.Access[:2] }, "launch", "2 accesses"},
		{"params", func(l *Launch, _ []int) { l.Params = nil }, "launch", "0 params"},
		{"negative length", func(l *Launch, _ []int) { l.Dims[0] = -1 }, "launch", "length -1"},
		{"too many points", func(l *Launch, _ []int) { l.Dims[0], l.Dims[1] = math.MaxInt, math.MaxInt }, "launch", "length"},
		{"f32 param", func(l *Launch, _ []int) { l.Params[0] = 1 << 40 }, "launch", "param 0"},
		{"strides", func(l *Launch, _ []int) { l.Access[0].Strides = l.Access[0].Strides[:1] }, "access 0", "1 strides"},
		{"index", func(l *Launch, _ []int) { l.Access[0].Index = []IndexArg{{1, 1}} }, "access 0", "1 indexed axes, not 0"},
		{"window", func(l *Launch, _ []int) { l.Access[0].Window = []WindowArg{{0, 0, 1}} }, "access 0", "not masked"},
		{"window axis", func(l *Launch, _ []int) { l.Access[1].Window[0].Axis = 2 }, "access 1", "axis 2"},
		{"one too few", func(_ *Launch, s []int) { s[0] = 11 }, "access 0", "reaches elements 0 to 5 of buffer 0, which has 5"},
		{"output", func(_ *Launch, s []int) { s[2] = 10 }, "access 2", "reaches"},
		{"before the buffer", func(l *Launch, _ []int) { l.Access[0].Offset = -1 }, "access 0", "elements -1 to 4"},
		{"flipped", func(l *Launch, _ []int) { l.Access[0].Strides[1] = -1 }, "access 0", "elements -2 to 3"},
		{"window too low", func(l *Launch, _ []int) { l.Access[1].Window[0].Lo = 0 }, "access 1", "elements -1 to 1"},
		{"window past the space", func(l *Launch, _ []int) { l.Access[1].Window[0] = WindowArg{1, -5, 9} }, "access 1", "elements -1 to 1"},
		{"no window", func(l *Launch, _ []int) { l.Access[1].Window = nil }, "access 1", "elements -1 to 1"},
		{"overflow", func(l *Launch, _ []int) { l.Access[0].Strides[0] = math.MaxInt; l.Dims[0] = 4 }, "access 0", "overflow"},
		{"overflow in the sum", func(l *Launch, _ []int) { l.Access[0].Offset = math.MaxInt }, "access 0", "overflow"},
		{"overflow downwards", func(l *Launch, _ []int) { l.Access[0].Strides[0] = math.MinInt }, "access 0", "overflow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, sizes := mapLaunch(), append([]int(nil), mapSizes...)
			tt.spoil(l, sizes)
			var e *ArgsError
			require.ErrorAs(t, CheckLaunch(mapKernel(), l, sizes), &e)
			assert.Equal(t, "scale-add", e.Kernel)
			assert.Equal(t, tt.where, e.Where)
			assert.Contains(t, e.Rule, tt.rule)
		})
	}
	t.Run("buffers", func(t *testing.T) {
		assert.ErrorContains(t, CheckLaunch(mapKernel(), mapLaunch(), mapSizes[:2]), "2 buffers, not 3")
	})
}

func TestEmptyLaunchesTouchNothing(t *testing.T) {
	l := mapLaunch()
	l.Dims[0] = 0
	l.Access[0].Offset = 1000
	assert.NoError(t, CheckLaunch(mapKernel(), l, []int{0, 0, 0}))
	l = mapLaunch()
	l.Access[1].Window[0] = WindowArg{1, 2, 2}
	assert.NoError(t, CheckLaunch(mapKernel(), l, []int{12, 0, 12}), "an empty window reads nothing")
}

func TestCheckLaunchOfIndexedAxes(t *testing.T) {
	// x[rows, 4] gathered by index along its rows.
	launch := func(rows int) *Launch {
		return &Launch{Dims: []int{2, 4}, Access: []AccessArgs{
			{Strides: []int{0, 1}, Index: []IndexArg{{Extent: rows, Stride: 4}}},
			{Strides: []int{1, 0}},
			{Strides: []int{4, 1}},
		}}
	}
	sizes := []int{5 * 4 * 4, 2 * 8, 8 * 4}
	assert.NoError(t, CheckLaunch(gatherKernel(), launch(5), sizes))
	assert.ErrorContains(t, CheckLaunch(gatherKernel(), launch(6), sizes), "elements 0 to 23 of buffer 0, which has 20")
	assert.NoError(t, CheckLaunch(gatherKernel(), launch(0), []int{0, 16, 32}), "no index is in range: nothing is read")
	assert.ErrorContains(t, CheckLaunch(gatherKernel(), launch(-1), sizes), "length -1")
}

func TestRowAccessesMayNotMoveAlongInnerAxes(t *testing.T) {
	launch := func() *Launch {
		return &Launch{Dims: []int{2, 3}, Access: []AccessArgs{
			{Strides: []int{3, 1}}, {Strides: []int{3, 1}}, {Strides: []int{1, 0}},
		}}
	}
	sizes := []int{24, 24, 16}
	require.NoError(t, CheckLaunch(rowsKernel(), launch(), sizes))
	l := launch()
	l.Access[2].Strides[1] = 1
	assert.ErrorContains(t, CheckLaunch(rowsKernel(), l, sizes), "stride 1 on inner axis 1")
	l.Dims[1] = 1
	assert.NoError(t, CheckLaunch(rowsKernel(), l, sizes), "an axis of length 1 has no second element")
	// Rows over nothing still write their row values.
	l = launch()
	l.Dims[1] = 0
	assert.NoError(t, CheckLaunch(rowsKernel(), l, []int{0, 0, 16}))
	assert.ErrorContains(t, CheckLaunch(rowsKernel(), l, []int{0, 0, 8}), "access 2")
}

func TestContractionOverNothingWritesZeros(t *testing.T) {
	l := &Launch{Dims: []int{2, 3, 0}, Access: []AccessArgs{
		{Strides: []int{0, 0, 1}}, {Strides: []int{0, 1, 3}}, {Strides: []int{0, 1, 0}}, {Strides: []int{3, 1, 0}},
	}}
	assert.NoError(t, CheckLaunch(contractionKernel(), l, []int{0, 0, 12, 24}))
	assert.ErrorContains(t, CheckLaunch(contractionKernel(), l, []int{0, 0, 12, 20}), "access 3")
	assert.ErrorContains(t, CheckLaunch(contractionKernel(), l, []int{0, 0, 8, 24}), "access 2")
}

// The operands of a contraction with prologues lie along their own axes only.
func TestPrologueAccessesKeepToTheirAxes(t *testing.T) {
	k := dequantKernel()
	k.Accesses[1].Masked = true
	k.Body[2].Args = []Value{0}
	k.Body[0], k.Body[2] = Instr{Op: OpConst, Type: ir.I8, Level: Right}, Instr{Op: OpLoad, Type: ir.I8, Level: Right, Access: 1, Args: []Value{0}}
	k.Body[1] = Instr{Op: OpLoad, Type: ir.F32, Level: Left, Access: 0}
	require.NoError(t, k.Verify())
	// Left [2,3,5], right [2,5,4], scales [4].
	launch := func() *Launch {
		return &Launch{Dims: []int{2, 3, 4, 5}, Access: []AccessArgs{
			{Strides: []int{15, 5, 0, 1}}, {Strides: []int{20, 0, 1, 4}}, {Strides: []int{0, 0, 1, 0}}, {Strides: []int{12, 4, 1, 0}},
		}}
	}
	sizes := []int{2 * 30, 40, 4 * 4, 2 * 24}
	require.NoError(t, CheckLaunch(k, launch(), sizes))
	for _, tt := range []struct {
		name  string
		spoil func(l *Launch, sizes []int)
		rule  string
	}{
		{"left along n", func(l *Launch, _ []int) { l.Access[0].Strides[2] = 1 }, "stride 1 on axis 2, which the operand does not have"},
		{"right along m", func(l *Launch, _ []int) { l.Access[1].Strides[1] = 1 }, "stride 1 on axis 1, which the operand does not have"},
		{"window along m", func(l *Launch, _ []int) { l.Access[1].Window = []WindowArg{{Axis: 1}} }, "window on axis 1, which the operand does not have"},
		{"short left", func(_ *Launch, s []int) { s[0] = 58 }, "reaches elements 0 to 29 of buffer 0, which has 29"},
		{"short right", func(_ *Launch, s []int) { s[1] = 39 }, "reaches elements 0 to 39 of buffer 1, which has 39"},
		{"short scales", func(_ *Launch, s []int) { s[2] = 12 }, "reaches elements 0 to 3 of buffer 2, which has 3"},
		{"inner stride of the result", func(l *Launch, _ []int) { l.Access[3].Strides[3] = 1 }, "stride 1 on inner axis 3"},
	} {
		l, s := launch(), append([]int(nil), sizes...)
		tt.spoil(l, s)
		assert.ErrorContains(t, CheckLaunch(k, l, s), tt.rule, tt.name)
	}
	l := launch()
	l.Access[1].Window = []WindowArg{{Axis: 3, Lo: 1, Hi: 3}}
	l.Access[1].Offset = -4
	assert.NoError(t, CheckLaunch(k, l, []int{60, 28, 16, 48}), "an operand padded along the contracted axis")
}

// A sort may write the first few only.
func TestSortWindows(t *testing.T) {
	l := &Launch{Dims: []int{2, 5}, Access: []AccessArgs{
		{Strides: []int{5, 1}}, {Strides: []int{3, 1}, Window: []WindowArg{{Axis: 1, Hi: 3}}}, {Strides: []int{3, 1}, Window: []WindowArg{{Axis: 1, Hi: 3}}},
	}}
	assert.NoError(t, CheckLaunch(sortKernel(), l, []int{20, 12, 48}))
	assert.ErrorContains(t, CheckLaunch(sortKernel(), l, []int{20, 10, 48}), "access 1")
	l.Access[2].Window = nil
	assert.ErrorContains(t, CheckLaunch(sortKernel(), l, []int{20, 12, 48}), "access 2")
}

// Parameters come in the form of scalars: integers extended to 64 bits.
func TestCheckLaunchOfParams(t *testing.T) {
	for _, d := range ir.DTypes() {
		if !isRegister(d) {
			continue
		}
		k := &Kernel{Template: Map, Buffers: []Buffer{{d, Out}}, Accesses: []Access{{}}, Params: []ir.DType{d},
			Body: []Instr{{Op: OpParam, Type: d}}, Stores: []Store{{}}}
		require.NoError(t, k.Verify(), d.String())
		for _, bits := range []uint64{0, 1, 0x80, 0xff, 1 << 32, math.MaxUint64, 0xffffffffffffff80} {
			err := CheckLaunch(k, &Launch{Access: []AccessArgs{{}}, Params: []uint64{bits}}, []int{8})
			assert.Equal(t, ir.Scalar{DType: d, Bits: bits}.Canonical(), err == nil, "%v %#x: %v", d, bits, err)
		}
	}
}

func TestAttentionReadsValuesWithoutHeadDims(t *testing.T) {
	// Scores over a head of length 0 are all 0: V is read, Q and K are not.
	l := &Launch{Dims: []int{1, 1, 2, 3, 4, 0}, Params: []uint64{0, 0}, Access: []AccessArgs{
		{Strides: []int{0, 0, 0, 0, 0, 1}}, {Strides: []int{0, 0, 0, 0, 0, 1}},
		{Strides: []int{12, 12, 0, 1, 3, 0}}, {Strides: []int{8, 8, 4, 0, 1, 0}},
		{Strides: []int{6, 6, 3, 1, 0, 0}},
	}}
	assert.NoError(t, CheckLaunch(attentionKernel(), l, []int{0, 0, 48, 8, 24}))
	assert.ErrorContains(t, CheckLaunch(attentionKernel(), l, []int{0, 0, 44, 8, 24}), "access 2")
}

func TestAttentionReadsNoKeysWhereThereAreNone(t *testing.T) {
	// Strides of an axis of length 0 say nothing: of keys, values and mask
	// nothing is read. Q is.
	l := &Launch{Dims: []int{1, 1, 2, 3, 0, 4}, Params: []uint64{0, 0}, Access: []AccessArgs{
		{Strides: []int{8, 8, 4, 0, 0, 1}}, {Strides: []int{0, 0, 0, 0, 0, 1}},
		{Strides: []int{0, 0, 0, 1, 0, 0}}, {Strides: []int{0, 0, 0, 0, 0, 0}},
		{Strides: []int{6, 6, 3, 1, 0, 0}},
	}}
	assert.NoError(t, CheckLaunch(attentionKernel(), l, []int{32, 0, 0, 0, 24}))
	assert.ErrorContains(t, CheckLaunch(attentionKernel(), l, []int{28, 0, 0, 0, 24}), "access 0")
}

// The check agrees with visiting every point.
func TestBoundsAreExact(t *testing.T) {
	k := &Kernel{
		Template: Map, Outer: 3,
		Buffers:  []Buffer{{ir.Bool, In}, {ir.Bool, Out}},
		Accesses: []Access{{Buffer: 0, Indices: 1, Masked: true}, {Buffer: 1}},
		Body: []Instr{
			{Op: OpCoord, Type: ir.I64, Index: 0},
			{Op: OpConst, Type: ir.Bool},
			{Op: OpLoad, Type: ir.Bool, Args: []Value{0, 1}},
		},
		Stores: []Store{{Access: 1, Value: 2}},
	}
	require.NoError(t, k.Verify())
	r := rand.New(rand.NewPCG(7, 8))
	fits := 0
	for range 20000 {
		dims := []int{r.IntN(4), 1 + r.IntN(3), 1 + r.IntN(3)}
		a := AccessArgs{Offset: r.IntN(12) - 2, Strides: []int{r.IntN(7) - 3, r.IntN(5) - 2, r.IntN(3) - 1},
			Index: []IndexArg{{Extent: r.IntN(4), Stride: r.IntN(5) - 2}}}
		for range r.IntN(3) {
			lo := r.IntN(4) - 1
			a.Window = append(a.Window, WindowArg{Axis: r.IntN(3), Lo: lo, Hi: lo + r.IntN(4)})
		}
		size := r.IntN(16)
		l := &Launch{Dims: dims, Access: []AccessArgs{a, {Strides: []int{0, 0, 0}}}}
		want := staysInside(dims, a, size)
		if want {
			fits++
		}
		require.Equal(t, want, CheckLaunch(k, l, []int{size, 1}) == nil, "%+v in %d", l, size)
	}
	assert.Greater(t, fits, 2000)
}

func staysInside(dims []int, a AccessArgs, size int) bool {
	for i := range dims[0] {
		for j := range dims[1] {
			for k := range dims[2] {
				at := []int{i, j, k}
				inside := true
				for _, w := range a.Window {
					inside = inside && w.Lo <= at[w.Axis] && at[w.Axis] < w.Hi
				}
				if !inside {
					continue
				}
				for x := range a.Index[0].Extent {
					p := a.Offset + i*a.Strides[0] + j*a.Strides[1] + k*a.Strides[2] + x*a.Index[0].Stride
					if p < 0 || p >= size {
						return false
					}
				}
			}
		}
	}
	return true
}

func TestCheckingAllocatesNothing(t *testing.T) {
	c, l := NewChecker(mapKernel()), mapLaunch()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if c.Check(l, mapSizes) != nil {
			t.Fail()
		}
	}))
}

func TestCloneOfALaunchSharesNothing(t *testing.T) {
	l := mapLaunch()
	l.Access[0].Index = []IndexArg{{1, 2}}
	c := l.Clone()
	assert.Equal(t, l, c)
	c.Dims[0], c.Params[0] = 9, 9
	c.Access[0].Strides[0], c.Access[0].Index[0].Extent, c.Access[1].Window[0].Lo = 9, 9, 9
	want := mapLaunch()
	want.Access[0].Index = []IndexArg{{1, 2}}
	assert.Equal(t, want, l)
}

func TestCheckedArithmetic(t *testing.T) {
	big := []int{math.MinInt, math.MinInt + 1, -3, -1, 0, 1, 2, math.MaxInt / 2, math.MaxInt}
	for _, a := range big {
		for _, b := range big {
			exact := func(f func(z, x, y *wide.Int) *wide.Int) (int, bool) {
				z := f(new(wide.Int), wide.NewInt(int64(a)), wide.NewInt(int64(b)))
				return int(z.Int64()), z.IsInt64() && int64(int(z.Int64())) == z.Int64()
			}
			s, ok := add(a, b)
			want, fits := exact((*wide.Int).Add)
			assert.Equal(t, fits, ok, "%d + %d", a, b)
			p, okMul := mul(a, b)
			product, fitsMul := exact((*wide.Int).Mul)
			if okMul {
				assert.True(t, fitsMul, "%d · %d", a, b)
				assert.Equal(t, product, p)
			} else if fitsMul {
				assert.Equal(t, math.MinInt, product, "only the least int is refused beside what overflows")
			}
			if ok {
				assert.Equal(t, want, s)
			}
		}
	}
	_, ok := mul(math.MaxInt/2, 2)
	assert.True(t, ok)
	_, ok = mul(math.MaxInt/2+1, 2)
	assert.False(t, ok)
	_, ok = mul(math.MinInt, -1)
	assert.False(t, ok)
}

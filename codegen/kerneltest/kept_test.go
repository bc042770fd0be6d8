package kerneltest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func numbers(v []Value) (out []float64) {
	for _, x := range v {
		out = append(out, x.F)
	}
	return out
}

// What is kept is as Text prints it, is well formed, and means what its name says.
func TestKept(t *testing.T) {
	cases, err := Kept()
	require.NoError(t, err)
	kept := map[string]Case{}
	for _, c := range cases {
		text, err := keptTexts.ReadFile("testdata/" + c.Kernel.Name + ".txt")
		require.NoError(t, err, "the kernel is named as its file")
		assert.Equal(t, string(text), c.Text())
		require.NoError(t, c.Check())
		tol, ok := EvaluateWithin(c.Kernel, c.Launch, c.Mem)
		require.True(t, ok)
		for b := range c.Mem {
			assert.Zero(t, tol.Open(b))
		}
		kept[c.Kernel.Name] = c
	}
	row := func(name string, buffer int) []Value {
		c, ok := kept[name]
		require.True(t, ok, name)
		dt := c.Kernel.Buffers[buffer].DType
		var out []Value
		for i := range len(c.Mem[buffer]) / dt.Size() {
			out = append(out, ReadElem(c.Mem[buffer], dt, i))
		}
		return out
	}
	ints := func(n ...int64) (out []Value) {
		for _, i := range n {
			out = append(out, Value{I: i})
		}
		return out
	}
	floats := func(n ...float64) (out []Value) {
		for _, f := range n {
			out = append(out, Value{F: f})
		}
		return out
	}
	assert.Equal(t, floats(1082130432, -1082130432, 0x1p63), row("cast-rounds-once", 1))
	assert.Equal(t, floats(1+0x1p-10, 65504, 464), row("cast-rounds-once", 3))
	assert.Equal(t, floats(1, 448, 448), row("cast-rounds-once", 4))
	assert.Equal(t, ints(1, 255, 255), row("cast-rounds-once", 5))
	assert.Equal(t, ints(math.MinInt32, 0, -2, -2), row("integer-division", 2))
	assert.Equal(t, ints(math.MinInt32, 0, -3, -3), row("integer-division", 3))
	assert.Equal(t, ints(0, 0, 2, -2), row("integer-division", 4))
	assert.Equal(t, ints(0, 0, -1, 1), row("integer-division", 5))
	assert.Equal(t, 276.0, row("scatter-rounds-once", 2)[1].F)
	assert.Equal(t, uint64(0x7f81), rawBits(kept["scatter-rounds-once"].Mem[2], 2, 0), "what is not written keeps its bits")
	assert.Equal(t, ints(5, 8, 0, 2, 6, 4, 9, 3, 1, 7), row("sort-equal-zeros", 2))
	assert.Equal(t, ints(1, 7, 3, 4, 9, 0, 2, 6, 8, 5), row("sort-equal-zeros", 4))
	assert.Equal(t, floats(7, 7, 7, 7), row("window-of-nothing", 1))
	inf := math.Inf(1)
	for i, want := range []float64{0, 1, -inf, inf} {
		assert.Equal(t, floats(want, want), row("reduce-nothing", 1+i))
	}
	assert.InDeltaSlice(t, []float64{-742.8306340089472, -708.3964185322641, -744.4400719213812}, numbers(row("functions-at-ends", 1)), 1e-12)
	assert.InDeltaSlice(t, []float64{-1071.6780719051126, -1022, -1074}, numbers(row("functions-at-ends", 2)), 1e-12)
	assert.InDeltaSlice(t, []float64{-322.60724533877976, -307.6526555685888, -323.3062153431158}, numbers(row("functions-at-ends", 3)), 1e-12)
	assert.InDeltaSlice(t, []float64{742.8306340089472, 708.3964185322641, 744.4400719213812}, numbers(row("functions-at-ends", 4)), 1e-12)
	assert.Equal(t, uint64(1)<<31, rawBits(kept["functions-at-ends"].Mem[6], 4, 0), "the sine of -0")
	assert.Equal(t, floats(inf, -1), row("functions-at-ends", 7)[1:])
	nothing := row("attention-sees-nothing", 4) // the last query of the second head sees none: a NaN among the values has no effect
	assert.Equal(t, floats(0, 0, 0), nothing[15:])
	attention := row("attention-hidden-nan", 4) // nobody sees key 1 but the third query, and the second sees none
	for _, v := range attention[:2] {
		assert.False(t, v.F != v.F)
	}
	assert.Equal(t, floats(0, 0), attention[2:4])
	for _, v := range attention[4:] {
		assert.True(t, v.F != v.F)
	}
}

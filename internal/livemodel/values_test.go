package livemodel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Known answers published with the reference implementation (Random123,
// kat_vectors).
func TestPhiloxKnownAnswers(t *testing.T) {
	const all = math.MaxUint32
	assert.Equal(t, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}, philox([4]uint32{}, 0, 0))
	assert.Equal(t, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}, philox([4]uint32{all, all, all, all}, all, all))
	assert.Equal(t, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		philox([4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0))
	assert.Equal(t, []float32{0x6627e8 / 16777216.0, 0xe169c5 / 16777216.0}, Philox(0, 0, 2))
}

func TestEval(t *testing.T) {
	nan, negZero := float32(math.NaN()), float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name   string
		call   Call
		shapes [][]int
		in     [][]float32
		want   []float32
	}{
		{"broadcast", Call{Op: OpSub}, [][]int{{2, 1}, {1, 2}}, [][]float32{{1, 2}, {10, 20}}, []float32{-9, -19, -8, -18}},
		{"maximum", Call{Op: OpMaximum}, [][]int{{1, 3}, {1, 3}}, [][]float32{{nan, negZero, 1}, {1, 0, 2}}, []float32{nan, 0, 2}},
		{"relu", Call{Op: OpRelu}, [][]int{{1, 3}}, [][]float32{{-1, negZero, nan}}, []float32{0, 0, nan}},
		{"transpose", Call{Op: OpTranspose}, [][]int{{2, 3}}, [][]float32{{1, 2, 3, 4, 5, 6}}, []float32{1, 4, 2, 5, 3, 6}},
		{"rows", Call{Op: OpRows, Start: 1, Len: 1}, [][]int{{3, 2}}, [][]float32{{1, 2, 3, 4, 5, 6}}, []float32{3, 4}},
		{"cat", Call{Op: OpCat}, [][]int{{1, 2}, {1, 2}}, [][]float32{{1, 2}, {3, 4}}, []float32{1, 2, 3, 4}},
		{"sum of rows", Call{Op: OpSum, Axis: 1}, [][]int{{2, 2}}, [][]float32{{1, 2, 3, 4}}, []float32{3, 7}},
		{"sum of columns", Call{Op: OpSum, Axis: 0}, [][]int{{2, 2}}, [][]float32{{1, 2, 3, 4}}, []float32{4, 6}},
		// Lanes 0 and 2 are joined before lanes 1 and 3: from the left it is 1.
		{"order of a sum", Call{Op: OpSum, Axis: 1}, [][]int{{1, 4}}, [][]float32{{1 << 25, 1, -1 << 25, 1}}, []float32{2}},
		// From zero, in order, each product rounded: a fused product leaves 2⁻²⁴.
		{"order of a contraction", Call{Op: OpMatMul}, [][]int{{1, 3}, {3, 1}}, [][]float32{{-1, 1 + 0x1p-12, 0}, {1 + 0x1p-11, 1 + 0x1p-12, 1}}, []float32{0}},
		{"set part", Call{Op: OpSetSlice, Start: 1}, [][]int{{1, 2}, {2, 2}}, [][]float32{{7, 8}, {1, 2, 3, 4}}, []float32{1, 2, 7, 8}},
	} {
		shape, err := inferShape(c.call, c.shapes)
		assert.NoError(t, err, c.name)
		got := eval(c.call, c.shapes, shape, c.in)
		assert.True(t, sameBits(c.want, got), "%s: got %v, want %v", c.name, got, c.want)
	}
}

func TestShapesThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		call   Call
		shapes [][]int
	}{
		{Call{Op: OpAdd}, [][]int{{2, 3}, {3, 2}}},
		{Call{Op: OpMatMul}, [][]int{{2, 3}, {2, 3}}},
		{Call{Op: OpRows, Start: 1, Len: 2}, [][]int{{2, 3}}},
		{Call{Op: OpCat}, [][]int{{2, 3}, {2, 2}}},
		{Call{Op: OpSet}, [][]int{{2, 3}, {3, 3}}},
		{Call{Op: OpSetSlice, Start: 2}, [][]int{{2, 3}, {3, 3}}},
		{Call{Op: OpSetSlice}, [][]int{{2, 2}, {3, 3}}},
	} {
		_, err := inferShape(c.call, c.shapes)
		assert.ErrorIs(t, err, errShape, c.call.Op.String())
	}
}

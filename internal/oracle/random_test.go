package oracle

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// The known-answer vectors published with Random123 (kat_vectors).
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = 0xffffffff
	tests := []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, philox(tt.counter, tt.key))
	}
}

func draw(t *testing.T, kind ir.Kind, dtype ir.DType, shape ir.Shape, seed, offset int64, rest ...ir.Scalar) Tensor {
	t.Helper()
	op := operation(t, kind, func(o *ir.Operation) {
		o.Attrs.Shape, o.Attrs.DType = shape, dtype
		o.Scalars = append([]ir.Scalar{ir.I64Scalar(seed), ir.I64Scalar(offset)}, rest...)
	})
	out, err := EvalOp(op)
	require.NoError(t, err)
	return out
}

func TestRandomLayout(t *testing.T) {
	// Seed and offset 0: elements 0 to 3 are the words of the first vector.
	got := draw(t, ir.Uniform, ir.F32, ir.Shape{6}, 0, 0, ir.F32Scalar(0), ir.F32Scalar(1))
	next := philox([4]uint32{0, 0, 1, 0}, [2]uint32{})
	same(t, vec(0x6627e8p-24, 0xe169c5p-24, 0xbc57acp-24, 0x9b00dbp-24, float64(next[0]>>8)/(1<<24), float64(next[1]>>8)/(1<<24)), got)
	// Seed in the key, offset in counter words 0 and 1, low halves first.
	const seed, offset = 0x299f31d0a4093822, -0x7a5cf72cdbc09578 // the third vector's
	words := philox([4]uint32{0x243f6a88, 0x85a308d3, 0, 0}, [2]uint32{0xa4093822, 0x299f31d0})
	got = draw(t, ir.RandInt, ir.I64, ir.Shape{1}, seed, offset, ir.I64Scalar(0), ir.I64Scalar(ir.MaxRandRange))
	same(t, ivec(int64(words[0]>>1)), got)
}

func TestUniformAndBernoulli(t *testing.T) {
	x := draw(t, ir.Uniform, ir.F32, ir.Shape{10, 100}, 7, 3, ir.F32Scalar(-2), ir.F32Scalar(2))
	mean := 0.0
	for _, v := range x.F {
		assert.True(t, v >= -2 && v < 2)
		mean += float64(v) / 1000
	}
	assert.InDelta(t, 0, mean, 0.15)
	unit := draw(t, ir.Uniform, ir.F32, ir.Shape{1000}, 7, 3, ir.F32Scalar(0), ir.F32Scalar(1))
	b := draw(t, ir.Bernoulli, ir.Bool, ir.Shape{1000}, 7, 3, ir.F32Scalar(0.25))
	for i := range b.B {
		assert.Equal(t, unit.F[i] < 0.25, b.B[i])
	}
	none := draw(t, ir.Bernoulli, ir.Bool, ir.Shape{100}, 7, 3, ir.F32Scalar(0))
	every := draw(t, ir.Bernoulli, ir.Bool, ir.Shape{100}, 7, 3, ir.F32Scalar(1))
	for i := range none.B {
		assert.False(t, none.B[i])
		assert.True(t, every.B[i])
	}
	half := draw(t, ir.Uniform, ir.BF16, ir.Shape{1000}, 7, 3, ir.F32Scalar(0), ir.F32Scalar(1))
	same(t, cast(unit, ir.BF16, true), half)
}

func TestRandInt(t *testing.T) {
	x := draw(t, ir.RandInt, ir.I64, ir.Shape{1000}, 1, 2, ir.I64Scalar(-3), ir.I64Scalar(4))
	seen := map[int64]int{}
	for _, v := range x.I {
		seen[v]++
	}
	assert.Len(t, seen, 7)
	for v, n := range seen {
		assert.True(t, v >= -3 && v < 4)
		assert.Greater(t, n, 80)
	}
	// Seed 0, offset 0, word 0 = 0x6627e8d5 over the widest range: ⌊w·2³¹/2³²⌋.
	wide := draw(t, ir.RandInt, ir.I64, ir.Shape{1}, 0, 0, ir.I64Scalar(math.MinInt64), ir.I64Scalar(math.MinInt64+ir.MaxRandRange))
	same(t, ivec(math.MinInt64+0x6627e8d5>>1), wide)
}

func TestNormal(t *testing.T) {
	x := draw(t, ir.Normal, ir.F32, ir.Shape{4000}, 5, 6, ir.F32Scalar(10), ir.F32Scalar(2))
	var mean, square float64
	for _, v := range x.F {
		mean += float64(v) / 4000
		square += (float64(v) - 10) * (float64(v) - 10) / 4000
	}
	assert.InDelta(t, 10, mean, 0.15)
	assert.InDelta(t, 4, square, 0.4)
	// u1 = 0x6627e9·2⁻²⁴, u2 = 0xe169c5·2⁻²⁴: r = 1.3530…, the pair follows.
	u1, u2 := float64(0x6627e9)/(1<<24), float64(0xe169c5)/(1<<24)
	r := math.Sqrt(-2 * math.Log(u1))
	got := draw(t, ir.Normal, ir.F32, ir.Shape{2}, 0, 0, ir.F32Scalar(0), ir.F32Scalar(1))
	near(t, vec(r*math.Cos(2*math.Pi*u2), r*math.Sin(2*math.Pi*u2)), got, 1e-7)
	constant := draw(t, ir.Normal, ir.BF16, ir.Shape{3}, 0, 0, ir.F32Scalar(1.0078125), ir.F32Scalar(0))
	same(t, bvec(1.0078125, 1.0078125, 1.0078125), constant)
}

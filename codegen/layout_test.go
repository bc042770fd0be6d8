package codegen

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// positions lists where each element lies, in row-major order, by plain
// index arithmetic.
func positions(l Layout) []int {
	var out []int
	idx := make([]int, len(l.Shape))
	for range l.Shape.NumElements() {
		p := l.Offset
		for k, i := range idx {
			p += i * l.Strides[k]
		}
		out = append(out, p)
		for k := len(idx) - 1; k >= 0; k-- {
			if idx[k]++; idx[k] < l.Shape[k] {
				break
			}
			idx[k] = 0
		}
	}
	return out
}

// tensor is a tensor of positions that views are taken of by copying.
type tensor struct {
	shape ir.Shape
	at    []int
}

func (t tensor) get(idx []int) int {
	p := 0
	for k, i := range idx {
		p = p*t.shape[k] + i
	}
	return t.at[p]
}

// view builds the tensor of a shape whose element idx is t's element from(idx).
func (t tensor) view(shape ir.Shape, from func(idx []int) []int) tensor {
	out := tensor{shape: shape}
	idx := make([]int, len(shape))
	for range shape.NumElements() {
		out.at = append(out.at, t.get(from(idx)))
		for k := len(idx) - 1; k >= 0; k-- {
			if idx[k]++; idx[k] < shape[k] {
				break
			}
			idx[k] = 0
		}
	}
	return out
}

func TestViewsEqualCopies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		shape := make(ir.Shape, r.IntN(4))
		for i := range shape {
			shape[i] = r.IntN(4)
		}
		l := Contiguous(shape)
		l.Offset = r.IntN(5)
		m := tensor{shape, positions(l)}
		for range 1 + r.IntN(4) {
			l, m = randomView(r, l, m)
			require.Equal(t, m.shape, l.Shape)
			require.Equal(t, m.at, positions(l), "%v", l)
		}
	}
}

func randomView(r *rand.Rand, l Layout, m tensor) (Layout, tensor) {
	rank := len(m.shape)
	switch r.IntN(4) {
	case 0:
		axes := r.Perm(rank)
		shape := make(ir.Shape, rank)
		for i, a := range axes {
			shape[i] = m.shape[a]
		}
		return l.Permute(axes), m.view(shape, func(idx []int) []int {
			from := make([]int, rank)
			for i, a := range axes {
				from[a] = idx[i]
			}
			return from
		})
	case 1:
		lead := 0
		if rank < 5 {
			lead = r.IntN(2)
		}
		shape := make(ir.Shape, 0, lead+rank)
		for range lead {
			shape = append(shape, r.IntN(3))
		}
		for _, d := range m.shape {
			if d == 1 && r.IntN(2) == 0 {
				d = r.IntN(4)
			}
			shape = append(shape, d)
		}
		return l.Expand(shape), m.view(shape, func(idx []int) []int {
			from := make([]int, rank)
			for i := range from {
				if m.shape[i] != 1 {
					from[i] = idx[lead+i]
				}
			}
			return from
		})
	case 2:
		ranges := make([]ir.Range, rank)
		shape := make(ir.Shape, rank)
		for i, d := range m.shape {
			ranges[i] = randomRange(r, d)
			shape[i] = ranges[i].Len
		}
		return l.Slice(ranges), m.view(shape, func(idx []int) []int {
			from := make([]int, rank)
			for i, g := range ranges {
				from[i] = g.Start + idx[i]*g.Step
			}
			return from
		})
	}
	var axes []int
	flipped := make([]bool, rank)
	for i := range rank {
		if flipped[i] = r.IntN(2) == 0; flipped[i] {
			axes = append(axes, i)
		}
	}
	return l.Flip(axes), m.view(m.shape, func(idx []int) []int {
		from := make([]int, rank)
		for i := range from {
			from[i] = idx[i]
			if flipped[i] {
				from[i] = m.shape[i] - 1 - idx[i]
			}
		}
		return from
	})
}

func randomRange(r *rand.Rand, d int) ir.Range {
	step := 1 + r.IntN(3)
	if d == 0 {
		return ir.Range{Step: step}
	}
	first := r.IntN(d)
	n := r.IntN((d-1-first)/step + 2)
	if r.IntN(2) == 0 || n == 0 {
		return ir.Range{Start: first, Len: n, Step: step}
	}
	return ir.Range{Start: first + (n-1)*step, Len: n, Step: -step}
}

// expressible decides by brute force whether strides can place the positions
// under a shape: each stride is fixed by the first step along its axis.
func expressible(at []int, shape ir.Shape) bool {
	if len(at) == 0 {
		return true
	}
	l := Layout{Shape: shape, Strides: make([]int, len(shape)), Offset: at[0]}
	dense := 1
	for k := len(shape) - 1; k >= 0; k-- {
		if shape[k] > 1 {
			l.Strides[k] = at[dense] - at[0]
		}
		dense *= shape[k]
	}
	return assert.ObjectsAreEqual(at, positions(l))
}

func TestReshapeIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	factors := []int{1, 1, 2, 2, 3, 4, 5, 6, 12}
	yes, no := 0, 0
	for range 60000 {
		shape := make(ir.Shape, r.IntN(5))
		for i := range shape {
			shape[i] = factors[r.IntN(len(factors))]
			if r.IntN(40) == 0 {
				shape[i] = 0
			}
		}
		if shape.NumElements() > 300 {
			continue
		}
		l := randomStrides(r, shape)
		target := randomSplit(r, shape.NumElements())
		at := positions(l)
		got, ok := l.Reshape(target)
		require.Equal(t, expressible(at, target), ok, "%v to %v", l, target)
		if !ok {
			no++
			continue
		}
		yes++
		require.Equal(t, target, got.Shape)
		require.Len(t, got.Strides, len(target))
		require.Equal(t, at, positions(got), "%v to %v: %v", l, target, got)
	}
	assert.Greater(t, yes, 5000)
	assert.Greater(t, no, 5000)
}

// randomStrides starts from dense strides and disturbs some: broadcast,
// flipped, padded, or anything.
func randomStrides(r *rand.Rand, shape ir.Shape) Layout {
	l := Contiguous(shape)
	if r.IntN(3) == 0 {
		l = l.Permute(r.Perm(len(shape)))
	}
	copy(l.Shape, shape)
	l.Offset = r.IntN(100)
	if r.IntN(4) == 0 {
		clear(l.Strides) // broadcast from one element
	}
	if r.IntN(4) == 0 {
		for i := range l.Strides {
			l.Strides[i] = -l.Strides[i]
		}
	}
	for i := range l.Strides {
		switch r.IntN(12) {
		case 0:
			l.Strides[i] = 0
		case 1:
			l.Strides[i] = -l.Strides[i]
		case 2:
			l.Strides[i] = r.IntN(13) - 6
		case 3:
			for k := range i + 1 {
				l.Strides[k] *= 2
			}
		}
	}
	for i, d := range shape {
		if d == 1 && r.IntN(2) == 0 {
			l.Strides[i] = r.IntN(100) - 50
		}
	}
	return l
}

// randomSplit returns a random shape of n elements, with length-1 axes.
func randomSplit(r *rand.Rand, n int) ir.Shape {
	var shape ir.Shape
	for n > 1 && len(shape) < 4 {
		d := 1 + r.IntN(n)
		for n%d != 0 {
			d--
		}
		shape = append(shape, d)
		n /= d
	}
	shape = append(shape, n)
	if n == 1 && r.IntN(2) == 0 {
		shape = shape[:len(shape)-1]
	}
	r.Shuffle(len(shape), func(i, j int) { shape[i], shape[j] = shape[j], shape[i] })
	return append(ir.Shape{}, shape...)
}

func TestReshapeRefusesAnotherNumberOfElements(t *testing.T) {
	for _, c := range []struct{ from, to ir.Shape }{
		{ir.Shape{}, ir.Shape{2}}, {ir.Shape{0}, ir.Shape{}}, {ir.Shape{6}, ir.Shape{2, 2}}, {ir.Shape{1}, ir.Shape{0}},
	} {
		_, ok := Contiguous(c.from).Reshape(c.to)
		assert.False(t, ok, "%v to %v", c.from, c.to)
	}
}

func TestIsContiguous(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		shape := make(ir.Shape, r.IntN(4))
		for i := range shape {
			shape[i] = r.IntN(4)
		}
		l := randomStrides(r, shape)
		want := true
		for i, p := range positions(l) {
			want = want && p == l.Offset+i
		}
		require.Equal(t, want, l.IsContiguous(), "%v", l)
	}
	// A padded layout (pitch 8 for rows of 5) is not dense.
	assert.False(t, Layout{Shape: ir.Shape{4, 5}, Strides: []int{8, 1}}.IsContiguous())
}

package sinter_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// A moveCase puts elements of one tensor elsewhere, whatever they are: from
// says where the element of the result at an index comes from, nil for a fill.
type moveCase struct {
	name string
	in   shape
	out  shape
	call func(x *tensor) *tensor
	from func(at []int) []int
}

func moveCases() []moveCase {
	var out []moveCase
	add := func(name string, in, to shape, call func(x *tensor) *tensor, from func(at []int) []int) {
		out = append(out, moveCase{name, in, to, call, from})
	}
	for i, n := range []int{2, 0, 4, 1} {
		start := []int{0, 2, 2, 6}[i]
		add("Split", shape{3, 7}, shape{3, n}, func(x *tensor) *tensor { return x.Split(-1, 2, 0, 4, 1)[i] },
			func(at []int) []int { return []int{at[0], start + at[1]} })
	}
	for i, n := range []int{3, 3, 1} {
		add("Chunk", shape{7, 2}, shape{n, 2}, func(x *tensor) *tensor {
			parts := x.Chunk(0, 3)
			if len(parts) != 3 {
				return nil
			}
			return parts[i]
		}, func(at []int) []int { return []int{3*i + at[0], at[1]} })
	}
	for _, shift := range []int{0, 1, -2, 5, 13, math.MinInt, math.MaxInt} {
		add("Roll", shape{2, 5}, shape{2, 5}, func(x *tensor) *tensor { return x.Roll(1, shift) }, func(at []int) []int {
			return []int{at[0], (((at[1] - shift%5) % 5) + 5) % 5}
		})
	}
	add("Roll", shape{1, 3}, shape{1, 3}, func(x *tensor) *tensor { return x.Roll(0, 4) }, func(at []int) []int { return at })
	add("Roll", shape{0, 3}, shape{0, 3}, func(x *tensor) *tensor { return x.Roll(0, 4) }, func(at []int) []int { return at })
	for _, m := range []struct {
		mode sinter.PadMode
		from func(i, n int) int // for i outside 0..n−1
	}{
		{sinter.PadReflect, func(i, n int) int {
			if i < 0 {
				return -i
			}
			return 2*(n-1) - i
		}},
		{sinter.PadReplicate, func(i, n int) int { return min(max(i, 0), n-1) }},
		{sinter.PadCircular, func(i, n int) int { return (i + n) % n }},
	} {
		for _, p := range [][]int{{0, 0, 0, 0}, {1, 2, 3, 0}, {2, 2, 3, 3}, {-1, 1, 1, -1}, {0, -3, 0, 0}} {
			kept := func(axis, n int) (first, length int) { // after cropping
				first = max(-p[2*axis], 0)
				return first, n - first - max(-p[2*axis+1], 0)
			}
			to := shape{3 + p[0] + p[1], 4 + p[2] + p[3]}
			if p[1] == -3 {
				to[0] = 0
			}
			add("PadWith", shape{3, 4}, to, func(x *tensor) *tensor { return x.PadWith(m.mode, p...) }, func(at []int) []int {
				out := make([]int, 2)
				for axis, i := range at {
					first, n := kept(axis, 3+axis)
					i -= max(p[2*axis], 0)
					if i < 0 || i >= n {
						i = m.from(i, n)
					}
					out[axis] = first + i
				}
				return out
			})
		}
	}
	add("TakeAlongAxis", shape{1, 4}, shape{3, 2}, func(x *tensor) *tensor {
		return x.TakeAlongAxis(-1, sinter.From(x.Stream(), []int64{3, 0, 1, 1, 0, 2}, 3, 2))
	}, func(at []int) []int { return []int{0, []int{3, 0, 1, 1, 0, 2}[2*at[0]+at[1]]} })
	add("TakeAlongAxis", shape{4, 3}, shape{2, 3}, func(x *tensor) *tensor {
		return x.TakeAlongAxis(0, sinter.From(x.Stream(), []int64{3, 1}, 2, 1))
	}, func(at []int) []int { return []int{[]int{3, 1}[at[0]], at[1]} })
	for _, offset := range []int{0, 1, -2, 9, -9, math.MaxInt, math.MinInt} {
		for _, in := range []shape{{3, 4}, {2, 4, 3}, {0, 2}} {
			last := len(in) - 1
			triangle := func(name string, call func(x *tensor) *tensor, keep func(row, column float64) bool) {
				out = append(out, moveCase{name, in, in, call, func(at []int) []int {
					if keep(float64(at[last-1])+float64(offset), float64(at[last])) {
						return at
					}
					return nil
				}})
			}
			triangle("Tril", func(x *tensor) *tensor { return x.Tril(offset) }, func(r, c float64) bool { return c <= r })
			triangle("Triu", func(x *tensor) *tensor { return x.Triu(offset) }, func(r, c float64) bool { return c >= r })
		}
	}
	return out
}

// indices visits every index of a shape in row-major order.
func indices(s shape, visit func(at []int)) {
	at := make([]int, len(s))
	for n := range s.NumElements() {
		for i := len(s) - 1; i >= 0; i-- {
			at[i] = n % s[i]
			n /= s[i]
		}
		visit(at)
	}
}

func offset(s shape, at []int) int {
	n := 0
	for i, x := range at {
		n = n*s[i] + x
	}
	return n
}

func TestMoves(t *testing.T) {
	devs, d := both(t), newData(9)
	for _, dtype := range ir.DTypes() {
		for _, c := range moveCases() {
			x := d.make(dtype, true, c.in...)
			size := dtype.Size()
			var want []byte
			indices(c.out, func(at []int) {
				element := make([]byte, size)
				if from := c.from(at); from != nil {
					element = x.Bytes()[offset(c.in, from)*size:][:size]
				}
				want = append(want, element...)
			})
			for _, dev := range devs {
				y := c.call(put(dev, x))
				name := fmt.Sprintf("%s %v %v to %v", c.name, dtype, c.in, c.out)
				require.NoError(t, y.Err(), name)
				require.Equal(t, append(shape{}, c.out...), append(shape{}, y.Shape()...), name)
				got, err := sinter.ReadBytes(ctx, y)
				require.NoError(t, err, name)
				require.Equal(t, append([]byte{}, want...), append([]byte{}, got...), name)
			}
		}
	}
}

// What a function returns is a handle of its own, even if it changed nothing.
func TestIdentitiesAreHandlesOfTheirOwn(t *testing.T) {
	for _, dev := range both(t) {
		x := sinter.From(dev, []float32{1, 2, 3}, 3)
		for name, y := range map[string]*tensor{
			"Roll": x.Roll(0, 3), "PadWith": x.PadWith(sinter.PadReflect, 0, 0), "Einsum": sinter.Einsum("i->i", x),
			"Cast": x.Cast(sinter.F32), "Squeeze": x.Squeeze(), "Split": x.Split(0, 3)[0], "Repeat": x.Repeat(1), "Cat": sinter.Cat(0, x),
		} {
			y.Release()
			require.Equal(t, []float32{1, 2, 3}, read[float32](t, x), name)
		}
	}
}

func TestCompositionsOfLeaves(t *testing.T) {
	for _, dev := range both(t) {
		v := sinter.NewVar(sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2))
		s := dev.NewStream()
		y := v.Value().Tril(0).Add(v.Value().MaskFill(v.Value().GreaterScalar(2), 0))
		require.Nil(t, y.Stream(), "of leaves alone: recorded where it is used")
		z := y.On(s).Add(sinter.Ones(s, sinter.F32, 2, 2))
		require.Equal(t, s.Runtime(), z.Stream().Runtime())
		require.Equal(t, []float32{3, 3, 4, 5}, read[float32](t, z))
	}
}

package codegen

import (
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// Layout places the elements of a shape in a buffer: element i lies at
// Offset + Σ i[k]·Strides[k], counted in elements. Strides may be zero
// (broadcast) or negative (flipped).
type Layout struct {
	Shape   ir.Shape
	Strides []int
	Offset  int
}

// Contiguous returns the dense row-major layout of a shape.
func Contiguous(shape ir.Shape) Layout {
	return Layout{Shape: shape, Strides: denseStrides(shape)}
}

func denseStrides(shape ir.Shape) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// IsContiguous reports whether the elements lie in row-major order without
// gaps; strides of length-1 axes do not matter. The offset may be anything.
func (l Layout) IsContiguous() bool {
	if slices.Contains(l.Shape, 0) {
		return true
	}
	n := 1
	for i := len(l.Shape) - 1; i >= 0; i-- {
		if l.Shape[i] != 1 {
			if l.Strides[i] != n {
				return false
			}
			n *= l.Shape[i]
		}
	}
	return true
}

// Permute returns the layout with axis i of the result being axes[i] of l.
func (l Layout) Permute(axes []int) Layout {
	out := Layout{Shape: make(ir.Shape, len(axes)), Strides: make([]int, len(axes)), Offset: l.Offset}
	for i, a := range axes {
		out.Shape[i], out.Strides[i] = l.Shape[a], l.Strides[a]
	}
	return out
}

// Expand returns the layout broadcast to shape, aligned at the last axis.
func (l Layout) Expand(shape ir.Shape) Layout {
	out := Layout{Shape: shape, Strides: make([]int, len(shape)), Offset: l.Offset}
	off := len(shape) - len(l.Shape)
	for i, d := range l.Shape {
		if d == shape[off+i] && d != 1 {
			out.Strides[off+i] = l.Strides[i]
		}
	}
	return out
}

// Slice returns the layout of the given range of each axis.
func (l Layout) Slice(ranges []ir.Range) Layout {
	out := Layout{Shape: make(ir.Shape, len(ranges)), Strides: make([]int, len(ranges)), Offset: l.Offset}
	for i, r := range ranges {
		out.Shape[i] = r.Len
		out.Strides[i] = l.Strides[i] * r.Step
		if r.Len > 0 {
			out.Offset += r.Start * l.Strides[i]
		}
	}
	return out
}

// Flip returns the layout with the given axes reversed.
func (l Layout) Flip(axes []int) Layout {
	out := Layout{Shape: l.Shape, Strides: slices.Clone(l.Strides), Offset: l.Offset}
	for _, a := range axes {
		if l.Shape[a] > 0 {
			out.Offset += (l.Shape[a] - 1) * l.Strides[a]
		}
		out.Strides[a] = -l.Strides[a]
	}
	return out
}

// Reshape returns the layout of the same elements, in row-major order, under
// another shape, and whether strides can express it without a copy. Shapes
// with different numbers of elements never can.
func (l Layout) Reshape(shape ir.Shape) (Layout, bool) {
	if slices.Equal(l.Shape, shape) {
		return l, true
	}
	n := l.Shape.NumElements()
	if n != shape.NumElements() {
		return Layout{}, false
	}
	out := Layout{Shape: shape, Strides: make([]int, len(shape)), Offset: l.Offset}
	if n <= 1 {
		copy(out.Strides, denseStrides(shape))
		return out, true
	}
	// Walk both shapes from the front in groups of equal products; inside a
	// group the source axes must lie evenly spaced.
	i, j := 0, 0
	for j < len(shape) || i < len(l.Shape) {
		if i < len(l.Shape) && l.Shape[i] == 1 {
			i++
			continue
		}
		if j < len(shape) && shape[j] == 1 {
			j++
			continue
		}
		ni, nj := i+1, j+1
		pi, pj := l.Shape[i], shape[j]
		for pi != pj {
			if pi < pj {
				if l.Shape[ni] != 1 && l.Strides[lastWide(l.Shape, ni)] != l.Strides[ni]*l.Shape[ni] {
					return Layout{}, false
				}
				pi *= l.Shape[ni]
				ni++
			} else {
				pj *= shape[nj]
				nj++
			}
		}
		stride := l.Strides[lastWide(l.Shape, ni)]
		for k := nj - 1; k >= j; k-- {
			out.Strides[k] = stride
			stride *= shape[k]
		}
		i, j = ni, nj
	}
	return out, true
}

// lastWide returns the last axis before end that is longer than 1.
func lastWide(shape ir.Shape, end int) int {
	for k := end - 1; k > 0; k-- {
		if shape[k] != 1 {
			return k
		}
	}
	return 0
}

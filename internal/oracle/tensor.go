package oracle

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// Tensor is a dense row-major host tensor. Exactly one of the slices holds its
// elements: F for floats, each the exact value of an element of the dtype, I
// for integers, extended to 64 bits by the sign or, if unsigned, by zeros, B
// for Bool.
type Tensor struct {
	Shape ir.Shape
	DType ir.DType
	F     []float64
	I     []int64
	B     []bool
}

// New returns a tensor of zeros (false for Bool).
func New(dtype ir.DType, shape ir.Shape) Tensor {
	t := Tensor{Shape: shape.Clone(), DType: dtype}
	n := shape.NumElements()
	switch {
	case isFloat(dtype):
		t.F = make([]float64, n)
	case dtype.IsInt():
		t.I = make([]int64, n)
	default:
		t.B = make([]bool, n)
	}
	return t
}

// Floats returns a tensor of a float dtype with each value rounded to it. It
// panics when the length does not fit the shape.
func Floats(dtype ir.DType, shape ir.Shape, values ...float64) Tensor {
	mustFit(shape, len(values))
	t := New(dtype, shape)
	for i, v := range values {
		t.F[i] = round(dtype, v)
	}
	return t
}

// Ints returns an I64 tensor. It panics when the length does not fit the shape.
func Ints(shape ir.Shape, values ...int64) Tensor { return IntsOf(ir.I64, shape, values...) }

// IntsOf returns a tensor of an integer dtype with the low bits of the values.
// It panics when the length does not fit the shape.
func IntsOf(dtype ir.DType, shape ir.Shape, values ...int64) Tensor {
	mustFit(shape, len(values))
	t := New(dtype, shape)
	for i, v := range values {
		t.I[i] = dtype.Wrap(v)
	}
	return t
}

// Bools returns a Bool tensor. It panics when the length does not fit the shape.
func Bools(shape ir.Shape, values ...bool) Tensor {
	mustFit(shape, len(values))
	return Tensor{Shape: shape.Clone(), DType: ir.Bool, B: slices.Clone(values)}
}

func mustFit(shape ir.Shape, n int) {
	if n != shape.NumElements() {
		panic(fmt.Sprintf("oracle: %d values for shape %v", n, shape))
	}
}

// Len returns the number of elements.
func (t Tensor) Len() int { return t.Shape.NumElements() }

// Clone returns a copy that shares nothing with t.
func (t Tensor) Clone() Tensor {
	return Tensor{t.Shape.Clone(), t.DType, slices.Clone(t.F), slices.Clone(t.I), slices.Clone(t.B)}
}

// format prints element i.
func (t Tensor) format(i int) string {
	switch {
	case isFloat(t.DType):
		return fmt.Sprint(t.F[i])
	case t.DType.IsUnsigned():
		return fmt.Sprint(uint64(t.I[i]))
	case t.DType.IsInt():
		return fmt.Sprint(t.I[i])
	}
	return fmt.Sprint(t.B[i])
}

// setFrom copies element j of src, of the same dtype, to element i.
func (t Tensor) setFrom(i int, src Tensor, j int) {
	switch {
	case isFloat(t.DType):
		t.F[i] = src.F[j]
	case t.DType.IsInt():
		t.I[i] = src.I[j]
	default:
		t.B[i] = src.B[j]
	}
}

// offset returns the row-major position of an index of shape.
func offset(shape ir.Shape, index []int) int {
	p := 0
	for k, i := range index {
		p = p*shape[k] + i
	}
	return p
}

// each calls f for every index of shape in row-major order with its position.
// f must not keep index.
func each(shape ir.Shape, f func(pos int, index []int)) {
	index := make([]int, len(shape))
	for pos := range shape.NumElements() {
		rest := pos
		for k := len(shape) - 1; k >= 0; k-- {
			index[k] = rest % shape[k]
			rest /= shape[k]
		}
		f(pos, index)
	}
}

// expand broadcasts t to shape, aligned at the last axis.
func (t Tensor) expand(shape ir.Shape) Tensor {
	out := New(t.DType, shape)
	lead := len(shape) - len(t.Shape)
	each(shape, func(pos int, index []int) {
		src := make([]int, len(t.Shape))
		for k := range src {
			if t.Shape[k] != 1 {
				src[k] = index[lead+k]
			}
		}
		out.setFrom(pos, t, offset(t.Shape, src))
	})
	return out
}

// groups returns shape with the axes set to 1 and, for each position of that
// shape, the positions of shape it stands for, in row-major order.
func groups(shape ir.Shape, axes []int) (ir.Shape, [][]int) {
	reduced := shape.Clone()
	for _, a := range axes {
		reduced[a] = 1
	}
	members := make([][]int, reduced.NumElements())
	each(shape, func(pos int, index []int) {
		at := slices.Clone(index)
		for _, a := range axes {
			at[a] = 0
		}
		g := offset(reduced, at)
		members[g] = append(members[g], pos)
	})
	return reduced, members
}

// pick returns the float elements at the given positions.
func (t Tensor) pick(positions []int) []float64 {
	out := make([]float64, len(positions))
	for i, p := range positions {
		out[i] = t.F[p]
	}
	return out
}

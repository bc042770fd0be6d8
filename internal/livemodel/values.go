package livemodel

import (
	"errors"
	"math"
	"math/rand"
	"slices"
)

// errShape is the cause of a bad operation.
var errShape = errors.New("shapes do not fit")

// fill returns n numbers in (-1,1) that depend on seed alone.
func fill(seed, n int) []float32 {
	rg := rand.New(rand.NewSource(int64(seed)))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rg.Intn(2001)-1000) / 1024
	}
	return out
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// inferShape returns the shape of a call's result. Every tensor is a matrix.
func inferShape(c Call, in [][]int) ([]int, error) {
	switch c.Op {
	case OpUniform:
		return c.Shape, nil
	case OpAdd, OpSub, OpMul, OpDiv, OpMaximum:
		out := make([]int, 2)
		for i := range out {
			a, b := in[0][i], in[1][i]
			if a != b && a != 1 && b != 1 {
				return nil, errShape
			}
			out[i] = a
			if a == 1 {
				out[i] = b
			}
		}
		return out, nil
	case OpTranspose:
		return []int{in[0][1], in[0][0]}, nil
	case OpRows:
		if c.Start < 0 || c.Start+c.Len > in[0][0] {
			return nil, errShape
		}
		return []int{c.Len, in[0][1]}, nil
	case OpCat:
		if in[0][1] != in[1][1] {
			return nil, errShape
		}
		return []int{in[0][0] + in[1][0], in[0][1]}, nil
	case OpSum:
		out := slices.Clone(in[0])
		out[c.Axis] = 1
		return out, nil
	case OpMatMul:
		if in[0][1] != in[1][0] {
			return nil, errShape
		}
		return []int{in[0][0], in[1][1]}, nil
	case OpSet: // value, old
		if !slices.Equal(in[0], in[1]) {
			return nil, errShape
		}
		return in[1], nil
	case OpSetSlice:
		if in[0][1] != in[1][1] || c.Start < 0 || c.Start+in[0][0] > in[1][0] {
			return nil, errShape
		}
		return in[1], nil
	}
	return in[0], nil
}

// eval computes a call on plain values, in the documented orders: each
// operation rounds once to float32, and nothing is contracted. Uniform is not
// computed here: its values are taken when it is recorded.
func eval(c Call, shapes [][]int, out []int, in [][]float32) []float32 {
	r := make([]float32, size(out))
	switch c.Op {
	case OpAdd, OpSub, OpMul, OpDiv, OpMaximum:
		for i := range r {
			a := in[0][broadcast(shapes[0], out, i)]
			b := in[1][broadcast(shapes[1], out, i)]
			r[i] = binary(c.Op, a, b)
		}
	case OpAddScalar, OpMulScalar, OpNeg, OpAbs, OpRelu, OpSquare, OpSqrt:
		for i, a := range in[0] {
			r[i] = unary(c, a)
		}
	case OpTranspose:
		for i := range out[0] {
			for j := range out[1] {
				r[i*out[1]+j] = in[0][j*out[0]+i]
			}
		}
	case OpRows:
		copy(r, in[0][c.Start*out[1]:])
	case OpCat:
		copy(r, in[0])
		copy(r[len(in[0]):], in[1])
	case OpSum:
		for i := range r {
			r[i] = sum(line(in[0], shapes[0], c.Axis, i))
		}
	case OpMatMul:
		k := shapes[0][1]
		for i := range r {
			row, col := i/out[1], i%out[1]
			var s float32
			for j := range k {
				s += float32(in[0][row*k+j] * in[1][j*out[1]+col])
			}
			r[i] = s
		}
	case OpSet:
		copy(r, in[0])
	case OpSetSlice:
		copy(r, in[1])
		copy(r[c.Start*out[1]:], in[0])
	}
	return r
}

// broadcast returns the index in a matrix of shape s of element i of shape out.
func broadcast(s, out []int, i int) int {
	row, col := i/out[1], i%out[1]
	if s[0] == 1 {
		row = 0
	}
	if s[1] == 1 {
		col = 0
	}
	return row*s[1] + col
}

func binary(op Op, a, b float32) float32 {
	switch op {
	case OpAdd:
		return a + b
	case OpSub:
		return a - b
	case OpMul:
		return a * b
	case OpDiv:
		return a / b
	}
	return max(a, b) // NaN wins, +0 beats −0
}

func unary(c Call, a float32) float32 {
	switch c.Op {
	case OpAddScalar:
		return a + c.Scalar
	case OpMulScalar:
		return a * c.Scalar
	case OpNeg:
		return -a
	case OpAbs:
		return float32(math.Abs(float64(a)))
	case OpRelu:
		return max(a, 0)
	case OpSquare:
		return a * a
	}
	return float32(math.Sqrt(float64(a))) // exact: 53 ≥ 2·24+2 bits
}

// line returns line i of a matrix along an axis.
func line(a []float32, shape []int, axis, i int) []float32 {
	if axis == 1 {
		return a[i*shape[1] : (i+1)*shape[1]]
	}
	out := make([]float32, shape[0])
	for j := range out {
		out[j] = a[j*shape[1]+i]
	}
	return out
}

// sum adds at most 1,024 elements: element i joins lane i mod 32, and the
// lanes are joined by a binary tree, lane j with lane j+16, then +8, 4, 2, 1.
func sum(a []float32) float32 {
	var lane [32]float32
	for i, v := range a {
		lane[i%32] += v
	}
	for w := 16; w > 0; w /= 2 {
		for j := range w {
			lane[j] += lane[j+w]
		}
	}
	return lane[0]
}

// sameBits reports whether two results are equal bit for bit, all NaNs
// counting as one value.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y) || (x != x && y != y)
	})
}

// Philox returns n numbers of the Uniform operation with the given seed and
// stream offset: Philox 4x32-10 (Salmon et al., 2011) with the seed as key and
// the counter made of the offset (low words) and the element's index / 4
// (high words); an element takes word index mod 4, its upper 24 bits.
func Philox(seed, offset uint64, n int) []float32 {
	out := make([]float32, n)
	for i := 0; i < n; i += 4 {
		w := philox([4]uint32{uint32(offset), uint32(offset >> 32), uint32(i / 4), 0}, uint32(seed), uint32(seed>>32))
		for j := i; j < min(i+4, n); j++ {
			out[j] = float32(w[j-i]>>8) * (1.0 / (1 << 24))
		}
	}
	return out
}

func philox(c [4]uint32, k0, k1 uint32) [4]uint32 {
	for range 10 {
		p0, p1 := uint64(c[0])*0xD2511F53, uint64(c[2])*0xCD9E8D57
		c = [4]uint32{uint32(p1>>32) ^ c[1] ^ k0, uint32(p1), uint32(p0>>32) ^ c[3] ^ k1, uint32(p0)}
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return c
}

package torchcases

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// dtypeOf returns the library's dtype of a name of the corpus.
func dtypeOf(name string) sinter.DType {
	d, ok := ir.ParseDType(name)
	if !ok {
		panic(callError("no dtype " + name))
	}
	return d
}

// operand makes a tensor laid out in memory with the given strides, in
// elements: it is a view of a larger tensor, whose other elements are NaN, −1
// or true. Nil strides are a contiguous tensor; stride 0 is an expanded axis.
// Strides must nest: each is a multiple of the next smaller one, by at least
// the length of that axis.
func operand(at sinter.Placer, h Host, strides []int) *sinter.Tensor {
	dtype := dtypeOf(h.DType)
	if strides == nil || h.Len() == 0 {
		return sinter.FromBytes(at, dtype, h.Data, h.Shape...)
	}
	// Axes that take part, from the one of the largest stride inwards.
	var axes []int
	for i, n := range h.Shape {
		if n > 1 && strides[i] != 0 {
			axes = append(axes, i)
		}
	}
	slices.SortStableFunc(axes, func(a, b int) int { return strides[b] - strides[a] })
	// The larger tensor: along each axis as many elements as fit between two
	// steps of the axis outside it, and a last axis between the steps of the
	// innermost.
	var large []int
	for k, a := range axes {
		n := h.Shape[a]
		if k > 0 {
			out := strides[axes[k-1]]
			if n = out / strides[a]; out%strides[a] != 0 || n < h.Shape[a] {
				panic(callError(fmt.Sprintf("strides %v of shape %v do not nest", strides, h.Shape)))
			}
		}
		large = append(large, n)
	}
	gap := 1
	if len(axes) > 0 {
		gap = strides[axes[len(axes)-1]]
	}
	large = append(large, gap)

	size := len(h.Data) / h.Len()
	fill := byte(0xff)
	if h.DType == "bool" {
		fill = 1
	}
	data := bytes.Repeat([]byte{fill}, ir.Shape(large).NumElements()*size)
	for i := range h.Len() {
		pos, rest := 0, i
		for a := len(h.Shape) - 1; a >= 0; a-- {
			if h.Shape[a] > 1 {
				pos += rest % h.Shape[a] * strides[a]
			}
			rest /= h.Shape[a]
		}
		copy(data[pos*size:(pos+1)*size], h.Data[i*size:(i+1)*size])
	}

	t := sinter.FromBytes(at, dtype, data, large...)
	part := make([]sinter.Range, 0, len(large))
	for _, a := range axes {
		part = append(part, sinter.Span(0, h.Shape[a]))
	}
	t = t.Slice(append(part, sinter.Index(0))...).Squeeze(-1)
	// Back to the order of the axes, with those of length 1 or stride 0.
	order := slices.Clone(axes)
	slices.Sort(order)
	perm := make([]int, len(order))
	for i, a := range order {
		perm[i] = slices.Index(axes, a)
	}
	t = t.Permute(perm...)
	for i := range h.Shape {
		if !slices.Contains(axes, i) {
			t = t.Unsqueeze(i)
		}
	}
	return t.Expand(h.Shape...)
}

package sinter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// layouts lay a tensor out in memory in another way than row by row; each is
// undone by a view, which is what an operation then reads.
var layouts = []struct {
	name string
	make func(t testing.TB, at sinter.Placer, x oracle.Tensor) *tensor
}{
	{"transposed", func(t testing.TB, at sinter.Placer, x oracle.Tensor) *tensor {
		rank := len(x.Shape)
		back := make([]int, rank)
		for i := range back {
			back[i] = rank - 1 - i
		}
		turned := get(t, put(at, x).Permute(back...))
		return put(at, turned).Permute(back...)
	}},
	{"flipped", func(t testing.TB, at sinter.Placer, x oracle.Tensor) *tensor {
		all := make([]int, len(x.Shape))
		for i := range all {
			all[i] = i
		}
		if len(all) == 0 {
			return put(at, x)
		}
		return put(at, get(t, put(at, x).Flip(all...))).Flip(all...)
	}},
	// Every third element of a longer axis: what lies between must not be read.
	{"strided", func(t testing.TB, at sinter.Placer, x oracle.Tensor) *tensor {
		wide, spans := x.Shape.Clone(), make([]sinter.Range, len(x.Shape))
		for i, n := range x.Shape {
			wide[i] = 3*n + 1
			spans[i] = sinter.SpanStep(1, 3*n+1, 3)
		}
		whole := put(at, around(x.DType, wide)).SliceAssign(put(at, x), spans...)
		return put(at, get(t, whole)).Slice(spans...)
	}},
	// One element, or row, for all: for operands whose elements are alike.
	{"repeated", func(t testing.TB, at sinter.Placer, x oracle.Tensor) *tensor {
		one, spans := x.Shape.Clone(), make([]sinter.Range, len(x.Shape))
		for i, n := range x.Shape {
			one[i] = min(n, 1)
			spans[i] = sinter.Span(0, one[i])
		}
		return put(at, get(t, put(at, x).Slice(spans...))).Expand(x.Shape...)
	}},
}

// around is what lies between the elements of a strided tensor: NaNs, and indices
// of no axis.
func around(d ir.DType, dims shape) oracle.Tensor {
	out := oracle.New(d, dims)
	for i := range out.F {
		out.F[i] = math.NaN()
	}
	for i := range out.I {
		out.I[i] = 99
	}
	for i := range out.B {
		out.B[i] = true
	}
	return out
}

// Every kind gives the same bits whatever way its operands lie in memory, fused
// with the view or not. Each kind and dtype meets one layout; the dtypes of a kind
// meet all.
func TestLayouts(t *testing.T) {
	devs, d := both(t), newData(6)
	cases := special(d)
	unary, parametric, binary, pair, reduce := generated()
	add := func(k ir.Kind, op ir.Operation, call func(in tensors) *tensor, in ...oracle.Tensor) {
		op.Kind = k
		cases = append(cases, opCase{k.String(), op, in, call})
	}
	for _, dtype := range ir.DTypes() {
		x := func(dims ...int) oracle.Tensor { return d.make(dtype, true, dims...) }
		each := func(kinds []ir.Kind, f func(k ir.Kind)) {
			for _, k := range kinds {
				if ir.Lookup(k).DTypes.Has(dtype) {
					f(k)
				}
			}
		}
		each(unary, func(k ir.Kind) { add(k, ir.Operation{}, method(k.String()), x(3, 1, 5)) })
		each(parametric, func(k ir.Kind) {
			add(k, ir.Operation{Scalars: scalars(dtype, 0.5)}, method(k.String(), 0.5), x(3, 5))
		})
		each(binary, func(k ir.Kind) { add(k, ir.Operation{}, method(k.String()), x(3, 1, 5), x(4, 1)) })
		each(pair, func(k ir.Kind) {
			if ir.Lookup(k).MaxScalars == 0 {
				add(k, ir.Operation{}, method(k.String()), x(3, 5), x(5))
			} else {
				add(k, ir.Operation{Scalars: scalars(dtype, 0.5)}, method(k.String(), 0.5), x(3, 5), x(5))
			}
		})
		each(reduce, func(k ir.Kind) {
			add(k, ir.Operation{Attrs: axes(0, 2)}, method(k.String(), 0, 2), d.make(dtype, false, 3, 2, 5))
		})
	}
	for i, c := range cases {
		for l, layout := range layouts {
			if (i+l)%4 != 0 || testing.Short() && (i+l)%32 != 0 {
				continue
			}
			for _, dev := range devs {
				in, rows := make(tensors, len(c.in)), make(tensors, len(c.in))
				for k, x := range c.in {
					in[k] = layout.make(t, dev, x)
					rows[k] = put(dev, get(t, in[k]))
				}
				name := c.name + describe(c.in) + " " + layout.name
				want, got := c.call(rows), c.call(in)
				require.NoError(t, oracle.Compare(get(t, got), get(t, want), oracle.Tol{}), name)
			}
		}
	}
}

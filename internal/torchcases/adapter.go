package torchcases

import (
	"math"

	"github.com/sinter-ml/sinter"
)

type (
	tensor  = sinter.Tensor
	tensors = []*sinter.Tensor
)

// adapter makes the call of a PyTorch operation with this library. Outputs that
// it has no counterpart for are nil.
type adapter struct {
	make   func(c *Call) tensors
	tol    tolerance
	tolFor func(c *Case, out int) tolerance // if not nil, in place of tol
}

// tolerance returns that of an output of a case.
func (a adapter) tolerance(c *Case, out int) tolerance {
	if a.tolFor != nil {
		return a.tolFor(c, out)
	}
	return a.tol
}

// adapters is the table of operations: a key is the name of an operation, or
// with its variant, which goes before.
var adapters = merged(mapOps, activationOps, castOps, viewOps, moveOps, createOps, reduceOps, scanOps, orderOps, indexOps, contractionOps, rowOps)

func merged(tables ...map[string]adapter) map[string]adapter {
	out := make(map[string]adapter)
	for _, t := range tables {
		for op, a := range t {
			if _, twice := out[op]; twice {
				panic("two adapters for " + op)
			}
			out[op] = a
		}
	}
	return out
}

// lookup returns the adapter of a case: that of the operation's variant, else
// of the operation.
func lookup(c *Case) (adapter, bool) {
	if a, ok := adapters[c.Key()]; ok {
		return a, true
	}
	a, ok := adapters[c.Op]
	return a, ok
}

// one is an adapter of an operation with one output.
func one(make func(c *Call) *tensor, tol tolerance) adapter {
	return adapter{make: func(c *Call) tensors { return tensors{make(c)} }, tol: tol}
}

// unary is an adapter of a method without arguments.
func unary(f func(*tensor) *tensor, tol tolerance) adapter {
	return one(func(c *Call) *tensor { return f(c.x()) }, tol)
}

// infix is an adapter of a method with one tensor as argument.
func infix(f func(t, u *tensor) *tensor, tol tolerance) adapter {
	return one(func(c *Call) *tensor { return f(c.x(), c.y()) }, tol)
}

// exact is the tolerance of moves, comparisons, integers and operations that
// round once.
var exact = tolerance{}

// exactButZeros is exact where PyTorch has its own rule for the sign of zeros.
var exactButZeros = tolerance{anyZero: true}

// within is the tolerance of functions.
func within(ulps float64) tolerance { return tolerance{ulps: ulps} }

// rounds is the tolerance of n operations that each round, on values as large
// as magnitude says.
func rounds(n float64, magnitude func(c *Case) float64) tolerance {
	return tolerance{steps: n, magnitude: magnitude, anyZero: true}
}

// sums is the tolerance of one operation that adds values up, in all not more
// than magnitude says.
func sums(magnitude func(c *Case) float64) tolerance {
	return tolerance{ulps: 4, magnitude: magnitude, anyZero: true}
}

// each calls f with the finite elements of a float tensor.
func each(h Host, f func(x float64)) {
	if !h.IsFloat() {
		return
	}
	for i := range h.Len() {
		f(math.Abs(finite(h.At(i))))
	}
}

// unit is for intermediate values up to 1.
func unit(*Case) float64 { return 1 }

// greatest returns the greatest finite magnitude among the operands.
func greatest(c *Case) float64 {
	out := 0.0
	for _, a := range c.tensorArgs() {
		out = max(out, largest(c.file.tensor(a.Name)))
	}
	return out
}

// total returns the sum of the magnitudes of the operands' elements.
func total(c *Case) float64 {
	out := 0.0
	for _, a := range c.tensorArgs() {
		each(c.file.tensor(a.Name), func(x float64) { out += x })
	}
	return out
}

// productsAdded returns a bound of the elements of input + mat1·mat2, matrices or
// batches of them that are added up.
func productsAdded(c *Case) float64 {
	args := c.tensorArgs()
	x, y := c.file.tensor(args[1].Name), c.file.tensor(args[2].Name)
	terms := 1
	if c.Op == "addbmm" {
		terms = x.Shape[0]
	}
	return largest(c.file.tensor(args[0].Name)) + float64(terms)*longest(x)*longest(y)
}

// largest returns the greatest finite magnitude of a tensor.
func largest(h Host) float64 {
	out := 0.0
	each(h, func(x float64) { out = max(out, x) })
	return out
}

// longest returns the greatest Euclidean norm of the rows and columns of
// matrices, or of a vector's.
func longest(h Host) float64 {
	rows, columns := make(map[int]float64), make(map[int]float64)
	n := h.Shape[len(h.Shape)-1]
	i := 0
	each(h, func(x float64) {
		rows[i/n] += float64(x * x)
		if len(h.Shape) > 1 {
			m := h.Shape[len(h.Shape)-2]
			columns[i/(m*n)*n+i%n] += float64(x * x)
		}
		i++
	})
	out := 0.0
	for _, lines := range []map[int]float64{rows, columns} {
		for _, sum := range lines {
			out = max(out, math.Sqrt(sum))
		}
	}
	return out
}

// norms returns the product of the operands' Euclidean norms, each at least 1:
// by Cauchy and Schwarz no element of a contraction of any of them is greater.
func norms(c *Case) float64 {
	out := 1.0
	for _, a := range c.tensorArgs() {
		sum := 0.0
		each(c.file.tensor(a.Name), func(x float64) { sum += float64(x * x) })
		out *= max(math.Sqrt(sum), 1)
	}
	return out
}

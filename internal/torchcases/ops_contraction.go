package torchcases

import (
	"slices"

	"github.com/sinter-ml/sinter"
)

// contractionOps are products of matrices and what is made of them.
var contractionOps = map[string]adapter{
	"matmul": infix((*tensor).MatMul, sums(norms)),
	"mm":     infix((*tensor).MatMul, sums(norms)),
	"bmm":    infix((*tensor).MatMul, sums(norms)),
	"mv":     infix((*tensor).MatMul, sums(norms)),
	"dot":    infix((*tensor).MatMul, sums(norms)),
	"inner": one(func(c *Call) *tensor {
		x, y := c.x(), c.y()
		switch {
		case x.Rank() == 0 || y.Rank() == 0:
			return x.Mul(y)
		case y.Rank() < 2:
			return x.MatMul(y)
		}
		return x.MatMul(y.T())
	}, sums(norms)),
	"nn.functional.linear": one(func(c *Call) *tensor {
		weight := c.tensor(1, "weight")
		if weight.Rank() == 1 {
			return c.x().MatMul(weight)
		}
		return c.x().Linear(weight.T(), c.tensor(2, "bias"))
	}, sums(norms)),
	"einsum": one(func(c *Call) *tensor { return sinter.Einsum(c.text(1, "equation", ""), c.tensors(0)...) }, sums(norms)),
	"linalg.multi_dot": one(func(c *Call) *tensor {
		ts := c.tensors(0)
		y := ts[0]
		for _, t := range ts[1:] {
			y = y.MatMul(t)
		}
		return y
	}, rounds(4, norms)),
	"tensordot": one(func(c *Call) *tensor {
		x, y := c.x(), c.y()
		dims, _ := c.arg(2, "dims")
		var over [2][]int
		if n, ok := dims.(int); ok {
			for i := range n {
				over[0] = append(over[0], x.Rank()-n+i)
				over[1] = append(over[1], i)
			}
		} else {
			for side, list := range dims.([]any) {
				for _, a := range list.([]any) {
					over[side] = append(over[side], a.(int))
				}
			}
		}
		for i, a := range over[0] { // PyTorch broadcasts an axis of length 1
			if b := over[1][i]; x.Dim(a) == 1 {
				y = y.Sum(b)
			} else if y.Dim(b) == 1 {
				x = x.Sum(a)
			}
		}
		free0, free1 := others(over[0], x.Rank()), others(over[1], y.Rank())
		k := 1
		for _, a := range over[0] {
			k *= x.Dim(a)
		}
		a := x.Permute(append(free0, over[0]...)...).Reshape(-1, k)
		b := y.Permute(append(slices.Clone(over[1]), free1...)...).Reshape(k, -1)
		return a.MatMul(b).Reshape(c.outShape()...)
	}, sums(norms)),
	"nn.functional.bilinear": one(func(c *Call) *tensor {
		// out[n,o] = Σ x[n,i]·w[o,i,j]·y[n,j] + bias[o]
		x, y, w := c.x(), c.y(), c.tensor(2, "weight")
		o, i, j := w.Dim(0), w.Dim(1), w.Dim(2)
		xw := x.Reshape(-1, i).MatMul(w.Permute(1, 0, 2).Reshape(i, o*j)).Reshape(-1, o, j)
		z := xw.MatMul(y.Reshape(-1, j, 1)).Reshape(c.outShape()...)
		if bias := c.tensor(3, "bias"); bias != nil {
			z = z.Add(bias)
		}
		return z
	}, rounds(3, norms)),

	"addmm":   one(added((*tensor).MatMul), rounds(4, productsAdded)),
	"addmv":   one(added((*tensor).MatMul), rounds(4, productsAdded)),
	"baddbmm": one(added((*tensor).MatMul), rounds(4, productsAdded)),
	"addbmm": one(added(func(x, y *tensor) *tensor {
		return x.MatMul(y).Sum(0).Squeeze(0)
	}), rounds(4, productsAdded)),
	"addr": one(added(func(x, y *tensor) *tensor {
		return x.Unsqueeze(1).Mul(y.Unsqueeze(0))
	}), rounds(4, productsAdded)),
}

// others returns the axes of a rank that are not in a list.
func others(axes []int, rank int) []int {
	var out []int
	for i := range rank {
		if !slices.Contains(axes, i) {
			out = append(out, i)
		}
	}
	return out
}

// added makes calls of beta·input + alpha·f(x, y).
func added(f func(x, y *tensor) *tensor) func(c *Call) *tensor {
	return func(c *Call) *tensor {
		product := scale(f(c.tensor(1, "mat1"), c.tensor(2, "mat2")), c.number(-1, "alpha", 1))
		beta := c.number(-1, "beta", 1)
		if beta == 0 {
			return product // PyTorch does not look at input then
		}
		return scale(c.x(), beta).Add(product)
	}
}

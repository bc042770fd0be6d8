package torchcases

import "github.com/sinter-ml/sinter"

// scanOps are the running reductions. cummax and cummin also return indices, of
// which there is no counterpart.
var scanOps = map[string]adapter{
	"cumsum":  one(scanned((*tensor).CumSum), sums(total)),
	"cumprod": one(scanned((*tensor).CumProd), within(32)),
	"cummax":  {make: func(c *Call) tensors { return tensors{scanned((*tensor).CumMax)(c), nil} }, tol: exactButZeros},
	"cummin":  {make: func(c *Call) tensors { return tensors{scanned((*tensor).CumMin)(c), nil} }, tol: exactButZeros},
}

// scanned makes the call of a scan along an axis, in the dtype PyTorch returns.
func scanned(f func(x *tensor, axis int) *tensor) func(c *Call) *tensor {
	return func(c *Call) *tensor {
		x := c.x().Cast(c.outDType())
		if x.Rank() == 0 {
			return f(x.Unsqueeze(0), 0).Reshape()
		}
		return f(x, c.integer(1, "dim", 0))
	}
}

// orderOps are the operations that sort.
var orderOps = map[string]adapter{
	"msort": unary(func(x *tensor) *tensor { return x.Sort(0, sinter.Ascending) }, exact),
	"sort": {make: func(c *Call) tensors {
		x, at, order := sorted(c)
		return tensors{x.Sort(at, order).Reshape(c.outShape()...), x.ArgSort(at, order).Reshape(c.outShape()...)}
	}, tol: exact},
	"argsort": one(func(c *Call) *tensor {
		x, at, order := sorted(c)
		return x.ArgSort(at, order).Reshape(c.outShape()...)
	}, exact),
	"topk": {make: func(c *Call) tensors {
		x, k := atLeast1(c.x()), c.integer(1, "k", 1)
		at, order := c.integer(2, "dim", -1), sinter.Order(c.flag(3, "largest", true))
		return tensors{x.TopK(at, k, order).Reshape(c.outShape()...), x.ArgTopK(at, k, order).Reshape(c.outShape()...)}
	}, tol: exactButZeros},
}

// sorted returns what to sort, along which axis and how.
func sorted(c *Call) (x *tensor, axis int, order sinter.Order) {
	return atLeast1(c.x()), c.integer(1, "dim", -1), sinter.Order(c.flag(2, "descending", false))
}

package torchcases

import "slices"

// viewOps are the operations that only see the elements otherwise.
var viewOps = map[string]adapter{
	"broadcast_to": one(func(c *Call) *tensor { return c.x().Expand(c.ints(1, "size")...) }, exact),
	"expand":       one(func(c *Call) *tensor { return c.x().Expand(c.ints(1, "size")...) }, exact),
	"reshape":      one(func(c *Call) *tensor { return c.x().Reshape(c.ints(1, "shape")...) }, exact),
	"view":         one(func(c *Call) *tensor { return c.x().Reshape(c.ints(1, "shape")...) }, exact),
	"unsqueeze":    one(func(c *Call) *tensor { return c.x().Unsqueeze(c.integer(1, "dim", 0)) }, exact),
	"permute": one(func(c *Call) *tensor {
		return c.x().Permute(c.ints(1, "dims")...)
	}, exact),
	"transpose": one(func(c *Call) *tensor {
		x := c.x()
		if x.Rank() == 0 {
			return x
		}
		return x.Transpose(c.integer(1, "dim0", 0), c.integer(2, "dim1", 0))
	}, exact),
	"flatten": one(func(c *Call) *tensor {
		x := c.x()
		if x.Rank() == 0 {
			return x.Unsqueeze(0)
		}
		return x.Flatten(c.integer(1, "start_dim", 0), c.integer(2, "end_dim", -1))
	}, exact),
	"unflatten": one(func(c *Call) *tensor {
		x := c.x()
		shape := slices.Clone([]int(x.Shape()))
		at := axis(c.integer(1, "dim", 0), len(shape))
		return x.Reshape(slices.Replace(shape, at, at+1, c.ints(2, "sizes")...)...)
	}, exact),
	"flip": one(func(c *Call) *tensor {
		x, axes := c.x(), c.ints(1, "dims")
		if len(axes) == 0 {
			return x // unlike Flip() of no axes, which is of all
		}
		return x.Flip(axes...)
	}, exact),
	"movedim": one(func(c *Call) *tensor {
		x := c.x()
		from, to := c.ints(1, "source"), c.ints(2, "destination")
		perm := slices.Repeat([]int{-1}, x.Rank())
		for i := range from {
			perm[axis(to[i], x.Rank())] = axis(from[i], x.Rank())
		}
		return x.Permute(filledUp(perm)...)
	}, exact),
	"unfold": one(func(c *Call) *tensor {
		x, at := c.x(), c.integer(1, "dimension", 0)
		size, step := c.integer(2, "size", 1), c.integer(3, "step", 1)
		if x.Rank() == 0 {
			return x.Unsqueeze(0).Unfold(0, size, step).Reshape(c.outShape()...)
		}
		return x.Unfold(at, size, step)
	}, exact),
	"diagonal": one(func(c *Call) *tensor {
		return c.x().Diagonal(c.integer(1, "offset", 0), c.integer(2, "dim1", 0), c.integer(3, "dim2", 1))
	}, exact),
	"__getitem__": one(indexed, exact),
	"narrow": one(func(c *Call) *tensor {
		return c.x().Narrow(c.integer(1, "dim", 0), c.integer(2, "start", 0), c.integer(3, "length", 0))
	}, exact),
	"select": one(func(c *Call) *tensor {
		at := c.integer(1, "dim", 0)
		return c.x().Narrow(at, c.integer(2, "index", 0), 1).Squeeze(at)
	}, exact),
	"slice": one(func(c *Call) *tensor { return c.x() }, exact), // all of an axis
	"squeeze": one(func(c *Call) *tensor {
		x := c.x()
		if !c.has(1, "dim") {
			return x.Squeeze()
		}
		var axes []int
		for _, a := range c.ints(1, "dim") {
			if x.Dim(a) == 1 { // PyTorch lets the others be
				axes = append(axes, a)
			}
		}
		if len(axes) == 0 {
			return x
		}
		return x.Squeeze(axes...)
	}, exact),
	"unbind": {make: func(c *Call) tensors {
		x, at := c.x(), c.integer(1, "dim", 0)
		var out tensors
		for i := range x.Dim(at) {
			out = append(out, x.Narrow(at, i, 1).Squeeze(at))
		}
		return out
	}, tol: exact},
	"chunk": {make: func(c *Call) tensors {
		return c.x().Chunk(c.integer(2, "dim", 0), c.integer(1, "chunks", 1))
	}, tol: exact},
	"split": {make: func(c *Call) tensors {
		x, at := c.x(), c.integer(2, "dim", 0)
		if _, ok := c.Args[1].([]any); ok {
			return x.Split(at, c.ints(1, "split_size")...)
		}
		return x.Split(at, parts(x.Dim(at), c.integer(1, "split_size", 1))...)
	}, tol: exact},
	"split_with_sizes": {make: func(c *Call) tensors {
		return c.x().Split(c.integer(2, "dim", 0), c.ints(1, "split_sizes")...)
	}, tol: exact},
	"tensor_split": {make: func(c *Call) tensors {
		x, at := c.x(), c.integer(2, "dim", 0)
		if t, ok := c.Args[1].(TensorArg); ok {
			if h := c.file.tensor(t.Name); len(h.Shape) == 1 {
				var cuts []int
				for i := range h.Len() {
					cuts = append(cuts, int(h.Int(i)))
				}
				return cut(x, at, cuts)
			}
		} else if _, ok := c.Args[1].([]any); ok {
			return cut(x, at, c.ints(1, "indices"))
		}
		n := c.integer(1, "sections", 1) // the first length mod n are one longer
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = x.Dim(at) / n
			if i < x.Dim(at)%n {
				sizes[i]++
			}
		}
		return x.Split(at, sizes...)
	}, tol: exact},
}

// axis makes an axis that counts from the end one that counts from the front.
func axis(a, rank int) int {
	if a < 0 {
		a += rank
	}
	return a
}

// filledUp completes a permutation: places that are −1 take the axes that are
// left, in order.
func filledUp(perm []int) []int {
	next := 0
	for i := range perm {
		for ; perm[i] < 0; next++ {
			if !slices.Contains(perm, next) {
				perm[i] = next
			}
		}
	}
	return perm
}

// parts divides a length into parts of n elements and what is left.
func parts(length, n int) []int {
	out := []int{}
	for ; length > n; length -= n {
		out = append(out, n)
	}
	return append(out, length)
}

// cut returns the parts of an axis between positions, which may count from the
// end, lie outside or overlap.
func cut(x *tensor, axis int, positions []int) tensors {
	var out tensors
	length, start := x.Dim(axis), 0
	for _, end := range append(slices.Clone(positions), length) {
		if end < 0 {
			end += length
		}
		end = min(max(end, 0), length)
		out = append(out, x.Narrow(axis, start, max(end-start, 0)))
		start = end
	}
	return out
}

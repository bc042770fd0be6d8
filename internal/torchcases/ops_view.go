package torchcases

import (
	"slices"

	"github.com/sinter-ml/sinter"
)

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
		n := c.integer(1, "chunks", 1)
		length := c.x().Dim(c.integer(2, "dim", 0))
		return pieces(c, 2, each1(length, max(1, (length+n-1)/n)))
	}, tol: exact},
	"split": {make: func(c *Call) tensors {
		if sizes, ok := c.Args[1].([]any); ok && len(sizes) > 0 {
			return pieces(c, 2, c.ints(1, "split_size"))
		}
		return pieces(c, 2, each1(c.x().Dim(c.integer(2, "dim", 0)), c.integer(1, "split_size", 1)))
	}, tol: exact},
	"split_with_sizes": {make: func(c *Call) tensors { return pieces(c, 2, c.ints(1, "split_sizes")) }, tol: exact},
	"tensor_split": {make: func(c *Call) tensors {
		length := c.x().Dim(c.integer(2, "dim", 0))
		var cuts []int
		if t, ok := c.Args[1].(TensorArg); ok {
			if h := c.file.tensor(t.Name); len(h.Shape) == 1 {
				for i := range h.Len() {
					cuts = append(cuts, int(h.Int(i)))
				}
				return pieces(c, 2, between(length, cuts))
			}
		} else if _, ok := c.Args[1].([]any); ok {
			return pieces(c, 2, between(length, c.ints(1, "indices")))
		}
		n := c.integer(1, "sections", 1) // the first length mod n are one longer
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = length / n
			if i < length%n {
				sizes[i]++
			}
		}
		return pieces(c, 2, sizes)
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

// pieces cuts the first argument along an axis, an argument, into parts of the
// given lengths.
func pieces(c *Call, pos int, sizes []int) tensors {
	x, at := c.x(), c.integer(pos, "dim", 0)
	var out tensors
	start := 0
	for _, n := range sizes {
		out = append(out, x.Narrow(at, start, n))
		start += n
	}
	return out
}

// each1 divides a length into parts of n elements and what is left.
func each1(length, n int) []int {
	out := []int{}
	for ; length > n; length -= n {
		out = append(out, n)
	}
	return append(out, length)
}

// between returns the lengths of the parts of an axis cut at positions, which
// may count from the end or lie outside.
func between(length int, cuts []int) []int {
	var out []int
	start := 0
	for _, end := range append(slices.Clone(cuts), length) {
		if end < 0 {
			end += length
		}
		end = min(max(end, 0), length)
		out = append(out, max(end-start, 0))
		start = max(start, end)
	}
	return out
}

// moveOps are the operations that put elements elsewhere.
var moveOps = map[string]adapter{
	"cat":             one(func(c *Call) *tensor { return sinter.Cat(c.integer(1, "dim", 0), c.tensors(0)...) }, exact),
	"stack":           one(func(c *Call) *tensor { return sinter.Stack(c.integer(1, "dim", 0), c.tensors(0)...) }, exact),
	"hstack":          one(func(c *Call) *tensor { return joined(c.tensors(0), 1) }, exact),
	"vstack":          one(func(c *Call) *tensor { return joined(c.tensors(0), 0) }, exact),
	"constant_pad_nd": one(padded, exact),
	"repeat":          one(repeated, exact),
	"tile":            one(repeated, exact),
	"roll": one(func(c *Call) *tensor {
		x, shifts, axes := c.x(), c.ints(1, "shifts"), c.ints(2, "dims")
		if axes == nil {
			return rolled(x.Reshape(-1), shifts, []int{0}).Reshape(x.Shape()...)
		}
		return rolled(x, shifts, axes)
	}, exact),
	"diag_embed": one(func(c *Call) *tensor {
		x, k := c.x(), c.integer(1, "offset", 0)
		rank := x.Rank() + 1
		row, column := axis(c.integer(2, "dim1", -2), rank), axis(c.integer(3, "dim2", -1), rank)
		y := embedded(c, x, k)
		perm := slices.Repeat([]int{-1}, rank)
		perm[row], perm[column] = rank-2, rank-1
		return y.Permute(filledUp(perm)...)
	}, exact),
	"rot90": one(func(c *Call) *tensor {
		x, axes := c.x(), c.ints(2, "dims")
		switch k := c.integer(1, "k", 1); ((k % 4) + 4) % 4 {
		case 1:
			return x.Flip(axes[1]).Transpose(axes[0], axes[1])
		case 2:
			return x.Flip(axes...)
		case 3:
			return x.Flip(axes[0]).Transpose(axes[0], axes[1])
		}
		return x
	}, exact),
	"repeat_interleave": one(func(c *Call) *tensor {
		x, at := c.x(), c.integer(2, "dim", 0)
		if !c.has(2, "dim") {
			x = x.Reshape(-1)
		}
		if x.Rank() == 0 {
			x = x.Unsqueeze(0)
		}
		times := func(int) int { return c.integer(1, "repeats", 1) }
		if v, _ := c.arg(1, "repeats"); c.has(1, "repeats") {
			if t, ok := v.(TensorArg); ok {
				if h := c.file.tensor(t.Name); h.Len() > 1 {
					times = func(i int) int { return int(h.Int(i)) }
				}
			}
		}
		index := []int64{}
		for i := range x.Dim(at) {
			index = append(index, slices.Repeat([]int64{int64(i)}, times(i))...)
		}
		return x.Select(at, sinter.From(c.at, index, len(index)))
	}, exact),
	"nn.functional.pixel_shuffle": one(func(c *Call) *tensor {
		x, r := c.x(), c.integer(-1, "upscale_factor", 1)
		s := x.Shape()
		n := len(s)
		lead, ch, h, w := s[:n-3], s[n-3]/(r*r), s[n-2], s[n-1]
		k := len(lead)
		y := x.Reshape(join(lead, ch, r, r, h, w)...)
		return y.Permute(append(upTo(k), k, k+3, k+1, k+4, k+2)...).Reshape(join(lead, ch, h*r, w*r)...)
	}, exact),
	"nn.functional.pixel_unshuffle": one(func(c *Call) *tensor {
		x, r := c.x(), c.integer(-1, "downscale_factor", 1)
		s := x.Shape()
		n := len(s)
		lead, ch, h, w := s[:n-3], s[n-3], s[n-2]/r, s[n-1]/r
		k := len(lead)
		y := x.Reshape(join(lead, ch, h, r, w, r)...)
		return y.Permute(append(upTo(k), k, k+2, k+4, k+1, k+3)...).Reshape(join(lead, ch*r*r, h, w)...)
	}, exact),
}

// embedded is matrices with the last axis of x on their k-th diagonal.
func embedded(c *Call, x *tensor, k int) *tensor {
	n := x.Dim(-1) + max(k, -k)
	shape := join(x.Shape()[:x.Rank()-1], n, n)
	// Element i of x stands in column i+k, or for k < 0 in row i−k.
	pads := slices.Repeat([]int{0}, 2*x.Rank())
	pads[2*x.Rank()-1] = max(k, -k)
	wide := x.Pad(0, pads...)
	if k >= 0 {
		wide = wide.Unsqueeze(-1)
	} else {
		wide = wide.Unsqueeze(-2)
	}
	i := sinter.Arange(c.at, sinter.I64, 0, 1, n)
	on := i.Unsqueeze(1).AddScalar(float64(k)).Equal(i)
	return sinter.Where(on, wide.Expand(shape...), c.filled(0))
}

// join is a shape and further lengths.
func join(s sinter.Shape, more ...int) []int { return append(slices.Clone([]int(s)), more...) }

// upTo returns 0 to n−1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// joined is NumPy's hstack and vstack: tensors of too few axes get some.
func joined(ts tensors, axis int) *tensor {
	for i, t := range ts {
		if t.Rank() == 0 {
			t = t.Unsqueeze(0)
		}
		if t.Rank() == 1 && axis == 0 {
			t = t.Unsqueeze(0)
		}
		ts[i] = t
	}
	return sinter.Cat(min(axis, ts[0].Rank()-1), ts...)
}

// padded is padding with a value; PyTorch's counts start at the last axis.
func padded(c *Call) *tensor {
	x, pads := c.x(), c.ints(1, "pad")
	value := c.number(2, "value", 0)
	if len(c.Args) > 3 || c.Op == "nn.functional.pad" {
		value = c.number(3, "value", 0)
	}
	return x.Pad(value, frontFirst(pads, x.Rank())...)
}

// frontFirst turns PyTorch's padding, which starts at the last axis, into one
// of every axis from the first.
func frontFirst(pads []int, rank int) []int {
	out := make([]int, 2*rank)
	for i := 0; i < len(pads); i += 2 {
		copy(out[2*(rank-1-i/2):], pads[i:i+2])
	}
	return out
}

// repeated repeats along each axis, with axes put in front as needed.
func repeated(c *Call) *tensor {
	x, times := c.x(), c.ints(1, "repeats")
	for x.Rank() < len(times) {
		x = x.Unsqueeze(0)
	}
	for len(times) < x.Rank() {
		times = append([]int{1}, times...)
	}
	return x.Repeat(times...)
}

// rolled moves elements along axes, those that leave at the end coming in at
// the front.
func rolled(x *tensor, shifts, axes []int) *tensor {
	for i, a := range axes {
		n := x.Dim(a)
		if n == 0 {
			continue
		}
		if k := ((-shifts[i] % n) + n) % n; k > 0 {
			x = sinter.Cat(a, x.Narrow(a, k, n-k), x.Narrow(a, 0, k))
		}
	}
	return x
}

package torchcases

import (
	"slices"

	"github.com/sinter-ml/sinter"
)

// moveOps are the operations that put elements elsewhere.
var moveOps = map[string]adapter{
	"cat":             one(func(c *Call) *tensor { return sinter.Cat(c.integer(1, "dim", 0), c.tensors(0)...) }, exact),
	"stack":           one(func(c *Call) *tensor { return sinter.Stack(c.integer(1, "dim", 0), c.tensors(0)...) }, exact),
	"hstack":          one(func(c *Call) *tensor { return joined(c.tensors(0), 1) }, exact),
	"vstack":          one(func(c *Call) *tensor { return joined(c.tensors(0), 0) }, exact),
	"constant_pad_nd": one(padded, exact),

	"nn.functional.pad.constant":           one(padded, exact),
	"nn.functional.pad.reflect":            one(paddedWith(sinter.PadReflect), exact),
	"nn.functional.pad.replicate":          one(paddedWith(sinter.PadReplicate), exact),
	"nn.functional.pad.replicate_negative": one(paddedWith(sinter.PadReplicate), exact),
	"nn.functional.pad.circular":           one(paddedWith(sinter.PadCircular), exact),

	"repeat": one(repeated, exact),
	"tile":   one(repeated, exact),
	"roll": one(func(c *Call) *tensor {
		x, shifts, axes := c.x(), c.ints(1, "shifts"), c.ints(2, "dims")
		if axes == nil {
			return x.Reshape(-1).Roll(0, shifts[0]).Reshape(x.Shape()...)
		}
		for i, a := range axes {
			x = x.Roll(a, shifts[i])
		}
		return x
	}, exact),
	"tril": one(func(c *Call) *tensor { return c.x().Tril(c.integer(1, "diagonal", 0)) }, exact),
	"triu": one(func(c *Call) *tensor { return c.x().Triu(c.integer(1, "diagonal", 0)) }, exact),
	"diag": one(func(c *Call) *tensor {
		x, k := c.x(), c.integer(1, "diagonal", 0)
		if x.Rank() == 1 {
			return embedded(c, x, k)
		}
		return x.Diagonal(k, 0, 1)
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
	at := 2
	if c.Op == "nn.functional.pad" {
		at = 3 // after the mode
	}
	value := c.number(at, "value", 0)
	if x.DType() == sinter.Bool && value != 0 {
		value = 1
	}
	return x.Pad(value, frontFirst(pads, x.Rank())...)
}

// paddedWith is padding with elements of the tensor.
func paddedWith(mode sinter.PadMode) func(c *Call) *tensor {
	return func(c *Call) *tensor {
		x := c.x()
		return x.PadWith(mode, frontFirst(c.ints(1, "pad"), x.Rank())...)
	}
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

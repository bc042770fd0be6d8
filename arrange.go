package sinter

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// Split returns parts of t along an axis, whose lengths must add up to the
// axis's. Where they do not, each part, and one if there are no lengths, carries
// the error.
func (t *Tensor) Split(axis int, lengths ...int) []*Tensor {
	c := compoundOf(t)
	bad := c.refuse("Split", t)
	if bad == nil {
		a, err := lengthsFit(t, axis, lengths)
		if err == nil {
			return c.split(t, a, lengths)
		}
		bad = c.fail("Split", t, err)
	}
	return slices.Repeat([]*Tensor{bad}, max(len(lengths), 1))
}

// lengthsFit returns the axis that lengths cut into parts.
func lengthsFit(t *Tensor, axis int, lengths []int) (int, error) {
	a, err := axisOf(axis, t.Rank())
	if err != nil {
		return 0, err
	}
	left := t.Dim(a)
	for _, n := range lengths {
		if n < 0 || n > left {
			left = -1
			break
		}
		left -= n
	}
	if left != 0 {
		return 0, &ShapeError{Msg: fmt.Sprintf("lengths %v do not add up to %d at axis %d", lengths, t.Dim(a), a)}
	}
	return a, nil
}

func (c compound) split(t *Tensor, axis int, lengths []int) []*Tensor {
	out := make([]*Tensor, len(lengths))
	start := 0
	for i, n := range lengths {
		out[i] = c.part(t, axis, start, n)
		start += n
	}
	return out
}

// Chunk returns t cut along an axis into at most n parts of equal length, the
// last of which may be shorter, as PyTorch's chunk does.
func (t *Tensor) Chunk(axis, n int) []*Tensor {
	c := compoundOf(t)
	if bad := c.refuse("Chunk", t); bad != nil {
		return []*Tensor{bad}
	}
	a, err := axisOf(axis, t.Rank())
	if err == nil && n < 1 {
		err = &ArgumentError{Msg: fmt.Sprintf("cannot cut into %d parts", n)}
	}
	if err != nil {
		return []*Tensor{c.fail("Chunk", t, err)}
	}
	left := t.Dim(a)
	size := max((left-1)/n+1, 1)
	lengths := []int{min(size, left)}
	for left -= lengths[0]; left > 0; left -= size {
		lengths = append(lengths, min(size, left))
	}
	return c.split(t, a, lengths)
}

// Roll returns t with the elements moved by shift places along an axis, those
// that leave at one end coming in at the other.
func (t *Tensor) Roll(axis, shift int) *Tensor {
	c := compoundOf(t)
	if bad := c.refuse("Roll", t); bad != nil {
		return bad
	}
	a, err := axisOf(axis, t.Rank())
	if err != nil {
		return c.fail("Roll", t, err)
	}
	n := t.Dim(a)
	if n < 2 {
		return c.same(t)
	}
	shift = ((shift % n) + n) % n
	if shift == 0 {
		return c.same(t)
	}
	return c.cat(a, c.part(t, a, n-shift, shift), c.part(t, a, 0, n-shift))
}

// Tril returns t with zeros above the diagonal of the last two axes that lies
// offset places to the right of the main one.
func (t *Tensor) Tril(offset int) *Tensor {
	return t.triangle(compoundOf(t), "Tril", offset, ir.GreaterEqual)
}

// Triu returns t with zeros below the diagonal of the last two axes that lies
// offset places to the right of the main one.
func (t *Tensor) Triu(offset int) *Tensor {
	return t.triangle(compoundOf(t), "Triu", offset, ir.LessEqual)
}

// triangle keeps the elements whose row + offset compares so with the column.
func (t *Tensor) triangle(c compound, name string, offset int, compare ir.Kind) *Tensor {
	if bad := c.refuse(name, t); bad != nil {
		return bad
	}
	rank := t.Rank()
	if rank < 2 {
		return c.fail(name, t, &ShapeError{Msg: fmt.Sprintf("rank %d has no last two axes", rank)})
	}
	if dt := t.DType(); dt.IsFloat8() { // storage; its zero has no bit set
		bits := c.op(ir.Operation{Kind: ir.Bitcast, Attrs: ir.Attrs{DType: U8}}, t)
		return c.op(ir.Operation{Kind: ir.Bitcast, Attrs: ir.Attrs{DType: dt}}, bits.triangle(c, name, offset, compare))
	}
	rows, columns := t.Dim(-2), t.Dim(-1)
	offset = min(max(offset, -rows-1), columns+1) // beyond, nothing changes
	shifted := c.scalar(ir.Add, c.count(rows, 0, 2), float64(offset))
	keep := c.op(ir.Operation{Kind: compare}, shifted, c.count(columns, 1, 2))
	return c.op(ir.Operation{Kind: ir.Where}, keep, t, c.full(t.DType(), 0))
}

// PadMode says what padding is filled with.
type PadMode uint8

// The modes.
const (
	PadReflect   PadMode = iota // mirrored at the edge element, which is not repeated
	PadReplicate                // the edge element
	PadCircular                 // the elements from the other end
)

// PadWith is [Tensor.Pad] with elements of t instead of a value. To reflect, an
// axis must be longer than its padding; to go around, as long.
func (t *Tensor) PadWith(mode PadMode, pads ...int) *Tensor {
	c := compoundOf(t)
	if bad := c.refuse("Pad", t); bad != nil {
		return bad
	}
	if mode > PadCircular {
		return c.fail("Pad", t, &ArgumentError{Msg: fmt.Sprintf("there is no padding mode %d", mode)})
	}
	from, shape := t, t.val().Shape()
	if len(pads) != 2*len(shape) {
		return c.fail("Pad", t, &ShapeError{Msg: fmt.Sprintf("%d widths do not fit rank %d, which needs low and high for each axis", len(pads), len(shape))})
	}
	for axis, n := range shape {
		low, high := pads[2*axis], pads[2*axis+1]
		if low < -n || high < -n || max(-low, 0)+max(-high, 0) > n {
			return c.fail("Pad", t, &ShapeError{Msg: fmt.Sprintf("widths %d and %d crop more than the length %d at axis %d", low, high, n, axis)})
		}
		if crop := max(-low, 0) + max(-high, 0); crop > 0 {
			t = c.part(t, axis, max(-low, 0), n-crop)
			n -= crop
		}
		low, high = max(low, 0), max(high, 0)
		longest := [...]int{PadReflect: n - 1, PadReplicate: max(low, high), PadCircular: n}
		if most := max(low, high); most > 0 && (n == 0 || most > longest[mode]) {
			return c.fail("Pad", t, &ShapeError{Msg: fmt.Sprintf("widths %d and %d are too great for length %d at axis %d", low, high, n, axis)})
		}
		parts := []*Tensor{t}
		if low > 0 {
			parts = []*Tensor{c.border(t, mode, axis, low, 1, n-low, 0), t}
		}
		if high > 0 {
			parts = append(parts, c.border(t, mode, axis, high, n-1-high, 0, n-1))
		}
		if len(parts) > 1 {
			t = c.cat(axis, parts...)
		}
	}
	if t == from {
		return c.same(t)
	}
	return t
}

// border is the padding of one end: n elements from where each mode finds them.
func (c compound) border(t *Tensor, mode PadMode, axis, n, mirrored, around, edge int) *Tensor {
	switch mode {
	case PadReflect:
		return c.flip(c.part(t, axis, mirrored, n), axis)
	case PadCircular:
		return c.part(t, axis, around, n)
	}
	one := c.part(t, axis, edge, 1)
	if one.Err() != nil {
		return one
	}
	shape := one.val().Shape().Clone()
	shape[axis] = n
	return c.expand(one, shape)
}

// TakeAlongAxis is [Tensor.Gather] in which t and indices broadcast along the
// other axes.
func (t *Tensor) TakeAlongAxis(axis int, indices *Tensor) *Tensor {
	c := compoundOf(t, indices)
	if bad := c.refuse("TakeAlongAxis", t, indices); bad != nil {
		return bad
	}
	a, err := axisOf(axis, t.Rank())
	if err == nil && indices.Rank() != t.Rank() {
		err = &ShapeError{Msg: fmt.Sprintf("indices have rank %d instead of %d", indices.Rank(), t.Rank())}
	}
	if err != nil {
		return c.fail("TakeAlongAxis", t, err)
	}
	x, i := t.val().Shape().Clone(), indices.val().Shape().Clone()
	for k := range x {
		switch {
		case k == a:
		case x[k] == 1:
			x[k] = i[k]
		case i[k] == 1:
			i[k] = x[k]
		case x[k] != i[k]:
			return c.fail("TakeAlongAxis", t, &ShapeError{Msg: fmt.Sprintf("shapes %v and %v do not broadcast: lengths %d and %d at axis %d", x, i, x[k], i[k], k)})
		}
	}
	return c.op(ir.Operation{Kind: ir.Gather, Attrs: ir.Attrs{Axes: []int{a}}}, c.expand(t, x), c.expand(indices, i))
}

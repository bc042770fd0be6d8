package ir

import "math"

func inferFull(o *Operation) (Shape, DType, error) {
	err := o.scalarIs(0, o.Attrs.DType.Compute())
	return o.Attrs.Shape, o.Attrs.DType, err
}

func inferArange(o *Operation) (Shape, DType, error) {
	if r := len(o.Attrs.Shape); r != 1 {
		return nil, Invalid, shapeErrorf("makes rank 1, got the shape %v", o.Attrs.Shape)
	}
	want := F64
	if o.Attrs.DType.IsInt() {
		want = I64
	}
	for i := range o.Scalars {
		if err := o.scalarIs(i, want); err != nil {
			return nil, Invalid, err
		}
	}
	return o.Attrs.Shape, o.Attrs.DType, nil
}

func inferRandom(o *Operation) (Shape, DType, error) {
	for i := range o.Scalars {
		want := I64
		switch {
		case i < 2 || o.Kind == RandInt:
		case o.Kind == Bernoulli:
			want = F32
		default:
			want = o.Attrs.DType.Compute()
		}
		if err := o.scalarIs(i, want); err != nil {
			return nil, Invalid, err
		}
	}
	s := o.Scalars
	switch o.Kind {
	case Uniform:
		if low, high := s[2].Float64(), s[3].Float64(); !(low <= high) {
			return nil, Invalid, argumentErrorf("bounds %v and %v are not in order", low, high)
		}
	case Normal:
		if sd := s[3].Float64(); !(sd >= 0) {
			return nil, Invalid, argumentErrorf("standard deviation %v is not a number from 0", sd)
		}
	case Bernoulli:
		if p := s[2].Float64(); !(p >= 0 && p <= 1) {
			return nil, Invalid, argumentErrorf("probability %v is not between 0 and 1", p)
		}
	case RandInt:
		if low, high := s[2].Int64(), s[3].Int64(); low >= high {
			return nil, Invalid, argumentErrorf("there is no integer from %d up to but not including %d", low, high)
		} else if uint64(high)-uint64(low) > MaxRandRange {
			return nil, Invalid, argumentErrorf("from %d up to %d is a range wider than %d", low, high, int64(MaxRandRange))
		} else if d := o.Attrs.DType; d.Wrap(low) != low || d.Wrap(high-1) != high-1 {
			return nil, Invalid, argumentErrorf("the integers from %d up to but not including %d are not all %v", low, high, d)
		}
	}
	return o.Attrs.Shape, o.Attrs.DType, nil
}

// MaxRandRange is the widest range of RandInt: a random word of 32 bits is
// scaled to it in i64.
const MaxRandRange = 1 << 31

func inferReshape(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	if a, b := x.Shape.NumElements(), o.Attrs.Shape.NumElements(); a != b {
		return nil, Invalid, shapeErrorf("%v with %d elements cannot become %v with %d", x.Shape, a, o.Attrs.Shape, b)
	}
	return o.Attrs.Shape, x.DType, nil
}

func inferPermute(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	if err := o.permutation(len(x.Shape)); err != nil {
		return nil, Invalid, err
	}
	out := make(Shape, len(x.Shape))
	for i, a := range o.Attrs.Axes {
		out[i] = x.Shape[a]
	}
	return out, x.DType, nil
}

func inferExpand(o *Operation) (Shape, DType, error) {
	x, to := &o.Inputs[0], o.Attrs.Shape
	off := len(to) - len(x.Shape)
	if off < 0 {
		return nil, Invalid, shapeErrorf("rank %d cannot expand to rank %d", len(x.Shape), len(to))
	}
	for i, d := range x.Shape {
		if t := to[off+i]; d != t && d != 1 {
			return nil, Invalid, shapeErrorf("%v cannot expand to %v: length %d against %d at axis %d", x.Shape, to, d, t, off+i)
		}
	}
	return to, x.DType, nil
}

func inferSlice(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	if err := checkRanges(o.Ranges, x.Shape); err != nil {
		return nil, Invalid, err
	}
	whole := true
	for i := range o.Ranges {
		whole = whole && o.Ranges[i].Len == x.Shape[i]
	}
	if whole {
		return x.Shape, x.DType, nil
	}
	out := make(Shape, len(x.Shape))
	for i := range o.Ranges {
		out[i] = o.Ranges[i].Len
	}
	return out, x.DType, nil
}

// checkRanges checks that there is one range for each axis of s and that none
// leaves its axis; of a start read at run time only that some value fits.
func checkRanges(ranges []Range, s Shape) error {
	if len(ranges) != len(s) {
		return shapeErrorf("%d ranges do not fit rank %d", len(ranges), len(s))
	}
	for i := range ranges {
		r, n := &ranges[i], s[i]
		if r.Step == 0 {
			return argumentErrorf("range %d has step 0", i)
		}
		if r.Len < 0 {
			return argumentErrorf("range %d has the negative length %d", i, r.Len)
		}
		if r.Len == 0 {
			if r.Start < 0 || r.Start > n {
				return indexErrorf("range %d starts at %d, outside axis %d of length %d", i, r.Start, i, n)
			}
			continue
		}
		// Dividing, since (Len−1)·Step may overflow.
		if r.Len > n || r.Len > 1 && (r.Step == math.MinInt || max(r.Step, -r.Step) > (n-1)/(r.Len-1)) {
			return indexErrorf("range %d of %d elements in steps of %d is longer than axis %d of length %d", i, r.Len, r.Step, i, n)
		}
		if r.Input != 0 {
			continue
		}
		if r.Start < 0 || r.Start >= n {
			return indexErrorf("range %d starts at %d, outside axis %d of length %d", i, r.Start, i, n)
		}
		if r.Len == 1 {
			continue
		}
		if last := r.Start + (r.Len-1)*r.Step; last < 0 || last >= n {
			return indexErrorf("range %d ends at %d, outside axis %d of length %d", i, last, i, n)
		}
	}
	return nil
}

func inferFlip(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	_, err := o.manyAxes(len(x.Shape))
	return x.Shape, x.DType, err
}

func inferUnfold(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	axis, err := o.oneAxis(len(x.Shape))
	if err != nil {
		return nil, Invalid, err
	}
	if len(o.Attrs.Ints) != 2 {
		return nil, Invalid, argumentErrorf("takes size and step, got %d numbers", len(o.Attrs.Ints))
	}
	n, size, step := x.Shape[axis], o.Attrs.Ints[0], o.Attrs.Ints[1]
	if size < 0 || size > n {
		return nil, Invalid, shapeErrorf("windows of %d do not fit length %d at axis %d", size, n, axis)
	}
	if step <= 0 {
		return nil, Invalid, argumentErrorf("step %d is not above 0", step)
	}
	out := append(x.Shape.Clone(), size)
	out[axis] = (n-size)/step + 1
	return out, x.DType, nil
}

func inferDiagonal(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	if n := len(o.Attrs.Axes); n != 2 {
		return nil, Invalid, argumentErrorf("works along two axes, got %d", n)
	}
	rank := len(x.Shape)
	a, err := normalAxis(o.Attrs.Axes[0], rank)
	if err != nil {
		return nil, Invalid, err
	}
	b, err := normalAxis(o.Attrs.Axes[1], rank)
	if err != nil {
		return nil, Invalid, err
	}
	if a == b {
		return nil, Invalid, shapeErrorf("axis %d is given twice", a)
	}
	if a != o.Attrs.Axes[0] || b != o.Attrs.Axes[1] {
		o.Attrs.Axes = []int{a, b}
	}
	out := make(Shape, 0, rank-1)
	for i, d := range x.Shape {
		if i != a && i != b {
			out = append(out, d)
		}
	}
	// Coordinates (i, i+offset): a negative offset starts below row 0.
	rows, columns, offset := x.Shape[a], x.Shape[b], o.Attrs.N
	if !isLength(offset) {
		return nil, Invalid, argumentErrorf("offset %d is beyond %d", offset, int64(MaxElements))
	}
	return append(out, max(min(rows+min(offset, 0), columns-max(offset, 0)), 0)), x.DType, nil
}

func inferCat(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	axis, err := o.oneAxis(len(x.Shape))
	if err != nil {
		return nil, Invalid, err
	}
	total := uint64(0)
	for i := range o.Inputs {
		in := &o.Inputs[i]
		if err := o.sameDType(0, i); err != nil {
			return nil, Invalid, err
		}
		if len(in.Shape) != len(x.Shape) {
			return nil, Invalid, shapeErrorf("operand %d has rank %d instead of %d", i, len(in.Shape), len(x.Shape))
		}
		for a, d := range in.Shape {
			if a != axis && d != x.Shape[a] {
				return nil, Invalid, shapeErrorf("operand %d has length %d instead of %d at axis %d", i, d, x.Shape[a], a)
			}
		}
		if total += uint64(in.Shape[axis]); total > MaxElements {
			return nil, Invalid, shapeErrorf("the result is longer than %d at axis %d", int64(MaxElements), axis)
		}
	}
	return x.Shape.with(axis, int(total)), x.DType, nil
}

// with returns s with another length at an axis, s itself if it is the same.
func (s Shape) with(axis, length int) Shape {
	if s[axis] == length {
		return s
	}
	out := s.Clone()
	out[axis] = length
	return out
}

func inferRepeat(o *Operation) (Shape, DType, error) {
	x, times := &o.Inputs[0], o.Attrs.Ints
	if len(times) != len(x.Shape) {
		return nil, Invalid, shapeErrorf("%d counts do not fit rank %d", len(times), len(x.Shape))
	}
	out := make(Shape, len(x.Shape))
	for i, d := range x.Shape {
		t := times[i]
		if t < 0 {
			return nil, Invalid, argumentErrorf("axis %d is repeated %d times", i, t)
		}
		if d > 0 && t > MaxElements/d {
			return nil, Invalid, shapeErrorf("length %d repeated %d times at axis %d is longer than %d", d, t, i, int64(MaxElements))
		}
		out[i] = d * t
	}
	return out, x.DType, nil
}

func inferPad(o *Operation) (Shape, DType, error) {
	x, widths := &o.Inputs[0], o.Attrs.Ints
	if len(widths) != 2*len(x.Shape) {
		return nil, Invalid, shapeErrorf("%d widths do not fit rank %d, which needs low and high for each axis", len(widths), len(x.Shape))
	}
	out := make(Shape, len(x.Shape))
	for i, d := range x.Shape {
		low, high := widths[2*i], widths[2*i+1]
		if !isLength(low) || !isLength(high) {
			return nil, Invalid, shapeErrorf("widths %d and %d at axis %d are beyond %d", low, high, i, int64(MaxElements))
		}
		n := int64(d) + int64(low) + int64(high)
		if n < 0 {
			return nil, Invalid, shapeErrorf("widths %d and %d crop more than the length %d at axis %d", low, high, d, i)
		}
		if n > MaxElements {
			return nil, Invalid, shapeErrorf("length %d padded by %d and %d at axis %d is longer than %d", d, low, high, i, int64(MaxElements))
		}
		out[i] = int(n)
	}
	return out, x.DType, nil
}

// isLength reports whether n's magnitude is one a length may have.
func isLength(n int) bool { return n >= -MaxElements && n <= MaxElements }

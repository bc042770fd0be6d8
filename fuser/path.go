package fuser

import "slices"

// unit is the entry of the table of lengths that is always 1.
const unit Dim = 0

// stepKind is a step of a path.
type stepKind uint8

const (
	// stepMap walks, along each axis after the step, one axis before it, or
	// none: permuting, broadcasting, adding and dropping axes of length 1 all
	// are maps, and two maps in a row are one.
	stepMap stepKind = iota
	stepReshape
	stepSlice // by the ranges of operation op; ranges with a start that is a tensor are left whole
	stepFlip  // of axes
	// stepAffine makes the coordinate along each axis before the step a sum of
	// multiples of those after it and a constant: windows, diagonals, single
	// places of an axis.
	stepAffine
)

// step leads from one index space to the next.
type step struct {
	kind stepKind
	src  []Dim // the space before the step
	dst  []Dim // the space after it
	axes []int // map: for each axis of dst the axis of src, or -1; flip: the axes
	op   int   // slice

	terms []Term // affine
	start []int  // affine: the constant of each axis of src
}

// path leads from the index space of a stored tensor to the space of a block
// or kernel. Its last step is always a map. Paths are kept in a normal form:
// neighbouring maps are one map, neighbouring reshapes one reshape, a reshape
// that only moves axes of length 1 is a map, and a map never walks an axis of
// length 1. So two equal ways of reading a tensor are equal paths, up to
// slices, which are told apart by their operation.
type path []step

// identity returns the path that walks a space as it is.
func identity(space []Dim) path {
	axes := make([]int, len(space))
	for i := range axes {
		axes[i] = i
	}
	return path(nil).prepend(step{kind: stepMap, src: space, dst: space, axes: axes})
}

// prepend returns the path that takes s first and then p. p may share steps
// with the result and is left as it was.
func (p path) prepend(s step) path {
	switch s.kind {
	case stepMap:
		return p.prependMap(s)
	case stepReshape:
		if slices.Equal(squeezed(s.src), squeezed(s.dst)) {
			return p.prependMap(unitMap(s.src, s.dst))
		}
		if len(p) > 0 && p[0].kind == stepReshape {
			return p[1:].prepend(step{kind: stepReshape, src: s.src, dst: p[0].dst})
		}
	case stepFlip:
		axes := slices.DeleteFunc(slices.Clone(s.axes), func(a int) bool { return s.src[a] == unit })
		slices.Sort(axes)
		if len(axes) == 0 {
			return p
		}
		if len(p) > 0 && p[0].kind == stepFlip && slices.Equal(p[0].axes, axes) {
			return p[1:]
		}
		s.axes = axes
	}
	return append(path{s}, p...)
}

func (p path) prependMap(s step) path {
	axes := s.axes
	for i, a := range s.axes {
		if a >= 0 && s.src[a] == unit {
			if &axes[0] == &s.axes[0] { // other paths may share them
				axes = slices.Clone(axes)
			}
			axes[i] = -1
		}
	}
	s.axes = axes
	switch {
	case len(p) == 0:
	case p[0].kind == stepMap:
		joined := step{kind: stepMap, src: s.src, dst: p[0].dst, axes: slices.Clone(p[0].axes)}
		for i, a := range joined.axes {
			if a >= 0 {
				joined.axes[i] = axes[a]
			}
		}
		if len(p) == 1 {
			return path{joined}
		}
		return p[1:].prependMap(joined)
	case slices.Equal(s.src, s.dst) && s.unitOnly():
		return p
	case p[0].kind == stepReshape && s.unitOnly():
		return p[1:].prepend(step{kind: stepReshape, src: s.src, dst: p[0].dst})
	}
	return append(path{s}, p...)
}

// then returns the path that takes p and then q.
func (p path) then(q path) path {
	for i := len(p) - 1; i >= 0; i-- {
		q = q.prepend(p[i])
	}
	return q
}

// expand returns p reached from a tensor of shape src that is broadcast to
// shape dst first, aligned at the last axis.
func (p path) expand(src, dst []Dim) path {
	axes := make([]int, len(dst))
	off := len(dst) - len(src)
	for i := range axes {
		axes[i] = i - off
		if i < off {
			axes[i] = -1
		}
	}
	return p.prepend(step{kind: stepMap, src: src, dst: dst, axes: axes})
}

// fixed returns the step to a tensor without its last axis, at one place of it.
func fixed(src []Dim, at int) step {
	last := len(src) - 1
	s := step{kind: stepAffine, src: src, dst: src[:last], start: make([]int, last+1)}
	for i := range last {
		s.terms = append(s.terms, Term{i, i, 1})
	}
	s.start[last] = at
	return s
}

// walk returns the path from a tensor of shape src in which axis i of the
// space is the tensor's axis axes[i], or none.
func walk(src, space []Dim, axes []int) path {
	return path(nil).prepend(step{kind: stepMap, src: src, dst: space, axes: axes})
}

// lift returns p with one more axis, of the given length, that every step
// carries along behind the others, and whether the steps allow it. The last
// map gets the axis as its last: it is indexed by a value.
func (p path) lift(length Dim) (path, bool) {
	out := make(path, 0, len(p))
	for _, s := range p {
		if s.kind == stepSlice {
			return nil, false
		}
		last := len(s.src)
		s.src = append(slices.Clone(s.src), length)
		s.dst = append(slices.Clone(s.dst), length)
		switch s.kind {
		case stepMap:
			s.axes = append(slices.Clone(s.axes), last)
		case stepAffine:
			s.terms = append(slices.Clone(s.terms), Term{last, len(s.dst) - 1, 1})
			s.start = append(slices.Clone(s.start), 0)
		}
		out = append(out, s)
	}
	return path(nil).prepend(out[len(out)-1]).after(out[:len(out)-1]), true
}

// after returns p with the given steps taken before it.
func (p path) after(steps path) path { return steps.then(p) }

// axes returns the last map's axes.
func (p path) axes() []int { return p[len(p)-1].axes }

// within returns p with only the first n axes of the space, the others not being
// walked.
func (p path) within(n int) path {
	out := slices.Clone(p)
	last := &out[len(out)-1]
	last.dst, last.axes = last.dst[:n], last.axes[:n]
	return out
}

// plain reports whether the path is one map.
func (p path) plain() bool { return len(p) == 1 }

// inverse returns the path from the space of a path that reaches every element
// once back to the tensor's own.
func (p path) inverse(src []Dim) (path, bool) {
	out := identity(src)
	for _, s := range p {
		back, ok := s.inverse()
		if !ok {
			return nil, false
		}
		out = out.prepend(back)
	}
	return out, true
}

// injective reports whether a map never repeats an element.
func (s step) injective() bool {
	for i, a := range s.axes {
		if a < 0 && s.dst[i] != unit {
			return false
		}
	}
	return true
}

func (s step) covered() int {
	n := 0
	for _, a := range s.axes {
		if a >= 0 {
			n++
		}
	}
	return n
}

// unitOnly reports whether a map only adds and drops axes of length 1.
func (s step) unitOnly() bool {
	last := -1
	for _, a := range s.axes {
		if a >= 0 {
			if a < last {
				return false
			}
			last = a
		}
	}
	return s.injective() && s.covered() == len(squeezed(s.src))
}

// rowMajor reports whether the path visits the tensor's elements in row-major
// order as the space is walked in row-major order.
func (p path) rowMajor() bool {
	for _, s := range p {
		if s.kind != stepReshape && (s.kind != stepMap || !s.unitOnly()) {
			return false
		}
	}
	return true
}

// equal reports whether two paths are the same.
func (p path) equal(q path) bool {
	return slices.EqualFunc(p, q, func(a, b step) bool {
		return a.kind == b.kind && a.op == b.op && slices.Equal(a.axes, b.axes) && slices.Equal(a.dst, b.dst) &&
			slices.Equal(a.terms, b.terms) && slices.Equal(a.start, b.start)
	})
}

// views returns the steps before the last map as a binding's views.
func (p path) views() []View {
	var out []View
	for _, s := range p[:len(p)-1] {
		switch s.kind {
		case stepMap:
			out = append(out, s.mapViews()...)
		case stepReshape:
			out = append(out, View{Kind: ViewReshape, Shape: s.dst})
		case stepSlice:
			out = append(out, View{Kind: ViewSlice, Op: s.op})
		case stepFlip:
			out = append(out, View{Kind: ViewFlip, Axes: s.axes})
		case stepAffine:
			out = append(out, View{Kind: ViewAffine, Shape: s.dst, Terms: s.terms, Start: s.start})
		}
	}
	return out
}

// mapViews writes a map as the views that do the same: drop the axes nobody
// walks, put the others in order, add axes of length 1, broadcast.
func (s step) mapViews() []View {
	var out []View
	shape := s.src
	to := func(v View) { out, shape = append(out, v), v.Shape }

	walked := slices.DeleteFunc(slices.Clone(s.axes), func(a int) bool { return a < 0 })
	kept := slices.Sorted(slices.Values(walked))
	if len(kept) < len(s.src) {
		v := View{Kind: ViewReshape, Shape: []Dim{}}
		for _, a := range kept {
			v.Shape = append(v.Shape, s.src[a])
		}
		to(v)
	}
	if !slices.Equal(kept, walked) {
		v := View{Kind: ViewPermute}
		moved := make([]Dim, len(walked))
		for i, a := range walked {
			v.Axes = append(v.Axes, slices.Index(kept, a))
			moved[i] = s.src[a]
		}
		out, shape = append(out, v), moved
	}
	v := View{Kind: ViewReshape, Shape: make([]Dim, len(s.axes))}
	for i, a := range s.axes {
		if a >= 0 {
			v.Shape[i] = s.src[a]
		}
	}
	if !slices.Equal(v.Shape, shape) {
		to(v)
	}
	if !slices.Equal(s.dst, shape) {
		to(View{Kind: ViewExpand, Shape: s.dst})
	}
	return out
}

// squeezed returns a shape without its axes of length 1.
func squeezed(shape []Dim) []Dim {
	out := make([]Dim, 0, len(shape))
	for _, d := range shape {
		if d != unit {
			out = append(out, d)
		}
	}
	return out
}

// unitMap returns the map between two shapes that differ in axes of length 1.
func unitMap(src, dst []Dim) step {
	s := step{kind: stepMap, src: src, dst: dst, axes: make([]int, len(dst))}
	a := 0
	for i, d := range dst {
		s.axes[i] = -1
		if d == unit {
			continue
		}
		for src[a] == unit {
			a++
		}
		s.axes[i] = a
		a++
	}
	return s
}

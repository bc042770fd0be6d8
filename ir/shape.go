package ir

import (
	"slices"
	"strconv"
)

// Shape is the length of a tensor along each axis. Rank 0 and length-0 axes
// are legal everywhere.
type Shape []int

// Rank returns the number of axes.
func (s Shape) Rank() int { return len(s) }

// NumElements returns the product of the lengths, 1 for rank 0.
func (s Shape) NumElements() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Equal reports whether both shapes have the same lengths.
func (s Shape) Equal(t Shape) bool { return slices.Equal(s, t) }

// Clone returns a copy that shares nothing with s.
func (s Shape) Clone() Shape { return slices.Clone(s) }

// String prints the shape as in the text form: [2,3].
func (s Shape) String() string { return string(s.append(nil)) }

func (s Shape) append(b []byte) []byte {
	b = append(b, '[')
	for i, d := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(d), 10)
	}
	return append(b, ']')
}

// Broadcast returns the NumPy broadcast of the shapes, aligned at the last
// axis, and whether there is one. The result shares no memory with them.
func Broadcast(shapes ...Shape) (Shape, bool) {
	var out Shape
	for _, s := range shapes {
		var err error
		if out, err = broadcast(out, s); err != nil {
			return nil, false
		}
	}
	return out.Clone(), true
}

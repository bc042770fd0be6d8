package cudac

import (
	"fmt"
	"math"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
)

// A slot is an affine function of the coordinates of the space: the place of an
// access, the coordinate along an axis, the row-major position.
type slot struct {
	name    string // "a0" for access 0, "c1" for the coordinate of axis 1, "pos"
	offset  int
	strides []int // one for each axis of the space
}

// slots are the affine functions a kernel needs: one for each access, then
// coordinates and the position.
type slots struct {
	list  []slot
	coord []int // by axis: the slot of its coordinate, -1: none
	pos   int   // the slot of the position, -1: none
}

// slotsOf returns the slots of a launch. Which there are depends on the kernel
// and on the axes of windows alone.
func slotsOf(k *codegen.Kernel, l *codegen.Launch) *slots {
	s := &slots{coord: make([]int, k.Axes()), pos: -1}
	for i := range l.Access {
		s.list = append(s.list, slot{fmt.Sprintf("a%d", i), l.Access[i].Offset, l.Access[i].Strides})
	}
	need := make([]bool, k.Axes())
	position := false
	for i := range k.Body {
		switch in := &k.Body[i]; in.Op {
		case codegen.OpCoord, codegen.OpArange:
			need[in.Index] = true
		case codegen.OpPhilox, codegen.OpNormal:
			position = true
		}
	}
	for i := range l.Access {
		for _, w := range l.Access[i].Window {
			need[w.Axis] = true
		}
	}
	for axis, ok := range need {
		s.coord[axis] = -1
		if ok {
			s.coord[axis] = len(s.list)
			strides := make([]int, k.Axes())
			strides[axis] = 1
			s.list = append(s.list, slot{name: fmt.Sprintf("c%d", axis), strides: strides})
		}
	}
	if position {
		s.pos = len(s.list)
		last := k.Axes()
		if k.Template == codegen.Contraction || k.Template == codegen.Attention {
			last = k.Outer // elements exist at outer points
		}
		strides := make([]int, k.Axes())
		step := 1
		for axis := last - 1; axis >= 0; axis-- {
			strides[axis] = step
			step *= l.Dims[axis]
		}
		s.list = append(s.list, slot{name: "pos", strides: strides})
	}
	return s
}

// loop is a set of axes walked together in row-major order. Axes of length 1 are
// dropped and neighbours that every slot crosses evenly are one.
type loop struct {
	name    string // of its coordinates: "x" gives x0, x1, …
	n       int    // points
	dims    []int
	strides [][]int // of each slot, along each of dims
}

// lay returns the loop over the given axes of a launch.
func (s *slots) lay(name string, dims []int, axes []int) *loop {
	g := &loop{name: name, n: 1, strides: make([][]int, len(s.list))}
	for _, a := range axes {
		g.n *= dims[a]
	}
	var last []int // the innermost axis of each of g.dims; strides are taken from it
	for _, a := range axes {
		switch {
		case dims[a] == 1 || g.n == 0:
		case len(last) > 0 && s.even(last[len(last)-1], a, dims[a]):
			g.dims[len(last)-1] *= dims[a]
			last[len(last)-1] = a
		default:
			g.dims, last = append(g.dims, dims[a]), append(last, a)
		}
	}
	for i := range s.list {
		for _, a := range last {
			g.strides[i] = append(g.strides[i], s.list[i].strides[a])
		}
	}
	return g
}

// even reports whether every slot crosses from axis a to the next axis b as if
// they were one.
func (s *slots) even(a, b, lenB int) bool {
	for i := range s.list {
		if s.list[i].strides[a] != s.list[i].strides[b]*lenB {
			return false
		}
	}
	return true
}

// axes returns from … to-1.
func axes(from, to int) []int {
	var out []int
	for a := from; a < to; a++ {
		out = append(out, a)
	}
	return out
}

// A stride is what a variant knows of how far a slot moves along a dimension.
type stride uint8

const (
	strideAny  stride = iota // an argument
	strideZero               // it does not move
	strideOne                // to the next element
)

func (s stride) String() string { return [...]string{"*", "0", "1"}[s] }

// form is what a variant knows of a loop: the number of dimensions, and the
// stride of each slot along each.
type form struct {
	rank    int
	strides [][]stride // by slot
}

func (g *loop) form() form {
	f := form{rank: len(g.dims), strides: make([][]stride, len(g.strides))}
	for i, list := range g.strides {
		for _, s := range list {
			kind := strideAny
			switch s {
			case 0:
				kind = strideZero
			case 1:
				kind = strideOne
			}
			f.strides[i] = append(f.strides[i], kind)
		}
	}
	return f
}

// String prints the rank and the strides of each slot, such as "2(1 *1 0*)".
func (f form) String() string {
	s := fmt.Sprint(f.rank, "(")
	for i, list := range f.strides {
		if i > 0 {
			s += " "
		}
		for _, x := range list {
			s += x.String()
		}
	}
	return s + ")"
}

// narrow is how far positions may reach in 32 bits: threads step past the end of
// a loop by less than the rest.
const narrow = math.MaxInt32 - 1<<24

// fits32 reports whether every place, coordinate and count of a launch is known
// to fit 32 bits: the length of each loop, and the sum of the magnitudes of what
// each slot adds up.
func fits32(k *codegen.Kernel, l *codegen.Launch) bool {
	for i := range k.Parts {
		if !fits32(k.Parts[i].Kernel, &l.Parts[i]) {
			return false
		}
	}
	points := 1
	for axis, d := range l.Dims {
		if k.Template == codegen.Contraction && axis == k.Outer {
			points = 1 // no loop joins the contracted axis with others
		}
		if d > 0 && points > narrow/d {
			return false
		}
		points *= max(d, 1)
	}
	for i := range l.Access {
		a := &l.Access[i]
		reach := magnitude(a.Offset)
		for axis, s := range a.Strides {
			reach = add(reach, times(magnitude(s), max(l.Dims[axis], 1)))
		}
		for _, x := range a.Index {
			reach = add(reach, times(magnitude(x.Stride), max(x.Extent, 1)))
		}
		if reach > narrow {
			return false
		}
		for _, w := range a.Window {
			if magnitude(w.Lo) > narrow || magnitude(w.Hi) > narrow {
				return false
			}
		}
	}
	return true
}

func magnitude(a int) int {
	if a < 0 {
		return -max(a, -math.MaxInt)
	}
	return a
}

// add and times saturate.
func add(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

func times(a, b int) int {
	if b != 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}

// windowAxes lists the axes of each access's windows: a variant's windows.
func windowAxes(l *codegen.Launch) [][]int {
	out := make([][]int, len(l.Access))
	for i := range l.Access {
		for _, w := range l.Access[i].Window {
			out[i] = append(out[i], w.Axis)
		}
	}
	return out
}

func equalWindows(a, b [][]int) bool { return slices.EqualFunc(a, b, slices.Equal) }

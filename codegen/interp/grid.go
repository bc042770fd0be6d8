package interp

// slot is an affine function of the coordinates of the space: the place of an
// access in its buffer, a coordinate, or the row-major position.
type slot struct {
	offset  int
	strides []int // one for each axis of the space
}

// grid is a set of axes walked in row-major order, with the strides of every
// slot along them. Axes of length 1 are dropped and neighbours that all slots
// cross evenly are joined, so that most launches walk one or two long axes.
type grid struct {
	n       int // points
	dims    []int
	strides []int // of slot s along axis a: strides[s*len(dims)+a]
	// linear slots move by the same step from each point to the next.
	linear []bool
	step   []int
}

// build lays the grid over the given axes of the space.
func (g *grid) build(dims []int, axes []int, slots []slot) {
	g.n = 1
	g.dims = g.dims[:0]
	for _, a := range axes {
		g.n *= dims[a]
	}
	g.strides = g.strides[:0]
	// kept[i] is the innermost axis of group i; strides are taken from it.
	kept := 0
	var last [maxAxes]int
	if g.n > 0 {
		for _, a := range axes {
			if dims[a] == 1 {
				continue
			}
			if kept > 0 && joins(slots, last[kept-1], a, dims[a]) {
				g.dims[kept-1] *= dims[a]
			} else {
				g.dims = append(g.dims, dims[a])
				kept++
			}
			last[kept-1] = a
		}
	}
	g.linear, g.step = g.linear[:0], g.step[:0]
	for i := range slots {
		for _, a := range last[:kept] {
			g.strides = append(g.strides, slots[i].strides[a])
		}
		step, linear := g.line(g.strides[i*kept : (i+1)*kept])
		g.linear = append(g.linear, linear)
		g.step = append(g.step, step)
	}
}

// joins reports whether every slot crosses from axis a to the next axis b as
// if they were one.
func joins(slots []slot, a, b, lenB int) bool {
	for i := range slots {
		if slots[i].strides[a] != slots[i].strides[b]*lenB {
			return false
		}
	}
	return true
}

// line returns the step from point to point of a slot with these strides, and
// whether it is the same everywhere.
func (g *grid) line(strides []int) (int, bool) {
	k := len(strides)
	if k == 0 {
		return 0, true
	}
	step := strides[k-1]
	for a := k - 2; a >= 0; a-- {
		if strides[a] != strides[a+1]*g.dims[a+1] {
			return 0, false
		}
	}
	return step, true
}

// row returns the length of the innermost axis.
func (g *grid) row() int {
	if len(g.dims) == 0 {
		return 1
	}
	return g.dims[len(g.dims)-1]
}

// longRow is the row length from which tiles end where rows do, so that each
// access is one straight run; shorter rows share a tile.
const longRow = 256

// tile returns the length of the tile that starts at point lo, below hi.
func (g *grid) tile(lo, hi, most int) int {
	n := min(most, hi-lo)
	if row := g.row(); row >= longRow && len(g.dims) > 1 {
		n = min(n, row-lo%row)
	}
	return n
}

// place fills coord with the coordinates of point i.
func (g *grid) place(i int, coord []int) {
	for a := len(g.dims) - 1; a >= 0; a-- {
		d := g.dims[a]
		q := i / d
		coord[a] = i - q*d
		i = q
	}
}

// dot returns the position of slot s at the coordinates, without its offset.
func (g *grid) dot(s int, coord []int) int {
	k := len(g.dims)
	off := 0
	for a, st := range g.strides[s*k : (s+1)*k] {
		off += st * coord[a]
	}
	return off
}

// inner returns the stride of slot s along the innermost axis.
func (g *grid) inner(s int) int {
	k := len(g.dims)
	if k == 0 {
		return 0
	}
	return g.strides[(s+1)*k-1]
}

// advance moves base, one position for each slot, and coord to the next point
// of the grid.
func (g *grid) advance(coord, base []int) {
	k := len(g.dims)
	for a := k - 1; a >= 0; a-- {
		coord[a]++
		for s := range base {
			base[s] += g.strides[s*k+a]
		}
		if coord[a] < g.dims[a] {
			return
		}
		coord[a] = 0
		for s := range base {
			base[s] -= g.strides[s*k+a] * g.dims[a]
		}
	}
}

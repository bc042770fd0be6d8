package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// tileLen is the length of a tile. It is a multiple of codegen.BlockElems, so
// that tiles of a row are whole blocks of a reduction.
const tileLen = 1024

// maxAxes bounds the axes of a space, see codegen.MaxAxes.
const maxAxes = 64

// temps is how many registers' worth of scratch steps may use inside.
const temps = 3

// worker is the state of one worker in one launch: the current tile and the
// registers over it.
type worker struct {
	run   *run
	bound bool // ready for the current launch
	regs  []reg
	// direct is the memory a value's only element-wise store wants it in, or
	// nil.
	direct [][]byte

	slab   []byte // all scratch registers
	pitch  int    // bytes of one
	scalar []byte // 8 bytes for each instruction: constants and params

	// The tile: n points of g from point lo on. base is the position of each
	// slot at the origin of g.
	g     *grid
	lo, n int
	base  []int
	coord []int // of the first point
	walk  []int // of a segment's first point
	one   bool  // the tile lies in one row of g

	outer []int   // coordinates of the current row
	accum []accum // one for each reduction

	// Contractions and attention: the results of the tile, where its rows and
	// columns start in their operands, and copies of those.
	acc            []byte
	rowsAt, colsAt []int
	packA, packB   []byte
	line           []byte

	order []sortKey // Sort: of the current row
}

func newWorker(r *run) *worker {
	n := len(r.exe.kernel.Body)
	return &worker{
		run: r, regs: make([]reg, n), direct: make([][]byte, n), scalar: alloc(8 * n),
		coord: make([]int, maxAxes), walk: make([]int, maxAxes), outer: make([]int, maxAxes),
		accum: make([]accum, n),
	}
}

// bind makes the worker ready for the launch of its run: scratch is large
// enough, constants and params are in their registers, slots start at their
// offsets.
func (w *worker) bind() {
	r := w.run
	w.bound = true
	// The odd pitch keeps registers from falling on the same cache sets.
	w.pitch = r.pitchElems*8 + 192
	w.slab = grow(w.slab, (r.exe.numPhys+temps)*w.pitch)
	w.base = w.base[:0]
	for i := range r.slots {
		w.base = append(w.base, r.slots[i].offset)
	}
	for i := range r.exe.kernel.Body {
		w.preset(i)
	}
}

// resetBase puts every slot back to its offset.
func (w *worker) resetBase() {
	for i := range w.base {
		w.base[i] = w.run.slots[i].offset
	}
}

// preset puts the value of a constant or param into its register.
func (w *worker) preset(i int) {
	in := &w.run.exe.kernel.Body[i]
	var bits uint64
	switch in.Op {
	case codegen.OpConst:
		bits = in.Bits
	case codegen.OpParam:
		bits = w.run.launch.Params[in.Index]
	case codegen.OpCount:
		n := 1
		for _, d := range w.run.dims[w.run.exe.kernel.Outer:] {
			n *= d
		}
		bits = countBits(n, in.Type)
	default:
		return
	}
	l := laneOf(in.Type)
	mem := w.scalar[8*i : 8*i+l.size()]
	setBits(mem, l, bits)
	w.regs[i] = reg{mem: mem, uniform: true}
}

// setBits writes a scalar, in the form of ir.Scalar, as a register element.
func setBits(mem []byte, l lane, bits uint64) {
	switch l {
	case laneF32:
		view[float32](mem)[0] = math.Float32frombits(uint32(bits))
	case laneBool:
		mem[0] = uint8(bits)
	default:
		view[uint64](mem)[0] = bits
	}
}

// countBits returns a number of elements as a scalar of a register type.
func countBits(n int, t ir.DType) uint64 {
	switch t {
	case ir.F64:
		return math.Float64bits(float64(n))
	case ir.F32:
		return uint64(math.Float32bits(float32(n)))
	}
	return uint64(t.Wrap(int64(n)))
}

// scratchOf returns the scratch memory of instruction v.
func (w *worker) scratchOf(v int) []byte {
	p := w.run.exe.phys[v]
	return w.slab[p*w.pitch : (p+1)*w.pitch : (p+1)*w.pitch]
}

// temp returns temporary number i.
func (w *worker) temp(i int) []byte {
	p := w.run.exe.numPhys + i
	return w.slab[p*w.pitch : (p+1)*w.pitch]
}

// seek makes the n points of g from lo on the current tile.
func (w *worker) seek(g *grid, lo, n int) {
	w.g, w.lo, w.n = g, lo, n
	w.coord, w.walk = w.coord[:len(g.dims)], w.walk[:len(g.dims)]
	g.place(lo, w.coord)
	w.one = n == 1 || w.coord[len(g.dims)-1]+n <= g.row()
}

// span returns the position of slot s at the first point and the step from
// point to point, if there is one step for the whole tile.
func (w *worker) span(s int) (off, step int, ok bool) {
	switch {
	case w.n == 1:
		return w.base[s] + w.g.dot(s, w.coord), 0, true
	case w.g.linear[s]:
		return w.base[s] + w.lo*w.g.step[s], w.g.step[s], true
	case w.one:
		return w.base[s] + w.g.dot(s, w.coord), w.g.inner(s), true
	}
	return 0, 0, false
}

// segment is a part of the tile inside one row of the grid: points
// at … at+n-1 of the tile. w.walk holds the coordinates of its first point.
type segment struct{ at, n int }

// first returns the first segment of the tile.
func (w *worker) first() segment {
	copy(w.walk, w.coord)
	if w.one {
		return segment{0, w.n}
	}
	return segment{0, min(w.n, w.g.row()-w.coord[len(w.coord)-1])}
}

// next moves to the following segment; its length is 0 after the last.
func (w *worker) next(s *segment) {
	s.at += s.n
	s.n = min(w.n-s.at, w.g.row())
	if s.n == 0 {
		return
	}
	k := len(w.walk) - 1
	w.walk[k] = 0
	for a := k - 1; a >= 0; a-- {
		if w.walk[a]++; w.walk[a] < w.g.dims[a] {
			return
		}
		w.walk[a] = 0
	}
}

// position returns the position of slot s at the start of the current segment.
func (w *worker) position(s int) int { return w.base[s] + w.g.dot(s, w.walk) }

// exec runs steps over the current tile.
func (w *worker) exec(steps []*step) {
	for _, s := range steps {
		s.run(w)
	}
}

// execRows is exec for a tile along the inner axes, where a row value is a
// single element.
func (w *worker) execRows(steps []*step) {
	n := w.n
	for _, s := range steps {
		if s.row {
			w.n = 1
			s.run(w)
			w.n = n
		} else {
			s.run(w)
		}
	}
}

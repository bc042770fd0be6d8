package interp

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Tile sizes of a contraction. They do not influence values: every element is
// the sum of the same products in the same order.
const (
	tileM   = 64
	tileN   = 128
	streamM = 3   // up to this many rows the second operand is not packed
	streamN = 256 // columns of a tile then
)

// factor is what products are made of: integers of every width multiply in 64
// bits, whose low bits are right, and wrap at the end.
type factor interface{ float64 | float32 | int64 }

// contraction is a compiled contraction.
type contraction[T factor] struct {
	at       int // the OpContract
	t        ir.DType
	sides    [2]side[T] // left and right
	multiply multiplier[T]
	streams  bool // rows may be streamed
}

// contractState describes the contraction of a launch as a batch of M×N
// results. A is the operand that changes along m, B the one that changes along
// n.
type contractState struct {
	batch, m, n grid
	a, b        operand
	k           int
	tilesM      int
	tilesN      int
	tileM       int
	tileN       int
	stream      bool
}

// operand is one side of a contraction in memory.
type operand struct {
	side int // 0 is left
	slot int
	mem  []byte
	step int // along the contracted axis
}

// contractionDriver compiles the contraction of a kernel.
func (e *executable) contractionDriver() driver {
	for i := range e.kernel.Body {
		in := &e.kernel.Body[i]
		if in.Op != codegen.OpContract {
			continue
		}
		e.result = i
		switch laneOf(in.Type) {
		case laneF64:
			return newContraction(e, i, multiplyF64, false).drive
		case laneF32:
			return newContraction(e, i, multiply[float32], true).drive
		}
		return newContraction(e, i, multiply[int64], true).drive
	}
	return nil
}

func newContraction[T factor](e *executable, at int, f multiplier[T], streams bool) *contraction[T] {
	in := &e.kernel.Body[at]
	c := &contraction[T]{at: at, t: in.Type, multiply: f, streams: streams}
	for i, access := range []int{in.Access, in.Access2} {
		if len(in.Args) == 0 {
			c.sides[i] = inMemory[T](e.kernel, access)
		} else {
			c.sides[i] = prologue[T](e, e.value[in.Args[i]], codegen.Left+codegen.Level(i))
		}
		c.streams = c.streams && c.sides[i].codec != nil
	}
	return c
}

// drive splits the outer axes into batch, m and n by where the operands do not
// move, and shares out tiles of the result.
func (x *contraction[T]) drive(r *run, par codegen.Parallel) error {
	k := r.exe.kernel
	r.outer.build(r.dims, r.allAxes(0, k.Outer), r.slots)
	if r.outer.n == 0 {
		return nil
	}
	r.inner.build(r.dims, r.allAxes(k.Outer, k.Outer+1), r.slots)
	c := &r.contract
	c.a, c.b = x.operand(r, 0), x.operand(r, 1)
	c.k = r.dims[k.Outer]
	from := r.trailing(k.Outer, x.sides[0].slots)
	c.n.build(r.dims, r.allAxes(from, k.Outer), r.slots)
	mid := r.trailing(from, x.sides[1].slots)
	c.m.build(r.dims, r.allAxes(mid, from), r.slots)
	c.batch.build(r.dims, r.allAxes(0, mid), r.slots)
	if c.n.n == 1 { // a column of results is a row of the transposed product
		c.m, c.n = c.n, c.m
		c.a, c.b = c.b, c.a
	}
	c.stream = x.streams && c.m.n <= streamM
	c.tileM, c.tileN = min(c.m.n, tileM), min(c.n.n, tileN)
	if c.stream {
		c.tileN = min(c.n.n, streamN)
	}
	c.tilesM, c.tilesN = (c.m.n+c.tileM-1)/c.tileM, (c.n.n+c.tileN-1)/c.tileN
	work := c.tileM * c.tileN * max(1, c.k+r.exe.weight)
	err := par.For(c.batch.n*c.tilesM*c.tilesN, max(1, grain(1)/work), x.task(r))
	c.a.mem, c.b.mem = nil, nil
	return err
}

func (x *contraction[T]) operand(r *run, i int) operand {
	s := &x.sides[i]
	if s.codec == nil {
		return operand{side: i}
	}
	k := r.exe.kernel
	return operand{side: i, slot: s.access, mem: r.mem[k.Accesses[s.access].Buffer], step: r.slots[s.access].strides[k.Outer]}
}

// trailing returns the first of the axes before end along which none of the
// slots moves, nor a window of an access among them.
func (r *run) trailing(end int, slots []int) int {
	for end > 0 && (r.dims[end-1] == 1 || !r.moves(slots, end-1)) {
		end--
	}
	return end
}

func (r *run) moves(slots []int, axis int) bool {
	for _, s := range slots {
		if r.slots[s].strides[axis] != 0 {
			return true
		}
		if s >= len(r.winFrom)-1 {
			continue // no access
		}
		for _, x := range r.windows[r.winFrom[s]:r.winFrom[s+1]] {
			if r.slots[x.slot].strides[axis] != 0 {
				return true
			}
		}
	}
	return false
}

// contractTask is the task of a launch; it lives in the run so that a launch
// allocates nothing.
type contractTask[T factor] struct {
	x *contraction[T]
	r *run
}

func (x *contraction[T]) task(r *run) *contractTask[T] {
	t, _ := r.task.(*contractTask[T])
	if t == nil {
		t = &contractTask[T]{x, r}
		r.task = t
	}
	return t
}

func (t *contractTask[T]) Run(id, lo, hi int) {
	w := t.r.worker(id)
	for i := lo; i < hi; i++ {
		t.x.tile(w, i)
	}
}

// tile computes tile i of the result and runs the epilogue over it.
func (x *contraction[T]) tile(w *worker, i int) {
	c := &w.run.contract
	in, im, ib := i%c.tilesN, i/c.tilesN%c.tilesM, i/c.tilesN/c.tilesM
	n0, m0 := in*c.tileN, im*c.tileM
	n, m := min(c.tileN, c.n.n-n0), min(c.tileM, c.m.n-m0)
	acc := scratch[T](&w.acc, m*n)
	clear(acc)
	if c.stream {
		w.rowsAt = w.offsets(w.rowsAt, &c.a, &c.m, ib, m0, m)
		w.colsAt = w.offsets(w.colsAt, &c.b, &c.n, ib, n0, n)
		streamRows[T](w, x, m, n)
	} else {
		x.panels(w, ib, m0, m, n0, n)
	}
	if x.t.IsInt() && x.t.Size() < 8 {
		wrap(view[int64](w.acc), x.t)
	}
	w.resetBase()
	size := sizeOf[T]()
	origin := (ib*c.m.n+m0)*c.n.n + n0
	if n == c.n.n {
		w.epilogue(w.acc, size, origin, m*n)
		return
	}
	for row := range m {
		w.epilogue(w.acc[row*n*size:(row+1)*n*size], size, origin+row*c.n.n, n)
	}
}

// offsets lists where the count rows or columns from first on start in their
// operand.
func (w *worker) offsets(at []int, o *operand, g *grid, batch, first, count int) []int {
	r := w.run
	c := &r.contract
	at = at[:0]
	coord := w.outer[:len(c.batch.dims)]
	c.batch.place(batch, coord)
	base := r.slots[o.slot].offset + c.batch.dot(o.slot, coord)
	coord = w.outer[:len(g.dims)]
	for i := first; i < first+count; i++ {
		if g.linear[o.slot] {
			at = append(at, base+i*g.step[o.slot])
			continue
		}
		g.place(i, coord)
		at = append(at, base+g.dot(o.slot, coord))
	}
	return at
}

// epilogue runs the rest of the body over results that are n outer points
// from point lo on.
func (w *worker) epilogue(results []byte, size, lo, n int) {
	r := w.run
	for at := 0; at < n; {
		part := r.outer.tile(lo+at, lo+n, tileLen)
		w.seek(&r.outer, lo+at, part)
		w.regs[r.exe.result] = reg{mem: results[at*size : (at+part)*size], uniform: part == 1}
		w.aim()
		w.exec(r.exe.steps)
		w.flush(false)
		at += part
	}
}

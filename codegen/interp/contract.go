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

// contractState describes a contraction as a batch of M×N results. A is the
// operand that changes along m, B the one that changes along n.
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

// operand is one side of a contraction.
type operand struct {
	slot  int
	mem   []byte
	dtype ir.DType
	step  int // along the contracted axis
}

// driveContraction splits the outer axes into batch, m and n by where the
// operands' strides are zero, and shares out tiles of the result.
func driveContraction(r *run, par codegen.Parallel) error {
	k := r.exe.kernel
	r.outer.build(r.dims, r.allAxes(0, k.Outer), r.slots)
	if r.outer.n == 0 {
		return nil
	}
	c := &r.contract
	in := &k.Body[0]
	c.a, c.b = r.operand(in.Access), r.operand(in.Access2)
	c.k = r.dims[k.Outer]
	from := r.trailing(k.Outer, c.a.slot)
	c.n.build(r.dims, r.allAxes(from, k.Outer), r.slots)
	mid := r.trailing(from, c.b.slot)
	c.m.build(r.dims, r.allAxes(mid, from), r.slots)
	c.batch.build(r.dims, r.allAxes(0, mid), r.slots)
	if c.n.n == 1 { // a column of results is a row of the transposed product
		c.m, c.n = c.n, c.m
		c.a, c.b = c.b, c.a
	}
	c.stream = c.m.n <= streamM || in.Type == ir.I64
	c.tileM, c.tileN = min(c.m.n, tileM), min(c.n.n, tileN)
	if c.stream {
		c.tileN = min(c.n.n, streamN)
	}
	c.tilesM, c.tilesN = (c.m.n+c.tileM-1)/c.tileM, (c.n.n+c.tileN-1)/c.tileN
	work := c.tileM * c.tileN * max(1, c.k+r.exe.weight)
	err := par.For(c.batch.n*c.tilesM*c.tilesN, max(1, grain(1)/work), (*contractTask)(r))
	c.a.mem, c.b.mem = nil, nil
	return err
}

func (r *run) operand(access int) operand {
	k := r.exe.kernel
	b := k.Accesses[access].Buffer
	return operand{slot: access, mem: r.mem[b], dtype: k.Buffers[b].DType, step: r.slots[access].strides[k.Outer]}
}

// trailing returns the first of the axes before end along which a slot does
// not move.
func (r *run) trailing(end, slot int) int {
	for end > 0 && (r.dims[end-1] == 1 || r.slots[slot].strides[end-1] == 0) {
		end--
	}
	return end
}

type contractTask run

func (t *contractTask) Run(id, lo, hi int) {
	r := (*run)(t)
	w := r.worker(id)
	for i := lo; i < hi; i++ {
		w.contractTile(i)
	}
}

// contractTile computes tile i of the result and runs the epilogue over it.
func (w *worker) contractTile(i int) {
	r := w.run
	c := &r.contract
	in, im, ib := i%c.tilesN, i/c.tilesN%c.tilesM, i/c.tilesN/c.tilesM
	n0, m0 := in*c.tileN, im*c.tileM
	n, m := min(c.tileN, c.n.n-n0), min(c.tileM, c.m.n-m0)
	w.rowsAt = w.offsets(w.rowsAt, &c.a, &c.m, ib, m0, m)
	w.colsAt = w.offsets(w.colsAt, &c.b, &c.n, ib, n0, n)
	size := r.exe.kernel.Body[0].Type.Size()
	w.acc = grow(w.acc, m*n*size)
	clear(w.acc)
	switch {
	case size == 8:
		w.contractI64(m, n)
	case c.stream:
		w.streamRows(m, n)
	default:
		w.panels(m, n)
	}
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
		w.regs[0] = reg{mem: results[at*size : (at+part)*size], uniform: part == 1}
		w.aim()
		w.exec(r.exe.steps)
		w.flush(false)
		at += part
	}
}

// contractI64 adds products in any order: wrapping sums do not depend on it.
func (w *worker) contractI64(m, n int) {
	c := &w.run.contract
	acc, a, b := view[int64](w.acc), view[int64](c.a.mem), view[int64](c.b.mem)
	for i, ai := range w.rowsAt[:m] {
		row := acc[i*n : (i+1)*n]
		for k := range c.k {
			x := a[ai+k*c.a.step]
			for j, bj := range w.colsAt[:n] {
				row[j] += x * b[bj+k*c.b.step]
			}
		}
	}
}

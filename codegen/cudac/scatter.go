package cudac

import (
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// scatterTemplate stores at places that are values. The updates of a place
// happen in the row-major order of the space, or in a way that gives the same
// bits; no float is joined atomically.
//
// The space is laid as rows, the axes along which the indices of the store
// change, and columns, the other ones, along which the place moves so that
// different columns never meet: an update of a table has one index for each row.
// Where that can't be said, every axis is one of the rows.
//
//   - scatter-once: there is but one row, so that no place has two updates.
//   - scatter-last: the last row of each place is found by an integer maximum;
//     for stores that assign.
//   - scatter-atomic: integers whose sum, minimum or maximum has no order.
//   - scatter-list: rows are put into a list for each place, which is sorted and
//     then joined in order.
//   - scatter-one: a thread walks all points for each place that it owns; right
//     for every kernel.
type scatterTemplate struct{}

// The loops of a scatter.
const (
	rowLoop    = 0
	columnLoop = 1
)

func (scatterTemplate) loops(b *binding) {
	rows, columns := scatterAxes(b)
	b.lay("r", rows)
	b.lay("c", columns)
}

func (scatterTemplate) variants(b *binding, _ Target) []*Variant {
	last := &Variant{Kind: "scatter-one", Vector: 1}
	if kind := scatterKind(b); kind != last.Kind {
		return []*Variant{{Kind: kind, Vector: 1}, last}
	}
	return []*Variant{last}
}

// check has nothing to add: the form of the loop over rows tells whether there is
// more than one.
func (scatterTemplate) check(*binding, *Variant) string { return "" }

func (scatterTemplate) write(g *generator) {
	switch g.v.Kind {
	case "scatter-once":
		g.scatterOnce()
	case "scatter-last":
		g.scatterLast()
	case "scatter-atomic":
		g.scatterAtomic()
	case "scatter-list":
		g.scatterList()
	default:
		g.scatterOne()
	}
}

// scatterKind returns the best way for a launch.
func scatterKind(b *binding) string {
	k := b.k
	if len(k.Stores) > 1 {
		return "scatter-one"
	}
	s := &k.Stores[0]
	switch dt := k.Buffers[k.Accesses[s.Access].Buffer].DType; {
	case len(b.loops[rowLoop].dims) == 0:
		return "scatter-once"
	case s.Mode == ir.Assign:
		return "scatter-last"
	case dt.IsInt() && dt.Size() >= 4 && s.Mode != ir.ScatterMul:
		return "scatter-atomic"
	}
	return "scatter-list"
}

// scatterAxes splits the axes of a launch into rows and columns.
func scatterAxes(b *binding) (rows, columns []int) {
	s := &b.k.Stores[0]
	decide := b.under(s.Index...)
	index := b.l.Access[s.Access].Index
	for axis := range b.l.Dims {
		if slices.ContainsFunc(decide, func(slot int) bool { return b.slots.list[slot].strides[axis] != 0 }) {
			rows = append(rows, axis)
		} else {
			columns = append(columns, axis)
		}
	}
	if !slices.ContainsFunc(rows, func(axis int) bool { return b.l.Dims[axis] > 1 }) {
		index = nil // the same everywhere
	}
	if len(b.k.Stores) > 1 || !apart(b.l.Access[s.Access].Strides, index, b.l.Dims, columns) {
		return axes(0, len(b.l.Dims)), nil
	}
	return rows, columns
}

// apart reports whether the place of a store tells its columns: whatever the
// index values are, two places of different columns differ. That is so where each
// stride of the place is longer than all smaller steps together reach.
func apart(strides []int, index []codegen.IndexArg, dims, columns []int) bool {
	type step struct{ stride, n int }
	var steps []step
	for axis, s := range strides {
		if dims[axis] > 1 && (s != 0 || slices.Contains(columns, axis)) {
			steps = append(steps, step{magnitude(s), dims[axis]})
		}
	}
	for _, x := range index {
		if x.Extent > 1 {
			steps = append(steps, step{magnitude(x.Stride), x.Extent})
		}
	}
	slices.SortFunc(steps, func(x, y step) int { return x.stride - y.stride })
	reach := 0
	for _, s := range steps {
		if s.stride <= reach {
			return false
		}
		reach = add(reach, times(s.stride, s.n-1))
	}
	return true
}

// under returns the slots that decide the given values: the places of what is
// loaded for them and of its windows, coordinates, the position.
func (b *binding) under(values ...codegen.Value) []int {
	var out []int
	seen := make([]bool, len(b.k.Body))
	var visit func(v codegen.Value)
	visit = func(v codegen.Value) {
		if seen[v] {
			return
		}
		seen[v] = true
		in := &b.k.Body[v]
		switch in.Op {
		case codegen.OpLoad:
			out = append(out, in.Access)
			for _, w := range b.l.Access[in.Access].Window {
				out = append(out, b.slots.coord[w.Axis])
			}
		case codegen.OpCoord, codegen.OpArange:
			out = append(out, b.slots.coord[in.Index])
		case codegen.OpPhilox, codegen.OpNormal:
			out = append(out, b.slots.pos)
		}
		for _, a := range in.Args {
			visit(a)
		}
	}
	for _, v := range values {
		visit(v)
	}
	return out
}

// places are what a store may write: lo, lo+step, …, n of them.
type places struct{ lo, step, n int }

// placesOf returns the places of a store at the points of some axes of a launch,
// the other coordinates being 0.
func placesOf(b *binding, store int, axes []int) places {
	a := &b.l.Access[b.k.Stores[store].Access]
	p := places{lo: a.Offset, n: 1}
	hi := a.Offset
	reach := func(stride, n int) {
		switch {
		case n == 0:
			p.n = 0
		case stride < 0:
			p.lo += stride * (n - 1)
		default:
			hi += stride * (n - 1)
		}
		if n > 1 {
			p.step = gcd(p.step, magnitude(stride))
		}
	}
	for _, axis := range axes {
		reach(a.Strides[axis], b.l.Dims[axis])
	}
	for _, x := range a.Index {
		reach(x.Stride, x.Extent)
	}
	p.step = max(p.step, 1)
	if p.n > 0 {
		p.n = (hi-p.lo)/p.step + 1
	}
	return p
}

// with returns places that hold those of both.
func (p places) with(q places) places {
	switch {
	case q.n == 0:
		return p
	case p.n == 0:
		return q
	}
	lo, hi := min(p.lo, q.lo), max(p.lo+p.step*(p.n-1), q.lo+q.step*(q.n-1))
	step := gcd(gcd(p.step, q.step), magnitude(p.lo-q.lo))
	return places{lo: lo, step: step, n: (hi-lo)/step + 1}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// points returns how many points a scatter has.
func (b *binding) points() int { return b.loops[rowLoop].n * b.loops[columnLoop].n }

// eachPoint opens the loop of a thread over the points of the space and declares
// their row, column and coordinates.
func (g *generator) eachPoint() {
	g.walk("i", g.count("n", (*binding).points), "blockIdx.x", "gridDim.x")
	g.rowAndColumn()
	g.coordinates(rowLoop, "row")
	g.coordinates(columnLoop, "column")
}

// rowAndColumn declares the row and the column of point i.
func (g *generator) rowAndColumn() {
	if g.v.loops[columnLoop].rank == 0 {
		g.line("const idx row = i;")
		return
	}
	g.need("quotient")
	columns := g.count("columns", func(b *binding) int { return b.loops[columnLoop].n })
	g.line("const idx row = quotient(i, %s), column = modulo(i, %s);", columns, columns)
}

// scatterEntry writes an entry that as many threads share as there are things to
// do; it is not called for a space without points.
func (g *generator) scatterEntry(name string, count func(b *binding) int, body func()) {
	t := g.t
	g.entry(name, mapThreads, func(b *binding) (int, int, int) {
		if b.points() == 0 {
			return 0, mapThreads, 0
		}
		return gridFor(count(b), mapThreads, t), mapThreads, 0
	}, body)
}

// joined returns the expression of a value joined to what is there.
func (g *generator) joined(s *codegen.Store, there string) string {
	t := g.registerOf(s.Value)
	fn := map[ir.ScatterMode]ir.ScalarOp{ir.ScatterSum: ir.SAdd, ir.ScatterMul: ir.SMul, ir.ScatterMin: ir.SMinimum, ir.ScatterMax: ir.SMaximum}
	return g.using(applyExpr(fn[s.Mode], t, []string{there, g.name(s.Value)}))
}

// target returns the dtype and pointer of the buffer of a store.
func (g *generator) target(s *codegen.Store) (ir.DType, string) {
	b := g.k.Accesses[s.Access].Buffer
	return g.k.Buffers[b].DType, g.buffer(b)
}

// guarded returns the condition under which the indices of a store are in range.
func (g *generator) guarded(s *codegen.Store) string {
	return strings.Join(g.inRange(s.Access, s.Index), " && ")
}

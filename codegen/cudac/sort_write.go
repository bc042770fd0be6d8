package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// sortWriter writes the entries of a Sort kernel.
type sortWriter struct {
	g    *generator
	plan *sortPlan
	// order and value return where the position and the value lie that come first,
	// second, …, at place i of a sorting.
	order func(s *sorting, i string) string
	value func(s *sorting, i string) string
}

// elements declares the values given at element i of the row: results of sorts are
// read, the rest is computed.
func (w *sortWriter) elements(i string, values ...codegen.Value) {
	g := w.g
	g.coordinates(innerLoop, i)
	sorts := make([]bool, len(g.k.Body))
	isSort := func(v int) bool {
		found := g.k.Body[v].Op == codegen.OpSort
		sorts[v] = sorts[v] || found
		return found
	}
	need := g.needed(isSort, values...)
	for v, found := range sorts {
		if !found {
			continue
		}
		s := w.plan.of[codegen.Value(v)]
		if g.k.Body[v].Positions {
			g.define(v, "(long long)"+w.order(s, i))
		} else {
			g.define(v, w.value(s, w.order(s, i)))
		}
	}
	g.program(need, &point{loops: []int{outerLoop, innerLoop}})
}

// store writes the stores of element i, under a condition, "" for none.
func (w *sortWriter) store(i, condition string) {
	stores := w.g.allStores()
	var values []codegen.Value
	for _, s := range stores {
		values = append(values, s.Value)
	}
	w.elements(i, values...)
	w.g.stores(stores, &point{loops: []int{outerLoop, innerLoop}}, condition)
}

// greatest is the key that comes after all others.
func (s *sorting) greatest() string { return fmt.Sprintf("(%s)-1", s.keyType()) }

// block writes the kind in which rows lie in shared memory.
func (w *sortWriter) block() {
	g := w.g
	perBlock, threads := g.v.Tile[0], g.v.Tile[1]
	padded := func(b *binding) int { return paddedRow(b, threads) }
	var bytes func(b *binding) int
	shape := func(b *binding) (int, int, int) {
		if b.loops[innerLoop].n == 0 {
			return 0, perBlock * threads, 0
		}
		return (b.loops[outerLoop].n + perBlock - 1) / perBlock, perBlock * threads, bytes(b)
	}
	g.entry(g.title(g.v.Kind), perBlock*threads, shape, func() {
		n, all := g.length(), g.count("padded", padded)
		rows := &rowsWriter{g: g}
		first := "(idx)blockIdx.x"
		if perBlock > 1 {
			g.line("const int thread = (int)threadIdx.x %% %d, start = (int)threadIdx.x / %d * (int)%s;    // in the row, of its arrays", threads, threads, all)
			first += fmt.Sprintf(" * %d + (idx)threadIdx.x / %d", perBlock, threads)
			rows.clamp(first, rows.rows())
		} else {
			g.line("const int thread = (int)threadIdx.x, start = 0;")
			g.line("const idx row = %s;", first)
		}
		g.coordinates(outerLoop, "row")
		bytes = g.shared(w.sharedArrays(perBlock, padded))
		w.order = func(s *sorting, i string) string { return fmt.Sprintf("order%d[%s]", s.id, i) }
		w.value = func(s *sorting, i string) string { return fmt.Sprintf("values%d[%s]", s.id, i) }
		for _, s := range w.plan.list {
			g.line("")
			g.line("// %s is ordered; the rest of the array comes after it", g.name(s.arg))
			g.line("%s* const keys%d = (%s*)keys + start;", s.keyType(), s.id, s.keyType())
			g.line("int* const order%d = order%d_rows + start;", s.id, s.id)
			if s.values {
				g.line("%s* const values%d = values%d_rows + start;", ctype(s.t), s.id, s.id)
			}
			g.line("#pragma unroll 1")
			g.open("for (int i = thread; i < %s; i += %d)", all, threads)
			g.line("order%d[i] = i;", s.id)
			g.line("keys%d[i] = %s;", s.id, s.greatest())
			g.open("if (i < %s)", n)
			w.elements("i", s.arg)
			g.line("keys%d[i] = %s;", s.id, g.key(s, g.name(s.arg)))
			if s.values {
				g.line("values%d[i] = %s;", s.id, g.name(s.arg))
			}
			g.close("")
			g.close("")
			g.line("__syncthreads();")
			g.line("%s(keys%d, order%d, (int)%s, thread, %d);", g.needSort(threads), s.id, s.id, all, threads)
		}
		g.line("")
		g.line("#pragma unroll 1")
		g.open("for (int i = thread; i < %s; i += %d)", n, threads)
		w.store("i", rows.guard)
		g.close("")
	})
}

// paddedRow is the length of a row in shared memory: a power of two, and one that
// fills the warps of a row.
func paddedRow(b *binding, threads int) int {
	return powerOfTwo(max(b.loops[innerLoop].n, 2*min(threads, codegen.Lanes)))
}

// sharedArrays are the arrays of sort-block: keys, which sortings use in turn, and
// the order and the values of each.
func (w *sortWriter) sharedArrays(rows int, padded func(b *binding) int) []array {
	of := func(name string, t ir.DType) array {
		return array{name, t, func(b *binding) int { return rows * padded(b) }, fmt.Sprintf("%d * padded", rows)}
	}
	key := ir.U32
	var list []array
	for _, s := range w.plan.list {
		if s.keyBytes() == 8 {
			key = ir.U64
		}
		list = append(list, of(fmt.Sprintf("order%d_rows", s.id), ir.I32))
		if s.values {
			list = append(list, of(fmt.Sprintf("values%d_rows", s.id), s.t))
		}
	}
	return append(list, of("keys", key))
}

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

// store writes the stores of element i.
func (w *sortWriter) store(i string) {
	var values []codegen.Value
	var stores []*codegen.Store
	for n := range w.g.k.Stores {
		stores = append(stores, &w.g.k.Stores[n])
		values = append(values, w.g.k.Stores[n].Value)
	}
	w.elements(i, values...)
	rows := rowsWriter{g: w.g}
	rows.stores(stores, &point{loops: []int{outerLoop, innerLoop}}, "")
}

// greatest is the key that comes after all others.
func (s *sorting) greatest() string { return fmt.Sprintf("(%s)-1", s.keyType()) }

// block writes the kind in which a row lies in shared memory.
func (w *sortWriter) block() {
	g := w.g
	threads := g.v.Tile[0]
	padded := func(b *binding) int { return powerOfTwo(max(b.loops[innerLoop].n, 2)) }
	var bytes func(b *binding) int
	shape := func(b *binding) (int, int, int) {
		if b.loops[innerLoop].n == 0 {
			return 0, threads, 0
		}
		return b.loops[outerLoop].n, threads, bytes(b)
	}
	g.entry(g.title(g.v.Kind), threads, shape, func() {
		n, all := g.length(), g.count("padded", padded)
		g.line("const int thread = (int)threadIdx.x;")
		g.line("const idx row = (idx)blockIdx.x;")
		g.coordinates(outerLoop, "row")
		bytes = g.shared(w.sharedArrays(all, padded))
		w.order = func(s *sorting, i string) string { return fmt.Sprintf("order%d[%s]", s.id, i) }
		w.value = func(s *sorting, i string) string { return fmt.Sprintf("values%d[%s]", s.id, i) }
		for _, s := range w.plan.list {
			g.line("")
			g.line("// %s is ordered; the rest of the array comes after it", g.name(s.arg))
			g.line("%s* const keys%d = (%s*)keys;", s.keyType(), s.id, s.keyType())
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
			g.need("sort_pairs")
			g.line("sort_pairs(keys%d, order%d, (int)%s, thread, %d);", s.id, s.id, all, threads)
		}
		g.line("")
		g.line("#pragma unroll 2")
		g.open("for (int i = thread; i < %s; i += %d)", n, threads)
		w.store("i")
		g.close("")
	})
}

// sharedArrays are the arrays of sort-block: keys, which sortings use in turn, and
// the order and the values of each.
func (w *sortWriter) sharedArrays(padded string, length func(b *binding) int) []array {
	key := array{name: "keys", t: ir.U32, length: length, expr: padded}
	list := []array{}
	for _, s := range w.plan.list {
		if s.keyBytes() == 8 {
			key.t = ir.U64
		}
		list = append(list, array{fmt.Sprintf("order%d", s.id), ir.I32, length, padded})
		if s.values {
			list = append(list, array{fmt.Sprintf("values%d", s.id), s.t, length, padded})
		}
	}
	return append(list, key)
}
